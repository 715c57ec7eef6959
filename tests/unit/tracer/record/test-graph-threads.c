// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test-graph-threads.c - function_graph and the profiler while everybody is at it: a guest that
 * calls and returns, the collector, one who reads, one who switches tracers and filters. For
 * ThreadSanitizer above all; what is read makes sense at any time.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/unit/tramp-guest.h"
#include "tracer/record/graph.h"
#include "tracer/instance/instance.h"
#include "tracer/probe/returns/returns.h"
#include "tracer/instance/files.h"
#include "tracer/stat/files.h"
#include "tracer/control/files.h"
#include "tracer/tracer.h"

enum {
	CALLS = 4000,
	TURNS = 5, /* of each of the others, at least */
	SP = 0x10001000,
	ALPHA_RETURN = FN_ALPHA + 0xf8,
};

struct world {
	struct trace *t;
	atomic_bool over;
	atomic_uint reads, changes;
};

static void call_or_return(unsigned int vcpu, uint64_t tsc, unsigned int type)
{
	uint32_t off = type == PAYLOAD_EXIT ? ALPHA_RETURN : FN_ALPHA;

	tramp_record(vcpu, (struct payload_record){
				   .tsc = tsc,
				   .ip = (uint32_t)FAKE_VA(off),
				   .parent = (uint32_t)FAKE_VA(FN_BETA + 0x10),
				   .sp = SP + (vcpu << 16),
				   .task = 42 + vcpu,
				   .state = PREEMPT_NO_RESCHED | type << STATE_TYPE_SHIFT,
			   });
}

static void *read_all(void *arg)
{
	struct world *w = arg;

	while (!atomic_load(&w->over)) {
		struct pairing_counts counts;
		struct trace_status st;
		struct text text = {0};
		char *all = tramp_print(w->t);

		trace_print_profile(w->t, w->reads & 1, &text);
		graph_get_counts(w->t->graph, &counts);
		trace_get_status(w->t, &st);
		if (counts.tasks > TRAMP_CPUS || text.failed)
			abort();
		text_free(&text);
		free(all);
		w->reads++;
	}
	return NULL;
}

static void must(int ret)
{
	if (ret)
		abort();
}

static void *change_all(void *arg)
{
	struct world *w = arg;
	struct instance *top = trace_top(w->t);

	for (; !atomic_load(&w->over); w->changes++) {
		must(instance_set_tracer(top, "nop"));
		must(trace_set_profile(w->t, true));
		must(trace_set_profile(w->t, false));
		must(instance_set_clock(top, w->changes & 1 ? "x86-tsc" : "counter"));
		must(instance_set_tracer(top, "function_graph"));
	}
	return NULL;
}

/* As long as it takes for the others to be at it, too. */
static void guest_runs(struct world *w)
{
	uint64_t tsc = 1000;

	for (unsigned int i = 0; i < CALLS || w->reads < TURNS || w->changes < TURNS; i++) {
		unsigned int vcpu = i % TRAMP_CPUS;

		call_or_return(vcpu, ++tsc, PAYLOAD_FUNCTION);
		call_or_return(vcpu, ++tsc, PAYLOAD_EXIT);
		if (i % 64 == 0)
			sched_yield();
	}
	atomic_store(&w->over, true);
}

static void everybody_is_at_it(void **state)
{
	pthread_t reader, changer;
	struct pairing_counts counts;
	struct world w = {0};

	(void)state;
	w.t = tramp_started((struct trace_config){0});
	assert_int_equal(returns_learn(w.t), 0);
	assert_int_equal(trampoline_returns(w.t), 0);
	assert_int_equal(instance_set_tracer(trace_top(w.t), "function_graph"), 0);
	assert_int_equal(tramp_target(ALPHA_RETURN), tramp_entry(payload_exit));
	assert_int_equal(pthread_create(&reader, NULL, read_all, &w), 0);
	assert_int_equal(pthread_create(&changer, NULL, change_all, &w), 0);
	guest_runs(&w);
	assert_int_equal(pthread_join(reader, NULL), 0);
	assert_int_equal(pthread_join(changer, NULL), 0);
	/* And it still works. */
	assert_int_equal(instance_set_tracer(trace_top(w.t), "function_graph"), 0);
	graph_get_counts(w.t->graph, &counts);
	call_or_return(0, 1000000, PAYLOAD_FUNCTION);
	call_or_return(0, 1000001, PAYLOAD_EXIT);
	tramp_wait(({
		struct pairing_counts now;

		graph_get_counts(w.t->graph, &now);
		now.pairs > counts.pairs;
	}));
	tramp_end(w.t);
}

static int set_up(void **state)
{
	(void)state;
	tramp_kernel_make();
	fake_symbol("_stext", FAKE_TEXT, 'T');
	fake_symbol("_etext", FAKE_VA(0x3000), 'T');
	memcpy(fake_at(FAKE_VA(ALPHA_RETURN - 1)), "\x90\xc3\x0f\x1f\x80\0\0\0\0", 9);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	free(fake.ram);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(everybody_is_at_it, set_up, tear_down),
	};

	return cmocka_run_group_tests_name("graph-threads", tests, NULL, NULL);
}
