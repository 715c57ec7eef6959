/* SPDX-License-Identifier: GPL-2.0-or-later */
/* parsed-event.h - lines of a trace that a kernel has printed, understood: the entries they are of.
 */
#ifndef HVTRACE_TESTS_UNIT_PARSED_EVENT_H
#define HVTRACE_TESTS_UNIT_PARSED_EVENT_H

#include "tests/unit/output-world.h"
#include "tracer/output/output.h"

#include <inttypes.h>

/* One line of the kernel's, understood: an event, of any type. */
struct parsed {
	union {
		struct trace_entry ent;
		struct trace_function_entry fn;
		struct trace_repeats_entry repeats;
		struct trace_switch_entry sw;
		struct trace_stack_entry stack;
		struct trace_user_stack_entry user;
		struct trace_print_entry print;
		struct trace_raw_data_entry raw;
		struct trace_hwlat_entry hwlat;
		uint8_t bytes[512];
	};
	size_t len;
	uint64_t ts, lost;
	unsigned int cpu;
};

static inline const char *parse_task(struct world *w, const char *line, unsigned int width,
				     struct trace_entry *ent)
{
	char comm[COMM_LEN + 1] = {0}, tgid[8] = "";
	const char *start = line + strspn(line, " ");
	const char *at = line + width;
	int used = 0;

	memcpy(comm, start, (size_t)(at - start));
	for (size_t i = strlen(comm); i && comm[i - 1] == ' '; i--)
		comm[i - 1] = '\0';
	assert_int_equal(sscanf(at, "%*[- ]%d%n", &ent->pid, &used), 1);
	at += used;
	at += strspn(at, " ");
	if (sscanf(at, "(%7[-0-9 ])%n", tgid, &used) == 1)
		at += used;
	if (ent->pid)
		world_note(w, ent->pid, atoi(tgid), comm);
	return at + strspn(at, " ");
}

/* "init-196     [001] d..1.     5.521082: "; returns what is behind. */
static inline const char *parse_context(struct world *w, const char *line, uint32_t options,
					bool counts, struct parsed *p)
{
	const char *at = parse_task(w, line, 16, &p->ent);
	unsigned long secs, usecs = 0;
	int used = 0;

	assert_int_equal(sscanf(at, "[%u] %n", &p->cpu, &used), 1);
	at += used;
	if (options & OUTPUT_IRQ_INFO) {
		world_flags(at, &p->ent);
		at += 5;
	}
	assert_true(sscanf(at, " %lu.%lu", &secs, &usecs) >= 1);
	p->ts = counts ? secs : (secs * 1000000 + usecs) * 1000;
	return strstr(at, ": ") + 2;
}

/* "init-264       1..... 16192us+: " */
static inline const char *parse_latency(struct world *w, const char *line, struct parsed *p)
{
	const char *at = parse_task(w, line, 8, &p->ent);
	int used = 0;

	assert_int_equal(sscanf(at, "%1u%n", &p->cpu, &used), 1);
	world_flags(at + used, &p->ent);
	assert_int_equal(sscanf(at + used + 5, "%" SCNu64 "us", &p->ts), 1);
	p->ts *= 1000;
	return strstr(at, ": ") + 2;
}

/* "init     227   1 0 00000000 00000000 [00ed63df] 16.611ms (+0.043ms): "; without its time */
static inline const char *parse_verbose(struct world *w, const char *line, struct parsed *p)
{
	const char *at = parse_task(w, line, 16, &p->ent);
	unsigned int flags, depth;

	assert_int_equal(sscanf(at, "%u %u %x %*x [%" SCNx64 "]", &p->cpu, &flags, &depth, &p->ts),
			 4);
	p->ent.flags = (uint8_t)flags;
	p->ent.preempt_count = (uint8_t)depth;
	return strstr(at, ": ") + 2;
}

/* "vfs_statx+0xc2/0x180 <ffffffff813545c2>": an address that the world now calls so. */
static inline uint64_t parse_symbol(struct world *w, const char *at)
{
	uint64_t addr = 0, off = 0, size = 16;
	char name[64];
	const char *more;

	if (sscanf(at, "%63[a-zA-Z0-9_.]", name) != 1)
		return 0;
	more = at + strlen(name);
	if (*more == '+')
		assert_int_equal(sscanf(more, "+%" SCNx64 "/%" SCNx64, &off, &size), 2);
	more += strcspn(more, " \n");
	if (strncmp(more, " <f", 3) || sscanf(more, " <%" SCNx64 ">", &addr) != 1)
		addr = UINT64_C(0xffffffff90000000) + w->nr * 0x10000 + off;
	if (!world_symbol(w, addr, &(struct output_symbol){0}))
		world_add(w, addr - off, size, name);
	return addr;
}

/* --- what stands behind the context ------------------------------------------------------- */

/* "vfs_read <-ksys_read (repeats: 1, last_ts:     2.790401)" */
static inline void parse_repeats(const char *at, struct parsed *p)
{
	unsigned long secs, usecs;
	unsigned int count;
	uint64_t delta;

	at = strstr(at, " (repeats: ");
	assert_int_equal(sscanf(at, " (repeats: %u, last_ts: %lu.%lu", &count, &secs, &usecs), 3);
	delta = p->ts - (secs * 1000000 + usecs) * 1000;
	p->ent.type = TRACE_FUNC_REPEATS;
	p->repeats.count = (uint16_t)count;
	p->repeats.top_delta_ts = (uint16_t)(delta >> 32);
	p->repeats.bottom_delta_ts = (uint32_t)delta;
	p->len = sizeof(p->repeats);
}

/*
 * A function, with its parent or not. The text of an event that has no place here is none: then a
 * function at address 0 stands for it and false comes back.
 */
static inline bool parse_function(struct world *w, const char *at, uint32_t options,
				  struct parsed *p)
{
	const char *end = strchr(at, '\n'), *parent = strstr(at, " <-");
	size_t name = strspn(at, "abcdefghijklmnopqrstuvwxyz_0123456789");

	p->ent.type = TRACE_FN;
	p->len = sizeof(p->fn);
	if (parent && parent < end) {
		p->fn.ip = parse_symbol(w, at);
		p->fn.parent_ip = parse_symbol(w, parent + 3);
		if (end[-1] == ')')
			parse_repeats(at, p);
		return true;
	}
	p->fn.parent_ip = options & OUTPUT_PRINT_PARENT ? 0 : 1;
	if (!strncmp(at, "0\n", 2))
		return true;
	p->fn.ip = at[name] == '\n' ? parse_symbol(w, at) : 0;
	return p->fn.ip;
}

/* "<stack trace>" and " => name" on the lines that follow */
static inline bool parse_stack(struct world *w, const char **next, const char *at, struct parsed *p)
{
	if (strncmp(at, "<stack trace>\n", 14) != 0)
		return false;
	p->ent.type = TRACE_STACK;
	p->len = sizeof(p->stack);
	for (; !strncmp(*next, " => ", 4); *next = next_line(*next), p->len += sizeof(uint64_t)) {
		size_t i = (p->len - sizeof(p->stack)) / sizeof(uint64_t);

		assert_true(p->len + sizeof(uint64_t) <= sizeof(p->bytes));
		p->stack.caller[i] = parse_symbol(w, *next + 4);
	}
	return true;
}

static inline bool line_has(const char *line, const char *what)
{
	return memmem(line, (size_t)(next_line(line) - line), what, strlen(what));
}

/* "<user stack trace>", then " =>  <address>" or " => file[+offset]" */
static inline bool parse_user_stack(const char **next, const char *at, struct parsed *p)
{
	if (strncmp(at, "<user stack trace>\n", 19) != 0)
		return false;
	p->ent.type = TRACE_USER_STACK;
	p->len = sizeof(p->user);
	for (int i = 0; !strncmp(*next, " => ", 4); *next = next_line(*next), i++) {
		const char *off = strstr(*next, "[+0x");
		bool file = line_has(*next, "[+0x");

		assert_true(i < TRACE_USER_STACK_NR);
		p->user.caller[i] = strtoull(file ? off + 4 : *next + 6, NULL, 16);
		p->user.tgid = file;
	}
	return true;
}

/* "      0:120:R   + [000]      68:110:R gt" */
static inline bool parse_switch(struct world *w, const char *at, struct parsed *p)
{
	static const char states[] = "RSDTtXZPI";
	unsigned int pid, prio, cpu, next, next_prio;
	char state, next_state, arrow[4], comm[17];

	if (sscanf(at, " %u:%u:%c %3s [%u] %u:%u:%c %16s", &pid, &prio, &state, arrow, &cpu, &next,
		   &next_prio, &next_state, comm) != 9)
		return false;
	p->ent.type = arrow[0] == '+' ? TRACE_WAKE : TRACE_CTX;
	p->len = sizeof(p->sw);
	p->sw.prev_pid = pid;
	p->sw.prev_prio = (uint8_t)prio;
	p->sw.prev_state = (uint8_t)(strchr(states, state) - states);
	p->sw.next_cpu = cpu;
	p->sw.next_pid = next;
	p->sw.next_prio = (uint8_t)next_prio;
	p->sw.next_state = (uint8_t)(strchr(states, next_state) - states);
	world_note(w, (int)next, 0, comm);
	return true;
}

/* "tracing_mark_write: text", which may go on over lines that look like nothing else */
static inline bool parse_marker(struct world *w, const char **next, const char *at, bool msg_only,
				struct parsed *p)
{
	const char *text = at;

	if (!msg_only) {
		if (strncmp(at, "tracing_mark_write: ", 20) != 0)
			return false;
		text = strchr(at, ' ') + 1;
	}
	while (**next && !line_has(*next, " [00"))
		*next = next_line(*next);
	p->ent.type = TRACE_PRINT;
	p->print.ip = parse_symbol(w, "tracing_mark_write");
	p->len = sizeof(p->print) + (size_t)(*next - text) + 1;
	assert_true(p->len <= sizeof(p->bytes));
	memcpy(p->print.buf, text, (size_t)(*next - text));
	return true;
}

/* "# 2a buf: 01 02" */
static inline bool parse_raw_data(const char *at, struct parsed *p)
{
	unsigned int id, byte;
	int used = 0;

	if (sscanf(at, "# %x buf:%n", &id, &used) != 1 || !used)
		return false;
	p->ent.type = TRACE_RAW_DATA;
	p->raw.id = id;
	p->len = sizeof(p->raw);
	for (at += used; *at == ' '; at += 3) {
		assert_int_equal(sscanf(at, "%2x", &byte), 1);
		p->bytes[p->len++] = (uint8_t)byte;
	}
	return true;
}

/* "#1     inner/outer(us): 40722/26023 ts:1795208527.970985790 count:44" */
static inline bool parse_hwlat(const char *at, struct parsed *p)
{
	struct trace_hwlat_entry *e = &p->hwlat;
	uint64_t inner, outer;
	int64_t secs, nsecs;
	unsigned int seqnum, count;

	if (sscanf(at,
		   "#%u inner/outer(us): %" SCNu64 "/%" SCNu64 " ts:%" SCNd64 ".%" SCNd64
		   " count:%u",
		   &seqnum, &inner, &outer, &secs, &nsecs, &count) != 6)
		return false;
	e->ent.type = TRACE_HWLAT;
	e->duration = inner;
	e->outer_duration = outer;
	e->tv_sec = secs;
	e->tv_nsec = nsecs;
	e->seqnum = seqnum;
	e->count = count;
	p->len = sizeof(*e);
	return true;
}

static inline bool parse_body(struct world *w, const char **next, const char *at, uint32_t options,
			      struct parsed *p)
{
	return parse_stack(w, next, at, p) || parse_user_stack(next, at, p) ||
	       parse_switch(w, at, p) || parse_raw_data(at, p) || parse_hwlat(at, p) ||
	       parse_marker(w, next, at, options & OUTPUT_PRINTK_MSG_ONLY, p) ||
	       parse_function(w, at, options, p);
}

/* "170 1 11339007692 ffffffff813548d0 ffffffff81354c7f"; hex is in hexadecimal throughout. */
static inline bool parse_numbers(const char *line, uint32_t options, struct parsed *p)
{
	uint64_t ip, parent, delta;
	unsigned int count;
	int found;

	if (*line == '\n')
		return false;
	if (sscanf(line, "%d %u %" SCNu64 " %" SCNu64 " %" SCNu64 " %u %" SCNu64, &p->ent.pid,
		   &p->cpu, &p->ts, &ip, &parent, &count, &delta) == 7) {
		p->ent.type = TRACE_FUNC_REPEATS;
		p->repeats.count = (uint16_t)count;
		p->repeats.bottom_delta_ts = (uint32_t)delta;
		p->repeats.top_delta_ts = (uint16_t)(delta >> 32);
		p->len = sizeof(p->repeats);
	} else {
		if (options & OUTPUT_RAW)
			found = sscanf(line, "%d %u %" SCNu64 " %" SCNx64 " %" SCNx64, &p->ent.pid,
				       &p->cpu, &p->ts, &ip, &parent);
		else
			found = sscanf(line, "%x %x %" SCNx64 " %" SCNx64 " %" SCNx64,
				       (unsigned int *)&p->ent.pid, &p->cpu, &p->ts, &ip, &parent);
		if (found != 5)
			return false;
		p->ent.type = TRACE_FN;
		p->len = sizeof(p->fn);
	}
	p->fn.ip = ip;
	p->fn.parent_ip = parent;
	return true;
}

/* --- lines ------------------------------------------------------------------------------------ */

/*
 * Understand an event, which begins at *line and may take several, and append to want what we shall
 * print for it: the lines themselves, or one with "0" for an event of another kind. counts: times
 * are bare counts. False: nothing, the line is not one of ours.
 */
static inline bool parse_event(struct world *w, const char **line, uint32_t options, bool counts,
			       struct parsed *p, struct text *want)
{
	const char *at, *start = *line, *next;

	*p = (struct parsed){0};
	if (sscanf(start, "CPU:%*u [LOST %" SCNu64 " EVENTS]", &p->lost) == 1)
		*line = next_line(start);
	at = *line;
	*line = next = next_line(at);
	if (options & (OUTPUT_RAW | OUTPUT_HEX)) {
		if (!parse_numbers(at, options, p))
			return false;
		text_add(want, start, (size_t)(next - start));
		return true;
	}
	if (options & OUTPUT_PRINTK_MSG_ONLY)
		;
	else if (options & OUTPUT_LATENCY_FORMAT && options & OUTPUT_VERBOSE)
		at = parse_verbose(w, at, p);
	else if (options & OUTPUT_LATENCY_FORMAT)
		at = parse_latency(w, at, p);
	else if (options & OUTPUT_CONTEXT_INFO)
		at = parse_context(w, at, options, counts, p);
	if (parse_body(w, &next, at, options, p)) {
		*line = next;
		text_add(want, start, (size_t)(next - start));
		return true;
	}
	text_add(want, start, (size_t)(at - start));
	text_puts(want, "0\n");
	return true;
}

#endif
