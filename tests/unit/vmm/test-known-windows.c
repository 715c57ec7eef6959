// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test-known-windows.c - irqsoff of the test guest, which knows how long it keeps interrupts off
 * (tests/guest/irqs.c): every window is found, with the functions that began and ended it, and as
 * long as the guest says. And what was called in one, as a graph.
 */
#include "tests/unit/testguest.h"

#include <inttypes.h>

#include "guestsym/guestsym.h"
#include "tracer/probe/critical/sites.h"
#include "tracer/instance/instance.h"
#include "tracer/probe/trampoline/trampoline.h"
#include "tracer/collect/collect.h"
#include "tracer/instance/files.h"
#include "tracer/record/files.h"
#include "tracer/control/files.h"
#include "tracer/tracer.h"

#define ROUNDS	    40
#define LENGTHS	    5 /* 50, 100, 200, 500 and 5,000 us */
#define NR_WINDOWS  (ROUNDS * LENGTHS)
#define WINDOWS_MAX 256 /* as tests/guest/guest.h has it */

struct guest_seen {
	uint64_t nr, insns, exit;
	struct guest_window {
		uint64_t us, inside, around;
	} window[WINDOWS_MAX];
};

struct found {
	uint64_t ticks;
	char off[32], on[32];
};

struct env {
	struct guest g;
	struct guestsym *gs;
	struct trace *t;
	bool graph;
	const struct tracer_ops *tracer; /* the real one */
	struct tracer_ops ops;
	uint64_t khz;
	struct guest_seen seen;
	struct found found[NR_WINDOWS];
	unsigned int nr;
};

static void hand_over(struct machine *m, const struct machine_hit *hit, void *arg)
{
	struct guest *g = arg;
	struct env *e = g->user;

	(void)m;
	trace_trap(e->t, hit);
}

static void name_of(struct trace *t, const struct payload_record *r, char name[32])
{
	const struct guestsym_symbol *s = guestsym_find(t->gs, flag_sites_shown(t, r), NULL, NULL);

	snprintf(name, 32, "%s", s ? s->name : "?");
}

/* A tracer's callbacks have no argument of ours. */
static struct env *looking;

static void look(struct instance *i, const struct critical_window *w)
{
	struct env *e = looking;

	if (e->nr < NR_WINDOWS) {
		struct found *f = &e->found[e->nr];

		f->ticks = critical_ticks(w);
		name_of(i->t, &w->off, f->off);
		name_of(i->t, &w->on, f->on);
	}
	e->nr++;
	e->tracer->window(i, w);
}

static void trace_begin(struct env *e, enum trace_engine engine, const char *filter)
{
	struct trace_config cfg = {
		.gs = e->gs,
		.vcpus = 1,
		.tracer = "irqsoff",
		.filter = &filter,
		.nr_filter = 1,
		.buffer_bytes = 1 << 20,
		.engine = engine,
	};
	char err[256] = "";

	e->t = trace_new(&cfg, err, sizeof(err));
	if (e->t)
		assert_int_equal(
			instance_set_option(trace_top(e->t), OUTPUT_DISPLAY_GRAPH, e->graph), 0);
	if (!e->t || trace_attach(e->t, e->g.m, err, sizeof(err)))
		fail_msg("%s", err);
}

/* It comes when the kernel has booted; the last thing that it does is to set this option. */
static void tracer_wait(struct env *e)
{
	struct instance *top = trace_top(e->t);
	time_t end = time(NULL) + GUEST_LIMIT_MS / 1000;

	while (!(instance_options(top) & OUTPUT_LATENCY_FORMAT)) {
		if (time(NULL) > end)
			fail_msg("the tracer does not come");
		sched_yield();
	}
	assert_string_equal(instance_tracer(top), "irqsoff");
}

/* Each window comes by. */
static void windows_watch(struct env *e)
{
	struct instance *top = trace_top(e->t);

	trace_set_thresh(e->t, 1); /* all are kept */
	trace_writers_stop(e->t);
	e->tracer = top->tracer;
	e->ops = *top->tracer;
	e->ops.window = look;
	top->tracer = &e->ops;
	looking = e;
	trace_writers_go(e->t);
}

static void trace_end(struct env *e)
{
	trace_writers_stop(e->t);
	collect_catch_up(e->t);
	if (e->tracer)
		trace_top(e->t)->tracer = e->tracer;
	trace_writers_go(e->t);
	assert_int_equal(trace_detach(e->t), 0);
}

/* Of the guests that there are here. */
static uint64_t guest_khz(void)
{
	struct machine_info info;
	struct guest g;

	guest_new(&g, 1, "");
	machine_get_info(g.m, &info);
	guest_free(&g);
	assert_true(info.tsc_khz >= 1000);
	return info.tsc_khz;
}

static void guest_begin(struct env *e, enum trace_engine engine, const char *filter,
			const char *job)
{
	char words[128], err[256];

	e->khz = guest_khz();
	snprintf(words, sizeof(words), "nops=1 end=poweroff mhz=%" PRIu64 " %s", e->khz / 1000,
		 job);
	guest_new(&e->g, 1, words);
	e->g.trap = hand_over;
	e->g.user = e;
	e->gs = guestsym_parse(e->g.image, e->g.image_size, err, sizeof(err));
	if (!e->gs)
		fail_msg("%s", err);
	trace_begin(e, engine, filter);
	guest_start(&e->g);
}

static void guest_end(struct env *e)
{
	guest_free(&e->g);
	trace_free(e->t);
	guestsym_close(e->gs);
	free(e);
}

static void guest_see(struct env *e)
{
	uint64_t pa = guest_pa(guest_sym(&e->g, "irqs_seen"));

	assert_int_equal(machine_read(e->g.m, pa, &e->seen, sizeof(e->seen)), 0);
	assert_int_equal(e->seen.nr, NR_WINDOWS);
}

static void names_check(const struct found *f, uint64_t us)
{
	char off[32], on[32];

	snprintf(off, sizeof(off), "irqs_off_%" PRIu64, us);
	snprintf(on, sizeof(on), "irqs_on_%" PRIu64, us);
	assert_string_equal(f->off, off);
	assert_string_equal(f->on, us == 200 ? "syscall_exit_to_user_mode" : on);
}

/*
 * Within 5 % and 2 us, and what comes between the moments at which guest and tracer look at the
 * clock: some twenty instructions, and with traps the way back from a host and to it again. The
 * guest has told what these cost here, for a host may interpret it. One window of each length is
 * enough: somebody may have taken the vCPU away in the others, just there.
 */
static void closest_check(const struct env *e, uint64_t us, uint64_t cost)
{
	uint64_t best = UINT64_MAX, inside = 0;

	for (unsigned int i = 0; i < e->nr; i++) {
		const struct guest_window *w = &e->seen.window[i];

		if (w->us == us && e->found[i].ticks - w->inside < best) {
			best = e->found[i].ticks - w->inside;
			inside = w->inside;
		}
	}
	print_message("# %" PRIu64 " us: %" PRIu64 " ns by the guest, %" PRIu64
		      " more found, of which %" PRIu64 " may be the tracer's\n",
		      us, inside * 1000000 / e->khz, best * 1000000 / e->khz,
		      cost * 1000000 / e->khz);
	assert_true(best <= inside / 20 + 2 * e->khz / 1000 + cost);
}

static void windows_are_found(enum trace_engine engine)
{
	static const uint64_t lengths[LENGTHS] = {50, 100, 200, 500, 5000};
	struct env *e = calloc(1, sizeof(*e));
	uint64_t cost;
	char job[64];

	assert_non_null(e);
	snprintf(job, sizeof(job), "job=irqs go=1 count=%d", ROUNDS);
	guest_begin(e, engine, "traced_leaf", job);
	tracer_wait(e);
	windows_watch(e);
	*guest_var(&e->g, "job_go") = 1;
	guest_wait_end(&e->g, MACHINE_EVENT_POWEROFF);
	trace_end(e);
	guest_see(e);
	cost = e->seen.insns + (engine == TRACE_ENGINE_TRAP ? e->seen.exit : 0);
	assert_int_equal(e->nr, NR_WINDOWS);
	for (unsigned int i = 0; i < NR_WINDOWS; i++) {
		const struct guest_window *w = &e->seen.window[i];

		names_check(&e->found[i], w->us);
		assert_in_range(e->found[i].ticks, w->inside, w->around);
	}
	for (unsigned int i = 0; i < LENGTHS; i++)
		closest_check(e, lengths[i], cost);
	guest_end(e);
}

/* --- what is called in one ------------------------------------------------------------------- */

static char *read_trace(struct instance *i)
{
	struct instance_reader *r = instance_read_open(i, ALL_VCPUS, false);
	struct text text = {0};
	char buf[4096];
	ssize_t n;

	assert_non_null(r);
	while ((n = instance_read(r, buf, sizeof(buf), (off_t)text.len)) > 0)
		text_add(&text, buf, (size_t)n);
	instance_read_close(r);
	text_putc(&text, '\0');
	return text.buf;
}

/* The next line that has this behind its columns; *at is behind it. Its duration in ns. */
static uint64_t expect_line(const char **at, const char *call)
{
	char want[64];
	const char *found, *line;
	double us = 0;

	snprintf(want, sizeof(want), "|  %s\n", call);
	found = strstr(*at, want);
	if (!found) {
		fail_msg("no \"%s\" in\n%s", call, *at);
		return 0;
	}
	for (line = found - 1; *line != '|' && *line != '\n';)
		line--;
	sscanf(line + 1, "%lf us", &us);
	*at = found + strlen(want);
	return (uint64_t)(us * 1000);
}

/* An interrupt's window, and the two traced functions in it. */
static void calls_are_shown(enum trace_engine engine)
{
	struct env *e = calloc(1, sizeof(*e));
	uint64_t handler, eoi;
	const char *at;
	char *text;

	assert_non_null(e);
	e->graph = true;
	guest_begin(e, engine, "*", "traced=1 job=timer count=5 timer=5000000");
	guest_wait_end(&e->g, MACHINE_EVENT_POWEROFF);
	trace_end(e);
	text = read_trace(trace_top(e->t));
	at = text;
	expect_line(&at, "irqentry_enter();");
	expect_line(&at, "handle_interrupt() {");
	eoi = expect_line(&at, "  apic_eoi();");
	handler = expect_line(&at, "}");
	assert_true(eoi > 0 && eoi < handler);
	expect_line(&at, "irqentry_exit();");
	expect_line(&at, "tracer_hardirqs_on();");
	free(text);
	guest_end(e);
}

static void with_trampolines(void **state)
{
	(void)state;
	windows_are_found(TRACE_ENGINE_TRAMPOLINE);
}

static void with_traps(void **state)
{
	(void)state;
	windows_are_found(TRACE_ENGINE_TRAP);
}

static void calls_with_trampolines(void **state)
{
	(void)state;
	calls_are_shown(TRACE_ENGINE_TRAMPOLINE);
}

static void calls_with_traps(void **state)
{
	(void)state;
	calls_are_shown(TRACE_ENGINE_TRAP);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(with_trampolines),
		cmocka_unit_test(with_traps),
		cmocka_unit_test(calls_with_trampolines),
		cmocka_unit_test(calls_with_traps),
	};

	return guest_run_tests("known-windows", tests);
}
