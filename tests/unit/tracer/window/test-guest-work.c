// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test-guest-work.c - calls that kworkers of a guest make for us: what is put into the window for
 * them, what comes back, and a guest that does not do its part, or writes what it likes there.
 *
 * The guest is made up, as far as guest-work.c sees it; it does something whenever the host naps,
 * and time passes by that alone.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "tracer/guest/call-type.h"
#include "tracer/window/work.h"

enum {
	MODEL_AT = 0x1000, /* poweroff_work */
	FUNC_AT = 0x2000,  /* its function */
	QUEUES_AT = 0x3000,
	ONLINE_AT = 0x3100,
	QUEUE_WORK_ON = 0x4000,
	QUEUE = 0x5000,
	CALLED = 0x6000, /* what we have called: CALLED, CALLED + 1... */
	ENTRY = 0x40,
	WINDOW_AT = 0x100000,
	WORK_SIZE = 32,
	WORK_ENTRY = 8,
	WORK_FUNC = 24,
};

/* struct work_struct: data, entry.next, entry.prev, func */
struct work {
	uint64_t data, next, prev, func;
};

static struct {
	struct work model;
	uint64_t queue;
	uint8_t online;
	const char *without; /* a symbol that this kernel does not have */
	const char *with;    /* one that others do not have */
	uint32_t size;	     /* of a work_struct; 0: no types */
	uint8_t window[WINDOW_PIECE];
	bool queued, ended, halted;
	bool typed;	    /* its kernel tells what it wants to find in front of a function */
	unsigned int looks; /* so many more until it is given up; 0: it is not */
	unsigned int made;  /* calls, by the kworker */
	int borrow;	    /* what borrow_run() gives */
	void (*nap)(void);  /* what the guest does while the host does */
	int64_t now;	    /* ns */
} guest;

/* In front of each function of that type: the hash that callers compare. */
static const uint8_t hash[CALL_TYPE_SIZE] = {0xb8, 0x11, 0x22, 0x33, 0x44};

/* --- the time --------------------------------------------------------------------------------- */

/* NOLINTNEXTLINE(readability-inconsistent-declaration-parameter-name): reserved ones there */
int clock_gettime(clockid_t clock, struct timespec *ts)
{
	(void)clock;
	*ts = (struct timespec){.tv_sec = guest.now / 1000000000,
				.tv_nsec = guest.now % 1000000000};
	return 0;
}

/* NOLINTNEXTLINE(readability-inconsistent-declaration-parameter-name): likewise */
int clock_nanosleep(clockid_t clock, int flags, const struct timespec *time, struct timespec *left)
{
	(void)clock;
	(void)flags;
	(void)time;
	(void)left;
	guest.now += 10000000; /* a longer nap than was asked for: half a minute is 3000 of them */
	if (guest.nap)
		guest.nap();
	return 0;
}

/* --- what guest-work.c is linked with -----------------------------------------------------------
 */

int guestsym_type_size(const struct guestsym *gs, const char *name, uint32_t *size)
{
	(void)gs;
	assert_string_equal(name, "work_struct");
	*size = guest.size;
	return guest.size ? 0 : -ENODATA;
}

int guestsym_field(const struct guestsym *gs, const char *path, struct guestsym_field *field)
{
	bool func = !strcmp(path, "work_struct.func");

	(void)gs;
	*field = (struct guestsym_field){.offset = func ? WORK_FUNC : WORK_ENTRY, .size = 8};
	return 0;
}

uint64_t guestsym_addr(const struct guestsym *gs, const char *name)
{
	(void)gs;
	if (!strcmp(name, "poweroff_work_func"))
		return FUNC_AT;
	return guest.with && !strcmp(name, guest.with) ? 0x7000 : 0;
}

uint64_t borrow_function(const struct borrow *b, const char *name)
{
	static const struct {
		const char *name;
		uint64_t at;
	} symbols[] = {
		{"poweroff_work", MODEL_AT},	  {"poweroff_work_func", FUNC_AT},
		{"queue_work_on", QUEUE_WORK_ON}, {"wq_online", ONLINE_AT},
		{"system_unbound_wq", QUEUES_AT},
	};

	(void)b;
	if (guest.with && !strcmp(name, guest.with))
		return 0x7000;
	for (size_t i = 0; i < sizeof(symbols) / sizeof(symbols[0]); i++)
		if (!strcmp(name, symbols[i].name) &&
		    (!guest.without || strcmp(name, guest.without)))
			return symbols[i].at;
	return 0;
}

int guest_read(struct guest_kernel *g, uint64_t va, void *buf, size_t len)
{
	const void *from = va == MODEL_AT    ? (void *)&guest.model
			   : va == QUEUES_AT ? (void *)&guest.queue
			   : va == ONLINE_AT ? &guest.online
					     : NULL;

	(void)g;
	if (va == FUNC_AT - sizeof(hash) && guest.typed)
		from = hash;
	if (!from)
		return -EFAULT;
	memcpy(buf, from, len);
	return 0;
}

int window_read(struct window *w, uint64_t off, void *buf, size_t len)
{
	(void)w;
	assert_true(off <= sizeof(guest.window) && len <= sizeof(guest.window) - off);
	memcpy(buf, guest.window + off, len);
	return 0;
}

int window_write(struct window *w, uint64_t off, const void *buf, size_t len)
{
	(void)w;
	assert_true(off <= sizeof(guest.window) && len <= sizeof(guest.window) - off);
	memcpy(guest.window + off, buf, len);
	return 0;
}

int borrow_run(struct borrow *b, struct borrow_call *calls, size_t n, enum borrow_where where,
	       int timeout_ms, char *err, size_t errlen)
{
	(void)b;
	(void)timeout_ms;
	assert_int_equal(n, 1);
	assert_int_equal(where, BORROW_ANY);
	assert_int_equal(calls[0].fn, QUEUE_WORK_ON);
	assert_int_equal(calls[0].arg[1], QUEUE);
	assert_int_equal(calls[0].arg[2], WINDOW_AT + WINDOW_WORK);
	if (guest.borrow)
		snprintf(err, errlen, "no safe point");
	else
		guest.queued = true;
	return guest.borrow;
}

/* --- what the guest does ---------------------------------------------------------------------- */

static uint32_t word_at(unsigned int off)
{
	uint32_t v;

	memcpy(&v, guest.window + WINDOW_WORK + off, sizeof(v));
	return v;
}

static void word_set(unsigned int off, uint32_t v)
{
	memcpy(guest.window + WINDOW_WORK + off, &v, sizeof(v));
}

/* As payload/work.S does it: one call for each nap of the host's. */
static void kworker(void)
{
	uint32_t done = word_at(WORK_DONE);
	struct payload_work_call row;
	uint8_t *at = guest.window + WINDOW_WORK + WORK_CALLS + done * WORK_CALL_SIZE;

	if (!guest.queued || word_at(WORK_OVER))
		return;
	if (done == word_at(WORK_NR)) {
		word_set(WORK_OVER, 1);
		guest.queued = false;
		return;
	}
	memcpy(&row, at, sizeof(row));
	assert_int_equal(row.fn, CALLED + guest.made);
	assert_int_equal(row.arg[2], 3 * guest.made);
	assert_int_equal(row.arg[3], 4 * guest.made);
	row.ret = 1000 + guest.made++;
	memcpy(at, &row, sizeof(row));
	word_set(WORK_DONE, done + 1);
}

/* It says that it has done one more, again and again, just before nobody waits any more. */
static void holds_on(void)
{
	guest.now += INT64_C(50) * 1000000000;
	word_set(WORK_DONE, word_at(WORK_DONE) + 1);
}

/* Some calls, and then none any more. */
static void kworker_hangs(void)
{
	if (guest.made < 3)
		kworker();
}

/* Whoever writes what he likes there. */
static void scribbles(void)
{
	guest.made = guest.made * 1103515245 + 12345;
	word_set(WORK_DONE, guest.made);
}

/* It powers itself off in the midst of it. */
static void ends(void)
{
	kworker_hangs();
	guest.ended = guest.made == 3;
}

bool machine_has_ended(struct machine *m, struct machine_event *ev)
{
	(void)m;
	(void)ev;
	return guest.ended;
}

bool guest_is_given_up(const struct guest_kernel *g)
{
	(void)g;
	return guest.looks && !--guest.looks;
}

bool guest_has_halted(const struct guest_kernel *g)
{
	(void)g;
	return guest.halted;
}

static int64_t now_ms(void)
{
	return guest.now / 1000000;
}

static struct guest_work work;
static struct guest_kernel kernel = {.now_ms = now_ms};
static struct window window;

static int set_up(void **state)
{
	(void)state;
	memset(&guest, 0, sizeof(guest));
	guest.model = (struct work){0x1fe0, MODEL_AT + WORK_ENTRY, MODEL_AT + WORK_ENTRY, FUNC_AT};
	guest.queue = QUEUE;
	guest.size = WORK_SIZE;
	guest.nap = kworker;
	guest.now = 5000000000;
	window.header.va = WINDOW_AT;
	work = (struct guest_work){.g = &kernel, .w = &window, .entry = ENTRY};
	return 0;
}

static int run_calls(struct borrow_call *calls, size_t n, char *err)
{
	for (size_t i = 0; i < n; i++)
		calls[i] = (struct borrow_call){
			.fn = CALLED + i, .arg = {i, 2 * i, 3 * i, 4 * i}, .done = true};
	err[0] = '\0';
	return guest_work_run(&work, calls, n, err, 256);
}

/* --- tests ------------------------------------------------------------------------------------ */

static void expect_done(const struct borrow_call *calls, size_t n, size_t done)
{
	for (size_t i = 0; i < n; i++) {
		assert_int_equal(calls[i].done, i < done);
		if (i < done)
			assert_int_equal(calls[i].ret, 1000 + i);
	}
}

static void test_run(void **state)
{
	struct borrow_call calls[5];
	struct work made;
	char err[256];

	(void)state;
	assert_int_equal(run_calls(calls, 5, err), 0);
	expect_done(calls, 5, 5);
	memcpy(&made, guest.window + WINDOW_WORK, sizeof(made));
	assert_int_equal(made.data, guest.model.data);
	assert_int_equal(made.func, WINDOW_AT + WINDOW_TEXT + ENTRY);
	assert_int_equal(made.next, WINDOW_AT + WINDOW_WORK + WORK_ENTRY);
	assert_int_equal(made.prev, made.next);
}

/* More than there is room for at once. */
static void test_many(void **state)
{
	static struct borrow_call calls[WORK_CALLS_MAX + 10];
	char err[256];

	(void)state;
	assert_int_equal(run_calls(calls, WORK_CALLS_MAX + 10, err), 0);
	expect_done(calls, WORK_CALLS_MAX + 10, WORK_CALLS_MAX + 10);
}

/* A kernel in which something is not as it is known to be is not touched. */
static void test_strange(void **state)
{
	static const char *const needed[] = {"poweroff_work", "poweroff_work_func", "queue_work_on",
					     "system_unbound_wq"};
	static const uint8_t untouched[WORK_CALLS];
	struct borrow_call call;
	char err[256];

	for (size_t i = 0; i < 10; i++) {
		set_up(state);
		guest.without = i < 4 ? needed[i] : NULL;
		guest.with = i == 4 ? "report_cfi_failure" : NULL;
		if (i == 5)
			guest.size = 0;
		else if (i == 6)
			guest.size = WORK_STRUCT_MAX + 8;
		else if (i == 7)
			guest.model.func++;
		else if (i == 8)
			guest.model.prev = 0;
		else if (i == 9)
			guest.queue = 0;
		assert_int_equal(run_calls(&call, 1, err), -EOPNOTSUPP);
		assert_true(strstr(err, "cannot be given work"));
		assert_false(call.done || guest.queued);
		assert_memory_equal(guest.window + WINDOW_WORK, untouched, sizeof(untouched));
	}
}

static void test_why_not(void **state)
{
	(void)state;
	assert_null(guest_work_why_not(&work));
	guest.with = "report_cfi_failure";
	assert_non_null(strstr(guest_work_why_not(&work), "CONFIG_CFI_CLANG"));
	guest.typed = true;
	assert_null(guest_work_why_not(&work));
	/* Its older checks go by tables of jumps. */
	guest.with = "__cfi_slowpath_diag";
	assert_non_null(strstr(guest_work_why_not(&work), "CONFIG_CFI_CLANG"));
	guest.with = NULL;
	guest.without = "queue_work_on";
	assert_non_null(strstr(guest_work_why_not(&work), "does not tell how"));
}

/* A kernel that checks what it calls is given nothing that it would not call. */
static void test_checks(void **state)
{
	uint8_t *front = guest.window + WINDOW_TEXT + ENTRY - CALL_TYPE_SIZE;
	struct borrow_call calls[5];
	char err[256];

	(void)state;
	guest.with = "report_cfi_failure";
	guest.typed = true;
	assert_int_equal(run_calls(calls, 5, err), -EOPNOTSUPP);
	assert_non_null(strstr(err, "another hvtrace"));
	assert_false(guest.queued);
	memcpy(front, hash, sizeof(hash));
	front[1]++;
	assert_int_equal(run_calls(calls, 5, err), -EOPNOTSUPP);
	/* The rest of it is the kernel's padding, and int3 here. */
	memset(front, 0xcc, CALL_TYPE_SIZE);
	memcpy(front, hash, 5);
	assert_int_equal(run_calls(calls, 5, err), 0);
	expect_done(calls, 5, 5);
}

static void test_no_safe_point(void **state)
{
	struct borrow_call call;
	char err[256];

	(void)state;
	guest.borrow = -ETIMEDOUT;
	assert_int_equal(run_calls(&call, 1, err), -ETIMEDOUT);
	assert_string_equal(err, "no safe point");
	assert_false(call.done);
	/* It may still be queued by a call that did not come back. */
	guest.borrow = -EIO;
	memset(guest.window, 0, sizeof(guest.window));
	assert_int_equal(run_calls(&call, 1, err), -EINPROGRESS);
}

/* What was done is told; the rest may still be done. */
static void test_hangs(void **state)
{
	struct borrow_call calls[5];
	char err[256];

	(void)state;
	guest.nap = kworker_hangs;
	assert_int_equal(run_calls(calls, 5, err), -EINPROGRESS);
	assert_non_null(strstr(err, "do not do what they are asked for"));
	expect_done(calls, 5, 3);
	/* And it is waited for before anything else is asked. */
	assert_int_equal(guest_work_settle(&work), 0);
	assert_int_equal(guest.now / 1000000000, 5 + 60 + 3);
}

/* Nobody waits for a guest that is not there any more. */
static void test_ends(void **state)
{
	struct borrow_call calls[5];
	int64_t began = guest.now;
	char err[256];

	(void)state;
	guest.nap = ends;
	assert_int_equal(run_calls(calls, 5, err), -ESRCH);
	assert_non_null(strstr(err, "the guest has ended"));
	expect_done(calls, 5, 3);
	assert_in_range(guest.now - began, 0, 1000000000);
	assert_int_equal(guest_work_settle(&work), -ESRCH);
}

/* What an earlier tracer has begun and was queued: its first word is not what it starts as. */
static void test_settle(void **state)
{
	(void)state;
	assert_int_equal(guest_work_settle(&work), 0);
	word_set(WORK_NR, 2);
	guest.nap = NULL;
	memset(guest.window + WINDOW_WORK, 0xee, sizeof(guest.model.data));
	assert_int_equal(guest_work_settle(&work), -ETIMEDOUT);
	word_set(WORK_OVER, 1);
	assert_int_equal(guest_work_settle(&work), 0);
}

/* Whatever it says of how far it is, nobody is kept for longer than two minutes and a look. */
static void test_scribbles(void **state)
{
	static void (*const naps[])(void) = {scribbles, holds_on};
	struct borrow_call calls[5];
	char err[256];

	for (size_t i = 0; i < 2; i++) {
		set_up(state);
		guest.nap = naps[i];
		assert_int_equal(run_calls(calls, 5, err), -EINPROGRESS);
		assert_in_range(guest.now / 1000000000, 5 + 60, 5 + 120 + 50);
	}
}

/* A window that claims to be an earlier tracer's, with work that never ends. */
static void test_settle_ends(void **state)
{
	(void)state;
	word_set(WORK_NR, WORK_CALLS_MAX);
	memset(guest.window + WINDOW_WORK, 0xee, sizeof(guest.model.data));
	guest.nap = holds_on;
	assert_int_equal(guest_work_settle(&work), -ETIMEDOUT);
	assert_in_range(guest.now / 1000000000, 5 + 60, 5 + 120 + 50);
}

/* Of several things that are asked for one after the other; none is begun behind their end. */
static void test_end_of_several(void **state)
{
	struct borrow_call calls[5];
	char err[256];

	(void)state;
	work.end_ms = now_ms() + 10000;
	guest.nap = kworker_hangs;
	assert_int_equal(run_calls(calls, 5, err), -EINPROGRESS);
	assert_in_range(guest.now / 1000000000, 5 + 10, 5 + 11);
	memset(guest.window, 0, sizeof(guest.window));
	guest.queued = false;
	assert_int_equal(run_calls(calls, 5, err), -ETIMEDOUT);
	assert_false(guest.queued);
	word_set(WORK_NR, 1);
	memset(guest.window + WINDOW_WORK, 0xee, sizeof(guest.model.data));
	assert_int_equal(guest_work_settle(&work), -ETIMEDOUT);
	assert_in_range(guest.now / 1000000000, 5 + 10, 5 + 11);
}

/* What has been begun may still be done, what has not never will be. */
static void test_given_up(void **state)
{
	struct borrow_call calls[5];
	int64_t began = guest.now;
	char err[256];

	(void)state;
	guest.nap = kworker_hangs;
	guest.looks = 10;
	assert_int_equal(run_calls(calls, 5, err), -EINPROGRESS);
	assert_non_null(strstr(err, "given up"));
	expect_done(calls, 5, 3);
	guest.looks = 10;
	assert_int_equal(guest_work_settle(&work), -ECANCELED);
	guest.looks = 10;
	assert_int_equal(run_calls(calls, 5, err), -ECANCELED);
	assert_non_null(strstr(err, "given up"));
	expect_done(calls, 5, 0);
	assert_in_range(guest.now - began, 0, 1000000000);
}

static void test_halted(void **state)
{
	struct borrow_call calls[5];
	int64_t began = guest.now;
	char err[256];

	(void)state;
	guest.nap = kworker_hangs;
	guest.halted = true;
	assert_int_equal(run_calls(calls, 5, err), -EHOSTDOWN);
	assert_non_null(strstr(err, "has halted"));
	expect_done(calls, 5, 3);
	assert_in_range(guest.now - began, 1000000000, 2000000000);
}

static void test_is_done(void **state)
{
	(void)state;
	assert_false(guest_work_is_done(&work));
	guest.online = 1;
	assert_true(guest_work_is_done(&work));
	guest.queue = 0;
	assert_false(guest_work_is_done(&work));
	guest.queue = QUEUE;
	guest.without = "wq_online";
	assert_false(guest_work_is_done(&work));
}

#define TEST(name) cmocka_unit_test_setup(name, set_up)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_run),		TEST(test_many),
		TEST(test_strange),	TEST(test_no_safe_point),
		TEST(test_hangs),	TEST(test_ends),
		TEST(test_settle),	TEST(test_scribbles),
		TEST(test_settle_ends), TEST(test_end_of_several),
		TEST(test_given_up),	TEST(test_is_done),
		TEST(test_halted),	TEST(test_why_not),
		TEST(test_checks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
