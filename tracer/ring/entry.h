/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * entry.h - the binary layout of trace entries, the data of ring buffer events.
 *
 * As in the kernel: include/linux/trace_events.h (struct trace_entry, enum trace_flag_type) and
 * kernel/trace/trace.h, trace_entries.h (types and their entries), 6.1; the same in tracefs as
 * events/ftrace/NAME/format.
 */
#ifndef HVTRACE_TRACER_RING_ENTRY_H
#define HVTRACE_TRACER_RING_ENTRY_H

#include <stdint.h>

enum entry_type {
	TRACE_FN = 1,
	TRACE_CTX = 2,
	TRACE_WAKE = 3,
	TRACE_STACK = 4,
	TRACE_PRINT = 5,
	TRACE_BPRINT = 6,
	TRACE_MMIO_RW = 7,
	TRACE_MMIO_MAP = 8,
	TRACE_BRANCH = 9,
	TRACE_GRAPH_RET = 10,
	TRACE_GRAPH_ENT = 11,
	TRACE_USER_STACK = 12,
	TRACE_BLK = 13,
	TRACE_BPUTS = 14,
	TRACE_HWLAT = 15,
	TRACE_RAW_DATA = 18,
	TRACE_FUNC_REPEATS = 19,
	TRACE_HW_BRANCH = 0xffff, /* of no kernel that there is still */
};

enum entry_flags {
	TRACE_FLAG_IRQS_OFF = 0x01,
	TRACE_FLAG_IRQS_NOSUPPORT = 0x02,
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

/*
 * Data in the ring is aligned to 4 bytes only. What ends in an array without a size goes to the end
 * of the ring's event, which may be up to 7 bytes behind that of what was written.
 */
#define TRACE_ENTRY_LAYOUT __attribute__((packed, aligned(4)))

/* TRACE_FN */
struct trace_function_entry {
	struct trace_entry ent;
	uint64_t ip;
	uint64_t parent_ip;
} TRACE_ENTRY_LAYOUT;

/* TRACE_GRAPH_ENT */
struct trace_graph_entry {
	struct trace_entry ent;
	uint64_t func;
	int32_t depth;
} TRACE_ENTRY_LAYOUT;

/* TRACE_GRAPH_RET: times are of the trace clock. */
struct trace_graph_exit {
	struct trace_entry ent;
	uint64_t func;
	int32_t depth;
	uint32_t overrun;
	uint64_t calltime, rettime;
} TRACE_ENTRY_LAYOUT;

/* TRACE_FUNC_REPEATS: the same call again, `count` times, since the entry before it. */
struct trace_repeats_entry {
	struct trace_entry ent;
	uint64_t ip;
	uint64_t parent_ip;
	uint16_t count;
	uint16_t top_delta_ts; /* the last of them was so long before the entry's own time */
	uint32_t bottom_delta_ts;
} TRACE_ENTRY_LAYOUT;

/* TRACE_CTX and TRACE_WAKE: states are indexes into "RSDTtXZPI". */
struct trace_switch_entry {
	struct trace_entry ent;
	uint32_t prev_pid, next_pid, next_cpu;
	uint8_t prev_prio, prev_state, next_prio, next_state;
} TRACE_ENTRY_LAYOUT;

/* TRACE_STACK: ends with the event, or before an address of all ones. */
struct trace_stack_entry {
	struct trace_entry ent;
	int32_t size;
	uint32_t pad;
	uint64_t caller[];
} TRACE_ENTRY_LAYOUT;

#define TRACE_USER_STACK_NR 8

/* TRACE_USER_STACK: up to the first zero. */
struct trace_user_stack_entry {
	struct trace_entry ent;
	uint32_t tgid;
	uint32_t pad;
	uint64_t caller[TRACE_USER_STACK_NR];
} TRACE_ENTRY_LAYOUT;

/* TRACE_PRINT: trace_printk() with its text, and what was written to trace_marker; terminated. */
struct trace_print_entry {
	struct trace_entry ent;
	uint64_t ip;
	char buf[];
} TRACE_ENTRY_LAYOUT;

/* TRACE_BPRINT: trace_printk() as a format and its arguments, packed as vbin_printf() does. */
struct trace_bprint_entry {
	struct trace_entry ent;
	uint64_t ip;
	uint64_t fmt; /* address of the format */
	uint32_t buf[];
} TRACE_ENTRY_LAYOUT;

/*
 * TRACE_BLK: a struct blk_io_trace (linux/blktrace_api.h) whose first members the common header has
 * the place of, and pdu_len bytes that its action is followed by.
 */
struct trace_blk_entry {
	struct trace_entry ent;
	uint64_t time; /* not used */
	uint64_t sector;
	uint32_t bytes, action, pid, device, cpu;
	uint16_t error, pdu_len;
	uint8_t pdu[];
} TRACE_ENTRY_LAYOUT;

/* TRACE_BPUTS: trace_puts() of a constant. */
struct trace_bputs_entry {
	struct trace_entry ent;
	uint64_t ip;
	uint64_t str; /* its address */
} TRACE_ENTRY_LAYOUT;

/* TRACE_RAW_DATA: what was written to trace_marker_raw. */
struct trace_raw_data_entry {
	struct trace_entry ent;
	uint32_t id;
	uint8_t buf[];
} TRACE_ENTRY_LAYOUT;

/* TRACE_HW_BRANCH (struct hw_branch_entry of 2.6.32) */
struct trace_hw_branch_entry {
	struct trace_entry ent;
	uint64_t from, to;
} TRACE_ENTRY_LAYOUT;

/* include/linux/mmiotrace.h */
enum mmio_opcode {
	MMIO_READ = 1,
	MMIO_WRITE = 2,
	MMIO_MAP = 3,
	MMIO_UNMAP = 4,
};

/* TRACE_MMIO_RW: an access of width bytes at a guest-physical address in a region. */
struct trace_mmio_rw_entry {
	struct trace_entry ent;
	uint64_t phys, value;
	uint64_t pc; /* 0: not told */
	int32_t map_id;
	uint8_t opcode, width;
	uint8_t pad[2];
} TRACE_ENTRY_LAYOUT;

/* TRACE_MMIO_MAP: a region has become or ceased to be mapped. */
struct trace_mmio_map_entry {
	struct trace_entry ent;
	uint64_t phys, virt, len;
	int32_t map_id;
	uint8_t opcode;
	uint8_t pad[3];
} TRACE_ENTRY_LAYOUT;

/* With the zero at the end. */
#define BRANCH_FUNC_MAX 31
#define BRANCH_FILE_MAX 21

/* TRACE_BRANCH: a likely() or unlikely() has come out. */
struct trace_branch_entry {
	struct trace_entry ent;
	uint32_t line;
	char func[BRANCH_FUNC_MAX], file[BRANCH_FILE_MAX];
	uint8_t correct, constant;
	uint8_t pad[2];
} TRACE_ENTRY_LAYOUT;

/* TRACE_HWLAT: microseconds; and what the time was. */
struct trace_hwlat_entry {
	struct trace_entry ent;
	uint64_t duration, outer_duration;
	uint64_t nmi_total_ts;
	int64_t tv_sec, tv_nsec;
	uint32_t nmi_count, seqnum, count;
} TRACE_ENTRY_LAYOUT;

#endif
