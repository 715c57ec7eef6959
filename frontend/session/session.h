/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * session.h - what every tracing command does with a machine: trace it while it runs, say how it
 * ended, print the trace.
 */
#ifndef HVTRACE_FRONTEND_SESSION_SESSION_H
#define HVTRACE_FRONTEND_SESSION_SESSION_H

#include <stdio.h>
#include <time.h>

#include "frontend/lib/cancel.h"
#include "frontend/lib/meter.h"
#include "frontend/lib/options.h"
#include "frontend/mount/mount.h"
#include "frontend/record/record.h"
#include "frontend/session/spare.h"
#include "frontend/session/summary.h"
#include "guestsym/guestsym.h"
#include "tracer/tracer.h"
#include "vmm/machine.h"

struct session_options {
	const char *tracer;  /* NULL: function, or with nothing but events nop */
	const char *summary; /* NULL: none is wanted */
	const char *clock, *from, *until, *output, *engine, *format;
	const char *file_version, *compression; /* of a recording; NULL: 7, zstd */
	const char *on_panic;			/* NULL: session_options_on_panic() decides */
	struct option_list filter, notrace, pids, events, settings, host_events;
	uint64_t buffer_bytes, max_events, window_bytes;
	uint64_t min_us, max_us; /* of calls; 0: any */
	const char *mount_dir;
	bool lossless, explain, no_mount, allow_other, no_sandbox, ignore_switches;
	bool record;	   /* whatever the output is called */
	bool unheard;	   /* nobody is told of the file: it is for this program alone */
	bool unserved;	   /* nobody may look at the trace, or change it, while it is under way */
	uint64_t limit_ms; /* stop after this time; 0: no limit */
};

#define SESSION_OPTIONS_DEFAULT                                                                    \
	{                                                                                          \
		.output = "-", .engine = "auto", .format = "trace"                                 \
	}

/* Rows for the option table of a command that traces. */
#define SESSION_OPTION_ROWS(opt)                                                                   \
	OPT_ONE_OF(session_tracer_name, 't', "tracer", &(opt)->tracer, "NAME",                     \
		   "function (default), function_graph, irqsoff, wakeup, nop "                     \
		   "and others: see hvtrace-tracing(7)"),                                          \
		OPT_LIST('f', "filter", &(opt)->filter, "GLOB",                                    \
			 "trace only functions that match; may be repeated"),                      \
		OPT_LIST('n', "notrace", &(opt)->notrace, "GLOB",                                  \
			 "do not trace functions that match; may be repeated"),                    \
		OPT_LIST('e', "event", &(opt)->events, "EVENT",                                    \
			 "SYS:EVENT[:FILTER] or @CATEGORY: record these trace events (no "         \
			 "functions without -f or -t); may be repeated"),                          \
		OPT_LIST(0, "set", &(opt)->settings, "FILE=VALUE",                                 \
			 "write to a file of the trace before it begins (FILE+=VALUE: add to "     \
			 "it); may be repeated"),                                                  \
		OPT_LIST(0, "host-events", &(opt)->host_events, "EVENT",                           \
			 "SYS:EVENT: also these events of the host's kernel on the threads that "  \
			 "run vCPUs (globs: 'kvm:*'); may be repeated"),                           \
		OPT_LIST('P', "pid", &(opt)->pids, "PID",                                          \
			 "trace only this task of the guest; may be repeated"),                    \
		OPT_ONE_OF(session_engine_name, 0, "engine", &(opt)->engine, "NAME",               \
			   "auto (default), trampoline (no exits) or trap"),                       \
		OPT_FLAG(0, "lossless", &(opt)->lossless,                                          \
			 "trampolines: let the guest wait rather than lose records"),              \
		OPT_SIZE_MB(0, "window-memory", &(opt)->window_bytes, TRACE_WINDOW_MIN,            \
			    TRACE_WINDOW_MAX, "MB",                                                \
			    "guest memory for trampolines (default: 2, and 4 for each vCPU)"),     \
		OPT_FLAG(0, "explain", &(opt)->explain,                                            \
			 "say on stderr which functions are not traced, and why"),                 \
		OPT_STRING('M', "mount", &(opt)->mount_dir, "DIR",                                 \
			   "where the files of the trace appear (default: below "                  \
			   "$XDG_RUNTIME_DIR/hvtrace or /run/hvtrace)"),                           \
		OPT_FLAG(0, "no-mount", &(opt)->no_mount, "no mount of the files of the trace"),   \
		OPT_FLAG(0, "allow-other", &(opt)->allow_other,                                    \
			 "other users may open them, too, as far as their modes let them"),        \
		OPT_FLAG(0, "no-sandbox", &(opt)->no_sandbox,                                      \
			 "keep all rights while tracing; for debugging hvtrace"),                  \
		OPT_SIZE_KB('b', "buffer-kb", &(opt)->buffer_bytes, 8 << 10, UINT64_C(1) << 40,    \
			    "KB",                                                                  \
			    "ring buffer of each vCPU; K, M, G for other units (default: 32M, "    \
			    "less for each of more than 8)"),                                      \
		OPT_ONE_OF(session_clock_name, 'C', "clock", &(opt)->clock, "NAME",                \
			   "global (default), local, counter, uptime, perf, mono, mono_raw, "      \
			   "boot, tai, x86-tsc or host"),                                          \
		OPT_STRING(0, "from", &(opt)->from, "FUNCTION",                                    \
			   "record nothing before this function is called"),                       \
		OPT_STRING(0, "until", &(opt)->until, "FUNCTION",                                  \
			   "stop when this function is called"),                                   \
		OPT_NUMBER(0, "max-events", &(opt)->max_events, 1, UINT64_MAX >> 1, "N",           \
			   "stop after N events"),                                                 \
		OPT_NUMBER(0, "min-us", &(opt)->min_us, 1, UINT64_C(1) << 40, "US",                \
			   "function_graph: leave out shorter calls (tracing_thresh)"),            \
		OPT_NUMBER(0, "max-us", &(opt)->max_us, 1, UINT64_C(1) << 40, "US",                \
			   "function_graph: leave out longer calls"),                              \
		OPT_ONE_OF(session_panic_action_name, 0, "on-panic", &(opt)->on_panic, "WHAT",     \
			   "when the guest's kernel panics: stop, dump, snapshot or ignore"),      \
		OPT_FLAG(0, "ignore-tracing-off", &(opt)->ignore_switches,                         \
			 "the guest's own tracing_off() and tracing_on() change nothing"),         \
		OPT_ONE_OF(session_form_name, 0, "format", &(opt)->format, "NAME",                 \
			   "how the trace is printed: trace (default) or kft"),                    \
		OPT_STRING('o', "output", &(opt)->output, "FILE",                                  \
			   "where the trace goes (default: -, stdout); FILE.dat: recorded while "  \
			   "it is under way, as trace-cmd record does"),                           \
		OPT_STRING(0, "summary", &(opt)->summary, "FILE",                                  \
			   "for programs: write an object of JSON with what came of it at the "    \
			   "end (-: to stdout)"),                                                  \
		OPT_ONE_OF(session_file_version_name, 0, "file-version", &(opt)->file_version,     \
			   "N", "of FILE.dat: 7 (default) or 6, for older programs"),              \
		OPT_ONE_OF(session_compression_name, 0, "compression", &(opt)->compression,        \
			   "NAME", "of FILE.dat, version 7: zstd (default) or none"),              \
		OPT_COLOR

/* The names of which they choose one. */
const char *session_tracer_name(unsigned int i); /* in the order of the alphabet: there are many */
const char *session_engine_name(unsigned int i);
const char *session_clock_name(unsigned int i);
const char *session_panic_action_name(unsigned int i);
const char *session_form_name(unsigned int i);
const char *session_file_version_name(unsigned int i);
const char *session_compression_name(unsigned int i);

/* Whether there is what it names; else one line on stderr says what there is. */
bool session_options_check(const struct session_options *opt);
/* Say on stderr what it asks for and may not mean. */
void session_options_warn(const struct session_options *opt);
/* The tracer and the engine that it asks for. */
const char *session_options_tracer(const struct session_options *opt);
enum trace_engine session_options_engine(const struct session_options *opt);
/* What is done when the guest panics, one that was attached to or one that was booted. */
enum trace_on_panic session_options_on_panic(const struct session_options *opt, bool running);
void session_options_free(struct session_options *opt);
/* The trace is recorded, not printed at its end: the output is a FILE.dat. */
bool session_options_record(const struct session_options *opt);
/* The same to stdout, as a journal for another program: hvtrace record -o -. */
bool session_options_stream(const struct session_options *opt);
/* Of the recording: its version, and whether it is packed by zstd. */
unsigned int session_options_version(const struct session_options *opt);
bool session_options_zstd(const struct session_options *opt);

/* Why the guest is not traced any more; three are what DONE turns out to have been. */
enum session_end {
	SESSION_DONE,
	SESSION_TIME,
	SESSION_SIGNAL,
	SESSION_GUEST,
	SESSION_OUTPUT,
	SESSION_ERROR,
	SESSION_PANIC,
	SESSION_UNTIL,
	SESSION_COMMAND, /* that of --exec has ended, or cannot be run */
};

struct broker;
struct control_server;
struct exec;
struct host_events;
struct target;
struct view;

/* By which times of the guest and of the host are told together. */
#define SESSION_HOST_CLOCK "x86-tsc"

/* What has come of one, as far as that goes. */
struct session_result {
	const char *end; /* a word for why it has ended; NULL: it has not come to tracing */
	char why[320];	 /* the same for people */
	double seconds;
	uint64_t printed; /* bytes of text, by now */
	struct summary_file output;
};

/* Of a guest that may reset itself, and is traced on then: reboot.c */
struct session_boots {
	unsigned int max;   /* so many times; 0: its reset is the end */
	unsigned int nr;    /* that it has by now */
	bool printed;	    /* what the last boot has recorded is out, and it was the last */
	unsigned int vcpus; /* of the boots before, and what these have counted: */
	struct trace_status sum;
	struct trace_vcpu_status vcpu[MACHINE_MAX_VCPUS];
	struct trace_past *past;
};

struct session {
	const struct session_options *opt;
	const char *target; /* that it is attached to, as the user calls it; NULL: it was booted */
	char guest[256];    /* what it is found by, since it is served */
	bool owns_guest;    /* the guest ends with hvtrace; known before there is one */
	struct cancel cancel;
	/* Optional: the process ends at once. On a thread of its own */
	void (*before_leaving)(struct session *s);
	/* Optional: the trace is out of the guest, which goes on, or stands where --until has
	 * left it. The exit status */
	int (*stopped)(struct session *s);
	/* Optional: who is told what else goes to stderr. Any thread */
	void (*message)(struct session *s, enum machine_msg_level level, const char *text);
	char err[512];			  /* what went wrong, for the user */
	FILE *out;			  /* where the trace is printed, or */
	struct record *record;		  /* recorded, if there is no out or host: */
	struct spare spare;		  /* where it is printed if out fails */
	struct target *summary;		  /* where that is written; NULL: nowhere, or it is */
	struct host_events *host;	  /* that --host-events asks for, or NULL */
	struct record_shift shift;	  /* for what is recorded by the TSC */
	const char *kernel_path;	  /* of the image that gs is of, absolute, or NULL */
	struct guestsym_parsers *parsers; /* who read gs; NULL: no sandbox is wanted */
	struct guestsym *gs;
	struct trace *trace;
	size_t events;	   /* that -e has enabled */
	bool begun;	   /* what --from waits for had come by the end */
	bool hurry;	   /* what can be done once the guest goes on is not done before */
	struct view *view; /* of the trace, while it is served: */
	struct tracefs *fs;
	struct control_server *control;
	struct broker *broker; /* of session_confine() */
	struct exec *exec;     /* whose command alone is traced, or NULL */
	struct machine *m;
	struct meter wait; /* for what session_wait() says */
	struct session_boots boots;
	struct timespec start;
	enum session_end end;
	struct machine_event event; /* of SESSION_GUEST, */
	int signo;		    /* and of SESSION_SIGNAL */
	struct session_result result;
};

/*
 * Take SIGINT and SIGTERM from here on, before any thread exists; open the output. The first asks
 * to end; with the second the process ends at once, and the keeper lets an attached guest go. -1,
 * with s->err set, on error: so for all that return int here.
 */
int session_init(struct session *s, const struct session_options *opt);
/*
 * s->gs from the bytes of an image that nobody has named, in place of what there is: 0, or -errno
 * and err says why in one line.
 */
int session_open_kernel(struct session *s, const void *image, size_t len, char *err, size_t errlen);
/*
 * s->gs is known: prepare the trace of a guest that is still to boot, or that runs. Of one to boot
 * whose kernel KASLR moves s->m is to be known as well.
 */
int session_new_trace(struct session *s, unsigned int vcpus, bool running);
/* The trace is attached to a guest: enable the events that -e names, with their filters. */
int session_enable_events(struct session *s);
/*
 * Ctrl-C, or SIGTERM, since session_init(): for .cancelled while a machine is made or attached to;
 * arg is the session. session_run() ends by it.
 */
bool session_cancelled(void *arg);
/*
 * What is waited for until the next call, NULL: nothing any more; and for .cancelled where it is
 * this thread that waits: the same as session_cancelled(), and people see for how long it takes.
 */
void session_wait(struct session *s, const char *what);
bool session_waits(void *arg); /* the session */
/* It has not come to session_run(): one line on stderr says why. The exit status. */
int session_give_up(const struct session *s);
/* The trap handler for the machine; arg is the session. */
void session_trap(struct machine *m, const struct machine_hit *hit, void *arg);
void session_mmio(struct machine *m, const struct machine_mmio *access, void *arg);
/* What is to be said of the trace: to stderr where the session has no other way. */
void session_message(struct session *s, enum machine_msg_level level, const char *text);
/* For machine_config.message; to stderr. */
void session_print_message(void *arg, enum machine_msg_level level, const char *text);
/* For machine_limits.stuck: ends the process, for nothing else does. */
void session_stuck(void *arg);
/*
 * The trace is attached: have its files served, mounted unless that is not wanted, and to hvtrace
 * get and set. `guest` is the name that they find it by, `dir` that of the mount. Where it was not
 * asked for a mount by name, it does without when it must.
 */
int session_serve(struct session *s, const char *guest, const char *dir);
/* The same in two steps: what the guest is not to run without, and all else. */
int session_prepare(struct session *s, const char *guest);
int session_publish(struct session *s, const char *dir);
/*
 * All that is needed is open, the machine is started: give up every right that tracing does not
 * need (docs/security.md). Nothing, with --no-sandbox.
 */
int session_confine(struct session *s);
/* The clock that is asked for; NULL: the default. */
const char *session_clock(const struct session *s);
/* What who is confined has others do: unmount the files, and take the trace out of the registry. */
void session_unmount(void *arg); /* the session */
void session_unregister(struct session *s);
int session_place_recording(struct session *s);
int session_name_spare(struct session *s);
int session_place_host(struct session *s);
int session_remove_host(struct session *s);
/* Say on stderr that it has begun, and how. */
void session_say_begin(struct session *s);
/* The machine runs and the trace is attached: wait for the end, with a progress line to show or
 * not. */
void session_run(struct session *s, bool show);
/* How it has ended, on stderr; seconds: for how long it was traced. */
void session_say_end(struct session *s, double seconds);
double session_seconds(const struct session *s); /* since session_run() */
bool session_time_is_over(const struct session *s);
bool session_has_error(struct session *s); /* the trace has failed */
/*
 * Take the trace out of the guest, once: 0 or -errno. What has failed because the guest was ending
 * did so before its machine told of it: s->end is corrected then.
 */
int session_detach(struct session *s);
/* Restore the guest, say on stderr how it ended. The exit status. */
int session_stop(struct session *s);
/* Behind that: print the trace, or end its recording. The exit status. */
int session_print(struct session *s);
/* Both. */
int session_finish(struct session *s);
/*
 * The command ends with this exit status: let the guest go, if it is not yet, and write what
 * --summary asks for. The exit status.
 */
int session_summarize(struct session *s, int status);
/* The guest crashed, or never got to --until. After session_run(). */
bool session_failed(const struct session *s);
void session_exit(struct session *s);

#endif
