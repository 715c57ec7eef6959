// SPDX-License-Identifier: GPL-2.0-or-later
/* ctf-library.c - loads libbabeltrace2. There is one in a process, as of any library. */
#include "frontend/export/ctf-library.h"
#include "frontend/lib/library.h"

#include <stdbool.h>

static struct ctf_library table;

#define RESOLVE(name) &&library_resolve(library, #name, &table.name)

/* Plugins refer to the library. Those of a user are not for who may be another one. */
static bool load(void)
{
	void *library = dlopen("libbabeltrace2.so.0", RTLD_NOW | RTLD_GLOBAL);

	return library CTF_FUNCTIONS(RESOLVE) &&
	       table.bt_plugin_find("ctf", BT_FALSE, BT_FALSE, BT_TRUE, BT_FALSE, BT_FALSE,
				    &table.plugin) == BT_PLUGIN_FIND_STATUS_OK;
}

const char *ctf_library_missing(void)
{
	if (table.plugin || load())
		return NULL;
	return "ctf is written by libbabeltrace2, which is not here (install libbabeltrace2-0)";
}

const struct ctf_library *ctf_library(void)
{
	return &table;
}
