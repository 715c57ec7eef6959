// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * perf-formats.c - see perf-local.h: the formats of events, with which perf reads their records.
 *
 * perf has one table of them for a file, by numbers that each kernel gives as it likes: those of a
 * host's events are others here, that no event of the guest's has, in the format, in what refers to
 * it and in each record. perf and its scripts tell events apart by their names, and perf sched and
 * others look for the guest's: so a host's are of systems of their own, such as host_kvm.
 */
#include "frontend/export/perf-local.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* A name that perf's scripts in Python can have, too. */
#define HOST_PREFIX "host_"

struct side {
	const struct dat_info *info; /* NULL: there is none */
	struct formats *formats;
	const struct dat_format *format[PERF_IDS]; /* by id */
};

struct perf_formats {
	struct side side[PERF_SIDES];
	uint16_t number[PERF_IDS];	  /* of the host's, by id */
	int function, entry, exit, stack; /* ids; -1: there is none */
};

/* --- what there is -----------------------------------------------------------------------------
 */

/* Where a format tells its id, and *rest, what is behind it. -1: it tells none. */
static int id_of(const struct dat_text *format, const char **rest)
{
	const char *at = strstr(format->text, "\nID:");
	char *end = NULL;
	long id = at ? strtol(at + 4, &end, 10) : -1;

	*rest = end;
	return id >= 0 && id < PERF_IDS ? (int)id : -1;
}

static void look(struct side *s, const struct dat *dat, struct formats *formats)
{
	s->info = dat_info(dat);
	s->formats = formats;
	for (size_t i = 0; i < s->info->nr_formats; i++) {
		const char *rest;
		int id = id_of(&s->info->formats[i].text, &rest);

		/* What the library makes nothing of would be refused by perf. */
		if (id >= 0 && formats_event(formats, id))
			s->format[id] = &s->info->formats[i];
	}
}

/* Those for which there is no number left are not known. */
static void number_host(struct perf_formats *f)
{
	const struct dat_format **host = f->side[PERF_HOST].format;
	int next = 1;

	for (int id = 0; id < PERF_IDS; id++) {
		if (!host[id])
			continue;
		while (next < PERF_IDS && f->side[PERF_GUEST].format[next])
			next++;
		if (next < PERF_IDS)
			f->number[id] = (uint16_t)next++;
		else
			host[id] = NULL;
	}
}

static int find_ftrace(const struct export *x, const char *event)
{
	const struct tep_event *e =
		tep_find_event_by_name(formats_tep(x->in->formats), "ftrace", event);

	return e ? e->id : -1;
}

struct perf_formats *perf_formats_new(struct export *x)
{
	const struct export_input *in = x->in;
	struct perf_formats *f = calloc(1, sizeof(*f));

	if (!f)
		return NULL;
	look(&f->side[PERF_GUEST], in->dat, in->formats);
	if (in->host.records) {
		look(&f->side[PERF_HOST], in->host.dat, in->host.formats);
		number_host(f);
	}
	f->function = find_ftrace(x, "function");
	f->entry = find_ftrace(x, "funcgraph_entry");
	f->exit = find_ftrace(x, "funcgraph_exit");
	f->stack = find_ftrace(x, "kernel_stack");
	return f;
}

void perf_formats_free(struct perf_formats *f)
{
	free(f);
}

bool perf_formats_knows(const struct perf_formats *f, enum perf_side side, int id)
{
	return id >= 0 && id < PERF_IDS && f->side[side].format[id];
}

uint16_t perf_formats_number(const struct perf_formats *f, enum perf_side side, int id)
{
	return side == PERF_HOST ? f->number[id] : (uint16_t)id;
}

void perf_formats_name(const struct perf_formats *f, enum perf_side side, int id,
		       char name[NAMES_LEN])
{
	const struct tep_event *event = formats_event(f->side[side].formats, id);

	snprintf(name, NAMES_LEN, "%s%.100s:%.100s", side == PERF_HOST ? HOST_PREFIX : "",
		 event->system, event->name);
}

bool perf_formats_is_call(const struct perf_formats *f, int id)
{
	return id == f->function || id == f->entry || id == f->exit || id == f->stack;
}

/* --- as trace-cmd's files had them in version 0.6 -----------------------------------------------
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

/* With the number that it has here. */
static void add_format(const struct dat_text *text, const char *rest, uint16_t number,
		       struct text *t)
{
	size_t len_at = t->len;

	bytes_add64(t, 0);
	text_add(t, text->text, (size_t)(strstr(text->text, "\nID:") - text->text));
	text_printf(t, "\nID: %u", number);
	text_add(t, rest, text->len - (size_t)(rest - text->text));
	bytes_set_len64(t, len_at);
}

/* Those of a system that are behind each other. */
static size_t add_system(const struct perf_formats *f, enum perf_side side,
			 const struct perf_events *e, struct text *t, size_t at)
{
	const struct dat_info *info = f->side[side].info;
	const char *system = info->formats[at].system;
	size_t end = at, nr_at = t->len;
	uint32_t nr = 0;

	bytes_add32(t, 0);
	for (; end < info->nr_formats && !strcmp(info->formats[end].system, system); end++) {
		const struct dat_format *format = &info->formats[end];
		const char *rest;
		int id = id_of(&format->text, &rest);

		if (id < 0 || f->side[side].format[id] != format || !perf_has(e, side, id))
			continue;
		add_format(&format->text, rest, perf_formats_number(f, side, id), t);
		nr++;
	}
	bytes_set32(t, nr_at, nr);
	return end;
}

/* How many systems there were from at on. */
static uint32_t add_systems(const struct perf_formats *f, enum perf_side side,
			    const struct perf_events *e, struct text *t, size_t at)
{
	const struct dat_info *info = f->side[side].info;
	uint32_t nr = 0;

	while (info && at < info->nr_formats) {
		text_puts(t, side == PERF_HOST ? HOST_PREFIX : "");
		text_puts(t, info->formats[at].system);
		text_putc(t, '\0');
		at = add_system(f, side, e, t, at);
		nr++;
	}
	return nr;
}

static void add_formats(const struct perf_formats *f, const struct perf_events *e, struct text *t)
{
	const struct dat_info *info = f->side[PERF_GUEST].info;
	size_t at = 0, nr_at;
	uint32_t nr;

	if (info->nr_formats && !strcmp(info->formats[0].system, "ftrace"))
		at = add_system(f, PERF_GUEST, e, t, 0);
	else
		bytes_add32(t, 0);
	nr_at = t->len;
	bytes_add32(t, 0);
	nr = add_systems(f, PERF_GUEST, e, t, at);
	nr += add_systems(f, PERF_HOST, e, t, 0);
	bytes_set32(t, nr_at, nr);
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
	bytes_set32(t, size_at, (uint32_t)(t->len - size_at - 4));
}

void perf_formats_add(const struct perf_formats *f, const struct perf_events *e, struct text *t)
{
	static const char begin[] = "\x17\x08\x44tracing0.6\0\0\x08";
	const struct dat_info *info = f->side[PERF_GUEST].info;

	text_add(t, begin, sizeof(begin) - 1);
	bytes_add32(t, info->page_size);
	text_add(t, "header_page", 12);
	add_sized(t, &info->header_page);
	text_add(t, "header_event", 13);
	add_sized(t, &info->header_event);
	add_formats(f, e, t);
	bytes_add32(t, 0); /* symbols: perf does not read them any more */
	add_printk(info, t);
	bytes_add64(t, 0); /* names of tasks: there are records that tell them */
}
