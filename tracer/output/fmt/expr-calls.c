// SPDX-License-Identifier: GPL-2.0-or-later
/* expr-calls.c - what print fmts call: the helpers of include/trace/stages (6.1). */
#include "tracer/output/fmt/internal.h"

#include <stdlib.h>
#include <string.h>

#include "tracer/output/fmt/eval.h"

enum { ROWS_MAX = 4096 };

static const struct {
	const char *name;
	enum expr_function fn;
	bool rel;
} functions[] = {
	{"__get_str", FN_DYNAMIC, false},
	{"__get_dynamic_array", FN_DYNAMIC, false},
	{"__get_sockaddr", FN_DYNAMIC, false},
	{"__get_rel_str", FN_DYNAMIC, true},
	{"__get_rel_dynamic_array", FN_DYNAMIC, true},
	{"__get_rel_sockaddr", FN_DYNAMIC, true},
	{"__get_dynamic_array_len", FN_DYNAMIC_LEN, false},
	{"__get_rel_dynamic_array_len", FN_DYNAMIC_LEN, true},
	{"__get_bitmask", FN_BITMASK, false},
	{"__get_cpumask", FN_BITMASK, false},
	{"__get_rel_bitmask", FN_BITMASK, true},
	{"__get_rel_cpumask", FN_BITMASK, true},
	{"__print_flags", FN_FLAGS, false},
	{"__print_flags_u64", FN_FLAGS, false},
	{"__print_symbolic", FN_SYMBOLIC, false},
	{"__print_symbolic_u64", FN_SYMBOLIC, false},
	{"__print_hex", FN_HEX, false},
	{"__print_hex_str", FN_HEX_STR, false},
	{"__print_array", FN_ARRAY, false},
	{"__print_dynamic_array", FN_DYNAMIC_ARRAY, false},
	{"__print_ns_to_secs", FN_SECS, false},
	{"__print_ns_without_secs", FN_NSECS, false},
	{"jiffies_to_msecs", FN_JIFFIES_MSECS, false},
	{"jiffies_to_usecs", FN_JIFFIES_USECS, false},
	{"nvme_trace_disk_name", FN_DISK_NAME, false},
	{"mc_event_error_type", FN_MEMORY_ERROR, false},
	{"__builtin_expect", FN_SAME, false},
	/* Of page tables: the same bits in another type, but in Xen PV guests. */
	{"pte_val", FN_SAME, false},
	{"pmd_val", FN_SAME, false},
	{"pud_val", FN_SAME, false},
	{"p4d_val", FN_SAME, false},
	{"pgd_val", FN_SAME, false},
	{"native_make_pte", FN_SAME, false},
	{"native_make_pmd", FN_SAME, false},
	{"native_make_pud", FN_SAME, false},
	{"native_make_p4d", FN_SAME, false},
	{"native_make_pgd", FN_SAME, false},
};

static bool is_null(const struct expr *e)
{
	while (e->kind == EXPR_CAST)
		e = e->a;
	return e->kind == EXPR_NUMBER && !e->number;
}

/* { value, "name" }; false: it is no such thing. A name of NULL ends the list for the kernel. */
static bool parse_row(struct expr_parser *p, struct expr_row *row)
{
	struct expr *value, *name;

	if (!expr_skip(p, '{'))
		return false;
	value = expr_parse(p);
	if (!value || !expr_constant(value, &row->value) || !expr_skip(p, ','))
		return false;
	name = expr_parse(p);
	if (!name || (name->kind != EXPR_STRING && !is_null(name)))
		return false;
	row->name = name->text;
	return expr_skip(p, '}');
}

struct rows {
	struct expr_row *v;
	size_t n, room;
};

/* Room is made for those that are there: for any that may follow a guest would have us take it. */
static bool add_row(struct expr_parser *p, struct rows *rows, struct expr_row row)
{
	size_t room = rows->room ? 2 * rows->room : 8;
	struct expr_row *v = rows->v;

	if (rows->n == rows->room) {
		v = room <= ROWS_MAX ? expr_alloc(p->mem, room * sizeof(*v)) : NULL;
		if (!v)
			return false;
		if (rows->n)
			memcpy(v, rows->v, rows->n * sizeof(*v));
		rows->v = v;
		rows->room = room;
	}
	v[rows->n++] = row;
	return true;
}

static bool parse_rows(struct expr_parser *p, struct expr *call)
{
	struct rows rows = {0};
	bool ended = false;

	while (expr_skip(p, ',')) {
		struct expr_row row;

		if (!parse_row(p, &row))
			return false;
		ended = ended || !row.name;
		if (!ended && !add_row(p, &rows, row))
			return false;
	}
	call->row = rows.v;
	call->nr_rows = rows.n;
	return true;
}

/* The name of a dynamic field, not an expression. */
static bool parse_dynamic(struct expr_parser *p, struct expr *call)
{
	struct expr_type type = {.size = 1, .is_pointer = true};
	const struct guestsym_event_field *f;
	char name[NAME_MAX_LEN];

	if (!expr_take_name(p, name))
		return false;
	f = expr_find_field(p, name);
	if (!f || f->size != 4)
		return false;
	call->number = f->offset;
	if (strstr(f->type, "_loc "))
		expr_type_find(p->names, strstr(f->type, "_loc ") + 5, &type);
	call->type = type;
	call->type.is_pointer = call->op != FN_DYNAMIC_LEN;
	if (call->op == FN_DYNAMIC_LEN)
		call->type = (struct expr_type){.size = 4, .is_signed = true};
	return true;
}

static bool parse_arguments(struct expr_parser *p, struct expr *call)
{
	struct expr **to[] = {&call->a, &call->b, &call->c};

	for (size_t i = 0; i < NR(to); i++) {
		if (i && !expr_skip(p, ','))
			break;
		if (!expr_set(call, to[i], expr_parse_choice(p)))
			return false;
	}
	return true;
}

static bool parse_call_body(struct expr_parser *p, struct expr *call)
{
	switch (call->op) {
	case FN_DYNAMIC:
	case FN_DYNAMIC_LEN:
	case FN_BITMASK:
		return parse_dynamic(p, call);
	case FN_DYNAMIC_ARRAY:
		return parse_dynamic(p, call) && expr_skip(p, ',') &&
		       expr_set(call, &call->b, expr_parse_choice(p));
	case FN_FLAGS:
		return expr_set(call, &call->a, expr_parse_choice(p)) && expr_skip(p, ',') &&
		       expr_set(call, &call->b, expr_parse_choice(p)) && parse_rows(p, call);
	case FN_SYMBOLIC:
		return expr_set(call, &call->a, expr_parse_choice(p)) && parse_rows(p, call);
	case FN_DISK_NAME: /* the first is the kernel's own buffer */
		return expr_skip_word(p, "p") && expr_skip(p, ',') &&
		       expr_set(call, &call->a, expr_parse_choice(p));
	default:
		return parse_arguments(p, call);
	}
}

static bool call_complete(const struct expr *call)
{
	switch (call->op) {
	case FN_HEX:
	case FN_HEX_STR:
		return call->b;
	case FN_ARRAY:
		return call->c;
	default:
		return true;
	}
}

static struct expr_type call_type(const struct expr_parser *p, const struct expr *call)
{
	switch (call->op) {
	case FN_DYNAMIC:
	case FN_DYNAMIC_LEN:
		return call->type;
	case FN_SAME:
		return call->a->type;
	case FN_SECS:
		return (struct expr_type){.size = 8};
	case FN_NSECS:
		return (struct expr_type){.size = 4};
	case FN_JIFFIES_MSECS:
	case FN_JIFFIES_USECS:
		return (struct expr_type){.size = p->names->hz ? 4 : 0};
	default:
		return (struct expr_type){.size = 1, .is_signed = true, .is_pointer = true};
	}
}

/* Behind "name(" */
struct expr *expr_parse_call(struct expr_parser *p, const char *name)
{
	struct expr *call = NULL;

	for (size_t i = 0; !call && i < NR(functions); i++) {
		if (strcmp(functions[i].name, name) != 0)
			continue;
		call = expr_new(p, EXPR_CALL, NULL);
		if (!call)
			return NULL;
		call->op = (uint8_t)functions[i].fn;
		call->rel = functions[i].rel;
	}
	if (!call || !parse_call_body(p, call) || !call_complete(call) || !expr_skip(p, ')'))
		return NULL;
	call->type = call_type(p, call);
	if (call->op == FN_JIFFIES_MSECS || call->op == FN_JIFFIES_USECS)
		call->number = p->names->hz;
	return call->type.size ? call : NULL;
}
