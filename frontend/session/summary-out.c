// SPDX-License-Identifier: GPL-2.0-or-later
/* summary-out.c - see summary-out.h */
#include "frontend/session/summary-out.h"

#include "frontend/lib/exit.h"
#include "frontend/lib/json.h"
#include "frontend/sandbox/target.h"
#include "frontend/session/host-events.h"
#include "frontend/session/reboot.h"
#include "frontend/session/session.h"
#include "frontend/session/summary.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_stdout(const char *path)
{
	return !strcmp(path, "-");
}

static int look_at(const char *path, struct stat *st)
{
	return is_stdout(path) ? fstat(STDOUT_FILENO, st) : stat(path, st);
}

bool summary_out_collides(const struct session_options *opt)
{
	struct stat trace, own;

	if (!opt->summary)
		return false;
	if (!strcmp(opt->summary, opt->output))
		return true;
	return !look_at(opt->output, &trace) && !look_at(opt->summary, &own) &&
	       S_ISREG(own.st_mode) && trace.st_dev == own.st_dev && trace.st_ino == own.st_ino;
}

int summary_out_open(struct session *s)
{
	const char *path = s->opt->summary;
	struct target *t = path ? calloc(1, sizeof(*t)) : NULL;
	int rc;

	if (!path)
		return 0;
	rc = t ? target_open_file(t, is_stdout(path) ? NULL : path, &s->cancel) : -ENOMEM;
	s->summary = t;
	/* From then on a process takes away what is not whole, whatever becomes of this one. */
	if (!rc)
		rc = target_keep_rights(t);
	if (!rc)
		return 0;
	snprintf(s->err, sizeof(s->err), "cannot write the summary to %s: %s", path, strerror(-rc));
	summary_out_close(s);
	return -1;
}

/* --- what there is to say ----------------------------------------------------------------------
 */

/* It did not come to tracing. */
static void put_failure(const struct session *s, struct summary *what)
{
	bool asked = cancel_asked(&s->cancel);

	what->end = asked ? "signal" : "error";
	what->reason = s->err;
}

static void put(struct session *s, int status, struct json *j)
{
	struct trace_vcpu_status vcpu[MACHINE_MAX_VCPUS] = {0};
	struct summary_file output = s->result.output;
	struct machine_pauses pauses;
	struct trace_status st = {0};
	struct summary what = {
		.guest = *s->guest ? s->guest : s->target,
		.release = s->gs && *guestsym_release(s->gs) ? guestsym_release(s->gs) : NULL,
		.tracer = session_options_tracer(s->opt),
		.end = s->result.end,
		.reason = s->result.why,
		.status = status,
		.seconds = s->result.seconds,
		.output = &output,
		.host = host_events_result(s->host),
	};

	if (!output.path && !is_stdout(s->opt->output))
		output.path = s->opt->output;
	if (s->opt->unheard)
		output.path = NULL;
	if (!what.end)
		put_failure(s, &what);
	if (s->m) {
		machine_get_pauses(s->m, &pauses);
		what.pauses = &pauses;
	}
	/* There is none of a boot that could not be traced any more. */
	if (s->trace && s->result.end) {
		what.tracer = instance_tracer(trace_top(s->trace));
		what.vcpus = trace_vcpus(s->trace);
		for (unsigned int i = 0; i < what.vcpus; i++)
			trace_get_vcpu_status(s->trace, i, &vcpu[i]);
		trace_get_status(s->trace, &st);
	}
	/* It has come to tracing. */
	if (s->result.end) {
		reboot_add_counts(s, &st, vcpu);
		what.vcpus = s->trace ? what.vcpus : s->boots.vcpus;
		what.boots = s->boots.nr + 1;
		what.trace = &st;
		what.vcpu = vcpu;
	}
	summary_put(&what, j);
}

/* --- the end -----------------------------------------------------------------------------------
 */

int summary_out_finish(struct session *s, int status)
{
	struct target *t = s->summary;
	struct json j;
	int rc, closed;

	if (!t)
		return status;
	j = (struct json){.out = t->out};
	rc = target_begin(t);
	if (!rc)
		put(s, status, &j);
	closed = target_close(t, !rc);
	if (!rc)
		rc = closed;
	s->summary = NULL;
	free(t);
	/* Whoever has read as much as he wanted. */
	if (!rc || rc == -EPIPE)
		return status;
	fprintf(stderr, "hvtrace: cannot write the summary to %s: %s\n", s->opt->summary,
		strerror(-rc));
	return status ? status : EXIT_FAILED;
}

void summary_out_close(struct session *s)
{
	if (s->summary)
		target_close(s->summary, false);
	free(s->summary);
	s->summary = NULL;
}
