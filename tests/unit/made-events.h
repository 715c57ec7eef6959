/* SPDX-License-Identifier: GPL-2.0-or-later */
/* made-events.h - some events of Debian's kernel 6.1, and records of them. */
#ifndef HVTRACE_TESTS_MADE_EVENTS_H
#define HVTRACE_TESTS_MADE_EVENTS_H

#include <string.h>

#include "tracer/events/filter/data.h"

#define MADE_FIELD(t, n, o, s, sign, k)                                                            \
	{                                                                                          \
		.type = (t), .name = (n), .offset = (o), .size = (s), .is_signed = (sign),         \
		.kind = GUESTSYM_EVENT_##k                                                         \
	}

static const struct guestsym_event_field made_common[] = {
	MADE_FIELD("unsigned short", "common_type", 0, 2, false, NUMBER),
	MADE_FIELD("unsigned char", "common_flags", 2, 1, false, NUMBER),
	MADE_FIELD("unsigned char", "common_preempt_count", 3, 1, false, NUMBER),
	MADE_FIELD("int", "common_pid", 4, 4, true, NUMBER),
};

static const struct guestsym_event_field made_switch_fields[] = {
	MADE_FIELD("char[16]", "prev_comm", 8, 16, false, STRING),
	MADE_FIELD("pid_t", "prev_pid", 24, 4, true, NUMBER),
	MADE_FIELD("int", "prev_prio", 28, 4, true, NUMBER),
	MADE_FIELD("long", "prev_state", 32, 8, true, NUMBER),
	MADE_FIELD("char[16]", "next_comm", 40, 16, false, STRING),
	MADE_FIELD("pid_t", "next_pid", 56, 4, true, NUMBER),
	MADE_FIELD("int", "next_prio", 60, 4, true, NUMBER),
};

static const struct guestsym_event_field made_kmalloc_fields[] = {
	MADE_FIELD("unsigned long", "call_site", 8, 8, false, NUMBER),
	MADE_FIELD("const void *", "ptr", 16, 8, false, NUMBER),
	MADE_FIELD("size_t", "bytes_req", 24, 8, false, NUMBER),
	MADE_FIELD("size_t", "bytes_alloc", 32, 8, false, NUMBER),
	MADE_FIELD("unsigned long", "gfp_flags", 40, 8, false, NUMBER),
	MADE_FIELD("int", "node", 48, 4, true, NUMBER),
};

static const struct guestsym_event_field made_enter_fields[] = {
	MADE_FIELD("long", "id", 8, 8, true, NUMBER),
	MADE_FIELD("unsigned long[6]", "args", 16, 48, false, NUMBER),
};

static const struct guestsym_event_field made_any_fields[] = {
	MADE_FIELD("u8", "u8", 8, 1, false, NUMBER),
	MADE_FIELD("s8", "s8", 9, 1, true, NUMBER),
	MADE_FIELD("u16", "u16", 10, 2, false, NUMBER),
	MADE_FIELD("s16", "s16", 12, 2, true, NUMBER),
	MADE_FIELD("__data_loc char[]", "name", 16, 4, false, DYN_STRING),
	MADE_FIELD("__rel_loc char[]", "label", 20, 4, false, RDYN_STRING),
	MADE_FIELD("char *", "pointer", 24, 8, false, PTR_STRING),
	MADE_FIELD("void *", "func", 32, 8, false, FUNCTION),
	MADE_FIELD("__data_loc cpumask_t", "cpus", 40, 4, false, CPUMASK),
	MADE_FIELD("unsigned int", "target_cpu", 44, 4, false, NUMBER),
};

static const struct guestsym_event_field made_waking_fields[] = {
	MADE_FIELD("char[16]", "comm", 8, 16, false, STRING),
	MADE_FIELD("pid_t", "pid", 24, 4, true, NUMBER),
	MADE_FIELD("int", "prio", 28, 4, true, NUMBER),
	MADE_FIELD("int", "target_cpu", 32, 4, true, NUMBER),
};

#define MADE_EVENT(s, n, f)                                                                        \
	{                                                                                          \
		.system = (s), .name = (n), .fields = (f),                                         \
		.nr_fields = sizeof(f) / sizeof((f)[0]), .print_fmt = ""                           \
	}

static const struct guestsym_event made_switch =
	MADE_EVENT("sched", "sched_switch", made_switch_fields);
static const struct guestsym_event made_kmalloc =
	MADE_EVENT("kmem", "kmalloc", made_kmalloc_fields);
static const struct guestsym_event made_enter =
	MADE_EVENT("raw_syscalls", "sys_enter", made_enter_fields);
static const struct guestsym_event made_waking =
	MADE_EVENT("sched", "sched_waking", made_waking_fields);
static const struct guestsym_event made_any = MADE_EVENT("made", "any", made_any_fields);

static inline struct event_format made_format(const struct guestsym_event *event)
{
	return (struct event_format){
		.event = event,
		.common = made_common,
		.nr_common = sizeof(made_common) / sizeof(made_common[0]),
	};
}

struct made_switch_record {
	uint16_t type;
	uint8_t flags, preempt_count;
	int32_t pid;
	char prev_comm[16];
	int32_t prev_pid, prev_prio;
	int64_t prev_state;
	char next_comm[16];
	int32_t next_pid, next_prio;
};

struct made_waking_record {
	uint16_t type;
	uint8_t flags, preempt_count;
	int32_t pid;
	char comm[16];
	int32_t woken, prio, target_cpu;
};

struct made_kmalloc_record {
	uint16_t type;
	uint8_t flags, preempt_count;
	int32_t pid;
	uint64_t call_site, ptr, bytes_req, bytes_alloc, gfp_flags;
	int32_t node;
};

struct made_enter_record {
	uint16_t type;
	uint8_t flags, preempt_count;
	int32_t pid;
	int64_t id;
	uint64_t args[6];
};

static inline struct event_data made_data(const void *record, size_t len)
{
	return (struct event_data){.record = record, .len = len};
}

/* Functions made_first and made_second, of 0x100 bytes each. */
static inline bool made_function(void *arg, const char *name, struct guestsym_range *range)
{
	static const uint64_t text = 0xffffffff81000000;
	uint64_t start = range->start;

	(void)arg;
	if (name && !strcmp(name, "made_first"))
		start = text;
	else if (name && !strcmp(name, "made_second"))
		start = text + 0x100;
	else if (name || start < text || start >= text + 0x200)
		return false;
	range->start = start & ~0xffULL;
	range->end = range->start + 0x100;
	return true;
}

static const struct event_kernel made_kernel = {.function = made_function, .nr_cpus = 8};

#endif
