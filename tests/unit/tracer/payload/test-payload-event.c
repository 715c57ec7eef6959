// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test-payload-event.c - the payload in the place of trace_event_buffer_reserve() and _commit():
 * rooms of every size up to the ring's end, the records of them, files that are not ours.
 */
#include "tests/unit/payload-guest.h"

#include <x86intrin.h>

typedef void *(*reserve_fn)(struct guest_fbuffer *fbuffer, const void *file, unsigned long len);
typedef void *(*commit_fn)(struct guest_fbuffer *fbuffer);

static reserve_fn reserve_of(struct payload_guest *g)
{
	return (reserve_fn)(uintptr_t)(g->window + WINDOW_TEXT + g->text.reserve);
}

static commit_fn commit_of(struct payload_guest *g)
{
	return (commit_fn)(uintptr_t)(g->window + WINDOW_TEXT + g->text.commit);
}

static uint8_t *file_of(struct payload_guest *g, unsigned int nr)
{
	return g->window + WINDOW_EVENT_FILES + nr * EVENT_FILE_SIZE;
}

static uint8_t *events_of(struct payload_guest *g)
{
	return g->window + WINDOW_RINGS + 2 * GUEST_RING + GUEST_VCPU * GUEST_EVENTS;
}

static int setup(void **state)
{
	int ret = payload_guest_setup(state);
	struct payload_guest *g = *state;

	*ctl32(g, CTL_EVENTS) = 1;
	return ret;
}

static void test_event(void **state)
{
	struct payload_guest *g = *state;
	struct payload_record *r = &g->ring[0];
	struct guest_fbuffer fbuffer = {0};
	uint64_t before = __rdtsc();
	uint8_t *entry;

	g->task.migration_disabled = 1;
	g->task.flags = 1 << 3;
	entry = reserve_of(g)(&fbuffer, file_of(g, 5), 61);
	assert_ptr_equal(entry, events_of(g) + EVENT_HEADER);
	assert_ptr_equal(fbuffer.entry, entry);
	assert_ptr_equal(fbuffer.event, entry - 4);
	assert_ptr_equal(fbuffer.file, file_of(g, 5));
	assert_int_equal(*(uint32_t *)fbuffer.event & 31, EVENT_TYPE_LEN);
	assert_int_equal(*ctl64(g, CTL_HEAD), GUEST_LENGTH + 1);
	assert_int_equal(*ctl64(g, CTL_EVENT_HEAD), 72);
	assert_int_equal(r->seq, 0); /* not complete */
	memset(entry, 0xff, 61);
	commit_of(g)(&fbuffer);
	assert_int_equal(r->seq, GUEST_LENGTH);
	assert_true(r->tsc > before && r->tsc < __rdtsc());
	assert_int_equal(r->event_at, 0);
	assert_int_equal(r->event_file, 5 * EVENT_FILE_SIZE);
	assert_int_equal(r->event_len, 61);
	assert_int_equal(r->task, 1234 | 1 << RECORD_MIGRATE_SHIFT);
	assert_int_equal(r->state,
			 GUEST_PREEMPT | STATE_NEED_RESCHED | PAYLOAD_EVENT << STATE_TYPE_SHIFT);
	assert_int_equal(g->percpu.preempt_count, GUEST_PREEMPT);
}

/* --- copies of the stack --------------------------------------------------------------------- */

static const struct payload_stack *copy_of(uint8_t *entry, unsigned int len)
{
	return (const void *)(((uintptr_t)entry + len + 7) & ~(uintptr_t)7);
}

static void *reserve_with_copy(struct payload_guest *g, struct guest_fbuffer *fbuffer,
			       unsigned int len)
{
	file_of(g, 5)[EVENT_FILE_FLAGS] = EVENT_STACK_COPY;
	return reserve_of(g)(fbuffer, file_of(g, 5), len);
}

static __attribute__((noinline)) void copy_of_task_stack(struct payload_guest *g)
{
	struct guest_fbuffer fbuffer = {0};
	uint64_t here = (uintptr_t)__builtin_frame_address(0), end;
	const struct payload_stack *copy;
	uint8_t *entry;

	g->task.stack = here & ~(uint64_t)(GUEST_STACK - 1);
	end = g->task.stack + GUEST_STACK;
	entry = reserve_with_copy(g, &fbuffer, 61);
	memset(entry, 0xff, 61);
	commit_of(g)(&fbuffer);
	copy = copy_of(entry, 61);
	assert_int_equal(g->ring[0].event_file, 5 * EVENT_FILE_SIZE | 1);
	assert_int_equal(g->ring[0].event_len, 61);
	assert_int_equal(*ctl64(g, CTL_EVENT_HEAD), 72 + COPY_WORD + copy->n * 8);
	assert_true(copy->sp < here && here - copy->sp < 1024);
	assert_int_equal(copy->n, (end - copy->sp) / 8 < EVENT_COPY_WORDS ? (end - copy->sp) / 8
									  : EVENT_COPY_WORDS);
	/* The first word is where reserve() has returned to: in this test or what it calls. */
	assert_true(copy->word[0] - ((uintptr_t)copy_of_task_stack - 4096) < 8192);
	assert_int_equal(copy->task_n, 0);
	assert_int_equal(copy->task_sp, 0);
	/* What is farther up has not changed since. */
	for (uint64_t at = here; at < copy->sp + copy->n * 8ULL && at < here + 64; at += 8)
		if (at > (uintptr_t)&entry + 64)
			assert_int_equal(copy->word[(at - copy->sp) / 8], *(uint64_t *)at);
}

/* The same, farther down. Nothing of it is kept from being read by a sanitizer. */
static __attribute__((noinline, no_sanitize_address)) void
copy_of_lower_stack(struct payload_guest *g)
{
	volatile char room[GUEST_STACK / 2];

	room[0] = 0;
	copy_of_task_stack(g);
	(void)room[0];
}

/*
 * This thread's stack, as if that were the task's: a piece of it that is as long and aligned, with
 * room for what is called.
 */
static void test_copy_of_task_stack(void **state)
{
	if ((uintptr_t)__builtin_frame_address(0) % GUEST_STACK < GUEST_STACK / 2)
		copy_of_lower_stack(*state);
	else
		copy_of_task_stack(*state);
}

/* This thread's stack as the interrupts', with a task's somewhere else. */
static void test_copy_of_irq_stack(void **state)
{
	static _Alignas(GUEST_STACK) uint64_t task[GUEST_STACK / 8];
	struct payload_guest *g = *state;
	struct guest_fbuffer fbuffer = {0};
	volatile uint64_t top[2] = {0};
	const struct payload_stack *copy;
	uint8_t *entry;

	for (unsigned int i = 0; i < GUEST_STACK / 8; i++)
		task[i] = i;
	g->task.stack = (uintptr_t)task;
	top[0] = (uintptr_t)&task[GUEST_STACK / 8 - 50];
	g->percpu.irq_stack = (uint64_t *)(uintptr_t)&top[0];
	entry = reserve_with_copy(g, &fbuffer, 64);
	copy = copy_of(entry, 64);
	assert_true(copy->n > 0);
	if (copy->n < EVENT_COPY_WORDS)
		assert_int_equal(copy->word[copy->n - 1], top[0]);
	assert_int_equal(copy->task_sp, top[0]);
	assert_int_equal(copy->task_n, 50);
	for (unsigned int i = 0; i < 50; i++)
		assert_int_equal(copy->word[copy->n + i], GUEST_STACK / 8 - 50 + i);
	top[0] = (uintptr_t)task - 8; /* nonsense */
	copy = copy_of(reserve_with_copy(g, &fbuffer, 64), 64);
	assert_true(copy->n > 0);
	assert_int_equal(copy->task_n, 0);
	/* Another one, of which nothing is known. */
	g->percpu.irq_stack = &task[10];
	copy = copy_of(reserve_with_copy(g, &fbuffer, 64), 64);
	assert_int_equal(copy->n, 0);
	assert_int_equal(copy->task_n, 0);
}

/* Too long an event has no copy; rooms with a copy are as whole as others. */
static void test_copies_have_room(void **state)
{
	struct payload_guest *g = *state;
	struct guest_fbuffer fbuffer = {0};
	uint64_t end = 0;

	g->task.stack = (uintptr_t)__builtin_frame_address(0) & ~(uint64_t)(GUEST_STACK - 1);
	g->percpu.irq_stack = NULL;
	for (unsigned int i = 0; i < 500; i++) {
		unsigned int len = i * 37 % (EVENT_COPY_LEN + 100);
		bool has = len <= EVENT_COPY_LEN;
		uint8_t *entry = reserve_with_copy(g, &fbuffer, len);
		const struct payload_record *r;
		uint64_t at;

		assert_non_null(entry);
		commit_of(g)(&fbuffer);
		r = payload_guest_record(g, GUEST_LENGTH + i);
		at = r->event_at;
		assert_int_equal(r->event_file & 1, has);
		assert_true(at >= end);
		end = at + ((EVENT_HEADER + len + 7u) & ~7u);
		if (has)
			end += COPY_WORD +
			       (copy_of(entry, len)->n + copy_of(entry, len)->task_n) * 8;
		assert_int_equal(*ctl64(g, CTL_EVENT_HEAD), end);
		assert_true(at % GUEST_EVENTS + (end - at) <= GUEST_EVENTS);
	}
}

/* Each room is whole, and none overlaps those that are as near as the ring is long. */
static void test_rooms(void **state)
{
	struct payload_guest *g = *state;
	uint64_t end = 0;

	for (unsigned int i = 0; i < 3000; i++) {
		unsigned int len = i * 37 % (EVENT_MAX + 1);
		struct guest_fbuffer fbuffer = {0};
		const struct payload_record *r;
		uint64_t at;
		uint8_t *entry = reserve_of(g)(&fbuffer, file_of(g, i % EVENT_FILES), len);

		assert_non_null(entry);
		assert_in_range(entry - events_of(g), EVENT_HEADER, GUEST_EVENTS - len);
		memset(entry, 0xff, len);
		commit_of(g)(&fbuffer);
		r = payload_guest_record(g, GUEST_LENGTH + i);
		at = r->event_at;
		assert_int_equal(entry - events_of(g), at % GUEST_EVENTS + EVENT_HEADER);
		assert_true(at >= end && at - end < 2 * EVENT_MAX);
		end = at + EVENT_HEADER + len;
		assert_in_range(*ctl64(g, CTL_EVENT_HEAD), end, end + 7);
		assert_int_equal(r->event_len, len);
	}
}

static void test_refused(void **state)
{
	struct payload_guest *g = *state;
	struct guest_fbuffer fbuffer = {0};

	assert_null(reserve_of(g)(&fbuffer, file_of(g, 0), EVENT_MAX + 1));
	assert_null(reserve_of(g)(&fbuffer, file_of(g, 0), ~0UL));
	*ctl32(g, CTL_EVENTS) = 0;
	assert_null(reserve_of(g)(&fbuffer, file_of(g, 0), 8));
	assert_int_equal(*ctl64(g, CTL_HEAD), GUEST_LENGTH);
	assert_int_equal(*ctl64(g, CTL_EVENT_HEAD), 0);
}

/* A task that the host has not heard of is told of first. */
static void test_comm(void **state)
{
	struct payload_guest *g = *state;
	struct guest_fbuffer fbuffer = {0};

	g->task.pid = 99;
	assert_non_null(reserve_of(g)(&fbuffer, file_of(g, 0), 8));
	commit_of(g)(&fbuffer);
	assert_int_equal(g->ring[0].comm_pid, 99);
	assert_int_equal(payload_guest_record(g, GUEST_LENGTH + 1)->event_len, 8);
	/* Whether functions are recorded does not matter. */
	*ctl32(g, CTL_FLAGS) = CTL_FL_PIDS;
	assert_non_null(reserve_of(g)(&fbuffer, file_of(g, 0), 8));
	assert_int_equal(*ctl64(g, CTL_HEAD), GUEST_LENGTH + 3);
}

/* A full ring makes a record wait, once; when the host has taken something it is waited for again.
 */
static void test_lossless(void **state)
{
	struct payload_guest *g = *state;
	struct guest_fbuffer fbuffer = {0};
	unsigned int n = 0, more = 0;

	payload_guest_wait(g, 1000000);
	*ctl64(g, CTL_TAIL) = GUEST_LENGTH;
	while (reserve_of(g)(&fbuffer, file_of(g, 0), 992)) {
		commit_of(g)(&fbuffer);
		assert_true(++n < GUEST_EVENTS / 1000);
	}
	assert_true(n * 1000 > GUEST_EVENTS / 2);
	assert_int_equal(*ctl64(g, CTL_DROPPED), 1);
	assert_int_equal(*ctl64(g, CTL_EVENT_FULL), *ctl64(g, CTL_EVENT_TAIL));
	assert_null(reserve_of(g)(&fbuffer, file_of(g, 0), 992));
	assert_int_equal(*ctl64(g, CTL_DROPPED), 2);
	*ctl64(g, CTL_EVENT_TAIL) = g->ring[n / 2].event_at;
	*ctl64(g, CTL_TAIL) = GUEST_LENGTH + n;
	while (reserve_of(g)(&fbuffer, file_of(g, 0), 992)) {
		commit_of(g)(&fbuffer);
		assert_true(++more < n);
	}
	assert_in_range(more, n / 2 - 1, n / 2 + 1);
}

/* Nobody answers: the call is taken back, and the record is complete all the same. */
static void test_stack(void **state)
{
	struct payload_guest *g = *state;
	struct guest_fbuffer fbuffer = {0};
	uint64_t text = (uintptr_t)g->window + WINDOW_TEXT;

	file_of(g, 3)[EVENT_FILE_FLAGS] = 1;
	assert_non_null(reserve_of(g)(&fbuffer, file_of(g, 3), 8));
	commit_of(g)(&fbuffer);
	assert_int_equal(*ctl32(g, CTL_CALL_VAIN), 1);
	assert_int_equal(*ctl64(g, CTL_CALL_DI), GUEST_LENGTH);
	assert_true(*ctl32(g, CTL_CALL_IP) - (uint32_t)text < g->text.size);
	assert_int_equal(*ctl32(g, CTL_CALL_PC), GUEST_PREEMPT + 1);
	payload_guest_record(g, GUEST_LENGTH);
	assert_int_equal(g->percpu.preempt_count, GUEST_PREEMPT);
	/* Interrupts that have waited too often do not. */
	*ctl32(g, CTL_NO_WAIT) = 1;
	g->percpu.preempt_count |= 0x10000;
	assert_non_null(reserve_of(g)(&fbuffer, file_of(g, 3), 8));
	commit_of(g)(&fbuffer);
	assert_int_equal(*ctl32(g, CTL_CALL_VAIN), 1);
	payload_guest_record(g, GUEST_LENGTH + 1);
}

/* Who records could be preempted: not from the room's being there to the commit, and ever after. */
static void test_stays(void **state)
{
	struct payload_guest *g = *state;
	struct guest_fbuffer fbuffer = {0};
	const uint8_t flags[] = {EVENT_STAYS, EVENT_STAYS | EVENT_STACK_CALL,
				 EVENT_STAYS | EVENT_STACK_COPY};

	g->task.stack = (uintptr_t)__builtin_frame_address(0) & ~(uint64_t)(GUEST_STACK - 1);
	for (size_t i = 0; i < sizeof(flags); i++) {
		file_of(g, 3)[EVENT_FILE_FLAGS] = flags[i];
		assert_non_null(reserve_of(g)(&fbuffer, file_of(g, 3), 8));
		assert_int_equal(g->percpu.preempt_count, GUEST_PREEMPT + 1);
		/* As a tracepoint has it, which the host knows of. */
		assert_int_equal(g->ring[i].state & STATE_COUNT_MASK, GUEST_PREEMPT + 1);
		commit_of(g)(&fbuffer);
		assert_int_equal(g->percpu.preempt_count, GUEST_PREEMPT);
		assert_int_equal(g->ring[i].seq, GUEST_LENGTH + i);
	}
	assert_int_equal(*ctl32(g, CTL_CALL_VAIN), 1);
	/* Nor where there is no room, for whatever reason. */
	assert_null(reserve_of(g)(&fbuffer, file_of(g, 3), EVENT_MAX + 1));
	assert_int_equal(g->percpu.preempt_count, GUEST_PREEMPT);
	*ctl32(g, CTL_EVENTS) = 0;
	assert_null(reserve_of(g)(&fbuffer, file_of(g, 3), 8));
	assert_int_equal(g->percpu.preempt_count, GUEST_PREEMPT);
	assert_int_equal(*ctl64(g, CTL_HEAD), GUEST_LENGTH + sizeof(flags));
}

static void test_stays_for_room(void **state)
{
	struct payload_guest *g = *state;
	struct guest_fbuffer fbuffer = {0};

	file_of(g, 3)[EVENT_FILE_FLAGS] = EVENT_STAYS;
	payload_guest_wait(g, 1000000);
	*ctl64(g, CTL_TAIL) = GUEST_LENGTH;
	while (reserve_of(g)(&fbuffer, file_of(g, 3), 992)) {
		assert_int_equal(g->percpu.preempt_count, GUEST_PREEMPT + 1);
		commit_of(g)(&fbuffer);
	}
	assert_int_equal(*ctl64(g, CTL_DROPPED), 1);
	assert_int_equal(g->percpu.preempt_count, GUEST_PREEMPT);
}

/* mov $value, %eax; ret */
static void rest_returns(struct payload_guest *g, uint32_t rest, uint8_t value)
{
	const uint8_t code[] = {0xb8, value, 0, 0, 0, 0xc3};

	memcpy(g->window + WINDOW_TEXT + rest, code, sizeof(code));
}

static void test_others(void **state)
{
	struct payload_guest *g = *state;
	const void *files[] = {NULL, g, file_of(g, 0) - 1, file_of(g, EVENT_FILES)};
	struct guest_fbuffer fbuffer = {0};

	rest_returns(g, g->text.reserve_rest, 0x11);
	rest_returns(g, g->text.commit_rest, 0x22);
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		fbuffer.file = (void *)(uintptr_t)files[i];
		assert_int_equal((uintptr_t)reserve_of(g)(&fbuffer, files[i], 8), 0x11);
		assert_int_equal((uintptr_t)commit_of(g)(&fbuffer), 0x22);
	}
	assert_int_equal(*ctl64(g, CTL_HEAD), GUEST_LENGTH);
}

/* With traps, and nobody behind them: our files are told from others, and nothing is recorded. */
static void test_look(void **state)
{
	struct payload_guest *g = *state;
	uint8_t *text = g->window + WINDOW_TEXT;
	reserve_fn reserve = (reserve_fn)(uintptr_t)(text + g->text.reserve_look);
	commit_fn commit = (commit_fn)(uintptr_t)(text + g->text.commit_look);
	struct guest_fbuffer fbuffer = {.entry = g};

	rest_returns(g, g->text.reserve_rest, 0x11);
	rest_returns(g, g->text.commit_rest, 0x22);
	assert_int_equal((uintptr_t)reserve(&fbuffer, file_of(g, 0) - 1, 8), 0x11);
	assert_int_equal((uintptr_t)commit(&fbuffer), 0x22);
	assert_ptr_equal(fbuffer.entry, g);
	assert_null(reserve(&fbuffer, file_of(g, 0), 8));
	assert_null(fbuffer.entry);
	fbuffer.file = file_of(g, 0);
	assert_int_not_equal((uintptr_t)commit(&fbuffer), 0x22);
	assert_int_equal(*ctl64(g, CTL_HEAD), GUEST_LENGTH);
	assert_int_equal(*ctl64(g, CTL_EVENT_HEAD), 0);
	file_of(g, 0)[EVENT_FILE_FLAGS] = EVENT_STAYS;
	assert_null(reserve(&fbuffer, file_of(g, 0), 8));
	assert_int_equal(g->percpu.preempt_count, GUEST_PREEMPT);
	/* What the host takes the place of: two bytes that are one instruction. */
	assert_memory_equal(text + g->text.reserve_trap, "\x66\x90", 2);
	assert_memory_equal(text + g->text.commit_trap, "\x66\x90", 2);
}

/* The same where the host has given room: what it puts there instead of the two bytes is a test's.
 */
static void test_look_stays(void **state)
{
	struct payload_guest *g = *state;
	/* mov %rsi, %rax; ret: an entry that is not NULL */
	static const uint8_t gives_rsi[] = {0x48, 0x89, 0xf0, 0xc3};
	uint8_t *text = g->window + WINDOW_TEXT;
	reserve_fn reserve = (reserve_fn)(uintptr_t)(text + g->text.reserve_look);
	commit_fn commit = (commit_fn)(uintptr_t)(text + g->text.commit_look);
	struct guest_fbuffer fbuffer = {.file = file_of(g, 0)};

	file_of(g, 0)[EVENT_FILE_FLAGS] = EVENT_STAYS;
	memcpy(text + g->text.reserve_trap, gives_rsi, sizeof(gives_rsi));
	assert_ptr_equal(reserve(&fbuffer, file_of(g, 0), 8), file_of(g, 0));
	assert_int_equal(g->percpu.preempt_count, GUEST_PREEMPT + 1);
	commit(&fbuffer);
	assert_int_equal(g->percpu.preempt_count, GUEST_PREEMPT);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, payload_guest_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_event),
		TEST(test_rooms),
		TEST(test_refused),
		TEST(test_comm),
		TEST(test_others),
		TEST(test_look),
		TEST(test_lossless),
		TEST(test_stack),
		TEST(test_stays),
		TEST(test_stays_for_room),
		TEST(test_look_stays),
		TEST(test_copy_of_task_stack),
		TEST(test_copy_of_irq_stack),
		TEST(test_copies_have_room),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
