// SPDX-License-Identifier: GPL-2.0-or-later
/* perf-parts.c - see perf-local.h: what a perf.data tells beside its records. */
#include "frontend/export/perf-local.h"

#include "frontend/export/machine.h"

#include <string.h>

/* --- events ------------------------------------------------------------------------------------
 */

/*
 * All have the same parts, so that perf can tell whose a record is. With exclude_kernel it does not
 * miss the symbols of a running kernel.
 */
static struct perf_event_attr attr_of(const struct perf_events *e, uint32_t type, uint64_t config)
{
	return (struct perf_event_attr){
		.type = type,
		.size = PERF_ATTR_LEN,
		.config = config,
		.sample_period = 1,
		.sample_type = PERF_SAMPLE_ALL | (e->calls ? PERF_SAMPLE_CALLCHAIN : 0),
		.sample_id_all = 1,
		.exclude_kernel = 1,
	};
}

static struct perf_kind event_of(const struct perf_parts *p, const struct perf_events *e,
				 enum perf_side side, int id)
{
	struct perf_kind ev = {
		.attr = attr_of(e, PERF_TYPE_TRACEPOINT, perf_formats_number(p->formats, side, id)),
		.id = perf_sample_id(side, id),
	};

	perf_formats_name(p->formats, side, id, ev.name);
	return ev;
}

/* It has no samples: where all events are tracepoints, perf report shows the text of each sample,
 * and not, as it should for calls, its function. */
static struct perf_kind placeholder(const struct perf_events *e)
{
	return (struct perf_kind){
		.attr = attr_of(e, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY),
		.id = perf_sample_id(PERF_SIDES, 0),
		.name = "dummy",
	};
}

static bool has_placeholder(const struct perf_events *e)
{
	return e->calls || !e->any;
}

static uint32_t each_of(const struct perf_parts *p, const struct perf_events *e,
			enum perf_side side, void (*act)(void *arg, const struct perf_kind *ev),
			void *arg)
{
	uint32_t nr = 0;

	for (int id = 0; id < PERF_IDS; id++) {
		if (!perf_has(e, side, id))
			continue;
		nr++;
		if (act) {
			struct perf_kind ev = event_of(p, e, side, id);

			act(arg, &ev);
		}
	}
	return nr;
}

uint32_t perf_parts_each(const struct perf_parts *p, const struct perf_events *e,
			 void (*act)(void *arg, const struct perf_kind *ev), void *arg)
{
	uint32_t nr = each_of(p, e, PERF_GUEST, act, arg) + each_of(p, e, PERF_HOST, act, arg);

	if (has_placeholder(e)) {
		struct perf_kind ev = placeholder(e);

		nr++;
		if (act)
			act(arg, &ev);
	}
	return nr;
}

/* --- other parts -------------------------------------------------------------------------------
 */

static void add_formats(const struct perf_parts *p, const struct perf_events *e, struct text *t)
{
	perf_formats_add(p->formats, e, t);
}

static void add_string(struct text *t, const char *string)
{
	static const char zeros[8];
	size_t len = strlen(string) + 1, padding = -len & 7;

	bytes_add32(t, (uint32_t)(len + padding));
	text_add(t, string, len);
	text_add(t, zeros, padding);
}

static void add_word(const struct perf_parts *p, enum dat_uname_word word, struct text *t)
{
	char buf[NAMES_LEN];
	const char *text = machine_uname(dat_info(p->in->dat), word, buf);

	if (text && *text)
		add_string(t, text);
}

static void add_hostname(const struct perf_parts *p, const struct perf_events *e, struct text *t)
{
	(void)e;
	add_word(p, DAT_UNAME_NODE, t);
}

static void add_release(const struct perf_parts *p, const struct perf_events *e, struct text *t)
{
	(void)e;
	add_word(p, DAT_UNAME_RELEASE, t);
}

/* Of the program that has recorded. */
static void add_version(const struct perf_parts *p, const struct perf_events *e, struct text *t)
{
	const char *program = dat_info(p->in->dat)->program;
	char buf[NAMES_LEN];

	(void)e;
	if (program && *program)
		add_string(t, names_clean(buf, program, strlen(program)));
}

static void add_arch(const struct perf_parts *p, const struct perf_events *e, struct text *t)
{
	(void)e;
	add_word(p, DAT_UNAME_ARCH, t);
}

/* Of who has more: CPUs of either have samples. */
static void add_cpus(const struct perf_parts *p, const struct perf_events *e, struct text *t)
{
	uint32_t cpus = dat_info(p->in->dat)->cpus;

	(void)e;
	if (p->in->host.records && dat_info(p->in->host.dat)->cpus > cpus)
		cpus = dat_info(p->in->host.dat)->cpus;
	bytes_add32(t, cpus);
	bytes_add32(t, cpus);
}

static void add_attr(struct text *t, const struct perf_event_attr *attr)
{
	text_add(t, attr, PERF_ATTR_LEN);
}

static void add_event(void *arg, const struct perf_kind *ev)
{
	struct text *t = arg;

	add_attr(t, &ev->attr);
	bytes_add32(t, 1);
	add_string(t, ev->name);
	bytes_add64(t, ev->id);
}

static void add_events(const struct perf_parts *p, const struct perf_events *e, struct text *t)
{
	bytes_add32(t, perf_parts_each(p, e, NULL, NULL));
	bytes_add32(t, PERF_ATTR_LEN);
	perf_parts_each(p, e, add_event, t);
}

static void add_times(const struct perf_parts *p, const struct perf_events *e, struct text *t)
{
	(void)p;
	bytes_add64(t, e->first);
	bytes_add64(t, e->last);
}

/* By rising numbers. One that adds nothing is not there. */
static const struct feature {
	unsigned int bit;
	void (*add)(const struct perf_parts *p, const struct perf_events *e, struct text *t);
} features[] = {
	{PERF_PART_FORMATS, add_formats},
	{3, add_hostname},
	{4, add_release},
	{5, add_version},
	{6, add_arch},
	{7, add_cpus},
	{12, add_events},
	{21, add_times},
};

bool perf_parts_add(const struct perf_parts *p, const struct perf_events *e, size_t i,
		    unsigned int *bit, struct text *t)
{
	if (i == sizeof(features) / sizeof(*features))
		return false;
	*bit = features[i].bit;
	features[i].add(p, e, t);
	return true;
}
