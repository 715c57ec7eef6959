// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * context.c - prints the columns before an event: task, CPU, context flags, time
 * (kernel/trace/trace_output.c, 6.1).
 */
#include "tracer/output/internal.h"

#include <inttypes.h>

/* Round nanoseconds to microseconds as the kernel does (ns2usecs). */
static uint64_t usecs_of(uint64_t ns)
{
	return (ns + 500) / 1000;
}

static char irqs_off_char(uint8_t flags)
{
	bool bh = flags & TRACE_FLAG_BH_OFF;

	if (flags & TRACE_FLAG_IRQS_OFF)
		return bh ? 'D' : 'd';
	if (bh)
		return 'b';
	return flags & TRACE_FLAG_IRQS_NOSUPPORT ? 'X' : '.';
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

char *output_put_flags(char *at, const struct trace_entry *ent)
{
	*at++ = irqs_off_char(ent->flags);
	*at++ = need_resched_char(ent->flags);
	*at++ = irq_char(ent->flags);
	*at++ = depth_char(ent->preempt_count & 15);
	*at++ = depth_char(ent->preempt_count >> 4);
	return at;
}

/* A pid, blanks behind it up to seven columns. */
static char *put_pid(char *at, int32_t pid)
{
	char *start = at;

	if (pid < 0)
		*at++ = '-';
	at = text_put_dec(at, pid < 0 ? -(uint64_t)pid : (uint64_t)pid, 0, ' ');
	while (at < start + 7)
		*at++ = ' ';
	return at;
}

/* "      gt-161     " */
static char *put_task(char *at, struct output *o, int32_t pid)
{
	char comm[COMM_LEN];
	size_t len;

	comms_find(o->cfg.comms, pid, comm);
	len = strnlen(comm, sizeof(comm));
	memset(at, ' ', COMM_LEN - len);
	at = (char *)memcpy(at + COMM_LEN - len, comm, len) + len;
	*at++ = '-';
	at = put_pid(at, pid);
	*at++ = ' ';
	return at;
}

static char *put_tgid(char *at, struct output *o, int32_t pid)
{
	int32_t tgid = comms_tgid(o->cfg.comms, pid);

	*at++ = '(';
	if (tgid > 0)
		at = text_put_dec(at, (uint64_t)tgid, 7, ' ');
	else
		at = (char *)memset(at, '-', 7) + 7;
	*at++ = ')';
	*at++ = ' ';
	return at;
}

static char *put_time(char *at, const struct output *o, uint64_t ts)
{
	uint64_t usecs;

	*at++ = ' ';
	if (!o->cfg.ns)
		return text_put_dec(at, ts, 12, ' ');
	usecs = usecs_of(ts);
	at = text_put_dec(at, usecs / 1000000, 5, ' ');
	*at++ = '.';
	return text_put_dec(at, usecs % 1000000, 6, '0');
}

void output_time(struct output *o, uint64_t ts)
{
	char *at = text_begin(o->text, 64);

	if (at)
		text_end(o->text, put_time(at, o, ts));
}

/* Every line has these columns: no printf here. */
void output_context(struct output *o, unsigned int cpu, const struct ring_event *ev)
{
	const struct trace_entry *ent = ev->data;
	char *at = text_begin(o->text, 128);

	if (!at)
		return;
	at = put_task(at, o, ent->pid);
	if (output_option(o, OUTPUT_RECORD_TGID))
		at = put_tgid(at, o, ent->pid);
	*at++ = '[';
	at = text_put_dec(at, cpu, 3, '0');
	*at++ = ']';
	*at++ = ' ';
	if (output_option(o, OUTPUT_IRQ_INFO))
		at = output_put_flags(at, ent);
	at = put_time(at, o, ev->ts);
	*at++ = ':';
	*at++ = ' ';
	text_end(o->text, at);
}

char output_delay_mark(uint64_t ns)
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
	since = usecs_of(since);
	delay = usecs_of(delay);
	text_printf(o->text,
		    "[%08" PRIx64 "] %" PRIu64 ".%03" PRIu64 "ms (+%" PRIu64 ".%03" PRIu64 "ms): ",
		    usecs_of(ts), since / 1000, since % 1000, delay / 1000, delay % 1000);
}

static void short_time(struct output *o, uint64_t since, uint64_t delay)
{
	if (!o->cfg.ns) {
		text_printf(o->text, " %4" PRIu64 ": ", since);
		return;
	}
	text_printf(o->text, " %4" PRIu64 "us%c: ", usecs_of(since),
		    output_delay_mark(usecs_of(delay) * 1000));
}

void output_latency_context(struct output *o, unsigned int cpu, const struct ring_event *ev,
			    uint64_t next_ts)
{
	/* The start may be a little late: it is the host's idea of the guest's clock. */
	uint64_t since = ev->ts > o->cfg.time_start ? ev->ts - o->cfg.time_start : 0;
	uint64_t delay = next_ts - ev->ts;
	const struct trace_entry *ent = ev->data;
	char comm[COMM_LEN], flags[OUTPUT_FLAG_COLUMNS];

	comms_find(o->cfg.comms, ent->pid, comm);
	if (output_option(o, OUTPUT_VERBOSE)) {
		text_printf(o->text, "%16s %7d %3u %d %08x %08" PRIx64 " ", comm, ent->pid, cpu,
			    ent->flags, ent->preempt_count & 15, o->index);
		verbose_time(o, ev->ts, since, delay);
		return;
	}
	output_put_flags(flags, ent);
	text_printf(o->text, "%8.8s-%-7d %3u%.*s", comm, ent->pid, cpu, OUTPUT_FLAG_COLUMNS, flags);
	short_time(o, since, delay);
}
