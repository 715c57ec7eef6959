// SPDX-License-Identifier: GPL-2.0-or-later
/* attach.c - `hvtrace attach`: trace a guest that runs already, for a while. */
#include "frontend/cmd/attach-many.h"
#include "frontend/cmd/command.h"
#include "frontend/cmd/guests.h"
#include "frontend/lib/options.h"
#include "frontend/remote/remote.h"
#include "frontend/session/host-events.h"

#include <stdlib.h>
#include <string.h>

static const struct option_usage attach_usage = {
	"hvtrace attach [OPTION]... DOMAIN...",
	"Traces the kernel of a running guest for a while, prints the trace, and leaves the guest as\n"
	"it was found. DOMAIN is a libvirt domain (name, id or UUID), or the gdb stub of a QEMU:\n"
	"gdb:unix:PATH or gdb:HOST:PORT. Of several the events are printed in the order of the host's\n"
	"time, or recorded: -o FILE.dat has all of them, -o DIR/ a file for each.",
	"hvtrace attach mydomain -f 'vfs_*'\n"
	"hvtrace attach gdb:unix:/run/guest.gdb -e sched:sched_switch --for 2s\n"
	"hvtrace attach mydomain -t function_graph --for 1h &     # then: hvtrace top\n"
	"hvtrace attach web1 web2 db1 -e sched:sched_switch --for 2s\n"
	"hvtrace attach --label tier=prod -e '@syscalls' --for 10s -o prod/",
};

static int attach_trace(struct attach *a)
{
	return attach_machine(a) || attach_new_trace(a) || attach_begin(a) ? -1 : 0;
}

/* Being attached and letting go again takes away whatever another hvtrace has left. */
int recover_guest(const struct attach_options *opt)
{
	struct session_options nothing = opt->session;
	struct attach a = {.target = &opt->target};
	int ret, status;

	/* An hvtrace on its own host does that. */
	if (remote_is(opt->target.connect))
		return remote_attach(&opt->session, &opt->target);
	host_events_clean();
	nothing.tracer = "nop";
	nothing.output = "-";
	nothing.record = false;
	nothing.summary = NULL;
	nothing.unserved = true;
	nothing.host_events = (struct option_list){0};
	ret = session_init(&a.s, &nothing) || attach_machine(&a) || attach_new_trace(&a) ||
	      session_confine(&a.s) || attach_begin(&a);
	if (!ret) {
		ret = trace_detach(a.s.trace);
		snprintf(a.s.err, sizeof(a.s.err), "%s could not be let go: %s", opt->target.name,
			 strerror(-ret));
	}
	status = EXIT_OK;
	if (ret)
		status = session_give_up(&a.s);
	else
		fprintf(stderr, "hvtrace: %s runs on without probes\n", opt->target.name);
	session_exit(&a.s);
	return status;
}

int attach_guest(const struct attach_options *opt)
{
	struct attach a = {.target = &opt->target};
	int status = EXIT_FAILED;

	if (remote_is(opt->target.connect))
		return remote_attach(&opt->session, &opt->target);
	if (session_init(&a.s, &opt->session) || attach_trace(&a) || session_enable_events(&a.s) ||
	    session_serve(&a.s, attach_name(&a), attach_name(&a)) || session_confine(&a.s)) {
		status = session_give_up(&a.s);
	} else {
		session_say_begin(&a.s);
		session_run(&a.s, true);
		status = session_finish(&a.s);
	}
	status = session_summarize(&a.s, status);
	session_exit(&a.s);
	return status;
}

/* What of one guest is wanted. */
static int attach_one(const struct attach_options *opt)
{
	if (opt->target.recover)
		return recover_guest(opt);
	return opt->segment_ms ? attach_segments(opt) : attach_guest(opt);
}

/* Libvirt lists those of this host alone. */
static bool fleet_is_elsewhere(const struct fleet_choice *choice)
{
	if (!remote_is(choice->connect) || !(choice->all || choice->labels.nr))
		return false;
	fprintf(stderr,
		"hvtrace: --all and --label are for guests of this host: name those of another one "
		"(hvtrace list --connect %s)\n",
		choice->connect);
	return true;
}

/* There the recording of one guest has the name that it has beside others. */
static bool fills_folder(const struct attach_options *opt)
{
	return !opt->target.recover && attach_output_is_folder(opt->session.output);
}

static int attach_chosen(struct attach_options *opt, const struct fleet_choice *choice,
			 char **names, int nr_names)
{
	struct fleet_name *guests = NULL;
	int status, nr;

	if (!fleet_is_asked(choice, nr_names) && !fills_folder(opt)) {
		opt->target.name = names[0];
		return attach_one(opt);
	}
	if (fleet_is_elsewhere(choice))
		return EXIT_USAGE;
	nr = fleet_choose(choice, names, nr_names, &guests);
	if (nr < 0)
		return -nr;
	status = opt->target.recover ? recover_many(opt, guests, (size_t)nr)
				     : attach_many(opt, guests, (size_t)nr);
	free(guests);
	return status;
}

/* One line says what does not go with it. */
static bool check_segments(const struct attach_options *opt)
{
	const struct session_options *s = &opt->session;

	if (!opt->segment_ms)
		return true;
	if (!(session_options_record(s) || attach_output_is_folder(s->output)) ||
	    !strcmp(s->output, "-"))
		fprintf(stderr, "hvtrace: --segment is for what is recorded to files: -o FILE.dat, "
				"or -o DIR/\n");
	else if (s->host_events.nr)
		fprintf(stderr, "hvtrace: --segment: --host-events are recorded to one file\n");
	else
		return true;
	return false;
}

int attach_as(const struct tracing *what, int argc, char **argv)
{
	struct attach_options opt = {.session = SESSION_OPTIONS_DEFAULT};
	struct fleet_choice choice = {0};
	const struct option_row rows[] = {
		ATTACH_OPTION_ROWS(&opt.target),
		FLEET_OPTION_ROWS(&choice),
		OPT_TIME(0, "window", &opt.session.limit_ms, "TIME",
			 what->limit_ms ? "how long to trace (5, 1.5s, 200ms, 2m; default: 5s)"
					: "how long to trace (5, 1.5s, 200ms, 2m; default: until "
					  "Ctrl-C)"),
		OPT_TIME(0, "for", &opt.session.limit_ms, "TIME", "the same as --window"),
		OPT_TIME(
			0, "segment", &opt.segment_ms, "TIME",
			"recorded to FILE.dat: a file for each TIME, FILE.WHEN.dat, without a gap"),
		OPT_FLAG(0, "recover", &opt.target.recover,
			 "clean up behind an hvtrace that was killed; do not trace"),
		SESSION_OPTION_ROWS(&opt.session),
		OPT_END,
	};
	int first, status = EXIT_USAGE;

	opt.session.limit_ms = what->limit_ms;
	opt.session.output = what->output;
	opt.session.record = what->record;
	first = options_parse(argc, argv, rows, what->usage);
	if (first == OPTIONS_HELP) {
		status = EXIT_OK;
	} else if (first >= 0 && argc == first && !fleet_is_asked(&choice, 0)) {
		fprintf(stderr, "hvtrace: %s takes a domain, or several (%s --help)\n",
			argv[0] + strlen("hvtrace "), argv[0]);
	} else if (first >= 0 && session_options_check(&opt.session) && check_segments(&opt)) {
		choice.connect = opt.target.connect;
		if (!remote_is(opt.target.connect))
			session_options_warn(&opt.session);
		status = attach_chosen(&opt, &choice, argv + first, argc - first);
	}
	session_options_free(&opt.session);
	option_list_free(&choice.labels);
	return status;
}

int cmd_attach(int argc, char **argv)
{
	const struct tracing what = {&attach_usage, "-", false, 5000};

	return attach_as(&what, argc, argv);
}
