// SPDX-License-Identifier: GPL-2.0-or-later
/* cmd-attach.c - `hvtrace attach`: trace a guest that runs already, for a while. */
#include "frontend/command.h"
#include "frontend/options.h"
#include "frontend/session.h"

#include <string.h>

struct attach_options {
	struct session_options session;
	const char *target, *connect, *kernel;
	bool recover;
};

struct attach {
	struct session s;
	const struct attach_options *opt;
};

static const struct option_usage attach_usage = {
	"hvtrace attach [OPTION]... DOMAIN",
	"Traces the kernel of a running guest for a while, prints the trace, and leaves the guest as\n"
	"it was found. DOMAIN is a libvirt domain (name, id or UUID), or the gdb stub of a QEMU:\n"
	"gdb:unix:PATH or gdb:HOST:PORT.",
};

static void attach_trap(struct machine *m, const struct machine_hit *hit, void *arg)
{
	struct attach *a = arg;

	session_trap(m, hit, &a->s);
}

static int attach_machine(struct attach *a)
{
	const struct machine_attach_config cfg = {
		.target = a->opt->target,
		.connect = a->opt->connect,
		.recover = a->opt->recover,
		.message = session_message,
		.trap = attach_trap,
		.arg = a,
	};

	a->s.m = machine_attach(&cfg, a->s.err, sizeof(a->s.err));
	return a->s.m ? 0 : -1;
}

static int attach_open_kernel(struct attach *a, const struct machine_info *info)
{
	const char *path = a->opt->kernel ? a->opt->kernel : info->kernel_path;

	if (path)
		a->s.gs = guestsym_open(path, 0, a->s.err, sizeof(a->s.err));
	else
		a->s.gs = trace_read_kernel(a->s.m, a->s.err, sizeof(a->s.err));
	return a->s.gs ? 0 : -1;
}

static int attach_trace(struct attach *a)
{
	struct machine_info info;

	machine_get_info(a->s.m, &info);
	if (attach_open_kernel(a, &info) || session_new_trace(&a->s, info.vcpus, true))
		return -1;
	return trace_attach_running(a->s.trace, a->s.m, a->s.err, sizeof(a->s.err));
}

/* Being attached and letting go again takes away whatever another hvtrace has left. */
static int recover(const struct attach_options *opt)
{
	struct session_options nothing = opt->session;
	struct attach a = {.opt = opt};
	int ret;

	nothing.tracer = "nop";
	nothing.unserved = true;
	ret = session_init(&a.s, &nothing) || attach_machine(&a) || attach_trace(&a);
	if (!ret) {
		ret = trace_detach(a.s.trace);
		snprintf(a.s.err, sizeof(a.s.err), "%s could not be let go: %s", opt->target,
			 strerror(-ret));
	}
	if (ret)
		fprintf(stderr, "hvtrace: %s\n", a.s.err);
	else
		fprintf(stderr, "hvtrace: %s runs on without probes\n", opt->target);
	session_exit(&a.s);
	return ret ? EXIT_FAILED : EXIT_OK;
}

/* What the trace is found by: the domain, or the last word of a stub's address. */
static const char *attach_name(const struct attach *a)
{
	struct machine_info info;
	const char *end = strrchr(a->opt->target, '/');

	machine_get_info(a->s.m, &info);
	return info.name ? info.name : end && end[1] ? end + 1 : "guest";
}

static int attach(const struct attach_options *opt)
{
	struct attach a = {.opt = opt};
	int status = EXIT_FAILED;

	if (session_init(&a.s, &opt->session) || attach_machine(&a) || attach_trace(&a) ||
	    session_enable_events(&a.s) || session_serve(&a.s, attach_name(&a), attach_name(&a))) {
		fprintf(stderr, "hvtrace: %s\n", a.s.err);
	} else {
		session_say_begin(&a.s);
		session_run(&a.s, true);
		status = session_finish(&a.s);
	}
	session_exit(&a.s);
	return status;
}

int cmd_attach(int argc, char **argv)
{
	struct attach_options opt = {.session = SESSION_OPTIONS_DEFAULT};
	const struct option_row rows[] = {
		OPT_STRING(0, "connect", &opt.connect, "URI", "libvirt (default: qemu:///system)"),
		OPT_STRING(
			'k', "kernel", &opt.kernel, "FILE",
			"the kernel that runs (default: as the domain says, else found in memory)"),
		OPT_TIME(0, "window", &opt.session.limit_ms, "TIME",
			 "how long to trace (5, 1.5s, 200ms, 2m; default: 5s)"),
		OPT_FLAG(0, "recover", &opt.recover,
			 "clean up behind an hvtrace that was killed; do not trace"),
		SESSION_OPTION_ROWS(&opt.session),
		OPT_END,
	};
	int first, status = EXIT_USAGE;

	opt.session.limit_ms = 5000;
	first = options_parse(argc, argv, rows, &attach_usage);
	if (first == OPTIONS_HELP) {
		status = EXIT_OK;
	} else if (first >= 0 && argc - first != 1) {
		fprintf(stderr, "hvtrace: attach takes one domain (hvtrace attach --help)\n");
	} else if (first >= 0) {
		opt.target = argv[first];
		status = opt.recover ? recover(&opt) : attach(&opt);
	}
	session_options_free(&opt.session);
	return status;
}
