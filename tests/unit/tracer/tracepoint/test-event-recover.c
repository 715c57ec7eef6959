// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test-event-recover.c - a tracer dies after any of its writes while the guest registers its trace
 * events for it: the next one takes back what is registered, and nothing else.
 *
 * Of the guest there are tracepoints, a module, and a kworker that does all that it has been given
 * whatever becomes of the tracer. It complains where a kernel does.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/unit/fake-life.h"
#include "tests/unit/tramp-guest.h"
#include "tracer/collect/collect.h"
#include "tracer/events/registry.h"
#include "tracer/instance/events.h"
#include "tracer/instance/files.h"
#include "tracer/instance/instance.h"
#include "tracer/tracepoint/tracepoint.h"
#include "tracer/window/work.h"

enum {
	EVENTS = 5,
	FN_RESERVE = 0x2800,
	FN_COMMIT = 0x2900,
	FN_REGISTER = 0x2a00,
	FN_UNREGISTER = 0x2a10,
	FN_GET = 0x2a20,
	FN_PUT = 0x2a30,
	FN_MEMSET = 0x2a40,
	FN_SYNCHRONIZE = 0x2a50,
	FN_PROBE = 0x2b00,  /* of event 0; the next follow */
	FN_OTHERS = 0x2c00, /* somebody else's, registered with the first tracepoint */
	TRACEPOINT = 0x5900,
	TRACEPOINT_SIZE = 0x20,
	TRACEPOINT_FUNCS = 0x10,
	FUNCS = 0xb000, /* struct tracepoint_func[], of each */
	FUNCS_SIZE = 0x40,
	MODULE = 0x5a00, /* its count of users */
	OTHERS_DATA = 77,
};

struct tp_func {
	uint64_t func, data;
};

static struct guestsym_event events[EVENTS];
static const struct guestsym_event_list list = {.v = events, .n = EVENTS};
static struct trace *t; /* that comes later */
static unsigned int works, complaints;
static struct {
	bool lets_go; /* who asks: then there is one end for all that it asks for */
	unsigned int n;
	int64_t end_ms;
} asked;
static const char *works_why_not; /* that the kernel cannot be asked is known beforehand */
static int works_until; /* so many may the tracer that comes later ask for; -1: any number */

/* --- the guest ------------------------------------------------------------------------------- */

static uint64_t funcs_of(uint64_t tracepoint)
{
	return FAKE_VA(FUNCS) + (tracepoint - FAKE_VA(TRACEPOINT)) / TRACEPOINT_SIZE * FUNCS_SIZE;
}

static void guest_put(uint64_t va, const void *buf, size_t len)
{
	uint64_t window = tramp_window();
	uint64_t pa = window && va - window < TRACE_WINDOW_MIN ? va - window + FAKE_WINDOW
							       : va - FAKE_TEXT + FAKE_PA;

	assert_int_equal(machine_write(NULL, pa, buf, len), 0);
}

static void guest_put_word(uint64_t va, uint64_t value)
{
	guest_put(va, &value, sizeof(value));
}

static size_t funcs_read(uint64_t tracepoint, struct tp_func f[FUNCS_SIZE / sizeof(struct tp_func)])
{
	size_t n = 0;

	memcpy(f, fake_at(funcs_of(tracepoint)), FUNCS_SIZE);
	while (f[n].func)
		n++;
	return get(tracepoint + TRACEPOINT_FUNCS) ? n : 0;
}

static uint64_t probe_register(uint64_t tracepoint, struct tp_func what)
{
	struct tp_func f[FUNCS_SIZE / sizeof(struct tp_func)];
	size_t n = funcs_read(tracepoint, f);

	for (size_t i = 0; i < n; i++)
		complaints += f[i].func == what.func && f[i].data == what.data;
	f[n] = what;
	f[n + 1] = (struct tp_func){0};
	guest_put(funcs_of(tracepoint), f, sizeof(f));
	guest_put_word(tracepoint + TRACEPOINT_FUNCS, funcs_of(tracepoint));
	return 0;
}

static uint64_t probe_unregister(uint64_t tracepoint, struct tp_func what)
{
	struct tp_func f[FUNCS_SIZE / sizeof(struct tp_func)];
	size_t n = funcs_read(tracepoint, f), i = 0;

	while (i < n && (f[i].func != what.func || f[i].data != what.data))
		i++;
	if (i == n) {
		complaints++;
		return (uint64_t)-ENOENT;
	}
	memmove(f + i, f + i + 1, (n - i) * sizeof(f[0]));
	guest_put(funcs_of(tracepoint), f, sizeof(f));
	if (n == 1)
		guest_put_word(tracepoint + TRACEPOINT_FUNCS, 0);
	return 0;
}

/* A bool is one byte, and what is above it is anything. */
static uint64_t module_count(uint64_t module, int by)
{
	uint64_t users = get(module) + (uint64_t)(int64_t)by;

	complaints += module != FAKE_VA(MODULE) || !users;
	guest_put_word(module, users);
	return 0xabcd01;
}

static uint64_t call(const struct borrow_call *c)
{
	static const uint8_t zero[64];

	switch (c->fn - FAKE_TEXT) {
	case FN_REGISTER:
		return probe_register(c->arg[0], (struct tp_func){c->arg[1], c->arg[2]});
	case FN_UNREGISTER:
		return probe_unregister(c->arg[0], (struct tp_func){c->arg[1], c->arg[2]});
	case FN_GET:
		return module_count(c->arg[0], 1);
	case FN_PUT:
		return module_count(c->arg[0], -1);
	case FN_MEMSET:
		assert_true(!c->arg[1] && c->arg[2] <= sizeof(zero));
		guest_put(c->arg[0], zero, c->arg[2]);
		return c->arg[0];
	case FN_SYNCHRONIZE:
		return 0;
	default:
		fail_msg("the guest is asked for %llx", (unsigned long long)c->fn);
		return 0;
	}
}

static void end_is_known(const struct guest_work *work)
{
	assert_int_equal(asked.lets_go, work->end_ms != 0);
	if (asked.lets_go && asked.n++)
		assert_int_equal(work->end_ms, asked.end_ms);
	asked.end_ms = work->end_ms;
}

int guest_work_run(const struct guest_work *work, struct borrow_call *calls, size_t n, char *err,
		   size_t errlen)
{
	end_is_known(work);
	assert_true(n <= WORK_CALLS_MAX);
	assert_int_equal(fake.paused, 0);
	if (!works_until) {
		snprintf(err, errlen, "it has died");
		return -EIO;
	}
	works_until -= works_until > 0;
	life.work = ++works;
	for (size_t i = 0; i < n; i++) {
		calls[i].ret = call(&calls[i]);
		calls[i].done = true;
		if (calls[i].ret_to)
			guest_put_word(calls[i].ret_to, calls[i].ret);
	}
	life.work = 0;
	return 0;
}

const char *guest_work_why_not(const struct guest_work *work)
{
	(void)work;
	return works_why_not;
}

int guest_work_settle(const struct guest_work *work)
{
	(void)work;
	return 0;
}

bool guest_work_is_done(const struct guest_work *work)
{
	(void)work;
	return true;
}

/* --- the kernel ------------------------------------------------------------------------------ */

/* mov %rdi,%rax; mov %rsi,%rcx; ret */
static const uint8_t fn_code[] = {0x48, 0x89, 0xf8, 0x48, 0x89, 0xf1, 0xc3};

static void kernel_add_functions(void)
{
	static const struct {
		const char *name;
		uint32_t at;
	} fns[] = {
		{"trace_event_buffer_reserve", FN_RESERVE},
		{"trace_event_buffer_commit", FN_COMMIT},
		{"tracepoint_probe_register", FN_REGISTER},
		{"tracepoint_probe_unregister", FN_UNREGISTER},
		{"try_module_get", FN_GET},
		{"module_put", FN_PUT},
		{"memset", FN_MEMSET},
		{"synchronize_rcu", FN_SYNCHRONIZE},
	};
	for (size_t i = 0; i < sizeof(fns) / sizeof(fns[0]); i++) {
		fake_symbol(fns[i].name, FAKE_VA(fns[i].at), 'T');
		memcpy(fake_at(FAKE_VA(fns[i].at)), fn_code, sizeof(fn_code));
	}
}

static void kernel_add_types(void)
{
	fake_field("trace_event_buffer.event", 8, 8);
	fake_field("trace_event_buffer.trace_file", 16, 8);
	fake_field("trace_event_buffer.entry", 24, 8);
	fake_field("trace_event_file.event_call", 16, 8);
	fake_field("trace_event_file.flags", 48, 8);
	fake_field("tracepoint.funcs", TRACEPOINT_FUNCS, 8);
	fake_field("tracepoint_func.func", 0, 8);
	fake_field("tracepoint_func.data", 8, 8);
	fake_type("trace_event_file", 80);
	fake_type("tracepoint_func", sizeof(struct tp_func));
}

/* The last two are a module's; the first two have one tracepoint. */
static void kernel_add_events(void)
{
	static const char *const names[EVENTS] = {"a", "b", "c", "d", "e"};

	for (unsigned int i = 0; i < EVENTS; i++)
		events[i] = (struct guestsym_event){
			.system = "made",
			.name = names[i],
			.module = i < 3 ? NULL : "mod",
			.module_at = i < 3 ? 0 : FAKE_VA(MODULE),
			.print_fmt = "\"\"",
			.id = (uint16_t)(400 + i),
			.source = GUESTSYM_EVENT_PROBE,
			.syscall_nr = -1,
			.tracepoint = FAKE_VA(TRACEPOINT + (i ? i - 1 : 0) * TRACEPOINT_SIZE),
			.probe = FAKE_VA(FN_PROBE + 16 * i),
		};
	fake.events = &list;
	put(MODULE, 1, 8);
	probe_register(events[0].tracepoint, (struct tp_func){FAKE_VA(FN_OTHERS), OTHERS_DATA});
}

static int set_up(void **state)
{
	(void)state;
	works = complaints = 0;
	memset(&asked, 0, sizeof(asked));
	works_until = -1;
	works_why_not = NULL;
	tramp_kernel_make();
	kernel_add_functions();
	kernel_add_types();
	kernel_add_events();
	t = tramp_trace((struct trace_config){.running = true});
	t->m = (struct machine *)&fake;
	guest_bind(&t->guest, t->m);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	assert_int_equal(fake.paused, 0);
	trace_free(t);
	life_free();
	free(fake.ram);
	return 0;
}

/* --- the tracer that dies -------------------------------------------------------------------- */

static void wants(struct trace *dying, unsigned int mask)
{
	struct events *e = dying->trace_events;
	struct instance *top = trace_top(dying);

	trace_writers_stop(dying);
	for (unsigned int i = 0; i < EVENTS; i++)
		top->events[i].on = mask >> i & 1;
	instance_count_events(top);
	trace_writers_go(dying);
	events_lock(e);
	assert_int_equal(events_apply(e), 0);
	events_unlock(e);
	for (unsigned int i = 0; i < EVENTS; i++)
		assert_int_equal(e->registered[i], mask >> i & 1);
	assert_int_equal(get(FAKE_VA(MODULE)), mask >> 3 ? 2 : 1);
}

static struct trace *begin(void)
{
	struct trace *dying = tramp_trace((struct trace_config){.engine = TRACE_ENGINE_TRAP});
	char err[256] = "";

	tramp_boot(dying);
	dying->m = (struct machine *)&fake;
	if (collect_open_events(dying, err, sizeof(err)))
		fail_msg("%s", err);
	assert_int_equal(events_load(dying->trace_events), 0);
	assert_int_equal(instance_events_get(trace_top(dying)), 0);
	dying->trace_events->ready = true;
	life_begin();
	return dying;
}

/* All that can be asked for, in an order in which some are there while others come and go. */
static void lives(void)
{
	struct trace *dying = begin();

	wants(dying, 0x1f);
	wants(dying, 0x09);
	wants(dying, 0x07);
	wants(dying, 0x1c);
	asked.lets_go = true;
	assert_int_equal(events_close(dying->trace_events, true), 0);
	asked.lets_go = false;
	assert_in_range(asked.n, 2, 10);
	life_end();
	assert_int_equal(trace_detach(dying), 0);
	trace_free(dying);
}

/* Event 0, which the guest does not get registered. */
static int is_refused(struct trace *refused)
{
	struct events *e = refused->trace_events;
	int ret;

	trace_writers_stop(refused);
	trace_top(refused)->events[0].on = true;
	instance_count_events(trace_top(refused));
	trace_writers_go(refused);
	events_lock(e);
	ret = events_apply(e);
	events_unlock(e);
	assert_false(e->registered[0]);
	return ret;
}

/* --- who comes later ------------------------------------------------------------------------- */

static void nothing_is_left(size_t n)
{
	static const struct tp_func others = {FAKE_VA(FN_OTHERS), OTHERS_DATA};
	struct tp_func f[FUNCS_SIZE / sizeof(struct tp_func)];

	if (complaints)
		fail_msg("the guest complains behind one that died after write %zu", n);
	for (unsigned int i = 1; i < EVENTS; i++)
		if (funcs_read(events[i].tracepoint, f) != (i == 1))
			fail_msg("something is registered behind write %zu", n);
	funcs_read(events[0].tracepoint, f);
	assert_memory_equal(&f[0], &others, sizeof(others));
	if (get(FAKE_VA(MODULE)) != 1)
		fail_msg("the module is held behind write %zu", n);
}

static int recover(void)
{
	char err[256] = "";
	struct window w;

	assert_int_equal(window_find(&w, &t->guest), 0);
	return events_recover(t, &w, err, sizeof(err));
}

/* The guest goes on with what it has been given. */
static bool is_in_the_midst_of_work(size_t n)
{
	return n && n < life.n && life.write[n].work &&
	       life.write[n - 1].work == life.write[n].work;
}

static void whenever_it_dies_what_is_registered_is_taken_back(void **state)
{
	(void)state;
	lives();
	assert_int_equal(complaints, 0);
	for (size_t n = 0; n <= life.n; n++) {
		if (is_in_the_midst_of_work(n))
			continue;
		life_until(n, 0);
		if (recover())
			fail_msg("behind write %zu", n);
		nothing_is_left(n);
	}
}

/* Who comes later may die as well, and the one behind that, too. */
static void whenever_the_next_one_dies_so_it_is(void **state)
{
	(void)state;
	lives();
	for (size_t n = 0; n <= life.n; n++) {
		if (is_in_the_midst_of_work(n))
			continue;
		life_until(n, 0);
		for (int some = 0; some < 4; some++) {
			works_until = some;
			recover();
		}
		works_until = -1;
		assert_int_equal(recover(), 0);
		nothing_is_left(n);
	}
}

/* No jump, and no probe for whoever comes later. */
static void nothing_is_written(void)
{
	static const struct payload_event none;
	struct payload_event row;
	struct window w;

	assert_int_equal(window_find(&w, &t->guest), 0);
	assert_memory_equal(fake_at(FAKE_VA(FN_RESERVE)), fn_code, sizeof(fn_code));
	assert_memory_equal(fake_at(FAKE_VA(FN_COMMIT)), fn_code, sizeof(fn_code));
	for (size_t i = 0; i < EVENT_TABLE_ROWS; i++) {
		assert_int_equal(
			window_read(&w, WINDOW_EVENT_TABLE + i * sizeof(row), &row, sizeof(row)),
			0);
		assert_memory_equal(&row, &none, sizeof(row));
	}
}

/* Whether it can be asked is looked at first: until then nothing is written. */
static void a_guest_that_cannot_be_asked_is_left_alone(void **state)
{
	struct trace *refused = begin();

	(void)state;
	works_why_not = "it cannot be asked";
	works_until = 0;
	assert_int_equal(is_refused(refused), -EOPNOTSUPP);
	nothing_is_written();
	assert_int_equal(events_close(refused->trace_events, true), 0);
	life_end();
	assert_int_equal(trace_detach(refused), 0);
	trace_free(refused);
}

/* And where it turns out later, what has been written is taken back without asking. */
static void a_guest_that_does_not_do_it_is_left_as_it_was(void **state)
{
	struct trace *refused = begin();

	(void)state;
	works_until = 0;
	assert_int_equal(is_refused(refused), -EIO);
	assert_int_equal(events_close(refused->trace_events, true), 0);
	life_end();
	nothing_is_written();
	assert_int_equal(recover(), 0);
	nothing_is_left(life.n);
	assert_int_equal(trace_detach(refused), 0);
	trace_free(refused);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(whenever_it_dies_what_is_registered_is_taken_back,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(whenever_the_next_one_dies_so_it_is, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(a_guest_that_cannot_be_asked_is_left_alone, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(a_guest_that_does_not_do_it_is_left_as_it_was,
						set_up, tear_down),
	};

	return cmocka_run_group_tests_name("event recover", tests, NULL, NULL);
}
