// SPDX-License-Identifier: GPL-2.0-or-later
/* test-guest-prints.c - what the guest writes into its own trace, with probes that are traps. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/unit/tramp-guest.h"
#include "tracer/instance/prints.h"
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

static void printed(uint64_t tsc, uint16_t type, const char *text)
{
	const struct trace_print_entry e = {
		.ent = {.type = type, .flags = 1, .preempt_count = 0x12, .pid = 42},
		.ip = FAKE_VA(FN_ALPHA + 4)};

	memcpy(fake_at(FAKE_VA(DATA)), &e, sizeof(e));
	memcpy(fake_at(FAKE_VA(DATA) + sizeof(e)), text, strlen(text) + 1);
	stop(tsc, FAKE_VA(DATA), sizeof(e) + strlen(text) + 1);
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
		TEST(they_are_in_the_trace),
		TEST(only_while_they_are_wanted),
		TEST(what_a_guest_makes_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
