// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test-event-filter.c - event filters: what a kernel 6.1 answered to each text, as it was captured
 * there, and which records match.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/made-events.h"
#include "tracer/lib/error-log.h"
#include "tracer/events/filter/filter.h"
#include "tracer/lib/text.h"

#include "tests/seed.h"

#define CAPTURE "tests/data/tracefs-6.1/filter-errors.txt"

/* --- what was captured ---------------------------------------------------------------------- */

struct capture {
	FILE *file;
	char line[512];
	bool more;
};

static bool next_line(struct capture *c)
{
	c->more = fgets(c->line, sizeof(c->line), c->file);
	return c->more;
}

static bool is_write(const char *line)
{
	return !strncmp(line, "events/", 7);
}

/* The lines up to one that begins with end, or another write, as one text. */
static void take_until(struct capture *c, const char *end, char *buf, size_t size)
{
	size_t len = 0;

	*buf = '\0';
	for (; c->more && !is_write(c->line) && (!end || strncmp(c->line, end, strlen(end)) != 0);
	     next_line(c)) {
		snprintf(buf + len, size - len, "%s", c->line);
		len = strlen(buf);
	}
	if (end)
		next_line(c);
}

/* What was written, between write(" and ", and what it gave. */
static long parse_write(const char *line, char *text)
{
	const char *at = strstr(line, "write(\"");

	assert_non_null(at);
	for (at += strlen("write(\""); *at != '"'; at++) {
		at += *at == '\\';
		*text++ = *at;
	}
	*text = '\0';
	at = strstr(at, ") = ");
	assert_non_null(at);
	if (!strncmp(at, ") = -1 E", 8))
		return -strtol(strchr(at + 4, '(') + 1, NULL, 10);
	return strtol(at + 4, NULL, 10);
}

static uint64_t log_time(const char *log)
{
	unsigned long s, us;

	if (sscanf(log, "[%lu.%lu]", &s, &us) != 2)
		return 0;
	return (s * 1000000 + us) * 1000;
}

static char *log_text(const struct event_filter_error *err, uint64_t ns, const char *command)
{
	struct error_log *log = error_log_new();
	struct text out = {0};

	assert_non_null(log);
	if (err->what)
		error_log_add(log, ns, EVENT_FILTER_WHERE, err->what, command, err->pos);
	error_log_print(log, &out);
	text_putc(&out, '\0');
	error_log_free(log);
	return out.buf;
}

static void replay(const char *text, long done, const char *reads, const char *log)
{
	const struct event_format format = made_format(&made_switch);
	struct event_filter_error err;
	struct event_filter *filter;
	struct text out = {0};
	char *got, *command;
	int ret;

	ret = event_filter_new(&format, NULL, text, &filter, &err);
	print_message("# '%s'\n", text);
	assert_int_equal(ret, done < 0 ? done : 0);
	event_filter_print(filter, &out);
	text_putc(&out, '\0');
	assert_string_equal(out.buf, reads);
	text_free(&out);
	command = strdup(text);
	assert_non_null(command);
	if (!strcmp(text, " ")) /* the log has what is left of it */
		*command = '\0';
	got = log_text(&err, log_time(log), command);
	assert_string_equal(got, log);
	free(got);
	free(command);
	event_filter_free(filter);
}

static void test_capture(void **state)
{
	char text[256], reads[512], log[512];
	struct capture c = {.file = fopen(CAPTURE, "r")};
	unsigned int n = 0;
	long done;

	(void)state;
	assert_non_null(c.file);
	next_line(&c);
	while (c.more) {
		assert_true(is_write(c.line));
		done = parse_write(c.line, text);
		next_line(&c);
		assert_string_equal(c.line, "--- cat filter\n");
		next_line(&c);
		take_until(&c, "--- cat error_log", reads, sizeof(reads));
		take_until(&c, NULL, log, sizeof(log));
		replay(text, done, reads, log);
		n++;
	}
	fclose(c.file);
	assert_int_equal(n, 23);
}

/* --- errors that were not captured ---------------------------------------------------------- */

static const struct {
	const char *text;
	int ret;
	const char *what;
	uint16_t pos;
} errors[] = {
	{"u8 == 1 2", -1, "Too many terms in predicate expression", 8},
	{"u8 == 1 & u16 == 2", -1, "Too many terms in predicate expression", 8},
	{"!", -22, "No filter found", 1},
	{"()", -22, NULL, 0},
	{"u8 == 1 && ()", -1, NULL, 0},
	{"!= 3", -1, NULL, 0},
	{"((u8 == 1)", -2, "Too many '('", 0},
	{"u8 == 1 || (u16 == 1 && (s8 == 1)", -2, "Too many '('", 11},
	{"u8 == 18446744073709551616", -22, "Illegal integer value", 7},
	{"s8 == 9223372036854775808", -22, "Illegal integer value", 7},
	{"s8 == -9223372036854775808", 0, NULL, 0},
	{"s8 == -9223372036854775809", -22, "Illegal integer value", 7},
	{"u8 == -1", -22, "Illegal integer value", 7},
	{"u8 == 08", -22, "Illegal integer value", 7},
	{"u8 == 0b1", -22, "Illegal integer value", 7},
	{"u8 == 0X1f", 0, NULL, 0},
	{"s8 == -", -22, "Illegal integer value", 7},
	{"u8 == 123456789012345678901234", -22, "Operand too long", 31},
	{"name == 5", -22, "Expecting string field", 9},
	{"COMM == 5", -22, "Expecting string field", 9},
	{"CPU == 'a'", -22, "Expecting numeric field", 8},
	{"name & 'a'", -22, "Illegal operation for field type", 8},
	{"u8 ~ 5", -22, "Illegal operation for field type", 6},
	{"func.function > made_first", -22, "Invalid operator", 17},
	{"u8.function == made_first", -22, "Illegal operation for field type", 16},
	{"func.function == nosuch", -22, "Function not found", 24},
	{"func.function == 0x5", -22, "Function not found", 21},
	{"cpus > CPUS{1}", -22, "Illegal operation for field type", 8},
	{"name & CPUS{1}", -22, "Illegal operation for field type", 8},
	{"cpus & CPUS 1", -22, "Missing '{'", 13},
	{"cpus & CPUS{1", -22, "Missing '}'", 14},
	{"cpus & CPUS{}", -22, "Invalid cpulist", 13},
	{"cpus & CPUS{9}", -22, "Invalid cpulist", 14},
	{"cpus & CPUS{3-1}", -22, "Invalid cpulist", 16},
	{"cpus & CPUS{0-3:1/2,N}", 0, NULL, 0},
	{"name.ustring == 'a'", 0, NULL, 0},
};

static void test_errors(void **state)
{
	const struct event_format format = made_format(&made_any);
	struct event_filter_error err;
	struct event_filter *filter;

	(void)state;
	for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++) {
		int ret =
			event_filter_compile(&format, &made_kernel, errors[i].text, &filter, &err);

		print_message("# '%s'\n", errors[i].text);
		assert_int_equal(ret, errors[i].ret);
		assert_int_equal(!filter, ret != 0);
		if (errors[i].what)
			assert_string_equal(err.what, errors[i].what);
		else
			assert_null(err.what);
		assert_int_equal(err.pos, errors[i].pos);
		event_filter_free(filter);
	}
}

static void test_subsystem(void **state)
{
	const struct event_format format = made_format(&made_switch);
	struct event_filter_error err;
	struct event_filter *filter;
	struct text out = {0};

	(void)state;
	assert_int_equal(event_filter_new_subsystem(&format, NULL, "pid == 1", &filter, &err), -22);
	assert_string_equal(err.what, "Couldn't find or set field in one of a subsystem's events");
	assert_int_equal(err.pos, 0);
	event_filter_print(filter, &out);
	text_putc(&out, '\0');
	assert_string_equal(out.buf,
			    "pid == 1\n^\nparse_error: Couldn't find or set field in one of a "
			    "subsystem's events\n\n");
	assert_false(event_filter_is_set(filter));
	event_filter_free(filter);
	text_free(&out);
	assert_int_equal(event_filter_new_subsystem(&format, NULL, " 0 ", &filter, &err), 0);
	assert_null(filter);
	assert_int_equal(event_filter_new_subsystem(&format, NULL, "prev_pid==1", &filter, &err),
			 0);
	assert_true(event_filter_is_set(filter));
	event_filter_free(filter);
}

/* --- which records match ------------------------------------------------------------------- */

static bool match(const struct guestsym_event *event, const char *text,
		  const struct event_data *data)
{
	const struct event_format format = made_format(event);
	struct event_filter_error err;
	struct event_filter *filter;
	bool matches;

	assert_int_equal(event_filter_compile(&format, &made_kernel, text, &filter, &err), 0);
	matches = event_filter_match(filter, data);
	event_filter_free(filter);
	return matches;
}

static const struct made_switch_record switch_record = {
	.flags = 3,
	.pid = 100,
	.prev_comm = "bash",
	.prev_pid = -5,
	.prev_prio = 120,
	.prev_state = -1,
	.next_comm = "kworker/u4:12345", /* 16 of them: not terminated */
	.next_pid = 7,
};

static void test_strings(void **state)
{
	static const struct {
		const char *text;
		bool matches;
	} cases[] = {
		{"prev_comm == 'bash'", true},
		{"prev_comm == \"bas\"", false},
		{"prev_comm != \"bas\"", true},
		{"prev_comm ~ \"ba*\"", true},
		{"prev_comm ~ \"*sh\"", true},
		{"prev_comm ~ \"*s*\"", true},
		{"prev_comm ~ \"b*h\"", true},
		{"prev_comm ~ \"b[a-c]?h\"", true},
		{"prev_comm ~ \"b[!a-c]?h\"", false},
		{"prev_comm ~ \"!ba*\"", false},
		{"prev_comm ~ \"!zsh\"", true},
		{"prev_comm ~ \"*\"", true},
		{"next_comm == \"kworker/u4:12345\"", true},
		{"next_comm == \"kworker/u4:1234\"", false},
		{"next_comm ~ \"*2345\"", true},
		{"comm == \"gt\" && COMM ~ \"g*\"", true},
		{"cpu == 1 && CPU < 2 && common_cpu >= 1", true},
		{"CPU & 1", false},
		{"CPU & CPUS{0-1}", true},
		{"CPU == CPUS{1}", true},
		{"CPU != CPUS{1}", false},
		{"CPU == CPUS{0-1}", false},
		{"prev_pid == -5 && prev_pid < 0 && prev_state == -1", true},
		{"prev_pid > 0", false},
		{"common_pid == 0144", true},
		{"common_flags & 2", true},
		{"common_flags & 4", false},
	};
	struct event_data data = made_data(&switch_record, sizeof(switch_record));

	(void)state;
	data.cpu = 1;
	data.comm = "gt";
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_int_equal(match(&made_switch, cases[i].text, &data), cases[i].matches);
	data.comm = NULL;
	assert_false(match(&made_switch, "comm == \"gt\"", &data));
	assert_false(match(&made_switch, "comm != \"gt\"", &data));
}

struct any_record {
	char head[8];
	uint8_t u8;
	int8_t s8;
	uint16_t u16;
	int16_t s16, pad;
	uint32_t name, label;
	uint64_t pointer, func;
	uint32_t cpus, target_cpu;
	char strings[8]; /* at 48 */
	uint64_t mask;
};

static int read_string(void *arg, uint64_t addr, bool user, char *buf, size_t size)
{
	(void)arg;
	if (addr != 0x1234)
		return -1;
	snprintf(buf, size, "%s", user ? "user" : "kernel");
	return 0;
}

static const struct any_record any_record = {
	.u8 = 200,
	.s8 = -100,
	.u16 = 0xffff,
	.s16 = -2,
	.name = 48 | 4 << 16,
	.label = 28 | 4 << 16, /* from behind the field, at 24 */
	.pointer = 0x1234,
	.func = 0xffffffff81000110,
	.cpus = 56 | 8 << 16,
	.target_cpu = 3,
	.strings = "abc\0def",
	.mask = 0x6,
};

static void test_kinds(void **state)
{
	static const struct {
		const char *text;
		bool matches;
	} cases[] = {
		{"u8 > 100", true},
		{"u8 == 456", true}, /* as much of it as the field has room for */
		{"s8 < -99 && s8 >= -100", true},
		{"s8 == 156", true},
		{"u16 == 0xffff", true},
		{"s16 <= -2 && s16 != -3", true},
		{"name == 'abc'", true},
		{"name ~ 'ab*'", true},
		{"label == 'def'", true},
		{"pointer == 'kernel'", true},
		{"pointer.ustring == 'user'", true},
		{"func.function == made_second", true},
		{"func.function != made_first", true},
		{"(func.function == made_first)", false},
		{"func.function == 0xffffffff810001ff && u8 == 200", true},
		{"cpus & CPUS{0-1}", true},
		{"cpus & CPUS{3-7}", false},
		{"cpus == CPUS{1,2}", true},
		{"cpus != CPUS{1,2}", false},
		{"cpus == CPUS{1}", false},
		{"target_cpu & CPUS{1-3}", true},
		{"target_cpu == CPUS{3}", true},
		{"target_cpu != CPUS{2}", true},
	};
	struct event_data data = made_data(&any_record, sizeof(any_record));

	(void)state;
	data.string = read_string;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_int_equal(match(&made_any, cases[i].text, &data), cases[i].matches);
}

/* Offsets and lengths in a record are the guest's, and may be anything. */
static void test_hostile(void **state)
{
	struct any_record *record;
	struct event_data data;

	(void)state;
	for (size_t len = 0; len <= sizeof(*record); len++) {
		record = malloc(len ? len : 1); /* its end is watched over */
		assert_non_null(record);
		memcpy(record, &any_record, len);
		data = made_data(record, len);
		assert_int_equal(match(&made_any, "name == 'abc'", &data), len >= 52);
		assert_int_equal(match(&made_any, "cpus & CPUS{1}", &data), len >= 64);
		assert_int_equal(match(&made_any, "u16 == 0xffff", &data), len >= 12);
		assert_false(match(&made_any, "pointer == 'kernel'", &data));
		free(record);
	}
}

/* --- any expression, against one that is evaluated as it was made --------------------------- */

struct random {
	uint64_t state;
	struct text text;
	const struct made_switch_record *record;
};

static unsigned int pick(struct random *r, unsigned int n)
{
	r->state = r->state * 6364136223846793005 + 1442695040888963407;
	return (unsigned int)(r->state >> 33) % n;
}

static bool compare(int64_t a, unsigned int op, int64_t b)
{
	switch (op) {
	case 0:
		return a == b;
	case 1:
		return a != b;
	case 2:
		return a < b;
	case 3:
		return a <= b;
	case 4:
		return a > b;
	case 5:
		return a >= b;
	}
	return a & b;
}

/* Writes a term and returns what it is for the record. */
static bool random_term(struct random *r)
{
	static const char *const ops[] = {"==", "!=", "<", "<=", ">", ">=", "&"};
	static const char *const names[] = {"a", "ab", "b"};
	unsigned int op = pick(r, 7), what = pick(r, 5);
	const struct made_switch_record *rec = r->record;
	int64_t value = (int64_t)pick(r, 5) - 2;
	const char *name = names[pick(r, 3)];

	if (what < 3) {
		static const char *const fields[] = {"prev_pid", "next_pid", "prev_state"};
		int64_t in[] = {rec->prev_pid, rec->next_pid, rec->prev_state};

		text_printf(&r->text, "%s%s%ld", fields[what], ops[op], (long)value);
		return compare(in[what], op, value);
	}
	op &= 1;
	text_printf(&r->text, "prev_comm %s '%s'", ops[op], name);
	return !strcmp(rec->prev_comm, name) == !op;
}

static bool random_or(struct random *r, unsigned int depth);

static bool random_unary(struct random *r, unsigned int depth)
{
	unsigned int what = depth ? pick(r, 6) : 0;
	bool value;

	if (what < 3)
		return random_term(r);
	if (what == 3) {
		text_puts(&r->text, "! ");
		return !random_unary(r, depth - 1);
	}
	text_puts(&r->text, what == 4 ? "!(" : "(");
	value = random_or(r, depth - 1);
	text_puts(&r->text, " )");
	return value != (what == 4);
}

static bool random_and(struct random *r, unsigned int depth)
{
	bool value = random_unary(r, depth);

	while (!pick(r, 3)) {
		text_puts(&r->text, "&&");
		value &= random_unary(r, depth);
	}
	return value;
}

static bool random_or(struct random *r, unsigned int depth)
{
	bool value = random_and(r, depth);

	while (!pick(r, 3)) {
		text_puts(&r->text, " || ");
		value |= random_and(r, depth);
	}
	return value;
}

static void random_record(struct random *r, struct made_switch_record *rec)
{
	static const char *const names[] = {"a", "ab", "b"};

	*rec = (struct made_switch_record){
		.prev_pid = (int32_t)pick(r, 5) - 2,
		.next_pid = (int32_t)pick(r, 5) - 2,
		.prev_state = (int64_t)pick(r, 5) - 2,
	};
	snprintf(rec->prev_comm, sizeof(rec->prev_comm), "%s", names[pick(r, 3)]);
}

static void test_random(void **state)
{
	const struct event_format format = made_format(&made_switch);
	struct random r = {.state = test_seed()};
	struct made_switch_record rec;
	unsigned int matched = 0;

	(void)state;
	r.record = &rec;
	for (int i = 0; i < 20000; i++) {
		struct event_data data = made_data(&rec, sizeof(rec));
		struct event_filter_error err;
		struct event_filter *filter;
		bool want;

		random_record(&r, &rec);
		r.text.len = 0;
		want = random_or(&r, 1 + pick(&r, 5));
		text_putc(&r.text, '\0');
		if (event_filter_compile(&format, NULL, r.text.buf, &filter, &err))
			fail_msg("'%s': %s", r.text.buf, err.what);
		if (event_filter_match(filter, &data) != want)
			fail_msg("'%s' is %d", r.text.buf, !want);
		matched += want;
		event_filter_free(filter);
	}
	text_free(&r.text);
	assert_in_range(matched, 5000, 15000);
}

/* Nothing is evaluated by recursion: as deep as a write can have it. */
static void test_deep(void **state)
{
	struct event_data data = made_data(&switch_record, sizeof(switch_record));
	char text[4096];
	size_t depth = 2000;

	(void)state;
	memset(text, '(', depth);
	memcpy(text + depth, "next_pid == 7", 13);
	memset(text + depth + 13, ')', depth);
	text[2 * depth + 13] = '\0';
	assert_true(match(&made_switch, text, &data));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_capture),	  cmocka_unit_test(test_errors),
		cmocka_unit_test(test_subsystem), cmocka_unit_test(test_strings),
		cmocka_unit_test(test_kinds),	  cmocka_unit_test(test_hostile),
		cmocka_unit_test(test_random),	  cmocka_unit_test(test_deep),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
