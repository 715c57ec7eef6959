// SPDX-License-Identifier: GPL-2.0-or-later
/* test-collect.c - what becomes of records that the guest has made, and of calls that it claims. */
#include <fcntl.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tracer/internal.h"
#include "tests/unit/tramp-guest.h"
#include "tracer/ring/entry.h"
#include "tracer/instance/instance.h"
#include "tracer/record/record.h"
#include "tracer/instance/prints.h"
#include "tracer/payload/event-ring.h"
#include "tracer/instance/files.h"
#include "tracer/record/files.h"
#include "tracer/control/files.h"
#include "tracer/tracer.h"

static struct trace *t;

static int set_up(void **state)
{
	(void)state;
	tramp_kernel_make();
	t = tramp_started((struct trace_config){0});
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	trace_free(t);
	free(fake.ram);
	return 0;
}

static void trace_is(const char *want)
{
	char *text;

	assert_int_equal(trace_detach(t), 0);
	text = tramp_print(t);
	assert_string_equal(text, want);
	free(text);
}

static void counts_are(uint64_t taken, uint64_t lost, uint64_t corrupt)
{
	struct trace_status st;

	trace_get_status(t, &st);
	assert_int_equal(st.staged, taken);
	assert_int_equal(st.staging_lost, lost);
	assert_int_equal(st.corrupt, corrupt);
}

/* --- records -------------------------------------------------------------------------------- */

static void records_become_entries(void **state)
{
	const uint32_t none = PREEMPT_NO_RESCHED;

	(void)state;
	tramp_comm(0, 7, 7, "seven");
	tramp_function(0, 100, FN_ALPHA, none, 7);
	tramp_function(0, 101, FN_BETA, none | STATE_IRQS_OFF | 2, 7);
	tramp_function(0, 102, FN_ALPHA, STATE_NEED_RESCHED, 7);
	tramp_function(0, 103, FN_ALPHA, none | 0x10001, 7);	  /* hardirq */
	tramp_function(0, 104, FN_ALPHA, none | 0x100 | 0xff, 7); /* softirq, as deep as it gets */
	tramp_function(0, 105, FN_ALPHA, none | 0x100000, 7);	  /* NMI */
	tramp_function(0, 106, FN_ALPHA, none, 7 | 3u << RECORD_MIGRATE_SHIFT);
	tramp_function(0, 107, FN_ALPHA, none, RECORD_PID_MASK);
	trace_is("           seven-7       [000] .....          100: alpha <-start_kernel\n"
		 "           seven-7       [000] d..2.          101: beta <-start_kernel\n"
		 "           seven-7       [000] .N...          102: alpha <-start_kernel\n"
		 "           seven-7       [000] ..h1.          103: alpha <-start_kernel\n"
		 "           seven-7       [000] ..sf.          104: alpha <-start_kernel\n"
		 "           seven-7       [000] ..z..          105: alpha <-start_kernel\n"
		 "           seven-7       [000] ....3          106: alpha <-start_kernel\n"
		 "           <...>-4194303 [000] .....          107: alpha <-start_kernel\n");
	counts_are(9, 0, 0);
}

static void each_vcpu_has_its_own(void **state)
{
	(void)state;
	tramp_comm(0, 7, 7, "seven");
	tramp_comm(1, 8, 7, "eight");
	tramp_function(1, 100, FN_BETA, PREEMPT_NO_RESCHED, 8);
	tramp_function(0, 101, FN_ALPHA, PREEMPT_NO_RESCHED, 7);
	tramp_function(1, 102, FN_ALPHA, PREEMPT_NO_RESCHED, 8);
	trace_is("           eight-8       [001] .....          100: beta <-start_kernel\n"
		 "           seven-7       [000] .....          101: alpha <-start_kernel\n"
		 "           eight-8       [001] .....          102: alpha <-start_kernel\n");
	counts_are(5, 0, 0);
}

/* Collected and lost together are what the guest says it has made, whatever it has made. */
static void senseless_records_are_counted(void **state)
{
	struct payload_record r = {.ip = 1, .state = 9u << STATE_TYPE_SHIFT};
	uint64_t head;

	(void)state;
	tramp_record(0, r); /* a type that there is not */
	tramp_function(0, 100, FN_ALPHA, PREEMPT_NO_RESCHED, 7);
	window_get_at(ctl_off(1, CTL_HEAD), &head, sizeof(head));
	head += 1000000; /* more than a ring of records that are none */
	window_put_at(ctl_off(1, CTL_HEAD), &head, sizeof(head));
	trace_is("           <...>-7       [000] .....          100: alpha <-start_kernel\n");
	counts_are(2, 1000000, 0);
}

/* A pass of the collector's begins and ends while vCPU 1 makes two calls. */
static void collector_comes_by(void)
{
	for (int i = 0; i < 2; i++)
		tramp_call(1, FAKE_VA(FN_KPROBES + 3), FAKE_VA(STACK), 0);
}

/* An interrupt's records wait for the one that it came into, however short the time is then. */
static void late_records_keep_their_place(void **state)
{
	struct payload_record r = {.tsc = 100,
				   .ip = (uint32_t)FAKE_VA(FN_ALPHA),
				   .state = (uint32_t)PAYLOAD_FUNCTION << STATE_TYPE_SHIFT};
	unsigned int n = 0;
	uint64_t late;
	char *text;

	(void)state;
	late = tramp_reserve(0);
	for (int i = 0; i < 900; i++)
		tramp_function(0, 101 + (uint64_t)i, FN_BETA, PREEMPT_NO_RESCHED, 7);
	collector_comes_by();
	counts_are(0, 0, 0);
	tramp_write(0, late, r);
	assert_int_equal(trace_detach(t), 0);
	counts_are(901, 0, 0);
	text = tramp_print(t);
	assert_non_null(strstr(text, " 100: alpha"));
	assert_true(strstr(text, " 100: alpha") < strstr(text, " 101: beta"));
	for (const char *at = text; (at = strstr(at, ": beta")); at++)
		n++;
	assert_int_equal(n, 900);
	free(text);
}

/* --- in order ------------------------------------------------------------------------------- */

static struct instance_reader *pipe_open(void)
{
	struct instance_reader *r = instance_read_open(trace_top(t), ALL_VCPUS, true);

	assert_non_null(r);
	return r;
}

/* The times of the lines that a trace_pipe gives, now. */
static void pipe_gives(struct instance_reader *r, const char *want)
{
	char text[4096], times[256] = "";
	ssize_t n = instance_read(r, text, sizeof(text) - 1, 0);

	assert_in_range(n, 0, sizeof(text) - 1);
	text[n] = '\0';
	for (const char *at = text; (at = strstr(at, ": ")); at++) {
		const char *from = at;

		while (from > text && from[-1] >= '0' && from[-1] <= '9')
			from--;
		if (from < at && from[-1] == ' ')
			snprintf(times + strlen(times), sizeof(times) - strlen(times), "%.*s ",
				 (int)(at - from), from);
	}
	assert_string_equal(times, want);
}

static void events_come(void)
{
	assert_true(instance_wait(trace_top(t), ALL_VCPUS, TRAMP_LIMIT_MS));
}

static void function_at(unsigned int vcpu, uint64_t tsc)
{
	tramp_function(vcpu, tsc, FN_ALPHA, PREEMPT_NO_RESCHED, 7);
}

static void late_function_at(uint64_t n, uint64_t tsc)
{
	tramp_write(
		0, n,
		(struct payload_record){.tsc = tsc,
					.ip = (uint32_t)FAKE_VA(FN_ALPHA),
					.state = (uint32_t)PAYLOAD_FUNCTION << STATE_TYPE_SHIFT});
}

static bool was_taken(uint64_t records)
{
	struct trace_status st;

	trace_get_status(t, &st);
	return st.staged == records;
}

/* What is collected late was not overtaken by what another vCPU had recorded after it. */
static void pipes_do_not_go_back(void **state)
{
	struct instance_reader *pipe = pipe_open(), *one;
	uint64_t late;

	(void)state;
	function_at(1, 100);
	events_come();
	pipe_gives(pipe, "100 ");
	late = tramp_reserve(0);
	function_at(1, 300);
	tramp_wait(was_taken(2));
	collector_comes_by();
	collector_comes_by();
	assert_false(instance_has_events(trace_top(t), ALL_VCPUS));
	pipe_gives(pipe, "");
	late_function_at(late, 200);
	events_come();
	tramp_wait(was_taken(3) && instance_has_events(trace_top(t), ALL_VCPUS));
	collector_comes_by();
	collector_comes_by();
	pipe_gives(pipe, "200 300 ");

	/* One vCPU's own are always in order. */
	late = tramp_reserve(0);
	function_at(1, 500);
	one = instance_read_open(trace_top(t), 1, true);
	assert_non_null(one);
	assert_true(instance_wait(trace_top(t), 1, TRAMP_LIMIT_MS));
	pipe_gives(pipe, "");
	pipe_gives(one, "500 ");
	late_function_at(late, 400);
	events_come();
	pipe_gives(pipe, "400 ");
	instance_read_close(one);
	instance_read_close(pipe);
	assert_int_equal(trace_detach(t), 0);
}

/* There is nothing to wait for once it is off, or the trace is over. */
static void ends_show_everything(void **state)
{
	struct instance_reader *pipe = pipe_open();

	(void)state;
	tramp_reserve(0);
	function_at(1, 100);
	tramp_wait(was_taken(1));
	pipe_gives(pipe, "");
	instance_set_on(trace_top(t), false);
	pipe_gives(pipe, "100 ");
	instance_set_on(trace_top(t), true);
	function_at(1, 200);
	tramp_wait(was_taken(2));
	pipe_gives(pipe, "");
	assert_int_equal(trace_detach(t), 0);
	pipe_gives(pipe, "200 ");
	instance_read_close(pipe);
}

/* A clock whose numbers are smaller starts anew. */
static void any_clock_has_a_horizon(void **state)
{
	struct instance_reader *pipe = pipe_open();
	uint64_t late;

	(void)state;
	function_at(0, 1000000);
	function_at(1, 1000001);
	tramp_wait(was_taken(2));
	collector_comes_by();
	collector_comes_by();
	pipe_gives(pipe, "1000000 1000001 ");
	assert_int_equal(instance_set_clock(trace_top(t), "counter"), 0);
	late = tramp_reserve(0);
	function_at(1, 1000003);
	tramp_wait(was_taken(3));
	pipe_gives(pipe, "");
	late_function_at(late, 1000002);
	tramp_wait(was_taken(4));
	collector_comes_by();
	collector_comes_by();
	pipe_gives(pipe, "2 3 "); /* the buffers were cleared at 1 */
	instance_read_close(pipe);
	assert_int_equal(trace_detach(t), 0);
}

/* Who writes to trace_marker reads it at once, behind what the guest has recorded before. */
static void marks_are_there_at_once(void **state)
{
	struct instance_reader *pipe = pipe_open();
	char text[256];
	ssize_t n;

	(void)state;
	function_at(1, 100);
	assert_int_equal(instance_mark(trace_top(t), "mark", 4), 0);
	n = instance_read(pipe, text, sizeof(text) - 1, 0);
	assert_in_range(n, 1, sizeof(text) - 1);
	text[n] = '\0';
	assert_non_null(strstr(text, " 100: alpha"));
	assert_non_null(strstr(text, ": mark\n"));
	instance_read_close(pipe);
	assert_int_equal(trace_detach(t), 0);
}

/* A vCPU has stood in the midst of a record since before its function was left out. */
static void late_calls_go_by_the_filter(void **state)
{
	struct instance *top = trace_top(t);
	struct instance_reader *pipe = pipe_open();
	struct func_file *file;
	uint64_t late = tramp_reserve(0);

	(void)state;
	assert_int_equal(
		func_file_open(instance_functions(top), FUNC_FILTER, O_WRONLY | O_TRUNC, &file), 0);
	trace_change_begin(t);
	assert_int_equal(func_file_write(file, "beta\n", 5), 5);
	func_file_close(file);
	trace_change_end(t);
	late_function_at(late, 100);
	tramp_function(0, 101, FN_BETA, PREEMPT_NO_RESCHED, 7);
	trace_catch_up(t);
	pipe_gives(pipe, "101 ");
	instance_read_close(pipe);
	assert_int_equal(trace_detach(t), 0);
}

/* A task that calls exec has another name then. Nothing is asked of a guest that is idle. */
static void names_are_told_again(void **state)
{
	const uint64_t at = ctl_off(0, CTL_LAST_PID);
	uint32_t pid = 7;

	(void)state;
	window_put_at(at, &pid, sizeof(pid));
	collector_comes_by();
	collector_comes_by();
	window_get_at(at, &pid, sizeof(pid));
	assert_int_equal(pid, 7);
	function_at(0, 100);
	tramp_wait((window_get_at(at, &pid, sizeof(pid)), pid == UINT32_MAX));
	assert_int_equal(trace_detach(t), 0);
}

static void tasks_are(const char *cmdlines, const char *tgids)
{
	struct text out = {0};

	assert_int_equal(trace_detach(t), 0);
	trace_print_cmdlines(t, &out);
	text_putc(&out, '\0');
	assert_string_equal(out.buf, cmdlines);
	text_free(&out);
	out = (struct text){0};
	trace_print_tgids(t, &out);
	text_putc(&out, '\0');
	assert_string_equal(out.buf, tgids);
	text_free(&out);
}

static void tasks_come(void)
{
	tramp_comm(0, 9, 7, "nine");
	tramp_comm(0, 8, 7, "eight");
	function_at(0, 100);
	tramp_wait(was_taken(3));
}

static void names_are_noted_by_themselves(void **state)
{
	(void)state;
	tasks_come();
	tasks_are("9 nine\n8 eight\n", "");
}

static void groups_are_noted_by_themselves(void **state)
{
	(void)state;
	assert_int_equal(instance_set_option(trace_top(t), OUTPUT_RECORD_CMD, false), 0);
	assert_int_equal(instance_set_option(trace_top(t), OUTPUT_RECORD_TGID, true), 0);
	tasks_come();
	tasks_are("", "8 7\n9 7\n");
}

/* Whoever opens a file finds what the guest has recorded before. */
static void readers_catch_up(void **state)
{
	struct instance_reader *pipe = pipe_open();

	(void)state;
	for (uint64_t tsc = 100; tsc < 110; tsc++) {
		char want[16];

		function_at((unsigned int)(tsc % 2), tsc);
		trace_catch_up(t);
		snprintf(want, sizeof(want), "%" PRIu64 " ", tsc);
		pipe_gives(pipe, want);
	}
	instance_read_close(pipe);
	assert_int_equal(trace_detach(t), 0);
}

/* --- what the guest writes into its own trace ------------------------------------------------ */

/* Its data, of its own numbers of types, and the record of it. */
static void guest_wrote(uint64_t tsc, const void *data, uint32_t len)
{
	struct payload_header h;
	uint64_t at, next;

	window_get_at(WINDOW_HEADER, &h, sizeof(h));
	window_get_at(ctl_off(0, CTL_EVENT_HEAD), &at, sizeof(at));
	next = at + ((EVENT_HEADER + (uint64_t)len + 7) & ~UINT64_C(7));
	window_put_at(event_ring_at(&h, 0) + at + EVENT_HEADER, data, len);
	window_put_at(ctl_off(0, CTL_EVENT_HEAD), &next, sizeof(next));
	tramp_record(0, (struct payload_record){.event_tsc = tsc,
						.event_at = (uint32_t)at,
						.event_file = EVENT_FILE_PRINTS,
						.event_len = len,
						.event_task = 7,
						.state = PAYLOAD_EVENT << STATE_TYPE_SHIFT});
}

static void guest_printed(uint64_t tsc, uint16_t type, const char *text)
{
	struct {
		struct trace_print_entry e;
		char text[64];
	} p = {.e = {.ent = {.type = type, .flags = 1, .preempt_count = 0x12, .pid = 7},
		     .ip = FAKE_VA(FN_ALPHA + 4)}};

	strncpy(p.text, text, sizeof(p.text) - 1);
	guest_wrote(tsc, &p, (uint32_t)(sizeof(p.e) + strlen(text) + 1));
}

/* As the payload is told what is wanted of vCPU 0. */
static uint32_t wanted_prints(void)
{
	uint32_t types;

	window_get_at(ctl_off(0, CTL_PRINTS), &types, sizeof(types));
	return types;
}

enum { GUEST_PRINT = 5, GUEST_BPRINT = 6, GUEST_BPUTS = 15, GUEST_RAW = 19 };

static void prints_begin(void)
{
	*t->prints = (struct guest_prints){
		.type = {GUEST_PRINT, GUEST_BPRINT, GUEST_BPUTS, GUEST_RAW}, .placed = true};
	tramp_comm(0, 7, 7, "seven");
}

static void guest_prints_become_entries(void **state)
{
	const struct trace_raw_data_entry raw = {.ent = {.type = GUEST_RAW, .pid = 7}, .id = 0xab};
	uint8_t with_data[sizeof(raw) + 4] = {0};

	(void)state;
	prints_begin();
	memcpy(with_data, &raw, sizeof(raw));
	for (uint8_t i = 0; i < 4; i++)
		with_data[sizeof(raw) + i] = i + 1;
	guest_printed(100, GUEST_PRINT, "one\n");
	tramp_function(0, 101, FN_BETA, PREEMPT_NO_RESCHED, 7);
	guest_wrote(102, with_data, sizeof(with_data));
	trace_is("           seven-7       [000] d..21          100: alpha: one\n"
		 "           seven-7       [000] .....          101: beta <-start_kernel\n"
		 "           seven-7       [000] .....          102: # ab buf: 01 02 03 04\n");
}

/* A guest can say what it likes. */
static void senseless_prints_are_left_out(void **state)
{
	const struct trace_entry ent = {.type = GUEST_PRINT, .pid = 7};

	(void)state;
	prints_begin();
	guest_printed(100, TRACE_FN, "of no such type\n");
	guest_printed(101, 0xffff, "nor of this one\n");
	guest_wrote(102, &ent, sizeof(ent)); /* too short */
	guest_wrote(103, &ent, 2);
	guest_wrote(104, &ent, 0);
	guest_printed(105, GUEST_PRINT, "\n");
	trace_is("           seven-7       [000] d..21          105: alpha: \n");
}

static void options_say_which_prints_are_wanted(void **state)
{
	struct instance *top = trace_top(t);
	const uint32_t trace_printk = 1u << GUEST_BPRINT | 1u << GUEST_BPUTS;

	(void)state;
	prints_begin();
	assert_int_equal(wanted_prints(), 0); /* they were not placed */
	payload_control(t);
	assert_int_equal(wanted_prints(), trace_printk | 1u << GUEST_PRINT | 1u << GUEST_RAW);
	assert_int_equal(instance_set_option(top, OUTPUT_MARKERS, false), 0);
	assert_int_equal(wanted_prints(), trace_printk | 1u << GUEST_PRINT);
	assert_int_equal(instance_set_option(top, OUTPUT_PRINTK, false), 0);
	assert_int_equal(wanted_prints(), 0);
	guest_printed(100, GUEST_PRINT, "unwanted\n");
	assert_int_equal(instance_set_option(top, OUTPUT_MARKERS, true), 0);
	assert_int_equal(wanted_prints(), 1u << GUEST_PRINT | 1u << GUEST_RAW);
	instance_set_on(top, false);
	assert_int_equal(wanted_prints(), 0);
	assert_int_equal(trace_detach(t), 0);
}

/* --- calls ---------------------------------------------------------------------------------- */

static void calls_that_cannot_be_are_answered(void **state)
{
	uint64_t sp = FAKE_VA(STACK + 0x3f00), alpha = tramp_target(FN_ALPHA), at = tramp_window();
	struct trampoline *tramp = t->tramp;

	(void)state;
	tramp_call(0, FAKE_VA(FN_KPROBES + 3), sp, 0);	       /* no site */
	tramp_call(0, 0, sp, 0);			       /* nothing at all */
	tramp_call(0, FAKE_VA(FN_SCHEDULE), sp, 0);	       /* a site without a probe */
	tramp_call(1, FAKE_VA(FN_FTRACE_INIT), sp, 0);	       /* where the trace acted once */
	tramp_call(1, FAKE_VA(FN_START_KERNEL + 0x50), sp, 0); /* and where it waited */
	assert_ptr_equal(t->tramp, tramp);
	assert_int_equal(tramp_window(), at);
	assert_int_equal(tramp_target(FN_ALPHA), alpha);
	trace_is("");
	counts_are(0, 0, 0);
}

/* The state of a vCPU that claims a call is read where it says; a stack that is none has no caller.
 */
static void calls_with_any_stack_are_answered(void **state)
{
	static const uint64_t sps[] = {0,
				       8,
				       UINT64_MAX,
				       UINT64_MAX - 7,
				       UINT64_C(1) << 63,
				       FAKE_VA(FAKE_RAM - FAKE_PA) - 1};

	(void)state;
	put(PER_CPU_AREA + PCPU_COUNT, COUNT_NONE + 1u, 4);
	for (size_t i = 0; i < sizeof(sps) / sizeof(sps[0]); i++)
		tramp_call(0, FAKE_VA(FN_MUTEX_LOCK), sps[i], t->life->text_lock.mutex + 8);
	assert_true(tramp_target(FN_ALPHA));
	trace_is("");
}

/* The vCPU has lost its patience: what it wanted is not done any more. */
static void calls_taken_back_are_not_served(void **state)
{
	static const uint32_t states[] = {PAYLOAD_CALL_NONE, PAYLOAD_CALL_FILLING,
					  PAYLOAD_CALL_TAKEN, PAYLOAD_CALL_DONE, 0xdeadbeef};

	(void)state;
	for (size_t i = 0; i < sizeof(states) / sizeof(states[0]); i++) {
		window_put_at(ctl_off(0, CTL_CALL), &states[i], sizeof(states[i]));
		collector_comes_by();
		assert_int_equal(tramp_call_state(0), states[i]);
	}
	trace_is("");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(records_become_entries, set_up, tear_down),
		cmocka_unit_test_setup_teardown(each_vcpu_has_its_own, set_up, tear_down),
		cmocka_unit_test_setup_teardown(senseless_records_are_counted, set_up, tear_down),
		cmocka_unit_test_setup_teardown(late_records_keep_their_place, set_up, tear_down),
		cmocka_unit_test_setup_teardown(pipes_do_not_go_back, set_up, tear_down),
		cmocka_unit_test_setup_teardown(ends_show_everything, set_up, tear_down),
		cmocka_unit_test_setup_teardown(any_clock_has_a_horizon, set_up, tear_down),
		cmocka_unit_test_setup_teardown(marks_are_there_at_once, set_up, tear_down),
		cmocka_unit_test_setup_teardown(late_calls_go_by_the_filter, set_up, tear_down),
		cmocka_unit_test_setup_teardown(names_are_told_again, set_up, tear_down),
		cmocka_unit_test_setup_teardown(names_are_noted_by_themselves, set_up, tear_down),
		cmocka_unit_test_setup_teardown(groups_are_noted_by_themselves, set_up, tear_down),
		cmocka_unit_test_setup_teardown(readers_catch_up, set_up, tear_down),
		cmocka_unit_test_setup_teardown(guest_prints_become_entries, set_up, tear_down),
		cmocka_unit_test_setup_teardown(senseless_prints_are_left_out, set_up, tear_down),
		cmocka_unit_test_setup_teardown(options_say_which_prints_are_wanted, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(calls_that_cannot_be_are_answered, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(calls_with_any_stack_are_answered, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(calls_taken_back_are_not_served, set_up, tear_down),
	};

	return cmocka_run_group_tests_name("collect", tests, NULL, NULL);
}
