// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test-pairing.c - calls and returns of made-up guests: what comes of their records, in the order
 * in which a collector gets hold of them, is what the guest has really done.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/seed.h"
#include "tests/unit/pairing-sim.h"
#include "tracer/graph/merge.h"
#include "tracer/tracer.h"
#include "tracer/collect/collect.h"

/* --- what is made of it ---------------------------------------------------------------------- */

static enum pairing_verdict told_entry(void *arg, unsigned int vcpu, const struct payload_record *r,
				       struct pairing_call *call, const struct pairing_call *outer)
{
	struct sim *s = arg;
	struct truth *t = &s->truth[r->tsc];

	s->wrong += t->told_entry || vcpu != s->vcpu[r->tsc - 1] ||
		    (outer ? outer->depth + 1 != call->depth : call->depth != 0);
	t->told_entry = true;
	return PAIRING_KEEP;
}

static void told_exit(void *arg, unsigned int vcpu, const struct payload_record *r,
		      const struct pairing_call *call, struct pairing_call *outer, uint32_t overrun)
{
	struct sim *s = arg;
	struct truth *t = &s->truth[call->tsc];

	(void)vcpu;
	(void)outer;
	(void)overrun;
	s->wrong += t->told_exit || t->left != r->tsc;
	t->told_exit = true;
}

static const struct pairing_ops ops = {.entry = told_entry, .exit = told_exit};

static struct pairing *pairing_of(struct sim *s)
{
	struct pairing_stacks stacks = {
		.thread_size = STACK,
		.irq_size = STACK,
		.nr_irq = VCPUS,
	};
	struct pairing *p = pairing_new(&ops, s);

	assert_non_null(p);
	for (unsigned int i = 0; i < VCPUS; i++)
		stacks.irq_start[i] = IRQ_AT + i * STACK;
	pairing_set_stacks(p, &stacks);
	return p;
}

static void take(void *arg, unsigned int vcpu, const struct payload_record *r, size_t n)
{
	for (size_t i = 0; i < n; i++)
		pairing_record(arg, vcpu, &r[i]);
}

static void all_told(const struct sim *s)
{
	for (size_t i = 1; i <= s->nr; i++) {
		assert_int_equal(s->truth[i].told_entry, s->truth[i].entered);
		assert_int_equal(s->truth[i].told_exit, s->truth[i].left != 0);
	}
	assert_int_equal(s->wrong, 0);
}

static void in_order(void **state)
{
	struct pairing_counts counts;
	struct sim s;

	(void)state;
	for (unsigned int seed = 1; seed <= 8; seed++) {
		struct pairing *p;

		sim_run(&s, test_seed() + seed);
		p = pairing_of(&s);
		for (size_t i = 0; i < s.nr; i++)
			pairing_record(p, s.vcpu[i], &s.record[i]);
		all_told(&s);
		pairing_get_counts(p, &counts);
		assert_int_equal(counts.late, 0);
		assert_int_equal(counts.dropped, 0);
		assert_int_equal(counts.unmatched, 0);
		assert_int_equal(counts.tasks, TASKS);
		pairing_free(p);
		sim_free(&s);
	}
}

/* One pass of a collector: from each vCPU in turn what it has by then; time goes on meanwhile. */
static void collect(struct sim *s, struct graph_merge *m, size_t next[VCPUS], size_t *now)
{
	for (unsigned int v = 0; v < VCPUS; v++) {
		for (; next[v] < *now; next[v]++)
			if (s->vcpu[next[v]] == v)
				assert_true(graph_merge_add(m, v, &s->record[next[v]], 1));
		*now += roll(s, 60);
		if (*now > s->nr)
			*now = s->nr;
	}
}

static void as_collected(void **state)
{
	struct sim s;

	(void)state;
	for (unsigned int seed = 1; seed <= 8; seed++) {
		struct graph_merge m = {.vcpus = VCPUS};
		size_t next[VCPUS] = {0}, now = 0;
		struct pairing *p;

		sim_run(&s, test_seed() + seed * 77);
		p = pairing_of(&s);
		while (now < s.nr) {
			collect(&s, &m, next, &now);
			/* More than one in two passes cannot hand all over. */
			graph_merge_run(&m, false, 1 + roll(&s, 300), 0, take, p);
		}
		collect(&s, &m, next, &now);
		graph_merge_run(&m, true, SIZE_MAX, 0, take, p);
		all_told(&s);
		pairing_free(p);
		graph_merge_exit(&m);
		sim_free(&s);
	}
}

/* What is lost is told, so what is paired after all is paired rightly. */
static void with_losses(void **state)
{
	struct sim s;

	(void)state;
	for (unsigned int seed = 1; seed <= 8; seed++) {
		struct pairing *p;
		size_t told = 0;

		sim_run(&s, test_seed() + seed * 1001);
		p = pairing_of(&s);
		for (size_t i = 0; i < s.nr; i++) {
			if (!roll(&s, 400)) {
				i += roll(&s, 30);
				pairing_lost(p);
			}
			if (i < s.nr)
				pairing_record(p, s.vcpu[i], &s.record[i]);
		}
		for (size_t i = 1; i <= s.nr; i++)
			told += s.truth[i].told_exit;
		assert_true(told > RECORDS / 8);
		/* Depths are counted from what is known. */
		assert_int_equal(s.wrong, 0);
		pairing_free(p);
		sim_free(&s);
	}
}

static void take_marked(void *arg, unsigned int vcpu, const struct payload_record *r, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		unsigned int type = r[i].state >> STATE_TYPE_SHIFT & STATE_TYPE_MASK;

		if (type == GRAPH_LOST || type == GRAPH_FOUND)
			pairing_gap(arg, vcpu, type == GRAPH_LOST);
		else
			pairing_record(arg, vcpu, &r[i]);
	}
}

/* One pass of a collector that is late now and then, for one vCPU. */
static void collect_late(struct sim *s, struct graph_merge *m, size_t next[VCPUS], size_t *now)
{
	for (unsigned int v = 0; v < VCPUS; v++) {
		unsigned int missing = roll(s, 40) ? 0 : roll(s, 30);

		for (; next[v] < *now; next[v]++) {
			if (s->vcpu[next[v]] != v)
				continue;
			if (missing && missing--)
				assert_true(graph_merge_lost(m, v));
			else
				assert_true(graph_merge_add(m, v, &s->record[next[v]], 1));
		}
		*now += roll(s, 60);
		if (*now > s->nr)
			*now = s->nr;
	}
}

/* Where a vCPU's are missing, its tasks may have come from others and go there. */
static void losses_as_collected(void **state)
{
	struct sim s;

	(void)state;
	for (unsigned int seed = 1; seed <= 8; seed++) {
		struct graph_merge m = {.vcpus = VCPUS};
		size_t next[VCPUS] = {0}, now = 0, told = 0;
		struct pairing *p;

		sim_run(&s, test_seed() + seed * 333);
		p = pairing_of(&s);
		while (now < s.nr) {
			collect_late(&s, &m, next, &now);
			graph_merge_run(&m, false, 1 + roll(&s, 300), 0, take_marked, p);
		}
		collect(&s, &m, next, &now);
		graph_merge_run(&m, true, SIZE_MAX, 0, take_marked, p);
		for (size_t i = 1; i <= s.nr; i++)
			told += s.truth[i].told_exit;
		assert_true(told > RECORDS / 8);
		assert_int_equal(s.wrong, 0);
		pairing_free(p);
		graph_merge_exit(&m);
		sim_free(&s);
	}
}

/* A vCPU that has nothing more to say does not hold the others up for long. */
static void a_quiet_vcpu_ends_its_gap(void **state)
{
	struct graph_merge m = {.vcpus = VCPUS + 1};
	struct pairing_counts counts;
	struct sim s;
	struct pairing *p;

	(void)state;
	sim_run(&s, 5);
	p = pairing_of(&s);
	assert_true(graph_merge_lost(&m, VCPUS));
	for (size_t i = 0; i < s.nr; i++) {
		assert_true(graph_merge_add(&m, s.vcpu[i], &s.record[i], 1));
		if (i % 100 == 99)
			graph_merge_run(&m, false, SIZE_MAX, 0, take_marked, p);
	}
	graph_merge_run(&m, true, SIZE_MAX, 0, take_marked, p);
	pairing_get_counts(p, &counts);
	assert_true(counts.pairs > RECORDS / 8);
	assert_int_equal(s.wrong, 0);
	pairing_free(p);
	graph_merge_exit(&m);
	sim_free(&s);
}

/* That each comes once, in order. */
static void take_in_order(void *arg, unsigned int vcpu, const struct payload_record *r, size_t n)
{
	uint64_t *next = arg;

	assert_int_equal(vcpu, 0);
	for (size_t i = 0; i < n; i++)
		assert_int_equal(r[i].tsc, (*next)++);
}

/* What is queued is bounded; what did not fit is said, and there is room again later. */
static void queues_have_an_end(void **state)
{
	struct graph_merge m = {.vcpus = 1};
	struct payload_record r = {.state = PAYLOAD_FUNCTION << STATE_TYPE_SHIFT};
	uint64_t next = 0;

	(void)state;
	for (int lap = 0; lap < 3; lap++) {
		uint64_t first = r.tsc;

		while (graph_merge_add(&m, 0, &r, 1))
			r.tsc++;
		assert_in_range(r.tsc - first, 10000, 10000000);
		assert_true(graph_merge_run(&m, true, 9999, 0, take_in_order, &next));
		assert_int_equal(next, first + 9999);
		assert_false(graph_merge_run(&m, true, SIZE_MAX, 0, take_in_order, &next));
		assert_int_equal(next, r.tsc);
	}
	graph_merge_exit(&m);
}

/* Where there is always something left, it does not wander through all the memory that it may have.
 */
static void queues_stay_where_they_are(void **state)
{
	struct graph_merge m = {.vcpus = 1};
	struct payload_record r = {.state = PAYLOAD_FUNCTION << STATE_TYPE_SHIFT};
	uint64_t next = 0;

	(void)state;
	for (int i = 0; i < 5000; i++) {
		for (int k = 0; k < 1000; k++, r.tsc++)
			assert_true(graph_merge_add(&m, 0, &r, 1));
		graph_merge_run(&m, false, SIZE_MAX, 0, take_in_order, &next);
	}
	assert_in_range(r.tsc - next, 1, 2000);
	assert_in_range(m.queue[0].used, 1000, 20000);
	graph_merge_exit(&m);
}

struct seen_of {
	uint64_t latest[2];
};

static void take_latest(void *arg, unsigned int vcpu, const struct payload_record *r, size_t n)
{
	struct seen_of *s = arg;

	for (size_t i = 0; i < n; i++)
		s->latest[vcpu] = r[i].tsc;
}

/* Records that wait for room come before those of others that are later. */
static void nothing_overtakes_what_waits_for_room(void **state)
{
	enum { BATCH = 1000, HELD = 1 << 0 };
	struct payload_record r = {.state = PAYLOAD_FUNCTION << STATE_TYPE_SHIFT};
	struct graph_merge m = {.vcpus = 2};
	struct seen_of seen = {0};
	uint64_t end;

	(void)state;
	for (r.tsc = 1; !graph_merge_is_full(&m, 0, BATCH); r.tsc++)
		assert_true(graph_merge_add(&m, 0, &r, 1));
	assert_false(graph_merge_is_full(&m, 1, BATCH));
	end = r.tsc - 1;
	r.tsc = end + 100;
	assert_true(graph_merge_add(&m, 1, &r, 1));
	for (int i = 0; i < 3; i++)
		graph_merge_run(&m, false, SIZE_MAX, HELD, take_latest, &seen);
	assert_int_equal(seen.latest[0], end);
	assert_int_equal(seen.latest[1], 0);
	/* There is room, they come, and so does the other. */
	assert_false(graph_merge_is_full(&m, 0, BATCH));
	r.tsc = end + 50;
	assert_true(graph_merge_add(&m, 0, &r, 1));
	for (int i = 0; i < 3; i++)
		graph_merge_run(&m, false, SIZE_MAX, 0, take_latest, &seen);
	assert_int_equal(seen.latest[0], end + 50);
	assert_int_equal(seen.latest[1], end + 100);
	graph_merge_exit(&m);
}

/* Who cannot wait finds room for as much again as makes a queue full. */
static void full_queues_have_room_for_a_ring(void **state)
{
	struct graph_merge m = {.vcpus = 1};
	struct payload_record r = {.state = PAYLOAD_FUNCTION << STATE_TYPE_SHIFT};
	size_t full;

	(void)state;
	for (full = 0; !graph_merge_is_full(&m, 0, 1); full++)
		assert_true(graph_merge_add(&m, 0, &r, 1));
	assert_in_range(full, TRACE_WINDOW_MAX / 2 / PAYLOAD_RECORD_SIZE, SIZE_MAX);
	for (size_t i = 1; i < full; i++)
		assert_true(graph_merge_add(&m, 0, &r, 1));
	graph_merge_exit(&m);
}

/* However many there are, all queues together take what those of eight do. */
static void queues_of_many_share_the_memory_of_eight(void **state)
{
	const size_t most = 8 * (size_t)64 << 20; /* bytes */
	struct graph_merge m = {.vcpus = MACHINE_MAX_VCPUS};
	struct payload_record r = {.state = PAYLOAD_FUNCTION << STATE_TYPE_SHIFT};
	size_t full;

	(void)state;
	for (full = 0; !graph_merge_is_full(&m, m.vcpus - 1, 1); full++)
		assert_true(graph_merge_add(&m, m.vcpus - 1, &r, 1));
	assert_in_range(full, TRACE_WINDOW_MAX / 2 / m.vcpus / PAYLOAD_RECORD_SIZE,
			most / m.vcpus / PAYLOAD_RECORD_SIZE);
	graph_merge_exit(&m);
}

struct many_seen {
	uint64_t latest, vcpus;
	size_t nr;
};

static void take_of_many(void *arg, unsigned int vcpu, const struct payload_record *r, size_t n)
{
	struct many_seen *seen = arg;

	for (size_t i = 0; i < n; i++, seen->nr++) {
		assert_true(r[i].tsc > seen->latest);
		seen->latest = r[i].tsc;
		seen->vcpus |= UINT64_C(1) << vcpu;
	}
}

static void as_many_vcpus_as_there_can_be(void **state)
{
	enum { EACH = 5 };
	struct graph_merge m = {.vcpus = MACHINE_MAX_VCPUS};
	struct many_seen seen = {0};
	struct payload_record r = {.state = PAYLOAD_FUNCTION << STATE_TYPE_SHIFT};

	(void)state;
	for (unsigned int v = MACHINE_MAX_VCPUS; v--;)
		for (unsigned int i = 0; i < EACH; i++) {
			r.tsc = 1 + i * MACHINE_MAX_VCPUS + v;
			assert_true(graph_merge_add(&m, v, &r, 1));
		}
	graph_merge_run(&m, false, SIZE_MAX, 0, take_of_many, &seen);
	graph_merge_run(&m, false, SIZE_MAX, UINT64_C(1) << (MACHINE_MAX_VCPUS - 1), take_of_many,
			&seen);
	assert_int_equal(seen.nr, EACH * MACHINE_MAX_VCPUS);
	assert_true(seen.vcpus == UINT64_MAX);
	graph_merge_exit(&m);
}

/* Before there is room for one vCPU's all that the others have may have to go. */
static void queues_of_those_that_wait_are_short(void **state)
{
	enum { BATCH = 8192, MERGED_IN_TIME = 1 << 20 };
	struct graph_merge m = {.vcpus = VCPUS, .waits = true};
	struct payload_record r = {.state = PAYLOAD_FUNCTION << STATE_TYPE_SHIFT};
	size_t n = 0;

	(void)state;
	for (unsigned int v = 0; v < VCPUS; v++)
		for (; !graph_merge_is_full(&m, v, BATCH); n++)
			assert_true(graph_merge_add(&m, v, &r, 1));
	assert_in_range(n, VCPUS * BATCH, MERGED_IN_TIME);
	graph_merge_exit(&m);
}

/* --- single cases ---------------------------------------------------------------------------- */

static void say(struct pairing *p, unsigned int type, uint32_t pid, uint32_t sp, uint32_t parent,
		uint32_t state)
{
	static uint64_t tsc;
	const struct payload_record r = {
		.tsc = tsc,
		.ip = 0x1000 + sp % 4096,
		.parent = parent,
		.sp = sp,
		.task = pid,
		.state = state | type << STATE_TYPE_SHIFT,
	};

	tsc++;
	pairing_record(p, 0, &r);
}

static struct {
	unsigned int entries, exits, depth, sleepers;
	uint64_t slept;
	uint32_t overrun;
} seen;

static enum pairing_verdict count_entry(void *arg, unsigned int vcpu,
					const struct payload_record *r, struct pairing_call *call,
					const struct pairing_call *outer)
{
	(void)arg;
	(void)vcpu;
	(void)r;
	(void)outer;
	seen.entries++;
	seen.depth = call->depth;
	return PAIRING_KEEP;
}

static void count_exit(void *arg, unsigned int vcpu, const struct payload_record *r,
		       const struct pairing_call *call, struct pairing_call *outer,
		       uint32_t overrun)
{
	(void)arg;
	(void)vcpu;
	(void)r;
	(void)call;
	(void)outer;
	seen.exits++;
	seen.overrun = overrun;
}

static void count_sleep(void *arg, unsigned int vcpu, const struct payload_record *r, uint64_t left,
			struct pairing_call *calls, unsigned int nr)
{
	(void)arg;
	(void)vcpu;
	(void)calls;
	seen.slept += r->tsc - left;
	seen.sleepers += nr;
}

static const struct pairing_ops counting = {
	.entry = count_entry,
	.exit = count_exit,
	.slept = count_sleep,
};

static const struct pairing_stacks counting_stacks = {
	.thread_size = STACK,
	.irq_size = STACK,
	.nr_irq = 1,
	.irq_start = {IRQ_AT},
};

static struct pairing *counting_new(void)
{
	struct pairing *p = pairing_new(&counting, NULL);

	assert_non_null(p);
	pairing_set_stacks(p, &counting_stacks);
	memset(&seen, 0, sizeof(seen));
	return p;
}

static void too_deep_is_counted(void **state)
{
	struct pairing *p = counting_new();

	(void)state;
	for (uint32_t i = 0; i < PAIRING_DEPTH + 7; i++)
		say(p, PAYLOAD_FUNCTION, 1, STACKS_AT + 8192 - 16 * i, i, 0);
	assert_int_equal(seen.entries, PAIRING_DEPTH);
	for (uint32_t i = PAIRING_DEPTH + 7; i--;)
		say(p, PAYLOAD_EXIT, 1, STACKS_AT + 8192 - 16 * i, 0, 0);
	assert_int_equal(seen.exits, PAIRING_DEPTH);
	assert_int_equal(seen.overrun, 7);
	pairing_free(p);
}

/* Calls from before it is known where stacks are end as any others, on both kinds. */
static void stacks_become_known(void **state)
{
	struct pairing *p = pairing_new(&counting, NULL);

	(void)state;
	assert_non_null(p);
	memset(&seen, 0, sizeof(seen));
	say(p, PAYLOAD_FUNCTION, 1, STACKS_AT + 8192, 10, 0);
	say(p, PAYLOAD_FUNCTION, 1, IRQ_AT + 8192, 20, 0);
	pairing_set_stacks(p, &counting_stacks);
	say(p, PAYLOAD_FUNCTION, 1, IRQ_AT + 8000, 30, 0);
	say(p, PAYLOAD_EXIT, 1, IRQ_AT + 8000, 0, 0);
	say(p, PAYLOAD_EXIT, 1, IRQ_AT + 8192, 0, 0);
	say(p, PAYLOAD_EXIT, 1, STACKS_AT + 8192, 0, 0);
	assert_int_equal(seen.entries, 3);
	assert_int_equal(seen.exits, 3);
	pairing_free(p);
}

/* A task that has died never returns; another gets its pid, and another stack or the same one. */
static void pids_are_used_again(void **state)
{
	struct pairing *p = counting_new();

	(void)state;
	say(p, PAYLOAD_FUNCTION, 7, STACKS_AT + 8000, 1, 0);
	say(p, PAYLOAD_FUNCTION, 7, STACKS_AT + 7000, 2, 0);
	say(p, PAYLOAD_FUNCTION, 7, STACKS_AT + STACK + 8000, 3, 0);
	assert_int_equal(seen.depth, 0);
	say(p, PAYLOAD_FUNCTION, 7, STACKS_AT + STACK + 16000, 4, 0);
	assert_int_equal(seen.depth, 0);
	say(p, PAYLOAD_EXIT, 7, STACKS_AT + STACK + 16000, 0, 0);
	assert_int_equal(seen.exits, 2); /* it, and the one that must have been over */
	pairing_free(p);
}

/* While it is switched to, a task's stack is used in the name of the one before. */
static void switches_are_no_new_tasks(void **state)
{
	struct pairing *p = counting_new();

	(void)state;
	say(p, PAYLOAD_FUNCTION, 7, STACKS_AT + 8000, 1, 0);
	say(p, PAYLOAD_FUNCTION, 7, STACKS_AT + STACK + 8000, 2, IRQS_OFF);
	assert_int_equal(seen.depth, 1);
	say(p, PAYLOAD_EXIT, 7, STACKS_AT + STACK + 8000, 0, IRQS_OFF);
	say(p, PAYLOAD_EXIT, 7, STACKS_AT + 8000, 0, 0);
	assert_int_equal(seen.exits, 2);
	pairing_free(p);
}

/* A function ends by jumping to one whose returns are not known. */
static void missing_exits_are_made_up(void **state)
{
	struct pairing_counts counts;
	struct pairing *p = counting_new();

	(void)state;
	say(p, PAYLOAD_FUNCTION, 7, STACKS_AT + 8000, 1, 0);
	for (uint32_t i = 0; i < 10; i++)
		say(p, PAYLOAD_FUNCTION, 7, STACKS_AT + 7000, 2, 0);
	assert_int_equal(seen.depth, 1);
	say(p, PAYLOAD_EXIT, 7, STACKS_AT + 8000, 0, 0);
	assert_int_equal(seen.exits, 11);
	pairing_get_counts(p, &counts);
	assert_int_equal(counts.late, 10);
	pairing_free(p);
}

static void memory_is_bounded(void **state)
{
	struct pairing_counts counts;
	struct pairing *p = counting_new();

	(void)state;
	for (uint32_t pid = 1; pid < 3 * PAIRING_TASKS; pid++)
		say(p, PAYLOAD_FUNCTION, pid, STACKS_AT + 8000, 1, 0);
	pairing_get_counts(p, &counts);
	assert_int_equal(counts.tasks, PAIRING_TASKS);
	assert_int_equal(counts.dropped, 2 * PAIRING_TASKS - 1);
	for (uint32_t pid = 3 * PAIRING_TASKS; --pid;)
		say(p, PAYLOAD_EXIT, pid, STACKS_AT + 8000, 1, 0);
	assert_int_equal(seen.exits, PAIRING_TASKS);
	pairing_free(p);
}

/* Whatever a guest may write. */
static void hostile_records(void **state)
{
	struct sim s = {.seed = test_seed()};
	struct pairing_counts counts;
	struct graph_merge m = {.vcpus = VCPUS};
	struct pairing *p = counting_new();

	(void)state;
	for (unsigned int round = 0; round < 300; round++) {
		struct payload_record r[200];

		for (size_t i = 0; i < sizeof(r); i++)
			((uint8_t *)r)[i] = (uint8_t)roll(&s, round % 2 ? 256 : 3);
		graph_merge_add(&m, roll(&s, VCPUS), r, 200);
		graph_merge_run(&m, !roll(&s, 50), SIZE_MAX, 0, take, p);
	}
	graph_merge_run(&m, true, SIZE_MAX, 0, take, p);
	pairing_get_counts(p, &counts);
	assert_in_range(counts.tasks, 1, PAIRING_TASKS);
	assert_true(seen.exits <= seen.entries);
	assert_true(seen.depth < PAIRING_DEPTH);
	pairing_free(p);
	graph_merge_exit(&m);
}

static void note_at(struct pairing *p, unsigned int vcpu, uint64_t tsc, uint32_t pid,
		    unsigned int type, uint32_t sp)
{
	struct payload_record r = {
		.tsc = tsc, .ip = 1, .sp = sp, .task = pid, .state = type << STATE_TYPE_SHIFT};

	pairing_record(p, vcpu, &r);
}

/* Task 7 is left for 8 on one vCPU, and goes on on the other. */
static void sleeps_are_told(void **state)
{
	struct pairing *p = counting_new();
	const uint32_t sp = STACKS_AT + STACK - 64;

	(void)state;
	note_at(p, 0, 10, 7, PAYLOAD_FUNCTION, sp);
	note_at(p, 0, 20, 7, PAYLOAD_FUNCTION, sp - 64);
	note_at(p, 0, 30, 8, PAYLOAD_FUNCTION, sp + STACK);
	assert_int_equal(seen.sleepers, 0);
	note_at(p, 0, 40, 8, PAYLOAD_EXIT, sp + STACK);
	note_at(p, 1, 130, 7, PAYLOAD_EXIT, sp - 64);
	assert_int_equal(seen.sleepers, 2);
	assert_int_equal(seen.slept, 100);
	/* That vCPU goes to a third task, which was never left: it was not 7 that ran there. */
	note_at(p, 0, 140, 9, PAYLOAD_FUNCTION, sp + 2 * STACK);
	note_at(p, 1, 150, 7, PAYLOAD_EXIT, sp);
	assert_int_equal(seen.slept, 100);
	assert_int_equal(seen.exits, 3);
	pairing_free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(in_order),
		cmocka_unit_test(as_collected),
		cmocka_unit_test(with_losses),
		cmocka_unit_test(losses_as_collected),
		cmocka_unit_test(a_quiet_vcpu_ends_its_gap),
		cmocka_unit_test(queues_have_an_end),
		cmocka_unit_test(queues_stay_where_they_are),
		cmocka_unit_test(nothing_overtakes_what_waits_for_room),
		cmocka_unit_test(full_queues_have_room_for_a_ring),
		cmocka_unit_test(queues_of_many_share_the_memory_of_eight),
		cmocka_unit_test(as_many_vcpus_as_there_can_be),
		cmocka_unit_test(queues_of_those_that_wait_are_short),
		cmocka_unit_test(too_deep_is_counted),
		cmocka_unit_test(stacks_become_known),
		cmocka_unit_test(pids_are_used_again),
		cmocka_unit_test(switches_are_no_new_tasks),
		cmocka_unit_test(missing_exits_are_made_up),
		cmocka_unit_test(sleeps_are_told),
		cmocka_unit_test(memory_is_bounded),
		cmocka_unit_test(hostile_records),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
