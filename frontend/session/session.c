// SPDX-License-Identifier: GPL-2.0-or-later
/* session.c - traces a machine while it runs, says how it ended, prints the trace. */
#include "frontend/session/session.h"
#include "frontend/control/server.h"
#include "frontend/lib/exit.h"
#include "frontend/lib/output.h"
#include "frontend/sandbox/broker.h"
#include "frontend/session/exec.h"
#include "frontend/session/host-events.h"
#include "frontend/session/progress.h"
#include "frontend/session/registry.h"
#include "frontend/session/settings.h"
#include "frontend/session/summary-out.h"
#include "frontend/session/trace-out.h"
#include "frontend/tracefs/view.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

/* --- set-up ------------------------------------------------------------------------------- */

/* A second signal. Nothing here may wait for what another thread has. */
static void session_leave(void *arg, int signo)
{
	static const char attached[] =
		"hvtrace: interrupted twice: left at once; what may still be "
		"in the guest goes with hvtrace attach --recover\n";
	static const char booted[] =
		"hvtrace: interrupted twice: left at once, and the guest with it\n";
	struct session *s = arg;

	if (s->before_leaving)
		s->before_leaving(s);
	output_last_word(s->owns_guest ? booted : attached);
	_exit(CANCEL_STATUS(signo));
}

int session_init(struct session *s, const struct session_options *opt)
{
	int rc;

	s->cancel.leave = session_leave;
	s->cancel.arg = s;
	rc = cancel_start(&s->cancel);
	if (rc) {
		snprintf(s->err, sizeof(s->err), "cannot start a thread: %s", strerror(-rc));
		return -1;
	}
	/* Who reads the trace, or libvirt, may go at any time: the guest is to be put in order
	 * then. */
	signal(SIGPIPE, SIG_IGN);
	output_hurry(&s->cancel);
	s->opt = opt;
	if (!opt->no_sandbox &&
	    guestsym_parsers_start(&s->parsers, s->cancel.fd, s->err, sizeof(s->err)))
		return -1;
	if (summary_out_open(s) || trace_out_open(s))
		return -1;
	if (!summary_out_collides(opt))
		return 0;
	summary_out_close(s);
	snprintf(s->err, sizeof(s->err), "--summary %s: that is where the trace goes",
		 opt->summary);
	return -1;
}

int session_give_up(const struct session *s)
{
	int signo = cancel_asked(&s->cancel);

	fprintf(stderr, "hvtrace: %s%s\n", signo ? "interrupted: " : "", s->err);
	return signo ? CANCEL_STATUS(signo) : EXIT_FAILED;
}

/* Whoever is stuck may hold the stream. */
void session_stuck(void *arg)
{
	static const char line[] =
		"hvtrace: the guest runs on, but what held it does not end: left "
		"at once; hvtrace attach --recover cleans up\n";

	(void)arg;
	output_last_word(line);
	_exit(EXIT_FAILED);
}

/* --- files of the trace ------------------------------------------------------------------- */

static int session_mount(struct session *s, const char *dir)
{
	const struct tracefs_config cfg = {
		.dir = s->opt->mount_dir,
		.guest = dir,
		.allow_other = s->opt->allow_other,
		.unmount = session_unmount,
		.arg = s,
	};
	char err[256];

	if (s->opt->no_mount)
		return 0;
	s->fs = tracefs_mount(s->view, &cfg, err, sizeof(err));
	if (s->fs) {
		fprintf(stderr, "hvtrace: files of the trace: %s\n", tracefs_dir(s->fs));
		return 0;
	}
	if (!s->opt->mount_dir) {
		fprintf(stderr, "hvtrace: no mount of the files of the trace: %s\n", err);
		return 0;
	}
	snprintf(s->err, sizeof(s->err), "%s", err);
	return -1;
}

/* For hvtrace snapshot save. */
static int session_save(void *arg, struct machine_save *save, char *err, size_t errlen)
{
	struct session *s = arg;

	save->kernel_path = s->kernel_path;
	save->kernel_id = guestsym_build_id(s->gs);
	return trace_save(s->trace, save, err, errlen);
}

static int session_listen(struct session *s)
{
	const struct control_saver saver = {session_save, s};
	int fd = registry_listen();

	return fd < 0 ? fd : control_start(&s->control, s->view, &saver, fd);
}

/* For hvtrace list, get and set; where that cannot be, tracing is still worth it. */
static void session_register(struct session *s, const struct machine_info *info, const char *guest)
{
	struct registry_guest g = {.vcpus = info->vcpus};
	int rc = session_listen(s);

	snprintf(g.name, sizeof(g.name), "%.*s", (int)sizeof(g.name) - 1, guest);
	snprintf(g.uuid, sizeof(g.uuid), "%s", info->uuid ? info->uuid : "");
	snprintf(g.accel, sizeof(g.accel), "%s", info->accel ? info->accel : info->backend);
	snprintf(g.release, sizeof(g.release), "%s", guestsym_release(s->gs));
	if (s->target)
		registry_target(s->target, g.target, sizeof(g.target));
	if (!rc)
		rc = registry_add(&g);
	if (rc)
		fprintf(stderr, "hvtrace: hvtrace get and set cannot be used: %s\n",
			rc == -ENOENT ? "XDG_RUNTIME_DIR is not set, or no directory"
				      : strerror(-rc));
}

int session_serve(struct session *s, const char *guest, const char *dir)
{
	return session_prepare(s, guest) || session_publish(s, dir) ? -1 : 0;
}

int session_prepare(struct session *s, const char *guest)
{
	struct machine_info info;

	snprintf(s->guest, sizeof(s->guest), "%s", guest);
	machine_get_info(s->m, &info);
	s->view = view_new(s->trace, info.backend);
	if (!s->view) {
		snprintf(s->err, sizeof(s->err), "no memory for the files of the trace");
		return -1;
	}
	if (s->boots.max)
		view_may_follow(s->view);
	return (!s->exec && session_write_settings(s)) || trace_out_begin(s, guest) ? -1 : 0;
}

int session_publish(struct session *s, const char *dir)
{
	struct machine_info info;

	machine_get_info(s->m, &info);
	if (session_mount(s, dir))
		return -1;
	session_register(s, &info, s->guest);
	return 0;
}

static void session_unserve(struct session *s)
{
	if (s->trace)
		trace_leave(s->trace);
	if (s->record)
		record_let_go(s->record);
	host_events_stop(s->host);
	control_stop(s->control);
	tracefs_unmount(s->fs);
	view_free(s->view);
	s->control = NULL;
	s->fs = NULL;
	s->view = NULL;
}

/* --- running ------------------------------------------------------------------------------ */

double session_seconds(const struct session *s)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)(now.tv_sec - s->start.tv_sec) +
	       (double)(now.tv_nsec - s->start.tv_nsec) / 1e9;
}

/* The guest may have ended by its command, as long as that has said how it ended. */
static bool session_command_over(struct session *s)
{
	bool gone = s->event.type != MACHINE_EVENT_NONE && s->event.type != MACHINE_EVENT_WAKE;

	return s->exec && (gone ? exec_has_ended(s->exec) : exec_step(s->exec));
}

bool session_time_is_over(const struct session *s)
{
	return s->opt->limit_ms && session_seconds(s) * 1000 >= (double)s->opt->limit_ms;
}

static bool session_ended(struct session *s, const struct trace_status *st)
{
	if (trace_guest_is_gone(s->trace))
		s->event = (struct machine_event){.type = MACHINE_EVENT_RESET};
	if (session_command_over(s)) {
		s->end = SESSION_COMMAND;
		return true;
	}
	if (s->event.type != MACHINE_EVENT_NONE && s->event.type != MACHINE_EVENT_WAKE)
		s->end = SESSION_GUEST;
	else if ((s->signo = cancel_take(&s->cancel)))
		s->end = SESSION_SIGNAL;
	else if (session_time_is_over(s))
		s->end = SESSION_TIME;
	else if (s->record && record_error(s->record))
		s->end = SESSION_OUTPUT;
	else if (!st->done)
		return false;
	/* The guest may have ended on its way from --until to here. */
	if (st->done)
		s->end = SESSION_DONE;
	return true;
}

static const char *plural(uint64_t n)
{
	return n == 1 ? "" : "s";
}

void session_say_begin(struct session *s)
{
	const char *release = guestsym_release(s->gs);
	struct trace_status st;

	trace_get_status(s->trace, &st);
	fprintf(stderr, "hvtrace: tracing ");
	if (st.traced || !s->events)
		fprintf(stderr, "%" PRIu64 " function%s%s", st.traced, plural(st.traced),
			s->events ? " and " : "");
	if (s->events)
		fprintf(stderr, "%zu event%s", s->events, plural(s->events));
	fprintf(stderr, " of %s (%ss)\n", *release ? release : "the guest", st.engine);
	if (s->opt->explain)
		trace_explain(s->trace, stderr);
}

static const char *loss_advice(const struct session_options *opt)
{
	if (opt->lossless)
		return "the guest has waited for the host in vain";
	if (opt->unserved)
		return "the host does not keep up; --window-memory takes more at once";
	return "the host does not keep up; --lossless lets the guest wait, "
	       "--window-memory takes more at once, -f traces less";
}

void session_run(struct session *s, bool show)
{
	struct trace_status st;
	struct progress progress;

	progress_init(&progress, show, s->opt->limit_ms);
	if (!s->boots.nr)
		clock_gettime(CLOCK_MONOTONIC, &s->start);
	do {
		machine_wait(s->m, &s->event, 100);
		trace_get_status(s->trace, &st);
		trace_tell_crash(s->trace);
		progress_lost(&progress, &st, loss_advice(s->opt));
		progress_show(&progress, session_seconds(s), &st);
	} while (!session_ended(s, &st));
	progress_clear(&progress);
}

/* --- the end ------------------------------------------------------------------------------ */

static const char *guest_end_text(const struct machine_event *ev)
{
	switch (ev->type) {
	case MACHINE_EVENT_RESET:
		return "the guest reset itself";
	case MACHINE_EVENT_HALT:
		return "the guest halted";
	case MACHINE_EVENT_CRASH:
		return "the guest crashed (triple fault)";
	default:
		return ev->text;
	}
}

/* With what there is in the end: more than was known when it was stopped. */
static enum session_end session_end_of(const struct session *s, const struct trace_status *st)
{
	bool by_count = s->opt->max_events && st->hits >= s->opt->max_events;

	if (s->end != SESSION_DONE)
		return s->end;
	if (st->error)
		return SESSION_ERROR;
	if (st->panicked && !by_count)
		return SESSION_PANIC;
	return s->opt->until && !by_count ? SESSION_UNTIL : SESSION_DONE;
}

/* For programs. */
static const char *session_end_word(enum session_end end)
{
	static const char *const word[] = {
		[SESSION_DONE] = "events",     [SESSION_TIME] = "time",
		[SESSION_SIGNAL] = "signal",   [SESSION_GUEST] = "guest",
		[SESSION_OUTPUT] = "output",   [SESSION_ERROR] = "error",
		[SESSION_PANIC] = "panic",     [SESSION_UNTIL] = "until",
		[SESSION_COMMAND] = "command",
	};

	return word[end];
}

/* For people. */
static void session_end_text(const struct session *s, const struct trace_status *st,
			     enum session_end end, char *why, size_t len)
{
	switch (end) {
	case SESSION_DONE:
		snprintf(why, len, "%" PRIu64 " events are recorded", st->hits);
		break;
	case SESSION_TIME:
		snprintf(why, len, "the time is over");
		break;
	case SESSION_SIGNAL:
		snprintf(why, len, "interrupted");
		break;
	case SESSION_GUEST:
		snprintf(why, len, "%s", guest_end_text(&s->event));
		break;
	case SESSION_OUTPUT:
		snprintf(why, len, "%s cannot be written",
			 session_options_stream(s->opt) ? "standard output" : s->opt->output);
		break;
	case SESSION_ERROR:
		snprintf(why, len, "the trace has failed: %s", strerror(-st->error));
		break;
	case SESSION_PANIC:
		snprintf(why, len, "the guest's kernel has panicked");
		break;
	case SESSION_UNTIL:
		snprintf(why, len, "%s was called", s->opt->until);
		break;
	case SESSION_COMMAND:
		exec_end_text(s->exec, why, len);
		break;
	}
}

void session_say_end(struct session *s, double seconds)
{
	const char *release = guestsym_release(s->gs);
	struct session_result *r = &s->result;
	struct trace_status st;
	enum session_end end;

	trace_get_status(s->trace, &st);
	r->seconds = seconds;
	end = session_end_of(s, &st);
	r->end = session_end_word(end);
	session_end_text(s, &st, end, r->why, sizeof(r->why));
	fprintf(stderr, "hvtrace: %s: %s after %.1f s: ", *release ? release : "guest", r->why,
		seconds);
	/* Where windows are counted nothing else is recorded. */
	if (!s->opt->unserved || st.hits)
		fprintf(stderr, "%" PRIu64 " function%s, %" PRIu64 " event%s, ", st.traced,
			plural(st.traced), st.hits, plural(st.hits));
	fprintf(stderr, "%" PRIu64 " lost\n", st.lost);
	if (st.overwritten)
		fprintf(stderr,
			"hvtrace: %" PRIu64 " older event%s overwritten: %s (-b makes %s larger)\n",
			st.overwritten, st.overwritten == 1 ? " is" : "s are",
			s->record ? "they did not get to the disk in time"
				  : "the buffers hold the newest",
			s->record ? "the buffers" : "them");
	if (st.made)
		fprintf(stderr,
			"hvtrace: the guest made %" PRIu64 " records: %" PRIu64
			" collected, %" PRIu64 " lost before that\n",
			st.made, st.staged, st.staging_lost);
	if (st.corrupt)
		fprintf(stderr, "hvtrace: %" PRIu64 " of the lost held what no probe writes\n",
			st.corrupt);
	if (st.skipped)
		fprintf(stderr,
			"hvtrace: %" PRIu64
			" functions left out: their sites held other bytes (--explain lists them)\n",
			st.skipped);
}

static void session_say_standstill(const struct session *s)
{
	struct machine_pauses p;

	machine_get_pauses(s->m, &p);
	fprintf(stderr,
		"hvtrace: the guest stood %" PRIu64
		" time%s for it, %.1f ms in all, %.1f ms at most",
		p.count, plural(p.count), (double)p.total_ns / 1e6, (double)p.longest_ns / 1e6);
	if (p.longest_what)
		fprintf(stderr, " (%s)", p.longest_what);
	fputc('\n', stderr);
}

/* What --from waits for has not come. */
static bool session_not_begun(const struct session *s)
{
	return s->opt->from && !s->begun;
}

bool session_failed(const struct session *s)
{
	bool crashed = s->event.type == MACHINE_EVENT_CRASH || s->event.type == MACHINE_EVENT_ERROR;

	return s->end == SESSION_GUEST && (crashed || s->opt->until || session_not_begun(s));
}

/* Of a command alone is told how long it took. */
static double session_traced_seconds(const struct session *s)
{
	double seconds = s->exec ? exec_seconds(s->exec) : -1;

	return seconds < 0 ? session_seconds(s) : seconds;
}

/* What there is to say of the command beside that; the exit status that comes of it. */
static int session_command_status(const struct session *s)
{
	if (exec_has_ended(s->exec))
		return exec_status(s->exec);
	exec_say_unfinished(s->exec);
	return s->end == SESSION_SIGNAL ? CANCEL_STATUS(s->signo) : EXIT_FAILED;
}

bool session_has_error(struct session *s)
{
	struct trace_status st;

	trace_get_status(s->trace, &st);
	return st.error;
}

int session_detach(struct session *s)
{
	bool failed = session_has_error(s);
	int ret = trace_detach(s->trace);

	if (failed && !session_has_error(s) && s->end == SESSION_DONE &&
	    machine_has_ended(s->m, &s->event))
		s->end = SESSION_GUEST;
	return ret;
}

int session_stop(struct session *s)
{
	double seconds = session_traced_seconds(s);
	int ret;

	session_unserve(s);
	s->begun |= trace_has_begun(s->trace);
	ret = session_detach(s);

	/* Of a guest that has gone there is nothing to restore. */
	if (s->end == SESSION_GUEST && (ret == -ECONNRESET || ret == -EPIPE))
		ret = 0;
	if (ret)
		fprintf(stderr, "hvtrace: the guest could not be left as it was found: %s\n",
			strerror(-ret));
	session_say_end(s, seconds);
	session_say_standstill(s);
	if (session_failed(s) && s->opt->until)
		fprintf(stderr, "hvtrace: %s was never called\n", s->opt->until);
	if (session_not_begun(s))
		fprintf(stderr, "hvtrace: nothing is recorded: %s (--from) was never called\n",
			s->opt->from);
	if (session_failed(s) || ret)
		return EXIT_FAILED;
	if (s->exec)
		return session_command_status(s);
	return s->stopped ? s->stopped(s) : EXIT_OK;
}

int session_print(struct session *s)
{
	return trace_out_finish(s);
}

int session_finish(struct session *s)
{
	int status = session_stop(s);
	int printed = session_print(s);

	return status ? status : printed;
}

/* What went wrong after attaching must not leave the guest with probes. */
static void session_let_go(struct session *s)
{
	session_unserve(s);
	if (s->trace && s->m)
		trace_detach(s->trace);
}

int session_summarize(struct session *s, int status)
{
	session_let_go(s);
	return summary_out_finish(s, status);
}

void session_exit(struct session *s)
{
	session_let_go(s);
	summary_out_close(s);
	record_close(s->record);
	host_events_close(s);
	machine_free(s->m);
	session_unregister(s);
	broker_stop(s->broker);
	trace_free(s->trace);
	trace_past_free(s->boots.past);
	guestsym_close(s->gs);
	guestsym_parsers_stop(s->parsers);
	if (s->out)
		fclose(s->out);
	spare_close(&s->spare);
	output_hurry(NULL);
	cancel_stop(&s->cancel);
}
