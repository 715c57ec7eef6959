// SPDX-License-Identifier: GPL-2.0-or-later
/* test-plan.c - the commands of a rule: nothing that a configuration says becomes an option of its
 * own. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "frontend/serve/plan.h"

#define LIST(...)                                                                                  \
	(struct option_list)                                                                       \
	{                                                                                          \
		.values = (const char *[]){__VA_ARGS__},                                           \
		.nr = sizeof((const char *[]){__VA_ARGS__}) / sizeof(char *)                       \
	}

static struct serve_config config = {.serve = {.connect = "qemu:///system", .state = "/s"},
				     .ship = {.database = "db"}};

static void words_are(enum plan_kind kind, const struct config_rule *rule, const char *expected)
{
	const struct plan p = {&config,
			       rule,
			       "UUID",
			       "--help",
			       "/s/g/r.dat",
			       "/s/sum",
			       plan_window_ms(rule),
			       rule->when == CONFIG_ALWAYS};
	char all[4096] = "";
	struct plan_words w;

	plan_words(&w, kind, &p);
	assert_false(w.failed);
	assert_null(w.word[w.nr]);
	for (size_t i = 0; i < w.nr; i++)
		strcat(strcat(all, i ? " " : ""), w.word[i]);
	assert_string_equal(all, expected);
	plan_words_free(&w);
	assert_int_equal(w.nr, 0);
}

static void kinds_are(const struct config_rule *rule, const char *expected)
{
	enum plan_kind kinds[PLAN_KINDS];
	unsigned int nr = plan_kinds(rule, kinds);
	char all[64] = "";

	for (unsigned int i = 0; i < nr; i++)
		snprintf(all + strlen(all), sizeof(all) - strlen(all), "%d ", kinds[i]);
	assert_string_equal(all, expected);
}

static void test_kinds(void **state)
{
	(void)state;
	kinds_are(&(struct config_rule){0}, "");
	kinds_are(&(struct config_rule){.tracer = "function"}, "1 ");
	kinds_are(&(struct config_rule){.events = LIST("sched:*"), .ship = true}, "1 6 ");
	kinds_are(&(struct config_rule){.metrics = CONFIG_IRQS_OFF, .ship = true}, "2 ");
	kinds_are(&(struct config_rule){.metrics = CONFIG_IRQS_OFF | CONFIG_PREEMPT_OFF |
						   CONFIG_WAKEUP | CONFIG_SYSCALLS,
					.ship = true},
		  "1 2 3 4 5 6 ");
}

static void test_record(void **state)
{
	const struct config_rule calls = {
		.when = CONFIG_WINDOW, .metrics = CONFIG_SYSCALLS, .window_ns = 5000000000};
	const struct config_rule much = {
		.tracer = "function",
		.events = LIST("sched:sched_switch", "@irq"),
		.functions = LIST("vfs_*"),
		.notrace = LIST("vfs_fsync"),
		.set = LIST("a=b"),
		.clock = "mono",
		.buffer_bytes = 1025,
		.metrics = CONFIG_WAKEUP,
		.when = CONFIG_ALWAYS,
		.segment_ns = 60000000000,
		.standstill_ns = 50000000,
	};

	(void)state;
	words_are(
		PLAN_RECORD, &calls,
		"hvtrace record --for=5000ms --connect=qemu:///system --summary=/s/sum --no-mount "
		"--output=/s/g/r.dat --clock=host --event=raw_syscalls:sys_enter "
		"--event=raw_syscalls:sys_exit -- UUID");
	words_are(
		PLAN_RECORD, &much,
		"hvtrace record --for=60000ms --connect=qemu:///system --summary=/s/sum "
		"--max-standstill=50ms --no-mount --segment=60000ms --output=/s/g/r.dat --clock=mono "
		"--tracer=function --event=sched:sched_switch --event=@irq "
		"--event=sched:sched_wakeup --event=sched:sched_wakeup_new --filter=vfs_* "
		"--notrace=vfs_fsync --set=a=b --buffer-kb=2 -- UUID");
}

static void test_others(void **state)
{
	const struct config_rule rule = {.when = CONFIG_DEMAND, .window_ns = 10000000};

	(void)state;
	words_are(PLAN_RECOVER, &rule, "hvtrace attach --recover --connect=qemu:///system -- UUID");
	words_are(PLAN_IRQS_OFF, &rule,
		  "hvtrace latency --for=10ms --connect=qemu:///system --summary=/s/sum --json "
		  "--tracer=irqsoff -- UUID");
	words_are(PLAN_PREEMPT_OFF, &rule,
		  "hvtrace latency --for=10ms --connect=qemu:///system --summary=/s/sum --json "
		  "--tracer=preemptoff -- UUID");
	words_are(PLAN_WAKEUPS, &rule, "hvtrace wakeups --json --limit=8192 -- /s/g/r.dat");
	words_are(PLAN_SYSCALLS, &rule, "hvtrace syscalls --json --limit=8192 -- /s/g/r.dat");
	words_are(
		PLAN_SHIP, &rule,
		"hvtrace ship --database=db --spool=/s/.spool --guest=--help --summary=/s/sum -- /s/g/r.dat");
}

/* Behind its "=" a value is no option, whatever it looks like. */
static void test_hostile(void **state)
{
	const struct config_rule rule = {
		.tracer = "--help",
		.events = LIST("-e", "", "a b", "--", "\n"),
		.window_ns = 1000000,
	};
	const struct plan p = {&config, &rule, "--help", "-o", "-o", "--", 1, false};
	struct plan_words w;
	size_t end = 0;

	(void)state;
	plan_words(&w, PLAN_RECORD, &p);
	assert_false(w.failed);
	for (size_t i = 2; i < w.nr; i++) {
		if (!strcmp(w.word[i], "--")) {
			assert_int_equal(end, 0);
			end = i;
		} else if (!end) {
			assert_int_equal(strncmp(w.word[i], "--", 2), 0);
			assert_true(strchr(w.word[i], '=') || !strcmp(w.word[i], "--no-mount"));
		}
	}
	assert_int_equal(end, w.nr - 2);
	assert_string_equal(w.word[w.nr - 1], "--help");
	plan_words_free(&w);
}

static void test_too_many(void **state)
{
	const char *many[STEP_WORDS_MAX];
	const struct config_rule rule = {.events = {.values = many, .nr = STEP_WORDS_MAX}};
	const struct plan p = {&config, &rule, "g", "g", "r", "s", 1, false};
	struct plan_words w;

	(void)state;
	for (size_t i = 0; i < STEP_WORDS_MAX; i++)
		many[i] = "sched:*";
	plan_words(&w, PLAN_RECORD, &p);
	assert_true(w.failed);
	assert_true(w.nr <= STEP_WORDS_MAX);
	plan_words_free(&w);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kinds),	 cmocka_unit_test(test_record),
		cmocka_unit_test(test_others),	 cmocka_unit_test(test_hostile),
		cmocka_unit_test(test_too_many),
	};

	return cmocka_run_group_tests_name("plan", tests, NULL, NULL);
}
