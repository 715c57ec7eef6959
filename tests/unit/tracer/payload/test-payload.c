// SPDX-License-Identifier: GPL-2.0-or-later
/* test-payload.c - the payload's code, run by this process as if it were a guest. */
#include "tests/unit/payload-guest.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <x86intrin.h>

enum { FLAG_IF = 1 << 9 };

static uint32_t low(const void *p)
{
	return (uint32_t)(uintptr_t)p;
}

static uint32_t low64(uint64_t v)
{
	return (uint32_t)v;
}

/* --- records ------------------------------------------------------------------------------- */

static void test_fields(void **state)
{
	struct payload_guest *g = *state;
	struct guest_regs regs = {.rflags = 0};
	const struct payload_record *r;
	uint64_t before = __rdtsc();

	g->percpu.preempt_count = 0x00110203;
	g->task.migration_disabled = 5;
	g->task.other = 0xffff;
	payload_guest_call(g, g->text.function, &regs);
	r = payload_guest_record(g, GUEST_LENGTH);
	assert_in_range(r->tsc, before, __rdtsc());
	assert_int_equal(r->ip, low(g->code));
	assert_int_equal(r->parent, low(payload_guest_parent));
	assert_int_equal(r->sp, low64(regs.rsp));
	assert_int_equal(r->task, 1234 | 5 << RECORD_MIGRATE_SHIFT);
	assert_int_equal(r->state, 0x00110203 | PAYLOAD_FUNCTION << STATE_TYPE_SHIFT);
	assert_int_equal(g->percpu.preempt_count, 0x00110203);
	assert_int_equal(*ctl64(g, CTL_HEAD), GUEST_LENGTH + 1);
	assert_int_equal(g->ring[1].seq, 0);
}

static void test_need_resched(void **state)
{
	struct payload_guest *g = *state;

	for (unsigned int bit = 0; bit < 32; bit++) {
		g->cfg.need_resched_bit = (uint8_t)bit;
		payload_guest_load(g);
		g->task.flags = UINT64_C(1) << bit;
		g->percpu.preempt_count = 0x80000000;
		payload_guest_functions(g, 1);
		g->task.flags = ~g->task.flags;
		g->percpu.preempt_count = 0;
		payload_guest_functions(g, 1);
		assert_int_equal(payload_guest_record(g, GUEST_LENGTH + 2 * bit)->state,
				 0x80000000 | STATE_NEED_RESCHED |
					 PAYLOAD_FUNCTION << STATE_TYPE_SHIFT);
		assert_int_equal(payload_guest_record(g, GUEST_LENGTH + 2 * bit + 1)->state,
				 PAYLOAD_FUNCTION << STATE_TYPE_SHIFT);
	}
}

/* Interrupts are always on here; so push %rsi in pushf's place. */
static void test_irqs_off(void **state)
{
	struct payload_guest *g = *state;
	uint8_t *pushf = memchr(g->window + WINDOW_TEXT, 0x9c, g->text.size);
	struct guest_regs regs = {.rsi = ~(uint64_t)FLAG_IF};

	assert_non_null(pushf);
	assert_memory_equal(pushf + 1, "\x8b\x04\x24", 3); /* mov (%rsp), %eax: it is that one */
	*pushf = 0x56;
	payload_guest_call_with(g, g->text.function, &regs);
	regs.rsi = FLAG_IF;
	payload_guest_call_with(g, g->text.function, &regs);
	assert_int_equal(payload_guest_record(g, GUEST_LENGTH)->state,
			 GUEST_PREEMPT | STATE_IRQS_OFF | PAYLOAD_FUNCTION << STATE_TYPE_SHIFT);
	assert_int_equal(payload_guest_record(g, GUEST_LENGTH + 1)->state,
			 GUEST_PREEMPT | PAYLOAD_FUNCTION << STATE_TYPE_SHIFT);
}

static void test_absent_members(void **state)
{
	struct payload_guest *g = *state;
	const struct payload_record *r;

	g->task.flags = ~UINT64_C(0);
	g->task.migration_disabled = 7;
	g->cfg.task_flags = g->cfg.task_migration_disabled = PAYLOAD_NONE;
	g->cfg.task_tgid = g->cfg.task_comm = PAYLOAD_NONE;
	payload_guest_load(g);
	g->task.pid = 4000000;
	payload_guest_functions(g, 1);
	r = payload_guest_record(g, GUEST_LENGTH);
	assert_int_equal(r->comm_pid, 4000000);
	assert_int_equal(r->comm_tgid, 0);
	assert_memory_equal(r->comm, (char[16]){0}, 16);
	r = payload_guest_record(g, GUEST_LENGTH + 1);
	assert_int_equal(r->task, 4000000);
	assert_int_equal(r->state, GUEST_PREEMPT | PAYLOAD_FUNCTION << STATE_TYPE_SHIFT);
}

static void test_laps(void **state)
{
	struct payload_guest *g = *state;

	*ctl64(g, CTL_HEAD) = UINT32_MAX - GUEST_LENGTH; /* and past the sequence's end */
	payload_guest_functions(g, 3 * GUEST_LENGTH + 5);
	assert_int_equal(*ctl64(g, CTL_HEAD), UINT32_MAX + 2 * (uint64_t)GUEST_LENGTH + 5);
	for (unsigned int i = 1; i <= GUEST_LENGTH; i++)
		payload_guest_record(g, *ctl64(g, CTL_HEAD) - i);
	/* Nothing of another vCPU's. */
	for (const uint8_t *p = g->window + WINDOW_RINGS; p < (uint8_t *)g->ring; p++)
		assert_int_equal(*p, 0);
	assert_int_equal(*g->code, 0xe8);
}

static void test_other_task(void **state)
{
	struct payload_guest *g = *state;
	const struct payload_record *r;

	payload_guest_functions(g, 1);
	g->task.pid = 77;
	g->task.tgid = 70;
	memcpy(g->task.comm, "0123456789abcde", 16);
	payload_guest_functions(g, 2);
	r = payload_guest_record(g, GUEST_LENGTH + 1);
	assert_int_equal(r->state, PAYLOAD_COMM << STATE_TYPE_SHIFT);
	assert_int_equal(r->comm_pid, 77);
	assert_int_equal(r->comm_tgid, 70);
	assert_string_equal(r->comm, "0123456789abcde");
	assert_int_equal(payload_guest_record(g, GUEST_LENGTH + 2)->task, 77);
	assert_int_equal(payload_guest_record(g, GUEST_LENGTH + 3)->task, 77);
	g->task.pid = 0;
	payload_guest_functions(g, 1);
	assert_int_equal(payload_guest_record(g, GUEST_LENGTH + 4)->comm_pid, 0);
	assert_int_equal(*ctl64(g, CTL_HEAD), GUEST_LENGTH + 6);
	assert_int_equal(*ctl32(g, CTL_LAST_PID), 0);
}

static void test_off(void **state)
{
	struct payload_guest *g = *state;

	payload_guest_wait(g, 1000000);
	*ctl32(g, CTL_FLAGS) = CTL_FL_PIDS;
	payload_guest_functions(g, 3);
	g->task.pid++;
	payload_guest_functions(g, 3);
	assert_int_equal(*ctl64(g, CTL_HEAD), GUEST_LENGTH);
	assert_int_equal(*ctl64(g, CTL_DROPPED), 0);
	assert_int_equal(g->percpu.preempt_count, GUEST_PREEMPT);
}

static void test_pids(void **state)
{
	static const uint32_t wanted[] = {0, 1, 63, 64, 4095, 32768, 4194303};
	struct payload_guest *g = *state;
	uint8_t *bits = g->window + WINDOW_PIDS;

	*ctl32(g, CTL_FLAGS) = CTL_FL_ON | CTL_FL_PIDS;
	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
		uint64_t head = *ctl64(g, CTL_HEAD);

		memset(bits, 0xff, WINDOW_PIDS_SIZE);
		bits[wanted[i] / 8] &= (uint8_t) ~(1 << wanted[i] % 8);
		g->task.pid = wanted[i];
		payload_guest_functions(g, 2);
		assert_int_equal(*ctl64(g, CTL_HEAD), head);
		memset(bits, 0, WINDOW_PIDS_SIZE);
		bits[wanted[i] / 8] = (uint8_t)(1 << wanted[i] % 8);
		payload_guest_functions(g, 2);
		assert_int_equal(*ctl64(g, CTL_HEAD), head + 3); /* with PAYLOAD_COMM */
	}
}

/* --- a full ring --------------------------------------------------------------------------- */

enum { ROOM = GUEST_LENGTH - 64, LOSSLESS_RECORDS = 20000 };

/* Take all records, as a host does. What is wrong is counted: assertions are the main thread's. */
static void *take_all(void *arg)
{
	struct payload_guest *g = arg;
	uint64_t next = GUEST_LENGTH;
	uintptr_t bad = 0;

	while (next < GUEST_LENGTH + LOSSLESS_RECORDS) {
		const struct payload_record *r = &g->ring[next & (GUEST_LENGTH - 1)];

		if (__atomic_load_n(&r->seq, __ATOMIC_ACQUIRE) != (uint32_t)next)
			continue;
		bad += r->ip != low(g->code) || r->task != 1234;
		ctl64_set(g, CTL_TAIL, ++next);
	}
	return (void *)bad;
}

static void test_lossless(void **state)
{
	struct payload_guest *g = *state;
	pthread_t host;
	void *bad;

	payload_guest_wait(g, UINT64_C(1) << 62);
	assert_int_equal(pthread_create(&host, NULL, take_all, g), 0);
	payload_guest_functions(g, LOSSLESS_RECORDS);
	pthread_join(host, &bad);
	assert_null(bad);
	assert_int_equal(*ctl64(g, CTL_HEAD), GUEST_LENGTH + LOSSLESS_RECORDS);
	assert_int_equal(*ctl64(g, CTL_DROPPED), 0);
}

/* A host that has gone costs one time-out; one that comes back gets records again. */
static void test_full_timeout(void **state)
{
	struct payload_guest *g = *state;
	uint64_t start;

	payload_guest_wait(g, 1000000);
	payload_guest_functions(g, ROOM);
	assert_int_equal(*ctl64(g, CTL_HEAD), GUEST_LENGTH + ROOM);
	assert_int_equal(*ctl64(g, CTL_DROPPED), 0);

	start = __rdtsc();
	payload_guest_functions(g, 1);
	assert_true(__rdtsc() - start >= g->cfg.full_timeout);
	assert_int_equal(*ctl64(g, CTL_DROPPED), 1);

	/* This many time-outs would take longer than the test may. */
	payload_guest_wait(g, UINT64_C(1) << 62);
	payload_guest_functions(g, 1000);
	assert_int_equal(*ctl64(g, CTL_DROPPED), 1001);
	assert_int_equal(*ctl64(g, CTL_HEAD), GUEST_LENGTH + ROOM);

	payload_guest_wait(g, 1000);
	*ctl64(g, CTL_TAIL) += 10;
	payload_guest_functions(g, 15);
	assert_int_equal(*ctl64(g, CTL_HEAD), GUEST_LENGTH + ROOM + 10);
	assert_int_equal(*ctl64(g, CTL_DROPPED), 1006);
	payload_guest_record(g, GUEST_LENGTH + ROOM + 9);
}

/* --- configurations ------------------------------------------------------------------------ */

static void assert_refused(struct payload_guest *g, const char *member, int error)
{
	const char *what = "";
	uint8_t *buf = calloc(1, WINDOW_TEXT_SIZE);

	assert_non_null(buf);
	assert_int_equal(payload_text_make(&g->cfg, buf, &g->text, &what), error);
	assert_string_equal(what, member);
	free(buf);
	payload_guest_config(g);
}

#define ASSERT_REFUSED(member, value, error)                                                       \
	do {                                                                                       \
		g->cfg.member = value;                                                             \
		assert_refused(g, #member, error);                                                 \
	} while (0)
#define ASSERT_OUT_OF_RANGE(member, value) ASSERT_REFUSED(member, value, -ERANGE)

static void test_out_of_range(void **state)
{
	struct payload_guest *g = *state;

	ASSERT_OUT_OF_RANGE(window, UINT64_C(1) << 31);
	ASSERT_OUT_OF_RANGE(window, (UINT64_C(1) << 31) - WINDOW_RINGS);
	ASSERT_OUT_OF_RANGE(window, UINT64_C(0xffffffff7ffff000));
	ASSERT_OUT_OF_RANGE(window, UINT64_MAX - WINDOW_RINGS + 1);
	ASSERT_OUT_OF_RANGE(ring_size, 0);
	ASSERT_OUT_OF_RANGE(ring_size, 2048);
	ASSERT_OUT_OF_RANGE(ring_size, 3 << 20);
	ASSERT_OUT_OF_RANGE(cpu_number, UINT64_C(1) << 31);
	ASSERT_OUT_OF_RANGE(current_task, UINT64_C(0xffffffff7fffffff));
	ASSERT_OUT_OF_RANGE(task_pid, UINT64_C(1) << 31);
	ASSERT_OUT_OF_RANGE(task_tgid, UINT64_C(1) << 31);
	ASSERT_OUT_OF_RANGE(task_comm, INT32_MAX);
	ASSERT_OUT_OF_RANGE(task_migration_disabled, UINT64_C(1) << 31);
	ASSERT_OUT_OF_RANGE(task_flags, UINT64_C(1) << 31);
	ASSERT_OUT_OF_RANGE(need_resched_bit, 32);
	ASSERT_OUT_OF_RANGE(text_mutex, UINT64_C(0xffff888000000000));
	g->cfg.window = UINT64_C(0xffffffff80000000);
	g->cfg.current_task = UINT64_C(0xffffffff80000000);
	payload_guest_load(g);
}

/* Who asks for it can tell that from what is out of range. */
static void test_unknown(void **state)
{
	struct payload_guest *g = *state;

	ASSERT_REFUSED(cpu_number, PAYLOAD_NONE, -ENOENT);
	ASSERT_REFUSED(preempt_count, PAYLOAD_NONE, -ENOENT);
	ASSERT_REFUSED(task_pid, PAYLOAD_NONE, -ENOENT);
}

/* In front of what the kernel calls by address: what it wants to find there. */
static void test_types(void **state)
{
	struct payload_guest *g = *state;
	const uint8_t *text = g->window + WINDOW_TEXT;

	for (unsigned int i = 0; i < CALL_TYPES; i++)
		memset(g->cfg.type[i], 0x10 + i, CALL_TYPE_SIZE);
	payload_guest_load(g);
	const struct {
		uint32_t entry;
		enum call_type type;
	} called[PAYLOAD_CALLED] = {
		{g->text.work, CALL_TYPE_WORK},
		{g->text.kprobe, CALL_TYPE_KPROBE},
		{g->text.kprobe_stop, CALL_TYPE_KPROBE},
		{g->text.kretprobe, CALL_TYPE_KRETPROBE},
		{g->text.kretprobe_stop, CALL_TYPE_KRETPROBE},
		{g->text.kretprobe_entry, CALL_TYPE_KRETPROBE},
		{g->text.uprobe, CALL_TYPE_UPROBE},
		{g->text.uprobe_stop, CALL_TYPE_UPROBE},
		{g->text.uprobe_called, CALL_TYPE_UPROBE},
		{g->text.uretprobe, CALL_TYPE_URETPROBE},
		{g->text.uretprobe_stop, CALL_TYPE_URETPROBE},
	};
	static const uint8_t endbr64[] = {0xf3, 0x0f, 0x1e, 0xfa};

	for (size_t i = 0; i < sizeof(called) / sizeof(called[0]); i++) {
		assert_int_equal(g->text.called[i].entry, called[i].entry);
		assert_int_equal(g->text.called[i].type, called[i].type);
		assert_memory_equal(text + called[i].entry - CALL_TYPE_SIZE,
				    g->cfg.type[called[i].type], CALL_TYPE_SIZE);
		assert_memory_equal(text + called[i].entry, endbr64, sizeof(endbr64));
	}
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, payload_guest_setup, payload_guest_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_fields),	 TEST(test_need_resched),
		TEST(test_irqs_off),	 TEST(test_absent_members),
		TEST(test_laps),	 TEST(test_other_task),
		TEST(test_off),		 TEST(test_pids),
		TEST(test_lossless),	 TEST(test_full_timeout),
		TEST(test_out_of_range), TEST(test_unknown),
		TEST(test_types),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
