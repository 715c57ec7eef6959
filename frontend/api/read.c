// SPDX-License-Identifier: GPL-2.0-or-later
/* read.c - the events of a guest, one by one, and the end of them. */
#include "frontend/api/local.h"

#include <errno.h>
#include <string.h>

enum {
	LOOK_MS = 100,	    /* how often the guest is looked at */
	DESCRIBE_MS = 1000, /* what its events mean is read again no sooner */
};

/* --- what has become of the guest --------------------------------------------------------------
 */

/* NULL: it goes on. */
static const char *end_of(struct hvtrace *h, struct machine_event *ev)
{
	struct session *s = &h->a.s;
	struct trace_status st;

	if (trace_guest_is_gone(s->trace))
		return "the guest has been reset";
	if (machine_has_ended(s->m, ev))
		switch (ev->type) {
		case MACHINE_EVENT_RESET:
			return "the guest has been reset";
		case MACHINE_EVENT_HALT:
			return "the guest has halted";
		case MACHINE_EVENT_CRASH:
			return "the guest has crashed (triple fault)";
		default:
			return ev->text;
		}
	trace_get_status(s->trace, &st);
	if (!st.done)
		return NULL;
	if (st.error)
		return strerror(-st.error);
	return st.panicked ? "the guest's kernel has panicked" : "what was asked for is recorded";
}

/* Where nothing more will come of it, it is let go, and what it has left can be read. */
static void look_at_guest(struct hvtrace *h)
{
	struct session *s = &h->a.s;
	struct machine_event ev;
	const char *why;

	h->looked_ms = api_now_ms();
	trace_tell_crash(s->trace);
	why = end_of(h, &ev);
	if (why)
		guest_let_go(h, why);
}

/* --- an event ----------------------------------------------------------------------------------
 */

/*
 * Symbols and events of modules come and go. One whose format is not known is of an event that has
 * just come.
 */
static void describe_again(struct hvtrace *h, int id)
{
	struct session *s = &h->a.s;

	if (h->over || !described_is_old(&h->described, s->trace))
		return;
	if (formats_event(h->described.formats, id) &&
	    api_now_ms() - h->described.read_ms < DESCRIBE_MS)
		return;
	described_read(&h->described, s, h->name, h->tsc_khz, s->err, sizeof(s->err));
	/* Also when it could not be: not for each event again. */
	h->described.read_ms = api_now_ms();
}

static int take(struct hvtrace *h)
{
	struct decode_event now = {0};
	struct ring_event ev;
	int rc = instance_take(h->taker, &ev, &now.cpu);

	if (rc <= 0)
		return rc;
	now.data = ev.data;
	now.len = ev.len;
	now.lost = ev.lost == RING_LOST_UNKNOWN ? DECODE_LOST_UNKNOWN : ev.lost;
	decode_identify(&now);
	describe_again(h, now.id);
	now.time = dat_time(dat_info(h->described.dat), now.cpu, ev.ts);
	api_event_set(&h->event, h->described.formats, h->described.dat, &now);
	trace_find_comm(h->a.s.trace, now.pid, h->event.comm, sizeof(h->event.comm));
	return 1;
}

/* --- waiting -----------------------------------------------------------------------------------
 */

static int wait_ms(int64_t deadline)
{
	int64_t left = deadline < 0 ? LOOK_MS : deadline - api_now_ms();

	return left < 0 ? 0 : left < LOOK_MS ? (int)left : LOOK_MS;
}

int hvtrace_next(struct hvtrace *h, int timeout_ms, const struct hvtrace_event **ev)
{
	int64_t deadline = timeout_ms < 0 ? -1 : api_now_ms() + timeout_ms;
	struct session *s = &h->a.s;

	*ev = NULL;
	if (!h->attached) {
		snprintf(h->err, sizeof(h->err), "no guest is attached to");
		return -ENOTCONN;
	}
	for (;;) {
		int rc;

		if (cancel_take(&s->cancel)) {
			snprintf(h->err, sizeof(h->err), "cancelled");
			return -ECANCELED;
		}
		if (!h->over && api_now_ms() - h->looked_ms >= LOOK_MS)
			look_at_guest(h);
		rc = take(h);
		if (rc > 0)
			*ev = &h->event;
		if (rc < 0)
			snprintf(h->err, sizeof(h->err), "no memory");
		if (rc)
			return rc;
		if (h->over) {
			memcpy(h->err, h->why, sizeof(h->err));
			return -ENODATA;
		}
		if (deadline >= 0 && api_now_ms() >= deadline)
			return 0;
		instance_wait(trace_top(s->trace), ALL_VCPUS, wait_ms(deadline));
	}
}
