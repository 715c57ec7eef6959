// SPDX-License-Identifier: GPL-2.0-or-later
/* trace-out.c - see trace-out.h */
#include "frontend/session/trace-out.h"
#include "frontend/host/host.h"
#include "frontend/lib/exit.h"
#include "frontend/lib/meter.h"
#include "frontend/lib/output.h"
#include "frontend/session/again.h"
#include "frontend/session/host-events.h"
#include "frontend/session/host-tsc.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

int trace_out_open(struct session *s)
{
	const char *path = s->opt->output;
	const struct record_config cfg = {
		.path = session_options_record(s->opt) ? path : NULL,
		.stream = session_options_stream(s->opt),
		.version = session_options_version(s->opt),
		.zstd = session_options_zstd(s->opt),
	};

	if (host_events_open(s))
		return -1;
	if (session_options_record(s->opt) || s->host) {
		s->record = record_open(&cfg, s->err, sizeof(s->err));
		if (!s->record)
			return -1;
	}
	if (session_options_record(s->opt))
		return 0;
	output_paint(PAINT_TRACE);
	s->out = output_open_counted(strcmp(path, "-") ? path : NULL, &s->cancel,
				     &s->result.printed);
	if (s->out) {
		spare_open(&s->spare);
		return 0;
	}
	snprintf(s->err, sizeof(s->err), "cannot write %s: %s",
		 strcmp(path, "-") ? path : "to standard output", strerror(errno));
	return -1;
}

/* Of what is recorded by the TSC, alone or beside the host. */
static void find_shift(struct session *s, struct record_guest *g)
{
	const char *clock = session_clock(s);

	if (!s->record || !clock || strcmp(clock, SESSION_HOST_CLOCK) != 0)
		return;
	host_events_name(s->host, g->name, &g->trace_id, &s->shift.peer_id);
	if (host_tsc_find(s, &s->shift))
		g->shift = &s->shift;
}

static const char *name_of_recording(const struct session *s)
{
	return session_options_stream(s->opt) ? "standard output" : s->opt->output;
}

int trace_out_begin(struct session *s, const char *guest)
{
	struct record_guest g = {.name = guest, .release = guestsym_release(s->gs)};
	struct machine_info info;
	int rc;

	machine_get_info(s->m, &info);
	g.tsc_khz = info.tsc_khz;
	host_boot_id(g.host_boot);
	find_shift(s, &g);
	rc = s->record ? record_start(s->record, s->trace, s->view, &g) : 0;
	if (!rc)
		return 0;
	snprintf(s->err, sizeof(s->err), "cannot record to %s: %s", name_of_recording(s),
		 strerror(-rc));
	return -1;
}

static const char *name_of(const struct session *s)
{
	return strcmp(s->opt->output, "-") ? s->opt->output : "the trace";
}

static int print_to(struct session *s, FILE *out)
{
	int ret;

	errno = 0;
	ret = s->host ? host_events_print(s) : trace_print_as(s->trace, s->opt->format, out);
	return !ret && fflush(out) ? -errno : ret;
}

/* Ctrl-C ends what is at the other end of a pipe, too, before it has seen anything. */
static bool nobody_reads(const struct session *s)
{
	struct pollfd out = {.fd = STDOUT_FILENO, .events = POLLOUT};

	return s->end == SESSION_SIGNAL && !strcmp(s->opt->output, "-") && poll(&out, 1, 0) > 0 &&
	       (out.revents & POLLERR);
}

/* Elsewhere, since it cannot be made a second time. What has the host's events can be printed once.
 */
static bool keep(struct session *s)
{
	return !s->host && s->spare.file && !print_to(s, s->spare.file) && !session_name_spare(s);
}

int trace_out_part(struct session *s)
{
	return print_to(s, s->out);
}

/* A comment, as the lines above a trace are. An error shows when more is printed. */
void trace_out_next(struct session *s)
{
	struct trace_status st;

	trace_get_status(s->trace, &st);
	fprintf(s->out, "#\n# the guest reboots: boot %u", s->boots.nr + 1);
	if (st.boot_ns)
		fprintf(s->out, ", whose clock begins at %" PRIu64 ".%06" PRIu64,
			st.boot_ns / 1000000000, st.boot_ns / 1000 % 1000000);
	fprintf(s->out, "\n#\n");
}

/* ret: how printing has ended. */
static int close_out(struct session *s, int ret)
{
	if (fclose(s->out) && !ret)
		ret = -errno;
	s->out = NULL;
	s->result.output = (struct summary_file){
		.opened = true,
		.path = strcmp(s->opt->output, "-") ? s->opt->output : NULL,
		.sized = true,
		.bytes = s->result.printed,
		.error = ret == -EPIPE ? 0 : ret,
	};
	return ret;
}

static int print_until_done(struct session *s)
{
	int ret = print_to(s, s->out);

	/* What is out of the boots before cannot be printed a second time. */
	while (ret && !s->host && !s->boots.nr &&
	       again_is_wanted(s->out, name_of(s), ret, &s->cancel))
		ret = print_to(s, s->out);
	return close_out(s, ret);
}

static int print(struct session *s)
{
	bool kept;
	int ret;

	if (nobody_reads(s) && keep(s)) {
		s->result.output = (struct summary_file){.opened = true, .path = s->spare.path};
		fprintf(stderr, "hvtrace: nobody reads the trace any more: it is in %s\n",
			s->spare.path);
		return EXIT_OK;
	}
	ret = print_until_done(s);
	/* Whoever has read as much as he wanted: no failure, and nobody to be told. */
	if (!ret || ret == -EPIPE)
		return EXIT_OK;
	if (cancel_asked(&s->cancel)) {
		fprintf(stderr, "hvtrace: interrupted: the trace is not printed to its end\n");
		return CANCEL_STATUS(cancel_asked(&s->cancel));
	}
	kept = keep(s);
	if (kept) {
		s->result.output.path = s->spare.path;
		s->result.output.sized = false;
	}
	fprintf(stderr, "hvtrace: cannot write %s: %s%s%s\n", name_of(s), strerror(-ret),
		kept ? ": the trace is in " : "", kept ? s->spare.path : "");
	return EXIT_FAILED;
}

static void show_percent(void *arg, unsigned int percent)
{
	meter_show(arg, percent, 100, 0);
}

/* Behind what was said: what is whole of it is never given up. */
static int finish_record(struct session *s)
{
	const char *path = name_of_recording(s);
	const bool stream = session_options_stream(s->opt);
	char size[RECORD_SIZE_LEN], bytes[RECORD_SIZE_LEN];
	struct record_result result;
	struct meter meter;
	int rc;

	meter_begin(&meter, path, NULL);
	rc = record_finish(s->record, show_percent, &meter, &result);
	meter_end(&meter);
	if (!rc && !stream)
		rc = session_place_recording(s);
	s->result.output = (struct summary_file){
		.opened = true,
		.path = stream ? NULL : path,
		.recorded = !rc,
		.sized = !rc,
		.bytes = result.size,
		.record_bytes = result.bytes,
		.error = rc ? rc : result.lost,
	};
	if (result.lost)
		fprintf(stderr, "hvtrace: cannot write all of %s: %s: it ends before the trace\n",
			path, strerror(-result.lost));
	if (rc) {
		fprintf(stderr,
			"hvtrace: %s is not finished: %s; what is recorded is there: hvtrace repair %s\n",
			path, strerror(-rc), path);
		return EXIT_FAILED;
	}
	if (!s->opt->unheard && !stream)
		fprintf(stderr, "hvtrace: %s: %s, %s of records\n", path,
			record_size(result.size, size), record_size(result.bytes, bytes));
	return result.lost ? EXIT_FAILED : EXIT_OK;
}

/* What was recorded to be printed together with the host's events, in files without names. */
static int print_recorded(struct session *s)
{
	struct record_result result;
	int rc = record_finish(s->record, NULL, NULL, &result);

	if (!rc)
		rc = result.lost;
	if (!rc)
		return print(s);
	s->result.output.error = rc;
	fprintf(stderr, "hvtrace: the trace cannot be kept until it is printed: %s\n",
		strerror(-rc));
	return EXIT_FAILED;
}

int trace_out_finish(struct session *s)
{
	int host = host_events_finish(s), status;

	if (s->boots.printed)
		return close_out(s, 0) ? EXIT_FAILED : EXIT_OK;
	if (!s->record)
		status = print(s);
	else
		status = s->out ? print_recorded(s) : finish_record(s);
	return status ? status : host;
}
