/* SPDX-License-Identifier: GPL-2.0-or-later */
/* job.h - for commands that answer one question about a guest, or about a trace.dat file of one. */
#ifndef HVTRACE_FRONTEND_CMD_JOB_H
#define HVTRACE_FRONTEND_CMD_JOB_H

#include "frontend/cmd/dat-file.h"
#include "frontend/cmd/guests.h"
#include "frontend/cmd/recording.h"
#include "frontend/jobs/jobs.h"

/* JOB_OPTIONS_DEFAULT; job_main() frees what it has. */
struct job_options {
	struct dat_file_options file;
	struct attach_options live;
	struct option_list pids;
	const char *by, *sort, *svg, *keep;
	const char *kind; /* see job_config */
	uint64_t rows, worst;
	bool json, stacks, folded;
};

#define JOB_OPTIONS_DEFAULT                                                                        \
	{                                                                                          \
		.live = {.session = SESSION_OPTIONS_DEFAULT}, .sort = "total", .rows = 20          \
	}

/* What the command has beside them stands before these. */
#define JOB_OPTION_ROWS(opt)                                                                       \
	OPT_ONE_OF(latency_sort_name, 's', "sort", &(opt)->sort, "KEY",                            \
		   "by " LATENCY_SORT_NAMES " (default: total)"),                                  \
		OPT_NUMBER('l', "limit", &(opt)->rows, 1, JOB_ROWS_MAX, "N",                       \
			   "show at most N rows (default: 20)"),                                   \
		OPT_LIST('p', "pid", &(opt)->pids, "PID",                                          \
			 "only this task, a thread as the trace shows it; may be repeated"),       \
		OPT_FLAG('j', "json", &(opt)->json, "for programs: one object of JSON"),           \
		OPT_STRING('o', "output", &(opt)->file.out, "FILE",                                \
			   "where it goes (default: stdout)"),                                     \
		OPT_TIME(0, "window", &(opt)->live.session.limit_ms, "TIME",                       \
			 "how long to trace DOMAIN (5, 1.5s, 200ms, 2m; default: 5s)"),            \
		OPT_TIME(0, "for", &(opt)->live.session.limit_ms, "TIME", "the same as --window"), \
		OPT_STRING(0, "keep", &(opt)->keep, "FILE",                                        \
			   "of DOMAIN: keep what is recorded as this trace.dat"),                  \
		OPT_SIZE_MB(0, "window-memory", &(opt)->live.session.window_bytes,                 \
			    TRACE_WINDOW_MIN, TRACE_WINDOW_MAX, "MB",                              \
			    "of DOMAIN: guest memory for records, as of hvtrace attach"),          \
		OPT_FLAG(0, "lossless", &(opt)->live.session.lossless,                             \
			 "of DOMAIN: let the guest wait rather than lose records"),                \
		OPT_SIZE_KB('b', "buffer-kb", &(opt)->live.session.buffer_bytes, 8 << 10,          \
			    UINT64_C(1) << 40, "KB",                                               \
			    "of DOMAIN: ring buffer of each vCPU, as of hvtrace attach"),          \
		ATTACH_OPTION_ROWS(&(opt)->live.target),                                           \
		OPT_STRING(0, "from", &(opt)->file.from, "TIME",                                   \
			   "of FILE: events from then on, as printed: 12.345678"),                 \
		OPT_STRING(0, "until", &(opt)->file.until, "TIME", "of FILE: events until then"),  \
		OPT_STRING('I', "buffer", &(opt)->file.buffer, "NAME",                             \
			   "of FILE: events of this instance's buffer, or of this guest"),         \
		OPT_FLAG(0, "no-sandbox", &(opt)->file.no_sandbox,                                 \
			 "keep all rights; for debugging hvtrace"),                                \
		OPT_COLOR

struct job_command {
	const char *name;
	const struct job *job;
	const struct job *other; /* for a file that has none of its events; NULL: there is none */
	const char *title;	 /* of the picture */
	const struct option_usage *usage;
	const char *const *events;     /* what is recorded of a DOMAIN; NULL behind the last */
	const struct option_row *rows; /* all options */
	/* Optional: what is written in place of the table and the picture; svg: NULL, if none is
	 * wanted. */
	void (*put)(const struct job_options *opt, const struct job_result *r, FILE *out,
		    FILE *svg);
	bool stacks; /* its picture is of them */
};

/* Parse, check, trace if need be, and answer. The exit status; opt is freed. */
int job_main(const struct job_command *what, struct job_options *opt, int argc, char **argv);

/* The answer alone, of a recording or a file, with options that are checked. The exit status. */
int job_answer(const struct job_command *what, const struct job_options *opt,
	       struct recording *rec);
void job_put_text(const struct text *text, FILE *out);
/* Whether an operand is a file that is read, not a domain. */
bool job_is_file(const char *operand);

#endif
