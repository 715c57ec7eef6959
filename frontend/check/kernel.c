// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * kernel.c - checks of a kernel in hvtrace's own machine, traced from its first function to its
 * power-off; or, where the host interprets it, for its first moments.
 */
#include "frontend/check/boot.h"
#include "frontend/check/image.h"
#include "tracer/tracer.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define TIME_MS	     180000 /* a second or two, and half a minute on a nested host */
#define BUFFER_BYTES (UINT64_C(4) << 20)

/* What no host needs for a check, and some have no time for. */
#define CMDLINE "console=ttyS0 panic=-1 loglevel=7 cryptomgr.notests no_timer_check nowatchdog"

struct kernel_check {
	struct boot *boot;
	struct machine *m;
	struct machine_info info;
	struct trace *trace;
	struct trace_status st;
	struct machine_event end;
	double seconds;
	char note[128]; /* what the trace had to say last */
	char err[512];
};

static double now_s(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

/* --- the run ---------------------------------------------------------------------------------- */

/* Traps are set by the trace alone, so there is one. */
static void kernel_trap(struct machine *m, const struct machine_hit *hit, void *arg)
{
	struct kernel_check *k = arg;

	(void)m;
	trace_trap(k->trace, hit);
}

static void kernel_console(void *arg, const char *text, size_t len)
{
	struct kernel_check *k = arg;
	const struct machine_config cfg = boot_machine_config(k->boot, NULL);

	cfg.console(cfg.arg, text, len);
}

static int kernel_machine(struct kernel_check *k)
{
	struct machine_config cfg = boot_machine_config(k->boot, CMDLINE);

	cfg.kernel = guestsym_elf(k->boot->gs, &cfg.kernel_size);
	cfg.console = kernel_console;
	cfg.trap = kernel_trap;
	cfg.arg = k;
	k->m = machine_new("kvm", &cfg, k->err, sizeof(k->err));
	if (!k->m)
		return -1;
	machine_get_info(k->m, &k->info);
	return 0;
}

static void kernel_note(void *arg, const char *text)
{
	struct kernel_check *k = arg;

	snprintf(k->note, sizeof(k->note), "%s", text);
}

static int kernel_trace(struct kernel_check *k)
{
	/*
	 * Up to ftrace_init() each call is an exit, and of all functions there are some hundred
	 * thousand: on a nested host that takes longer than a check may.
	 */
	static const char *const some[] = {"start_kernel", "setup_arch", "do_*",
					   "vfs_*",	   "*sched*",	 "*mm_*",
					   "*timer*",	   "*_open*",	 "*task*"};
	const struct trace_config cfg = {
		.gs = k->boot->gs,
		.vcpus = 1,
		.tracer = "function",
		.filter = some,
		.nr_filter = k->info.emulated ? 2 : sizeof(some) / sizeof(some[0]),
		.until = k->info.emulated ? "setup_arch" : NULL,
		.buffer_bytes = BUFFER_BYTES,
		.message = kernel_note,
		.message_arg = k,
	};

	k->trace = trace_new(&cfg, k->err, sizeof(k->err));
	return k->trace ? trace_attach(k->trace, k->m, k->err, sizeof(k->err)) : -1;
}

static void kernel_wait(struct kernel_check *k, const struct check_report *r)
{
	double start = now_s();

	do {
		machine_wait(k->m, &k->end, 100);
		trace_get_status(k->trace, &k->st);
		k->seconds = now_s() - start;
	} while (k->end.type == MACHINE_EVENT_NONE && !k->st.done && k->seconds * 1000 < TIME_MS &&
		 !check_is_cancelled(r));
	trace_detach(k->trace);
	trace_get_status(k->trace, &k->st);
}

/* --- the checks ------------------------------------------------------------------------------- */

static void kernel_boots(void *arg, struct check_result *res)
{
	struct kernel_check *k = arg;
	const char *release = guestsym_release(k->boot->gs);

	if (k->end.type == MACHINE_EVENT_POWEROFF && boot_says(k->boot, INIT_SAYS "ready"))
		check_say(res, CHECK_OK, "%s: user space and power-off after %.1f s", release,
			  k->seconds);
	else if (k->info.emulated && k->st.done)
		check_say(res, CHECK_OK, "%s: up to setup_arch in %.1f s, as it is interpreted",
			  release, k->seconds);
	else if (k->end.type == MACHINE_EVENT_NONE)
		check_say(res, CHECK_FAILED, "%s: not at its end after %.0f s", release,
			  k->seconds);
	else
		check_say(res, CHECK_FAILED, "%s: ended after %.1f s: %s", release, k->seconds,
			  k->end.text);
}

static void kernel_functions(void *arg, struct check_result *res)
{
	const struct kernel_check *k = arg;
	const struct trace_status *st = &k->st;
	bool good = st->traced && st->hits && !st->error && !st->corrupt;

	if (!k->info.emulated)
		good &= !strcmp(st->engine, "trampoline") && !st->staging_lost &&
			st->made == st->staged;
	check_say(res, good ? CHECK_OK : CHECK_FAILED,
		  "%s: %" PRIu64 " calls of %" PRIu64 " functions, %" PRIu64 " lost, %" PRIu64
		  " senseless%s%s",
		  st->engine, st->hits, st->sites, st->staging_lost, st->corrupt,
		  good || !*k->note ? "" : "; ", good ? "" : k->note);
}

/* Kernels with CONFIG_DEBUG_WX walk all page tables at the end of their boot. */
static void kernel_wx(void *arg, struct check_result *res)
{
	struct kernel_check *k = arg;

	if (boot_says(k->boot, "Checked W+X mappings: passed"))
		check_say(res, CHECK_OK, "the kernel's own check passed");
	else if (boot_says(k->boot, "Checked W+X mappings: FAILED"))
		check_say(res, CHECK_FAILED,
			  "the kernel found pages that it can write and execute");
	else
		check_say(res, CHECK_NOT_TRIED, "%s",
			  k->end.type == MACHINE_EVENT_POWEROFF
				  ? "this kernel does not look (CONFIG_DEBUG_WX)"
				  : "the boot did not get there");
}

static void kernel_log(void *arg, struct check_result *res)
{
	struct kernel_check *k = arg;
	char line[200];

	if (boot_complains(k->boot, line, sizeof(line)))
		check_say(res, CHECK_FAILED, "%s", line);
	else
		check_say(res, CHECK_OK, "no complaint of the guest's");
}

static const struct check kernel_checks[] = {
	{"own: kernel", kernel_boots},
	{"own: functions", kernel_functions},
	{"own: W+X", kernel_wx},
	{"own: guest's log", kernel_log},
	{NULL, NULL},
};

static int kernel_run(struct kernel_check *k, const struct check_report *r)
{
	if (kernel_machine(k) || kernel_trace(k) || machine_start(k->m, k->err, sizeof(k->err)))
		return -1;
	kernel_wait(k, r);
	return 0;
}

void check_kernel(struct check_report *r, const struct check_options *opt)
{
	struct boot boot;
	struct kernel_check k = {.boot = &boot};

	if (check_is_cancelled(r))
		return;
	if (boot_open(&boot, opt, r))
		checks_skip(r, "own: kernel", boot.err);
	else if (kernel_run(&k, r))
		check_cannot(r, "own: kernel", k.err);
	else
		checks_run(r, kernel_checks, &k);
	machine_free(k.m);
	trace_free(k.trace);
	boot_close(&boot);
}
