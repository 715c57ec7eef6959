// SPDX-License-Identifier: GPL-2.0-or-later
/* run-options.c - the options of hvtrace run, and which of them go together. */
#include "frontend/cmd/command.h"
#include "frontend/cmd/run.h"
#include "frontend/lib/options.h"

#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#define REBOOTS_MAX 1000

static const struct option_usage run_usage = {
	"hvtrace run [OPTION]... [IMAGE]",
	"Boots an unmodified Linux kernel, or a disk image, in a machine of its own, traces it from its first\n"
	"instruction, and prints the trace when the guest has ended, --until or --for is reached,\n"
	"or at Ctrl-C. The machine is hvtrace's own on /dev/kvm, or a domain of libvirt's QEMU.",
	"hvtrace run --until sched_init\n"
	"hvtrace run -f 'setup_*' -f start_kernel --until rest_init\n"
	"hvtrace run -k bzImage -i initramfs.cpio -t function_graph --for 10s -o calls.txt\n"
	"hvtrace run -m 2G --forward 2222:22 -e 'sched:*' --console debian.qcow2",
};

const char *run_firmware_name(unsigned int i)
{
	static const char *const names[] = {
		[MACHINE_FIRMWARE_NONE] = "none",
		[MACHINE_FIRMWARE_BIOS] = "bios",
		[MACHINE_FIRMWARE_UEFI] = "uefi",
	};

	return i < sizeof(names) / sizeof(names[0]) ? names[i] : NULL;
}

/* All of it, used or not: what a guest of that size needs in the end. False: a line says so. */
static bool run_fits(const struct run_options *opt)
{
	uint64_t have = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);

	if (opt->memory <= have)
		return true;
	fprintf(stderr,
		"hvtrace: --memory %" PRIu64 " MB: too much: the host itself has %" PRIu64 " MB\n",
		opt->memory / MIB, have / MIB);
	return false;
}

/* What else says what is traced, and when, says something else. */
static bool run_exec_fits(const struct run_options *opt)
{
	const struct session_options *s = &opt->session;
	const char *other = s->pids.nr ? "--pid" : s->from ? "--from" : s->until ? "--until" : NULL;

	if (!opt->exec)
		return true;
	if (other)
		fprintf(stderr,
			"hvtrace: --exec and %s: what is traced is the command, from its beginning "
			"to its end: leave out one of them\n",
			other);
	else if (strcmp(opt->firmware, run_firmware_name(MACHINE_FIRMWARE_NONE)) != 0)
		fprintf(stderr,
			"hvtrace: --exec and --firmware: the guest that runs a command has its kernel "
			"from hvtrace: leave out --firmware\n");
	else if (!*opt->exec)
		fprintf(stderr, "hvtrace: --exec: no command\n");
	else if (strlen(opt->exec) > STREAM_COMMAND_MAX)
		fprintf(stderr,
			"hvtrace: --exec: too long a command, with more than %d bytes: have the guest "
			"run a script (--share)\n",
			STREAM_COMMAND_MAX);
	else
		return true;
	return false;
}

const char *run_machine_name(unsigned int i)
{
	return i ? machine_backend(i - 1, NULL) : "auto";
}

/* What a guest that boots by itself goes with; NULL: or else what is wrong. */
static const char *run_boots_itself(const struct run_options *opt)
{
	bool firmware = strcmp(opt->firmware, run_firmware_name(MACHINE_FIRMWARE_NONE));

	if (firmware && !strcmp(opt->machine, "kvm"))
		return "--firmware is for --machine qemu";
	if (firmware && (opt->kernel || opt->initrd || *opt->append))
		return "--firmware boots the image's own kernel: it goes without -k, -i and -a";
	if (firmware && !opt->image && !opt->devices.disk.nr)
		return "--firmware boots an image, and there is none: name one, or a --disk";
	return NULL;
}

/* Why --save is in vain, which is known before anything is made; NULL: it is not. */
static const char *run_cannot_save(const struct run_options *opt)
{
	if (!opt->save)
		return NULL;
	if (!strcmp(opt->machine, "qemu"))
		return "--save: only a machine of hvtrace's own can be saved";
	if (opt->devices.share.nr || opt->devices.cloud_init)
		return "--save: a guest with shared folders, or --cloud-init, cannot be saved";
	if (opt->devices.net ? strcmp(opt->devices.net, "none") != 0 : opt->image != NULL)
		return "--save: a guest with a network card cannot be saved: --net none is without";
	if (opt->devices.write)
		return "--save: a guest that changes its image cannot be saved: leave out --write";
	if (opt->image && !opt->kernel)
		return "--save keeps no kernel, and that is in the image alone: copy it out of "
		       "there, and name it with -k";
	if (opt->kaslr)
		return "--save and --kaslr do not go together";
	if (opt->exec)
		return "--save and --exec do not go together";
	return NULL;
}

/* The same of --reboot. */
static const char *run_cannot_reboot(const struct run_options *opt)
{
	if (!opt->reboot)
		return opt->reboot_limit ? "--reboot-limit is for --reboot" : NULL;
	if (opt->exec)
		return "--reboot and --exec do not go together: the command ends with its boot";
	if (opt->save)
		return "--reboot and --save do not go together";
	if (session_options_record(&opt->session))
		return "--reboot: a FILE.dat is of one boot: have the trace printed (-o FILE.txt)";
	if (opt->session.host_events.nr)
		return "--reboot and --host-events do not go together";
	return NULL;
}

bool run_options_check(const struct run_options *opt)
{
	const char *why = run_boots_itself(opt);

	if (!why)
		why = run_cannot_save(opt);
	if (!why)
		why = run_cannot_reboot(opt);
	if (!session_options_check(&opt->session) || !run_fits(opt) || !run_exec_fits(opt))
		return false;
	if (why) {
		fprintf(stderr, "hvtrace: %s\n", why);
		return false;
	}
	session_options_warn(&opt->session);
	return true;
}

int run_as(const struct tracing *what, int argc, char **argv)
{
	struct run_options opt = RUN_OPTIONS_DEFAULT;
	const struct option_row rows[] = {
		RUN_OPTION_ROWS(&opt),
		OPT_ONE_OF(run_firmware_name, 0, "firmware", &opt.firmware, "NAME",
			   "qemu: bios or uefi has the first disk's boot loader find the kernel"),
		OPT_FLAG(0, "kaslr", &opt.kaslr,
			 "let KASLR choose the addresses that the kernel runs at"),
		DEVICES_OPTION_ROWS(&opt.devices),
		EXEC_OPTION_ROW(&opt),
		SESSION_OPTION_ROWS(&opt.session),
		OPT_TIME(0, "for", &opt.session.limit_ms, "TIME",
			 "stop after this time (5, 1.5s, 200ms, 2m)"),
		OPT_TIME(0, "window", &opt.session.limit_ms, "TIME", "the same as --for"),
		OPT_FLAG(0, "console", &opt.console,
			 "the guest's console on stderr, input from stdin"),
		OPT_FLAG(0, "reboot", &opt.reboot,
			 "when the guest resets itself, boot it again, and go on tracing"),
		OPT_NUMBER(0, "reboot-limit", &opt.reboot_limit, 1, REBOOTS_MAX, "N",
			   "so often at most (default: 10)"),
		OPT_STRING(0, "save", &opt.save, "FILE",
			   "keep the guest in FILE when the trace ends: see hvtrace-snapshot(1)"),
		OPT_OPERANDS(COMPLETE_FILE),
	};
	int first, status = EXIT_USAGE;

	opt.session.output = what->output;
	opt.session.record = what->record;
	first = options_parse(argc, argv, rows, what->usage);
	if (first == OPTIONS_HELP)
		status = EXIT_OK;
	else if (first >= 0 && argc - first > 1)
		fprintf(stderr, "hvtrace: %s takes one image: %s (others with --disk; %s --help)\n",
			argv[0] + strlen("hvtrace "), argv[first + 1], argv[0]);
	else if (first >= 0) {
		opt.image = first < argc ? argv[first] : NULL;
		if (run_options_check(&opt))
			status = run_guest(&opt);
	}
	devices_options_free(&opt.devices);
	session_options_free(&opt.session);
	return status;
}

int cmd_run(int argc, char **argv)
{
	const struct tracing what = {&run_usage, "-", false, 0};

	return run_as(&what, argc, argv);
}
