/* SPDX-License-Identifier: GPL-2.0-or-later */
/* event-formats.h - events as format files tell them, and records of them, for tests. */
#ifndef HVTRACE_TESTS_EVENT_FORMATS_H
#define HVTRACE_TESTS_EVENT_FORMATS_H

#include "tests/unit/data-file.h"

#include <string.h>
#include <zlib.h>

#include "guestsym/guestsym.h"
#include "tracer/ring/entry.h"
#include "tracer/output/fmt/print.h"

enum { FORMATS_MAX = 1024, FORMAT_FIELDS_MAX = 16384 };

/* Format files one behind the other, their text cut into strings. */
struct formats {
	char *text;
	struct guestsym_event event[FORMATS_MAX];
	struct guestsym_event_field field[FORMAT_FIELDS_MAX], common[4];
	size_t nr_fields;
	struct guestsym_event_list list;
};

static inline uint8_t formats_kind(const char *type)
{
	if (!strcmp(type, "__data_loc char[]"))
		return GUESTSYM_EVENT_DYN_STRING;
	if (!strcmp(type, "__rel_loc char[]"))
		return GUESTSYM_EVENT_RDYN_STRING;
	if (!strcmp(type, "char *") || !strcmp(type, "const char *"))
		return GUESTSYM_EVENT_PTR_STRING;
	if (!strncmp(type, "char[", 5))
		return GUESTSYM_EVENT_STRING;
	return GUESTSYM_EVENT_NUMBER;
}

/* "unsigned char addr[6]" is of type "unsigned char[6]". */
static inline void formats_name(char *declaration, struct guestsym_event_field *f)
{
	char *bracket = strncmp(declaration, "__", 2) || !strstr(declaration, "_loc ")
				? strchr(declaration, '[')
				: NULL;
	size_t end = bracket ? (size_t)(bracket - declaration) : strlen(declaration), start = end;
	char array[32] = "", *name;

	if (bracket)
		snprintf(array, sizeof(array), "%s", bracket);
	while (start && declaration[start - 1] != ' ')
		start--;
	assert_true(start > 0);
	name = malloc(end - start + 1);
	assert_non_null(name);
	memcpy(name, declaration + start, end - start);
	name[end - start] = '\0';
	f->name = name;
	memcpy(declaration + start - 1, array, strlen(array) + 1);
	f->type = declaration;
}

static inline void formats_field(struct formats *fs, struct guestsym_event *ev, char *line)
{
	bool common = strstr(line, " common_");
	struct guestsym_event_field *f =
		common ? &fs->common[fs->list.nr_common] : &fs->field[fs->nr_fields];
	char *end = strchr(line, ';');
	int sign = 0;

	if (common && fs->list.nr_common == 4)
		return;
	assert_true(fs->nr_fields < FORMAT_FIELDS_MAX);
	assert_int_equal(
		sscanf(end, "; offset:%u; size:%u; signed:%d;", &f->offset, &f->size, &sign), 3);
	*end = '\0';
	f->is_signed = sign;
	formats_name(strchr(line, ':') + 1, f);
	f->kind = formats_kind(f->type);
	if (common) {
		fs->list.nr_common++;
		return;
	}
	if (!ev->nr_fields)
		ev->fields = f;
	ev->nr_fields++;
	fs->nr_fields++;
}

static inline void formats_line(struct formats *fs, char *line)
{
	struct guestsym_event *ev = fs->list.n ? &fs->event[fs->list.n - 1] : NULL;

	if (!strncmp(line, "name: ", 6)) {
		assert_true(fs->list.n < FORMATS_MAX);
		ev = &fs->event[fs->list.n++];
		*ev = (struct guestsym_event){.name = line + 6, .system = "", .print_fmt = ""};
		if (!strncmp(ev->name, "sys_enter_", 10) || !strncmp(ev->name, "sys_exit_", 9))
			ev->source = GUESTSYM_EVENT_SYSCALL;
		ev->syscall_exit = !strncmp(ev->name, "sys_exit_", 9);
		return;
	}
	if (!ev)
		return;
	if (!strncmp(line, "ID: ", 4)) {
		ev->id = (uint16_t)atoi(line + 4);
		if (ev->id < 20)
			ev->source = GUESTSYM_EVENT_FTRACE;
	} else if (!strncmp(line, "\tfield:", 7)) {
		formats_field(fs, ev, line);
	}
}

/* Of some, text goes on over lines. Returns what is behind, its beginning being that of a line. */
static inline char *formats_print_fmt(struct formats *fs, char *line)
{
	char *next = strstr(line, "\nname: ");

	fs->event[fs->list.n - 1].print_fmt = line;
	if (!next)
		next = line + strlen(line) - 1;
	*next = '\0';
	return next + 1;
}

static inline struct formats *formats_new(char *text)
{
	struct formats *fs = calloc(1, sizeof(*fs));

	assert_non_null(fs);
	fs->text = text;
	fs->list.v = fs->event;
	fs->list.common = fs->common;
	for (char *line = text, *end; (end = strchr(line, '\n')); line = end + 1) {
		if (!strncmp(line, "print fmt: ", 11)) {
			end = formats_print_fmt(fs, line + 11) - 1;
			continue;
		}
		*end = '\0';
		formats_line(fs, line);
	}
	return fs;
}

/* tests/data/kernel-6.1/NAME, which may be compressed; terminated, to be freed. */
static inline char *formats_text(const char *name, size_t *len)
{
	char path[256], *text = calloc(1, 1 << 20);
	gzFile f;
	int n;

	snprintf(path, sizeof(path), "tests/data/kernel-6.1/%s", name);
	f = gzopen(path, "rb");
	assert_non_null(f);
	assert_non_null(text);
	n = gzread(f, text, (1 << 20) - 1);
	assert_in_range(n, 1, (1 << 20) - 2);
	gzclose(f);
	if (len)
		*len = (size_t)n;
	return text;
}

static inline struct formats *formats_load(const char *name)
{
	return formats_new(formats_text(name, NULL));
}

static inline void formats_free(struct formats *fs)
{
	for (size_t i = 0; i < fs->nr_fields; i++)
		free((char *)(uintptr_t)fs->field[i].name);
	for (size_t i = 0; i < fs->list.nr_common; i++)
		free((char *)(uintptr_t)fs->common[i].name);
	free(fs->text);
	free(fs);
}

static inline const struct guestsym_event *formats_find(const struct formats *fs, const char *name)
{
	for (size_t i = 0; i < fs->list.n; i++) {
		if (!strcmp(fs->event[i].name, name))
			return &fs->event[i];
	}
	fail_msg("no event %s", name);
	return NULL;
}

/* A record: fixed fields, and the data of dynamic ones behind them. */
struct record {
	uint8_t bytes[1024];
	size_t len;
};

static inline size_t record_hex(const char *hex, uint8_t *to)
{
	size_t n = 0;
	unsigned int byte;

	while (sscanf(hex + 2 * n, "%2x", &byte) == 1)
		to[n++] = (uint8_t)byte;
	return n;
}

/* 'string', :hex bytes, or a number */
static inline size_t record_bytes(const char *value, uint8_t *to)
{
	size_t len;

	if (*value == ':')
		return record_hex(value + 1, to);
	assert_int_equal(*value, '\'');
	len = (size_t)(strchr(value + 1, '\'') - value - 1);
	memcpy(to, value + 1, len);
	to[len] = '\0';
	return len + 1;
}

static inline void record_dynamic(struct record *r, const struct guestsym_event_field *f,
				  const char *value)
{
	size_t len = record_bytes(value, r->bytes + r->len);
	uint32_t start = f->type[2] == 'r' ? f->offset + 4 : 0;
	uint32_t loc = (uint32_t)(len << 16 | (r->len - start));

	memcpy(r->bytes + f->offset, &loc, sizeof(loc));
	r->len += len;
}

static inline void record_set(struct record *r, const struct guestsym_event *ev, const char *name,
			      size_t name_len, const char *value)
{
	for (size_t i = 0; i < ev->nr_fields; i++) {
		const struct guestsym_event_field *f = &ev->fields[i];
		uint64_t number;

		if (strncmp(f->name, name, name_len) != 0 || f->name[name_len])
			continue;
		if (*value != '\'' && *value != ':') {
			number = strtoull(value, NULL, 0);
			memcpy(r->bytes + f->offset, &number, f->size);
		} else if (strstr(f->type, "_loc ")) {
			record_dynamic(r, f, value);
		} else {
			record_bytes(value, r->bytes + f->offset);
		}
		return;
	}
	fail_msg("%s has no field %.*s", ev->name, (int)name_len, name);
}

/* values: "pid=1 comm='a b' addr=:0102" */
static inline struct record record_of(const struct guestsym_event *ev, const char *values)
{
	struct record r = {.len = sizeof(struct trace_entry)};

	memcpy(r.bytes, &ev->id, sizeof(ev->id));
	for (size_t i = 0; i < ev->nr_fields; i++) {
		size_t end = ev->fields[i].offset + ev->fields[i].size;

		r.len = end > r.len ? end : r.len;
	}
	while (*values) {
		size_t name_len = strcspn(values, "=");
		const char *value = values + name_len + 1;

		record_set(&r, ev, values, name_len, value);
		values = *value == '\'' ? strchr(value + 1, '\'') + 1 : value + strcspn(value, " ");
		values += strspn(values, " ");
	}
	return r;
}

static inline struct event_printer *formats_printer(const struct formats *fs,
						    const struct expr_names *names)
{
	struct event_printer *p = event_printer_new(names);

	assert_non_null(p);
	assert_int_equal(event_printer_add(p, &fs->list), 0);
	return p;
}

#endif
