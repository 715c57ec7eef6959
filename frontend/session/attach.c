// SPDX-License-Identifier: GPL-2.0-or-later
/* attach.c - see attach.h */
#include "frontend/session/attach.h"

#include <errno.h>
#include <string.h>

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

static void attach_message(void *arg, enum machine_msg_level level, const char *text)
{
	struct attach *a = arg;

	session_message(&a->s, level, text);
}

static bool attach_cancelled(void *arg)
{
	struct attach *a = arg;

	return session_waits(&a->s);
}

int attach_connect(struct attach *a, void (*stuck)(void *arg))
{
	const struct machine_attach_config cfg = {
		.target = a->target->name,
		.connect = a->target->connect,
		.recover = a->target->recover,
		.limits = {.stand_ms = a->target->stand_ms, .stuck = stuck},
		.cancelled = attach_cancelled,
		.message = attach_message,
		.trap = attach_trap,
		.mmio = attach_mmio,
		.branch = attach_branch,
		.arg = a,
	};

	a->s.target = a->target->name;
	a->s.m = machine_attach(&cfg, a->s.err, sizeof(a->s.err));
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
