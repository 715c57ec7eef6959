// SPDX-License-Identifier: GPL-2.0-or-later
/* work.c - see work.h */
#include "tracer/window/work.h"
#include "tracer/guest/call-type.h"
#include "tracer/lib/host-time.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ASK_MS	20000
#define WORK_MS 60000
#define HALT_MS 1000 /* until it is looked whether it has halted */
#define ALL_MS	120000
#define LOOK_NS 200000
/* A call of queue_work_on() that was under way when its tracer died has come back by then. */
#define QUEUE_MS 3000

#define NO_WORK "the guest's kworkers cannot be given work: its kernel "
#define CHECKS	"checks what it calls (CONFIG_CFI_CLANG), "

/* What DECLARE_WORK() makes: one that nobody queues but to switch the machine off. */
#define MODEL	   "poweroff_work"
#define MODEL_FUNC "poweroff_work_func"

/* The first of these that the kernel has: best one whose work waits for no single CPU. */
static const char *const queues[] = {"system_unbound_wq", "system_dfl_wq", "system_wq"};

static uint64_t runtime(const struct guest_work *work, const char *symbol)
{
	return borrow_function(work->borrow, symbol);
}

/* A struct work_struct that is ready to be queued, with our function: in the window, if there is
 * one. */
static int work_make(const struct guest_work *work, uint8_t bytes[WORK_STRUCT_MAX])
{
	uint64_t model = runtime(work, MODEL), func = runtime(work, MODEL_FUNC),
		 window = work->w ? work->w->header.va : 0, va = window + WINDOW_WORK,
		 ours = window + WINDOW_TEXT + work->entry;
	struct guestsym_field fn, entry;
	uint64_t list[2], now;
	uint32_t size;

	if (!model || !func || guestsym_type_size(work->gs, "work_struct", &size) ||
	    size > WORK_STRUCT_MAX || guestsym_field(work->gs, "work_struct.func", &fn) ||
	    guestsym_field(work->gs, "work_struct.entry", &entry) ||
	    fn.offset + sizeof(now) > size || entry.offset + sizeof(list) > size ||
	    guest_read(work->g, model, bytes, size))
		return -EOPNOTSUPP;
	memcpy(&now, bytes + fn.offset, sizeof(now));
	memcpy(list, bytes + entry.offset, sizeof(list));
	if (now != func || list[0] != model + entry.offset || list[1] != list[0])
		return -EOPNOTSUPP;
	list[0] = list[1] = va + entry.offset;
	memcpy(bytes + fn.offset, &ours, sizeof(ours));
	memcpy(bytes + entry.offset, list, sizeof(list));
	return 0;
}

static uint64_t queue_find(const struct guest_work *work)
{
	uint64_t queue = 0;

	for (size_t i = 0; i < sizeof(queues) / sizeof(queues[0]) && !queue; i++) {
		uint64_t at = runtime(work, queues[i]);

		if (at && guest_read(work->g, at, &queue, sizeof(queue)))
			queue = 0;
	}
	return queue;
}

static bool type_is_known(const struct guest_work *work)
{
	uint8_t type[CALL_TYPE_SIZE];

	return call_type_read(work->gs, work->g, CALL_TYPE_WORK, type);
}

/* A kernel that checks is stopped by a function of another type, or by one of none. */
static bool entry_has_type(const struct guest_work *work)
{
	uint8_t type[CALL_TYPE_SIZE], now[CALL_TYPE_SIZE];

	return !call_types_are_checked(work->gs) ||
	       (call_type_read(work->gs, work->g, CALL_TYPE_WORK, type) &&
		work->entry >= CALL_TYPE_SIZE &&
		!window_read(work->w, WINDOW_TEXT + work->entry - CALL_TYPE_SIZE, now,
			     sizeof(now)) &&
		!memcmp(now, type, sizeof(now)));
}

const char *guest_work_why_not(const struct guest_work *work)
{
	uint8_t bytes[WORK_STRUCT_MAX];

	if (!runtime(work, "queue_work_on") || !queue_find(work) || work_make(work, bytes))
		return NO_WORK "does not tell how";
	return type_is_known(work) ? NULL : NO_WORK CHECKS "and does not tell how";
}

bool guest_work_is_done(const struct guest_work *work)
{
	/* Set at the end of workqueue_init() (kernel/workqueue.c) */
	uint64_t online = runtime(work, "wq_online");
	uint8_t now = 0;

	return online && !guest_read(work->g, online, &now, sizeof(now)) && now && queue_find(work);
}

static int calls_write(const struct guest_work *work, const struct borrow_call *calls, uint32_t n)
{
	struct payload_work_call *rows = calloc(n, sizeof(*rows));
	uint8_t head[WORK_CALLS] = {0};
	int ret = rows ? work_make(work, head) : -ENOMEM;

	memcpy(head + WORK_NR, &n, sizeof(n));
	for (uint32_t i = 0; i < n && !ret; i++) {
		rows[i].fn = calls[i].fn;
		memcpy(rows[i].arg, calls[i].arg, sizeof(rows[i].arg));
		rows[i].ret = calls[i].ret_to;
	}
	if (!ret)
		ret = window_write(work->w, WINDOW_WORK, head, sizeof(head));
	if (!ret)
		ret = window_write(work->w, WINDOW_WORK + WORK_CALLS, rows, n * sizeof(*rows));
	free(rows);
	return ret;
}

static int64_t end_of_all(const struct guest_work *work)
{
	int64_t end = work->g->now_ms() + ALL_MS;

	return work->end_ms && work->end_ms < end ? work->end_ms : end;
}

/* Nobody waits any more, or for nothing. *halt: when it is looked next whether it has halted. */
static int wait_in_vain(const struct guest_work *work, int64_t now, int64_t *halt)
{
	if (machine_has_ended(work->g->m, NULL))
		return -ESRCH;
	if (guest_is_given_up(work->g))
		return -ECANCELED;
	if (now < *halt)
		return 0;
	*halt = now + HALT_MS;
	return guest_has_halted(work->g) ? -EHOSTDOWN : 0;
}

/*
 * As long as something is done every ms, one more of the calls that there may be; but not beyond
 * `end`: how much has been done is what the guest says, which may write there what it likes.
 */
static int wait_over(const struct guest_work *work, int ms, int64_t end)
{
	const struct timespec look = {.tv_nsec = LOOK_NS};
	int64_t now = work->g->now_ms(), next = now + ms, halt = now + HALT_MS;
	uint32_t at[2], done = 0; /* WORK_DONE, WORK_OVER */

	for (;;) {
		int ret = window_read(work->w, WINDOW_WORK + WORK_DONE, at, sizeof(at));

		if (ret || at[1])
			return ret;
		now = work->g->now_ms();
		ret = wait_in_vain(work, now, &halt);
		if (ret)
			return ret;
		if (at[0] > done && at[0] <= WORK_CALLS_MAX) {
			next = now + ms;
			done = at[0];
		}
		if (now >= next || now >= end)
			return -ETIMEDOUT;
		clock_nanosleep(CLOCK_MONOTONIC, 0, &look, NULL);
	}
}

/* What was done is told even if not all was. */
static int results_read(const struct guest_work *work, struct borrow_call *calls, uint32_t n)
{
	uint32_t done = 0;
	int ret = window_read(work->w, WINDOW_WORK + WORK_DONE, &done, sizeof(done));

	for (uint32_t i = 0; i < n && i < done && !ret; i++) {
		uint64_t at = WINDOW_WORK + WORK_CALLS + i * WORK_CALL_SIZE + WORK_CALL_RET;

		ret = window_read(work->w, at, &calls[i].ret, sizeof(calls[i].ret));
		calls[i].done = !ret;
	}
	return ret;
}

/* Whether it has ever been given to a queue: then its first word is not what it starts as. */
static bool was_queued(const struct guest_work *work)
{
	uint64_t model = runtime(work, MODEL), fresh, now;

	return !model || guest_read(work->g, model, &fresh, sizeof(fresh)) ||
	       window_read(work->w, WINDOW_WORK, &now, sizeof(now)) || now != fresh;
}

static int settle(const struct guest_work *work, int64_t end)
{
	uint32_t nr = 0;
	int ret = window_read(work->w, WINDOW_WORK + WORK_NR, &nr, sizeof(nr));

	if (ret || !nr)
		return ret;
	ret = wait_over(work, QUEUE_MS, end);
	if (ret != -ETIMEDOUT)
		return ret;
	return was_queued(work) ? wait_over(work, WORK_MS, end) : 0;
}

int guest_work_settle(const struct guest_work *work)
{
	return settle(work, end_of_all(work));
}

static const char *error_text(int error)
{
	return error == -EOPNOTSUPP  ? "its kernel does not tell how"
	       : error == -ESRCH     ? "the guest has ended"
	       : error == -EHOSTDOWN ? "the guest has halted"
	       : error == -ECANCELED ? "it has been given up"
				     : strerror(-error);
}

static int run_some(const struct guest_work *work, struct borrow_call *calls, uint32_t n,
		    int64_t end, char *err, size_t errlen)
{
	struct borrow_call queue = {
		.fn = runtime(work, "queue_work_on"),
		.arg = {0, queue_find(work), work->w->header.va + WINDOW_WORK},
	};
	const char *why = guest_work_why_not(work);
	int ret, error;

	if (!why && !entry_has_type(work))
		why = NO_WORK CHECKS "and another hvtrace has placed what it would call";
	if (why) {
		snprintf(err, errlen, "%s", why);
		return -EOPNOTSUPP;
	}
	ret = settle(work, end);
	if (!ret && work->g->now_ms() >= end)
		ret = -ETIMEDOUT;
	if (!ret)
		ret = calls_write(work, calls, n);
	if (ret) {
		snprintf(err, errlen, "the guest's kworkers cannot be given work: %s",
			 error_text(ret));
		return ret;
	}
	ret = borrow_run(work->borrow, &queue, 1, BORROW_ANY, ASK_MS, err, errlen);
	if (ret)
		return ret == -EIO ? -EINPROGRESS : ret;
	ret = wait_over(work, WORK_MS, end);
	error = results_read(work, calls, n);
	ret = ret ? ret : error;
	if (ret)
		snprintf(err, errlen, "the guest's kworkers do not do what they are asked for: %s",
			 error_text(ret));
	return ret == -ETIMEDOUT || ret == -ECANCELED ? -EINPROGRESS : ret;
}

int guest_work_run(const struct guest_work *work, struct borrow_call *calls, size_t n, char *err,
		   size_t errlen)
{
	int64_t end = end_of_all(work);
	int ret = 0;

	for (size_t i = 0; i < n; i++)
		calls[i].done = false;
	for (size_t i = 0; i < n && !ret; i += WORK_CALLS_MAX) {
		size_t some = n - i < WORK_CALLS_MAX ? n - i : WORK_CALLS_MAX;

		ret = run_some(work, calls + i, (uint32_t)some, end, err, errlen);
	}
	return ret;
}
