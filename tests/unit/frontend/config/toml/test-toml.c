// SPDX-License-Identifier: GPL-2.0-or-later
/* test-toml.c - texts of TOML: what they say, and what is told of those that are none. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "frontend/config/toml/toml.h"
#include "tracer/tracer.h"

static void note(void *arg, unsigned int line, const char *what)
{
	text_printf(arg, "%u: %s\n", line, what);
}

static struct toml *read_all(const char *text, size_t len, struct text *told)
{
	const struct toml_ear ear = {note, told};
	struct toml *t;

	*told = (struct text){0};
	t = toml_read(text, len, &ear);
	text_putc(told, '\0');
	return t;
}

static struct toml *right(const char *text)
{
	struct text told;
	struct toml *t = read_all(text, strlen(text), &told);

	if (!t)
		fail_msg("%s\nis refused: %s", text, told.buf);
	assert_string_equal(told.buf, "");
	text_free(&told);
	return t;
}

static void wrong_bytes(const char *text, size_t len, const char *expected)
{
	struct text told;
	struct toml *t = read_all(text, len, &told);

	assert_null(t);
	if (!strstr(told.buf, expected))
		fail_msg("%.100s\nis told: %s\nexpected: %s", text, told.buf, expected);
	text_free(&told);
}

/* One mistake, and this. */
static void wrong(const char *text, const char *expected)
{
	struct text told;
	struct toml *t = read_all(text, strlen(text), &told);

	if (t)
		fail_msg("%s\nis taken", text);
	if (strncmp(told.buf, expected, strlen(expected)) != 0 ||
	    strcspn(told.buf, "\n") + 2 != told.len)
		fail_msg("%s\nis told: %s\nexpected: %s", text, told.buf, expected);
	text_free(&told);
}

/* --- what is right ------------------------------------------------------------------------ */

static const struct toml_value *get(const struct toml_value *table, const char *key)
{
	const struct toml_entry *e = toml_find(table, key);

	if (!e) {
		fail_msg("there is no %s", key);
		return NULL;
	}
	return e->value;
}

static void is_string(const char *text, const char *expected)
{
	struct toml *t = right(text);
	const struct toml_value *v = get(toml_root(t), "a");

	assert_int_equal(v->kind, TOML_STRING);
	assert_string_equal(v->string, expected);
	toml_free(t);
}

static void strings(void **state)
{
	(void)state;
	is_string("a = \"b\"", "b");
	is_string("a = \"\"", "");
	is_string("a = ''", "");
	is_string("a=\"b\" # c", "b");
	is_string("a = \"# \\\" [ '\"\n", "# \" [ '");
	is_string("a = 'C:\\q\"'\r\n", "C:\\q\"");
	is_string("a = \"\\b\\t\\n\\f\\r\\\"\\\\\"", "\b\t\n\f\r\"\\");
	is_string("a = \"\\u00e9\\u20AC\\U0001f427\\u0041\"", "é€🐧A");
	is_string("a = \"tab\there é\"", "tab\there é");
	is_string("a = \"\"\"\nb\n c\"\"\"", "b\n c");
	is_string("a = \"\"\"\r\nb\r\n\"\"\"", "b\r\n");
	is_string("a = \"\"\"b \\\n\n   c\"\"\"", "b c");
	is_string("a = \"\"\"b\"\" \"c\\\"\"\"\"", "b\"\" \"c\"");
	is_string("a = \"\"\"b\"\"\"\"\"", "b\"\"");
	is_string("a = '''\nb\\n\n'c' ''d'''", "b\\n\n'c' ''d");
	is_string("a = '''b'''''", "b''");
	is_string("a = \"\"\"\"\"\"", "");
}

static void is_integer(const char *text, int64_t expected)
{
	struct toml *t = right(text);
	const struct toml_value *v = get(toml_root(t), "a");

	assert_int_equal(v->kind, TOML_INTEGER);
	assert_true(v->integer == expected);
	toml_free(t);
}

static void is_float(const char *text, double expected)
{
	struct toml *t = right(text);
	const struct toml_value *v = get(toml_root(t), "a");

	assert_int_equal(v->kind, TOML_FLOAT);
	assert_true(v->number == expected || (isnan(v->number) && isnan(expected)));
	toml_free(t);
}

static void numbers(void **state)
{
	(void)state;
	is_integer("a = 0", 0);
	is_integer("a = +17", 17);
	is_integer("a = -1_000", -1000);
	is_integer("a = 0xDead_beef", 0xdeadbeef);
	is_integer("a = 0o755", 0755);
	is_integer("a = 0b1_01", 5);
	is_integer("a = 9223372036854775807", INT64_MAX);
	is_integer("a = -9223372036854775808", INT64_MIN);
	is_float("a = 1.5", 1.5);
	is_float("a = -1_0.2_5e+2", -1025);
	is_float("a = 5e-1", 0.5);
	is_float("a = inf", INFINITY);
	is_float("a = -inf", -INFINITY);
	is_float("a = nan", NAN);
	wrong("a = 9223372036854775808", "1: 9223372036854775808 is too large a number");
	is_float("a = 1_0.0_0_0_0", 10);
	wrong("\na = 1_0e9_9_9", "2: 1_0e9_9_9 is too large a number");
	wrong("\na = 1e999", "2: 1e999 is too large a number");
	wrong("a = 0x1_0000_0000_0000_0000", "1: ");
	wrong("a = 012", "1: 012 is no value");
	wrong("a = 1__0", "1: 1__0 is no value");
	wrong("a = .5", "1: .5 is no value");
}

static void others(void **state)
{
	struct toml *t = right("yes = true\nno = false\nd = 2026-11-29\nt = 12:30:00.5\n"
			       "o = 2026-11-29T12:30:00+01:00\n");
	const struct toml_value *root = toml_root(t);

	(void)state;
	assert_int_equal(get(root, "yes")->kind, TOML_BOOLEAN);
	assert_true(get(root, "yes")->boolean);
	assert_false(get(root, "no")->boolean);
	assert_int_equal(get(root, "d")->kind, TOML_DATE);
	assert_string_equal(get(root, "d")->string, "2026-11-29");
	assert_string_equal(get(root, "t")->string, "12:30:00.5");
	assert_int_equal(get(root, "o")->kind, TOML_DATE);
	assert_int_equal(get(root, "o")->line, 5);
	assert_string_equal(toml_kind_name(TOML_DATE), "a date");
	toml_free(t);
}

static void arrays(void **state)
{
	struct toml *t = right("a = [ 1, # one\n\n  'b=',\n [], [{c = 2}, [ 3 ]],\n]\nd = 1\n");
	const struct toml_value *a = get(toml_root(t), "a"), *v = a->array.first;

	(void)state;
	assert_int_equal(a->kind, TOML_ARRAY);
	assert_false(a->array.headed);
	assert_int_equal(v->integer, 1);
	assert_int_equal(v->line, 1);
	v = v->next;
	assert_string_equal(v->string, "b=");
	assert_int_equal(v->line, 3);
	v = v->next;
	assert_null(v->array.first);
	v = v->next;
	assert_int_equal(v->line, 4);
	assert_int_equal(get(v->array.first, "c")->integer, 2);
	assert_int_equal(v->array.last->array.first->integer, 3);
	assert_null(v->next);
	assert_int_equal(get(toml_root(t), "d")->line, 6);
	toml_free(t);
}

static void tables(void **state)
{
	struct toml *t = right("top = 1\nb.\"c d\" . 'e' = 2\nb.f = { g = 3, h.i = 4, j = {} }\n"
			       "[x.y]\nz = 5\n[x]\nw = 6\n[\"q.r\"]\n[[m]]\nn = 7\n[m.o]\np = 8\n"
			       "[[m]]\nn = 9\n[b.s]\nu = 10\n");
	const struct toml_value *root = toml_root(t), *m;

	(void)state;
	assert_int_equal(get(get(get(root, "b"), "c d"), "e")->integer, 2);
	assert_int_equal(get(get(get(get(root, "b"), "f"), "h"), "i")->integer, 4);
	assert_int_equal(get(get(root, "b"), "f")->table.nr, 3);
	assert_int_equal(get(get(get(root, "x"), "y"), "z")->integer, 5);
	assert_int_equal(get(get(root, "x"), "w")->integer, 6);
	assert_int_equal(get(root, "x")->line, 6);
	assert_int_equal(get(root, "q.r")->kind, TOML_TABLE);
	m = get(root, "m");
	assert_true(m->array.headed);
	assert_int_equal(get(get(m->array.first, "o"), "p")->integer, 8);
	assert_int_equal(get(m->array.last, "n")->integer, 9);
	assert_int_equal(toml_find(m->array.last, "n")->line, 14);
	assert_null(toml_find(m->array.last, "o"));
	assert_int_equal(get(get(get(root, "b"), "s"), "u")->integer, 10);
	toml_free(t);
	toml_free(right(""));
	toml_free(right(" # nothing\n\n\t\r\n"));
	toml_free(right("[a]"));
	toml_free(right("\xef\xbb\xbf"
			"a = 1"));
}

/* --- what is wrong ------------------------------------------------------------------------ */

static void seconds(void **state)
{
	(void)state;
	wrong("a = 1\n\na = 2", "3: a is there a second time, after line 1");
	wrong("a = { b = 1, b = 2 }", "1: b is there a second time, after line 1");
	wrong("[a]\n[b]\n[a]\n", "3: a is there a second time, after line 1");
	wrong("a.b = 1\na.b.c = 2", "2: b is a number, of line 1, not a table");
	wrong("a.b = 1\n[a]", "2: a is there a second time");
	wrong("[a.b]\n[a]\nb.c = 1", "3: b is a table that line 1 begins");
	wrong("a = {}\n[a.b]", "2: a is a table that line 1 begins");
	wrong("a = {}\na.b = 1", "2: a is a table that line 1 begins");
	wrong("a = []\n[[a]]", "2: a is an array, of line 1, and there is no more than one");
	wrong("a = [{}]\n[a.b]", "2: a is an array, of line 1, not a table");
	wrong("[a]\n[[a]]", "2: a is a table, of line 1, and there is no more than one");
	wrong("[[a]]\n[a]", "2: there are several of a, as in line 1: write [[a]]");
	wrong("[[a]]\nb = 1\n[a.b]", "3: b is there a second time, after line 2");
	wrong("[a.b]\nc = 1\n[a.b.c]", "3: c is there a second time, after line 2");
	/* Keys behind a header that is wrong are not taken for the table before. */
	wrong("[a]\nb = 1\n[a]\nb = 2\n", "3: a is there a second time");
}

static void no_toml(void **state)
{
	(void)state;
	wrong("a = foo", "1: foo is no value; a text, a time or a size stands in quotes: \"foo\"");
	wrong("a = 5m # often\nb = 1", "1: 5m is no value");
	wrong("a = True", "1: True is no value; write true or false");
	wrong("a = off", "1: off is no value; write true or false");
	wrong("a =\nb = 1", "1: a value is missing behind the =");
	wrong("a = # b", "1: a value is missing behind the =");
	wrong("a\nb = 1", "1: a line is KEY = VALUE");
	wrong("= 1", "1: a key is missing before the =");
	wrong("a = 1 b = 2", "1: what follows belongs into a line of its own");
	wrong("a = 1 2", "1: 1 2 is no value");
	wrong("a = 5 parsecs\t# far\n",
	      "1: 5 parsecs is no value; a text, a time or a size stands in "
	      "quotes: \"5 parsecs\"");
	wrong("a = foo bar", "1: foo bar is no value");
	wrong("a = \"b\" c", "1: c has no place behind the string");
	wrong("a = [1, two three]", "1: two is no value");
	wrong("[a\nb = 1", "1: this is no header of a table");
	wrong("[[a]\nb = 1", "1: this is no header of a table");
	wrong("[]", "1: this is no header of a table");
	wrong("a b = 1", "1: ");
	wrong("a = [1,,2]", "1: ");
	wrong("a = [\n1,\nfoo,\n2]", "3: ");
	wrong("a = {b = 1,}", "1: ");
	wrong("a = \"b\"\"c\"", "1: ");
	wrong("a = 1 [b]", "1: what follows belongs into a line of its own");
	wrong("[a] [b]", "1: what follows belongs");
}

static void no_end(void **state)
{
	(void)state;
	wrong("a = \"b\nc = 1", "1: this string has no end in its line; a \" is missing");
	wrong("a = 'b", "1: this string has no end in its line; a ' is missing");
	wrong("\na = \"\"\"b\n\nc", "2: this string has no end; \"\"\" is missing");
	wrong("a = '''b''", "1: this string has no end; ''' is missing");
	wrong("a = [1,\nb = 2\n", "1: this [ has no end; a ] is missing");
	wrong("a = [\n1,\n", "1: this [ has no end; a ] is missing");
	wrong("a = {b = 1\nc = 2", "1: this { has no end in its line; a } is missing");
	wrong("a = {b = 1", "1: this { has no end; a } is missing");
	wrong("a = 1]", "1: this ] ends nothing; a [ is missing before it");
	wrong("a = [1}", "1: this } ends nothing; a { is missing before it");
	wrong("a = [[[[[[[[[[[[[[[[[", "1: more than 16 brackets in each other");
	wrong("a.b.c.d.e.f.g.h.i.j.k.l.m.n.o.p.q=1", "1: a key of more than 16 parts");
}

static void escapes(void **state)
{
	(void)state;
	wrong("a = \"\\d\"", "1: there is no \\d; write \\\\ for a backslash");
	wrong("a = \"\\u12\"", "1: \\u takes four digits, as in \\u00e9");
	wrong("a = \"\\U0011\"", "1: \\U takes eight digits");
	wrong("a = \"\\ud800\"", "1: there is no character U+d800");
	wrong("a = \"\\U00110000\"", "1: there is no character U+00110000");
	wrong("a = \"\"\"\n\n\\u0000\"\"\"", "3: a string cannot have the character 0 in it");
	wrong("a = \"\"\"b \\ \nc\"\"\"", "1: blanks behind the \\ that ends a line");
	wrong("\"\\u0000\" = 1", "1: a string cannot have the character 0 in it");
}

static void characters(void **state)
{
	(void)state;
	wrong("a = 1\nb = \"\xff\"", "2: byte 0xff is not UTF-8");
	wrong("a = \"\xed\xa0\x80\"", "1: byte 0xed is not UTF-8");
	wrong("a = \"\x1b[2J\"", "1: control character 0x1b; in a string of \"...\" it is \\u001b");
	wrong("a = 1\rb = 2", "1: control character 0x0d");
	wrong_bytes("a = 1\n\0", 7, "2: control character 0x00");
}

/* Each is told, up to so many. */
static void several(void **state)
{
	static const char text[] = "a = x\nb = 1\nb = 2\nc = \"\nd = [\ne = 1\n";
	struct text told, many = {0};

	(void)state;
	assert_null(read_all(text, strlen(text), &told));
	assert_non_null(strstr(told.buf, "1: x is no value"));
	assert_non_null(strstr(told.buf, "3: b is there a second time"));
	assert_non_null(strstr(told.buf, "4: this string has no end"));
	assert_non_null(strstr(told.buf, "5: this [ has no end"));
	text_free(&told);
	for (int i = 0; i < 1000; i++)
		text_puts(&many, "a = x\n");
	assert_null(read_all(many.buf, many.len, &told));
	assert_non_null(strstr(told.buf, "20: "));
	assert_null(strstr(told.buf, "21: "));
	text_free(&told);
	text_free(&many);
}

static void repeated(const char *piece, size_t len, const char *expected)
{
	struct text t = {0};

	while (t.len + strlen(piece) <= len)
		text_puts(&t, piece);
	assert_false(t.failed);
	wrong_bytes(t.buf, t.len, expected);
	text_free(&t);
}

static void bounds(void **state)
{
	(void)state;
	repeated("#", TOML_SIZE + 1, "1: more than 1024 KB");
	repeated("=[", TOML_SIZE, "1: this [ has no end");
	repeated("a=\"\\q[{", TOML_SIZE, "1: there is no \\q");
	repeated("a.", TOML_SIZE, "1: what began above has more than 16 KB");
	repeated("a=[1]]", 1 << 14, "1: this ] ends nothing");
	repeated("a=1 ", 1 << 14, "1: ");
	repeated("[a.", 1 << 14, "1: ");
	repeated("'", 1 << 14, "1: ");
	repeated("[a]\n", TOML_SIZE, "20: a is there a second time");
}

/* As many as there may be are taken. */
static void many(void **state)
{
	struct text t = {0}, told;
	struct toml *toml;

	(void)state;
	for (unsigned int i = 0; i < TOML_KEYS; i++)
		text_printf(&t, "k%u = %u\n", i, i);
	toml = read_all(t.buf, t.len, &told);
	assert_non_null(toml);
	assert_int_equal(get(toml_root(toml), "k1023")->integer, 1023);
	toml_free(toml);
	text_free(&told);
	text_puts(&t, "more = 1\n");
	wrong_bytes(t.buf, t.len, "1025: a table of more than 1024 keys");
	text_free(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(strings),    cmocka_unit_test(numbers), cmocka_unit_test(others),
		cmocka_unit_test(arrays),     cmocka_unit_test(tables),	 cmocka_unit_test(seconds),
		cmocka_unit_test(no_toml),    cmocka_unit_test(no_end),	 cmocka_unit_test(escapes),
		cmocka_unit_test(characters), cmocka_unit_test(several), cmocka_unit_test(bounds),
		cmocka_unit_test(many),
	};

	if (toml_missing()) {
		printf("1..0 # SKIP %s\n", toml_missing());
		return 0;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
