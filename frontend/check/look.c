// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * look.c - what hvtrace would find in a guest that runs. Nothing of the guest is changed, and
 * nothing is executed in it; it stands while its registers are read.
 */
#include "frontend/check/check.h"
#include "frontend/session/session.h"
#include "tracer/tracer.h"

#include <errno.h>
#include <glob.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct look {
	const struct check_options *opt;
	struct machine *m;
	struct machine_info info;
	struct guestsym *gs;
	struct trace_look kernel;
	int kernel_rc;
	char err[512];
};

static void look_machine(void *arg, struct check_result *res)
{
	const struct look *l = arg;

	check_say(res, CHECK_OK, "%s, %u vCPUs, %" PRIu64 " MiB, %s", l->info.accel, l->info.vcpus,
		  l->info.memory >> 20, l->info.was_running ? "running" : "paused");
}

/* Of a confidential guest the host sees what the processor has encrypted: no kernel is found. */
static void look_memory(void *arg, struct check_result *res)
{
	const struct look *l = arg;

	if (l->info.direct)
		check_say(res, CHECK_OK, "at hand in the QEMU process");
	else
		check_say(res, CHECK_NOTE,
			  "only through the stub: another user's QEMU, or on another host");
}

static void look_kernel(void *arg, struct check_result *res)
{
	const struct look *l = arg;

	if (l->gs)
		check_say(res, CHECK_OK, "%s", guestsym_release(l->gs));
	else
		check_say(res, CHECK_FAILED, "%s", l->err);
}

static bool has_kernel(const struct look *l, struct check_result *res)
{
	if (l->gs)
		return true;
	check_say(res, CHECK_NOT_TRIED, "no kernel");
	return false;
}

static void look_sites(void *arg, struct check_result *res)
{
	const struct look *l = arg;
	const struct guestsym_site *sites;
	struct guestsym_event_list events;
	char err[256];
	size_t n;

	if (!has_kernel(l, res))
		return;
	n = guestsym_fentry_sites(l->gs, &sites);
	if (trace_read_events(l->m, l->gs, &events, err, sizeof(err)))
		events.n = 0;
	check_say(res, n ? CHECK_OK : CHECK_FAILED, "%zu of functions, %zu trace events", n,
		  events.n);
	if (events.n)
		guestsym_events_free(&events);
}

static void look_pti(void *arg, struct check_result *res)
{
	const struct look *l = arg;

	if (!has_kernel(l, res))
		return;
	if (l->kernel_rc)
		check_say(res, CHECK_NOTE, "cannot be told: %s", strerror(-l->kernel_rc));
	else
		check_say(res, CHECK_NOTE, "%s, %u levels of page tables",
			  l->kernel.pti ? "on" : "off", l->kernel.levels);
}

static void look_clock(void *arg, struct check_result *res)
{
	const struct look *l = arg;

	if (!has_kernel(l, res))
		return;
	check_say(res, CHECK_NOTE, "%s; TSC at %" PRIu64 ".%03" PRIu64 " MHz",
		  *l->kernel.clocksource ? l->kernel.clocksource : "unknown",
		  l->info.tsc_khz / 1000, l->info.tsc_khz % 1000);
}

/* How many files of this name KVM has for the process: one for each vCPU (virt/kvm and
 * arch/x86/kvm/debugfs.c of Linux 6.1). */
static size_t debugfs_files(pid_t pid, const char *name)
{
	char pattern[128];
	glob_t found;
	size_t n = 0;

	snprintf(pattern, sizeof(pattern), "/sys/kernel/debug/kvm/%d-*/vcpu*/%s", (int)pid, name);
	if (!glob(pattern, GLOB_NOSORT, NULL, &found))
		n = found.gl_pathc;
	globfree(&found);
	return n;
}

static void look_offset(void *arg, struct check_result *res)
{
	const struct look *l = arg;
	size_t offsets;
	pid_t pid;

	if (strcmp(l->info.accel, "kvm")) {
		check_say(res, CHECK_NOTE, "not KVM's: worked out from what the guest shows");
		return;
	}
	if (machine_get_process(l->m, &pid)) {
		check_say(res, CHECK_NOTE, "which process runs the guest cannot be told");
		return;
	}
	offsets = debugfs_files(pid, "tsc-offset");
	if (!offsets)
		check_say(res, CHECK_NOTE,
			  "not told by debugfs (for root, where it is mounted): worked out from "
			  "what the guest shows");
	else
		check_say(res, CHECK_NOTE, "told by debugfs for %zu of %u vCPUs%s", offsets,
			  l->info.vcpus,
			  debugfs_files(pid, "tsc-scaling-ratio") ? ", with the scaling ratio"
								  : "");
}

static void look_trampolines(void *arg, struct check_result *res)
{
	const struct look *l = arg;

	if (!has_kernel(l, res))
		return;
	if (l->info.loses_int3)
		check_say(res, CHECK_FAILED, "no, nor breakpoints: KVM on this host has no nrips");
	else if (!l->info.direct)
		check_say(res, CHECK_NOTE, "no, as its memory is out of reach: breakpoints only");
	else if (!l->info.was_running)
		check_say(res, CHECK_NOTE, "once it runs: it is paused");
	else
		check_say(res, CHECK_OK, "can be had");
}

static const struct check look_checks[] = {
	{"guest: machine", look_machine},
	{"guest: memory", look_memory},
	{"guest: kernel", look_kernel},
	{"guest: sites", look_sites},
	{"guest: PTI", look_pti},
	{"guest: clock source", look_clock},
	{"guest: TSC offset", look_offset},
	{"guest: trampolines", look_trampolines},
	{NULL, NULL},
};

void check_look(struct check_report *r, const struct check_options *opt)
{
	const struct machine_attach_config cfg = {
		.target = opt->target,
		.connect = opt->connect,
		.cancelled = r->cancelled,
		.message = session_print_message,
		.arg = r->arg,
	};
	struct guestsym_parsers *parsers = NULL;
	const struct machine_patience patience = {r->cancelled, r->arg};
	struct look l = {.opt = opt};

	/* First: once it is attached there are threads, and connections. */
	if (!guestsym_parsers_start(&parsers, r->cancel, l.err, sizeof(l.err)))
		l.m = machine_attach(&cfg, l.err, sizeof(l.err));
	if (!l.m) {
		struct check_result res;

		guestsym_parsers_stop(parsers);
		check_say(&res, CHECK_FAILED, "%s", l.err);
		check_print(r, "guest: machine", &res);
		return;
	}
	machine_get_info(l.m, &l.info);
	l.gs = trace_read_kernel(l.m, parsers, &patience, l.err, sizeof(l.err));
	if (l.gs)
		l.kernel_rc = trace_look(l.m, l.gs, 0, &l.kernel);
	checks_run(r, look_checks, &l);
	guestsym_close(l.gs);
	guestsym_parsers_stop(parsers);
	machine_free(l.m);
}
