// SPDX-License-Identifier: GPL-2.0-or-later
/* grub-test.c - the expressions of test and [; see grub.h. */
#include "frontend/image/boot/grub.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct test {
	struct grub *g;
	const char *const *at, *const *end;
	unsigned int depth;
	int error;
};

static bool is_next(const struct test *t, const char *word)
{
	return t->at < t->end && !strcmp(*t->at, word);
}

/* --- what there is about one or two words ------------------------------------------------------
 */

static bool compare_numbers(const char *op, long order)
{
	static const struct {
		const char *op;
		bool less, same, more;
	} ops[] = {
		{"-eq", false, true, false}, {"-ne", true, false, true},
		{"-lt", true, false, false}, {"-le", true, true, false},
		{"-gt", false, false, true}, {"-ge", false, true, true},
	};

	for (size_t i = 0; i < sizeof(ops) / sizeof(ops[0]); i++)
		if (!strcmp(ops[i].op, op))
			return order < 0 ? ops[i].less : order ? ops[i].more : ops[i].same;
	return false;
}

static bool compare(const char *a, const char *op, const char *b)
{
	long x, y;

	if (!strcmp(op, "=") || !strcmp(op, "=="))
		return !strcmp(a, b);
	if (!strcmp(op, "!="))
		return strcmp(a, b) != 0;
	if (!strcmp(op, "<"))
		return strcmp(a, b) < 0;
	if (!strcmp(op, ">"))
		return strcmp(a, b) > 0;
	x = strtol(a, NULL, 10);
	y = strtol(b, NULL, 10);
	return compare_numbers(op, x < y ? -1 : x > y);
}

static bool is_comparison(const char *op)
{
	static const char *const ops[] = {"=",	 "==",	"!=",  "<",   ">",  "-eq",
					  "-ne", "-lt", "-le", "-gt", "-ge"};

	for (size_t i = 0; i < sizeof(ops) / sizeof(ops[0]); i++)
		if (!strcmp(ops[i], op))
			return true;
	return false;
}

/* A folder is one with something in it: no other question is needed. */
static bool has_folder(struct test *t, const struct boot_file *f)
{
	struct text names = {0};
	bool has;
	int ret = boot_list(t->g->disk, f, "", &names);

	if (ret)
		t->error = ret;
	has = names.len;
	text_free(&names);
	return has;
}

static bool has_file(struct test *t, char op, const char *name)
{
	struct boot_file f;
	int64_t size;

	if (grub_path(t->g, name, &f))
		return false;
	if (op == 'd')
		return has_folder(t, &f);
	size = boot_size(t->g->disk, &f);
	if (size < 0 && size != -ENOENT)
		t->error = (int)size;
	if (size >= 0)
		return op != 's' || size > 0;
	return op == 'e' && !t->error && has_folder(t, &f);
}

static bool is_unary(const char *op)
{
	return op[0] == '-' && op[1] && strchr("nzsefd", op[1]) && !op[2];
}

static bool test_unary(struct test *t, char op, const char *word)
{
	if (op == 'n' || op == 'z')
		return (*word != '\0') == (op == 'n');
	return has_file(t, op, word);
}

/* --- what there is about all of them ------------------------------------------------------------
 */

static bool test_or(struct test *t);

static bool test_term(struct test *t)
{
	ptrdiff_t left = t->end - t->at;
	bool holds;

	if (!left)
		return false;
	if (left >= 3 && is_comparison(t->at[1])) {
		holds = compare(t->at[0], t->at[1], t->at[2]);
		t->at += 3;
		return holds;
	}
	if (left >= 2 && is_unary(t->at[0])) {
		holds = test_unary(t, t->at[0][1], t->at[1]);
		t->at += 2;
		return holds;
	}
	if (left >= 2 && is_next(t, "(")) {
		t->at++;
		holds = test_or(t);
		t->at += is_next(t, ")");
		return holds;
	}
	return *(*t->at++) != '\0';
}

static bool test_not(struct test *t)
{
	bool invert = false;

	for (; t->end - t->at >= 2 && is_next(t, "!"); t->at++)
		invert = !invert;
	return test_term(t) != invert;
}

static bool test_and(struct test *t)
{
	bool holds = test_not(t);

	while (is_next(t, "-a")) {
		t->at++;
		holds = test_not(t) && holds;
	}
	return holds;
}

static bool test_or(struct test *t)
{
	bool holds;

	if (++t->depth > GRUB_DEPTH_MAX) {
		t->at = t->end;
		return false;
	}
	holds = test_and(t);
	while (is_next(t, "-o")) {
		t->at++;
		holds = test_and(t) || holds;
	}
	t->depth--;
	return holds;
}

int grub_test(struct grub *g, unsigned int argc, const char *const *argv, bool *holds)
{
	struct test t = {.g = g, .at = argv, .end = argv + argc};

	*holds = test_or(&t);
	return t.error;
}
