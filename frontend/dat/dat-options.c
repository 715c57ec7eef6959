// SPDX-License-Identifier: GPL-2.0-or-later
/* dat-options.c - the options of a file: read, found, and what they say about it as a whole. */
#include "frontend/dat/format.h"
#include "frontend/dat/local.h"

#include <stdlib.h>
#include <string.h>

static int add_option(struct dat_in *in, unsigned int id, uint32_t len)
{
	struct dat *d = in->d;
	struct dat_option_row *row;
	int rc = dat_array_grow(d, (void **)&d->options, d->nr_options, &d->options_room,
				sizeof(*d->options));

	if (rc)
		return rc;
	row = &d->options[d->nr_options];
	row->id = id;
	rc = dat_in_text(in, len, &row->data);
	if (!rc)
		d->nr_options++;
	return rc;
}

int dat_options_read(struct dat_in *in, uint64_t *next)
{
	in->what = "list of options";
	for (;;) {
		uint16_t id;
		uint32_t len;
		int rc = dat_in_u16(in, &id);

		if (rc || (id == DAT_OPTION_DONE && !next))
			return rc;
		rc = dat_in_u32(in, &len);
		if (rc)
			return rc;
		if (id == DAT_OPTION_DONE)
			return len < sizeof(*next)
				       ? dat_fail(in->d, "it lies: the end of its options is "
							 "too short")
				       : dat_in_u64(in, next);
		rc = add_option(in, id, len);
		if (rc)
			return rc;
	}
}

bool dat_option(const struct dat *d, unsigned int id, size_t nth, struct dat_text *option)
{
	for (size_t i = 0; i < d->nr_options; i++) {
		if (d->options[i].id != id || nth--)
			continue;
		*option = d->options[i].data;
		return true;
	}
	return false;
}

/* --- what they mean ----------------------------------------------------------------------------
 */

/* Of a file trace_clock: "local [global] counter ...". */
void dat_clock_apply(struct dat *d, const struct dat_text *clocks)
{
	const char *from = strchr(clocks->text, '['), *to = from ? strchr(from, ']') : NULL;
	char *clock;

	if (!to)
		return;
	clock = dat_alloc(d, (uint64_t)(to - from));
	if (!clock)
		return;
	memcpy(clock, from + 1, (size_t)(to - from - 1));
	clock[to - from - 1] = '\0';
	d->info.clock = clock;
}

static void apply_uname(struct dat *d, const struct dat_text *o)
{
	d->info.uname = o->text;
}

static void apply_version(struct dat *d, const struct dat_text *o)
{
	const size_t key = strlen(DAT_HOST_BOOT);
	size_t at = strnlen(o->text, o->len) + 1;

	d->info.program = o->text;
	if (o->len >= at + key + DAT_BOOT_ID_LEN && !memcmp(o->text + at, DAT_HOST_BOOT, key) &&
	    strlen(o->text + at + key) == DAT_BOOT_ID_LEN)
		d->info.host_boot = o->text + at + key;
}

/* In microseconds, as a number of C. */
static void apply_date(struct dat *d, const struct dat_text *o)
{
	d->info.ts_offset += (int64_t)((uint64_t)strtoll(o->text, NULL, 0) * 1000);
}

static void apply_offset(struct dat *d, const struct dat_text *o)
{
	d->info.ts_offset =
		(int64_t)((uint64_t)d->info.ts_offset + (uint64_t)strtoll(o->text, NULL, 0));
}

static void apply_trace_id(struct dat *d, const struct dat_text *o)
{
	if (o->len < sizeof(d->info.trace_id))
		return;
	memcpy(&d->info.trace_id, o->text, sizeof(d->info.trace_id));
	d->info.has_trace_id = true;
}

static void apply_tsc2nsec(struct dat *d, const struct dat_text *o)
{
	struct dat_tsc2nsec *t = &d->info.tsc2nsec;

	if (o->len < 16)
		return;
	memcpy(&t->mult, o->text, sizeof(t->mult));
	memcpy(&t->shift, o->text + 4, sizeof(t->shift));
	memcpy(&t->offset, o->text + 8, sizeof(t->offset));
	/* As much as a shift of 64 bits can be. */
	if (t->shift > 63)
		t->mult = 0;
}

static void apply_cpu_count(struct dat *d, const struct dat_text *o)
{
	uint32_t cpus;

	if (o->len != sizeof(cpus))
		return;
	memcpy(&cpus, o->text, sizeof(cpus));
	if (cpus <= DAT_CPUS_MAX)
		d->info.cpus = cpus;
}

static const struct {
	unsigned int id;
	void (*apply)(struct dat *d, const struct dat_text *o);
} meanings[] = {
	{DAT_OPTION_DATE, apply_date},		{DAT_OPTION_TRACECLOCK, dat_clock_apply},
	{DAT_OPTION_UNAME, apply_uname},	{DAT_OPTION_OFFSET, apply_offset},
	{DAT_OPTION_CPUCOUNT, apply_cpu_count}, {DAT_OPTION_VERSION, apply_version},
	{DAT_OPTION_TRACEID, apply_trace_id},	{DAT_OPTION_TSC2NSEC, apply_tsc2nsec},
};

int dat_options_apply(struct dat *d)
{
	int rc = 0;

	for (size_t i = 0; i < d->nr_options && !rc; i++) {
		if (d->options[i].id == DAT_OPTION_TIME_SHIFT)
			rc = dat_shift_apply(d, &d->options[i].data);
		for (size_t m = 0; m < sizeof(meanings) / sizeof(*meanings); m++)
			if (meanings[m].id == d->options[i].id)
				meanings[m].apply(d, &d->options[i].data);
	}
	if (!d->info.clock && d->nr_buffers)
		d->info.clock = d->buffers[0].clock;
	return rc;
}
