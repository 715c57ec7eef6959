// SPDX-License-Identifier: GPL-2.0-or-later
/* test-progress.c - what is said on stderr while a guest is traced. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "frontend/session/progress.h"

static char said[4096];

/* What both have said to stderr, which is no terminal, is in said. */
static void lose(struct progress *p, const uint64_t *lost, size_t n)
{
	FILE *f = tmpfile();
	int before = dup(STDERR_FILENO);
	size_t len;

	assert_non_null(f);
	assert_true(before >= 0 && dup2(fileno(f), STDERR_FILENO) >= 0);
	for (size_t i = 0; i < n; i++) {
		const struct trace_status st = {.lost = 1000 + lost[i], .staging_lost = lost[i]};

		progress_lost(p, &st, "do this");
		progress_show(p, (double)(i + 1), &st);
	}
	fflush(stderr);
	assert_true(dup2(before, STDERR_FILENO) >= 0);
	close(before);
	rewind(f);
	len = fread(said, 1, sizeof(said) - 1, f);
	said[len] = '\0';
	fclose(f);
}

/* What is only overwritten in the ring buffer, as it is meant to be, is none. */
static void test_no_loss(void **state)
{
	const uint64_t none[] = {0, 0};
	struct progress p;

	(void)state;
	progress_init(&p, true, 0);
	lose(&p, none, 2);
	assert_string_equal(said, "");
}

static void test_loss_once(void **state)
{
	const uint64_t lost[] = {0, 42, 42, 1000};
	struct progress p;

	(void)state;
	progress_init(&p, false, 0);
	lose(&p, lost, 4);
	assert_string_equal(said, "hvtrace: 42 records are lost so far: do this\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_no_loss),
		cmocka_unit_test(test_loss_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
