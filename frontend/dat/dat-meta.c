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

/* --- sections: of a number, which option leads to them in version 7 -----------------------------
 */

static int read_kallsyms(struct dat_in *in)
{
	return dat_meta_text32(in, &in->d->info.kallsyms);
}

static int read_printk(struct dat_in *in)
{
	return dat_meta_text32(in, &in->d->info.printk_formats);
}

static int read_cmdlines(struct dat_in *in)
{
	return dat_meta_text64(in, &in->d->info.cmdlines);
}

static const struct {
	unsigned int id;
	const char *what;
	int (*read)(struct dat_in *in);
} sections[] = {
	{DAT_OPTION_HEADER_INFO, "header information", dat_meta_headers},
	{DAT_OPTION_FTRACE_EVENTS, "list of ftrace formats", dat_meta_ftrace},
	{DAT_OPTION_EVENT_FORMATS, "list of event formats", dat_meta_events},
	{DAT_OPTION_KALLSYMS, "kallsyms", read_kallsyms},
	{DAT_OPTION_PRINTK, "printk formats", read_printk},
	{DAT_OPTION_CMDLINES, "list of task names", read_cmdlines},
};

bool dat_meta_section(size_t i, unsigned int *id, const char **what)
{
	if (i >= sizeof(sections) / sizeof(*sections))
		return false;
	*id = sections[i].id;
	*what = sections[i].what;
	return true;
}

int dat_meta_read(unsigned int id, struct dat_in *in)
{
	for (size_t i = 0; i < sizeof(sections) / sizeof(*sections); i++)
		if (sections[i].id == id)
			return sections[i].read(in);
	return 0;
}
