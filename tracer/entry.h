/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * entry.h - the binary layout of trace entries, the data of ring buffer events.
 *
 * As in the kernel: include/linux/trace_events.h (struct trace_entry, enum trace_flag_type) and
 * kernel/trace/trace.h, trace_entries.h (types and their entries), 6.1.
 */
#ifndef HVTRACE_TRACER_ENTRY_H
#define HVTRACE_TRACER_ENTRY_H

#include <stdint.h>

enum entry_type {
	TRACE_FN = 1,
};

enum entry_flags {
	TRACE_FLAG_IRQS_OFF = 0x01,
	TRACE_FLAG_NEED_RESCHED = 0x04,
	TRACE_FLAG_HARDIRQ = 0x08,
	TRACE_FLAG_SOFTIRQ = 0x10,
	TRACE_FLAG_PREEMPT_RESCHED = 0x20,
	TRACE_FLAG_NMI = 0x40,
	TRACE_FLAG_BH_OFF = 0x80,
};

struct trace_entry {
	uint16_t type;
	uint8_t flags;
	uint8_t preempt_count; /* low nibble: depth, high nibble: migrate_disable depth; both capped
				*/
	int32_t pid;
};

/* Data in the ring is aligned to 4 bytes only. */
struct trace_function_entry {
	struct trace_entry ent;
	uint64_t ip;
	uint64_t parent_ip;
} __attribute__((packed, aligned(4)));

#endif
