// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * families.c - what is told, a row a family. What Prometheus reads is kept for months, and looked
 * at by rules and pictures that others have made: a name that is here stays what it is.
 */
#include "frontend/metrics/metrics.h"

/*
 * How many sets of labels: a host has so many guests, a guest so many vCPUs. A histogram of one set
 * takes 700 bytes once there is one, and is as long as 30 numbers, so there are fewer of these: of
 * system calls, of which a guest and a rule have METRICS_SYSCALLS_MAX, 512 guests' by one rule. Of
 * rules there are as many as a configuration may have, and what is of all of them together.
 */
#define GUESTS	   2048
#define HISTOGRAMS 1024
#define CALLS	   (512 * METRICS_SYSCALLS_MAX)
#define VCPUS	   16384
#define RULES	   (256 + 1)
#define FEW	   64

/* Buckets from 1 us, or for system calls 128 ns, up to half a minute and what is longer. */
#define OF_WAITS .first = 10, .last = 35
#define OF_CALLS .first = 7, .last = 35

#define OF_GUEST	 .label = {"guest"}
#define OF_GUEST_BY_RULE .label = {"guest", "rule"}
#define OF_RULE		 .label = {"rule"}
#define OF_HOST		 .sets = 1
#define OF_SERVER	 .label = {"server"}

static const struct metrics_about about[METRICS_FAMILIES] = {
	[METRICS_GUEST_INFO] = {"hvtrace_guest", NULL, "What a guest is: 1.", METRICS_INFO, GUESTS,
				.label = {"guest", "uuid", "kernel"}},
	[METRICS_GUEST_UP] = {"hvtrace_guest_up", NULL, "Whether a guest runs.", METRICS_GAUGE,
			      GUESTS, OF_GUEST},
	[METRICS_GUEST_ATTACHED] = {"hvtrace_guest_attached", NULL,
				    "Whether a guest is being traced now.", METRICS_GAUGE, GUESTS,
				    OF_GUEST},
	[METRICS_GUEST_REBOOTS] = {"hvtrace_guest_reboots", NULL,
				   "Times that a guest has rebooted.", METRICS_COUNTER, GUESTS,
				   OF_GUEST},
	[METRICS_GUEST_PANICS] = {"hvtrace_guest_panics", NULL,
				  "Times that a guest's kernel has panicked.", METRICS_COUNTER,
				  GUESTS, OF_GUEST},
	[METRICS_VCPU_STEAL] = {"hvtrace_vcpu_steal_seconds", "seconds",
				"Time that a vCPU could have run and the host did not let it.",
				METRICS_COUNTER, VCPUS, .label = {"guest", "vcpu"}},
	[METRICS_IRQS_OFF] = {"hvtrace_irqs_off_seconds", "seconds",
			      "How long a guest's kernel had interrupts off at a time.",
			      METRICS_HISTOGRAM, HISTOGRAMS, OF_WAITS, OF_GUEST_BY_RULE},
	[METRICS_PREEMPT_OFF] = {"hvtrace_preempt_off_seconds", "seconds",
				 "How long a guest's kernel had preemption off at a time.",
				 METRICS_HISTOGRAM, HISTOGRAMS, OF_WAITS, OF_GUEST_BY_RULE},
	[METRICS_WAKEUP_LATENCY] = {"hvtrace_wakeup_latency_seconds", "seconds",
				    "How long tasks of a guest that could run waited for a vCPU.",
				    METRICS_HISTOGRAM, HISTOGRAMS, OF_WAITS, OF_GUEST_BY_RULE},
	[METRICS_SYSCALL_LATENCY] = {"hvtrace_syscall_latency_seconds", "seconds",
				     "How long system calls of a guest took.", METRICS_HISTOGRAM,
				     CALLS, OF_CALLS, .label = {"guest", "rule", "syscall"}},
	[METRICS_SYSCALL_ERRORS] = {"hvtrace_syscall_errors", NULL,
				    "System calls of a guest that have failed.", METRICS_COUNTER,
				    CALLS, .label = {"guest", "rule", "syscall"}},

	[METRICS_WINDOWS] = {"hvtrace_windows", NULL,
			     "Times that a guest was traced for a while, by what came of it.",
			     METRICS_COUNTER, 4 * GUESTS, .label = {"guest", "rule", "outcome"}},
	[METRICS_FAILURES] = {"hvtrace_collector_failures", NULL,
			      "Times that a guest could not be traced, or no longer.",
			      METRICS_COUNTER, 4 * GUESTS, .label = {"guest", "rule", "reason"}},
	[METRICS_BACKOFF] = {"hvtrace_backoff_seconds", "seconds",
			     "How long a guest is left alone before it is tried again.",
			     METRICS_GAUGE, GUESTS, OF_GUEST_BY_RULE},
	[METRICS_RECORDS] = {"hvtrace_records", NULL, "Records that have been taken of a guest.",
			     METRICS_COUNTER, GUESTS, OF_GUEST_BY_RULE},
	[METRICS_LOST_RECORDS] = {"hvtrace_lost_records", NULL,
				  "Records that there was no room or time for.", METRICS_COUNTER,
				  GUESTS, OF_GUEST_BY_RULE},
	[METRICS_RECORDED_BYTES] = {"hvtrace_recorded_bytes", "bytes",
				    "What has been written to recordings.", METRICS_COUNTER, GUESTS,
				    OF_GUEST_BY_RULE},
	[METRICS_STANDSTILL] = {"hvtrace_standstill_seconds", "seconds",
				"Time that a guest stood still for being traced.", METRICS_COUNTER,
				GUESTS, OF_GUEST_BY_RULE},
	[METRICS_LONGEST_STANDSTILL] = {"hvtrace_longest_standstill_seconds", "seconds",
					"The longest standstill of a guest, the last time that it "
					"was traced.",
					METRICS_GAUGE, GUESTS, OF_GUEST_BY_RULE},
	[METRICS_STANDSTILL_BUDGET] = {"hvtrace_standstill_budget_seconds", "seconds",
				       "How long a guest may stand still at a time.", METRICS_GAUGE,
				       RULES, OF_RULE},
	[METRICS_OVERHEAD] = {"hvtrace_overhead_ratio", "ratio",
			      "What part of its time tracing costs a guest.", METRICS_GAUGE, GUESTS,
			      OF_GUEST_BY_RULE},
	[METRICS_OVERHEAD_BUDGET] = {"hvtrace_overhead_budget_ratio", "ratio",
				     "What part of its time tracing may cost a guest.",
				     METRICS_GAUGE, RULES, OF_RULE},
	[METRICS_CPU] = {"hvtrace_cpu_seconds", "seconds",
			 "CPU time that hvtrace has taken on the host: of a guest's collector, and "
			 "without a guest its own.",
			 METRICS_COUNTER, GUESTS, OF_GUEST},
	[METRICS_RESIDENT] =
		{"hvtrace_resident_bytes", "bytes",
		 "Memory of the host that hvtrace has: a guest's collector at most, and "
		 "without a guest its own.",
		 METRICS_GAUGE, GUESTS, OF_GUEST},
	[METRICS_COLLECTORS] = {"hvtrace_collectors", NULL, "Guests that are being traced now.",
				METRICS_GAUGE, OF_HOST},
	[METRICS_COLLECTORS_LIMIT] = {"hvtrace_collectors_limit", NULL,
				      "Guests that may be traced at the same time.", METRICS_GAUGE,
				      OF_HOST},

	[METRICS_DISK] = {"hvtrace_disk_bytes", "bytes",
			  "What recordings of a rule take, and without a rule all.", METRICS_GAUGE,
			  RULES, OF_RULE},
	[METRICS_DISK_LIMIT] = {"hvtrace_disk_limit_bytes", "bytes",
				"What recordings of a rule may take, and without a rule all.",
				METRICS_GAUGE, RULES, OF_RULE},
	[METRICS_DISK_FREE] = {"hvtrace_disk_free_bytes", "bytes",
			       "What is left of the file system where recordings are.",
			       METRICS_GAUGE, OF_HOST},
	[METRICS_REMOVED_RECORDINGS] =
		{"hvtrace_removed_recordings", NULL,
		 "Recordings that were removed, by why; without a rule those of rules that are no more.",
		 METRICS_COUNTER, 4 * RULES, .label = {"rule", "reason"}},
	[METRICS_SHIP_RECORDS] = {"hvtrace_ship_records", NULL, "Records that a server has taken.",
				  METRICS_COUNTER, FEW, OF_SERVER},
	[METRICS_SHIP_BATCHES] = {"hvtrace_ship_batches", NULL, "Batches that a server has taken.",
				  METRICS_COUNTER, FEW, OF_SERVER},
	[METRICS_SHIP_BYTES] = {"hvtrace_ship_bytes", "bytes",
				"What was sent to a server, compressed.", METRICS_COUNTER, FEW,
				OF_SERVER},
	[METRICS_SHIP_FAILURES] = {"hvtrace_ship_failures", NULL,
				   "Times that a server did not take a batch.", METRICS_COUNTER,
				   4 * FEW, .label = {"server", "reason"}},
	[METRICS_SHIP_SPOOL] = {"hvtrace_ship_spool_bytes", "bytes",
				"What waits on disk for a server that takes it.", METRICS_GAUGE,
				OF_HOST},
	[METRICS_SHIP_SPOOL_LIMIT] = {"hvtrace_ship_spool_limit_bytes", "bytes",
				      "What may wait on disk.", METRICS_GAUGE, OF_HOST},
	[METRICS_SHIP_LAG] = {"hvtrace_ship_lag_seconds", "seconds",
			      "How long the oldest of what is to be shipped has waited.",
			      METRICS_GAUGE, OF_HOST},
	[METRICS_SHIP_LOST_RECORDS] = {"hvtrace_ship_lost_records", NULL,
				       "Records that reach no server: there was no room to wait.",
				       METRICS_COUNTER, OF_HOST},

	[METRICS_BUILD_INFO] = {"hvtrace_build", NULL, "Which hvtrace this is: 1.", METRICS_INFO, 1,
				.label = {"version"}},
	[METRICS_START_TIME] = {"hvtrace_start_time_seconds", "seconds",
				"When it was started, since the epoch.", METRICS_GAUGE, OF_HOST},
	[METRICS_LIBVIRT_CONNECTED] = {"hvtrace_libvirt_connected", NULL,
				       "Whether libvirt tells of guests.", METRICS_GAUGE, OF_HOST},
	[METRICS_CONFIG_RELOAD_SUCCESS] = {"hvtrace_config_reload_success", NULL,
					   "Whether the configuration that was read last is in "
					   "use.",
					   METRICS_GAUGE, OF_HOST},
	[METRICS_CONFIG_RELOAD_TIME] = {"hvtrace_config_reload_time_seconds", "seconds",
					"Since when the configuration in use is, since the epoch.",
					METRICS_GAUGE, OF_HOST},
	[METRICS_RULES] = {"hvtrace_rules", NULL, "Rules by which guests are traced.",
			   METRICS_GAUGE, OF_HOST},
	[METRICS_LEFT_OUT_SAMPLES] = {"hvtrace_left_out_samples", NULL,
				      "Numbers that are in none of these: there are too many sets "
				      "of labels.",
				      METRICS_COUNTER, OF_HOST},
};

const struct metrics_about *metrics_about(enum metrics_family family)
{
	return &about[family];
}
