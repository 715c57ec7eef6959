// SPDX-License-Identifier: GPL-2.0-or-later
/* libnbd.c - loads libnbd when it is first needed. There is one in a process, as of any library. */
#include "vmm/core/library.h"
#include "vmm/kvm/disk/libnbd.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

static pthread_once_t once = PTHREAD_ONCE_INIT;
static struct libnbd table;
static bool loaded;

#define RESOLVE(name) &&library_resolve(library, #name, &table.name)

static void load(void)
{
	void *library = dlopen("libnbd.so.0", RTLD_NOW);

	loaded = library LIBNBD_FUNCTIONS(RESOLVE);
}

const struct libnbd *libnbd(void)
{
	pthread_once(&once, load);
	return loaded ? &table : NULL;
}
