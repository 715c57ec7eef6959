// SPDX-License-Identifier: GPL-2.0-or-later
/* check-host.c - `hvtrace check-host`: what of hvtrace works on this host, or with a guest. */
#include "frontend/check/check.h"
#include "frontend/cmd/command.h"
#include "frontend/lib/json.h"
#include "frontend/lib/options.h"
#include "frontend/lib/output.h"
#include "frontend/lib/patience.h"
#include "frontend/remote/remote.h"

static const struct option_usage check_usage = {
	"hvtrace check-host [OPTION]... [DOMAIN]",
	"Says what hvtrace can use on this host: tries each mechanism in small guests of its own, one\n"
	"line for each, in about a minute. With DOMAIN, a libvirt domain or gdb:unix:PATH or\n"
	"gdb:HOST:PORT, it only looks at that guest, which stands for some tens of milliseconds and is\n"
	"not changed. The output is made for bug reports: it has no names and no command lines in it.",
	"hvtrace check-host\n"
	"hvtrace check-host mydomain",
};

static int report(struct check_report *r, const struct check_options *opt)
{
	check_begin(r);
	check_host(r, opt);
	if (opt->target) {
		check_look(r, opt);
	} else {
		check_kvm(r);
		check_bare(r);
		check_kernel(r, opt);
		check_attach(r, opt);
	}
	return check_summary(r) ? EXIT_OK : EXIT_FAILED;
}

/* As in a session: a guest is to be put in order before we go. The report ends with that. */
static int check(const struct check_options *opt, bool json)
{
	struct patience patience;
	struct json j = {.out = stdout};
	struct check_report r = {
		.out = stdout,
		.json = json ? &j : NULL,
		.cancelled = patience_is_over,
		.arg = &patience,
	};

	if (patience_begin(&patience))
		return EXIT_FAILED;
	r.cancel = patience.cancel.fd;
	output_paint(json ? PAINT_NOTHING : PAINT_CHECKS);
	return patience_end(&patience, report(&r, opt));
}

int cmd_check_host(int argc, char **argv)
{
	struct check_options opt = {.kernel = NULL};
	bool json = false;
	const struct option_row rows[] = {
		OPT_STRING('k', "kernel", &opt.kernel, "FILE",
			   "the kernel that its guests boot (default: as hvtrace run)"),
		OPT_STRING(0, "connect", &opt.connect, "URI", "libvirt (default: qemu:///system)"),
		OPT_FLAG(0, "json", &json, "an object of JSON, with one for each line"),
		OPT_COLOR,
		OPT_END,
	};
	int first = options_parse(argc, argv, rows, &check_usage);

	if (first < 0)
		return first == OPTIONS_HELP ? EXIT_OK : EXIT_USAGE;
	if (argc - first > 1) {
		fprintf(stderr,
			"hvtrace: check-host takes one domain (hvtrace check-host --help)\n");
		return EXIT_USAGE;
	}
	opt.target = argv[first];
	if (opt.target && opt.kernel) {
		fprintf(stderr,
			"hvtrace: -k names the kernel of check-host's own guests; that of a "
			"domain is read from its memory\n");
		return EXIT_USAGE;
	}
	if (remote_is(opt.connect))
		return remote_print(&(struct remote_print){
			.command = "check-host",
			.rows = rows,
			.connect = &opt.connect,
			.operands = argv + first,
			.nr_operands = argc - first,
			.paint = json ? PAINT_NOTHING : PAINT_CHECKS,
		});
	return check(&opt, json);
}
