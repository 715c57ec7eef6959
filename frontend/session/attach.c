// SPDX-License-Identifier: GPL-2.0-or-later
/* attach.c - see attach.h */
#include "frontend/session/attach.h"

#include <errno.h>
#include <signal.h>
#include <string.h>

#include "frontend/lib/output.h"
#include "frontend/session/connect.h"

#define ERRORS_MS 1000 /* that what is said on stderr may wait for room */

static void attach_trap(struct machine *m, const struct machine_hit *hit, void *arg)
{
	struct attach *a = arg;

	session_trap(m, hit, &a->s);
}

static void attach_mmio(struct machine *m, const struct machine_mmio *access, void *arg)
{
	struct attach *a = arg;

	session_mmio(m, access, &a->s);
}

static bool attach_branch(struct machine *m, const struct machine_branch *b, void *arg)
{
	struct attach *a = arg;

	(void)m;
	return trace_branch(a->s.trace, b);
}

static bool attach_cancelled(void *arg)
{
	struct attach *a = arg;

	return session_waits(&a->s);
}

/*
 * Ctrl-Z, and a terminal that does not let a job in the background write: who is stopped lets no
 * guest go when its time is over.
 */
static void ignore_job_control(void)
{
	signal(SIGTSTP, SIG_IGN);
	signal(SIGTTIN, SIG_IGN);
	signal(SIGTTOU, SIG_IGN);
}

/* What is to be done about it, behind what is wrong. */
static void explain(struct attach *a)
{
	size_t len = strlen(a->s.err);
	char text[256];

	connect_explain(a->target->name, text, sizeof(text));
	if (*text)
		snprintf(a->s.err + len, sizeof(a->s.err) - len, "; %s", text);
}

int attach_machine(struct attach *a)
{
	const struct machine_attach_config cfg = {
		.target = a->target->name,
		.connect = a->target->connect,
		.recover = a->target->recover,
		.limits = {.stand_ms = a->target->stand_ms, .stuck = session_stuck},
		.cancelled = attach_cancelled,
		.message = session_message,
		.trap = attach_trap,
		.mmio = attach_mmio,
		.branch = attach_branch,
		.arg = a,
	};

	/* It is somebody's guest: a terminal that takes nothing (Ctrl-S) is not to keep it traced.
	 */
	a->s.target = a->target->name;
	output_patience(ERRORS_MS);
	ignore_job_control();
	session_wait(&a->s, "attaching to the guest");
	a->s.m = machine_attach(&cfg, a->s.err, sizeof(a->s.err));
	session_wait(&a->s, NULL);
	if (!a->s.m && !session_cancelled(&a->s))
		explain(a);
	return a->s.m ? 0 : -1;
}

static int attach_open_kernel(struct attach *a, const struct machine_info *info)
{
	const char *path = a->target->kernel ? a->target->kernel : info->kernel_path;
	const struct machine_patience patience = {session_waits, &a->s};

	session_wait(&a->s, "reading the guest's kernel");
	if (path)
		a->s.gs = guestsym_open(a->s.parsers, path, 0, a->s.err, sizeof(a->s.err));
	else
		a->s.gs = trace_read_kernel(a->s.m, a->s.parsers, &patience, a->s.err,
					    sizeof(a->s.err));
	session_wait(&a->s, NULL);
	return a->s.gs ? 0 : -1;
}

/* Where the machine has ended meanwhile, that is why nothing could be had of it. */
static int attach_failed(struct attach *a)
{
	struct machine_event ev;

	if (machine_has_ended(a->s.m, &ev) && ev.type == MACHINE_EVENT_ERROR)
		snprintf(a->s.err, sizeof(a->s.err), "%s", ev.text);
	return -1;
}

int attach_new_trace(struct attach *a)
{
	struct machine_info info;

	machine_get_info(a->s.m, &info);
	if (attach_open_kernel(a, &info) ||
	    session_new_trace(&a->s, machine_traceable_vcpus(&info), true))
		return attach_failed(a);
	return a->prepare && a->prepare(a) ? attach_failed(a) : 0;
}

/* Read from memory, it had calls in its text that are gone now. */
static int attach_read_again(struct attach *a)
{
	trace_free(a->s.trace);
	a->s.trace = NULL;
	guestsym_close(a->s.gs);
	a->s.gs = NULL;
	return attach_new_trace(a);
}

int attach_begin(struct attach *a)
{
	int ret = trace_attach_running(a->s.trace, a->s.m, a->s.err, sizeof(a->s.err));

	if (ret == -ESTALE) {
		ret = attach_read_again(a);
		if (!ret)
			ret = trace_attach_running(a->s.trace, a->s.m, a->s.err, sizeof(a->s.err));
	}
	return ret ? attach_failed(a) : 0;
}

const char *attach_name(const struct attach *a)
{
	struct machine_info info;
	const char *end = strrchr(a->target->name, '/');

	machine_get_info(a->s.m, &info);
	return info.name ? info.name : end && end[1] ? end + 1 : "guest";
}
