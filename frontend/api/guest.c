// SPDX-License-Identifier: GPL-2.0-or-later
/* guest.c - a handle: attaches to a guest, lets it go. */
#include "frontend/api/local.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "frontend/sandbox/sandbox.h"
#include "frontend/session/settings.h"
#include "frontend/tracefs/view.h"

/* Lists of modules and tasks, names, formats: beside the buffers. */
#define READINGS_MAX (UINT64_C(512) << 20)

const char *hvtrace_version(void)
{
	return HVTRACE_VERSION;
}

int64_t api_now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* The session is the first thing in a handle. */
static void pass_message(struct session *s, enum machine_msg_level level, const char *text)
{
	struct hvtrace *h = (struct hvtrace *)s;

	(void)level;
	if (h->message)
		h->message(h->message_arg, text);
}

_Static_assert(!offsetof(struct hvtrace, a) && !offsetof(struct attach, s),
	       "as pass_message() has it");

struct hvtrace *hvtrace_new(void)
{
	const struct session_options defaults = SESSION_OPTIONS_DEFAULT;
	struct hvtrace *h = calloc(1, sizeof(*h));

	if (!h)
		return NULL;
	h->options = defaults;
	h->a.s.opt = &h->options;
	h->a.s.message = pass_message;
	h->a.target = &h->target;
	if (api_event_init(&h->event)) {
		free(h);
		return NULL;
	}
	if (!cancel_open(&h->a.s.cancel))
		return h;
	api_event_exit(&h->event);
	free(h);
	return NULL;
}

const char *hvtrace_error(const struct hvtrace *h)
{
	return h->err;
}

void hvtrace_on_message(struct hvtrace *h, void (*message)(void *arg, const char *line), void *arg)
{
	h->message = message;
	h->message_arg = arg;
}

void hvtrace_cancel(struct hvtrace *h)
{
	cancel_ask(&h->a.s.cancel, SIGINT);
}

/* --- attaching ---------------------------------------------------------------------------------
 */

static void learn_guest(struct hvtrace *h)
{
	struct machine_info info;

	machine_get_info(h->a.s.m, &info);
	snprintf(h->name, sizeof(h->name), "%s", attach_name(&h->a));
	h->vcpus = info.vcpus;
	h->tsc_khz = info.tsc_khz;
}

static int make_readable(struct hvtrace *h)
{
	struct session *s = &h->a.s;
	struct machine_info info;

	machine_get_info(s->m, &info);
	s->view = view_new(s->trace, info.backend);
	h->taker = s->view ? instance_take_open(trace_top(s->trace)) : NULL;
	if (h->taker)
		return 0;
	snprintf(s->err, sizeof(s->err), "no memory for the files of the trace");
	return -1;
}

/*
 * Nobody reads before all is known: what is recorded until then might push out what the program has
 * seen begin. With --from it begins later in any case.
 */
static int begin_paused(struct attach *a)
{
	if (!a->s.opt->from)
		instance_set_on(trace_top(a->s.trace), false);
	return 0;
}

static void begin(struct hvtrace *h)
{
	if (!h->options.from)
		instance_set_on(trace_top(h->a.s.trace), true);
}

static int trace_guest(struct hvtrace *h)
{
	struct session *s = &h->a.s;

	if (guestsym_parsers_start(&s->parsers, s->cancel.fd, s->err, sizeof(s->err)) ||
	    attach_connect(&h->a, NULL))
		return -1;
	learn_guest(h);
	h->a.prepare = begin_paused;
	if (attach_new_trace(&h->a) || attach_begin(&h->a) || session_enable_events(s) ||
	    make_readable(h) ||
	    described_read(&h->described, s, h->name, h->tsc_khz, s->err, sizeof(s->err)))
		return -1;
	begin(h);
	return session_write_settings(s);
}

/* What a trace has, once the guest has been let go. */
static void forget_trace(struct hvtrace *h)
{
	struct session *s = &h->a.s;

	instance_take_close(h->taker);
	described_free(&h->described);
	trace_free(s->trace);
	guestsym_close(s->gs);
	guestsym_parsers_stop(s->parsers);
	h->taker = NULL;
	s->trace = NULL;
	s->gs = NULL;
	s->parsers = NULL;
}

/* In the order in which they depend on each other. 0, or what could not be put back. */
static int take_out(struct hvtrace *h)
{
	struct session *s = &h->a.s;
	int rc = 0;

	if (s->trace)
		trace_leave(s->trace);
	view_free(s->view);
	s->view = NULL;
	if (s->trace && s->m) {
		rc = trace_detach(s->trace);
		trace_get_status(s->trace, &h->status);
	}
	machine_free(s->m);
	s->m = NULL;
	return rc;
}

int hvtrace_attach(struct hvtrace *h, const char *target)
{
	struct session *s = &h->a.s;
	int rc;

	if (h->attached) {
		snprintf(h->err, sizeof(h->err), "%s is attached to already", h->name);
		return -EBUSY;
	}
	*s->err = '\0';
	h->target.name = target;
	rc = trace_guest(h);
	h->target.name = NULL;
	if (!rc) {
		h->attached = true;
		h->looked_ms = api_now_ms();
		return 0;
	}
	snprintf(h->err, sizeof(h->err), "%s", s->err);
	take_out(h);
	forget_trace(h);
	return cancel_take(&s->cancel) ? -ECANCELED : -EIO;
}

/* --- letting go --------------------------------------------------------------------------------
 */

int guest_let_go(struct hvtrace *h, const char *why)
{
	struct session *s = &h->a.s;
	struct machine_event ev;
	bool gone;
	int rc;

	/* What it means is asked of the guest for the last time. */
	if (described_is_old(&h->described, s->trace))
		described_read(&h->described, s, h->name, h->tsc_khz, s->err, sizeof(s->err));
	gone = trace_guest_is_gone(s->trace) || machine_has_ended(s->m, &ev);
	h->over = true;
	rc = take_out(h);
	/* Of a guest that has gone there is nothing to restore. */
	if (gone && (rc == -ECONNRESET || rc == -EPIPE))
		rc = 0;
	if (rc)
		snprintf(h->why, sizeof(h->why), "%s could not be left as it was found: %s",
			 h->name, strerror(-rc));
	else
		snprintf(h->why, sizeof(h->why), "%s", why);
	memcpy(h->err, h->why, sizeof(h->err));
	return rc;
}

int hvtrace_detach(struct hvtrace *h)
{
	if (!h->attached || h->over)
		return 0;
	return guest_let_go(h, "the guest has been let go");
}

void hvtrace_free(struct hvtrace *h)
{
	if (!h)
		return;
	hvtrace_detach(h);
	forget_trace(h);
	api_event_exit(&h->event);
	api_options_free(h);
	cancel_close(&h->a.s.cancel);
	free(h);
}

/* --- what is known of it -----------------------------------------------------------------------
 */

uint64_t hvtrace_count(struct hvtrace *h, enum hvtrace_count which)
{
	if (h->attached && !h->over)
		trace_get_status(h->a.s.trace, &h->status);
	switch (which) {
	case HVTRACE_RECORDED:
		return h->status.hits;
	case HVTRACE_LOST:
		return h->status.lost;
	case HVTRACE_OVERWRITTEN:
		return h->status.overwritten;
	case HVTRACE_FUNCTIONS:
		return h->status.traced;
	case HVTRACE_VCPUS:
		return h->vcpus;
	}
	return 0;
}

const char *hvtrace_guest(const struct hvtrace *h)
{
	return h->name;
}

const char *hvtrace_release(const struct hvtrace *h)
{
	return h->a.s.gs ? guestsym_release(h->a.s.gs) : "";
}

int hvtrace_confine(struct hvtrace *h)
{
	uint64_t left;

	if (!h->attached || h->over) {
		snprintf(h->err, sizeof(h->err), "no guest is attached to");
		return -ENOTCONN;
	}
	left = trace_memory_left(h->a.s.trace);
	return sandbox_enter(left > UINT64_MAX - READINGS_MAX ? UINT64_MAX : left + READINGS_MAX,
			     h->err, sizeof(h->err));
}
