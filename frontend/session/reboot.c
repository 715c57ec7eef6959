// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * reboot.c - see reboot.h
 *
 * Each boot has a trace of its own, which is made as the first one was: its kernel may lie
 * elsewhere, or be another one, so that no address, event or module of the boot before means
 * anything in it. What makes them one trace for who reads it is that they are printed one after the
 * other, with times that go on.
 */
#include "frontend/session/reboot.h"
#include "frontend/session/session.h"
#include "frontend/session/settings.h"
#include "frontend/session/trace-out.h"
#include "frontend/tracefs/view.h"

#include <stdio.h>
#include <string.h>

/* --- counts --------------------------------------------------------------------------------- */

static void add_status(struct trace_status *to, const struct trace_status *more)
{
	to->hits += more->hits;
	to->lost += more->lost;
	to->overwritten += more->overwritten;
	to->made += more->made;
	to->staged += more->staged;
	to->staging_lost += more->staging_lost;
	to->corrupt += more->corrupt;
}

static void add_vcpus(struct trace_vcpu_status *to, const struct trace_vcpu_status *more,
		      unsigned int n)
{
	for (unsigned int i = 0; i < n; i++) {
		to[i].events += more[i].events;
		to[i].staging_lost += more[i].staging_lost;
		to[i].dropped += more[i].dropped;
		to[i].overwritten += more[i].overwritten;
	}
}

void reboot_add_counts(const struct session *s, struct trace_status *st,
		       struct trace_vcpu_status *vcpu)
{
	add_status(st, &s->boots.sum);
	add_vcpus(vcpu, s->boots.vcpu, s->boots.vcpus);
}

static void keep_counts(struct session *s)
{
	struct trace_vcpu_status vcpu[MACHINE_MAX_VCPUS];
	unsigned int n = trace_vcpus(s->trace);
	struct trace_status st;

	trace_get_status(s->trace, &st);
	add_status(&s->boots.sum, &st);
	for (unsigned int i = 0; i < n; i++)
		trace_get_vcpu_status(s->trace, i, &vcpu[i]);
	add_vcpus(s->boots.vcpu, vcpu, n);
	s->boots.vcpus = n;
}

/* --- one boot is over ----------------------------------------------------------------------- */

/* What has faulted three times is reset by the board of a PC. */
static bool was_reset(const struct session *s)
{
	return s->end == SESSION_GUEST &&
	       (s->event.type == MACHINE_EVENT_RESET || s->event.type == MACHINE_EVENT_CRASH);
}

static const char *ordinal(unsigned int n)
{
	static const char *const ending[] = {"th", "st", "nd", "rd"};
	unsigned int last = n % 10;

	return last > 3 || n / 10 % 10 == 1 ? ending[0] : ending[last];
}

/* Nothing is taken out of a guest that is no more. */
static void let_go(struct session *s)
{
	trace_leave(s->trace);
	session_detach(s);
	s->begun |= trace_has_begun(s->trace);
}

static bool may_reboot(struct session *s)
{
	const struct session_boots *b = &s->boots;

	if (!b->max || cancel_asked(&s->cancel))
		return false;
	if (session_has_error(s))
		let_go(s); /* it may have failed by the reset */
	if (!was_reset(s))
		return false;
	/* One that resets itself all the time is hardly ever found running when that is over. */
	if (session_time_is_over(s)) {
		s->end = SESSION_TIME;
		return false;
	}
	if (b->nr < b->max)
		return true;
	fprintf(stderr,
		"hvtrace: the guest has rebooted %u time%s, and does so again: this is the end "
		"(--reboot-limit)\n",
		b->nr, b->nr == 1 ? "" : "s");
	return false;
}

/* Who has files of it open gets their end. */
static void end_trace(struct session *s)
{
	view_follow(s->view, NULL);
	s->boots.past = trace_past(s->trace);
	trace_free(s->trace);
	s->trace = NULL;
}

/* --- the next one --------------------------------------------------------------------------- */

/* Which kernel: what its loader loads may have changed since. */
struct identity {
	char release[128], id[128];
};

static void identify(const struct session *s, struct identity *k)
{
	const char *id = guestsym_build_id(s->gs);

	snprintf(k->release, sizeof(k->release), "%s", guestsym_release(s->gs));
	snprintf(k->id, sizeof(k->id), "%s", id ? id : "");
}

static void say_changes(const struct session *s, const struct identity *before)
{
	struct identity now;

	identify(s, &now);
	if (strcmp(now.release, before->release) != 0 || strcmp(now.id, before->id) != 0)
		fprintf(stderr, "hvtrace: the guest boots another kernel now: %s\n", now.release);
}

static int attach(struct session *s)
{
	struct machine_info info;

	machine_get_info(s->m, &info);
	if (session_new_trace(s, machine_traceable_vcpus(&info), false))
		return -1;
	if (trace_attach(s->trace, s->m, s->err, sizeof(s->err)) || session_enable_events(s))
		return -1;
	view_follow(s->view, s->trace);
	return session_write_settings(s);
}

static int boot(struct session *s)
{
	struct identity before;
	int rc;

	s->boots.nr++;
	identify(s, &before);
	session_wait(s, "rebooting the guest");
	rc = machine_reboot(s->m, s->err, sizeof(s->err));
	session_wait(s, NULL);
	if (rc)
		return -1;
	say_changes(s, &before);
	if (attach(s))
		return -1;
	trace_out_next(s);
	return machine_start(s->m, s->err, sizeof(s->err));
}

bool session_reboot(struct session *s)
{
	unsigned int next = s->boots.nr + 2;

	if (!may_reboot(s))
		return false;
	let_go(s);
	/* Who ends has more ways to bring it out. */
	if (trace_out_part(s))
		return false;
	session_say_end(s, session_seconds(s));
	fprintf(stderr, "hvtrace: the guest reboots (%u%s boot)\n", next, ordinal(next));
	keep_counts(s);
	end_trace(s);
	if (boot(s)) {
		fprintf(stderr, "hvtrace: the guest is not traced on: %s\n", s->err);
		s->boots.printed = true;
		s->boots.nr--;
		return false;
	}
	s->event = (struct machine_event){.type = MACHINE_EVENT_NONE};
	return true;
}
