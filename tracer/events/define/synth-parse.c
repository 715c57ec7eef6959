// SPDX-License-Identifier: GPL-2.0-or-later
/* synth-parse.c - lines of synthetic_events. */
#include "tracer/events/define/synth.h"
#include "tracer/lib/error-log.h"
#include "tracer/lib/word.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const struct {
	const char *name;
	uint32_t size;
} types[] = {
	{"s64", 8},	      {"u64", 8},	   {"s32", 4},	{"u32", 4},  {"s16", 2},
	{"u16", 2},	      {"s8", 1},	   {"u8", 1},	{"char", 1}, {"int", 4},
	{"unsigned char", 1}, {"unsigned int", 4}, {"long", 8}, {"bool", 1}, {"unsigned long", 8},
	{"pid_t", 4},	      {"gfp_t", 4},
};

#define NR_TYPES (sizeof(types) / sizeof(types[0]))

struct parser {
	const char *line;
	struct synth_error *err;
	struct synth_event *se;
};

static int fail(struct parser *p, const char *what, const char *part, int error)
{
	*p->err = (struct synth_error){what, part ? error_log_pos(p->line, part) : 0};
	return error;
}

static int bad_command(struct parser *p)
{
	return fail(p, "Command must be of the form: <name> field[;field] ...", NULL, -EINVAL);
}

static const char *skip_spaces(const char *at)
{
	while (isspace((unsigned char)*at))
		at++;
	return at;
}

/* --- fields ----------------------------------------------------------------------------------- */

/* char[N]: of up to three digits, and no longer than strings are. 0: of any length. */
static int string_size(const char *type, uint32_t *size)
{
	const char *start = strstr(type, "char[") + strlen("char["), *end = strchr(type, ']');
	char digits[4] = "";
	uint64_t number;

	*size = 0;
	if (!end || end < start || end[1] || end - start > 3)
		return -EINVAL;
	if (end == start)
		return 0;
	memcpy(digits, start, (size_t)(end - start));
	if (word_number(digits, &number) || number > EVENT_STRING_MAX)
		return -EINVAL;
	*size = (uint32_t)number;
	return 0;
}

static int field_size(struct synth_field *f)
{
	f->size = 0;
	f->is_string = strstr(f->type, "char[");
	f->is_stack = !f->is_string && strstr(f->type, "long[");
	for (size_t i = 0; i < NR_TYPES; i++)
		if (!strcmp(types[i].name, f->type))
			f->size = types[i].size;
	return f->is_string ? string_size(f->type, &f->size) : 0;
}

static char *join(const char *a, const char *b, const char *c)
{
	struct text out = {0};

	text_puts(&out, a);
	text_puts(&out, b);
	text_puts(&out, c);
	text_putc(&out, '\0');
	if (!out.failed)
		return out.buf;
	text_free(&out);
	return NULL;
}

static int become_dynamic(struct synth_field *f)
{
	char *type = join("__data_loc ", f->type, "");

	if (!type)
		return -ENOMEM;
	free(f->type);
	f->type = type;
	f->is_dynamic = true;
	f->size = sizeof(uint64_t);
	return 0;
}

/* [unsigned ]TYPE NAME[ARRAY]; how many words it is of, or -errno. */
static int parse_field(struct parser *p, const struct probe_words *w, unsigned int at,
		       struct synth_field *f)
{
	bool prefix = !strcmp(w->v[at], "unsigned");
	const char *type, *name, *array;

	if (prefix && w->n - at < 3)
		return fail(p, "Incomplete type", w->v[at], -EINVAL);
	type = w->v[at + prefix];
	if (w->n - at < 2)
		return fail(p, "Invalid field", type, -EINVAL);
	name = w->v[at + 1 + prefix];
	array = name + strcspn(name, "[");
	f->name = strndup(name, (size_t)(array - name));
	f->type = join(prefix ? "unsigned " : "", type, array);
	if (!f->name || !f->type)
		return -ENOMEM;
	if (!probe_name_is_good(f->name, false))
		return fail(p, "Illegal name", name, -EINVAL);
	if (field_size(f))
		return *array ? fail(p, "Invalid array specification", name, -EINVAL)
			      : fail(p, "Invalid type", type, -EINVAL);
	if (!f->size && !f->is_string && !f->is_stack)
		return fail(p, "Invalid type", type, -EINVAL);
	if (!f->size && become_dynamic(f))
		return -ENOMEM;
	f->is_signed = *f->type != 'u' && strcmp(f->type, "gfp_t") != 0;
	return 2 + prefix;
}

static void place(struct synth_event *se, struct synth_field *f)
{
	f->offset = se->size;
	se->size += f->is_string && !f->is_dynamic ? EVENT_STRING_MAX : sizeof(uint64_t);
}

/* What stands between semicolons, or, as of old, several behind each other. */
static int parse_fields(struct parser *p, const char *text)
{
	struct synth_event *se = p->se;
	struct probe_words w;
	int ret = probe_words_split(&w, text);

	for (unsigned int at = 0; ret >= 0 && at < w.n; at += (unsigned int)ret) {
		struct synth_field f = {0};

		ret = parse_field(p, &w, at, &f);
		if (ret >= 0 && se->nr_fields == SYNTH_FIELDS_MAX)
			ret = fail(p, "Too many fields", NULL, -EINVAL);
		if (ret < 0) {
			free(f.name);
			free(f.type);
			break;
		}
		place(se, &f);
		se->field[se->nr_fields++] = f;
	}
	probe_words_free(&w);
	return ret < 0 ? ret : 0;
}

/* --- commands --------------------------------------------------------------------------------- */

static int define(struct parser *p, const struct synth_event *others, char *fields)
{
	struct synth_event *se = p->se;
	int err = 0;

	if (!*se->name)
		return bad_command(p);
	if (!probe_name_is_good(se->name, false))
		return fail(p, "Illegal name", se->name, -EINVAL);
	for (; others; others = others->next)
		if (!strcmp(others->name, se->name))
			return fail(p, "Event already exists", se->name, -EEXIST);
	while (fields && !err)
		err = parse_fields(p, strsep(&fields, ";"));
	if (!err && !se->nr_fields)
		err = bad_command(p);
	return err;
}

static struct synth_event *event_new(const char *name, size_t len)
{
	struct synth_event *se = calloc(1, sizeof(*se));

	if (!se)
		return NULL;
	se->name = strndup(name, len);
	se->field = calloc(SYNTH_FIELDS_MAX, sizeof(*se->field));
	se->size = SYNTH_HEAD;
	if (se->name && se->field)
		return se;
	synth_event_free(se);
	return NULL;
}

/* A name and a field's two words before the first semicolon. */
static int check_words(struct parser *p, const char *line)
{
	char *first = strndup(line, strcspn(line, ";"));
	struct probe_words w;
	int err = first ? probe_words_split(&w, first) : -ENOMEM;

	free(first);
	if (err)
		return err;
	if (w.n < 3)
		err = bad_command(p);
	probe_words_free(&w);
	return err;
}

/* line: of p->line, from the name on. */
static int parse_define(struct parser *p, const struct synth_event *others, const char *line,
			struct synth_command *command)
{
	size_t len = strcspn(line, " \t");
	char *fields;
	int err = check_words(p, line);

	if (err)
		return err;
	if (!line[len])
		return bad_command(p);
	p->se = event_new(line, len);
	fields = strdup(line + len);
	err = p->se && fields ? define(p, others, fields) : -ENOMEM;
	free(fields);
	if (err)
		synth_event_free(p->se);
	else
		command->event = p->se;
	return err;
}

int synth_command_parse(const struct synth_event *others, const char *line,
			struct synth_command *command, struct synth_error *err)
{
	struct parser p = {.line = skip_spaces(line), .err = err};

	*command = (struct synth_command){0};
	*err = (struct synth_error){0};
	if (!*p.line)
		return 0;
	if (*p.line != '!')
		return parse_define(&p, others, p.line, command);
	command->gone = strndup(p.line + 1, strcspn(p.line + 1, " \t"));
	return command->gone ? 0 : -ENOMEM;
}

int synth_definition_parse(const struct synth_event *others, const char *line,
			   struct synth_command *command, struct synth_error *err)
{
	struct parser p = {.line = skip_spaces(line), .err = err};
	const char *name = p.line + 2;

	*command = (struct synth_command){0};
	*err = (struct synth_error){0};
	if (!*p.line)
		return 0;
	if (strncmp(p.line, "s:", 2) != 0)
		return -ECANCELED;
	if (!p.line[strcspn(p.line, " \t")])
		return bad_command(&p);
	/* A slash further behind, among the fields, the kernel takes for that one as well. */
	if (strchr(name, '/')) {
		if (strncmp(name, SYNTH_SYSTEM "/", strlen(SYNTH_SYSTEM "/")) != 0)
			return fail(
				&p,
				"Command must be of the form: s or -:[synthetic/]<name> field[;field] ...",
				NULL, -EINVAL);
		name += strlen(SYNTH_SYSTEM "/");
	}
	return parse_define(&p, others, name, command);
}

void synth_event_free(struct synth_event *se)
{
	if (!se)
		return;
	for (unsigned int i = 0; i < se->nr_fields; i++) {
		free(se->field[i].type);
		free(se->field[i].name);
	}
	free(se->field);
	free(se->name);
	free(se);
}
