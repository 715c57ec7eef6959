// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test-rules.c - which guest is traced when, and what comes of it. Commands of hvtrace are this
 * program, started again; the time is what a test says.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "frontend/serve/daemon.h"
#include "tests/unit/remove-tree.h"

#define LIST(...)                                                                                  \
	(struct option_list)                                                                       \
	{                                                                                          \
		.values = (const char *[]){__VA_ARGS__},                                           \
		.nr = sizeof((const char *[]){__VA_ARGS__}) / sizeof(char *)                       \
	}
#define PATIENCE_MS 60000
#define SEC	    INT64_C(1000)

static char dir[64];
static struct config_rule rules[2];
static struct serve_config config = {.rules = rules};
static struct conf conf;
static struct daemon d;

/* --- a command
 * ------------------------------------------------------------------------------------ */

/* A recorder that is killed in its second file. */
static void leave_unfinished(int argc, char **argv)
{
	char path[256];

	for (int i = 2; i < argc; i++) {
		FILE *f;

		if (strncmp(argv[i], "--output=", 9) != 0)
			continue;
		for (int part = 0; part < 2; part++) {
			snprintf(path, sizeof(path), "%.*s.2.dat%s",
				 (int)(strlen(argv[i]) - strlen("--output=.dat")),
				 argv[i] + strlen("--output="), part ? ".part" : "");
			f = fopen(path, "w");
			fputs("journal", f);
			fclose(f);
		}
	}
	raise(SIGKILL);
}

/* What it does is in $STEP, its summary in $SUMMARY; what it was is a line more in $LOG. */
static int be_command(int argc, char **argv)
{
	const char *step = getenv("STEP"), *text = getenv("SUMMARY");
	sigset_t set;
	int log, signo;

	/* Once the file is there it may be asked to end. */
	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigprocmask(SIG_BLOCK, &set, NULL);
	log = open(getenv("LOG"), O_WRONLY | O_APPEND | O_CREAT, 0600);
	dprintf(log, "%s ", argc > 2 && !strcmp(argv[2], "--recover") ? "recover" : argv[1]);
	if (!strcmp(step, "waits") && !strcmp(argv[1], "record"))
		sigwait(&set, &signo);
	for (int i = 2; i < argc && strcmp(step, "fails") != 0; i++) {
		const char *path = strchr(argv[i], '=');
		FILE *f = !strncmp(argv[i], "--summary=", 10) || !strncmp(argv[i], "--output=", 9)
				  ? fopen(path + 1, "w")
				  : NULL;

		if (f) {
			fputs(text, f);
			fclose(f);
		}
	}
	if (!strcmp(step, "dies"))
		leave_unfinished(argc, argv);
	if (!strcmp(step, "harmed") && strcmp(argv[1], "attach") != 0) {
		fprintf(stderr, "a tracer of it was killed: recover the domain first\n");
		return 1;
	}
	return !strcmp(step, "fails");
}

/* --- the daemon, without its loop
 * ------------------------------------------------------------------- */

static char *log_path(void)
{
	static char path[96];

	snprintf(path, sizeof(path), "%s/log", dir);
	return path;
}

static int set_up(void **state)
{
	(void)state;
	strcpy(dir, "/tmp/hvrules.XXXXXX");
	if (!mkdtemp(dir))
		return -1;
	memset(rules, 0, sizeof(rules));
	config.serve.state = dir;
	config.serve.collectors = 8;
	config.nr_rules = 1;
	conf = (struct conf){&config, 1};
	d = (struct daemon){.conf = &conf, .metrics = metrics_new(), .random = 1};
	setenv("LOG", log_path(), 1);
	setenv("STEP", "works", 1);
	setenv("SUMMARY", "{}", 1);
	return d.metrics ? 0 : -1;
}

static int tear_down(void **state)
{
	(void)state;
	for (size_t i = 0; i < d.nr_rounds; i++) {
		round_cancel(d.round[i], SIGKILL);
		if (round_steps(d.round[i]))
			waitpid(d.round[i]->step.pid, NULL, 0);
		round_free(d.round[i]);
	}
	free(d.round);
	free(d.unfinished);
	guests_free(&d.guests);
	metrics_free(d.metrics);
	assert_int_equal(conf.refs, 1);
	return remove_tree(dir);
}

static void came(void *arg, struct serve_guest *g)
{
	rules_came(arg, g);
}

static void went(void *arg, struct serve_guest *g)
{
	rules_went(arg, g);
}

static void waited(void *arg, struct serve_guest *g, unsigned int vcpu, uint64_t ns)
{
	(void)arg, (void)g, (void)vcpu, (void)ns;
}

/* These run, each with its id as its name says: "a1" is the guest "a" that was started for the
 * first time. */
static void guests_are(const char *names)
{
	const struct guests_ops ops = {came, went, waited, &d};
	struct machine_listing list[8] = {{0}};
	struct looker_sight sight = {.guest = list};

	for (; *names; names += 2) {
		struct machine_listing *l = &list[sight.guests++];

		l->name[0] = l->uuid[0] = names[0];
		l->id = (unsigned int)names[1];
		l->state = "running";
	}
	guests_update(&d.guests, &sight, &ops);
}

static struct due *due_of(const char *name)
{
	struct serve_guest *g = guests_find(&d.guests, name);

	assert_non_null(g);
	return &g->due[0];
}

static void hear(void)
{
	for (size_t i = 0; i < d.nr_rounds; i++) {
		struct step *s = &d.round[i]->step;
		struct pollfd fds[2] = {{.fd = s->says.fd, .events = POLLIN},
					{.fd = s->pidfd, .events = POLLIN}};

		if (!round_steps(d.round[i]))
			continue;
		assert_true(poll(fds, 2, PATIENCE_MS) > 0);
		round_hear(d.round[i]);
	}
}

/* All that is due now, up to its end. */
static void run(int64_t now_ms)
{
	rules_tick(&d, now_ms);
	while (d.nr_rounds) {
		hear();
		rules_tick(&d, now_ms);
	}
}

/* What has been started since the last time. */
static void were(const char *expected)
{
	char log[512] = "";
	FILE *f = fopen(log_path(), "r");

	if (f) {
		log[fread(log, 1, sizeof(log) - 1, f)] = '\0';
		fclose(f);
		unlink(log_path());
	}
	assert_string_equal(log, expected);
}

/* Between a tick and the next one of a round that waits: its process is up. */
static void wait_for_log(void)
{
	while (access(log_path(), F_OK))
		poll(NULL, 0, 1);
}

/* --- when
 * --------------------------------------------------------------------------------------------- */

static const struct config_rule window = {
	.name = "w",
	.guests = {.values = (const char *[]){"*"}, .nr = 1},
	.tracer = "function",
	.when = CONFIG_WINDOW,
	.every_ns = 60000000000,
	.window_ns = 2000000000,
};

static void test_window(void **state)
{
	(void)state;
	rules[0] = window;
	guests_are("a1");
	due_of("a")->next_ms = 0;
	run(1000 * SEC);
	were("record ");
	assert_int_equal(due_of("a")->next_ms, 1058 * SEC);
	run(1057 * SEC);
	were("");
	run(1058 * SEC);
	were("record ");
}

/* One is over in the tick in which another one asks whether it may go on. */
static void test_one_ends(void **state)
{
	(void)state;
	rules[0] = rules[1] = window;
	rules[0].guests = LIST("a");
	rules[1].guests = LIST("b");
	rules[1].name = "v";
	rules[1].metrics = CONFIG_SYSCALLS;
	config.nr_rules = 2;
	guests_are("a1b1");
	guests_find(&d.guests, "a")->due[0].next_ms = 0;
	guests_find(&d.guests, "b")->due[1].next_ms = 1;
	rules_tick(&d, 1000 * SEC);
	rules_tick(&d, 1000 * SEC);
	assert_int_equal(d.nr_rounds, 2);
	while (round_steps(d.round[0]) || round_steps(d.round[1]))
		hear();
	rules_tick(&d, 1000 * SEC);
	assert_int_equal(d.nr_rounds, 1);
	run(1000 * SEC);
	were("record record syscalls ");
}

/* After five seconds, twice as much each time, up to five minutes; until it works. */
static void test_retry(void **state)
{
	static const int64_t pauses[] = {58, 58, 58, 58, 80, 160, 300, 300};
	int64_t now = 1000 * SEC;

	(void)state;
	rules[0] = window;
	setenv("STEP", "fails", 1);
	guests_are("a1");
	due_of("a")->next_ms = 0;
	for (size_t i = 0; i < sizeof(pauses) / sizeof(*pauses); i++) {
		run(now);
		were("record ");
		assert_int_equal(due_of("a")->next_ms, now + pauses[i] * SEC);
		now = due_of("a")->next_ms;
	}
	setenv("STEP", "works", 1);
	run(now);
	assert_int_equal(due_of("a")->failed, 0);
	assert_int_equal(due_of("a")->next_ms, now + 58 * SEC);
}

static void test_demand(void **state)
{
	(void)state;
	rules[0] = window;
	rules[0].when = CONFIG_DEMAND;
	rules[0].except = LIST("b");
	guests_are("a1b1");
	run(SEC);
	were("");
	assert_int_equal(rules_demand(&d, guests_find(&d.guests, "b"), 0), -ENOENT);
	assert_int_equal(rules_demand(&d, guests_find(&d.guests, "a"), 1), -ENOENT);
	assert_int_equal(rules_demand(&d, guests_find(&d.guests, "a"), 0), 0);
	run(2 * SEC);
	were("record ");
	run(10000 * SEC);
	were("");
}

/* What there is no place for is tried again when somebody asks for it again. */
static void test_no_place(void **state)
{
	(void)state;
	rules[0] = window;
	rules[0].when = CONFIG_DEMAND;
	config.serve.state = "/nonexistent/state";
	guests_are("a1");
	assert_int_equal(rules_demand(&d, guests_find(&d.guests, "a"), 0), 0);
	run(SEC);
	assert_int_equal(d.nr_rounds, 0);
	config.serve.state = dir;
	run(10000 * SEC);
	were("");
}

static void test_steal(void **state)
{
	struct serve_guest *g;

	(void)state;
	rules[0] = window;
	rules[0].when = CONFIG_THRESHOLD;
	rules[0].threshold = (struct config_threshold){
		.steal = 20, .for_ns = 10000000000, .cool_down_ns = 100000000000};
	guests_are("a1");
	g = guests_find(&d.guests, "a");
	g->steal = 0.5;
	run(1000 * SEC);
	run(1009 * SEC);
	g->steal = 0.1;
	run(1009 * SEC);
	g->steal = 0.5;
	run(1011 * SEC);
	run(1020 * SEC);
	were("");
	run(1021 * SEC);
	were("record ");
	run(1110 * SEC);
	run(1120 * SEC);
	were("");
	run(1121 * SEC);
	run(1131 * SEC);
	were("record ");
	g->steal = -1;
	run(2000 * SEC);
	run(2100 * SEC);
	were("");
}

/* A threshold need not last; where there is no place for what is traced then it is tried later. */
static void test_steal_at_once(void **state)
{
	(void)state;
	rules[0] = window;
	rules[0].when = CONFIG_THRESHOLD;
	rules[0].threshold = (struct config_threshold){.steal = 20, .cool_down_ns = 100000000000};
	config.serve.state = "/nonexistent/state";
	guests_are("a1");
	guests_find(&d.guests, "a")->steal = 0.5;
	alarm(PATIENCE_MS / 1000);
	run(1000 * SEC);
	alarm(0);
	assert_int_equal(due_of("a")->failed, 1);
	run(1004 * SEC);
	assert_int_equal(due_of("a")->failed, 1);
	run(1005 * SEC);
	assert_int_equal(due_of("a")->failed, 2);
	config.serve.state = dir;
	run(1014 * SEC);
	were("");
	run(1015 * SEC);
	were("record ");
	assert_int_equal(due_of("a")->failed, 0);
	run(1114 * SEC);
	were("");
	run(1115 * SEC);
	were("record ");
}

/* Half of its time it has stood, and may a tenth of it. */
static void test_budget(void **state)
{
	(void)state;
	rules[0] = window;
	rules[0].overhead = 10;
	setenv("SUMMARY", "{\"seconds\": 20, \"standstill\": {\"total_ns\": 10000000000}}", 1);
	guests_are("a1");
	due_of("a")->next_ms = 0;
	run(1000 * SEC);
	assert_int_equal(due_of("a")->pause_ms, 80 * SEC);
	assert_int_equal(due_of("a")->next_ms, 1080 * SEC);
}

/* --- who
 * -----------------------------------------------------------------------------------------------
 */

static const char *traced_now(void)
{
	return d.nr_rounds == 1 && d.round[0]->guest ? d.round[0]->guest->name : "";
}

static void one_turn(int64_t now_ms, const char *name)
{
	rules_tick(&d, now_ms);
	assert_string_equal(traced_now(), name);
	while (round_steps(d.round[0]))
		hear();
}

/* With one collector no guest has it all the time. */
static void test_turns(void **state)
{
	(void)state;
	rules[0] = window;
	rules[0].every_ns = rules[0].window_ns + 1000000;
	config.serve.collectors = 1;
	guests_are("a1b1c1");
	due_of("a")->next_ms = due_of("b")->next_ms = due_of("c")->next_ms = 0;
	for (int64_t now = 1000; now < 1006; now += 3) {
		one_turn(now * SEC, "a");
		rules_tick(&d, now * SEC);
		one_turn((now + 1) * SEC, "b");
		rules_tick(&d, (now + 1) * SEC);
		one_turn((now + 2) * SEC, "c");
		rules_tick(&d, (now + 2) * SEC);
	}
}

static void test_limit(void **state)
{
	(void)state;
	rules[0] = window;
	config.serve.collectors = 2;
	setenv("STEP", "waits", 1);
	guests_are("a1b1c1d1");
	for (const char *name = "abcd"; *name; name++)
		due_of((const char[]){*name, '\0'})->next_ms = 0;
	rules_tick(&d, SEC);
	rules_tick(&d, 2 * SEC);
	assert_int_equal(d.nr_rounds, 2);
}

/* --- guests that go
 * -------------------------------------------------------------------------------------- */

/* What was recorded until then is looked at; the one that is started again is another one. */
static void test_restarted(void **state)
{
	(void)state;
	rules[0] = window;
	rules[0].metrics = CONFIG_WAKEUP | CONFIG_IRQS_OFF;
	setenv("STEP", "waits", 1);
	guests_are("a1");
	due_of("a")->next_ms = 0;
	rules_tick(&d, 1000 * SEC);
	wait_for_log();
	guests_are("a2");
	due_of("a")->next_ms = INT64_MAX;
	assert_null(guests_find(&d.guests, "a")->round);
	run(1000 * SEC);
	were("record wakeups ");
	assert_int_equal(due_of("a")->failed, 0);
	assert_true(due_of("a")->next_ms == INT64_MAX);
}

/* It is freed while its collector ends. */
static void test_gone(void **state)
{
	(void)state;
	rules[0] = window;
	setenv("STEP", "waits", 1);
	guests_are("a1");
	due_of("a")->next_ms = 0;
	rules_tick(&d, 1000 * SEC);
	wait_for_log();
	guests_are("");
	rules_tick(&d, 1001 * SEC);
	assert_int_equal(d.guests.nr, 0);
	run(1001 * SEC);
	were("record ");
}

/* One whose tracer was killed is recovered at once; if that does not help it is left alone for a
 * while. */
static void test_harmed(void **state)
{
	(void)state;
	rules[0] = window;
	setenv("STEP", "harmed", 1);
	guests_are("a1");
	due_of("a")->next_ms = 0;
	run(1000 * SEC);
	assert_int_equal(due_of("a")->next_ms, 1000 * SEC);
	were("record ");
	run(1000 * SEC);
	were("recover record ");
	assert_int_equal(due_of("a")->next_ms, 1058 * SEC);
	setenv("STEP", "works", 1);
	run(due_of("a")->next_ms);
	were("recover record ");
	assert_false(guests_find(&d.guests, "a")->harmed);
}

static bool is_told_of(const char *what)
{
	struct text out = {0};
	bool is;

	metrics_print(d.metrics, METRICS_TEXT, &out);
	text_putc(&out, '\0');
	assert_false(out.failed);
	is = strstr(out.buf, what);
	text_free(&out);
	return is;
}

/* What comes of one that is forgotten by now is forgotten, too. */
static void test_forgotten(void **state)
{
	(void)state;
	rules[0] = window;
	rules[0].metrics = CONFIG_WAKEUP;
	setenv("STEP", "waits", 1);
	guests_are("a1");
	due_of("a")->next_ms = 0;
	rules_tick(&d, 1000 * SEC);
	wait_for_log();
	assert_true(is_told_of("{guest=\"a\""));
	guests_are("");
	rules_tick(&d, 1001 * SEC);
	assert_int_equal(d.guests.nr, 0);
	run(1001 * SEC);
	were("record wakeups ");
	assert_false(is_told_of("{guest=\"a\""));
}

/* So is what a rule says now that is no more, but not what was. */
static void test_rule_gone(void **state)
{
	struct serve_config none = config;
	struct conf after = {&none, 1};

	(void)state;
	rules[0] = window;
	setenv("STEP", "waits", 1);
	setenv("SUMMARY", "{\"seconds\": 20, \"events\": 5}", 1);
	guests_are("a1");
	due_of("a")->next_ms = 0;
	rules_tick(&d, 1000 * SEC);
	wait_for_log();
	none.nr_rules = 0;
	d.conf = &after;
	round_leave(d.round[0]);
	run(1001 * SEC);
	were("record ");
	assert_true(is_told_of("\nhvtrace_records_total{guest=\"a\",rule=\"w\"} 5\n"));
	assert_false(is_told_of("\nhvtrace_overhead_ratio{"));
	assert_true(is_told_of("\nhvtrace_guest_up{guest=\"a\"} 1\n"));
}

/* Which of several files was being recorded to is looked for. */
static void test_segments_die(void **state)
{
	char path[128];

	(void)state;
	rules[0] = window;
	rules[0].when = CONFIG_ALWAYS;
	rules[0].segment_ns = 60000000000;
	rules[0].keep = true;
	guests_are("a1");
	run(1000 * SEC);
	assert_int_equal(d.unfinished_len, 0);
	were("record ");
	setenv("STEP", "dies", 1);
	due_of("a")->next_ms = 0;
	run(1001 * SEC);
	snprintf(path, sizeof(path), "%s/a/w.2.dat", dir);
	assert_int_equal(d.unfinished_len, strlen(path) + 1);
	assert_string_equal(d.unfinished, path);
	due_of("a")->next_ms = 0;
	run(1002 * SEC);
	assert_int_equal(d.unfinished_len, strlen(path) + 1);
}

/* A step that does not end is asked to, and then ended. */
static void test_hangs(void **state)
{
	struct round *r;

	(void)state;
	rules[0] = window;
	guests_are("a1");
	setenv("STEP", "waits", 1);
	due_of("a")->next_ms = 0;
	rules_tick(&d, SEC);
	wait_for_log();
	r = d.round[0];
	kill(r->step.pid, SIGSTOP);
	rules_tick(&d, 1000 * SEC);
	assert_true(r->asked && !r->killed);
	rules_tick(&d, 1059 * SEC);
	assert_false(r->killed);
	rules_tick(&d, 1060 * SEC);
	assert_true(r->killed);
	run(1060 * SEC);
	assert_int_equal(due_of("a")->failed, 1);
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(int argc, char **argv)
{
	static const struct CMUnitTest tests[] = {
		TEST(test_window),    TEST(test_one_ends),	TEST(test_retry),
		TEST(test_demand),    TEST(test_no_place),	TEST(test_steal),
		TEST(test_budget),    TEST(test_turns),		TEST(test_limit),
		TEST(test_restarted), TEST(test_gone),		TEST(test_harmed),
		TEST(test_hangs),     TEST(test_steal_at_once), TEST(test_forgotten),
		TEST(test_rule_gone), TEST(test_segments_die),
	};

	if (!strcmp(argv[0], "hvtrace"))
		return be_command(argc, argv);
	return cmocka_run_group_tests_name("rules", tests, NULL, NULL);
}
