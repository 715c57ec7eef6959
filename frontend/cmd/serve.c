// SPDX-License-Identifier: GPL-2.0-or-later
/* serve.c - `hvtrace serve`: a daemon that traces the guests of a host by rules. */
#include "frontend/cmd/command.h"
#include "frontend/lib/options.h"
#include "frontend/lib/output.h"
#include "frontend/serve/serve.h"
#include "frontend/session/session.h"

#include <stdlib.h>
#include <string.h>

struct serve_options {
	const char *config, *guest, *rule;
	bool check, status, reload;
};

static const struct option_usage serve_usage = {
	"hvtrace serve [OPTION]...\n"
	"       hvtrace serve [OPTION]... GUEST RULE",
	"A daemon that traces the guests of this host's libvirt by the rules of a configuration: which\n"
	"guests, what of them, when, and how much that may cost. Guests that come, go, or reboot are\n"
	"followed. What is found goes to recordings on the disk, of which the oldest go, to metrics for\n"
	"Prometheus, and to ClickHouse. SIGHUP has it read its configuration again. With GUEST and\n"
	"RULE a daemon that runs is asked to trace that guest by that rule now.",
	"hvtrace serve --check -c serve.toml\n"
	"hvtrace serve\n"
	"hvtrace serve --status\n"
	"hvtrace serve web1 calls",
};

/* "FILE=VALUE", "FILE+=VALUE", as --set takes it. */
static bool is_setting(const char *text)
{
	const char *equals = strchr(text, '=');

	return equals && equals != text && !(equals == text + 1 && *text == '+');
}

static const struct config_words words = {session_tracer_name, session_clock_name, is_setting};

static void tell(void *arg, const char *line)
{
	(void)arg;
	fprintf(stderr, "hvtrace: %s\n", line);
}

static int check(const struct serve_config *c)
{
	struct text text = {0};

	config_print(c, false, &text);
	return output_write(&text, NULL);
}

static int ask(const struct serve_config *c, const char *request)
{
	char *socket = serve_socket(c);
	int status = EXIT_FAILED;

	if (socket)
		status = serve_ask(socket, request);
	free(socket);
	return status;
}

static int ask_trace(const struct serve_config *c, const struct serve_options *opt)
{
	char *request;
	int status = EXIT_FAILED;

	if (strpbrk(opt->guest, "\n") || strpbrk(opt->rule, "\n ")) {
		fprintf(stderr, "hvtrace: no guest or rule is called so\n");
		return EXIT_USAGE;
	}
	if (asprintf(&request, "trace %s %s", opt->guest, opt->rule) < 0)
		return EXIT_FAILED;
	status = ask(c, request);
	free(request);
	return status;
}

/* What is not the daemon itself. */
static int do_once(const struct serve_options *opt)
{
	const struct config_ear ear = {tell, NULL};
	struct serve_config *c = config_read(opt->config, &words, &ear);
	int status;

	if (!c)
		return EXIT_FAILED;
	if (opt->check)
		status = check(c);
	else if (opt->guest)
		status = ask_trace(c, opt);
	else
		status = ask(c, opt->reload ? "reload" : "status");
	config_free(c);
	return status;
}

int cmd_serve(int argc, char **argv)
{
	struct serve_options opt = {.config = SERVE_CONFIG};
	const struct option_row rows[] = {
		OPT_STRING('c', "config", &opt.config, "FILE",
			   "the configuration (default: " SERVE_CONFIG ")"),
		OPT_FLAG(0, "check", &opt.check,
			 "look for mistakes in it, print it with all defaults, and end"),
		OPT_FLAG(0, "status", &opt.status,
			 "ask a daemon that runs which guests it knows, and what is due"),
		OPT_FLAG(0, "reload", &opt.reload, "ask it to read its configuration again"),
		OPT_COLOR,
		OPT_OPERANDS("guest"),
	};
	int first = options_parse(argc, argv, rows, &serve_usage);

	if (first < 0)
		return first == OPTIONS_HELP ? EXIT_OK : EXIT_USAGE;
	if (argc - first != 0 && argc - first != 2) {
		fprintf(stderr,
			"hvtrace: serve takes a guest and a rule, or neither (hvtrace serve "
			"--help)\n");
		return EXIT_USAGE;
	}
	if (opt.check + opt.status + opt.reload + (argc > first) > 1) {
		fprintf(stderr,
			"hvtrace: --check, --status, --reload, and GUEST RULE: one of them\n");
		return EXIT_USAGE;
	}
	if (argc > first) {
		opt.guest = argv[first];
		opt.rule = argv[first + 1];
	}
	if (opt.check || opt.status || opt.reload || opt.guest)
		return do_once(&opt);
	return serve_run(opt.config, &words);
}
