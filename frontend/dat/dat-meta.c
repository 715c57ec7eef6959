// SPDX-License-Identifier: GPL-2.0-or-later
/* dat-meta.c - texts that describe the records, which all versions of the file have alike. */
#include "frontend/dat/local.h"

#include <stdlib.h>

int dat_meta_text32(struct dat_in *in, struct dat_text *text)
{
	uint32_t len;
	int rc = dat_in_u32(in, &len);

	return rc ? rc : dat_in_text(in, len, text);
}

int dat_meta_text64(struct dat_in *in, struct dat_text *text)
{
	uint64_t len;
	int rc = dat_in_u64(in, &len);

	return rc ? rc : dat_in_text(in, len, text);
}

int dat_meta_headers(struct dat_in *in)
{
	static const char page[] = "header_page", event[] = "header_event";
	int rc;

	in->what = "header information";
	rc = dat_in_expect(in, page, sizeof(page));
	if (!rc)
		rc = dat_meta_text64(in, &in->d->info.header_page);
	if (!rc)
		rc = dat_in_expect(in, event, sizeof(event));
	return rc ? rc : dat_meta_text64(in, &in->d->info.header_event);
}

static int add_format(struct dat_in *in, const char *system)
{
	struct dat *d = in->d;
	struct dat_format *f;
	int rc = dat_array_grow(d, (void **)&d->formats, d->info.nr_formats, &d->formats_room,
				sizeof(*d->formats));

	if (rc)
		return rc;
	f = &d->formats[d->info.nr_formats];
	f->system = system;
	rc = dat_meta_text64(in, &f->text);
	if (!rc)
		d->info.nr_formats++;
	return rc;
}

/* A number of formats and then they. */
static int add_formats(struct dat_in *in, const char *system)
{
	uint32_t nr;
	int rc = dat_in_u32(in, &nr);

	for (uint32_t i = 0; i < nr && !rc; i++)
		rc = add_format(in, system);
	return rc;
}

int dat_meta_ftrace(struct dat_in *in)
{
	in->what = "list of ftrace formats";
	return add_formats(in, "ftrace");
}

int dat_meta_events(struct dat_in *in)
{
	uint32_t systems;
	int rc;

	in->what = "list of event formats";
	rc = dat_in_u32(in, &systems);
	for (uint32_t i = 0; !rc && i < systems; i++) {
		const char *system;

		rc = dat_in_string(in, &system);
		if (!rc)
			rc = add_formats(in, system);
	}
	return rc;
}
