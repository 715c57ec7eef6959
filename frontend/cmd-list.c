// SPDX-License-Identifier: GPL-2.0-or-later
/* cmd-list.c - `hvtrace list`: the guests that could be attached to. */
#include "frontend/command.h"
#include "frontend/options.h"
#include "vmm/machine.h"

#include <stdlib.h>

static const struct option_usage list_usage = {
	"hvtrace list [OPTION]...",
	"Lists the running domains of libvirt: id, name, state, vCPUs, accelerator, and the kernel that\n"
	"the domain's configuration names (-: none; hvtrace attach then finds it in memory).",
};

static int list(const char *uri)
{
	struct machine_listing *guests;
	char err[512];
	int n = machine_list(uri, &guests, err, sizeof(err));

	if (n < 0) {
		fprintf(stderr, "hvtrace: %s\n", err);
		return EXIT_FAILED;
	}
	printf("%-5s %-24s %-10s %5s  %-5s %s\n", "ID", "NAME", "STATE", "VCPUS", "ACCEL",
	       "KERNEL");
	for (int i = 0; i < n; i++)
		printf("%-5u %-24s %-10s %5u  %-5s %s\n", guests[i].id, guests[i].name,
		       guests[i].state, guests[i].vcpus, guests[i].accel,
		       *guests[i].kernel ? guests[i].kernel : "-");
	free(guests);
	return fflush(stdout) ? EXIT_FAILED : EXIT_OK;
}

int cmd_list(int argc, char **argv)
{
	const char *uri = NULL;
	const struct option_row rows[] = {
		OPT_STRING(0, "connect", &uri, "URI", "libvirt (default: qemu:///system)"),
		OPT_END,
	};
	int first = options_parse(argc, argv, rows, &list_usage);

	if (first < 0)
		return first == OPTIONS_HELP ? EXIT_OK : EXIT_USAGE;
	if (first < argc) {
		fprintf(stderr, "hvtrace: list takes no operand: %s (hvtrace list --help)\n",
			argv[first]);
		return EXIT_USAGE;
	}
	return list(uri);
}
