// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test-hist-vars.c - variables, expressions and actions of histograms: the wakeup latency of the
 * kernel's documentation with records whose latencies are known, texts as kernel 6.1 has them.
 */
#include "tests/unit/trigger-owner.h"

#define WAKING_HIST "hist:keys=pid:ts0=common_timestamp.usecs"
#define SWITCH_HIST                                                                                \
	"hist:keys=next_pid:wakeup_lat=common_timestamp.usecs-$ts0:"                               \
	"onmatch(sched.sched_waking).wakeup_latency($wakeup_lat,next_pid,next_comm)"
#define LATENCY "wakeup_latency u64 lat; pid_t pid; char comm[16]"

static struct trigger_owner owner;

static int set_up(void **state)
{
	(void)state;
	owner_init(&owner);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	owner_exit(&owner);
	return 0;
}

static void write_ok(int event, const char *text)
{
	ssize_t ret = owner_write(&owner, event, text);

	if (ret != (ssize_t)strlen(text)) {
		struct text log = {0};

		error_log_print(owner.log, &log);
		fail_msg("%s: %zd\n%.*s", text, ret, (int)log.len, log.buf);
	}
}

static void wakes(int32_t pid, uint64_t us)
{
	struct made_waking_record r = {.pid = 7, .woken = pid, .prio = 120, .comm = "gt"};
	struct event_data data = made_data(&r, sizeof(r));

	data.time = us * 1000;
	data.time_is_ns = true;
	owner_hit(&owner, OWNER_WAKING, &data);
}

static void runs(int32_t pid, uint64_t us, const char *comm)
{
	struct made_switch_record r = {.next_pid = pid, .prev_pid = 3, .next_prio = 120};
	struct event_data data = made_data(&r, sizeof(r));

	snprintf(r.next_comm, sizeof(r.next_comm), "%s", comm);
	data.time = us * 1000;
	data.time_is_ns = true;
	data.comm = "previous";
	owner_hit(&owner, OWNER_SWITCH, &data);
}

static void expect_hist(int event, const char *want)
{
	char *got = owner_read(event_triggers_print_hist, &owner, event);

	assert_string_equal(got, want);
	free(got);
}

/* What the last record of wakeup_latency says. */
static void expect_latency(uint64_t lat, int32_t pid, const char *comm)
{
	struct {
		uint64_t head, lat;
		int32_t pid, pad;
		char comm[256];
	} r;

	assert_int_equal(owner.made_len, sizeof(r));
	memcpy(&r, owner.made, sizeof(r));
	assert_int_equal(r.lat, lat);
	assert_int_equal(r.pid, pid);
	assert_string_equal(r.comm, comm);
}

/* control/synthetic-events-wakeup_latency.txt */
static void test_wakeup(void **state)
{
	(void)state;
	assert_int_equal(owner_define(&owner, LATENCY), 0);
	write_ok(OWNER_WAKING, WAKING_HIST " if comm==\"gt\"");
	write_ok(OWNER_SWITCH, SWITCH_HIST);
	owner_expect(&owner, OWNER_SWITCH,
		     "hist:keys=next_pid:vals=hitcount:wakeup_lat=common_timestamp.usecs-$ts0:"
		     "sort=hitcount:size=2048:clock=global:onmatch(sched.sched_waking)."
		     "wakeup_latency($wakeup_lat,next_pid,next_comm) [active]\n");
	owner_expect(&owner, OWNER_WAKING,
		     "hist:keys=pid:vals=hitcount:ts0=common_timestamp.usecs:sort=hitcount:"
		     "size=2048:clock=global if comm==\"gt\" [active]\n");
	assert_int_equal(owner.timestamps, 2);
	wakes(252, 1000);
	runs(251, 1001, "other");
	assert_int_equal(owner.nr_made, 0);
	runs(252, 1042, "gt");
	expect_latency(42, 252, "gt");
	runs(252, 1050, "gt"); /* it was not woken up again */
	assert_int_equal(owner.nr_made, 1);
	wakes(252, 2000);
	wakes(253, 2001);
	runs(253, 2002, "fifteen_chars__");
	expect_latency(1, 253, "fifteen_chars__");
	runs(252, 2103, "gt");
	expect_latency(103, 252, "gt");
	assert_int_equal(owner.nr_made, 3);
	expect_hist(OWNER_SWITCH,
		    "# event histogram\n#\n# trigger info: hist:keys=next_pid:vals=hitcount:"
		    "wakeup_lat=common_timestamp.usecs-$ts0:sort=hitcount:size=2048:clock=global:"
		    "onmatch(sched.sched_waking).wakeup_latency($wakeup_lat,next_pid,next_comm) "
		    "[active]\n#\n\n"
		    "{ next_pid:        253 } hitcount:          1\n"
		    "{ next_pid:        252 } hitcount:          2\n"
		    "\nTotals:\n    Hits: 3\n    Entries: 2\n    Dropped: 0\n");
	owner_expect_log(&owner, "");
}

/* The word trace, and what others refer to stays. */
static void test_trace_word(void **state)
{
	static const char with_trace[] = "hist:keys=next_pid:lat=common_timestamp.usecs-$ts0:"
					 "onmatch(sched.sched_waking).trace(wakeup_latency,$lat,"
					 "next_pid,sched.sched_switch.next_comm)";

	(void)state;
	assert_int_equal(owner_define(&owner, LATENCY), 0);
	write_ok(OWNER_WAKING, WAKING_HIST);
	write_ok(OWNER_SWITCH, with_trace);
	assert_int_equal(owner.synth->refs, 1);
	wakes(9, 10);
	runs(9, 15, "task");
	expect_latency(5, 9, "task");
	assert_int_equal(owner_write(&owner, OWNER_WAKING, "!" WAKING_HIST), -EBUSY);
	event_triggers_truncate(owner.event[OWNER_WAKING].triggers);
	assert_int_equal(owner.event[OWNER_WAKING].soft_mode, 1);
	write_ok(OWNER_SWITCH, "!hist:keys=next_pid:lat=common_timestamp.usecs-$ts0:"
			       "onmatch(sched.sched_waking).trace(wakeup_latency,$lat,"
			       "next_pid,sched.sched_switch.next_comm)");
	assert_int_equal(owner.synth->refs, 0);
	write_ok(OWNER_WAKING, "!" WAKING_HIST);
	assert_int_equal(owner.event[OWNER_WAKING].soft_mode, 0);
	assert_int_equal(owner.timestamps, 0);
}

/* A field of the event that is matched: another histogram is made there, and goes again. */
static void test_helper(void **state)
{
	static const char hist[] = "hist:keys=next_pid:lat=common_timestamp.usecs-$ts0:onmatch("
				   "sched.sched_waking).woken($lat,target_cpu,comm)";

	(void)state;
	assert_int_equal(owner_define(&owner, "woken u64 lat; int cpu; char comm[16]"), 0);
	write_ok(OWNER_WAKING, WAKING_HIST " if prio < 200");
	write_ok(OWNER_SWITCH, hist);
	owner_expect(&owner, OWNER_WAKING,
		     "hist:keys=pid:vals=hitcount:ts0=common_timestamp.usecs:sort=hitcount:"
		     "size=2048:clock=global if prio < 200 [active]\n"
		     "hist:keys=pid:vals=hitcount:synthetic_target_cpu=target_cpu:sort=hitcount:"
		     "size=2048 if prio < 200 [active]\n"
		     "hist:keys=pid:vals=hitcount:synthetic_comm=comm:sort=hitcount:"
		     "size=2048 if prio < 200 [active]\n");
	wakes(9, 10);
	runs(9, 15, "task");
	assert_int_equal(owner.nr_made, 1);
	assert_string_equal((char *)owner.made + 24, "gt"); /* of who wakes up */
	event_triggers_truncate(owner.event[OWNER_SWITCH].triggers);
	owner_expect(&owner, OWNER_WAKING,
		     "hist:keys=pid:vals=hitcount:ts0=common_timestamp.usecs:sort=hitcount:"
		     "size=2048:clock=global if prio < 200 [active]\n");
}

/* control/snapshot-and-onmax-actions.txt */
static void test_onmax(void **state)
{
	(void)state;
	write_ok(OWNER_WAKING, WAKING_HIST);
	write_ok(OWNER_SWITCH,
		 "hist:keys=next_pid:wl=common_timestamp.usecs-$ts0:"
		 "onmax($wl).save(next_prio,next_comm,prev_pid):onmax($wl).snapshot()");
	wakes(9, 10);
	runs(9, 15, "first");
	assert_int_equal(owner.snapshots, 1);
	wakes(9, 20);
	runs(9, 22, "second");
	assert_int_equal(owner.snapshots, 1);
	wakes(8, 30);
	runs(8, 37, "third");
	assert_int_equal(owner.snapshots, 2);
	expect_hist(OWNER_SWITCH,
		    "# event histogram\n#\n# trigger info: hist:keys=next_pid:vals=hitcount:"
		    "wl=common_timestamp.usecs-$ts0:sort=hitcount:size=2048:clock=global:"
		    "onmax($wl).save(next_prio,next_comm,prev_pid):onmax($wl).snapshot() "
		    "[active]\n#\n\n"
		    "{ next_pid:          8 } hitcount:          1\n"
		    "\tmax:          7  next_prio:        120  "
		    "next_comm: third                             prev_pid:          3\n"
		    "{ next_pid:          9 } hitcount:          2\n"
		    "\tmax:          5  next_prio:        120  "
		    "next_comm: first                             prev_pid:          3\n"
		    "\nSnapshot taken (see tracing/snapshot).  Details:\n"
		    "\ttriggering value { onmax($wl) }:          7\ttriggered by event with key: "
		    "{ next_pid:          8 }\n"
		    "\nTotals:\n    Hits: 3\n    Entries: 2\n    Dropped: 0\n");
	/* There is one for each instance. */
	assert_int_equal(
		owner_write(&owner, OWNER_KMALLOC, "hist:keys=ptr:n=node:onchange($n).snapshot()"),
		-EBUSY);
	write_ok(OWNER_SWITCH,
		 "!hist:keys=next_pid:wl=common_timestamp.usecs-$ts0:"
		 "onmax($wl).save(next_prio,next_comm,prev_pid):onmax($wl).snapshot()");
	write_ok(OWNER_KMALLOC, "hist:keys=ptr:n=node:onchange($n).snapshot()");
}

static void allocates(uint64_t ptr, uint64_t bytes_req, int32_t node)
{
	struct made_kmalloc_record r = {
		.pid = 5, .ptr = ptr, .bytes_req = bytes_req, .bytes_alloc = 64, .node = node};
	struct event_data data = made_data(&r, sizeof(r));

	data.comm = "mallocer";
	owner_hit(&owner, OWNER_KMALLOC, &data);
}

static void test_onchange(void **state)
{
	(void)state;
	assert_int_equal(owner_define(&owner, "changed u64 to; char comm[]"), 0);
	write_ok(OWNER_KMALLOC, "hist:keys=ptr:b=bytes_req,who=common_pid.execname:"
				"onchange($b).trace(changed,$b,$who)");
	owner_expect(&owner, OWNER_KMALLOC,
		     "hist:keys=ptr:vals=hitcount:b=bytes_req,who=common_pid.execname:"
		     "sort=hitcount:size=2048:onchange($b).trace(changed,$b,$who) [active]\n");
	allocates(1, 8, 0);
	allocates(1, 8, 0);
	assert_int_equal(owner.nr_made, 1);
	allocates(1, 7, 0);
	assert_int_equal(owner.nr_made, 2);
	assert_int_equal(owner.made_len, 24 + sizeof("mallocer"));
	assert_int_equal(owner.made[8], 7);
	assert_int_equal(owner.made[16], 24); /* where its text is, and how long */
	assert_int_equal(owner.made[18], sizeof("mallocer"));
	assert_string_equal((char *)owner.made + 24, "mallocer");
	expect_hist(OWNER_KMALLOC,
		    "# event histogram\n#\n# trigger info: hist:keys=ptr:vals=hitcount:"
		    "b=bytes_req,who=common_pid.execname:sort=hitcount:size=2048:"
		    "onchange($b).trace(changed,$b,$who) [active]\n#\n\n"
		    "{ ptr:          1 } hitcount:          3\n\tchanged:          7\n"
		    "\nTotals:\n    Hits: 3\n    Entries: 1\n    Dropped: 0\n");
}

/* What an expression makes of bytes_req 10 and node 3. */
static void expect_result_of(const char *expr, uint64_t want, const char *shown)
{
	struct text hist = {0}, line = {0};
	uint64_t got;

	text_printf(&hist, "hist:keys=ptr:x=%s:onmax($x).out($x)", expr);
	text_putc(&hist, '\0');
	text_printf(&line,
		    "hist:keys=ptr:vals=hitcount:x=%s:sort=hitcount:size=2048:"
		    "onmax($x).out($x) [active]\n",
		    shown);
	text_putc(&line, '\0');
	write_ok(OWNER_KMALLOC, hist.buf);
	owner_expect(&owner, OWNER_KMALLOC, line.buf);
	allocates(1, 10, 3);
	memcpy(&got, owner.made + 8, sizeof(got));
	assert_int_equal(got, want);
	event_triggers_truncate(owner.event[OWNER_KMALLOC].triggers);
	text_free(&hist);
	text_free(&line);
}

static void test_expressions(void **state)
{
	static const struct {
		const char *expr;
		uint64_t value;
		const char *shown; /* NULL: as it is written */
	} cases[] = {
		{"bytes_req", 10, NULL},
		{"bytes_req+node", 13, NULL},
		{"bytes_req-node-1", 6, NULL},
		{"bytes_req*node", 30, NULL},
		{"bytes_alloc/bytes_req", 6, NULL},
		{"bytes_req/4", 2, NULL},
		{"bytes_req/3", 4, NULL}, /* the kernel's own way of dividing */
		{"bytes_req/9-1", 1, NULL},
		{"bytes_req-bytes_alloc/8", 2, NULL},
		{"64/8/4/2", 1, "1"},
		{"7*3+1", 22, "22"},
		{"-(bytes_req)", (uint64_t)-10, NULL},
		{"-(bytes_req+node)", (uint64_t)-13, NULL},
		{"bytes_req.hex+1", 11, NULL},
		{"0x10", 16, "16"},
	};

	(void)state;
	assert_int_equal(owner_define(&owner, "out u64 x"), 0);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		expect_result_of(cases[i].expr, cases[i].value,
				 cases[i].shown ? cases[i].shown : cases[i].expr);
}

/* Values of other histograms, under names of one's own, in sums and in names. */
static void test_references(void **state)
{
	(void)state;
	write_ok(OWNER_WAKING, "hist:keys=pid:p=prio,t=target_cpu");
	write_ok(OWNER_SWITCH,
		 "hist:keys=next_pid:vals=$p,sched.sched_waking.$t:q=$p:sort=next_pid");
	owner_expect(&owner, OWNER_SWITCH,
		     "hist:keys=next_pid:vals=hitcount,$p,$sched.sched_waking.t:q=$p:"
		     "sort=next_pid:size=2048 [active]\n");
	wakes(4, 1);
	runs(4, 2, "x");
	runs(4, 3, "x");
	runs(5, 4, "x");
	expect_hist(OWNER_SWITCH,
		    "# event histogram\n#\n# trigger info: hist:keys=next_pid:vals=hitcount,$p,"
		    "$sched.sched_waking.t:q=$p:sort=next_pid:size=2048 [active]\n#\n\n"
		    "{ next_pid:          4 } hitcount:          2  p:        240  "
		    "sched.sched_waking.t:          0\n"
		    "\nTotals:\n    Hits: 2\n    Entries: 1\n    Dropped: 0\n");
}

static const struct wrong {
	int event, err;
	const char *text, *what, *part;
} wrongs[] = {
	{OWNER_WAKING, -EINVAL, "hist:keys=pid:ts0=prio", "Variable already defined", "ts0"},
	{OWNER_WAKING, -EINVAL, "hist:keys=pid:a=prio,a=pid", "Variable already defined", "a="},
	{OWNER_WAKING, -EINVAL, "hist:keys=pid:a=prio,b", "Malformed assignment", "b"},
	{OWNER_SWITCH, -EINVAL, "hist:keys=next_pid:x=$none", "Couldn't find field", "$none"},
	{OWNER_SWITCH, -EINVAL, "hist:keys=common_timestamp.usecs-$ts0",
	 "Using variable references in keys not supported", "common"},
	{OWNER_SWITCH, -EINVAL, "hist:keys=next_pid:x=common_timestamp-$ts0",
	 "Timestamp units in expression don't match", NULL},
	{OWNER_SWITCH, -EINVAL, "hist:keys=next_pid:x=next_comm-$ts0",
	 "String type can not be an operand in expression", "next_comm"},
	{OWNER_SWITCH, -EINVAL, "hist:keys=next_pid:x=1+2+3+4+5", "Too many subexpressions (3 max)",
	 "1"},
	{OWNER_SWITCH, -EINVAL, "hist:keys=next_pid:x=-(prev_pid)+1",
	 "Unary minus not supported in sub-expressions", "prev_pid"},
	{OWNER_SWITCH, -EINVAL, "hist:keys=next_pid:x=-prev_pid", NULL, NULL},
	{OWNER_SWITCH, -EINVAL, "hist:keys=next_pid:x=prev_pid+", NULL, NULL},
	{OWNER_SWITCH, -EDOM, "hist:keys=next_pid:x=prev_pid/0", "Division by zero", "0"},
	{OWNER_SWITCH, -EINVAL, "hist:keys=next_pid:x=7y", "Expecting numeric literal", "7y"},
	{OWNER_SWITCH, -EINVAL, "hist:keys=next_pid:x=prev_pid.log2", "Invalid field modifier",
	 "prev_pid.log2"},
	{OWNER_SWITCH, -EINVAL, "hist:keys=next_pid:onmatch(sched.sched_waking",
	 "No closing paren found", "sched.sched_waking"},
	{OWNER_SWITCH, -EINVAL, "hist:keys=next_pid:onmatch(sched_waking).x(pid)",
	 "Missing subsystem", "sched_waking"},
	{OWNER_SWITCH, -EINVAL, "hist:keys=next_pid:onmatch(sched.none).x(pid)",
	 "Invalid subsystem or event name", "none"},
	{OWNER_SWITCH, -EINVAL, "hist:keys=next_pid:onmatch(sched.sched_waking)", "No action found",
	 NULL},
	{OWNER_SWITCH, -EINVAL, "hist:keys=next_pid:onmatch(sched.sched_waking).none(pid)",
	 "Couldn't find synthetic event", "none"},
	{OWNER_SWITCH, -EINVAL, "hist:keys=next_pid:onmatch(sched.sched_waking).save(pid)",
	 "Handler doesn't support action", "save"},
	{OWNER_SWITCH, -EINVAL, "hist:keys=next_pid:onmatch(sched.sched_waking).snapshot(",
	 "No closing paren found", NULL},
	{OWNER_SWITCH, -EINVAL,
	 "hist:keys=next_pid:onmatch(sched.sched_waking).wakeup_latency($no,next_pid,next_"
	 "comm)",
	 "Couldn't find param", "no,"},
	{OWNER_SWITCH, -EINVAL,
	 "hist:keys=next_pid:onmatch(sched.sched_waking).wakeup_latency($ts0,next_comm,next"
	 "_pid)",
	 "Param type doesn't match synthetic event field type", "next_comm"},
	{OWNER_SWITCH, -EINVAL,
	 "hist:keys=next_pid:onmatch(sched.sched_waking).wakeup_latency($ts0)",
	 "Param count doesn't match synthetic event field count", "wakeup_latency"},
	{OWNER_SWITCH, -EINVAL, "hist:keys=next_pid:onmatch(sched.sched_waking).wakeup_latency(x)",
	 "Invalid action param", "x"},
	{OWNER_SWITCH, -EINVAL, "hist:keys=next_pid:onmax(pid).save(prev_pid)",
	 "For onmax(x) or onchange(x), x must be a variable", "pid"},
	{OWNER_SWITCH, -EINVAL, "hist:keys=next_pid:onmax($ts9).save(prev_pid)",
	 "Couldn't find onmax or onchange variable", "ts9"},
	{OWNER_SWITCH, -EINVAL, "hist:keys=next_pid:x=prev_pid:onmax($x).save(zz)",
	 "Couldn't create field variable", "zz"},
	{OWNER_SWITCH, -EEXIST,
	 "hist:keys=next_pid:x=prev_pid:onmax($x).save(prev_prio):onmax($x).save(next_prio"
	 ")",
	 "Can't have more than one save() action per hist", NULL},
	{OWNER_SWITCH, -EINVAL,
	 "hist:keys=next_pid:onmatch(sched.sched_switch).wakeup_latency($ts0,nofield,next_"
	 "comm)",
	 "Couldn't find param", "ts0"},
	{OWNER_SWITCH, -EINVAL, "hist:keys=prev_comm:onmatch(sched.sched_waking).out(target_cpu)",
	 "Matching event histogram not found", "target_cpu"},
};

/* What is refused tells so in error_log, with the caret below the part. */
static void check_wrong(const struct wrong *w)
{
	const char *part = w->part ? strstr(w->text, w->part) : NULL;
	struct text got = {0}, want = {0};

	error_log_clear(owner.log);
	assert_int_equal(owner_write(&owner, w->event, w->text), w->err);
	error_log_print(owner.log, &got);
	text_putc(&got, '\0');
	if (w->what)
		text_printf(&want, "hist:sched:sched_%s: error: %s\n  Command: %s\n%*s^\n",
			    w->event == OWNER_SWITCH ? "switch" : "waking", w->what, w->text,
			    (int)(11 + (part ? part - w->text : 0)), "");
	text_putc(&want, '\0');
	if (!strstr(got.buf, want.buf))
		fail_msg("wanted:\n%sgot:\n%s", want.buf, got.buf);
	text_free(&got);
	text_free(&want);
}

static void test_errors(void **state)
{
	(void)state;
	assert_int_equal(owner_define(&owner, LATENCY), 0);
	assert_int_equal(owner_define(&owner, "out s32 cpu"), 0);
	write_ok(OWNER_WAKING, WAKING_HIST);
	for (size_t i = 0; i < sizeof(wrongs) / sizeof(wrongs[0]); i++)
		check_wrong(&wrongs[i]);
	event_triggers_clear(owner.event[OWNER_SWITCH].triggers);
	for (const struct synth_event *se = owner.synth; se; se = se->next)
		assert_int_equal(se->refs, 0);
}

/* Too many of anything are refused. */
static void test_limits(void **state)
{
	struct text hist = {0};

	(void)state;
	text_puts(&hist, "hist:keys=ptr:v0=node");
	for (int i = 1; i < 17; i++)
		text_printf(&hist, ":v%d=node", i);
	text_putc(&hist, '\0');
	assert_int_equal(owner_write(&owner, OWNER_KMALLOC, hist.buf), -EINVAL);
	*strrchr(hist.buf, ':') = '\0';
	write_ok(OWNER_KMALLOC, hist.buf);
	event_triggers_truncate(owner.event[OWNER_KMALLOC].triggers);
	/* All places are taken: there is none for the most so far. */
	hist.len = strlen(hist.buf);
	text_puts(&hist, ":onmax($v1).save(ptr)");
	text_putc(&hist, '\0');
	assert_int_equal(owner_write(&owner, OWNER_KMALLOC, hist.buf), -EINVAL);
	text_free(&hist);
}

/* One that others refer to can go with its event; they find nothing then. */
static void test_gone(void **state)
{
	(void)state;
	assert_int_equal(owner_define(&owner, LATENCY), 0);
	write_ok(OWNER_WAKING, WAKING_HIST);
	write_ok(OWNER_SWITCH, SWITCH_HIST);
	event_triggers_clear(owner.event[OWNER_WAKING].triggers);
	wakes(9, 10);
	runs(9, 15, "task");
	assert_int_equal(owner.nr_made, 0);
	write_ok(OWNER_WAKING, WAKING_HIST);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_wakeup, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_trace_word, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_helper, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_onmax, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_onchange, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_expressions, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_references, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_errors, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_limits, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_gone, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
