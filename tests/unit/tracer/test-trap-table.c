// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test-trap-table.c - a hit whose probe event has the guest stop and go on: meanwhile others may
 * add probes, and the table of them is moved.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/unit/tramp-guest.h"
#include "tracer/dynevent/kprobe.h"
#include "tracer/internal.h"

static struct {
	struct probe *before; /* where the table was */
	bool asked;
} moved;

/* --- in place of tracer/dynevent/kprobe-hit.c --------------------------------------------------
 */

/* What somebody else does who adds a probe; what still looks at the old table finds nothing. */
void probe_events_hit(struct probe_events *p, uint32_t probe, const struct machine_hit *hit)
{
	struct probe_set *set = &p->t->probes;
	size_t size = set->room * sizeof(*set->v);
	struct probe *now = malloc(size);

	(void)hit;
	assert_non_null(now);
	assert_in_range(probe, 0, set->nr - 1);
	memcpy(now, set->v, set->nr * sizeof(*now));
	memset(set->v, 0, size);
	moved.before = set->v;
	moved.asked = true;
	set->v = now;
}

void probe_events_call(struct probe_events *p, const struct machine_hit *call)
{
	(void)p, (void)call;
}

void probe_events_stop(struct probe_events *p, const struct machine_hit *hit)
{
	(void)p, (void)hit;
}

/* --- tests ------------------------------------------------------------------------------------ */

static struct trace *t;

static int set_up(void **state)
{
	char err[256];

	(void)state;
	memset(&moved, 0, sizeof(moved));
	tramp_kernel_make();
	t = tramp_trace((struct trace_config){.engine = TRACE_ENGINE_TRAP});
	if (trace_attach(t, NULL, err, sizeof(err)))
		fail_msg("%s", err);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	tramp_end(t);
	free(moved.before);
	free(fake.ram);
	return 0;
}

static bool is_done(void)
{
	struct trace_status st;

	trace_get_status(t, &st);
	return st.done;
}

/* What comes behind the probe event is done as well, of the probe that was hit. */
static void hits_outlive_their_table(void **state)
{
	uint32_t alpha = probe_at_site(t, FAKE_VA(FN_ALPHA));

	(void)state;
	assert_in_range(alpha, 0, t->probes.nr - 1);
	t->probes.v[alpha].guards |= GUARD_PROBE | GUARD_UNTIL;
	assert_false(is_done());
	tramp_trap(t, FAKE_VA(FN_ALPHA), FAKE_VA(FN_START_KERNEL));
	assert_true(moved.asked);
	assert_true(is_done());
}

/* A place that is hit once is marked where its probe is now. */
static void places_hit_once_are_gone(void **state)
{
	uint32_t alpha = probe_at_site(t, FAKE_VA(FN_ALPHA));

	(void)state;
	t->probes.v[alpha].guards |= GUARD_PROBE;
	t->probes.v[alpha].flags |= PROBE_FL_ONCE;
	tramp_trap(t, FAKE_VA(FN_ALPHA), FAKE_VA(FN_START_KERNEL));
	assert_true(moved.asked);
	assert_true(t->probes.v[alpha].flags & PROBE_FL_GONE);
	assert_false(t->probes.v[alpha].flags & PROBE_FL_SET);
	assert_false(is_done());
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(hits_outlive_their_table, set_up, tear_down),
		cmocka_unit_test_setup_teardown(places_hit_once_are_gone, set_up, tear_down),
	};

	return cmocka_run_group_tests_name("trap-table", tests, NULL, NULL);
}
