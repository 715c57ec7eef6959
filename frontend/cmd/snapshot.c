// SPDX-License-Identifier: GPL-2.0-or-later
/* snapshot.c - `hvtrace snapshot restore`: a guest goes on from where it was saved, and is traced.
 */
#include "frontend/cmd/command.h"
#include "frontend/cmd/early-kernel.h"
#include "frontend/lib/options.h"
#include "frontend/session/console.h"
#include "frontend/session/session.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct restore_options {
	struct session_options session;
	const char *file, *kernel;
	bool console;
};

struct restore {
	struct session s;
	const struct restore_options *opt;
	struct early_kernel kernel;
	char *kernel_path; /* absolute */
	struct console console;
	struct timespec start; /* of the command */
};

static const struct option_usage snapshot_usage = {
	"hvtrace snapshot restore [OPTION]... FILE",
	"Has a guest go on from where hvtrace snapshot save or hvtrace run --save has saved it, in a machine\n"
	"of hvtrace's own on /dev/kvm, and traces it from its first instruction there. FILE stays as it is:\n"
	"the guest can be restored from it again and again, and traced in other ways.",
	"hvtrace run -t nop --until run_init_process --save booted.snap\n"
	"hvtrace snapshot restore booted.snap -f 'vfs_*' --max-events 1000\n"
	"hvtrace snapshot restore booted.snap -t function_graph --for 2s -o calls.txt",
};

static void restore_trap(struct machine *m, const struct machine_hit *hit, void *arg)
{
	struct restore *r = arg;

	session_trap(m, hit, &r->s);
}

static void restore_mmio(struct machine *m, const struct machine_mmio *access, void *arg)
{
	struct restore *r = arg;

	session_mmio(m, access, &r->s);
}

static bool restore_branch(struct machine *m, const struct machine_branch *b, void *arg)
{
	struct restore *r = arg;

	(void)m;
	return trace_branch(r->s.trace, b);
}

static void restore_console(void *arg, const char *text, size_t len)
{
	struct restore *r = arg;

	console_write(&r->console, text, len);
}

static void restore_kernel_known(void *arg, const char *path)
{
	struct restore *r = arg;

	if (r->opt->kernel)
		path = r->opt->kernel;
	if (path)
		early_kernel_begin(&r->kernel, r->s.parsers, path);
}

static int restore_machine(struct restore *r)
{
	const struct machine_config cfg = {
		.snapshot = r->opt->file,
		.kernel_known = restore_kernel_known,
		.cancelled = session_cancelled,
		.console = restore_console,
		.message = session_print_message,
		.trap = restore_trap,
		.mmio = restore_mmio,
		.branch = restore_branch,
		.arg = r,
	};

	r->s.m = machine_new("kvm", &cfg, r->s.err, sizeof(r->s.err));
	return r->s.m ? 0 : -1;
}

/* Another image with the same name is none. */
static int restore_check_kernel(struct restore *r, const char *path, const char *want)
{
	const char *id = guestsym_build_id(r->s.gs);

	if (!want || !*want || !strcmp(id, want))
		return 0;
	snprintf(r->s.err, sizeof(r->s.err),
		 "%s is not the kernel of the snapshot: its build id is %s, not %.80s (-k names "
		 "another image)",
		 path, *id ? id : "none", want);
	return -1;
}

static int restore_kernel(struct restore *r)
{
	struct machine_info info;
	const char *path;

	machine_get_info(r->s.m, &info);
	path = r->opt->kernel ? r->opt->kernel : info.kernel_path;
	if (!path) {
		snprintf(r->s.err, sizeof(r->s.err),
			 "%s does not say which kernel runs: name its image with -k", r->opt->file);
		return -1;
	}
	r->s.gs = early_kernel_end(&r->kernel);
	if (!r->s.gs)
		snprintf(r->s.err, sizeof(r->s.err), "%s", r->kernel.err);
	if (!r->s.gs || restore_check_kernel(r, path, info.kernel_id))
		return -1;
	r->s.kernel_path = r->kernel_path = realpath(path, NULL);
	return session_new_trace(&r->s, info.vcpus, true);
}

static int restore_start(struct restore *r)
{
	return machine_start(r->s.m, r->s.err, sizeof(r->s.err));
}

/* What these place is there before the guest's next instruction; of others it is asked for. */
static bool restore_is_placed(const struct session_options *opt)
{
	static const char *const names[] = {"function", "function_graph", "nop"};
	const char *tracer = session_options_tracer(opt);

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (!strcmp(tracer, names[i]))
			return true;
	}
	return false;
}

static int restore_attach(struct restore *r)
{
	bool placed = restore_is_placed(&r->opt->session);
	int rc = placed ? 0 : restore_start(r);

	if (!rc)
		rc = trace_attach_running(r->s.trace, r->s.m, r->s.err, sizeof(r->s.err));
	return rc || !placed ? rc : 1;
}

static int restore_prepare(struct restore *r)
{
	char name[32];

	snprintf(name, sizeof(name), "hvtrace-%ld", (long)getpid());
	return session_prepare(&r->s, name);
}

static int restore_publish(struct restore *r)
{
	char dir[32];

	snprintf(dir, sizeof(dir), "run-%ld", (long)getpid());
	return session_publish(&r->s, dir);
}

static void restore_say(const struct restore *r)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	fprintf(stderr, "hvtrace: the guest goes on from %s, %.1f ms after the command\n",
		r->opt->file,
		(double)(now.tv_sec - r->start.tv_sec) * 1e3 +
			(double)(now.tv_nsec - r->start.tv_nsec) / 1e6);
}

static int restore_begin(struct restore *r)
{
	int rc = restore_attach(r);

	if (rc < 0 || restore_prepare(r))
		return -1;
	if (rc && restore_start(r))
		return -1;
	restore_say(r);
	if (restore_publish(r))
		return -1;
	if (r->opt->console && console_feed(&r->console, r->s.m)) {
		snprintf(r->s.err, sizeof(r->s.err), "cannot read the terminal for --console");
		return -1;
	}
	if (session_enable_events(&r->s))
		return -1;
	/* Nobody has needed the image itself so far; from here on no more files are opened. */
	return guestsym_settle(r->s.gs, r->s.err, sizeof(r->s.err));
}

static int restore_finish(struct restore *r)
{
	int status = session_finish(&r->s);

	if (session_failed(&r->s) && !r->opt->console) {
		fprintf(stderr, "hvtrace: the guest's last words:\n");
		console_tail(&r->console, stderr, 10);
	}
	return status;
}

static void restore_before_leaving(struct session *s)
{
	struct restore *r = (struct restore *)((char *)s - offsetof(struct restore, s));

	console_restore(&r->console);
}

static int restore_guest(const struct restore_options *opt)
{
	struct restore r = {.opt = opt};
	int status;

	clock_gettime(CLOCK_MONOTONIC, &r.start);
	r.s.hurry = true;
	r.s.owns_guest = true;
	r.s.before_leaving = restore_before_leaving;
	console_init(&r.console, opt->console);
	if (session_init(&r.s, &opt->session) || restore_machine(&r) || restore_kernel(&r) ||
	    restore_begin(&r) || session_confine(&r.s)) {
		status = session_give_up(&r.s);
	} else {
		session_say_begin(&r.s);
		session_run(&r.s, !opt->console);
		status = restore_finish(&r);
	}
	status = session_summarize(&r.s, status);
	console_exit(&r.console);
	guestsym_close(early_kernel_end(&r.kernel));
	session_exit(&r.s);
	free(r.kernel_path);
	return status;
}

static int restore(int argc, char **argv)
{
	struct restore_options opt = {.session = SESSION_OPTIONS_DEFAULT};
	const struct option_row rows[] = {
		OPT_STRING('k', "kernel", &opt.kernel, "FILE",
			   "the image of its kernel (default: the one that it was booted from)"),
		SESSION_OPTION_ROWS(&opt.session),
		OPT_TIME(0, "for", &opt.session.limit_ms, "TIME",
			 "stop after this time (5, 1.5s, 200ms, 2m)"),
		OPT_TIME(0, "window", &opt.session.limit_ms, "TIME", "the same as --for"),
		OPT_FLAG(0, "console", &opt.console,
			 "the guest's console on stderr, input from stdin"),
		OPT_OPERANDS(COMPLETE_FILE),
	};
	int first = options_parse(argc, argv, rows, &snapshot_usage), status = EXIT_USAGE;

	if (first == OPTIONS_HELP) {
		status = EXIT_OK;
	} else if (first >= 0 && argc - first != 1) {
		fprintf(stderr, "hvtrace: snapshot restore takes one file (%s --help)\n", argv[0]);
	} else if (first >= 0 && session_options_check(&opt.session)) {
		opt.file = argv[first];
		session_options_warn(&opt.session);
		status = restore_guest(&opt);
	}
	session_options_free(&opt.session);
	return status;
}

/* The word comes first, as in hvtrace record run; without it there is nothing but the help. */
int cmd_snapshot(int argc, char **argv)
{
	char name[] = "hvtrace snapshot restore";

	if (argc > 1 && !strcmp(argv[1], "restore")) {
		argv[1] = name;
		return restore(argc - 1, argv + 1);
	}
	if (argc > 1 && !strcmp(argv[1], "save"))
		return cmd_snapshot_save(argc - 1, argv + 1);
	if (argc > 1 && *argv[1] == '-')
		return restore(argc, argv);
	fprintf(stderr, "hvtrace: snapshot: there are save and restore, and nothing else (hvtrace "
			"snapshot --help)\n");
	return EXIT_USAGE;
}
