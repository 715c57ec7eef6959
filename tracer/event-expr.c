// SPDX-License-Identifier: GPL-2.0-or-later
/* event-expr.c - parses the expressions of print fmts; see event-expr.h. */
#include "tracer/event-expr.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "tracer/event-eval.h"

enum {
	NESTING_MAX = 128, /* of the text */
	DEPTH_MAX = 256,   /* of a tree: a + b + c is two deep */
	NAME_MAX_LEN = 128,
	CHUNK = 4096,
	ROWS_MAX = 4096,
};

#define NR(array) (sizeof(array) / sizeof((array)[0]))

/* --- memory --------------------------------------------------------------------------------- */

struct expr_chunk {
	struct expr_chunk *next;
	size_t size;
	_Alignas(16) char bytes[];
};

void *expr_alloc(struct expr_memory *mem, size_t len)
{
	struct expr_chunk *chunk = mem->chunks;
	void *at;

	len = (len + 15) & ~(size_t)15;
	if (!chunk || chunk->size - mem->used < len) {
		size_t size = len > CHUNK ? len : CHUNK;

		chunk = calloc(1, sizeof(*chunk) + size);
		if (!chunk) {
			mem->failed = true;
			return NULL;
		}
		chunk->size = size;
		chunk->next = mem->chunks;
		mem->chunks = chunk;
		mem->used = 0;
	}
	at = chunk->bytes + mem->used;
	mem->used += len;
	return at;
}

void expr_free(struct expr_memory *mem)
{
	for (struct expr_chunk *chunk = mem->chunks, *next; chunk; chunk = next) {
		next = chunk->next;
		free(chunk);
	}
	*mem = (struct expr_memory){0};
}

/* NULL also when that makes the tree too deep. */
static struct expr *expr_new(struct expr_parser *p, enum expr_kind kind, struct expr *a)
{
	struct expr *e = expr_alloc(p->mem, sizeof(*e));

	if (!e)
		return NULL;
	e->kind = (uint8_t)kind;
	e->a = a;
	e->depth = a ? a->depth + 1 : 0;
	return e->depth < DEPTH_MAX ? e : NULL;
}

static bool expr_set(struct expr *e, struct expr **operand, struct expr *value)
{
	*operand = value;
	if (value && value->depth >= e->depth)
		e->depth = value->depth + 1;
	return value && e->depth < DEPTH_MAX;
}

/* --- words ---------------------------------------------------------------------------------- */

static void skip_blanks(struct expr_parser *p)
{
	while (isspace((unsigned char)*p->at))
		p->at++;
}

bool expr_skip(struct expr_parser *p, char c)
{
	skip_blanks(p);
	if (*p->at != c)
		return false;
	p->at++;
	return true;
}

static bool skip_word(struct expr_parser *p, const char *word)
{
	size_t len = strlen(word);

	skip_blanks(p);
	if (strncmp(p->at, word, len) != 0)
		return false;
	p->at += len;
	return true;
}

static bool is_name_char(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

static bool take_name(struct expr_parser *p, char name[NAME_MAX_LEN])
{
	size_t len = 0;

	skip_blanks(p);
	if (isdigit((unsigned char)*p->at))
		return false;
	while (is_name_char(p->at[len]))
		len++;
	if (!len || len >= NAME_MAX_LEN)
		return false;
	memcpy(name, p->at, len);
	name[len] = '\0';
	p->at += len;
	return true;
}

/* Behind a backslash. */
static char take_escape(struct expr_parser *p)
{
	static const char from[] = "abfnrtv", to[] = "\a\b\f\n\r\t\v";
	const char *known = *p->at ? strchr(from, *p->at) : NULL;
	char digits[4] = {0}, *end;
	int base = 8;

	if (known) {
		p->at++;
		return to[known - from];
	}
	if (*p->at == 'x') {
		base = 16;
		p->at++;
	}
	memcpy(digits, p->at, strnlen(p->at, base == 16 ? 2 : 3));
	base = (int)strtoul(digits, &end, base);
	if (end > digits && isxdigit((unsigned char)digits[0])) {
		p->at += end - digits;
		return (char)base;
	}
	return *p->at ? *p->at++ : '\0';
}

/* How long strings that stand here are at most. */
static size_t string_room(const char *at)
{
	size_t len = 1;

	while (*at == '"') {
		for (at++; *at && *at != '"'; at++, len++) {
			if (*at == '\\' && at[1])
				at++;
		}
		if (*at)
			at++;
		while (isspace((unsigned char)*at))
			at++;
	}
	return len;
}

const char *expr_parse_string(struct expr_parser *p)
{
	char *buf, *to;

	skip_blanks(p);
	if (*p->at != '"')
		return NULL;
	to = buf = expr_alloc(p->mem, string_room(p->at));
	while (buf && expr_skip(p, '"')) {
		while (*p->at && *p->at != '"') {
			if (*p->at == '\\' && p->at[1]) {
				p->at++;
				*to++ = take_escape(p);
			} else {
				*to++ = *p->at++;
			}
		}
		if (!*p->at)
			return NULL;
		p->at++;
	}
	return buf;
}

/* --- types ---------------------------------------------------------------------------------- */

static const struct {
	const char *name;
	uint8_t size;
	bool is_signed;
} known_types[] = {
	{"char", 1, true},	 {"bool", 1, false},	    {"_Bool", 1, false},
	{"u8", 1, false},	 {"__u8", 1, false},	    {"uint8_t", 1, false},
	{"s8", 1, true},	 {"__s8", 1, true},	    {"int8_t", 1, true},
	{"short", 2, true},	 {"u16", 2, false},	    {"__u16", 2, false},
	{"uint16_t", 2, false},	 {"s16", 2, true},	    {"__s16", 2, true},
	{"int16_t", 2, true},	 {"__le16", 2, false},	    {"__be16", 2, false},
	{"int", 4, true},	 {"u32", 4, false},	    {"__u32", 4, false},
	{"uint32_t", 4, false},	 {"s32", 4, true},	    {"__s32", 4, true},
	{"int32_t", 4, true},	 {"__le32", 4, false},	    {"__be32", 4, false},
	{"gfp_t", 4, false},	 {"pid_t", 4, true},	    {"dev_t", 4, false},
	{"uint", 4, false},	 {"blk_opf_t", 4, false},   {"long", 8, true},
	{"u64", 8, false},	 {"__u64", 8, false},	    {"uint64_t", 8, false},
	{"s64", 8, true},	 {"__s64", 8, true},	    {"int64_t", 8, true},
	{"__le64", 8, false},	 {"__be64", 8, false},	    {"size_t", 8, false},
	{"ssize_t", 8, true},	 {"loff_t", 8, true},	    {"sector_t", 8, false},
	{"ino_t", 8, false},	 {"ktime_t", 8, true},	    {"void", 1, false},
	{"uintptr_t", 8, false}, {"phys_addr_t", 8, false}, {"dma_addr_t", 8, false},
};

/* The words of a type, one after the other. */
struct type_words {
	bool is_unsigned, is_signed, is_long, is_enum, is_pointer, known;
	struct expr_type type;
	char name[NAME_MAX_LEN]; /* "struct page"; "": only words of C */
};

static bool is_tag(const char *word)
{
	return !strcmp(word, "struct") || !strcmp(word, "union") || !strcmp(word, "enum");
}

static bool known_type(const char *word, struct type_words *w)
{
	for (size_t i = 0; i < NR(known_types); i++) {
		if (strcmp(known_types[i].name, word) != 0)
			continue;
		if (w->known && !strcmp(word, "int")) /* long int */
			return true;
		w->known = true;
		w->type.size = known_types[i].size;
		w->type.is_signed = known_types[i].is_signed;
		return true;
	}
	return false;
}

static bool add_word(struct type_words *w, const char *word)
{
	size_t len = strlen(w->name);

	if (!strcmp(word, "const") || !strcmp(word, "volatile") || !strcmp(word, "__user"))
		return true;
	if (!strcmp(word, "unsigned"))
		return w->is_unsigned = true;
	if (!strcmp(word, "signed"))
		return w->is_signed = true;
	if (!strcmp(word, "enum"))
		w->is_enum = true;
	if (!len && known_type(word, w))
		return true;
	if (w->known || w->is_unsigned || (len && !is_tag(w->name)))
		return false;
	if (len + strlen(word) + 2 > sizeof(w->name))
		return false;
	if (len)
		w->name[len++] = ' ';
	strcpy(w->name + len, word);
	return true;
}

static bool finish_type(const struct expr_names *names, struct type_words *w,
			struct expr_type *type)
{
	*type = w->type;
	type->is_pointer = w->is_pointer;
	if (w->known) {
		type->is_signed = type->is_signed && !w->is_unsigned;
	} else if (w->name[0]) {
		type->size = names->type_size ? names->type_size(names->arg, w->name) : 0;
		if (!type->size && w->is_enum)
			type->size = 4;
		/* To what a pointer leads does not matter unless it is counted with. */
		return type->size || w->is_pointer;
	} else if (w->is_unsigned || w->is_signed) {
		type->size = 4;
		type->is_signed = w->is_signed;
	} else {
		return false;
	}
	return true;
}

/* Leaves p behind the type, if it is one. */
static bool take_type(struct expr_parser *p, struct expr_type *type)
{
	struct type_words w = {0};
	char word[NAME_MAX_LEN];
	bool any = false;

	while (take_name(p, word)) {
		if (!add_word(&w, word))
			return false;
		any = true;
	}
	while (any && expr_skip(p, '*')) {
		if (w.is_pointer) { /* to a pointer */
			w.known = true;
			w.type = (struct expr_type){.size = 8};
		}
		w.is_pointer = true;
	}
	return any && finish_type(p->names, &w, type);
}

bool expr_type_find(const struct expr_names *names, const char *name, struct expr_type *type)
{
	struct expr_parser p = {.at = name, .names = names};

	return take_type(&p, type);
}

/* --- fields --------------------------------------------------------------------------------- */

static const struct guestsym_event_field *find_field(const struct expr_parser *p, const char *name)
{
	for (size_t i = 0; i < p->nr_fields; i++) {
		if (!strcmp(p->fields[i].name, name))
			return &p->fields[i];
	}
	return NULL;
}

static bool is_number_size(uint32_t size)
{
	return size == 1 || size == 2 || size == 4 || size == 8;
}

/* What an array of so many bytes is of, by its type: "u8[24]" */
static struct expr_type element_type(struct expr_parser *p, const struct guestsym_event_field *f)
{
	const char *bracket = strchr(f->type, '[');
	unsigned long nr = strtoul(bracket + 1, NULL, 10);
	struct expr_type type;

	if (nr)
		type.size = (uint32_t)(f->size / nr);
	else if (!expr_type_find(p->names, f->type, &type))
		type.size = 1;
	type.is_signed = f->is_signed;
	type.is_pointer = true;
	return type;
}

static struct expr *field_expr(struct expr_parser *p, const struct guestsym_event_field *f)
{
	bool is_array = strchr(f->type, '[') && !strstr(f->type, "_loc ");
	bool is_place = is_array || !is_number_size(f->size);
	bool is_pointer = strchr(f->type, '*');
	struct expr *e = expr_new(p, is_place ? EXPR_PLACE : EXPR_FIELD, NULL);

	if (!e)
		return NULL;
	e->number = f->offset;
	e->size = f->size;
	e->type = (struct expr_type){.size = f->size, .is_signed = f->is_signed};
	if (is_array)
		e->type = element_type(p, f);
	else if (is_place)
		e->type.is_pointer = true;
	else if (is_pointer &&
		 (!expr_type_find(p->names, f->type, &e->type) || !e->type.is_pointer))
		e->type = (struct expr_type){.size = 1, .is_pointer = true};
	return e;
}

/* Behind "REC->" */
static struct expr *parse_field(struct expr_parser *p)
{
	const struct guestsym_event_field *f;
	char name[NAME_MAX_LEN];

	if (!take_name(p, name))
		return NULL;
	f = find_field(p, name);
	if (!f && !strncmp(name, "__data_loc_", 11))
		f = find_field(p, name + 11);
	return f ? field_expr(p, f) : NULL;
}

/* --- calls ---------------------------------------------------------------------------------- */

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

static struct expr *parse_choice(struct expr_parser *p);

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

static size_t count_rows(const char *at)
{
	size_t nr = 0;

	for (; *at && nr < ROWS_MAX; at++)
		nr += *at == '{';
	return nr;
}

static bool parse_rows(struct expr_parser *p, struct expr *call)
{
	size_t max = count_rows(p->at);
	struct expr_row *rows = expr_alloc(p->mem, max * sizeof(*rows) + 1);
	bool ended = false;

	call->row = rows;
	while (rows && expr_skip(p, ',')) {
		struct expr_row row;

		if (call->nr_rows == max || !parse_row(p, &row))
			return false;
		ended = ended || !row.name;
		if (!ended)
			rows[call->nr_rows++] = row;
	}
	return rows;
}

/* The name of a dynamic field, not an expression. */
static bool parse_dynamic(struct expr_parser *p, struct expr *call)
{
	struct expr_type type = {.size = 1, .is_pointer = true};
	const struct guestsym_event_field *f;
	char name[NAME_MAX_LEN];

	if (!take_name(p, name))
		return false;
	f = find_field(p, name);
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
		if (!expr_set(call, to[i], parse_choice(p)))
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
		       expr_set(call, &call->b, parse_choice(p));
	case FN_FLAGS:
		return expr_set(call, &call->a, parse_choice(p)) && expr_skip(p, ',') &&
		       expr_set(call, &call->b, parse_choice(p)) && parse_rows(p, call);
	case FN_SYMBOLIC:
		return expr_set(call, &call->a, parse_choice(p)) && parse_rows(p, call);
	case FN_DISK_NAME: /* the first is the kernel's own buffer */
		return skip_word(p, "p") && expr_skip(p, ',') &&
		       expr_set(call, &call->a, parse_choice(p));
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
static struct expr *parse_call(struct expr_parser *p, const char *name)
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

/* --- operands ------------------------------------------------------------------------------- */

static struct expr *number_expr(struct expr_parser *p, uint64_t value, uint32_t size,
				bool is_signed)
{
	struct expr *e = expr_new(p, EXPR_NUMBER, NULL);

	if (e) {
		e->number = value;
		e->type = (struct expr_type){.size = size, .is_signed = is_signed};
	}
	return e;
}

static struct expr *parse_literal(struct expr_parser *p)
{
	bool is_unsigned = false, is_long = false, hex = *p->at == '0';
	char *end;
	uint64_t value = strtoull(p->at, &end, 0);

	p->at = end;
	for (; *p->at && strchr("uUlL", *p->at); p->at++) {
		if (*p->at == 'u' || *p->at == 'U')
			is_unsigned = true;
		else
			is_long = true;
	}
	if (is_name_char(*p->at))
		return NULL;
	if (value > UINT32_MAX || (value > INT32_MAX && !is_unsigned && !hex))
		is_long = true;
	if (value > INT64_MAX || (!is_long && value > INT32_MAX))
		is_unsigned = true;
	return number_expr(p, value, is_long ? 8 : 4, !is_unsigned);
}

static struct expr *parse_char(struct expr_parser *p)
{
	char c = *p->at;

	p->at++;
	if (c == '\\')
		c = take_escape(p);
	if (*p->at != '\'')
		return NULL;
	p->at++;
	return number_expr(p, (uint64_t)(int64_t)c, 4, true);
}

static struct expr *parse_sizeof(struct expr_parser *p)
{
	const char *start;
	struct expr_type type;
	struct expr *e;

	if (!expr_skip(p, '('))
		return NULL;
	start = p->at;
	if (take_type(p, &type) && expr_skip(p, ')'))
		return number_expr(p, type.is_pointer ? 8 : type.size, 8, false);
	p->at = start;
	e = parse_choice(p);
	if (!e || !expr_skip(p, ')'))
		return NULL;
	return number_expr(p, e->size ? e->size : e->type.is_pointer ? 8 : e->type.size, 8, false);
}

static struct expr *variable_expr(struct expr_parser *p, const char *name)
{
	uint64_t addr = p->names->variable ? p->names->variable(p->names->arg, name) : 0;
	struct expr *e = addr ? expr_new(p, EXPR_VARIABLE, NULL) : NULL;

	if (!e)
		return NULL;
	e->number = addr;
	e->names = p->names;
	e->type = (struct expr_type){.size = 8};
	return e;
}

static struct expr *parse_name(struct expr_parser *p)
{
	static const struct {
		const char *name;
		uint64_t value;
	} constants[] = {{"true", 1}, {"false", 0}, {"NULL", 0}};
	char name[NAME_MAX_LEN];
	uint64_t value;

	if (!take_name(p, name))
		return NULL;
	if (!strcmp(name, "REC"))
		return expr_new(p, EXPR_REC, NULL);
	if (!strcmp(name, "sizeof"))
		return parse_sizeof(p);
	if (expr_skip(p, '('))
		return parse_call(p, name);
	for (size_t i = 0; i < NR(constants); i++) {
		if (!strcmp(constants[i].name, name))
			return number_expr(p, constants[i].value, 4, true);
	}
	if (p->names->constant && p->names->constant(p->names->arg, name, &value))
		return number_expr(p, value, 8, true);
	return variable_expr(p, name);
}

static struct expr *parse_unary(struct expr_parser *p);

/* (type)operand; NULL, and p where it was, when no type stands here. */
static struct expr *parse_cast(struct expr_parser *p)
{
	const char *start = p->at;
	struct expr_type type;
	struct expr *e;

	if (take_type(p, &type) && expr_skip(p, ')')) {
		e = expr_new(p, EXPR_CAST, parse_unary(p));
		if (!e || !e->a)
			return NULL;
		e->type = type;
		return e;
	}
	p->at = start;
	return NULL;
}

/* Behind an opening parenthesis. */
static struct expr *parse_parenthesis(struct expr_parser *p)
{
	const char *start = p->at;
	struct expr *e;

	if (skip_word(p, "REC)"))
		return expr_new(p, EXPR_REC, NULL);
	e = parse_cast(p);
	if (e || p->at != start)
		return e;
	e = parse_choice(p);
	return e && expr_skip(p, ')') ? e : NULL;
}

static struct expr *parse_primary(struct expr_parser *p)
{
	struct expr *e;

	skip_blanks(p);
	if (isdigit((unsigned char)*p->at))
		return parse_literal(p);
	if (expr_skip(p, '\''))
		return parse_char(p);
	if (expr_skip(p, '('))
		return parse_parenthesis(p);
	if (*p->at != '"')
		return parse_name(p);
	e = expr_new(p, EXPR_STRING, NULL);
	if (!e)
		return NULL;
	e->type = (struct expr_type){.size = 1, .is_signed = true, .is_pointer = true};
	e->text = expr_parse_string(p);
	return e->text ? e : NULL;
}

static struct expr *deref_expr(struct expr_parser *p, struct expr *a)
{
	struct expr *e;

	if (!a || !a->type.is_pointer || !is_number_size(a->type.size))
		return NULL;
	e = expr_new(p, EXPR_DEREF, a);
	if (e) {
		e->type = a->type;
		e->type.is_pointer = false;
	}
	return e;
}

/* --- operators ------------------------------------------------------------------------------ */

static struct expr_type promoted(struct expr_type type)
{
	if (!type.is_pointer && type.size < 4)
		return (struct expr_type){.size = 4, .is_signed = true};
	return type;
}

/* As C converts two operands to one type. */
static struct expr_type common_type(struct expr_type a, struct expr_type b)
{
	a = promoted(a);
	b = promoted(b);
	if (a.is_pointer)
		return a;
	if (b.is_pointer)
		return b;
	if (a.size != b.size)
		return a.size > b.size ? a : b;
	return a.is_signed ? b : a;
}

static struct expr *binary_expr(struct expr_parser *p, enum expr_op op, struct expr *a,
				struct expr *b)
{
	struct expr *e = a ? expr_new(p, EXPR_BINARY, a) : NULL;

	if (!e || !expr_set(e, &e->b, b))
		return NULL;
	e->op = (uint8_t)op;
	if ((a->type.is_pointer && !a->type.size) || (b->type.is_pointer && !b->type.size))
		return NULL; /* it is not known what to count in */
	e->type = common_type(a->type, b->type);
	if (op == OP_LEFT || op == OP_RIGHT)
		e->type = promoted(a->type);
	else if ((op >= OP_LESS && op <= OP_UNEQUAL) || op >= OP_BOTH)
		e->type = (struct expr_type){.size = 4, .is_signed = true};
	return e;
}

static struct expr *parse_postfix(struct expr_parser *p)
{
	struct expr *e = parse_primary(p);

	for (;;) {
		if (e && e->kind != EXPR_REC && expr_skip(p, '[')) {
			e = deref_expr(p, binary_expr(p, OP_PLUS, e, parse_choice(p)));
			if (!expr_skip(p, ']'))
				return NULL;
		} else if (e && skip_word(p, "->")) {
			e = e->kind == EXPR_REC ? parse_field(p) : NULL;
		} else {
			return e && e->kind == EXPR_REC ? NULL : e;
		}
	}
}

/* &REC->field */
static struct expr *parse_address(struct expr_parser *p)
{
	struct expr *e = parse_unary(p);

	if (e && e->kind == EXPR_DEREF)
		return e->a;
	if (!e || (e->kind != EXPR_FIELD && e->kind != EXPR_PLACE))
		return NULL;
	if (e->kind == EXPR_FIELD) {
		e->kind = EXPR_PLACE;
		e->type.size = e->type.is_pointer ? 8 : e->type.size;
	}
	e->type.is_pointer = true;
	return e;
}

static struct expr *unary_expr(struct expr_parser *p, enum expr_op op)
{
	struct expr *a = parse_unary(p), *e = a ? expr_new(p, EXPR_UNARY, a) : NULL;

	if (!e)
		return NULL;
	e->op = (uint8_t)op;
	e->type = promoted(a->type);
	if (op == OP_NOT)
		e->type = (struct expr_type){.size = 4, .is_signed = true};
	return e;
}

static struct expr *parse_unary_here(struct expr_parser *p)
{
	if (expr_skip(p, '-'))
		return unary_expr(p, OP_MINUS);
	if (expr_skip(p, '+'))
		return unary_expr(p, OP_PLUS);
	if (expr_skip(p, '~'))
		return unary_expr(p, OP_INVERT);
	if (expr_skip(p, '!'))
		return unary_expr(p, OP_NOT);
	if (expr_skip(p, '*'))
		return deref_expr(p, parse_unary(p));
	if (expr_skip(p, '&'))
		return parse_address(p);
	return parse_postfix(p);
}

/* All nesting comes through here. */
static struct expr *parse_unary(struct expr_parser *p)
{
	struct expr *e = NULL;

	if (p->depth++ < NESTING_MAX)
		e = parse_unary_here(p);
	p->depth--;
	return e;
}

/* Longer ones before those that they begin with. */
static const struct {
	const char *text;
	enum expr_op op;
	int level; /* the tightest bind highest */
} operators[] = {
	{"||", OP_EITHER, 1}, {"&&", OP_BOTH, 2},	{"<<", OP_LEFT, 8},
	{">>", OP_RIGHT, 8},  {"<=", OP_LESS_EQUAL, 7}, {">=", OP_GREATER_EQUAL, 7},
	{"==", OP_EQUAL, 6},  {"!=", OP_UNEQUAL, 6},	{"|", OP_OR, 3},
	{"^", OP_XOR, 4},     {"&", OP_AND, 5},		{"<", OP_LESS, 7},
	{">", OP_GREATER, 7}, {"+", OP_PLUS, 9},	{"-", OP_MINUS, 9},
	{"*", OP_TIMES, 10},  {"/", OP_DIVIDE, 10},	{"%", OP_MODULO, 10},
};

/* An operator that binds at least that tightly; p is behind it. */
static enum expr_op take_operator(struct expr_parser *p, int level, int *found)
{
	for (size_t i = 0; i < NR(operators); i++) {
		const char *start = p->at;

		if (!skip_word(p, operators[i].text))
			continue;
		if (operators[i].level >= level) {
			*found = operators[i].level;
			return operators[i].op;
		}
		p->at = start;
		return OP_NONE;
	}
	return OP_NONE;
}

static struct expr *parse_binary(struct expr_parser *p, int level)
{
	struct expr *e = parse_unary(p);
	enum expr_op op;
	int found;

	while (e && (op = take_operator(p, level, &found)) != OP_NONE)
		e = binary_expr(p, op, e, parse_binary(p, found + 1));
	return e;
}

static struct expr *parse_choice_here(struct expr_parser *p)
{
	struct expr *e = parse_binary(p, 1), *choice;

	if (!e || !expr_skip(p, '?'))
		return e;
	choice = expr_new(p, EXPR_CHOICE, e);
	if (!choice)
		return NULL;
	if (!expr_set(choice, &choice->b, parse_choice(p)) || !expr_skip(p, ':') ||
	    !expr_set(choice, &choice->c, parse_choice(p)))
		return NULL;
	choice->type = common_type(choice->b->type, choice->c->type);
	return choice;
}

static struct expr *parse_choice(struct expr_parser *p)
{
	struct expr *e = NULL;

	if (p->depth++ < NESTING_MAX)
		e = parse_choice_here(p);
	p->depth--;
	return e;
}

struct expr *expr_parse(struct expr_parser *p)
{
	return parse_choice(p);
}
