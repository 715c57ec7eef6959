// SPDX-License-Identifier: GPL-2.0-or-later
/* cmd-run.c - `hvtrace run`: boot a kernel in a machine of its own and trace it. */
#include "frontend/command.h"
#include "frontend/console.h"
#include "frontend/file.h"
#include "frontend/kernel-find.h"
#include "frontend/options.h"
#include "frontend/progress.h"
#include "guestsym/guestsym.h"
#include "tracer/tracer.h"
#include "vmm/machine.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define MIB (UINT64_C(1) << 20)

struct run_options {
	const char *kernel, *initrd, *append, *tracer, *clock, *until, *output;
	struct option_list filter, notrace;
	uint64_t memory, cpus, buffer_kb, seconds, max_events;
	bool console;
};

/* Why the guest does not run any more. */
enum run_end { RUN_DONE, RUN_TIME, RUN_SIGNAL, RUN_GUEST };

struct run {
	const struct run_options *opt;
	char err[512];
	char *cmdline;
	struct file_map initrd;
	FILE *out;
	struct guestsym *gs;
	struct trace *trace;
	struct machine *m;
	struct console console;
	struct timespec start;
	enum run_end end;
	struct machine_event event; /* of RUN_GUEST */
};

static const struct option_usage run_usage = {
	"hvtrace run [OPTION]...",
	"Boots an unmodified Linux kernel in a machine of its own, traces it from its first\n"
	"instruction, and prints the trace when the guest has ended, --until or --for is reached,\n"
	"or at Ctrl-C.",
};

static void run_trap(struct machine *m, const struct machine_hit *hit, void *arg)
{
	struct run *r = arg;

	(void)m;
	trace_trap(r->trace, hit);
}

static void run_console(void *arg, const char *text, size_t len)
{
	struct run *r = arg;

	console_write(&r->console, text, len);
}

static void run_message(void *arg, enum machine_msg_level level, const char *text)
{
	(void)arg;
	fprintf(stderr, "hvtrace: %s%s\n", level == MACHINE_MSG_WARN ? "warning: " : "", text);
}

/* --- set-up ------------------------------------------------------------------------------- */

static int run_open_output(struct run *r)
{
	const char *path = r->opt->output;

	r->out = strcmp(path, "-") ? fopen(path, "we") : stdout;
	if (r->out)
		return 0;
	snprintf(r->err, sizeof(r->err), "cannot write %s: %s", path, strerror(errno));
	return -1;
}

static int run_open_kernel(struct run *r)
{
	char *found = NULL;

	if (!r->opt->kernel) {
		found = kernel_find();
		if (!found) {
			snprintf(
				r->err, sizeof(r->err),
				"no kernel: /boot has no readable vmlinuz-*, and scripts/get-guest has "
				"fetched none; name one with -k");
			return -1;
		}
	}
	r->gs = guestsym_open(found ? found : r->opt->kernel, 0, r->err, sizeof(r->err));
	free(found);
	return r->gs ? 0 : -1;
}

static int run_open_initrd(struct run *r)
{
	int ret = r->opt->initrd ? file_map(&r->initrd, r->opt->initrd) : 0;

	if (!ret)
		return 0;
	snprintf(r->err, sizeof(r->err), "cannot read the initrd %s: %s", r->opt->initrd,
		 strerror(-ret));
	return -1;
}

/* A panic ends the run instead of hanging for ever; the user's own words come last and win. */
static int run_make_cmdline(struct run *r)
{
	if (asprintf(&r->cmdline, "console=ttyS0 panic=-1 %s", r->opt->append) >= 0)
		return 0;
	r->cmdline = NULL;
	snprintf(r->err, sizeof(r->err), "no memory");
	return -1;
}

static int run_new_trace(struct run *r)
{
	const struct trace_config cfg = {
		.gs = r->gs,
		.vcpus = (unsigned int)r->opt->cpus,
		.tracer = r->opt->tracer,
		.clock = r->opt->clock,
		.filter = r->opt->filter.values,
		.nr_filter = r->opt->filter.nr,
		.notrace = r->opt->notrace.values,
		.nr_notrace = r->opt->notrace.nr,
		.buffer_bytes = r->opt->buffer_kb << 10,
		.until = r->opt->until,
		.max_events = r->opt->max_events,
	};

	r->trace = trace_new(&cfg, r->err, sizeof(r->err));
	return r->trace ? 0 : -1;
}

static int run_new_machine(struct run *r)
{
	struct machine_config cfg = {
		.memory = r->opt->memory,
		.vcpus = (unsigned int)r->opt->cpus,
		.initrd = r->initrd.data,
		.initrd_size = r->initrd.len,
		.cmdline = r->cmdline,
		.console = run_console,
		.message = run_message,
		.trap = run_trap,
		.arg = r,
	};

	cfg.kernel = guestsym_elf(r->gs, &cfg.kernel_size);
	r->m = machine_new("kvm", &cfg, r->err, sizeof(r->err));
	if (!r->m)
		return -1;
	return trace_attach(r->trace, r->m, r->err, sizeof(r->err));
}

/* --- running ------------------------------------------------------------------------------ */

static double run_seconds(const struct run *r)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)(now.tv_sec - r->start.tv_sec) +
	       (double)(now.tv_nsec - r->start.tv_nsec) / 1e9;
}

/* SIGINT and SIGTERM are blocked everywhere and looked for here. */
static bool run_signalled(void)
{
	const struct timespec at_once = {0, 0};
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	return sigtimedwait(&set, NULL, &at_once) > 0;
}

static void run_block_signals(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
}

static bool run_ended(struct run *r, const struct trace_status *st)
{
	if (r->event.type != MACHINE_EVENT_NONE && r->event.type != MACHINE_EVENT_WAKE)
		r->end = RUN_GUEST;
	else if (run_signalled())
		r->end = RUN_SIGNAL;
	else if (r->opt->seconds && run_seconds(r) >= (double)r->opt->seconds)
		r->end = RUN_TIME;
	else if (!st->done)
		return false;
	/* The guest may have ended on its way from --until to here. */
	if (st->done)
		r->end = RUN_DONE;
	return true;
}

static int run_guest(struct run *r)
{
	struct trace_status st;
	struct progress progress;

	progress_init(&progress, !r->opt->console);
	clock_gettime(CLOCK_MONOTONIC, &r->start);
	if (machine_start(r->m, r->err, sizeof(r->err)))
		return -1;
	if (r->opt->console && console_feed(&r->console, r->m)) {
		snprintf(r->err, sizeof(r->err), "cannot read the terminal for --console");
		return -1;
	}
	do {
		if (machine_wait(r->m, &r->event, 100) < 0)
			break;
		trace_get_status(r->trace, &st);
		progress_show(&progress, run_seconds(r), &st);
	} while (!run_ended(r, &st));
	progress_clear(&progress);
	return 0;
}

/* --- the end ------------------------------------------------------------------------------ */

static const char *guest_end_text(const struct machine_event *ev)
{
	switch (ev->type) {
	case MACHINE_EVENT_RESET:
		return "the guest reset itself";
	case MACHINE_EVENT_POWEROFF:
		return "the guest powered itself off";
	case MACHINE_EVENT_HALT:
		return "the guest halted";
	case MACHINE_EVENT_CRASH:
		return "the guest crashed (triple fault)";
	default:
		return ev->text;
	}
}

static const char *plural(uint64_t n)
{
	return n == 1 ? "" : "s";
}

static void run_end_text(const struct run *r, const struct trace_status *st, char *why, size_t len)
{
	bool by_count = r->opt->max_events && st->hits >= r->opt->max_events;

	if (r->end == RUN_GUEST)
		snprintf(why, len, "%s", guest_end_text(&r->event));
	else if (r->end == RUN_TIME)
		snprintf(why, len, "the time is over");
	else if (r->end == RUN_SIGNAL)
		snprintf(why, len, "interrupted");
	else if (r->opt->until && !by_count)
		snprintf(why, len, "%s was called", r->opt->until);
	else
		snprintf(why, len, "%" PRIu64 " events are recorded", st->hits);
}

static void run_say_end(struct run *r, double seconds)
{
	const char *release = guestsym_release(r->gs);
	struct trace_status st;
	uint64_t functions;
	char why[320];

	trace_get_status(r->trace, &st);
	run_end_text(r, &st, why, sizeof(why));
	functions = st.sites - st.skipped;
	fprintf(stderr,
		"hvtrace: %s: %s after %.1f s: %" PRIu64 " function%s, %" PRIu64 " event%s, ",
		*release ? release : "guest", why, seconds, functions, plural(functions), st.hits,
		plural(st.hits));
	fprintf(stderr, "%" PRIu64 " lost\n", st.lost);
	if (st.skipped)
		fprintf(stderr,
			"hvtrace: %" PRIu64 " functions left out: their sites held other bytes\n",
			st.skipped);
}

/* A guest that ended by itself has failed us when it crashed or never got to --until. */
static int run_status(struct run *r)
{
	bool crashed = r->event.type == MACHINE_EVENT_CRASH || r->event.type == MACHINE_EVENT_ERROR;

	if (r->end != RUN_GUEST || (!crashed && !r->opt->until))
		return EXIT_OK;
	if (r->opt->until)
		fprintf(stderr, "hvtrace: %s was never called\n", r->opt->until);
	if (!r->opt->console) {
		fprintf(stderr, "hvtrace: the guest's last words:\n");
		console_tail(&r->console, stderr, 10);
	}
	return EXIT_FAILED;
}

static int run_print(struct run *r)
{
	int ret = trace_print(r->trace, r->out);

	if (!ret && fflush(r->out))
		ret = -errno;
	if (r->out != stdout && fclose(r->out) && !ret)
		ret = -errno;
	r->out = NULL;
	if (!ret)
		return EXIT_OK;
	fprintf(stderr, "hvtrace: cannot write %s: %s\n", r->opt->output, strerror(-ret));
	return EXIT_FAILED;
}

static int run_finish(struct run *r)
{
	double seconds = run_seconds(r);
	int ret = trace_detach(r->trace), status;

	if (ret)
		fprintf(stderr, "hvtrace: the guest's text could not be restored: %s\n",
			strerror(-ret));
	run_say_end(r, seconds);
	status = run_status(r);
	return run_print(r) || status || ret ? EXIT_FAILED : EXIT_OK;
}

static void run_free(struct run *r)
{
	console_exit(&r->console);
	machine_free(r->m);
	trace_free(r->trace);
	guestsym_close(r->gs);
	file_unmap(&r->initrd);
	free(r->cmdline);
	if (r->out && r->out != stdout)
		fclose(r->out);
}

static int run(const struct run_options *opt)
{
	struct run r = {.opt = opt};
	int status = EXIT_FAILED;

	run_block_signals();
	console_init(&r.console, opt->console ? stderr : NULL);
	if (run_open_output(&r) || run_open_kernel(&r) || run_open_initrd(&r) ||
	    run_make_cmdline(&r) || run_new_trace(&r) || run_new_machine(&r) || run_guest(&r))
		fprintf(stderr, "hvtrace: %s\n", r.err);
	else
		status = run_finish(&r);
	run_free(&r);
	return status;
}

int cmd_run(int argc, char **argv)
{
	struct run_options opt = {
		.append = "",
		.tracer = "function",
		.output = "-",
		.memory = 1024 * MIB,
		.cpus = 1,
		.buffer_kb = 32768,
	};
	const struct option_row rows[] = {
		OPT_STRING(
			'k', "kernel", &opt.kernel, "FILE",
			"bzImage or vmlinux (default: newest /boot/vmlinuz-*, else the fetched one)"),
		OPT_STRING('i', "initrd", &opt.initrd, "FILE", "initial RAM disk"),
		OPT_STRING('a', "append", &opt.append, "WORDS", "more for the kernel command line"),
		OPT_SIZE_MB('m', "memory", &opt.memory, 64 * MIB, 1048576 * MIB, "MB",
			    "guest RAM; K, M, G for other units (default: 1024)"),
		OPT_NUMBER('c', "cpus", &opt.cpus, 1, MACHINE_MAX_VCPUS, "N", "vCPUs (default: 1)"),
		OPT_STRING('t', "tracer", &opt.tracer, "NAME", "function (default) or nop"),
		OPT_LIST('f', "filter", &opt.filter, "GLOB",
			 "trace only functions that match; may be repeated"),
		OPT_LIST('n', "notrace", &opt.notrace, "GLOB",
			 "do not trace functions that match; may be repeated"),
		OPT_NUMBER('b', "buffer-kb", &opt.buffer_kb, 8, UINT64_C(1) << 30, "KB",
			   "ring buffer of each vCPU (default: 32768)"),
		OPT_STRING('C', "clock", &opt.clock, "NAME",
			   "global (default), local, counter, x86-tsc or host"),
		OPT_NUMBER(0, "for", &opt.seconds, 1, 1000000, "SECONDS", "stop after this time"),
		OPT_STRING(0, "until", &opt.until, "FUNCTION", "stop when this function is called"),
		OPT_NUMBER(0, "max-events", &opt.max_events, 1, UINT64_MAX >> 1, "N",
			   "stop after so many events"),
		OPT_STRING('o', "output", &opt.output, "FILE",
			   "where the trace goes (default: -, stdout)"),
		OPT_FLAG(0, "console", &opt.console,
			 "the guest's console on stderr, input from stdin"),
		OPT_END,
	};
	int first = options_parse(argc, argv, rows, &run_usage), status = EXIT_USAGE;

	if (first == OPTIONS_HELP)
		status = EXIT_OK;
	else if (first >= 0 && first < argc)
		fprintf(stderr, "hvtrace: run takes no operand: %s (hvtrace run --help)\n",
			argv[first]);
	else if (first >= 0)
		status = run(&opt);
	option_list_free(&opt.filter);
	option_list_free(&opt.notrace);
	return status;
}
