/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * elsewhere.h - checks in other threads than a test's own. An assertion of cmocka's jumps back to
 * where the test was begun, and that is on another thread's stack: so what does not hold is noted
 * there, and makes the test fail when that asks. For tests that include cmocka.h before it.
 */
#ifndef HVTRACE_TESTS_ELSEWHERE_H
#define HVTRACE_TESTS_ELSEWHERE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

/* The first thing that did not hold. */
static _Atomic(const char *) elsewhere_failure;

static inline bool elsewhere_holds(bool condition, const char *what)
{
	const char *none = NULL;

	if (!condition)
		atomic_compare_exchange_strong(&elsewhere_failure, &none, what);
	return condition;
}

#define ELSEWHERE_STRING(line) #line
#define ELSEWHERE_AT(line)     __FILE__ ":" ELSEWHERE_STRING(line) ": not so: "

/* In any thread: whether it is so. */
#define holds(condition) elsewhere_holds(condition, ELSEWHERE_AT(__LINE__) #condition)

/* In the test's own thread, when the others have ended or wait. */
static inline void elsewhere_check(void)
{
	const char *what = atomic_exchange(&elsewhere_failure, NULL);

	if (what)
		fail_msg("%s", what);
}

#endif
