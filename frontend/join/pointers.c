// SPDX-License-Identifier: GPL-2.0-or-later
/* pointers.c - see pointers.h */
#include "frontend/join/pointers.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { IDS = 65536, FIELDS_MAX = 16, DEPTH_MAX = 16, ADDR = 8 };

/* Of one event. */
struct found {
	const struct tep_format_field *field[FIELDS_MAX];
	unsigned int nr;
};

struct pointers {
	struct formats *formats;
	struct found *found[IDS];
	uint8_t looked[IDS];
	struct found none;
};

/* --- what a format prints so -------------------------------------------------------------------
 */

static void note(struct found *to, const struct tep_format_field *field)
{
	for (unsigned int i = 0; i < to->nr; i++)
		if (to->field[i] == field)
			return;
	if (field && to->nr < FIELDS_MAX)
		to->field[to->nr++] = field;
}

/* A field, or a cast, a member or a sum of such. */
static void note_arg(struct found *to, struct tep_event *event, const struct tep_print_arg *arg,
		     unsigned int depth)
{
	if (!arg || depth > DEPTH_MAX)
		return;
	switch (arg->type) {
	case TEP_PRINT_FIELD:
		note(to, tep_find_any_field(event, arg->field.name));
		break;
	case TEP_PRINT_TYPE:
		note_arg(to, event, arg->typecast.item, depth + 1);
		break;
	case TEP_PRINT_OP:
		note_arg(to, event, arg->op.left, depth + 1);
		note_arg(to, event, arg->op.right, depth + 1);
		break;
	case TEP_PRINT_DYNAMIC_ARRAY:
		note(to, arg->dynarray.field);
		break;
	default:
		break;
	}
}

/* Behind flags and widths; *args: how many of these are arguments. */
static const char *conversion(const char *at, unsigned int *args)
{
	*args = 0;
	for (; *at && strchr("-+ #0123456789.*hlLqjzt", *at); at++)
		*args += *at == '*';
	return at;
}

static bool is_name(const char *at)
{
	return *at == 's' || (*at == 'p' && at[1] && strchr("sSfFB", at[1]));
}

static void note_printed(struct found *to, struct tep_event *event)
{
	const struct tep_print_arg *arg = event->print_fmt.args;
	const char *at = event->print_fmt.format;
	unsigned int before;

	while (arg && at && (at = strchr(at, '%'))) {
		at = conversion(at + 1, &before);
		if (!*at)
			break;
		if (*at == '%') {
			at++;
			continue;
		}
		while (before-- && arg)
			arg = arg->next;
		if (arg && is_name(at))
			note_arg(to, event, arg, 0);
		arg = arg ? arg->next : NULL;
		at++;
	}
}

/* Whatever the format prints: readers have names for these, by plugins or by themselves. */
static void note_known(struct found *to, struct tep_event *event)
{
	static const struct {
		const char *system, *field;
	} known[] = {
		{"ftrace", "ip"},      {"ftrace", "parent_ip"}, {"ftrace", "func"},
		{"ftrace", "caller"},  {"ftrace", "fmt"},	{"ftrace", "retaddr"},
		{"kmem", "call_site"}, {"timer", "function"},
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
		if (!strcmp(event->system, known[i].system))
			note(to, tep_find_field(event, known[i].field));
}

static struct found *find(struct pointers *p, int id)
{
	struct tep_event *event = formats_event(p->formats, id);
	struct found all = {.nr = 0}, *found;

	if (!event)
		return &p->none;
	if (!(event->flags & TEP_EVENT_FL_FAILED))
		note_printed(&all, event);
	note_known(&all, event);
	if (!all.nr)
		return &p->none;
	found = malloc(sizeof(*found));
	if (found)
		*found = all;
	return found;
}

/* --- in a record -------------------------------------------------------------------------------
 */

/* An array at the end of a format, such as a stack, goes on to the end of the record. */
static size_t end_of(const struct tep_format_field *field, size_t at, size_t size, size_t len)
{
	bool open = !field->next && (field->flags & TEP_FIELD_IS_ARRAY);

	return open || size > len - at ? len : at + size;
}

/* libtraceevent knows no size of what a dynamic array has. */
static bool has_addresses(const struct tep_format_field *field)
{
	return field->flags & TEP_FIELD_IS_LONG || strstr(field->type, "64") ||
	       strchr(field->type, '*');
}

static void move_field(const struct tep_format_field *field, uint8_t *data, size_t len,
		       uint64_t (*move)(const void *arg, uint64_t addr), const void *arg)
{
	size_t at = (size_t)field->offset, size = (size_t)field->size, end;
	uint32_t where;

	if (field->flags & TEP_FIELD_IS_STRING || at > len)
		return;
	if (field->flags & TEP_FIELD_IS_DYNAMIC) {
		if (size != sizeof(where) || size > len - at || !has_addresses(field))
			return;
		memcpy(&where, data + at, sizeof(where));
		at = where & UINT16_MAX;
		size = where >> 16;
		if (field->flags & TEP_FIELD_IS_RELATIVE)
			at += (size_t)field->offset + sizeof(where);
		if (at > len)
			return;
		end = size > len - at ? len : at + size;
	} else {
		end = end_of(field, at, size, len);
	}
	for (; end - at >= ADDR && at < end; at += ADDR) {
		uint64_t addr;

		memcpy(&addr, data + at, sizeof(addr));
		addr = move(arg, addr);
		memcpy(data + at, &addr, sizeof(addr));
	}
}

void pointers_each(struct pointers *p, int id, uint8_t *data, size_t len,
		   uint64_t (*move)(const void *arg, uint64_t addr), const void *arg)
{
	const struct found *found;

	if (id < 0 || id >= IDS)
		return;
	if (!p->looked[id]) {
		p->looked[id] = 1;
		p->found[id] = find(p, id);
	}
	found = p->found[id];
	for (unsigned int i = 0; found && i < found->nr; i++)
		move_field(found->field[i], data, len, move, arg);
}

struct pointers *pointers_new(struct formats *f)
{
	struct pointers *p = calloc(1, sizeof(*p));

	if (p)
		p->formats = f;
	return p;
}

void pointers_free(struct pointers *p)
{
	for (size_t i = 0; p && i < IDS; i++)
		if (p->found[i] != &p->none)
			free(p->found[i]);
	free(p);
}
