// SPDX-License-Identifier: GPL-2.0-or-later
/* perf-parts.c - see perf-local.h: what a perf.data tells beside its records. */
#include "frontend/export/perf-local.h"

#include "frontend/export/machine.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

struct perf_parts {
	struct export *x;
	const struct dat_format *format[PERF_IDS]; /* by id */
	int function, entry, exit, stack;	   /* ids; -1: there is none */
};

/* --- formats -----------------------------------------------------------------------------------
 */

/* -1: it tells none. */
static int id_of(const struct dat_text *format)
{
	const char *at = strstr(format->text, "\nID:");
	long id = at ? strtol(at + 4, NULL, 10) : -1;

	return id >= 0 && id < PERF_IDS ? (int)id : -1;
}

static int find_ftrace(const struct export *x, const char *event)
{
	const struct tep_event *e =
		tep_find_event_by_name(formats_tep(x->in->formats), "ftrace", event);

	return e ? e->id : -1;
}

struct perf_parts *perf_parts_new(struct export *x)
{
	const struct dat_info *info = dat_info(x->in->dat);
	struct perf_parts *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->x = x;
	for (size_t i = 0; i < info->nr_formats; i++) {
		int id = id_of(&info->formats[i].text);

		/* What the library makes nothing of would be refused by perf. */
		if (id >= 0 && formats_event(x->in->formats, id))
			p->format[id] = &info->formats[i];
	}
	p->function = find_ftrace(x, "function");
	p->entry = find_ftrace(x, "funcgraph_entry");
	p->exit = find_ftrace(x, "funcgraph_exit");
	p->stack = find_ftrace(x, "kernel_stack");
	return p;
}

void perf_parts_free(struct perf_parts *p)
{
	free(p);
}

bool perf_parts_knows(const struct perf_parts *p, int id)
{
	return id >= 0 && id < PERF_IDS && p->format[id];
}

bool perf_parts_is_call(const struct perf_parts *p, int id)
{
	return id == p->function || id == p->entry || id == p->exit || id == p->stack;
}

static bool is_written(const struct perf_parts *p, const struct perf_events *e, int id)
{
	return p->format[id] && perf_has(e, id);
}

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

static struct perf_kind event_of(const struct perf_parts *p, const struct perf_events *e, int id)
{
	const struct tep_event *event = formats_event(p->x->in->formats, id);
	struct perf_kind ev = {
		.attr = attr_of(e, PERF_TYPE_TRACEPOINT, (uint64_t)id),
		.id = perf_sample_id(id),
	};

	snprintf(ev.name, sizeof(ev.name), "%.100s:%.100s", event->system, event->name);
	return ev;
}

/* It has no samples: where all events are tracepoints, perf report shows the text of each sample,
 * and not, as it should for calls, its function. */
static struct perf_kind placeholder(const struct perf_events *e)
{
	return (struct perf_kind){
		.attr = attr_of(e, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY),
		.id = perf_sample_id(PERF_IDS),
		.name = "dummy",
	};
}

static bool has_placeholder(const struct perf_events *e)
{
	return e->calls || !e->any;
}

uint32_t perf_parts_each(const struct perf_parts *p, const struct perf_events *e,
			 void (*act)(void *arg, const struct perf_kind *ev), void *arg)
{
	uint32_t nr = 0;

	for (int id = 0; id < PERF_IDS; id++) {
		if (!is_written(p, e, id))
			continue;
		nr++;
		if (act) {
			struct perf_kind ev = event_of(p, e, id);

			act(arg, &ev);
		}
	}
	if (has_placeholder(e)) {
		struct perf_kind ev = placeholder(e);

		nr++;
		if (act)
			act(arg, &ev);
	}
	return nr;
}

/* --- the formats, as trace-cmd's files had them in version 0.6 ----------------------------------
 */

static void add_sized(struct text *t, const struct dat_text *text)
{
	/* perf reads none that are empty. */
	const struct dat_text none = {"\n", 1};

	if (!text->text || !text->len)
		text = &none;
	bytes_add64(t, text->len);
	text_add(t, text->text, text->len);
}

/* Those of a system that are behind each other. */
static size_t add_system(const struct perf_parts *p, const struct perf_events *e, struct text *t,
			 size_t at)
{
	const struct dat_info *info = dat_info(p->x->in->dat);
	const char *system = info->formats[at].system;
	size_t end = at, nr_at = t->len;
	uint32_t nr = 0;

	bytes_add32(t, 0);
	for (; end < info->nr_formats && !strcmp(info->formats[end].system, system); end++) {
		const struct dat_format *f = &info->formats[end];
		int id = id_of(&f->text);

		if (id < 0 || p->format[id] != f || !is_written(p, e, id))
			continue;
		add_sized(t, &f->text);
		nr++;
	}
	if (!t->failed)
		bytes_put32((uint8_t *)t->buf + nr_at, nr);
	return end;
}

static void add_formats(const struct perf_parts *p, const struct perf_events *e, struct text *t)
{
	const struct dat_info *info = dat_info(p->x->in->dat);
	size_t at = 0, systems_at;
	uint32_t systems = 0;

	if (info->nr_formats && !strcmp(info->formats[0].system, "ftrace"))
		at = add_system(p, e, t, 0);
	else
		bytes_add32(t, 0);
	systems_at = t->len;
	bytes_add32(t, 0);
	while (at < info->nr_formats) {
		text_puts(t, info->formats[at].system);
		text_putc(t, '\0');
		at = add_system(p, e, t, at);
		systems++;
	}
	if (!t->failed)
		bytes_put32((uint8_t *)t->buf + systems_at, systems);
}

/* perf trusts each line to be one: 0xffffffff82000000 : "text" */
static bool is_printk_line(const char *line, size_t len)
{
	size_t i = len > 2 && line[0] == '0' && line[1] == 'x' ? 2 : 0, digits = i;

	while (i < len && isxdigit((unsigned char)line[i]))
		i++;
	return i > digits && len - i > 5 && !memcmp(line + i, " : \"", 4) && line[len - 1] == '"' &&
	       !memchr(line, '\0', len);
}

static void add_printk(const struct dat_info *info, struct text *t)
{
	const char *at = info->printk_formats.text, *end = at ? at + info->printk_formats.len : at;
	size_t size_at = t->len;

	bytes_add32(t, 0);
	while (at < end) {
		const char *eol = memchr(at, '\n', (size_t)(end - at));
		size_t len = (size_t)((eol ? eol : end) - at);

		if (is_printk_line(at, len)) {
			text_add(t, at, len);
			text_putc(t, '\n');
		}
		at += len + 1;
	}
	if (!t->failed)
		bytes_put32((uint8_t *)t->buf + size_at, (uint32_t)(t->len - size_at - 4));
}

static void add_tracing_data(const struct perf_parts *p, const struct perf_events *e,
			     struct text *t)
{
	static const char begin[] = "\x17\x08\x44tracing0.6\0\0\x08";
	const struct dat_info *info = dat_info(p->x->in->dat);

	text_add(t, begin, sizeof(begin) - 1);
	bytes_add32(t, info->page_size);
	text_add(t, "header_page", 12);
	add_sized(t, &info->header_page);
	text_add(t, "header_event", 13);
	add_sized(t, &info->header_event);
	add_formats(p, e, t);
	bytes_add32(t, 0); /* symbols: perf does not read them any more */
	add_printk(info, t);
	bytes_add64(t, 0); /* names of tasks: there are records that tell them */
}

/* --- other parts -------------------------------------------------------------------------------
 */

static void add_string(struct text *t, const char *string)
{
	static const char zeros[8];
	size_t len = strlen(string) + 1, padding = -len & 7;

	bytes_add32(t, (uint32_t)(len + padding));
	text_add(t, string, len);
	text_add(t, zeros, padding);
}

static void add_word(const struct perf_parts *p, enum machine_word word, struct text *t)
{
	char buf[NAMES_LEN];
	const char *text = machine_uname(dat_info(p->x->in->dat), word, buf);

	if (text && *text)
		add_string(t, text);
}

static void add_hostname(const struct perf_parts *p, const struct perf_events *e, struct text *t)
{
	(void)e;
	add_word(p, MACHINE_NODE, t);
}

static void add_release(const struct perf_parts *p, const struct perf_events *e, struct text *t)
{
	(void)e;
	add_word(p, MACHINE_RELEASE, t);
}

/* Of the program that has recorded. */
static void add_version(const struct perf_parts *p, const struct perf_events *e, struct text *t)
{
	const char *program = dat_info(p->x->in->dat)->program;
	char buf[NAMES_LEN];

	(void)e;
	if (program && *program)
		add_string(t, names_clean(buf, program, strlen(program)));
}

static void add_arch(const struct perf_parts *p, const struct perf_events *e, struct text *t)
{
	(void)e;
	add_word(p, MACHINE_ARCH, t);
}

static void add_cpus(const struct perf_parts *p, const struct perf_events *e, struct text *t)
{
	const struct dat_info *info = dat_info(p->x->in->dat);

	(void)e;
	bytes_add32(t, info->cpus);
	bytes_add32(t, info->cpus);
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
	{PERF_PART_FORMATS, add_tracing_data},
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
