// SPDX-License-Identifier: GPL-2.0-or-later
/* test-event-traps.c - events that the host records where the guest's own probes come by. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/unit/one-event.h"
#include "tests/unit/tramp-guest.h"
#include "tracer/events/registry.h"
#include "tracer/instance/instance.h"
#include "tracer/output/output.h"
#include "tracer/collect/collect.h"
#include "tracer/instance/events.h"
#include "tracer/payload/event-ring.h"
#include "tracer/tracepoint/traps.h"
#include "tracer/instance/files.h"
#include "tracer/tracer.h"

enum {
	FBUFFER = 0x5a00, /* a struct trace_event_buffer of vCPU 0 */
	OTHERS = 0x5b00,  /* and of vCPU 1 */
	FBUFFER_EVENT = 8,
	FBUFFER_FILE = 16,
	FBUFFER_ENTRY = 24,
};

struct record {
	uint16_t type;
	uint8_t flags, preempt_count;
	int32_t pid, value;
};

static struct trace *t;

/* As events_apply() does once the guest has been asked. */
static void event_on(bool on)
{
	struct instance *top = trace_top(t);

	t->trace_events->event_of[0] = 0;
	assert_int_equal(instance_events_get(top), 0);
	trace_writers_stop(t);
	top->events[0].on = on;
	instance_count_events(top);
	trace_writers_go(t);
}

static int set_up(void **state)
{
	char err[256] = "";

	(void)state;
	tramp_kernel_make();
	fake_field("trace_event_buffer.event", FBUFFER_EVENT, 8);
	fake_field("trace_event_buffer.trace_file", FBUFFER_FILE, 8);
	fake_field("trace_event_buffer.entry", FBUFFER_ENTRY, 8);
	fake.events = &one_event_list;
	t = tramp_trace((struct trace_config){.engine = TRACE_ENGINE_TRAP});
	tramp_boot(t);
	t->m = (struct machine *)&fake;
	if (collect_open_events(t, err, sizeof(err)))
		fail_msg("%s", err);
	assert_int_equal(event_traps_insert(t), 0);
	assert_int_equal(events_load(t->trace_events), 0);
	event_on(true);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	trace_free(t);
	free(fake.ram);
	return 0;
}

/* --- what its vCPUs do ----------------------------------------------------------------------- */

static void hit(unsigned int vcpu, uint64_t tsc, uint32_t offset, struct machine_regs regs)
{
	const struct machine_trap *trap = fake_trap(tramp_window() + WINDOW_TEXT + offset);
	struct machine_hit h = {.vcpu = vcpu, .tsc = tsc, .regs = &regs};

	assert_non_null(trap);
	assert_int_equal(trap->action, MACHINE_TRAP_SKIP);
	assert_int_equal(trap->pa, FAKE_WINDOW + WINDOW_TEXT + offset);
	h.va = trap->va;
	h.cookie = trap->cookie;
	regs.rip = trap->va + trap->size;
	regs.rsp = fake.now[vcpu].rsp;
	regs.rflags = 0x202;
	trace_trap(t, &h);
}

static uint64_t file_va(unsigned int nr)
{
	return tramp_window() + WINDOW_EVENT_FILES + nr * EVENT_FILE_SIZE;
}

/* What the guest's function returns: a place in the window, or 0. */
static uint64_t reserve_at(unsigned int vcpu, uint64_t tsc, uint64_t fbuffer, uint64_t file,
			   uint64_t len)
{
	put(fbuffer + FBUFFER_ENTRY, 0, 8);
	hit(vcpu, tsc, trampoline_text(t)->reserve_trap,
	    (struct machine_regs){.rdi = FAKE_VA(fbuffer), .rsi = file, .rdx = len});
	return get(FAKE_VA(fbuffer + FBUFFER_ENTRY));
}

static void commit_at(unsigned int vcpu, uint64_t fbuffer)
{
	hit(vcpu, 0, trampoline_text(t)->commit_trap,
	    (struct machine_regs){.rdi = FAKE_VA(fbuffer)});
}

/* As the probe fills it in; what the host knows better is wrong. */
static void fill(uint64_t entry, int32_t value)
{
	struct record r = {.type = 7, .flags = 0xff, .pid = -5, .value = value};

	window_put_at(entry - tramp_window(), &r, sizeof(r));
}

static uint64_t reserved(unsigned int vcpu, uint64_t tsc, uint64_t fbuffer, int32_t value)
{
	uint64_t entry = reserve_at(vcpu, tsc, fbuffer, file_va(0), sizeof(struct record));

	assert_int_not_equal(entry, 0);
	assert_int_equal(get(FAKE_VA(fbuffer + FBUFFER_EVENT)), entry - 4);
	assert_int_equal(get(FAKE_VA(fbuffer + FBUFFER_FILE)), file_va(0));
	fill(entry, value);
	return entry;
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

static void counts_are(uint64_t taken, uint64_t lost)
{
	struct trace_status st;

	trace_get_status(t, &st);
	assert_int_equal(st.staged, taken);
	assert_int_equal(st.staging_lost, lost);
	assert_int_equal(st.corrupt, 0);
}

/* --- tests ----------------------------------------------------------------------------------- */

/* Its time and its state are those of the first of the two hits. */
static void events_are_recorded(void **state)
{
	(void)state;
	put(PER_CPU_AREA + PCPU_COUNT, PREEMPT_NO_RESCHED | 2, 4);
	reserved(0, 100, FBUFFER, 42);
	put(PER_CPU_AREA + PCPU_COUNT, PREEMPT_NO_RESCHED, 4);
	commit_at(0, FBUFFER);
	counts_are(1, 0); /* by the hit itself */
	reserved(1, 101, OTHERS, 43);
	commit_at(1, OTHERS);
	trace_is("            cpu0-42      [000] ...2.          100: made: value=42\n"
		 "            cpu1-43      [001] .....          101: made: value=43\n");
}

/* An interrupt's come behind the one that it came into, and none before that is complete. */
static void order_is_that_of_the_beginnings(void **state)
{
	uint64_t first, second;

	(void)state;
	first = reserved(0, 100, FBUFFER, 1);
	second = reserved(0, 101, FBUFFER + 0x40, 2);
	assert_true(second - first >= sizeof(struct record));
	commit_at(0, FBUFFER + 0x40);
	reserved(0, 102, FBUFFER + 0x40, 3);
	commit_at(0, FBUFFER + 0x40);
	counts_are(0, 0);
	commit_at(0, FBUFFER);
	counts_are(3, 0);
	trace_is("            cpu0-42      [000] .....          100: made: value=1\n"
		 "            cpu0-42      [000] .....          101: made: value=2\n"
		 "            cpu0-42      [000] .....          102: made: value=3\n");
}

static void functions_are_beside_them(void **state)
{
	struct machine_regs regs = {.rsp = fake.now[0].rsp, .rflags = 0x202};
	struct machine_hit function = {.tsc = 101, .va = FAKE_VA(FN_ALPHA), .regs = &regs};

	(void)state;
	reserved(0, 100, FBUFFER, 1);
	commit_at(0, FBUFFER);
	function.cookie = fake_trap(function.va)->cookie;
	put(regs.rsp - FAKE_TEXT, FAKE_VA(FN_START_KERNEL + 0x10), 8);
	trace_trap(t, &function);
	reserved(0, 102, FBUFFER, 2);
	commit_at(0, FBUFFER);
	trace_is("            cpu0-42      [000] .....          100: made: value=1\n"
		 "            cpu0-42      [000] .....          101: alpha <-start_kernel\n"
		 "            cpu0-42      [000] .....          102: made: value=2\n");
}

static void nothing_that_nobody_wants(void **state)
{
	uint64_t va = tramp_window();

	(void)state;
	assert_int_equal(reserve_at(0, 100, FBUFFER, file_va(1), 8), 0);
	assert_int_equal(reserve_at(0, 100, FBUFFER, file_va(0) + 8, 8), 0);
	assert_int_equal(reserve_at(0, 100, FBUFFER, file_va(EVENT_FILES), 8), 0);
	assert_int_equal(reserve_at(0, 100, FBUFFER, va, 8), 0);
	assert_int_equal(reserve_at(0, 100, FBUFFER, FAKE_VA(FN_ALPHA), 8), 0);
	assert_int_equal(reserve_at(0, 100, FBUFFER, file_va(0), EVENT_MAX + 1), 0);
	assert_int_equal(reserve_at(0, 100, FBUFFER, file_va(0), UINT64_MAX), 0);
	event_on(false);
	assert_int_equal(reserve_at(0, 100, FBUFFER, file_va(0), 8), 0);
	trace_is("");
	counts_are(0, 0);
}

/* Whatever the guest has put there. */
static void senseless_arguments_harm_nobody(void **state)
{
	const uint32_t reserve = trampoline_text(t)->reserve_trap,
		       commit = trampoline_text(t)->commit_trap;
	const uint64_t places[] = {0, 1, FAKE_VA(FBUFFER) + 1, UINT64_MAX - 7, tramp_window()};
	uint64_t event;

	(void)state;
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		hit(0, 100, commit, (struct machine_regs){.rdi = places[i]});
		put(FBUFFER + FBUFFER_EVENT, places[i], 8);
		put(FBUFFER + FBUFFER_FILE, places[i], 8);
		commit_at(0, FBUFFER);
	}
	/* A room that is another vCPU's; one that nobody has. */
	reserved(1, 100, OTHERS, 1);
	event = get(FAKE_VA(OTHERS + FBUFFER_EVENT));
	put(FBUFFER + FBUFFER_EVENT, event, 8);
	commit_at(0, FBUFFER);
	put(FBUFFER + FBUFFER_EVENT, tramp_window() + WINDOW_RINGS - 4, 8);
	commit_at(0, FBUFFER);
	counts_are(0, 0);
	commit_at(1, OTHERS);
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]) - 1; i++)
		hit(0, 100, reserve,
		    (struct machine_regs){
			    .rdi = places[i], .rsi = file_va(0), .rdx = sizeof(struct record)});
	trace_is("            cpu1-43      [001] .....          100: made: value=1\n");
	counts_are(1, 0);
}

/* Each room is whole, whatever the counters say. */
static void rooms_go_around(void **state)
{
	struct payload_header h;
	uint64_t ring, head = UINT32_MAX - 5000;

	(void)state;
	window_get_at(WINDOW_HEADER, &h, sizeof(h));
	ring = tramp_window() + event_ring_at(&h, 0);
	window_put_at(ctl_off(0, CTL_EVENT_HEAD), &head, sizeof(head));
	for (unsigned int i = 0; i < 2000; i++) {
		uint64_t len = sizeof(struct record) + i * 37 % (EVENT_MAX - 100),
			 entry = reserve_at(0, i, FBUFFER, file_va(0), len);

		assert_in_range(entry - ring, EVENT_HEADER, h.event_ring_size - len);
		fill(entry, (int32_t)i);
		commit_at(0, FBUFFER);
		counts_are(i + 1, 0);
	}
	assert_int_equal(trace_detach(t), 0);
}

/* What has called the function that commits comes first. */
static void stacks_are_looked_at(void **state)
{
	static const uint8_t look = EVENT_STACK_CALL;

	(void)state;
	atomic_fetch_or(&trace_top(t)->options, OUTPUT_STACKTRACE);
	window_put_at(WINDOW_EVENT_FILES + EVENT_FILE_FLAGS, &look, sizeof(look));
	put(fake.now[0].rsp - FAKE_TEXT, FAKE_VA(FN_BETA + 0x10), 8);
	reserved(0, 100, FBUFFER, 1);
	commit_at(0, FBUFFER);
	trace_is("            cpu0-42      [000] .....          100: made: value=1\n"
		 "            cpu0-42      [000] .....          100: <stack trace>\n"
		 " => beta\n");
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(events_are_recorded),
		TEST(order_is_that_of_the_beginnings),
		TEST(functions_are_beside_them),
		TEST(nothing_that_nobody_wants),
		TEST(senseless_arguments_harm_nobody),
		TEST(rooms_go_around),
		TEST(stacks_are_looked_at),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
