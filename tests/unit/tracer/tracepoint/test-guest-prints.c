// SPDX-License-Identifier: GPL-2.0-or-later
/* test-guest-prints.c - what the guest writes into its own trace, with probes that are traps. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/unit/tramp-guest.h"
#include "tracer/core/lock.h"
#include "tracer/instance/prints.h"
#include "tracer/payload/event-ring.h"
#include "tracer/control/files.h"
#include "tracer/ring/entry.h"
#include "tracer/events/events.h"
#include "tracer/tracepoint/prints.h"
#include "tracer/instance/instance.h"
#include "tracer/record/record.h"
#include "tracer/collect/collect.h"
#include "tracer/instance/files.h"
#include "tracer/tracer.h"

enum {
	GLOBAL_TRACE = 0x5900,
	CALLS = 0x5a00, /* event_print and the others, 16 bytes each */
	DATA = 0x5b00,	/* what the guest has written */
	FN_EVENT_DATA = 0x2800,
	FN_COMMIT = 0x2900,
	FN_WRITER = 0x2a00,
	FN_PART = 0x2a80,
	FN_MARK = 0x2b00,
	PRINT_TYPE = 5, /* of event_print; the others follow */
};

static struct trace *t;

static void kernel_add_prints(void)
{
	static const char *const calls[] = {"event_print", "event_bprint", "event_bputs",
					    "event_raw_data"};
	/* mov %rdi,%rax; mov %rsi,%rcx; ret */
	static const uint8_t code[] = {0x48, 0x89, 0xf8, 0x48, 0x89, 0xf1, 0xc3};

	for (unsigned int i = 0; i < 4; i++) {
		fake_symbol(calls[i], FAKE_VA(CALLS + 16 * i), 'D');
		put(CALLS + 16 * i + 8, PRINT_TYPE + i, 4);
	}
	fake_field("trace_event_call.event.type", 8, 4);
	fake_symbol("global_trace", FAKE_VA(GLOBAL_TRACE), 'D');
	fake_field("trace_array.array_buffer.buffer", 16, 8);
	fake_field("trace_event_buffer.event", 8, 8);
	fake_field("trace_event_buffer.trace_file", 16, 8);
	fake_field("trace_event_buffer.entry", 24, 8);
	fake_symbol("trace_vbprintk", FAKE_VA(FN_WRITER), 't');
	fake_symbol("__trace_bprintk.constprop.0", FAKE_VA(FN_PART), 't');
	fake_symbol("tracing_mark_write", FAKE_VA(FN_MARK), 't');
	fake_symbol("ring_buffer_event_data", FAKE_VA(FN_EVENT_DATA), 'T');
	fake_symbol("ring_buffer_unlock_commit", FAKE_VA(FN_COMMIT), 'T');
	memcpy(fake_at(FAKE_VA(FN_EVENT_DATA)), code, sizeof(code));
	memcpy(fake_at(FAKE_VA(FN_COMMIT)), code, sizeof(code));
}

static int set_up(void **state)
{
	char err[256] = "";

	(void)state;
	tramp_kernel_make();
	kernel_add_prints();
	t = tramp_trace((struct trace_config){.engine = TRACE_ENGINE_TRAP});
	tramp_boot(t);
	t->m = (struct machine *)&fake;
	if (collect_open_events(t, err, sizeof(err)))
		fail_msg("%s", err);
	guest_prints_place(t);
	assert_true(t->prints->placed);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	trace_free(t);
	free(fake.ram);
	return 0;
}

static uint32_t wanted(unsigned int vcpu)
{
	uint32_t types;

	window_get_at(ctl_off(vcpu, CTL_PRINTS), &types, sizeof(types));
	return types;
}

/* What is written there is complete: the trap says so. */
static void stop(uint64_t tsc, uint64_t at, uint64_t len)
{
	const struct machine_trap *trap =
		fake_trap(tramp_window() + WINDOW_TEXT + trampoline_text(t)->print_trap);
	struct machine_regs regs = {.rsp = fake.now[0].rsp, .rdx = at, .rcx = len, .rflags = 0x202};
	struct machine_hit hit = {.tsc = tsc, .regs = &regs};

	assert_non_null(trap);
	assert_int_equal(trap->action, MACHINE_TRAP_SKIP);
	hit.va = trap->va;
	hit.cookie = trap->cookie;
	trace_trap(t, &hit);
}

static void printed_at(uint64_t tsc, uint16_t type, uint64_t ip, const char *text)
{
	const struct trace_print_entry e = {
		.ent = {.type = type, .flags = 1, .preempt_count = 0x12, .pid = 42}, .ip = ip};

	memcpy(fake_at(FAKE_VA(DATA)), &e, sizeof(e));
	memcpy(fake_at(FAKE_VA(DATA) + sizeof(e)), text, strlen(text) + 1);
	stop(tsc, FAKE_VA(DATA), sizeof(e) + strlen(text) + 1);
}

static void printed(uint64_t tsc, uint16_t type, const char *text)
{
	printed_at(tsc, type, FAKE_VA(FN_ALPHA + 4), text);
}

static void trace_is(const char *want)
{
	char *text;

	assert_int_equal(trace_detach(t), 0);
	assert_int_equal(fake.ntraps, 0);
	text = tramp_print(t);
	assert_string_equal(text, want);
	free(text);
}

static void they_are_in_the_trace(void **state)
{
	(void)state;
	assert_int_equal(wanted(0), 15u << PRINT_TYPE | PRINTS_STOP);
	printed(100, PRINT_TYPE, "one\n");
	printed(101, PRINT_TYPE, "two\n");
	trace_is("           <...>-42      [000] d..21          100: alpha: one\n"
		 "           <...>-42      [000] d..21          101: alpha: two\n");
}

/* From who calls trace_printk() on; what was written to trace_marker has none. */
static void with_their_stacks(void **state)
{
	struct instance *top = trace_top(t);
	uint64_t sp = fake.now[0].rsp + PRINT_TRAP_FRAME;
	const uint64_t caller = FAKE_VA(FN_BETA + 8);

	(void)state;
	memcpy(fake_at(sp), &caller, sizeof(caller));
	printed(100, PRINT_TYPE, "none\n");
	assert_int_equal(instance_set_option(top, OUTPUT_STACKTRACE, true), 0);
	printed(101, PRINT_TYPE, "one\n");
	printed_at(102, PRINT_TYPE, FAKE_VA(FN_MARK + 4), "marked\n");
	printed(103, PRINT_TYPE + 3, "raw");
	assert_int_equal(instance_set_option(top, OUTPUT_STACKTRACE, false), 0);
	printed(104, PRINT_TYPE, "none\n");
	trace_is("           <...>-42      [000] d..21          100: alpha: none\n"
		 "           <...>-42      [000] d..21          101: alpha: one\n"
		 "           <...>-42      [000] d..21          101: <stack trace>\n"
		 " => beta\n"
		 "           <...>-42      [000] d..21          102: tracing_mark_write: marked\n"
		 "           <...>-42      [000] d..21          103: # 81002004 buf: "
		 "ff ff ff ff 72 61 77 00\n"
		 "           <...>-42      [000] d..21          104: alpha: none\n");
}

/* The functions that have written it are left out, also in parts. */
static void stacks_begin_with_the_caller(void **state)
{
	const struct event_stack stack = {
		.n = 4,
		.ip = {FAKE_VA(FN_WRITER + 8), FAKE_VA(FN_PART + 8), FAKE_VA(FN_BETA + 8),
		       FAKE_VA(FN_WRITER + 9)},
	};
	const struct {
		struct trace_print_entry e;
		char text[8];
	} print = {{.ent = {.type = PRINT_TYPE, .pid = 42}, .ip = FAKE_VA(FN_ALPHA + 4)}, "one\n"};
	struct payload_record r = {.tsc = 100};
	struct instance *top = trace_top(t);

	(void)state;
	assert_int_equal(instance_set_option(top, OUTPUT_STACKTRACE, true), 0);
	r.event_len = sizeof(print);
	vcpu_lock(t, 0);
	guest_prints_collect(top, 0, &r, &print, &stack, 100);
	vcpu_unlock(t, 0);
	trace_is("           <...>-42      [000] .....          100: alpha: one\n"
		 "           <...>-42      [000] .....          100: <stack trace>\n"
		 " => beta\n"
		 " => trace_vbprintk\n");
}

static void only_while_they_are_wanted(void **state)
{
	struct instance *top = trace_top(t);

	(void)state;
	top->options &= ~(OUTPUT_PRINTK | OUTPUT_MARKERS);
	payload_control(t);
	assert_int_equal(wanted(0), 0);
	printed(100, PRINT_TYPE, "late\n"); /* the vCPU was there already */
	top->options |= OUTPUT_MARKERS;
	top->cpumask = 2;
	payload_control(t);
	assert_int_equal(wanted(0), 0);
	assert_int_equal(wanted(1), 1u << PRINT_TYPE | 8u << PRINT_TYPE | PRINTS_STOP);
	printed(101, PRINT_TYPE, "elsewhere\n");
	trace_is("");
}

static void what_a_guest_makes_up(void **state)
{
	(void)state;
	printed(100, PRINT_TYPE + 4, "of no such type\n");
	printed(100, 0, "nor of this one\n");
	for (uint64_t len = 0; len < sizeof(struct trace_print_entry); len++)
		stop(100, FAKE_VA(DATA), len);
	printed(101, PRINT_TYPE, "one\n");
	stop(102, FAKE_VA(DATA), EVENT_MAX + 1);
	stop(102, FAKE_VA(DATA), UINT64_MAX);
	stop(102, 0, 64);
	stop(102, UINT64_MAX - 7, 64);
	trace_is("           <...>-42      [000] d..21          101: alpha: one\n");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(they_are_in_the_trace),	    TEST(with_their_stacks),
		TEST(stacks_begin_with_the_caller), TEST(only_while_they_are_wanted),
		TEST(what_a_guest_makes_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
