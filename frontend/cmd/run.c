// SPDX-License-Identifier: GPL-2.0-or-later
/* run.c - `hvtrace run`: boot a kernel in a machine of its own and trace it. */
#include "frontend/cmd/command.h"
#include "frontend/cmd/guests.h"
#include "frontend/exec/overlay.h"
#include "frontend/image/image.h"
#include "frontend/lib/file.h"
#include "frontend/lib/options.h"
#include "frontend/session/console.h"
#include "frontend/session/exec.h"
#include "frontend/session/kernel-find.h"
#include "frontend/session/power-off.h"
#include "frontend/session/reboot.h"
#include "frontend/session/saving.h"
#include "frontend/session/session.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MANY_IN_QEMU 1000
#define REBOOTS	     10
#define REBOOTS_MAX  1000

struct run {
	struct session s;
	const struct run_options *opt;
	const char *machine;		 /* name of the backend */
	char *kernel_path, *initrd_path; /* absolute */
	char *cmdline;
	struct file_bytes initrd;
	struct devices devices;
	struct scratch scratch, extracted;
	struct image_boot boot; /* what the image's own boot loader would start */
	struct console console;
	struct exec exec; /* of --exec */
	void *overlay;	  /* what is in the guest for that */
	size_t overlay_size;
	struct saving saving;
};

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

static void run_trap(struct machine *m, const struct machine_hit *hit, void *arg)
{
	struct run *r = arg;

	session_trap(m, hit, &r->s);
}

static void run_mmio(struct machine *m, const struct machine_mmio *access, void *arg)
{
	struct run *r = arg;

	session_mmio(m, access, &r->s);
}

static bool run_branch(struct machine *m, const struct machine_branch *b, void *arg)
{
	struct run *r = arg;

	(void)m;
	return trace_branch(r->s.trace, b);
}

static void run_console(void *arg, const char *text, size_t len)
{
	struct run *r = arg;

	console_write(&r->console, text, len);
}

static void run_channel(void *arg, const char *bytes, size_t len)
{
	struct run *r = arg;

	exec_receive(&r->exec, bytes, len);
}

/* What --firmware may be: as enum machine_firmware has them. */
static const char *run_firmware_name(unsigned int i)
{
	static const char *const names[] = {
		[MACHINE_FIRMWARE_NONE] = "none",
		[MACHINE_FIRMWARE_BIOS] = "bios",
		[MACHINE_FIRMWARE_UEFI] = "uefi",
	};

	return i < sizeof(names) / sizeof(names[0]) ? names[i] : NULL;
}

static enum machine_firmware run_firmware(const struct run *r)
{
	unsigned int i = 0;

	while (run_firmware_name(i) && strcmp(run_firmware_name(i), r->opt->firmware))
		i++;
	return (enum machine_firmware)i;
}

/* Which kernel will run, and where, shows only once it does. */
static bool run_finds_kernel(const struct run *r)
{
	return r->opt->kaslr || run_firmware(r) != MACHINE_FIRMWARE_NONE;
}

static void run_choose_machine(struct run *r)
{
	const struct machine_patience patience = {session_waits, &r->s};
	char why[512];

	if (r->machine)
		return;
	r->machine = r->opt->machine;
	if (!strcmp(r->machine, "auto") && run_firmware(r) != MACHINE_FIRMWARE_NONE)
		r->machine = "qemu";
	if (r->opt->save && !strcmp(r->machine, "auto"))
		r->machine = "kvm";
	if (strcmp(r->machine, "auto"))
		return;
	session_wait(&r->s, "waiting for libvirt");
	r->machine = machine_choose(r->opt->connect, &patience, why, sizeof(why));
	session_wait(&r->s, NULL);
	fprintf(stderr, "hvtrace: machine: %s\n", why);
}

/* libvirt wants absolute paths. */
static int run_path(struct run *r, const char *what, const char *name, char **path)
{
	*path = realpath(name, NULL);
	if (*path)
		return 0;
	snprintf(r->s.err, sizeof(r->s.err), "cannot open the %s %s: %s", what, name,
		 strerror(errno));
	return -1;
}

static int run_open_kernel(struct run *r)
{
	const char *name = r->boot.kernel ? r->boot.kernel : r->opt->kernel;
	char *err = r->s.err, *found = NULL;
	int ret;

	if (run_firmware(r) != MACHINE_FIRMWARE_NONE)
		return 0;
	if (!name) {
		found = kernel_find();
		if (!found) {
			snprintf(
				err, sizeof(r->s.err),
				"no kernel: /boot has no readable vmlinuz-*, and scripts/get-guest has "
				"fetched none; name one with -k");
			return -1;
		}
	}
	ret = run_path(r, "kernel", found ? found : name, &r->kernel_path);
	free(found);
	if (ret)
		return ret;
	r->s.kernel_path = r->kernel_path;
	r->s.gs = guestsym_open(r->s.parsers, r->kernel_path, 0, err, sizeof(r->s.err));
	return r->s.gs ? 0 : -1;
}

static int run_open_initrd(struct run *r)
{
	const char *name = r->opt->initrd ? r->opt->initrd : r->boot.initrd;
	int ret;

	if (!name)
		return 0;
	if (run_path(r, "initrd", name, &r->initrd_path))
		return -1;
	ret = file_read(&r->initrd, r->initrd_path);
	if (!ret)
		return 0;
	snprintf(r->s.err, sizeof(r->s.err), "cannot read the initrd %s: %s", name,
		 file_strerror(ret));
	return -1;
}

/* It takes seconds: a virtual machine reads the image. */
static int run_read_image(struct run *r)
{
	const struct machine_disk *disk = &r->devices.machine.disk[0];
	struct image_boot_config cfg = {.path = disk->path,
					.format = disk->format,
					.cancel = &r->s.cancel,
					.no_kvm = !machine_kvm_runs()};
	char why[256];
	int rc;

	cfg.dir = scratch_folder(&r->extracted, r->s.err, sizeof(r->s.err));
	if (!cfg.dir)
		return -1;
	session_wait(&r->s, "reading the kernel of the image");
	rc = image_boot_read(&cfg, &r->boot, why, sizeof(why));
	session_wait(&r->s, NULL);
	if (rc)
		snprintf(r->s.err, sizeof(r->s.err), "%s: %s", r->opt->image, why);
	else
		fprintf(stderr, "hvtrace: %s: %s, as %s has it\n", r->opt->image, r->boot.title,
			r->boot.loader);
	return rc;
}

static int run_open_devices(struct run *r)
{
	const struct devices_request req = {.opt = &r->opt->devices,
					    .image = r->opt->image,
					    .scratch = &r->scratch,
					    .cancel = &r->s.cancel};
	int rc;

	session_wait(&r->s, "looking at disks");
	rc = devices_make(&r->devices, &req, r->s.err, sizeof(r->s.err));
	session_wait(&r->s, NULL);
	if (!rc && r->opt->image && !r->opt->kernel && run_firmware(r) == MACHINE_FIRMWARE_NONE)
		rc = run_read_image(r);
	return rc;
}

/* Whether this is one of the words. */
static bool run_has_word(const char *words, const char *word)
{
	size_t len = strlen(word);

	for (const char *at = words; at && (at = strstr(at, word)); at += len)
		if ((at == words || at[-1] == ' ') && (!at[len] || at[len] == ' '))
			return true;
	return false;
}

/*
 * A panic ends the run instead of hanging for ever; the user's own words come last and win. Who
 * wants a console of virtio's has one, and no other beside it, which would say the same.
 */
static int run_make_cmdline(struct run *r)
{
	static const char hvc[] = "console=hvc0";

	if (run_firmware(r) != MACHINE_FIRMWARE_NONE)
		return 0;
	if (run_has_word(r->boot.cmdline, hvc) || run_has_word(r->opt->append, hvc)) {
		run_choose_machine(r);
		r->devices.machine.console = !strcmp(r->machine, "kvm");
	}
	if (asprintf(&r->cmdline, "%s%s%spanic=-1 %s", r->boot.cmdline ? r->boot.cmdline : "",
		     r->boot.cmdline ? " " : "", r->devices.machine.console ? "" : "console=ttyS0 ",
		     r->opt->append) >= 0)
		return 0;
	r->cmdline = NULL;
	snprintf(r->s.err, sizeof(r->s.err), "no memory");
	return -1;
}

static bool run_keeps_writes(const struct run *r)
{
	const struct machine_devices *d = &r->devices.machine;

	for (size_t i = 0; i < d->ndisk; i++)
		if (d->disk[i].keep && !d->disk[i].read_only)
			return true;
	return false;
}

/* --exec: what runs the command in the guest, and the other end of that. */
static int run_prepare_exec(struct run *r)
{
	char *words;

	if (!r->opt->exec)
		return 0;
	r->s.exec = &r->exec;
	if (exec_init(&r->exec, &r->s, r->opt->exec, run_keeps_writes(r)))
		return -1;
	r->overlay = overlay_make(r->cmdline, &r->overlay_size);
	words = overlay_words(r->cmdline);
	if (r->overlay && words) {
		free(r->cmdline);
		r->cmdline = words;
		return 0;
	}
	free(words);
	snprintf(r->s.err, sizeof(r->s.err), "no memory");
	return -1;
}

/*
 * Where a kernel that unpacks itself is first taken over: in x86_64_start_kernel(), but behind
 * its clearing of the bss, since with some hundred breakpoints that takes QEMU a minute.
 */
static uint64_t run_kernel_entry(const struct guestsym *gs)
{
	uint64_t entry = guestsym_addr(gs, "idt_setup_early_handler");

	return entry ? entry : guestsym_addr(gs, "start_kernel");
}

static void run_warn_of_many(struct run *r)
{
	struct trace_status st;

	trace_get_status(r->s.trace, &st);
	if (!strcmp(r->machine, "qemu") && !strcmp(r->opt->session.engine, "trap") &&
	    st.sites > MANY_IN_QEMU)
		fprintf(stderr,
			"hvtrace: warning: each of %" PRIu64 " functions slows a guest of QEMU "
			"down: name fewer with -f\n",
			st.sites);
}

/*
 * The system's libvirt mostly runs QEMU as a user of its own, which has no way into root's home,
 * and says so only when it has asked QEMU what it can do, which may take a minute.
 */
static void run_warn_of_closed(const char *what, const char *path)
{
	char closed[PATH_MAX];

	if (path && file_closed_to_others(path, closed, sizeof(closed)))
		fprintf(stderr,
			"hvtrace: warning: %s is closed to other users, so libvirt's QEMU may not get "
			"to the %s: if so, copy that to where everybody can read it (%s)\n",
			closed, what, what[0] == 'k' ? "-k" : "-i");
}

static void run_warn_of_all_closed(const struct run *r)
{
	run_warn_of_closed("kernel", r->kernel_path);
	run_warn_of_closed("initrd", r->initrd_path);
}

/* Which file may not be opened mostly is in what QEMU says. */
static void run_warn_of_the_closed(const struct run *r)
{
	for (size_t i = 0; i < r->devices.machine.ndisk; i++)
		if (strstr(r->s.err, r->devices.machine.disk[i].path))
			return;
	if (strstr(r->s.err, strerror(EACCES)))
		run_warn_of_all_closed(r);
}

static bool run_is_of_system(const struct run *r)
{
	const char *uri = r->opt->connect;

	return !strcmp(r->machine, "qemu") && (!uri || strstr(uri, "/system"));
}

static bool run_cancelled(void *arg)
{
	struct run *r = arg;

	return session_waits(&r->s);
}

static int run_found(void *arg, const void *image, size_t len, struct machine_kernel *kernel,
		     char *err, size_t errlen)
{
	struct run *r = arg;
	/* Where it was given by -k it is known, and it is the machine that compares the two. */
	int ret = r->kernel_path ? 0 : session_open_kernel(&r->s, image, len, err, errlen);

	if (ret)
		return ret;
	kernel->elf = guestsym_elf(r->s.gs, &kernel->size);
	kernel->entry = run_kernel_entry(r->s.gs);
	if (kernel->entry)
		return 0;
	snprintf(err, errlen, "the guest's kernel does not say where it begins (no start_kernel)");
	return -EINVAL;
}

static int run_new_trace(struct run *r)
{
	return session_new_trace(&r->s, (unsigned int)r->opt->cpus, false);
}

static void run_describe_kernel(struct run *r, struct machine_config *cfg)
{
	cfg->firmware = run_firmware(r);
	cfg->kaslr = r->opt->kaslr;
	if (run_finds_kernel(r))
		cfg->found = run_found;
	if (!r->s.gs)
		return;
	cfg->kernel_entry = run_kernel_entry(r->s.gs);
	cfg->kernel = guestsym_elf(r->s.gs, &cfg->kernel_size);
}

static int run_new_machine(struct run *r)
{
	struct machine_config cfg = {
		.memory = r->opt->memory,
		.vcpus = (unsigned int)r->opt->cpus,
		.initrd = r->initrd.data,
		.initrd_size = r->initrd.len,
		.overlay = r->overlay,
		.overlay_size = r->overlay_size,
		.cmdline = r->cmdline,
		.devices = r->devices.machine,
		.kernel_path = r->kernel_path,
		.initrd_path = r->initrd_path,
		.reboots = r->opt->reboot,
		.connect = r->opt->connect,
		.cancelled = run_cancelled,
		.console = run_console,
		.channel = r->opt->exec ? run_channel : NULL,
		.message = session_print_message,
		.trap = run_trap,
		.mmio = run_mmio,
		.branch = run_branch,
		.arg = r,
	};

	bool warned;

	run_describe_kernel(r, &cfg);
	if (cfg.devices.ndisk) {
		cfg.scratch = scratch_folder(&r->scratch, r->s.err, sizeof(r->s.err));
		if (!cfg.scratch)
			return -1;
	}
	run_choose_machine(r);
	if (session_cancelled(&r->s)) {
		snprintf(r->s.err, sizeof(r->s.err), "no machine was made");
		return -1;
	}
	warned = run_is_of_system(r);
	if (warned)
		run_warn_of_all_closed(r);
	session_wait(&r->s, "making the guest");
	r->s.m = machine_new(r->machine, &cfg, r->s.err, sizeof(r->s.err));
	session_wait(&r->s, NULL);
	scratch_remove(&r->scratch);
	scratch_remove(&r->extracted);
	if (!r->s.m && !warned)
		run_warn_of_the_closed(r);
	if (!r->s.m || (!r->s.trace && run_new_trace(r)))
		return -1;
	if (r->s.exec)
		exec_ready(r->s.exec);
	run_warn_of_many(r);
	if (trace_attach(r->s.trace, r->s.m, r->s.err, sizeof(r->s.err)))
		return -1;
	return r->s.exec ? 0 : session_enable_events(&r->s);
}

/* Found by the name that its domain has; its files by that of the process. */
static int run_serve(struct run *r)
{
	struct machine_info info;
	char name[32], dir[32];

	machine_get_info(r->s.m, &info);
	snprintf(name, sizeof(name), "hvtrace-%ld", (long)getpid());
	snprintf(dir, sizeof(dir), "run-%ld", (long)getpid());
	return session_serve(&r->s, info.name ? info.name : name, dir);
}

static int run_start(struct run *r)
{
	if (machine_start(r->s.m, r->s.err, sizeof(r->s.err)))
		return -1;
	if (!r->opt->console || !console_feed(&r->console, r->s.m))
		return 0;
	snprintf(r->s.err, sizeof(r->s.err), "cannot read the terminal for --console");
	return -1;
}

/*
 * What it has written, and not yet to the disk, is not to be lost; and a system that Ctrl-C ends,
 * as somebody who sits at it would, ends as it does then.
 */
static bool run_is_system(const struct run *r)
{
	return run_keeps_writes(r) || (r->opt->image && r->s.end == SESSION_SIGNAL);
}

static int run_finish(struct run *r)
{
	int status, printed;
	bool goes_off;

	if (r->s.boots.printed) {
		session_print(&r->s);
		return cancel_asked(&r->s.cancel) ? CANCEL_STATUS(cancel_asked(&r->s.cancel))
						  : EXIT_FAILED;
	}
	if (r->opt->session.explain)
		trace_explain(r->s.trace, stderr);
	status = session_stop(&r->s);
	goes_off = run_is_system(r) && power_off_ask(&r->s);
	printed = session_print(&r->s);
	status = status ? status : printed;
	if (goes_off)
		power_off_wait(&r->s);
	if (session_failed(&r->s) && !r->opt->console) {
		fprintf(stderr, "hvtrace: the guest's last words:\n");
		console_tail(&r->console, stderr, 10);
	}
	return status;
}

static void run_before_leaving(struct session *s)
{
	struct run *r = (struct run *)((char *)s - offsetof(struct run, s));

	console_restore(&r->console);
}

static int run_stopped(struct session *s)
{
	struct run *r = (struct run *)((char *)s - offsetof(struct run, s));

	return saving_do(&r->saving, s);
}

int run_guest(const struct run_options *opt)
{
	struct run r = {.opt = opt};
	int status = EXIT_FAILED;

	r.s.before_leaving = run_before_leaving;
	if (opt->reboot)
		r.s.boots.max = opt->reboot_limit ? (unsigned int)opt->reboot_limit : REBOOTS;
	if (opt->save)
		r.s.stopped = run_stopped;
	console_init(&r.console, opt->console);
	if (session_init(&r.s, &opt->session) || saving_open(&r.saving, &r.s, opt->save) ||
	    run_open_devices(&r) || run_open_kernel(&r) || run_open_initrd(&r) ||
	    run_make_cmdline(&r) || run_prepare_exec(&r) ||
	    (!run_finds_kernel(&r) && run_new_trace(&r)) || run_new_machine(&r) || run_serve(&r) ||
	    run_start(&r) || session_confine(&r.s)) {
		status = session_give_up(&r.s);
	} else {
		do
			session_run(&r.s, !opt->console && !opt->exec);
		while (session_reboot(&r.s));
		status = run_finish(&r);
	}
	status = session_summarize(&r.s, status);
	console_exit(&r.console);
	session_exit(&r.s);
	if (r.s.exec)
		exec_exit(r.s.exec);
	free(r.overlay);
	saving_close(&r.saving);
	devices_free(&r.devices);
	scratch_remove(&r.scratch);
	scratch_remove(&r.extracted);
	image_boot_free(&r.boot);
	file_free(&r.initrd);
	free(r.kernel_path);
	free(r.initrd_path);
	free(r.cmdline);
	return status;
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
