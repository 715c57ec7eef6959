// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * event-category.c - the categories of Android's atrace (k_categories of its atrace.cpp), with
 * those of their events that kernels have without a vendor's drivers. What is of such drivers alone
 * (its gfx, load, membus) is left out, or has what all drivers share.
 */
#include "frontend/session/event-category.h"

#include <stdio.h>
#include <string.h>

#include "guestsym/guestsym.h"
#include "tracer/tracer.h"

static const char *const binder[] = {"binder:binder_transaction",
				     "binder:binder_transaction_received",
				     "binder:binder_transaction_alloc_buf", NULL};
static const char *const disk[] = {"block:block_rq_issue",
				   "block:block_rq_complete",
				   "ext4:ext4_da_write_begin",
				   "ext4:ext4_da_write_end",
				   "ext4:ext4_sync_file_enter",
				   "ext4:ext4_sync_file_exit",
				   "f2fs:f2fs_sync_file_enter",
				   "f2fs:f2fs_sync_file_exit",
				   "f2fs:f2fs_write_begin",
				   "f2fs:f2fs_write_end",
				   NULL};
static const char *const freq[] = {"power:cpu_frequency",  "power:cpu_frequency_limits",
				   "power:clock_enable",   "power:clock_disable",
				   "power:clock_set_rate", "power:suspend_resume",
				   "clk:clk_enable",	   "clk:clk_disable",
				   "clk:clk_set_rate",	   "cpuhp:cpuhp_enter",
				   "cpuhp:cpuhp_exit",	   NULL};
static const char *const gfx[] = {"drm:*", "gpu_mem:*", "gpu_scheduler:*", NULL};
static const char *const i2c[] = {"i2c:*", "smbus:*", NULL};
static const char *const idle[] = {"power:cpu_idle", NULL};
static const char *const irq[] = {"irq:*", "ipi:*", NULL};
static const char *const irqoff[] = {"preemptirq:irq_*", NULL};
static const char *const memory[] = {"kmem:rss_stat", "gpu_mem:gpu_mem_total", NULL};
static const char *const memreclaim[] = {
	"vmscan:mm_vmscan_direct_reclaim_begin", "vmscan:mm_vmscan_direct_reclaim_end",
	"vmscan:mm_vmscan_kswapd_wake", "vmscan:mm_vmscan_kswapd_sleep", NULL};
static const char *const mmc[] = {"mmc:*", NULL};
static const char *const pagecache[] = {"filemap:*", NULL};
static const char *const preemptoff[] = {"preemptirq:preempt_*", NULL};
static const char *const regulators[] = {"regulator:*", NULL};
static const char *const sched[] = {"sched:sched_switch",	"sched:sched_wakeup",
				    "sched:sched_waking",	"sched:sched_pi_setprio",
				    "sched:sched_process_exit", "cgroup:*",
				    "oom:oom_score_adj_update", "task:task_newtask",
				    "task:task_rename",		NULL};
static const char *const sync_events[] = {"dma_fence:*", NULL};
static const char *const thermal[] = {"thermal:thermal_temperature", "thermal:cdev_update", NULL};
static const char *const workq[] = {"workqueue:*", NULL};

static const struct event_category categories[] = {
	{"binder_driver", "transactions of the Binder driver", binder},
	{"disk", "requests to disks, writes and syncs of ext4 and f2fs", disk},
	{"freq", "frequencies of CPUs and clocks, CPUs that come and go", freq},
	{"gfx", "what all graphics drivers share: vertical blanks, jobs, memory", gfx},
	{"i2c", "the I2C and SMBus", i2c},
	{"idle", "CPUs that idle", idle},
	{"irq", "interrupts, softirqs, interrupts between CPUs", irq},
	{"irqoff", "interrupts switched off and on", irqoff},
	{"memory", "memory of tasks and of the GPU", memory},
	{"memreclaim", "memory that is taken back", memreclaim},
	{"mmc", "commands to eMMC and SD cards", mmc},
	{"pagecache", "pages that come into the page cache, and go", pagecache},
	{"preemptoff", "preemption switched off and on", preemptoff},
	{"regulators", "voltages and currents", regulators},
	{"sched", "who runs where, who is woken, tasks that come and go", sched},
	{"sync", "fences that drivers wait for", sync_events},
	{"thermal", "temperatures, and what cools", thermal},
	{"workq", "work queues", workq},
};

bool event_category_is_named(const char *text)
{
	return *text == '@';
}

const struct event_category *event_category(unsigned int i)
{
	return i < sizeof(categories) / sizeof(categories[0]) ? &categories[i] : NULL;
}

const struct event_category *event_category_find(const char *text)
{
	const struct event_category *c;

	for (unsigned int i = 0; (c = event_category(i)); i++)
		if (event_category_is_named(text) && !strcmp(c->name, text + 1))
			return c;
	return NULL;
}

bool event_category_has(const struct event_category *c, const struct guestsym_event *ev)
{
	for (const char *const *pattern = c->events; *pattern; pattern++) {
		size_t system = strcspn(*pattern, ":");

		if (strlen(ev->system) == system && !memcmp(ev->system, *pattern, system) &&
		    glob_pattern_match(*pattern + system + 1, ev->name))
			return true;
	}
	return false;
}

void event_category_complain(const char *where, const char *text)
{
	const struct event_category *c;

	fprintf(stderr, "hvtrace: %s%s: there are", where, text);
	for (unsigned int i = 0; (c = event_category(i)); i++)
		fprintf(stderr, "%s @%s", i ? "," : "", c->name);
	fprintf(stderr, "\n");
}
