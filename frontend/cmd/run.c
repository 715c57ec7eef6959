// SPDX-License-Identifier: GPL-2.0-or-later
/* run.c - `hvtrace run`: boot a kernel in a machine of its own and trace it. */
#include "frontend/cmd/run.h"
#include "frontend/exec/overlay.h"
#include "frontend/lib/exit.h"
#include "frontend/session/power-off.h"
#include "frontend/session/reboot.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MANY_IN_QEMU 1000
#define REBOOTS	     10

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
	if (goes_off && !power_off_wait(&r->s))
		status = CANCEL_STATUS(cancel_asked(&r->s.cancel));
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

	r.s.owns_guest = true;
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
