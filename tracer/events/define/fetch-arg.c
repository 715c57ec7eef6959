// SPDX-License-Identifier: GPL-2.0-or-later
/* fetch-arg.c - see fetch-arg.h */
#include "tracer/events/define/fetch.h"
#include "tracer/events/define/fetch-parse.h"
#include "tracer/lib/word.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BODY_MAX = 63, NAME_LEN_MAX = 32, COUNT_MAX = 64, DEREF_OPS = 14 };

#define QUOTED "\\\"%s\\\""
#define NUMBER(name, size, is_signed, format, field)                                               \
	{                                                                                          \
		name, size, is_signed, FETCH_NO_STRING, format, field                              \
	}
#define STRING(name, string)                                                                       \
	{                                                                                          \
		name, 4, true, string, QUOTED, "__data_loc char[]"                                 \
	}

static const struct fetch_type types[] = {
	STRING("string", FETCH_STRING),		 STRING("ustring", FETCH_USTRING),
	STRING("symstr", FETCH_SYMSTR),		 NUMBER("u8", 1, false, "%u", "u8"),
	NUMBER("u16", 2, false, "%u", "u16"),	 NUMBER("u32", 4, false, "%u", "u32"),
	NUMBER("u64", 8, false, "%Lu", "u64"),	 NUMBER("s8", 1, true, "%d", "s8"),
	NUMBER("s16", 2, true, "%d", "s16"),	 NUMBER("s32", 4, true, "%d", "s32"),
	NUMBER("s64", 8, true, "%Ld", "s64"),	 NUMBER("x8", 1, false, "0x%x", "u8"),
	NUMBER("x16", 2, false, "0x%x", "u16"),	 NUMBER("x32", 4, false, "0x%x", "u32"),
	NUMBER("x64", 8, false, "0x%Lx", "u64"), NUMBER("symbol", 8, false, "%pS", "u64"),
	NUMBER("char", 1, false, "'%c'", "u8"),
};

const char *fetch_type_name(unsigned int i)
{
	return i < sizeof(types) / sizeof(types[0]) ? types[i].name : NULL;
}

static const char *const reg_names[FETCH_REGS] = {
	"r15", "r14", "r13", "r12", "r11",     "r10", "r9", "r8",    "bx", "cx", "dx",
	"si",  "di",  "bp",  "ax",  "orig_ax", "ip",  "cs", "flags", "sp", "ss",
};

static const char *const reserved_names[] = {
	"common_type", "common_flags", "common_preempt_count", "common_pid",
	"common_tgid", "__probe_ip",   "__probe_ret_ip",       "__probe_func",
};

int fetch_fail(struct fetch_parser *p, size_t offset, const char *what)
{
	return probe_error_set(p->err, -EINVAL, p->word, offset, what);
}

bool probe_name_is_good(const char *name, bool hyphens)
{
	for (const char *at = name; at == name || *at; at++)
		if (!isalpha((unsigned char)*at) && *at != '_' && (!hyphens || *at != '-') &&
		    (at == name || !isdigit((unsigned char)*at)))
			return false;
	return true;
}

/* kstrtol(): 0, -EINVAL, -ERANGE. */
static int signed_number(const char *text, int64_t *value)
{
	bool negative = *text == '-';
	uint64_t number;
	int ret = word_number(text + negative, &number);

	if (ret)
		return ret;
	if (number > (uint64_t)INT64_MAX + negative)
		return -ERANGE;
	*value = (int64_t)(negative ? 0 - number : number);
	return 0;
}

int fetch_split_symbol(char *symbol, int64_t *offset)
{
	char *sign = strpbrk(symbol, "+-");
	int ret = 0;

	*offset = 0;
	if (sign)
		ret = signed_number(sign, offset);
	if (sign && !ret)
		*sign = '\0';
	return ret;
}

/* --- where a value comes from ---------------------------------------------------------------- */

/* Decimal, as kstrtoul(, 10) reads it. */
static bool decimal(const char *text, uint64_t *value)
{
	char *end;

	if (!isdigit((unsigned char)*text))
		return false;
	errno = 0;
	*value = strtoul(text, &end, 10);
	return !errno && !*end;
}

int fetch_source_set(struct fetch_parser *p, enum fetch_source source, uint64_t number)
{
	p->a->source = source;
	p->a->number = number;
	return 0;
}

static int text_set(struct fetch_parser *p, enum fetch_source source, const char *text, size_t len)
{
	p->a->text = strndup(text, len);
	return p->a->text ? fetch_source_set(p, source, 0) : -ENOMEM;
}

/* tparg_is_function_entry(), tparg_is_function_return(): kernel/trace/trace_probe.h, 6.12. */
static bool has_arguments(const struct fetch_parser *p)
{
	return p->at == FETCH_AT_ENTRY || (p->at & FETCH_AT_RETURN && p->flags & FETCH_KEEPS_ARGS);
}

static int parse_argument(struct fetch_parser *p, uint64_t number, size_t offs)
{
	if (!number || number > FETCH_STACK_MAX)
		return fetch_fail(p, offs, "Invalid argument number");
	if (!has_arguments(p))
		return fetch_fail(p, offs, FETCH_NO_ARGS);
	return fetch_source_set(p, FETCH_ARG, number - (p->flags & FETCH_AT_TRACEPOINT ? 0 : 1));
}

static int parse_variable(struct fetch_parser *p, char *name, size_t offs)
{
	uint64_t number;

	if (p->at & FETCH_AT_EVENT)
		return text_set(p, FETCH_FIELD, name, strlen(name));
	if (!strncmp(name, "retval", 6) && (!name[6] || p->flags & FETCH_HAS_NAMES)) {
		if (!(p->at & FETCH_AT_RETURN))
			return fetch_fail(p, offs, "$retval is not available on probe");
		if (p->flags & FETCH_OF_USER)
			return fetch_source_set(p, FETCH_RETVAL, 0);
		return fetch_name_parse(p, name - 1, offs);
	}
	if (!strcmp(name, "stack"))
		return fetch_source_set(p, FETCH_STACKP, 0);
	if (!strncmp(name, "stack", 5) && decimal(name + 5, &number)) {
		if (number > FETCH_STACK_MAX && !(p->flags & FETCH_OF_USER))
			return fetch_fail(p, offs, "Invalid stack number");
		return fetch_source_set(p, FETCH_STACK, (uint32_t)number);
	}
	if (!strcmp(name, "comm") || !strcmp(name, "COMM"))
		return fetch_source_set(p, FETCH_COMM, 0);
	if (!(p->flags & FETCH_OF_USER) && !strncmp(name, "arg", 3) &&
	    (p->at == FETCH_AT_ENTRY || p->flags & FETCH_KEEPS_ARGS) && decimal(name + 3, &number))
		return parse_argument(p, number, offs);
	if (p->flags & FETCH_OF_USER && p->flags & FETCH_HAS_NAMES && !strncmp(name, "arg", 3) &&
	    decimal(name + 3, &number))
		return fetch_fail(p, offs,
				  number && number <= FETCH_STACK_MAX
					  ? "$arg* can be used only on function entry or exit"
					  : "Invalid argument number");
	return fetch_fail(p, offs, "Invalid $-variable specified");
}

static int parse_register(struct fetch_parser *p, const char *name, size_t offs)
{
	if (p->at & FETCH_AT_EVENT || p->flags & FETCH_NO_REGISTERS)
		return fetch_fail(p, offs, "Invalid fetch argument");
	for (unsigned int i = 0; i < FETCH_REGS; i++)
		if (!strcmp(name, reg_names[i]))
			return fetch_source_set(p, FETCH_REG, i);
	return fetch_fail(p, offs, "Invalid register name");
}

/* The kernel's program has one step more for a symbol, and room for so many. */
int fetch_add_deref(struct fetch_parser *p, int64_t offset, bool user, size_t offs)
{
	struct fetch_arg *a = p->a;

	if (a->nr_deref + (a->source == FETCH_SYMBOL) >= DEREF_OPS)
		return fetch_fail(p, offs, "Dereference is too much nested");
	a->deref[a->nr_deref++] = (struct fetch_deref){offset, user};
	return 0;
}

/* Of the file that a uprobe is in. */
static int parse_file_offset(struct fetch_parser *p, const char *arg, size_t offs)
{
	int64_t number = 0;
	int ret;

	if (!(p->flags & FETCH_OF_USER))
		return fetch_fail(p, offs, "File offset is not available with kprobe");
	ret = signed_number(arg, &number);
	if (ret)
		return probe_error_set(p->err, ret, p->word, offs, "Invalid file offset value");
	return fetch_source_set(p, FETCH_FILE, (uint64_t)number);
}

static int parse_memory(struct fetch_parser *p, const char *arg, size_t offs)
{
	uint64_t number;
	int ret;

	if (isdigit((unsigned char)*arg)) {
		ret = word_number(arg, &number);
		if (ret)
			return probe_error_set(p->err, ret, p->word, offs,
					       "Invalid memory address");
		fetch_source_set(p, FETCH_IMM, number);
	} else if (*arg == '+') {
		ret = parse_file_offset(p, arg + 1, offs);
		if (ret)
			return ret;
	} else if (p->flags & FETCH_OF_USER) {
		return fetch_fail(p, offs, "Symbol is not available with uprobe");
	} else {
		ret = text_set(p, FETCH_SYMBOL, arg, strlen(arg));
		if (ret)
			return ret;
	}
	return fetch_add_deref(p, 0, false, offs);
}

static int parse_immediate(struct fetch_parser *p, const char *arg, size_t offs)
{
	size_t len = strlen(arg);
	int64_t number = 0;
	int ret = -EINVAL;

	if (*arg == '"') {
		if (len < 2 || arg[len - 1] != '"')
			return fetch_fail(p, offs + len, "String is not closed with '\"'");
		return text_set(p, FETCH_LITERAL, arg + 1, len - 2);
	}
	if (isdigit((unsigned char)*arg))
		ret = word_number(arg, (uint64_t *)&number);
	else if (*arg == '-' || *arg == '+')
		ret = signed_number(arg + (*arg == '+'), &number);
	if (ret)
		return probe_error_set(p->err, ret, p->word, offs, "Invalid immediate value");
	return fetch_source_set(p, FETCH_IMM, (uint64_t)number);
}

/* --- all of it ------------------------------------------------------------------------------- */

/* An argument of the function, by its name. */
static int parse_param(struct fetch_parser *p, char *name, size_t offs)
{
	if (!(p->flags & FETCH_HAS_NAMES) || !fetch_begins_name(name))
		return fetch_fail(p, offs, "Invalid fetch argument");
	if (!has_arguments(p))
		return fetch_fail(p, offs, "BTF is not available or not supported");
	return fetch_name_parse(p, name, offs);
}

static int parse_source(struct fetch_parser *p, char *arg, size_t offs);

/* +OFFS(ARG), +uOFFS(ARG): the place of what is wrong in ARG is counted as the kernel counts it. */
static int parse_deref(struct fetch_parser *p, char *arg, size_t offs)
{
	bool user = arg[1] == 'u';
	char *brace, *close;
	int64_t offset;
	int ret;

	if (user) {
		arg[1] = arg[0];
		arg++;
	}
	if (*arg == '+')
		arg++;
	brace = strchr(arg, '(');
	if (!brace)
		return fetch_fail(p, offs, "Dereference needs a brace");
	*brace = '\0';
	ret = signed_number(arg, &offset);
	if (ret)
		return probe_error_set(p->err, ret, p->word, offs, "Invalid dereference offset");
	offs += (size_t)(brace + 1 - arg) + (*arg != '-');
	arg = brace + 1;
	close = strrchr(arg, ')');
	if (!close)
		return fetch_fail(p, offs + strlen(arg), "Dereference brace is not closed");
	*close = '\0';
	ret = parse_source(p, arg, offs);
	if (ret)
		return ret;
	if (p->a->source == FETCH_COMM || p->a->source == FETCH_LITERAL)
		return fetch_fail(p, offs, "$comm can not be dereferenced");
	p->typed = false;
	p->bits = p->first_bit = 0;
	return fetch_add_deref(p, offset, user, offs);
}

/* As deep as the text is long: BODY_MAX. */
/* NOLINTNEXTLINE(misc-no-recursion) */
static int parse_source(struct fetch_parser *p, char *arg, size_t offs)
{
	switch (*arg) {
	case '$':
		return parse_variable(p, arg + 1, offs);
	case '%':
		return parse_register(p, arg + 1, offs);
	case '@':
		return parse_memory(p, arg + 1, offs);
	case '+':
	case '-':
		return parse_deref(p, arg, offs);
	case '\\':
		return parse_immediate(p, arg + 1, offs + 1);
	default:
		return parse_param(p, arg, offs);
	}
}

/* --- its type -------------------------------------------------------------------------------- */

static const struct fetch_type *type_named(const char *name)
{
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		if (!strcmp(name, types[i].name))
			return &types[i];
	return NULL;
}

/* NULL: there is no such type. A bitfield is within a number of that size. */
static const struct fetch_type *type_find(const char *name)
{
	uint64_t bits;
	char number[8];

	if (*name != 'b')
		return type_named(name);
	name = strchr(name, '/');
	if (!name || word_number(name + 1, &bits) || bits > 64)
		return NULL;
	snprintf(number, sizeof(number), "u%u", (unsigned int)bits);
	return type_named(number);
}

/* The count in "[count]" that ends the text; arg is where offset is. */
static int parse_count(struct fetch_parser *p, const char *arg, char *bracket, size_t offset)
{
	char *number = bracket + 1, *close = strchr(number, ']');
	uint64_t count;

	*bracket = '\0';
	if (!close)
		return fetch_fail(p, offset + (size_t)(number - arg) + strlen(number),
				  "Array is not closed");
	if (close[1])
		return fetch_fail(p, offset + (size_t)(close + 1 - arg), "Array has wrong suffix");
	*close = '\0';
	if (word_number(number, &count) || !count || count > UINT_MAX)
		return fetch_fail(p, offset + (size_t)(number - arg), "Invalid array size");
	if (count > COUNT_MAX)
		return fetch_fail(p, offset + (size_t)(number - arg), "Array number is too big");
	p->a->count = (uint32_t)count;
	return 0;
}

/* "$comm" and immediate strings are strings, whether that is said or not; but of event probes. */
static bool is_text(const struct fetch_parser *p, const char *arg)
{
	if (p->at & FETCH_AT_EVENT)
		return false;
	return !strcmp(arg, "$comm") || !strcmp(arg, "$COMM") || !strncmp(arg, "\\\"", 2);
}

/* Kernels that know "char" have no symbols for what is of user mode. */
static bool kernel_has_type(const struct fetch_parser *p, const struct fetch_type *type)
{
	bool is_symbol = !strncmp(type->name, "sym", 3);

	if (p->flags & FETCH_HAS_CHAR)
		return !is_symbol || !(p->flags & FETCH_OF_USER);
	return *type->name != 'c';
}

/* The type is behind `arg` and its end, or NULL. */
static int parse_type(struct fetch_parser *p, const char *arg, char *type, size_t offset)
{
	char *bracket = type ? strchr(type, '[') : NULL;
	struct fetch_arg *a = p->a;
	int ret = bracket ? parse_count(p, arg, bracket, offset) : 0;

	if (ret)
		return ret;
	if (is_text(p, arg) && (a->count || (type && strcmp(type, "string") != 0)))
		return -EINVAL;
	a->type = type_find(is_text(p, arg) ? "string" : type ? type : "x64");
	if (!a->type || !kernel_has_type(p, a->type))
		return fetch_fail(p, offset + (type ? (size_t)(type - arg) : 0),
				  "Unknown type is specified");
	return 0;
}

/* What is fetched is known: as its own type says, where none was given. */
static int settle_type(struct fetch_parser *p, const char *type, size_t offset, uint32_t *size)
{
	struct fetch_arg *a = p->a;
	char by_value[8];
	int ret = 0;

	if (p->typed && !type)
		a->type = type_find(fetch_type_of(p, by_value));
	else if (type && strstr(type, "string"))
		ret = fetch_string_prepare(p, type, offset);
	if (ret)
		return ret;
	if (!type && (p->bits % 8 || p->first_bit)) {
		a->bits = (uint8_t)p->bits;
		a->first_bit = (uint8_t)p->first_bit;
	}
	a->offset = *size;
	*size += fetch_arg_size(a);
	if (*size > FETCH_SIZE_MAX)
		return probe_error_set(p->err, -E2BIG, p->word, offset,
				       "Event too big (too many fields?)");
	return 0;
}

/* --- that they go together ------------------------------------------------------------------- */

/* Whether what is fetched last is memory of its type, and not a value. */
static bool is_memory(const struct fetch_arg *a)
{
	return a->nr_deref && a->type->string != FETCH_SYMSTR;
}

static bool string_fits(const struct fetch_arg *a)
{
	return a->nr_deref || a->source == FETCH_IMM || a->source == FETCH_COMM ||
	       a->source == FETCH_LITERAL || a->source == FETCH_FIELD;
}

static bool symstr_fits(const struct fetch_arg *a)
{
	if (a->nr_deref)
		return !a->deref[a->nr_deref - 1].user;
	return a->source == FETCH_REG || a->source == FETCH_STACK || a->source == FETCH_RETVAL ||
	       a->source == FETCH_ARG || a->source == FETCH_FIELD;
}

/* The steps of the kernel's program for it, up to the one that stores the value. */
static unsigned int steps(const struct fetch_arg *a)
{
	bool apart = !is_memory(a) || (a->type->string && a->count);

	return 1 + (a->source == FETCH_SYMBOL) + a->nr_deref + apart;
}

static int check_string(struct fetch_parser *p, size_t offset, size_t type_offset)
{
	const struct fetch_arg *a = p->a;

	if (a->type->string == FETCH_SYMSTR && !symstr_fits(a))
		return fetch_fail(p, type_offset, "Symbol String doesn't accept data/userdata");
	if (a->type->string && a->type->string != FETCH_SYMSTR && !string_fits(a))
		return fetch_fail(p, type_offset, "String accepts only memory argument");
	if (steps(a) > DEREF_OPS + 1)
		return fetch_fail(p, offset, "Dereference is too much nested");
	return 0;
}

/* bWIDTH@FIRST/SIZE, whose size has been seen to. False: it is not. */
static bool parse_bitfield(struct fetch_arg *a, const char *type)
{
	unsigned long width, first, bits = 8ul * a->type->size;
	char *end;

	width = strtoul(type + 1, &end, 0);
	if (!width || *end != '@' || steps(a) > DEREF_OPS)
		return false;
	type = end + 1;
	first = strtoul(type, &end, 0);
	if (end == type || *end != '/' || width > bits || first > bits - width)
		return false;
	a->bits = (uint8_t)width;
	a->first_bit = (uint8_t)first;
	return true;
}

static int check_array(struct fetch_parser *p, size_t offset, size_t type_offset)
{
	const struct fetch_arg *a = p->a;
	bool kernel = a->nr_deref && !a->deref[a->nr_deref - 1].user;

	if (a->type->string == FETCH_SYMSTR || (!kernel && !a->type->string))
		return fetch_fail(p, type_offset, "String accepts only memory argument");
	if (steps(a) + (a->bits != 0) > DEREF_OPS)
		return fetch_fail(p, offset, "Dereference is too much nested");
	return 0;
}

static int parse_body(struct fetch_parser *p, char *arg, size_t offset, uint32_t *size)
{
	size_t len = strlen(arg), type_offset = offset;
	char *type;
	int ret;

	if (len > BODY_MAX)
		return fetch_fail(p, offset, "Argument expression is too long");
	if (!len)
		return fetch_fail(p, offset, "No argument expression");
	type = strchr(arg, ':');
	if (type) {
		*type++ = '\0';
		type_offset += (size_t)(type - arg);
	}
	ret = parse_type(p, arg, type, offset);
	if (!ret)
		ret = parse_source(p, arg, offset);
	if (!ret)
		ret = settle_type(p, type, offset, size);
	if (!ret)
		ret = check_string(p, offset, type_offset);
	if (!ret && type && *type == 'b' && !parse_bitfield(p->a, type))
		ret = fetch_fail(p, type_offset, "Invalid bitfield");
	if (!ret && p->a->count)
		ret = check_array(p, offset, type_offset);
	return ret;
}

/* --- its name -------------------------------------------------------------------------------- */

static bool name_is_taken(const struct fetch_arg *arg, unsigned int n)
{
	const char *name = arg[n].name;

	for (size_t i = 0; i < sizeof(reserved_names) / sizeof(reserved_names[0]); i++)
		if (!strcmp(name, reserved_names[i]))
			return true;
	for (unsigned int i = 0; i < n; i++)
		if (!strcmp(name, arg[i].name))
			return true;
	return false;
}

/* *body gets what is behind it. */
static int parse_name(struct fetch_parser *p, unsigned int n, const char *text, const char **body)
{
	const char *equals = strchr(text, '=');
	char made[BODY_MAX + 1];

	/* One that is named by its function is called so. */
	snprintf(made, sizeof(made), "%.*s", (int)strcspn(text, ":"), text);
	if (!(p->flags & FETCH_HAS_NAMES) || !probe_name_is_good(made, false))
		snprintf(made, sizeof(made), "arg%u", n + 1);
	*body = equals ? equals + 1 : text;
	if (equals && equals - text > NAME_LEN_MAX)
		return fetch_fail(p, 0, "Argument name is too long");
	if (equals == text)
		return fetch_fail(p, 0, "Argument name is not specified");
	p->a->name = equals ? strndup(text, (size_t)(equals - text)) : strdup(made);
	return p->a->name ? 0 : -ENOMEM;
}

static int arg_parse(struct fetch_parser *p, struct fetch_arg *arg, unsigned int n,
		     const char *text, uint32_t *size)
{
	const char *body;
	char *copy;
	int ret = parse_name(p, n, text, &body);

	if (ret)
		return ret;
	if (!probe_name_is_good(p->a->name, false))
		return fetch_fail(p, 0,
				  "Argument name must follow the same rules as C identifiers");
	if (name_is_taken(arg, n))
		return fetch_fail(p, 0, "This argument name is already used");
	p->a->body = strdup(body);
	copy = strdup(body);
	ret = -ENOMEM;
	if (p->a->body && copy)
		ret = parse_body(p, copy, (size_t)(body - text), size);
	free(copy);
	return ret;
}

int fetch_arg_parse(struct fetch_arg *arg, unsigned int n, const char *text, unsigned int at,
		    const struct fetch_function *function, uint32_t *size, struct probe_error *err)
{
	struct fetch_parser p = {.a = &arg[n],
				 .word = n + 2,
				 .at = at & (FETCH_AT_ENTRY | FETCH_AT_RETURN | FETCH_AT_EVENT),
				 .flags = at & ~(FETCH_AT_ENTRY | FETCH_AT_RETURN | FETCH_AT_EVENT),
				 .function = function,
				 .err = err};
	int ret;

	*err = (struct probe_error){0};
	arg[n] = (struct fetch_arg){0};
	ret = arg_parse(&p, arg, n, text, size);
	if (ret)
		fetch_arg_free(&arg[n]);
	return ret;
}

void fetch_arg_free(struct fetch_arg *a)
{
	free(a->name);
	free(a->body);
	free(a->text);
	*a = (struct fetch_arg){0};
}
