// SPDX-License-Identifier: GPL-2.0-or-later
/* ids.c - see ids.h */
#include "frontend/join/ids.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "frontend/dat/bytes.h"

enum { OWN_FROM = 32768 }; /* for those whose number another one has: kernels do not get so far */

/* The text without its line of the number, which goes to `at`. */
struct ids_row {
	char *system, *text;
	size_t len, at;
	uint64_t hash; /* of what is compared */
	uint16_t id;
};

/* --- texts ------------------------------------------------------------------------------------ */

/* Of one line with its end. */
static size_t line_len(const char *at, const char *end)
{
	const char *eol = memchr(at, '\n', (size_t)(end - at));

	return (size_t)((eol ? eol + 1 : end) - at);
}

static bool begins(const char *line, size_t len, const char *with)
{
	return len >= strlen(with) && !memcmp(line, with, strlen(with));
}

/* "ID: 314"; false: the text has none, and so no reader can use it. */
static bool find_id(const struct dat_text *text, size_t *at, size_t *len, uint16_t *id)
{
	const char *end = text->text + text->len, *line;
	unsigned long n;

	for (line = text->text; line < end; line += *len) {
		*len = line_len(line, end);
		if (!begins(line, *len, "ID:"))
			continue;
		n = strtoul(line + 3, NULL, 10);
		*at = (size_t)(line - text->text);
		*id = (uint16_t)n;
		return n && n < IDS_NR;
	}
	return false;
}

/*
 * Kernels since 6.2 have no signed char. Of texts that makes no difference: all readers take them
 * for what they are.
 */
static bool is_text_field(const char *line, size_t len)
{
	return (begins(line, len, "\tfield:char ") ||
		begins(line, len, "\tfield:__data_loc char")) &&
	       memchr(line, '[', len);
}

/* As far as it is compared. */
static size_t compared(const char *line, size_t len)
{
	const char *sign = is_text_field(line, len) ? memmem(line, len, "\tsigned:", 8) : NULL;

	return sign ? (size_t)(sign - line) : len;
}

static uint64_t hash_bytes(uint64_t h, const char *bytes, size_t len)
{
	for (size_t i = 0; i < len; i++)
		h = (h ^ (uint8_t)bytes[i]) * UINT64_C(0x100000001b3); /* FNV-1a */
	return h;
}

static uint64_t hash_row(const struct ids_row *r)
{
	uint64_t h = hash_bytes(UINT64_C(0xcbf29ce484222325), r->system, strlen(r->system) + 1);
	size_t len;

	for (const char *at = r->text, *end = at + r->len; at < end; at += len) {
		len = line_len(at, end);
		h = hash_bytes(h, at, compared(at, len));
	}
	return h;
}

static bool is_same(const struct ids_row *a, const struct ids_row *b)
{
	const char *x = a->text, *y = b->text, *x_end = x + a->len, *y_end = y + b->len;

	if (a->hash != b->hash || strcmp(a->system, b->system) != 0)
		return false;
	while (x < x_end && y < y_end) {
		size_t x_len = line_len(x, x_end), y_len = line_len(y, y_end);
		size_t len = compared(x, x_len);

		if (len != compared(y, y_len) || memcmp(x, y, len) != 0)
			return false;
		x += x_len;
		y += y_len;
	}
	return x == x_end && y == y_end;
}

/* --- the table -------------------------------------------------------------------------------- */

static int make_slots(struct ids *ids)
{
	ids->nr_slots = 2 * IDS_NR;
	ids->slot = calloc(ids->nr_slots, sizeof(*ids->slot));
	return ids->slot ? 0 : -ENOMEM;
}

/* Where such a row is, or would be: there are no more rows than numbers. */
static uint32_t *find_slot(const struct ids *ids, const struct ids_row *r)
{
	size_t i = r->hash % ids->nr_slots;

	while (ids->slot[i] && !is_same(&ids->row[ids->slot[i] - 1], r))
		i = (i + 1) % ids->nr_slots;
	return &ids->slot[i];
}

static int grow(struct ids *ids)
{
	struct ids_row *more;

	if (ids->nr < ids->room)
		return 0;
	more = reallocarray(ids->row, ids->room + 1024, sizeof(*more));
	if (!more)
		return -ENOMEM;
	ids->row = more;
	ids->room += 1024;
	return 0;
}

/* The one that it has in its file, where nobody else has it. */
static int take_id(struct ids *ids, uint16_t own)
{
	if (!ids->taken[own]) {
		ids->taken[own] = 1;
		return own;
	}
	for (uint32_t i = 0; i < IDS_NR; i++) {
		uint32_t id = (OWN_FROM + i) % IDS_NR;

		if (!id || ids->taken[id])
			continue;
		ids->taken[id] = 1;
		return (int)id;
	}
	return -E2BIG;
}

static int make_row(struct ids_row *r, const struct dat_format *f, size_t at, size_t line)
{
	*r = (struct ids_row){
		.system = strdup(f->system),
		.text = malloc(f->text.len + 1),
		.len = f->text.len - line,
		.at = at,
	};
	if (!r->system || !r->text)
		return -ENOMEM;
	memcpy(r->text, f->text.text, at);
	memcpy(r->text + at, f->text.text + at + line, r->len - at);
	r->hash = hash_row(r);
	return 0;
}

static void free_row(struct ids_row *r)
{
	free(r->system);
	free(r->text);
}

/* The row that says the same, or a new one. */
static int find_row(struct ids *ids, struct ids_row *r, uint16_t own, uint32_t *nr)
{
	uint32_t *slot = find_slot(ids, r);
	int id;

	if (*slot) {
		*nr = *slot - 1;
		free_row(r);
		return 0;
	}
	id = take_id(ids, own);
	if (id < 0 || grow(ids)) {
		free_row(r);
		return id < 0 ? id : -ENOMEM;
	}
	r->id = (uint16_t)id;
	*nr = (uint32_t)ids->nr;
	ids->row[ids->nr++] = *r;
	*slot = (uint32_t)ids->nr;
	return 0;
}

static int add_format(struct ids *ids, const struct dat_format *f, struct ids_map *map,
		      struct ids_list *list)
{
	struct ids_row row;
	size_t at, line;
	uint32_t nr;
	uint16_t id;
	int rc;

	if (!find_id(&f->text, &at, &line, &id) || map->to[id])
		return 0;
	rc = make_row(&row, f, at, line);
	if (rc) {
		free_row(&row);
		return rc;
	}
	rc = find_row(ids, &row, id, &nr);
	if (rc)
		return rc;
	map->to[id] = ids->row[nr].id;
	list->row[list->nr++] = nr;
	return 0;
}

int ids_add(struct ids *ids, const struct dat_info *info, struct ids_map *map,
	    struct ids_list *list)
{
	int rc = ids->slot ? 0 : make_slots(ids);

	memset(map, 0, sizeof(*map));
	list->row = reallocarray(NULL, info->nr_formats + 1, sizeof(*list->row));
	if (!list->row)
		rc = -ENOMEM;
	for (size_t i = 0; i < info->nr_formats && !rc; i++)
		rc = add_format(ids, &info->formats[i], map, list);
	return rc;
}

/*
 * Those that have none keep their number where they can: blktrace's, which readers know by it, are
 * such.
 */
int ids_of(struct ids *ids, struct ids_map *map, uint16_t id)
{
	int to = map->to[id];

	if (to || !id)
		return to;
	to = ids->unknown[id] ? id : take_id(ids, id);
	if (to < 0)
		return to;
	if (to == id)
		ids->unknown[id] = 1;
	map->to[id] = (uint16_t)to;
	return to;
}

void ids_list_free(struct ids_list *l)
{
	free(l->row);
}

void ids_exit(struct ids *ids)
{
	for (size_t i = 0; i < ids->nr; i++)
		free_row(&ids->row[i]);
	free(ids->row);
	free(ids->slot);
}

/* --- writing ---------------------------------------------------------------------------------- */

static bool is_ftrace(const struct ids_row *r)
{
	return !strcmp(r->system, "ftrace");
}

static void write_row(const struct ids_row *r, struct text *to)
{
	size_t at = to->len;

	bytes_add64(to, 0);
	text_add(to, r->text, r->at);
	text_printf(to, "ID: %u\n", r->id);
	text_add(to, r->text + r->at, r->len - r->at);
	bytes_set_len64(to, at);
}

void ids_write_ftrace(const struct ids *ids, struct text *to)
{
	size_t at = to->len;
	uint32_t nr = 0;

	bytes_add32(to, 0);
	for (size_t i = 0; i < ids->nr; i++) {
		if (!is_ftrace(&ids->row[i]))
			continue;
		write_row(&ids->row[i], to);
		nr++;
	}
	bytes_set32(to, at, nr);
}

/* By the system, then as they came: ftrace's before all others. */
static int by_system(const void *a, const void *b, void *arg)
{
	const struct ids *ids = arg;
	const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	const struct ids_row *r = &ids->row[x], *s = &ids->row[y];
	int rc = (int)is_ftrace(s) - (int)is_ftrace(r);

	if (!rc)
		rc = strcmp(r->system, s->system);
	return rc ? rc : (x > y) - (x < y);
}

static uint32_t *sorted(const struct ids *ids)
{
	uint32_t *rows = reallocarray(NULL, ids->nr + 1, sizeof(*rows));

	for (size_t i = 0; rows && i < ids->nr; i++)
		rows[i] = (uint32_t)i;
	if (rows)
		qsort_r(rows, ids->nr, sizeof(*rows), by_system, (void *)(uintptr_t)ids);
	return rows;
}

void ids_write_events(const struct ids *ids, struct text *to)
{
	uint32_t *rows = sorted(ids), systems = 0, nr = 0;
	size_t start = to->len, count = 0;
	const char *last = "ftrace";

	bytes_add32(to, 0);
	for (size_t i = 0; rows && i < ids->nr; i++) {
		const struct ids_row *r = &ids->row[rows[i]];

		if (is_ftrace(r))
			continue;
		if (strcmp(r->system, last) != 0) {
			text_add(to, r->system, strlen(r->system) + 1);
			count = to->len;
			bytes_add32(to, 0);
			nr = 0;
			systems++;
		}
		last = r->system;
		write_row(r, to);
		bytes_set32(to, count, ++nr);
	}
	bytes_set32(to, start, systems);
	to->failed |= !rows;
	free(rows);
}

uint16_t *ids_order(const struct ids *ids)
{
	uint16_t *order = reallocarray(NULL, ids->nr + 1, sizeof(*order));
	uint32_t *rows = sorted(ids);

	for (size_t i = 0; rows && order && i < ids->nr; i++)
		order[rows[i]] = (uint16_t)i;
	if (!rows) {
		free(order);
		order = NULL;
	}
	free(rows);
	return order;
}
