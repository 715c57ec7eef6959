// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test-event-trigger.c - trigger files: what a kernel 6.1 answered to each write, as it was
 * captured there, and when triggers act.
 */
#include "tests/unit/trigger-owner.h"

#define CAPTURE "tests/data/tracefs-6.1/trigger-files.txt"
#define AVAILABLE                                                                                  \
	"# Available triggers:\n"                                                                  \
	"# traceon traceoff snapshot stacktrace enable_event disable_event enable_hist "           \
	"disable_hist hist\n"

static const struct made_switch_record record = {.pid = 5, .prev_pid = 1, .next_pid = 7};

static void hit(struct trigger_owner *o, unsigned int n)
{
	struct event_data data = made_data(&record, sizeof(record));

	while (n--)
		owner_hit(o, OWNER_SWITCH, &data);
}

/* --- what was captured ------------------------------------------------------------------------ */

/* The one of the guest's events that is not made here. */
static void rename_event(char text[512])
{
	static const char was[] = "irq:irq_handler_entry";
	char *at = strstr(text, was), *rest;

	if (!at)
		return;
	rest = strdup(at + strlen(was));
	assert_non_null(rest);
	snprintf(at, 512 - (size_t)(at - text), "made:any%s", rest);
	free(rest);
}

/* $ echo 'TEXT' > trigger, and behind it what the write gave. */
static void replay_write(struct trigger_owner *o, const char *echo, const char *result)
{
	char text[512], *end;
	const char *at;
	long want;
	ssize_t got;

	snprintf(text, sizeof(text), "%s", echo + strlen("$ echo '"));
	end = strrchr(text, '\'');
	assert_non_null(end);
	*end = '\0';
	at = strstr(result, ") = ");
	assert_non_null(at);
	want = strtol(at + 4, NULL, 10);
	if (want == -1)
		want = -strtol(strchr(at, '(') + 1, NULL, 10);
	if (want > 0) {
		assert_int_equal(want, strlen(text));
		rename_event(text);
		want = (long)strlen(text);
	}
	got = owner_write(o, OWNER_SWITCH, text);
	if (got != want)
		fail_msg("'%s' gives %zd, not %ld", text, got, want);
}

static void replay_text(FILE *file, char line[512], const char *until, char *buf, size_t size)
{
	size_t len = 0;

	*buf = '\0';
	while (fgets(line, 512, file) && strncmp(line, until, strlen(until)) != 0) {
		rename_event(line);
		len += (size_t)snprintf(buf + len, size - len, "%s", line);
	}
}

static void test_capture(void **state)
{
	FILE *file = fopen(CAPTURE, "r");
	char line[512], next[512], want[4096];
	struct trigger_owner o;
	unsigned int n = 0;

	(void)state;
	assert_non_null(file);
	owner_init(&o);
	owner_expect(&o, OWNER_SWITCH, AVAILABLE);
	o.ns = 3474692000;
	while (fgets(line, sizeof(line), file)) {
		if (!strncmp(line, "$ echo", 6)) {
			assert_non_null(fgets(next, sizeof(next), file));
			replay_write(&o, line, next);
			n++;
		} else if (!strcmp(line, "--- cat trigger:\n")) {
			hit(&o, 5);
			replay_text(file, line, "---", want, sizeof(want));
			owner_expect(&o, OWNER_SWITCH, want);
			assert_int_equal(o.stacks, 5);
			assert_int_equal(o.snapshots, 1);
			assert_false(o.event[OWNER_KMALLOC].soft_disabled);
			assert_true(o.event[OWNER_ANY].soft_disabled);
		} else if (!strcmp(line, "--- error_log:\n")) {
			replay_text(file, line, "$", want, sizeof(want));
			owner_expect_log(&o, want);
			assert_non_null(fgets(next, sizeof(next), file));
			replay_write(&o, line, next);
			n++;
		}
	}
	fclose(file);
	assert_int_equal(n, 27);
	owner_expect(&o, OWNER_SWITCH, AVAILABLE);
	owner_exit(&o);
}

/* --- what was not -------------------------------------------------------------------------------
 */

static const struct {
	const char *text;
	ssize_t done;
} writes[] = {
	{"", 0},
	{" ", -EINVAL},
	{"!", -EINVAL},
	{":", -EINVAL},
	{"  traceon  \n", 12},
	{"!traceoff:3 if prev_pid == 1", 28}, /* they are one kind */
	{"traceon:3x", -EINVAL},
	{"traceon:3:4", 11},
	{"!traceon", 8},
	{"traceon 3", 9},
	{"!traceon", 8},
	{"traceon if", -EINVAL},
	{"traceon when prev_pid", -EINVAL},
	{"traceon if prev_pid", -EINVAL},
	{"traceon if (prev_pid == 1", -ENOENT},
	{"enable_event", -EINVAL},
	{"enable_event:kmem", -EINVAL},
	{"enable_event:kmem:", -EINVAL},
	{"enable_event:kmem:kmalloc:", -EINVAL},
	{"enable_event:kmem:kmalloc:x", -EINVAL},
	{"enable_event if prev_pid == 1", -EINVAL},
	{"enable_event:kmem:kmalloc if prev_pid == 1", 42},
	{"disable_event:kmem:kmalloc", -EEXIST}, /* they are, too */
	{"disable_event:sched:sched_switch", 32},
	{"enable_hist:kmem:kmalloc", 24},
	{"disable_hist:kmem:kmalloc:5", -EEXIST},
	{"!disable_event:kmem:kmalloc", 27},
	{"!disable_event:kmem:kmalloc", 27},
	{"!disable_event:nosuch:kmalloc", -EINVAL},
	{"snapshot", -ENOMEM},
	{"!snapshot", 9},
};

static void test_writes(void **state)
{
	struct trigger_owner o;

	(void)state;
	owner_init(&o);
	o.no_snapshot = true;
	for (size_t i = 0; i < sizeof(writes) / sizeof(writes[0]); i++) {
		ssize_t got = owner_write(&o, OWNER_SWITCH, writes[i].text);

		if (got != writes[i].done)
			fail_msg("'%s' gives %zd, not %zd", writes[i].text, got, writes[i].done);
	}
	owner_expect(&o, OWNER_SWITCH,
		     "enable_hist:kmem:kmalloc:unlimited\n"
		     "disable_event:sched:sched_switch:unlimited\n");
	assert_int_equal(o.event[OWNER_SWITCH].soft_mode, 3);
	assert_int_equal(o.event[OWNER_KMALLOC].soft_mode, 1);
	event_triggers_truncate(o.event[OWNER_SWITCH].triggers);
	owner_expect(&o, OWNER_SWITCH, "disable_event:sched:sched_switch:unlimited\n");
	owner_exit(&o);
}

static void test_too_long(void **state)
{
	struct trigger_owner o;
	char text[4096];

	(void)state;
	owner_init(&o);
	snprintf(text, sizeof(text), "%-4095s", "traceon");
	assert_int_equal(event_triggers_write(o.event[0].triggers, text, 4096), -EINVAL);
	assert_int_equal(event_triggers_write(o.event[0].triggers, text, 4095), 4095);
	owner_exit(&o);
}

/* A count is only taken by what changes something. */
static void test_counts(void **state)
{
	struct trigger_owner o;

	(void)state;
	owner_init(&o);
	owner_write(&o, OWNER_SWITCH, "traceon:2");
	for (int i = 0; i < 4; i++) {
		o.on = i == 1;
		hit(&o, 1);
		assert_int_equal(o.on, i < 3);
	}
	owner_expect(&o, OWNER_SWITCH, "traceon:count=0\n");
	assert_int_equal(o.switched, 2);
	owner_write(&o, OWNER_SWITCH, "!traceon");
	owner_write(&o, OWNER_SWITCH, "enable_event:kmem:kmalloc:2");
	hit(&o, 3);
	owner_expect(&o, OWNER_SWITCH, "enable_event:kmem:kmalloc:count=1\n");
	o.event[OWNER_KMALLOC].soft_disabled = true;
	hit(&o, 3);
	assert_false(o.event[OWNER_KMALLOC].soft_disabled);
	o.event[OWNER_KMALLOC].soft_disabled = true;
	hit(&o, 3);
	assert_true(o.event[OWNER_KMALLOC].soft_disabled);
	owner_exit(&o);
}

static void test_filters(void **state)
{
	struct made_switch_record other = record;
	struct event_data data = made_data(&other, sizeof(other));
	struct trigger_owner o;

	(void)state;
	owner_init(&o);
	owner_write(&o, OWNER_SWITCH, "stacktrace:1 if  next_pid == 8");
	owner_write(&o, OWNER_SWITCH, "snapshot if next_pid == 8");
	hit(&o, 3);
	assert_int_equal(o.stacks + o.snapshots, 0);
	other.next_pid = 8;
	owner_hit(&o, OWNER_SWITCH, &data);
	owner_hit(&o, OWNER_SWITCH, &data);
	assert_int_equal(o.stacks, 1);
	assert_int_equal(o.snapshots, 2);
	owner_expect(&o, OWNER_SWITCH,
		     "snapshot:unlimited if next_pid == 8\n"
		     "stacktrace:count=0 if  next_pid == 8\n");
	owner_exit(&o);
}

/* traceoff waits until the record that sets it off is written; traceon does not. */
static void test_phases(void **state)
{
	struct event_data data = made_data(&record, sizeof(record));
	struct trigger_owner o;
	unsigned int pending;

	(void)state;
	owner_init(&o);
	owner_write(&o, OWNER_SWITCH, "traceon");
	assert_int_equal(event_triggers_hit(o.event[OWNER_SWITCH].triggers, &data), 0);
	assert_true(o.on);
	owner_write(&o, OWNER_SWITCH, "!traceon");
	owner_write(&o, OWNER_SWITCH, "traceoff");
	pending = event_triggers_hit(o.event[OWNER_SWITCH].triggers, &data);
	assert_int_not_equal(pending, 0);
	assert_true(o.on);
	event_triggers_post(o.event[OWNER_SWITCH].triggers, pending, &data);
	assert_false(o.on);
	owner_exit(&o);
}

/* Those of one event are all asked once the record is made, if any of them looks at it. */
static void test_looks(void **state)
{
	static const char *const looking[] = {"traceon if next_pid == 7", "traceoff", "stacktrace",
					      "hist:keys=next_pid"};
	static const char *const blind[] = {"snapshot", "enable_event:kmem:kmalloc"};

	(void)state;
	for (size_t i = 0; i < sizeof(looking) / sizeof(looking[0]); i++) {
		struct trigger_owner o;

		owner_init(&o);
		for (size_t k = 0; k < sizeof(blind) / sizeof(blind[0]); k++)
			owner_write(&o, OWNER_SWITCH, blind[k]);
		assert_false(event_triggers_look(o.event[OWNER_SWITCH].triggers));
		assert_int_equal(owner_write(&o, OWNER_SWITCH, looking[i]), strlen(looking[i]));
		assert_true(event_triggers_look(o.event[OWNER_SWITCH].triggers));
		owner_exit(&o);
	}
}

static void test_hist_switches(void **state)
{
	struct trigger_owner o;

	(void)state;
	owner_init(&o);
	owner_write(&o, OWNER_KMALLOC, "hist:keys=bytes_req:pause");
	owner_write(&o, OWNER_SWITCH, "enable_hist:kmem:kmalloc:1");
	hit(&o, 1);
	owner_expect(&o, OWNER_KMALLOC,
		     "hist:keys=bytes_req:vals=hitcount:sort=hitcount:size=2048 [active]\n");
	owner_expect(&o, OWNER_SWITCH, "enable_hist:kmem:kmalloc:count=0\n");
	owner_write(&o, OWNER_SWITCH, "!enable_hist:kmem:kmalloc");
	owner_write(&o, OWNER_SWITCH, "disable_hist:kmem:kmalloc");
	hit(&o, 1);
	owner_expect(&o, OWNER_KMALLOC,
		     "hist:keys=bytes_req:vals=hitcount:sort=hitcount:size=2048 [paused]\n");
	owner_exit(&o);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_capture),	 cmocka_unit_test(test_writes),
		cmocka_unit_test(test_too_long), cmocka_unit_test(test_counts),
		cmocka_unit_test(test_filters),	 cmocka_unit_test(test_phases),
		cmocka_unit_test(test_looks),	 cmocka_unit_test(test_hist_switches),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
