// SPDX-License-Identifier: GPL-2.0-or-later
/* dat-choice.c - see dat-choice.h */
#include "frontend/cmd/dat-choice.h"

#include "frontend/decode/records.h"
#include "tracer/tracer.h"

#include <stdio.h>
#include <string.h>

/* As many names as a line has room for. */
static bool ask_for_one(const struct dat *d, char *err, size_t errlen)
{
	int n = snprintf(err, errlen, "%s: it is of several guests, of which -I chooses one:",
			 dat_info(d)->name);

	for (size_t i = 0; i < dat_nr_parts(d) && n > 0 && (size_t)n < errlen; i++)
		n += snprintf(err + n, errlen - (size_t)n, "%s %s", i ? "," : "", dat_part(d, i));
	return false;
}

/* What is left of the name: an instance of the guest that was chosen, "" for none. */
static const char *choose_guest(struct dat *d, const char *name)
{
	for (size_t i = 0; i < dat_nr_parts(d); i++) {
		size_t len = strlen(dat_part(d, i));

		if (strncmp(name, dat_part(d, i), len) != 0 ||
		    (name[len] && name[len] != DAT_PART_COLON))
			continue;
		dat_choose_part(d, i);
		return name[len] ? name + len + 1 : "";
	}
	return NULL;
}

static bool find_instance(const struct dat *d, const char *name, size_t *buffer)
{
	for (*buffer = 0; *buffer < dat_nr_buffers(d); (*buffer)++)
		if (!strcmp(dat_buffer(d, *buffer)->name, name))
			return true;
	return false;
}

static void tell_missing(const struct dat *d, const char *name, char *err, size_t errlen)
{
	char hint[NEAREST_LEN * 2];
	struct nearest near;

	nearest_begin(&near, name);
	for (size_t i = 0; i < dat_nr_buffers(d); i++)
		nearest_try(&near, dat_buffer(d, i)->name);
	snprintf(err, errlen, "%s: it has no buffer %s%s", dat_info(d)->name, name,
		 nearest_hint(&near, "", hint, sizeof(hint)));
}

bool dat_choice(struct dat *d, const char *name, size_t *buffer, char *err, size_t errlen)
{
	const bool several = dat_nr_parts(d) > 0;
	const char *instance = name;

	*buffer = RECORDS_ALL;
	if (!name && dat_nr_parts(d) > 1)
		return ask_for_one(d, err, errlen);
	if (several && !name)
		dat_choose_part(d, 0);
	else if (several)
		instance = choose_guest(d, name);
	if (!name || (several && instance && !*instance))
		return true;
	if (instance && find_instance(d, instance, buffer))
		return true;
	tell_missing(d, name, err, errlen);
	return false;
}
