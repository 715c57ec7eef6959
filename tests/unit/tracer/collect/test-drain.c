// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test-drain.c - a guest whose records never end: what one look at them may cost, and what is said
 * of it.
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "tests/unit/tramp-guest.h"
#include "tracer/collect/collect.h"
#include "tracer/core/lock.h"
#include "tracer/instance/files.h"
#include "tracer/instance/instance.h"
#include "tracer/lib/message-limit.h"
#include "tracer/tracer.h"

#define FALSE_HEAD (UINT64_C(1) << 62)
#define AT_ONCE	   64 /* records that it makes before each look at the head */
#define LAPS	   50 /* of the ring; what makes so many does not end */
#define HEAD_READS 2  /* of one that is not as expected */

static struct trace *t;
static atomic_uint told; /* lines about heads */

/* What the guest does on vCPU 0 while the host reads. */
static struct {
	pthread_mutex_t lock;
	uint64_t head;		   /* of what it has made */
	uint64_t made;		   /* records since it began */
	uint64_t most;		   /* it makes no more */
	uint64_t read;		   /* bytes of its rings, by this thread */
	atomic_uint lies;	   /* so many times more the head is a false one */
	atomic_bool lies_at_first; /* of what one look reads only the first head is a false one */
	bool events;   /* that have data, which goes back to the beginning of the ring */
	bool ticks;    /* its clock ticks each time that its records are read */
	uint64_t ns;   /* of it */
	bool rewrites; /* the record behind the first one that is read, each second time */
	unsigned int reads;
	atomic_uint vain; /* so many calls more it claims to have made in vain */
	atomic_bool on;
} guest = {.lock = PTHREAD_MUTEX_INITIALIZER};

enum { SCD = PER_CPU_AREA + 0x700, UNSTABLE = 0x5900, TICK = 4000000, FEW_TICKS = 6 };

static _Atomic int64_t now_ms;
static atomic_uint vain; /* lines about that */
static atomic_uint more; /* how many were left out */

static _Thread_local bool looking; /* this thread's reads are those that count */

static void message(void *arg, const char *text)
{
	(void)arg;
	if (!strncmp(text, "and ", 4))
		more += (unsigned int)strtoul(text + 4, NULL, 10);
	else
		vain += strstr(text, "in vain") != NULL;
	told += strstr(text, "are lost") != NULL;
}

static uint64_t ring_length(void)
{
	return tramp_ring_size() / PAYLOAD_RECORD_SIZE;
}

static void guest_makes(uint64_t n)
{
	struct payload_header h;

	window_get_at(WINDOW_HEADER, &h, sizeof(h));
	for (; n && guest.made < guest.most; n--) {
		struct payload_record r = {.tsc = 1000 + guest.made,
					   .ip = (uint32_t)FAKE_VA(FN_ALPHA),
					   .state = (uint32_t)PAYLOAD_FUNCTION << STATE_TYPE_SHIFT};

		if (guest.events)
			r = (struct payload_record){.event_tsc = 1000 + guest.made,
						    .event_file = EVENT_FILE_PRINTS,
						    .state = (uint32_t)PAYLOAD_EVENT
							     << STATE_TYPE_SHIFT};
		r.seq = (uint32_t)guest.head;
		window_put_at(WINDOW_RINGS + (guest.head * sizeof(r) & (h.ring_size - 1)), &r,
			      sizeof(r));
		guest.head++;
		guest.made++;
	}
}

/* For the head of its records. */
static void guest_is_asked(void)
{
	uint64_t head;

	if (looking)
		guest_makes(AT_ONCE);
	head = guest.lies ? FALSE_HEAD : guest.head;
	guest.lies -= guest.lies > 0;
	window_put_at(ctl_off(0, CTL_HEAD), &head, sizeof(head));
}

/* Each time that the host looks for a call the guest claims one more that was in vain. */
static void guest_waits_in_vain(uint64_t pa, size_t len)
{
	uint64_t off = pa - FAKE_WINDOW;
	uint32_t n;

	if (off != ctl_off(0, CTL_CALL) || len <= 4 || !guest.vain)
		return;
	n = guest.vain--;
	window_put_at(ctl_off(0, CTL_CALL_VAIN), &n, sizeof(n));
}

/* What was all right when it was read first is not when it is read once more. */
static void guest_rewrites(uint64_t off)
{
	uint64_t first = (off - WINDOW_RINGS) / PAYLOAD_RECORD_SIZE;
	bool bad = guest.reads++ % 2;

	for (uint64_t i = first; i < first + 2; i++) {
		uint32_t seq = (uint32_t)(ring_length() + i) + (bad && i > first);

		window_put_at(WINDOW_RINGS + i * PAYLOAD_RECORD_SIZE +
				      offsetof(struct payload_record, seq),
			      &seq, sizeof(seq));
	}
}

/* Each CPU notes sched_clock() and the time at a tick: struct sched_clock_data. */
static void guest_ticks(void)
{
	uint64_t noted[2];

	guest.ns += TICK;
	noted[0] = noted[1] = guest.ns;
	assert_int_equal(machine_write(NULL, FAKE_PA + SCD, noted, sizeof(noted)), 0);
}

static void guest_goes_on(uint64_t pa, size_t len)
{
	uint64_t off = pa - FAKE_WINDOW;

	guest_waits_in_vain(pa, len);
	if (looking && off >= WINDOW_RINGS)
		guest.read += len;
	if (looking && guest.ticks && off >= WINDOW_RINGS && off < WINDOW_RINGS + tramp_ring_size())
		guest_ticks();
	if (looking && guest.rewrites && off >= WINDOW_RINGS)
		guest_rewrites(off);
	/* Whether it waits for a call is asked before each look. */
	if (guest.lies_at_first && off == ctl_off(0, CTL_CALL) && len == sizeof(uint32_t))
		guest.lies = HEAD_READS;
	if (off != ctl_off(0, CTL_HEAD) || !guest.on)
		return;
	pthread_mutex_lock(&guest.lock);
	guest_is_asked();
	pthread_mutex_unlock(&guest.lock);
}

static void guest_begins(void)
{
	guest.head = ring_length();
	guest.made = guest.read = 0;
	guest.most = LAPS * ring_length();
	guest.on = true;
}

static int64_t fake_ms(void)
{
	return now_ms;
}

static int set_up_guest(bool direct)
{
	tramp_kernel_make();
	fake.direct = direct;
	fake.before_read = guest_goes_on;
	guest.lies = guest.vain = 0;
	guest.events = guest.rewrites = guest.ticks = false;
	guest.lies_at_first = guest.on = false;
	told = vain = more = 0;
	now_ms = 1;
	t = tramp_started((struct trace_config){.message = message});
	t->notes->now_ms = fake_ms;
	return 0;
}

static int set_up(void **state)
{
	(void)state;
	return set_up_guest(false);
}

static int set_up_direct(void **state)
{
	(void)state;
	return set_up_guest(true);
}

static int tear_down(void **state)
{
	(void)state;
	guest.on = false;
	trace_detach(t);
	trace_free(t);
	free(fake.ram);
	return 0;
}

/* One look of somebody who holds the vCPU's lock. */
static void look(void)
{
	vcpu_lock(t, 0);
	guest_begins();
	looking = true;
	collect_drain(t, 0);
	looking = false;
	vcpu_unlock(t, 0);
}

/* Some page says that events are missing before its first one. All of them are read. */
static bool says_missed(void)
{
	uint8_t page[RING_PAGE_SIZE];
	struct ring_walk w;
	bool said = false;
	uint64_t lost;

	while (instance_read_raw(trace_top(t), 0, page, sizeof(page)) > 0) {
		assert_int_equal(ring_walk_page(&w, page, &lost), 0);
		said |= lost == RING_LOST_UNKNOWN;
	}
	return said;
}

/* --- tests ---------------------------------------------------------------------------------- */

static void no_more_than_a_ring_is_taken_at_once(void **state)
{
	struct trace_status st;

	(void)state;
	guest.lies = HEAD_READS;
	look();
	trace_get_status(t, &st);
	assert_in_range(guest.made, AT_ONCE, 2 * ring_length());
	assert_in_range(st.corrupt, 1, 4);
	assert_true(st.staging_lost >= st.corrupt);
	assert_true(says_missed());
}

/* All that the ring holds is taken in one look when the head is a true one. */
static void a_whole_ring_is_taken_at_once(void **state)
{
	struct trace_status st;

	(void)state;
	vcpu_lock(t, 0);
	guest_begins();
	guest.most = ring_length() / 2;
	guest_makes(ring_length() / 2);
	collect_drain(t, 0);
	vcpu_unlock(t, 0);
	trace_get_status(t, &st);
	assert_int_equal(st.staged, ring_length() / 2);
	assert_int_equal(st.corrupt, 0);
	assert_false(says_missed());
}

/* The data of each record lies a whole ring back. */
static void bytes_are_bounded(void **state)
{
	struct payload_header h;
	uint64_t head;

	(void)state;
	window_get_at(WINDOW_HEADER, &h, sizeof(h));
	head = h.event_ring_size;
	window_put_at(ctl_off(0, CTL_EVENT_HEAD), &head, sizeof(head));
	guest.events = true;
	guest.lies = HEAD_READS;
	look();
	/* Its records are read twice. */
	assert_in_range(guest.read, 1, 8 * (uint64_t)h.event_ring_size + 8 * (uint64_t)h.ring_size);
}

/* Of all that has been read there is one record more each time. */
static void what_changes_is_not_read_for_ever(void **state)
{
	(void)state;
	/* All under one lock: the collector would take what is there. */
	vcpu_lock(t, 0);
	guest_begins();
	guest.most = ring_length() / 2;
	guest_makes(ring_length() / 2);
	guest_begins();
	guest.rewrites = true;
	looking = true;
	collect_drain(t, 0);
	looking = false;
	vcpu_unlock(t, 0);
	assert_in_range(guest.read, tramp_ring_size(), 5 * (uint64_t)tramp_ring_size());
}

/* Of two that were not seen in between it is not known what the clock did. */
static void a_clock_is_watched_meanwhile(void **state)
{
	struct guest_kernel *g = &t->guest;

	(void)state;
	g->at.time.scd = SCD - PER_CPU_AREA;
	g->at.time.tick_raw = 0;
	g->at.time.tick_gtod = 8;
	g->at.clock_stable = FAKE_VA(UNSTABLE);
	g->at.clock_running = FAKE_VA(UNSTABLE + 4);
	g->at.tick_nsec = FAKE_VA(UNSTABLE + 8);
	put(UNSTABLE, 0, 4);
	put(UNSTABLE + 4, 1, 4);
	put(UNSTABLE + 8, TICK, 8);
	guest.ns = 0;
	guest_ticks();
	atomic_store(&g->clock, GUEST_CLOCK_TICKS);
	guest.ticks = true;
	vcpu_lock(t, 0);
	guest_begins();
	guest_makes(ring_length());
	looking = true;
	collect_drain(t, 0);
	looking = false;
	vcpu_unlock(t, 0);
	assert_in_range(g->ticks[0].n, FEW_TICKS, SCHED_TICKS);
}

static struct instance_reader *pipe_open(void)
{
	struct instance_reader *r = instance_read_open(trace_top(t), ALL_VCPUS, true);

	assert_non_null(r);
	return r;
}

/* A pass of the collector's begins and ends while vCPU 1 makes two calls. */
static void collector_comes_by(void)
{
	for (int i = 0; i < 2; i++)
		tramp_call(1, FAKE_VA(FN_KPROBES + 3), FAKE_VA(STACK), 0);
}

/* Nothing is known to be missing before vCPU 0's: what vCPU 1 has recorded need not wait for it. */
static void false_heads_do_not_hold_others(void **state)
{
	struct instance_reader *pipe = pipe_open();
	char text[256];
	ssize_t n;

	(void)state;
	vcpu_lock(t, 0); /* between two looks */
	guest.lies_at_first = true;
	guest_begins();
	vcpu_unlock(t, 0);
	tramp_function(1, 100, FN_ALPHA, PREEMPT_NO_RESCHED, 7);
	collector_comes_by();
	collector_comes_by();
	n = instance_read(pipe, text, sizeof(text) - 1, 0);
	assert_in_range(n, 1, sizeof(text) - 1);
	text[n] = '\0';
	assert_non_null(strstr(text, " 100: alpha"));
	instance_read_close(pipe);
}

/* The records themselves, in the order of their times, and up to what all vCPUs have. */
static void records_are_taken(void **state)
{
	struct instance_taker *r = instance_take_open(trace_top(t));
	struct ring_event ev;
	unsigned int vcpu;

	(void)state;
	assert_non_null(r);
	assert_int_equal(instance_take(r, &ev, &vcpu), 0);
	tramp_function(1, 100, FN_ALPHA, PREEMPT_NO_RESCHED, 7);
	tramp_function(0, 90, FN_ALPHA, PREEMPT_NO_RESCHED, 7);
	collector_comes_by();
	collector_comes_by();
	assert_int_equal(instance_take(r, &ev, &vcpu), 1);
	assert_int_equal(vcpu, 0);
	assert_int_equal(ev.ts, 90);
	assert_int_equal(instance_take(r, &ev, &vcpu), 1);
	assert_int_equal(vcpu, 1);
	assert_int_equal(ev.ts, 100);
	assert_int_equal(instance_take(r, &ev, &vcpu), 0);
	instance_take_close(r);
}

/* Also what comes before anything has been taken. */
static void records_wait_for_the_first_pass(void **state)
{
	struct instance *i = trace_top(t);
	struct instance_taker *r = instance_take_open(i);
	struct ring_event ev;
	unsigned int vcpu;
	int early;

	(void)state;
	assert_non_null(r);
	vcpu_lock(t, 0); /* no pass ends */
	vcpu_lock(t, 1);
	ring_reserve(i->ring[1], sizeof(struct trace_entry), 100);
	ring_commit(i->ring[1]);
	vcpu_unlock(t, 1);
	early = instance_take(r, &ev, &vcpu);
	vcpu_unlock(t, 0);
	assert_int_equal(early, 0);
	collector_comes_by();
	collector_comes_by();
	assert_int_equal(instance_take(r, &ev, &vcpu), 1);
	assert_int_equal(ev.ts, 100);
	instance_take_close(r);
}

/* However many there are: one line, and none of a guest that does not. */
static void false_heads_are_told(void **state)
{
	(void)state;
	collector_comes_by();
	assert_int_equal(told, 0);
	guest_begins();
	guest.lies = 1000;
	tramp_wait(!guest.lies);
	collector_comes_by();
	assert_int_equal(told, 1);
}

static void lines_are_bounded(void **state)
{
	(void)state;
	guest.vain = 1000;
	tramp_wait(!guest.vain);
	collector_comes_by();
	assert_int_equal(vain, MESSAGE_LIMIT);
	assert_int_equal(more, 0);
	now_ms += MESSAGE_PERIOD_MS;
	tramp_wait(more);
	assert_int_equal(more, 1000 - MESSAGE_LIMIT);
	guest.vain = 50;
	tramp_wait(!guest.vain);
	assert_int_equal(trace_detach(t), 0);
	assert_int_equal(vain, 2 * MESSAGE_LIMIT);
	assert_int_equal(more, 1050 - 2 * MESSAGE_LIMIT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(no_more_than_a_ring_is_taken_at_once, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(a_whole_ring_is_taken_at_once, set_up, tear_down),
		cmocka_unit_test_setup_teardown(bytes_are_bounded, set_up, tear_down),
		cmocka_unit_test_setup_teardown(what_changes_is_not_read_for_ever, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(a_clock_is_watched_meanwhile, set_up_direct,
						tear_down),
		cmocka_unit_test_setup_teardown(false_heads_do_not_hold_others, set_up, tear_down),
		cmocka_unit_test_setup_teardown(records_are_taken, set_up, tear_down),
		cmocka_unit_test_setup_teardown(records_wait_for_the_first_pass, set_up, tear_down),
		cmocka_unit_test_setup_teardown(false_heads_are_told, set_up, tear_down),
		cmocka_unit_test_setup_teardown(lines_are_bounded, set_up, tear_down),
	};

	return cmocka_run_group_tests_name("drain", tests, NULL, NULL);
}
