// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test-payload-print.c - the payload in the place of ring_buffer_event_data() and
 * ring_buffer_unlock_commit(): of what the guest writes into its own ring buffer, that is copied
 * which is wanted, whatever the event looks like.
 */
#include "tests/unit/payload-guest.h"

#include <signal.h>
#include <ucontext.h>

#define BPRINT 6
#define WANTED (1u << 5 | 1u << BPRINT)

/* As the guest's kernel has them, in a ring buffer of its own. */
struct guest_event {
	uint32_t head, len;
	union {
		uint32_t word[EVENT_MAX / 4];
		uint16_t type;
	};
};

static struct guest_event event;
static uint64_t buffer; /* that of the top level is at this address */
static uint64_t *top_buffer;

static uint8_t *events_of(struct payload_guest *g)
{
	return g->window + WINDOW_RINGS + 2 * GUEST_RING + GUEST_VCPU * GUEST_EVENTS;
}

/* The functions themselves do nothing here but return. */
static int setup(void **state)
{
	int ret = payload_guest_setup(state);
	struct payload_guest *g = *state;

	top_buffer = (uint64_t *)(void *)(g->window + GUEST_WINDOW + 2048);
	*top_buffer = (uintptr_t)&buffer;
	g->cfg.trace_buffer = (uintptr_t)top_buffer;
	payload_guest_load(g);
	g->window[WINDOW_TEXT + g->text.event_data_rest] = 0xc3;
	g->window[WINDOW_TEXT + g->text.ring_commit_rest] = 0xc3;
	*ctl32(g, CTL_EVENTS) = 1;
	*ctl32(g, CTL_PRINTS) = WANTED;
	memset(&event, 0, sizeof(event));
	return ret;
}

static void write_event(struct payload_guest *g, const void *at)
{
	payload_guest_call_full(g, g->text.event_data, at);
	payload_guest_call_full(g, g->text.ring_commit, &buffer);
}

/* Its data is so many bytes, words of their number, of this type. */
static void event_make(unsigned int len, uint16_t type)
{
	for (unsigned int i = 0; i < (len + 3) / 4; i++)
		event.word[i] = 0x1000 + i;
	event.type = type;
}

static void long_event_make(unsigned int len, uint16_t type)
{
	event_make(len, type);
	event.head = 0;
	event.len = len + 4;
}

static void nothing_was_recorded(struct payload_guest *g)
{
	assert_int_equal(*ctl64(g, CTL_HEAD), GUEST_LENGTH);
	assert_int_equal(*ctl64(g, CTL_EVENT_HEAD), 0);
}

static void is_copy(struct payload_guest *g, uint64_t nr, const void *data, unsigned int len)
{
	const struct payload_record *r = payload_guest_record(g, nr);

	assert_int_equal(r->event_file, EVENT_FILE_PRINTS);
	assert_int_equal(r->event_len, len);
	assert_int_equal(r->task & RECORD_PID_MASK, g->task.pid);
	assert_int_equal(r->state >> STATE_TYPE_SHIFT & STATE_TYPE_MASK, PAYLOAD_EVENT);
	assert_memory_equal(events_of(g) + r->event_at + EVENT_HEADER, data, len);
}

static void test_lengths(void **state)
{
	struct payload_guest *g = *state;
	unsigned int n = 0;

	for (unsigned int len = 16; len <= 1024; len += 84) {
		long_event_make(len, BPRINT);
		write_event(g, &event);
		is_copy(g, GUEST_LENGTH + n++, event.word, len);
	}
	for (unsigned int words = 2; words <= 28; words++) {
		uint32_t *small = &event.len; /* whose data comes at once */

		event_make(200, BPRINT);
		event.head = words;
		*small = 7 << 16 | BPRINT;
		write_event(g, &event);
		is_copy(g, GUEST_LENGTH + n++, small, words * 4);
	}
}

/* A time comes first, when the one before was too long ago. */
static void test_time_before(void **state)
{
	struct payload_guest *g = *state;
	uint32_t at[6] = {RING_EVENT_EXTEND | 5u << 5, 77, 3, BPRINT, 0xabcd, 0xef01};

	write_event(g, at);
	is_copy(g, GUEST_LENGTH, &at[3], 12);
	at[0] = RING_EVENT_EXTEND + 1; /* all of it */
	write_event(g, at);
	is_copy(g, GUEST_LENGTH + 1, &at[3], 12);
}

static void test_not_wanted(void **state)
{
	static const uint16_t types[] = {1, 4, 7, 14, 31, 32, 37, 38, 0xffff, 0};
	struct payload_guest *g = *state;

	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		long_event_make(64, types[i]);
		write_event(g, &event);
	}
	long_event_make(64, BPRINT);
	*top_buffer += 8; /* it is another instance's */
	write_event(g, &event);
	*top_buffer -= 8;
	*ctl32(g, CTL_PRINTS) = 0;
	write_event(g, &event);
	*ctl32(g, CTL_PRINTS) = WANTED;
	*ctl32(g, CTL_EVENTS) = 0;
	write_event(g, &event);
	*ctl32(g, CTL_EVENTS) = 1;
	nothing_was_recorded(g);
	write_event(g, &event);
	is_copy(g, GUEST_LENGTH, event.word, 64);
}

/* What the host sees where it is to take it: its length and where it is. */
static greg_t seen_len, seen_at;
static unsigned int seen;

static void trapped(int sig, siginfo_t *info, void *context)
{
	const greg_t *regs = ((const ucontext_t *)context)->uc_mcontext.gregs;

	(void)sig;
	(void)info;
	seen++;
	seen_len = regs[REG_RCX];
	seen_at = regs[REG_RDX];
}

static void test_stop(void **state)
{
	static const uint8_t int3_nop[] = {0xcc, 0x90};
	struct sigaction action = {.sa_sigaction = trapped, .sa_flags = SA_SIGINFO}, before;
	struct payload_guest *g = *state;

	seen = 0;
	*ctl32(g, CTL_PRINTS) = WANTED | PRINTS_STOP;
	long_event_make(64, BPRINT);
	write_event(g, &event); /* without a host */
	memcpy(g->window + WINDOW_TEXT + g->text.print_trap, int3_nop, sizeof(int3_nop));
	assert_int_equal(sigaction(SIGTRAP, &action, &before), 0);
	write_event(g, &event);
	long_event_make(64, 7); /* is not wanted */
	write_event(g, &event);
	assert_int_equal(sigaction(SIGTRAP, &before, NULL), 0);
	assert_int_equal(seen, 1);
	assert_int_equal(seen_len, 64);
	assert_int_equal(seen_at, (uintptr_t)event.word);
	nothing_was_recorded(g);
}

static void test_lengths_of_nobody(void **state)
{
	static const uint32_t lengths[] = {0, 3, EVENT_MAX + 5, 0x80000000, UINT32_MAX};
	struct payload_guest *g = *state;

	for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		long_event_make(64, BPRINT);
		event.len = lengths[i];
		write_event(g, &event);
	}
	nothing_was_recorded(g);
}

/* What is committed is what this context has asked for last, and only once. */
static void test_contexts(void **state)
{
	static const uint32_t counts[] = {
		0,	  SOFTIRQ_OFFSET,	    HARDIRQ_OFFSET, HARDIRQ_OFFSET | SOFTIRQ_OFFSET,
		0x100000, 0x100000 | HARDIRQ_OFFSET};
	/* Softirqs may run behind an interrupt, but not while one runs; and an NMI is one. */
	static const unsigned int level[] = {0, 1, 2, 2, 3, 3};
	struct payload_guest *g = *state;
	uint32_t at[6][5];
	unsigned int n = 0;

	payload_guest_call_full(g, g->text.ring_commit, &buffer);
	nothing_was_recorded(g);
	for (uint32_t i = 0; i < 6; i++) {
		memcpy(at[i], (uint32_t[]){4, BPRINT, i, i, i}, sizeof(at[i]));
		g->percpu.preempt_count = GUEST_PREEMPT | counts[i];
		payload_guest_call_full(g, g->text.event_data, at[i]);
		assert_int_equal(*ctl64(g, CTL_WRITING + 8 * level[i]), (uintptr_t)at[i]);
	}
	for (unsigned int i = 6; i--;) {
		bool again = i + 1 < 6 && level[i] == level[i + 1];

		g->percpu.preempt_count = GUEST_PREEMPT | counts[i];
		payload_guest_call_full(g, g->text.ring_commit, &buffer);
		if (!again)
			is_copy(g, GUEST_LENGTH + n++, &at[i][1], 16);
		assert_int_equal(*ctl64(g, CTL_HEAD), GUEST_LENGTH + n);
		assert_int_equal(*ctl64(g, CTL_WRITING + 8 * level[i]), 0);
	}
	assert_int_equal(n, 4);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, payload_guest_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_lengths),	      TEST(test_time_before), TEST(test_not_wanted),
		TEST(test_lengths_of_nobody), TEST(test_contexts),    TEST(test_stop),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
