// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * attach.c - checks of what `hvtrace attach` does, with a domain of libvirt's that is started for
 * it. Its process (image-init.S) calls umask(2) with the TSC that it has just read.
 */
#include "frontend/check/boot.h"
#include "frontend/check/image.h"
#include "tracer/tracer.h"

#include <errno.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define UP_MS	     180000 /* firmware, boot loader, decompressor, kernel; 3 s and more under TCG */
#define WAIT_MS	     20000
#define TRAP_HITS    20
#define CALLS	     5000
#define BUFFER_BYTES (UINT64_C(4) << 20)
#define SITE_SIZE    5
#define PT_REGS_DI   112 /* struct pt_regs of x86-64 Linux: part of its interface to debuggers */
#define CR3_ADDR     UINT64_C(0x000ffffffffff000)
#define CR4_LA57     (UINT64_C(1) << 12)
#define CLOCK_OFF_US 20000.0

#define FUNCTION "__x64_sys_umask"
#define CMDLINE	 "console=ttyS0 panic=-1 loglevel=4 cryptomgr.notests no_timer_check nowatchdog"

struct attach_check {
	const struct check_options *opt;
	const struct check_report *r;
	struct boot *boot;
	struct machine_guest *guest;
	struct machine *m;
	struct machine_info info;
	struct trace *trace;
	char initrd[32]; /* path */
	char err[512];
	char why[128]; /* what the trace had to say last */
	double up_s;

	/* Of the trap handler; read when it can come no more. */
	unsigned int samples;
	int64_t least, most; /* ticks from the guest's reading of its TSC to our time of the hit */
	uint64_t site_pa;
	atomic_bool unreadable;
};

static double now_s(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

/* --- the guest -------------------------------------------------------------------------------- */

/* Where QEMU, which may be another user's, can read it. */
static int initrd_file(struct attach_check *a)
{
	ssize_t n = -1;
	int fd;

	strcpy(a->initrd, "/tmp/hvtrace-check-XXXXXX");
	fd = mkstemp(a->initrd);
	if (fd >= 0 && !fchmod(fd, 0644))
		n = write(fd, a->boot->initrd, a->boot->initrd_size);
	if (fd >= 0)
		close(fd);
	else
		*a->initrd = '\0';
	if (n == (ssize_t)a->boot->initrd_size)
		return 0;
	snprintf(a->err, sizeof(a->err), "cannot write a file in /tmp: %s", strerror(errno));
	return -1;
}

/* Until the guest has said so n times; false: it does not, or it is interrupted. */
static bool wait_says(const struct attach_check *a, const char *text, unsigned int n, int ms)
{
	double end = now_s() + ms / 1e3;
	const struct timespec nap = {0, 20000000};

	while (boot_says(a->boot, text) < n) {
		if (now_s() >= end || check_is_cancelled(a->r) || machine_guest_was_reset(a->guest))
			return false;
		nanosleep(&nap, NULL);
	}
	return true;
}

static int guest_start(struct attach_check *a)
{
	struct machine_config cfg = boot_machine_config(a->boot, CMDLINE " -- stay");

	if (initrd_file(a))
		return -1;
	cfg.initrd_path = a->initrd;
	cfg.connect = a->opt->connect;
	a->guest = machine_guest_new(&cfg, a->err, sizeof(a->err));
	return a->guest ? 0 : -1;
}

static bool is_attached(const struct attach_check *a, struct check_result *res)
{
	if (a->m)
		return true;
	check_say(res, CHECK_NOT_TRIED, "not attached");
	return false;
}

/* --- hits ------------------------------------------------------------------------------------- */

static int read_va(struct machine *m, const struct machine_sregs *sregs, uint64_t va, void *buf,
		   size_t len)
{
	uint64_t pa, left;

	if (machine_walk(m, sregs->cr3 & CR3_ADDR, sregs->cr4 & CR4_LA57 ? 5 : 4, va, &pa, &left) ||
	    left < len)
		return -EFAULT;
	return machine_read(m, pa, buf, len);
}

/* The call's argument is what the guest's TSC was just before. */
static void sample(struct attach_check *a, struct machine *m, const struct machine_hit *hit)
{
	struct machine_sregs sregs;
	uint64_t before;
	int64_t late;

	if (machine_get_sregs(m, hit->vcpu, &sregs) ||
	    machine_walk(m, sregs.cr3 & CR3_ADDR, sregs.cr4 & CR4_LA57 ? 5 : 4, hit->va,
			 &a->site_pa, NULL) ||
	    read_va(m, &sregs, hit->regs->rdi + PT_REGS_DI, &before, sizeof(before))) {
		a->unreadable = true;
		return;
	}
	late = (int64_t)(hit->tsc - before);
	if (!a->samples || late < a->least)
		a->least = late;
	if (!a->samples || late > a->most)
		a->most = late;
	a->samples++;
}

static void attach_trap(struct machine *m, const struct machine_hit *hit, void *arg)
{
	struct attach_check *a = arg;
	struct trace_status st;

	trace_get_status(a->trace, &st);
	if (!strcmp(st.engine, "trap"))
		sample(a, m, hit);
	trace_trap(a->trace, hit);
}

/* --- traces ----------------------------------------------------------------------------------- */

static void trace_note_keep(void *arg, const char *text)
{
	struct attach_check *a = arg;

	snprintf(a->why, sizeof(a->why), "%s", text);
}

static bool attach_cancelled(void *arg)
{
	const struct attach_check *a = arg;

	return check_is_cancelled(a->r);
}

/* Trace until so much is recorded, and let go. False: a->err or the status say why. */
static bool trace_once(struct attach_check *a, enum trace_engine engine, uint64_t want,
		       struct trace_status *st)
{
	static const char *const one[] = {FUNCTION};
	const struct trace_config cfg = {
		.gs = a->boot->gs,
		.vcpus = machine_traceable_vcpus(&a->info),
		.running = true,
		.tracer = "function",
		.filter = one,
		.nr_filter = engine == TRACE_ENGINE_TRAP,
		.buffer_bytes = BUFFER_BYTES,
		.engine = engine,
		.message = trace_note_keep,
		.message_arg = a,
		.cancelled = attach_cancelled,
		.cancelled_arg = a,
	};
	struct machine_event ev = {.type = MACHINE_EVENT_NONE};
	double end = now_s() + WAIT_MS / 1e3;
	int rc;

	*st = (struct trace_status){.engine = ""};
	a->trace = trace_new(&cfg, a->err, sizeof(a->err));
	if (!a->trace || trace_attach_running(a->trace, a->m, a->err, sizeof(a->err)))
		return false;
	do {
		machine_wait(a->m, &ev, 20);
		trace_get_status(a->trace, st);
	} while (st->hits < want && !st->error && ev.type == MACHINE_EVENT_NONE && now_s() < end &&
		 !check_is_cancelled(a->r));
	rc = trace_detach(a->trace);
	trace_get_status(a->trace, st);
	snprintf(a->err, sizeof(a->err), "%" PRIu64 " hits of %" PRIu64 "%s%s", st->hits, want,
		 ev.type == MACHINE_EVENT_NONE ? "" : ", the guest is gone",
		 rc ? ", and it cannot be let go" : "");
	return !rc && st->hits >= want && !st->error;
}

static void trace_end(struct attach_check *a)
{
	trace_free(a->trace);
	a->trace = NULL;
}

/* --- the checks ------------------------------------------------------------------------------- */

static void attach_domain(void *arg, struct check_result *res)
{
	struct attach_check *a = arg;
	const char *accel = machine_guest_accel(a->guest);
	double start = now_s();
	bool up = wait_says(a, INIT_SAYS "alive", 1, UP_MS);

	check_say(res, up ? CHECK_OK : CHECK_FAILED, "%s under %s, %s after %.1f s",
		  guestsym_release(a->boot->gs), !strcmp(accel, "kvm") ? "KVM" : "TCG",
		  up ? "user space" : "no user space", now_s() - start);
}

static struct machine *attach_to(struct attach_check *a)
{
	const struct machine_attach_config cfg = {
		.target = machine_guest_name(a->guest),
		.connect = a->opt->connect,
		.cancelled = attach_cancelled,
		.trap = attach_trap,
		.arg = a,
	};

	return machine_attach(&cfg, a->err, sizeof(a->err));
}

static void attach_begin(void *arg, struct check_result *res)
{
	struct attach_check *a = arg;
	double start = now_s();

	if (!boot_says(a->boot, INIT_SAYS "ready")) {
		check_say(res, CHECK_NOT_TRIED, "no guest");
		return;
	}
	a->m = attach_to(a);
	if (!a->m) {
		check_say(res, CHECK_FAILED, "%s", a->err);
		return;
	}
	machine_get_info(a->m, &a->info);
	check_say(res, CHECK_OK, "%.0f ms, its memory is %s", (now_s() - start) * 1e3,
		  a->info.direct ? "at hand" : "read through the stub");
}

static void attach_kernel(void *arg, struct check_result *res)
{
	struct attach_check *a = arg;
	const struct machine_patience patience = {attach_cancelled, a};
	struct guestsym *gs;

	if (!is_attached(a, res))
		return;
	gs = trace_read_kernel(a->m, a->boot->parsers, &patience, a->err, sizeof(a->err));
	if (!gs)
		check_say(res, CHECK_FAILED, "%s", a->err);
	else
		check_say(res,
			  strcmp(guestsym_release(gs), guestsym_release(a->boot->gs)) ? CHECK_FAILED
										      : CHECK_OK,
			  "found in memory: %s", guestsym_release(gs));
	guestsym_close(gs);
}

static void attach_breakpoints(void *arg, struct check_result *res)
{
	struct attach_check *a = arg;
	struct trace_status st;

	if (!is_attached(a, res))
		return;
	if (trace_once(a, TRACE_ENGINE_TRAP, TRAP_HITS, &st))
		check_say(res, CHECK_OK, "%" PRIu64 " hits of " FUNCTION, st.hits);
	else
		check_say(res, CHECK_FAILED, "%s", a->err);
	trace_end(a);
}

static void attach_clock(void *arg, struct check_result *res)
{
	struct attach_check *a = arg;
	double us = a->info.tsc_khz ? 1e3 / (double)a->info.tsc_khz : 0;
	double least = (double)a->least * us, most = (double)a->most * us;

	if (!a->samples) {
		check_say(res, CHECK_NOT_TRIED, "%s",
			  a->unreadable ? "the guest's reading cannot be got at" : "no hits");
		return;
	}
	/* Whoever has to wait for a processor is late: only the best says something. */
	check_say(res, least > -CLOCK_OFF_US && least < CLOCK_OFF_US ? CHECK_OK : CHECK_FAILED,
		  "of %u hits %.1f to %.1f us behind the guest's own reading", a->samples, least,
		  most);
}

static void attach_trampolines(void *arg, struct check_result *res)
{
	struct attach_check *a = arg;
	struct trace_status st;
	bool good;

	if (!is_attached(a, res))
		return;
	good = trace_once(a, TRACE_ENGINE_TRAMPOLINE, CALLS, &st) && !st.corrupt &&
	       st.made == st.staged + st.staging_lost;
	if (good)
		check_say(res, CHECK_OK,
			  "borrow, window: %" PRIu64 " calls of %" PRIu64 " functions, %" PRIu64
			  " lost",
			  st.staged, st.traced, st.staging_lost);
	else
		check_say(res, CHECK_FAILED, "%s", a->err);
	trace_end(a);
}

/* The site holds a NOP again; whether it is this kernel's is seen by what it was before. */
static bool text_is_back(struct attach_check *a)
{
	static const uint8_t nop[SITE_SIZE] = {0x0f, 0x1f, 0x44, 0x00, 0x00};
	uint8_t bytes[SITE_SIZE];

	return !a->site_pa || (!machine_read(a->m, a->site_pa, bytes, sizeof(bytes)) &&
			       !memcmp(bytes, nop, sizeof(nop)));
}

static void attach_detach(void *arg, struct check_result *res)
{
	struct attach_check *a = arg;
	unsigned int alive = boot_says(a->boot, INIT_SAYS "alive");
	bool same;

	if (!is_attached(a, res))
		return;
	machine_free(a->m);
	a->m = NULL;
	if (!wait_says(a, INIT_SAYS "alive", alive + 2, WAIT_MS)) {
		check_say(res, CHECK_FAILED, "the guest does not run on");
		return;
	}
	/* And once more: nothing stays behind that would be in the way. */
	a->m = attach_to(a);
	same = a->m && text_is_back(a);
	if (!a->m)
		check_say(res, CHECK_FAILED, "a second time: %s", a->err);
	else
		check_say(res, same ? CHECK_OK : CHECK_FAILED, "the guest runs on, %s",
			  same ? "its text as it was" : "and its text is not as it was");
	machine_free(a->m);
	a->m = NULL;
}

static void attach_log(void *arg, struct check_result *res)
{
	struct attach_check *a = arg;
	char line[200];

	if (machine_guest_was_reset(a->guest))
		check_say(res, CHECK_FAILED, "the guest has reset itself");
	else if (boot_complains(a->boot, line, sizeof(line)))
		check_say(res, CHECK_FAILED, "%s", line);
	else
		check_say(res, CHECK_OK, "no complaint of the guest's");
}

static const struct check attach_checks[] = {
	{"qemu: domain", attach_domain},
	{"qemu: attach", attach_begin},
	{"qemu: kernel", attach_kernel},
	{"qemu: breakpoints", attach_breakpoints},
	{"qemu: clock", attach_clock},
	{"qemu: trampolines", attach_trampolines},
	{"qemu: detach", attach_detach},
	{"qemu: guest's log", attach_log},
	{NULL, NULL},
};

/* --- the group -------------------------------------------------------------------------------- */

static void attach_run(struct attach_check *a, struct check_report *r)
{
	const struct machine_patience patience = {r->cancelled, r->arg};
	struct machine_libvirt v;

	if (machine_get_libvirt(a->opt->connect, &patience, &v, a->err, sizeof(a->err))) {
		checks_skip(r, "qemu: domain", "no libvirt to start one with (--connect)");
		return;
	}
	if (guest_start(a)) {
		struct check_result res;

		check_say(&res, CHECK_FAILED, "%s", a->err);
		check_print(r, "qemu: domain", &res);
		return;
	}
	checks_run(r, attach_checks, a);
}

void check_attach(struct check_report *r, const struct check_options *opt)
{
	struct boot boot;
	struct attach_check a = {.opt = opt, .r = r, .boot = &boot};

	if (check_is_cancelled(r))
		return;
	if (boot_open(&boot, opt, r))
		checks_skip(r, "qemu: domain", boot.err);
	else
		attach_run(&a, r);
	machine_free(a.m);
	machine_guest_free(a.guest);
	if (*a.initrd)
		unlink(a.initrd);
	boot_close(&boot);
}
