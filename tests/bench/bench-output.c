// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * bench-output.c - lines of text per second that one thread reads from full ring buffers, as from
 * a trace file and from trace_pipe: of function records, of function_graph's leaves, which are two
 * records each, and of the event sched_switch. Seconds are of CPU time. What is compared from one
 * day to another is the part of what printf() takes for such a line.
 *
 * The functions are as a busy kernel's: 37,000 symbols are known, a few thousand of them occur,
 * some far more often than others.
 */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include "tracer/ring/entry.h"
#include "tracer/output/reader.h"
#include "tracer/output/output.h"
#include "tests/bench/bench.h"

enum { ROUNDS = 15, CPUS_MAX = 8, EVENTS = 100 * 1000, SYMBOLS = 37000, USED = 4000 };
enum { PRINTED = 20 * 1000 };

#define TEXT_START UINT64_C(0xffffffff81000000)

struct bench {
	char name[SYMBOLS][32];
	uint64_t addr[SYMBOLS];
	struct comms *comms;
	struct event_printer *events;
	struct ring *ring[CPUS_MAX];
};

enum { SWITCH_ID = 316 };

#define SWITCH_FMT                                                                                 \
	"\"prev_comm=%s prev_pid=%d prev_prio=%d prev_state=%s%s ==> next_comm=%s next_pid=%d "    \
	"next_prio=%d\", REC->prev_comm, REC->prev_pid, REC->prev_prio, (REC->prev_state & "       \
	"((((0x00000000 | 0x00000001 | 0x00000002 | 0x00000004 | 0x00000008 | 0x00000010 | "       \
	"0x00000020 | 0x00000040) + 1) << 1) - 1)) ? __print_flags(REC->prev_state & "             \
	"((((0x00000000 | 0x00000001 | 0x00000002 | 0x00000004 | 0x00000008 | 0x00000010 | "       \
	"0x00000020 | 0x00000040) + 1) << 1) - 1), \"|\", { 0x00000001, \"S\" }, { "               \
	"0x00000002, \"D\" }, { 0x00000004, \"T\" }, { 0x00000008, \"t\" }, { 0x00000010, "        \
	"\"X\" }, { 0x00000020, \"Z\" }, { 0x00000040, \"P\" }, { 0x00000080, \"I\" }) : "         \
	"\"R\", REC->prev_state & (((0x00000000 | 0x00000001 | 0x00000002 | 0x00000004 | "         \
	"0x00000008 | 0x00000010 | 0x00000020 | 0x00000040) + 1) << 1) ? \"+\" : \"\", "           \
	"REC->next_comm, REC->next_pid, REC->next_prio"

/* A record of sched_switch of Linux 6.1, and what its format file says of it. */
struct switch_record {
	struct trace_entry ent;
	char prev_comm[COMM_LEN];
	int prev_pid, prev_prio;
	long prev_state;
	char next_comm[COMM_LEN];
	int next_pid, next_prio;
};

static const struct guestsym_event_field switch_fields[] = {
	{"char[16]", "prev_comm", offsetof(struct switch_record, prev_comm), 16, true,
	 GUESTSYM_EVENT_STRING},
	{"pid_t", "prev_pid", offsetof(struct switch_record, prev_pid), 4, true,
	 GUESTSYM_EVENT_NUMBER},
	{"int", "prev_prio", offsetof(struct switch_record, prev_prio), 4, true,
	 GUESTSYM_EVENT_NUMBER},
	{"long", "prev_state", offsetof(struct switch_record, prev_state), 8, true,
	 GUESTSYM_EVENT_NUMBER},
	{"char[16]", "next_comm", offsetof(struct switch_record, next_comm), 16, true,
	 GUESTSYM_EVENT_STRING},
	{"pid_t", "next_pid", offsetof(struct switch_record, next_pid), 4, true,
	 GUESTSYM_EVENT_NUMBER},
	{"int", "next_prio", offsetof(struct switch_record, next_prio), 4, true,
	 GUESTSYM_EVENT_NUMBER},
};

static const struct guestsym_event switch_event = {
	.system = "sched",
	.name = "sched_switch",
	.id = SWITCH_ID,
	.fields = switch_fields,
	.nr_fields = sizeof(switch_fields) / sizeof(switch_fields[0]),
	.print_fmt = SWITCH_FMT,
};

static bool find_symbol(void *arg, uint64_t addr, struct output_symbol *sym)
{
	const struct bench *b = arg;
	size_t lo = 0, hi = SYMBOLS;

	while (hi - lo > 1) {
		size_t mid = (lo + hi) / 2;

		if (b->addr[mid] <= addr)
			lo = mid;
		else
			hi = mid;
	}
	sym->name = b->name[lo];
	sym->off = addr - b->addr[lo];
	sym->size = 256;
	return true;
}

/* Some thousand functions, the first ones most often. */
static uint64_t pick(const struct bench *b, uint64_t *seed)
{
	uint64_t x, y;

	*seed = *seed * UINT64_C(6364136223846793005) + 1;
	x = (*seed >> 40) % USED;
	y = (*seed >> 20) % USED;
	return b->addr[x * y / USED * (SYMBOLS / USED)];
}

static void fill_calls(struct bench *b, unsigned int cpus)
{
	uint64_t seed = 1;

	for (uint64_t i = 0; i < EVENTS; i++) {
		struct trace_function_entry *e =
			ring_reserve(b->ring[i % cpus], sizeof(*e), i * 500);

		if (!e)
			exit(1);
		*e = (struct trace_function_entry){
			.ent = {.type = TRACE_FN, .flags = i & 1, .pid = 100 + (int)(i >> 8) % 20},
			.ip = pick(b, &seed),
			.parent_ip = pick(b, &seed) + 40,
		};
		ring_commit(b->ring[i % cpus]);
	}
}

static void put(struct bench *b, unsigned int cpu, uint64_t ts, const void *data, size_t len)
{
	void *at = ring_reserve(b->ring[cpu], len, ts);

	if (!at)
		exit(1);
	memcpy(at, data, len);
	ring_commit(b->ring[cpu]);
}

static void fill_leaves(struct bench *b, unsigned int cpus)
{
	uint64_t seed = 1;

	for (uint64_t i = 0; i < EVENTS; i++) {
		struct trace_graph_entry e = {
			.ent = {.type = TRACE_GRAPH_ENT, .pid = 100 + (int)(i / cpus >> 8) % 20},
			.func = pick(b, &seed),
			.depth = (int)(seed >> 33) % 12,
		};
		struct trace_graph_exit x = {
			.ent = {.type = TRACE_GRAPH_RET, .pid = e.ent.pid},
			.func = e.func,
			.depth = e.depth,
			.calltime = i * 500,
			.rettime = i * 500 + (seed >> 40) % 20000,
		};

		put(b, i % cpus, i * 500, &e, sizeof(e));
		put(b, i % cpus, i * 500, &x, sizeof(x));
	}
}

static void fill_switches(struct bench *b, unsigned int cpus)
{
	for (uint64_t i = 0; i < EVENTS; i++) {
		const struct switch_record r = {
			.ent = {.type = SWITCH_ID, .pid = 100 + (int)(i >> 8) % 20},
			.prev_comm = "a-task-name",
			.prev_pid = 100 + (int)(i >> 8) % 20,
			.prev_prio = 120,
			.prev_state = i & 1,
			.next_comm = "swapper/0",
			.next_prio = 120,
		};

		put(b, i % cpus, i * 500, &r, sizeof(r));
	}
}

/* What is read; room is for a line, shortest is the shortest line. */
struct kind {
	const char *tracer;
	void (*fill)(struct bench *b, unsigned int cpus);
	size_t room, shortest;
};

static const struct kind calls = {"function", fill_calls, 32, 60};
static const struct kind switches = {"nop", fill_switches, 80, 150};
static const struct kind leaves = {"function_graph", fill_leaves, 80, 30};

/* Lines per second of one reading; all lines are there. */
static double run(struct bench *b, const struct kind *kind, bool consume, uint32_t options,
		  size_t len)
{
	const struct output_config cfg = {
		.options = options,
		.graph_options = OUTPUT_GRAPH_DEFAULT,
		.tracer = kind->tracer,
		.release = "6.1.0",
		.cpus = CPUS_MAX,
		.ns = true,
		.comms = b->comms,
		.events = b->events,
		.symbol = find_symbol,
		.arg = b,
	};
	struct reader *r = reader_open(b->ring, CPUS_MAX, READER_ALL_CPUS, consume, &cfg);
	char *buf = malloc(len);
	size_t bytes = 0;
	double start, took;
	ssize_t n;

	if (!r || !buf)
		exit(1);
	start = bench_clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	while ((n = reader_read(r, buf, len)) > 0)
		bytes += (size_t)n;
	took = (bench_clock_ns(CLOCK_PROCESS_CPUTIME_ID) - start) / 1e9;
	reader_close(r);
	free(buf);
	if (bytes < EVENTS * kind->shortest)
		exit(1);
	return EVENTS / took;
}

static void rings_new(struct bench *b, const struct kind *kind, unsigned int cpus)
{
	for (unsigned int i = 0; i < CPUS_MAX; i++) {
		ring_free(b->ring[i]);
		b->ring[i] = ring_new(i < cpus ? EVENTS / cpus * kind->room : 0);
		if (!b->ring[i])
			exit(1);
	}
	kind->fill(b, cpus);
}

/* What anybody might do: lines per second of C's own formatting, of a line like those. */
static double run_printf(struct bench *b)
{
	static char line[256];
	uint64_t seed = 1;
	double start = bench_clock_ns(CLOCK_PROCESS_CPUTIME_ID);

	for (unsigned int i = 0; i < PRINTED; i++) {
		struct output_symbol to, from;

		find_symbol(b, pick(b, &seed), &to);
		find_symbol(b, pick(b, &seed) + 40, &from);
		snprintf(line, sizeof(line), "%16s-%-7u [%03u] %s %5u.%06u: %s <-%s\n",
			 "a-task-name", 100 + i % 20, i % 8, ".....", i / 2000, i % 2000, to.name,
			 from.name);
	}
	return PRINTED / (bench_clock_ns(CLOCK_PROCESS_CPUTIME_ID) - start) * 1e9;
}

/*
 * What has a figure: the time of a line as a part of printf's, the best of each, because what else
 * runs on the host must not count.
 */
static void measure(struct bench *b, const struct kind *kind, const char *what, unsigned int cpus,
		    bool consume, uint32_t options, size_t len, const char *figure)
{
	double rate[ROUNDS], printed[ROUNDS], of_printf;

	for (int i = 0; i < ROUNDS; i++) {
		rings_new(b, kind, cpus);
		printed[i] = run_printf(b);
		rate[i] = run(b, kind, consume, options, len);
	}
	bench_median(rate, ROUNDS);
	bench_median(printed, ROUNDS);
	of_printf = printed[ROUNDS - 1] / rate[ROUNDS - 1];
	printf("%-34s %u of %d CPUs %6.2f M lines/s (median of %d, %.2f to %.2f), %.2f of printf\n",
	       what, cpus, CPUS_MAX, rate[ROUNDS / 2] / 1e6, ROUNDS, rate[0] / 1e6,
	       rate[ROUNDS - 1] / 1e6, of_printf);
	fflush(stdout);
	if (figure)
		bench_figure(figure, of_printf);
}

int main(void)
{
	static const struct expr_names no_names;
	const struct guestsym_event_list switch_list = {.v = &switch_event, .n = 1};
	struct bench *b = calloc(1, sizeof(*b));

	if (b)
		b->comms = comms_new(COMMS_DEFAULT_NR);
	if (b)
		b->events = event_printer_new(&no_names);
	if (!b || !b->comms || !b->events || event_printer_add(b->events, &switch_list))
		exit(1);
	for (int i = 0; i < SYMBOLS; i++) {
		b->addr[i] = TEXT_START + (uint64_t)i * 256;
		snprintf(b->name[i], sizeof(b->name[i]), "some_function_%d", i);
	}
	for (int i = 0; i < 20; i++)
		comms_note(b->comms, 100 + i, 100, "a-task-name\0\0\0\0");
	measure(b, &calls, "trace", 1, false, OUTPUT_DEFAULT, 1 << 17, NULL);
	measure(b, &calls, "trace", 4, false, OUTPUT_DEFAULT, 1 << 17, "output.calls.trace");
	measure(b, &calls, "trace, reads of 4 KB", 4, false, OUTPUT_DEFAULT, 4096, NULL);
	measure(b, &calls, "trace with offsets and TGID", 4, false,
		OUTPUT_DEFAULT | OUTPUT_SYM_OFFSET | OUTPUT_RECORD_TGID, 1 << 17, NULL);
	measure(b, &calls, "trace_pipe", 1, true, OUTPUT_DEFAULT, 1 << 17, NULL);
	measure(b, &calls, "trace_pipe", 4, true, OUTPUT_DEFAULT, 1 << 17, "output.calls.pipe");
	measure(b, &calls, "trace_pipe, reads of 4 KB", 4, true, OUTPUT_DEFAULT, 4096, NULL);
	measure(b, &leaves, "leaves, trace", 1, false, OUTPUT_DEFAULT, 1 << 17, NULL);
	measure(b, &leaves, "leaves, trace", 4, false, OUTPUT_DEFAULT, 1 << 17,
		"output.leaves.trace");
	measure(b, &leaves, "leaves, trace_pipe", 4, true, OUTPUT_DEFAULT, 1 << 17,
		"output.leaves.pipe");
	measure(b, &leaves, "leaves, trace_pipe, reads of 4 KB", 4, true, OUTPUT_DEFAULT, 4096,
		NULL);
	measure(b, &switches, "sched_switch, trace", 4, false, OUTPUT_DEFAULT, 1 << 17,
		"output.switches.trace");
	measure(b, &switches, "sched_switch, trace_pipe", 4, true, OUTPUT_DEFAULT, 1 << 17,
		"output.switches.pipe");
	measure(b, &switches, "sched_switch, trace_pipe, of 4 KB", 4, true, OUTPUT_DEFAULT, 4096,
		NULL);
	for (int i = 0; i < CPUS_MAX; i++)
		ring_free(b->ring[i]);
	event_printer_free(b->events);
	comms_free(b->comms);
	free(b);
	return 0;
}
