// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * output-context.c - prints the columns before an event: task, CPU, context flags, time
 * (kernel/trace/trace_output.c, 6.1).
 */
#include "tracer/output-internal.h"

#include <inttypes.h>

uint64_t output_usecs(uint64_t ns)
{
	return (ns + 500) / 1000;
}

static char irqs_off_char(uint8_t flags)
{
	bool bh = flags & TRACE_FLAG_BH_OFF;

	if (flags & TRACE_FLAG_IRQS_OFF)
		return bh ? 'D' : 'd';
	return bh ? 'b' : '.';
}

static char need_resched_char(uint8_t flags)
{
	bool preempt = flags & TRACE_FLAG_PREEMPT_RESCHED;

	if (flags & TRACE_FLAG_NEED_RESCHED)
		return preempt ? 'N' : 'n';
	return preempt ? 'p' : '.';
}

static char irq_char(uint8_t flags)
{
	bool hard = flags & TRACE_FLAG_HARDIRQ;

	if (flags & TRACE_FLAG_NMI)
		return hard ? 'Z' : 'z';
	if (flags & TRACE_FLAG_SOFTIRQ)
		return hard ? 'H' : 's';
	return hard ? 'h' : '.';
}

static char depth_char(unsigned int depth)
{
	return depth ? "0123456789abcdef"[depth & 15] : '.';
}

static void output_flags(struct output *o, const struct trace_entry *ent)
{
	const char flags[] = {
		irqs_off_char(ent->flags),
		need_resched_char(ent->flags),
		irq_char(ent->flags),
		depth_char(ent->preempt_count & 15),
		depth_char(ent->preempt_count >> 4),
	};

	text_add(o->text, flags, sizeof(flags));
}

void output_context(struct output *o, unsigned int cpu, uint64_t ts, const struct trace_entry *ent)
{
	char comm[COMM_LEN];

	comms_find(o->cfg.comms, ent->pid, comm);
	text_printf(o->text, "%16s-%-7d ", comm, ent->pid);
	if (output_option(o, OUTPUT_RECORD_TGID)) {
		int32_t tgid = comms_tgid(o->cfg.comms, ent->pid);

		if (tgid)
			text_printf(o->text, "(%7d) ", tgid);
		else
			text_puts(o->text, "(-------) ");
	}
	text_printf(o->text, "[%03u] ", cpu);
	if (output_option(o, OUTPUT_IRQ_INFO))
		output_flags(o, ent);
	if (o->cfg.ns) {
		uint64_t usecs = output_usecs(ts);

		text_printf(o->text, " %5" PRIu64 ".%06" PRIu64 ": ", usecs / 1000000,
			    usecs % 1000000);
	} else {
		text_printf(o->text, " %12" PRIu64 ": ", ts);
	}
}

/* How conspicuous a delay is (trace_find_mark). */
static char delay_mark(uint64_t ns)
{
	static const struct {
		uint64_t above;
		char mark;
	} marks[] = {
		{1000000000, '$'}, {100000000, '@'}, {10000000, '*'},
		{1000000, '#'},	   {100000, '!'},    {10000, '+'},
	};

	for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++) {
		if (ns > marks[i].above)
			return marks[i].mark;
	}
	return ' ';
}

static void verbose_time(struct output *o, uint64_t ts, uint64_t since, uint64_t delay)
{
	if (!o->cfg.ns) {
		text_printf(o->text, "[%016" PRIx64 "] %" PRIu64 " (+%" PRIu64 "): ", ts, since,
			    delay);
		return;
	}
	since = output_usecs(since);
	delay = output_usecs(delay);
	text_printf(o->text,
		    "[%08" PRIx64 "] %" PRIu64 ".%03" PRIu64 "ms (+%" PRIu64 ".%03" PRIu64 "ms): ",
		    output_usecs(ts), since / 1000, since % 1000, delay / 1000, delay % 1000);
}

static void short_time(struct output *o, uint64_t since, uint64_t delay)
{
	if (!o->cfg.ns) {
		text_printf(o->text, " %4" PRIu64 ": ", since);
		return;
	}
	text_printf(o->text, " %4" PRIu64 "us%c: ", output_usecs(since),
		    delay_mark(output_usecs(delay) * 1000));
}

void output_latency_context(struct output *o, unsigned int cpu, uint64_t ts,
			    const struct trace_entry *ent, uint64_t next_ts)
{
	uint64_t since = ts - o->cfg.time_start;
	char comm[COMM_LEN];

	comms_find(o->cfg.comms, ent->pid, comm);
	if (output_option(o, OUTPUT_VERBOSE)) {
		text_printf(o->text, "%16s %7d %3u %d %08x %08" PRIx64 " ", comm, ent->pid, cpu,
			    ent->flags, ent->preempt_count & 15, o->index);
		verbose_time(o, ts, since, next_ts - ts);
	} else {
		text_printf(o->text, "%8.8s-%-7d %3u", comm, ent->pid, cpu);
		output_flags(o, ent);
		short_time(o, since, next_ts - ts);
	}
}
