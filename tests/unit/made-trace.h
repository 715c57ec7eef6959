/* SPDX-License-Identifier: GPL-2.0-or-later */
/* made-trace.h - a small trace for tests: two buffers, two vCPUs, some events of each kind. */
#ifndef HVTRACE_TESTS_MADE_TRACE_H
#define HVTRACE_TESTS_MADE_TRACE_H

#include "tests/unit/made-dat.h"

#define MADE_COMMON                                                                                \
	"format:\n"                                                                                \
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"                     \
	"\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"                     \
	"\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"             \
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"

enum {
	MADE_FUNCTION = 1,
	MADE_STACK = 4,
	MADE_PRINT = 5,
	MADE_EXIT = 10,
	MADE_ENTRY = 11,
	MADE_SWITCH = 300,
	MADE_IRQ = 301,
};

static const struct dat_format made_trace_formats[] = {
	{"ftrace",
	 {"name: function\nID: 1\n" MADE_COMMON
	  "\tfield:unsigned long ip;\toffset:8;\tsize:8;\tsigned:0;\n"
	  "\tfield:unsigned long parent_ip;\toffset:16;\tsize:8;\tsigned:0;\n"
	  "\nprint fmt: \" %ps <-- %ps\", (void *)REC->ip, (void *)REC->parent_ip\n",
	  0}},
	{"ftrace",
	 {"name: kernel_stack\nID: 4\n" MADE_COMMON
	  "\tfield:int size;\toffset:8;\tsize:4;\tsigned:1;\n"
	  "\tfield:unsigned long caller[8];\toffset:16;\tsize:64;\tsigned:0;\n"
	  "\nprint fmt: \"\\t=> %ps\\n\", (void *)REC->caller[0]\n",
	  0}},
	{"ftrace",
	 {"name: print\nID: 5\n" MADE_COMMON
	  "\tfield:unsigned long ip;\toffset:8;\tsize:8;\tsigned:0;\n"
	  "\tfield:char buf[];\toffset:16;\tsize:0;\tsigned:1;\n"
	  "\nprint fmt: \"%ps: %s\", (void *)REC->ip, REC->buf\n",
	  0}},
	{"ftrace",
	 {"name: funcgraph_exit\nID: 10\n" MADE_COMMON
	  "\tfield:unsigned long func;\toffset:8;\tsize:8;\tsigned:0;\n"
	  "\tfield:int depth;\toffset:16;\tsize:4;\tsigned:1;\n"
	  "\tfield:unsigned int overrun;\toffset:20;\tsize:4;\tsigned:0;\n"
	  "\tfield:unsigned long long calltime;\toffset:24;\tsize:8;\tsigned:0;\n"
	  "\tfield:unsigned long long rettime;\toffset:32;\tsize:8;\tsigned:0;\n"
	  "\nprint fmt: \"<-- %ps\", (void *)REC->func\n",
	  0}},
	{"ftrace",
	 {"name: funcgraph_entry\nID: 11\n" MADE_COMMON
	  "\tfield:unsigned long func;\toffset:8;\tsize:8;\tsigned:0;\n"
	  "\tfield:int depth;\toffset:16;\tsize:4;\tsigned:1;\n"
	  "\nprint fmt: \"--> %ps\", (void *)REC->func\n",
	  0}},
	{"sched",
	 {"name: sched_switch\nID: 300\n" MADE_COMMON
	  "\tfield:char prev_comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"
	  "\tfield:pid_t prev_pid;\toffset:24;\tsize:4;\tsigned:1;\n"
	  "\tfield:pid_t next_pid;\toffset:28;\tsize:4;\tsigned:1;\n"
	  "\nprint fmt: \"prev_comm=%s prev_pid=%d ==> next_pid=%d\", REC->prev_comm, REC->prev_pid, "
	  "REC->next_pid\n",
	  0}},
	{"irq",
	 {"name: irq_handler_entry\nID: 301\n" MADE_COMMON
	  "\tfield:int irq;\toffset:8;\tsize:4;\tsigned:1;\n"
	  "\tfield:__data_loc char[] name;\toffset:12;\tsize:4;\tsigned:0;\n"
	  "\nprint fmt: \"irq=%d name=%s\", REC->irq, __get_str(name)\n",
	  0}},
	{NULL, {NULL, 0}},
};

static const char made_trace_kallsyms[] = "0000000000001000 A __per_cpu_start\n"
					  "ffffffff81000000 T _stext\n"
					  "ffffffff81000100 T vfs_read\n"
					  "ffffffff81000200 T vfs_write\n"
					  "ffffffff81000300 T vfs_open\n"
					  "ffffffff81000400 t do_open\n"
					  "ffffffff81000500 T __schedule\n"
					  "ffffffffc0000000 t ext4_open\t[ext4]\n"
					  "ffffffffc0000100 t ext4_end\t[ext4]\n";

#define MADE_FUNC(n) (UINT64_C(0xffffffff81000000) + (n)*0x100)

struct made_record {
	uint16_t type;
	uint8_t flags, preempt_count;
	int32_t pid;
	union {
		struct {
			uint64_t func;
			int32_t depth, overrun;
			uint64_t calltime, rettime;
		} graph;
		struct {
			uint64_t ip, parent_ip;
		} function;
		struct {
			int32_t size, unused;
			uint64_t caller[4];
		} stack;
		struct {
			uint64_t ip;
			char buf[16];
		} print;
		struct {
			char prev_comm[16];
			int32_t prev_pid, next_pid;
		} sw;
		struct {
			int32_t irq;
			uint32_t where;
			char name[8];
		} irq;
	};
};

#define MADE_T0 UINT64_C(1000000000)

static inline void made_trace_call(struct made_page *p, uint64_t at, int32_t pid, uint64_t func,
				   int32_t depth)
{
	const struct made_record r = {
		.type = MADE_ENTRY, .pid = pid, .graph = {.func = func, .depth = depth}};

	made_page_event(p, MADE_T0 + at, &r, 24);
}

static inline void made_trace_return(struct made_page *p, uint64_t at, int32_t pid, uint64_t func,
				     int32_t depth, uint64_t took)
{
	const struct made_record r = {
		.type = MADE_EXIT,
		.pid = pid,
		.graph = {.func = func,
			  .depth = depth,
			  .calltime = MADE_T0 + at - took,
			  .rettime = MADE_T0 + at},
	};

	made_page_event(p, MADE_T0 + at, &r, 40);
}

static inline void made_trace_top0(struct made_page *p)
{
	const struct made_record f = {
		.type = MADE_FUNCTION,
		.pid = 1,
		.function = {MADE_FUNC(1) + 4, UINT64_C(0xffffffffc0000010)},
	};

	made_page_begin(p, MADE_T0);
	made_page_event(p, MADE_T0, &f, 24);
	made_trace_call(p, 1000, 1, MADE_FUNC(2), 0); /* calls nothing: one line */
	made_trace_return(p, 1540, 1, MADE_FUNC(2), 0, 540);
	made_trace_call(p, 2000, 1, MADE_FUNC(3), 0);
	made_trace_call(p, 2100, 1, MADE_FUNC(4), 1); /* what another vCPU has is in between */
	made_trace_return(p, 152300, 1, MADE_FUNC(4), 1, 150200);
	made_trace_return(p, 152400, 1, MADE_FUNC(3), 0, UINT64_C(1234567890123));
	made_page_end(p, 0);
}

static inline void made_trace_top1(struct made_page *p)
{
	const struct made_record sw = {
		.type = MADE_SWITCH,
		.flags = 1,
		.preempt_count = 2,
		.pid = 2,
		.sw = {"kthreadd", 2, 33},
	};
	const struct made_record stack = {
		.type = MADE_STACK,
		.pid = 2,
		.stack = {.size = 3,
			  .caller = {MADE_FUNC(5) + 0x20, 0x123, UINT64_C(0xffffffffc0000004),
				     UINT64_MAX}},
	};

	made_page_begin(p, MADE_T0 + 2200);
	made_page_event(p, MADE_T0 + 2200, &sw, 32);
	made_page_event(p, MADE_T0 + 2300, &stack, 48);
	made_page_end(p, 7);
}

static inline void made_trace_one1(struct made_page *p)
{
	const struct made_record irq = {
		.type = MADE_IRQ,
		.pid = 33,
		.irq = {14, 6 << 16 | 16, "timer"},
	};
	const struct made_record print = {
		.type = MADE_PRINT,
		.pid = 44,
		.print = {MADE_FUNC(5), "hello \"\x01\xc3\xa4\xff\n"},
	};
	uint64_t commit;

	made_page_begin(p, MADE_T0 + 500);
	made_page_event(p, MADE_T0 + 500, &irq, 24);
	made_page_event(p, MADE_T0 + 200000, &print, 32);
	made_page_end(p, 0);
	memcpy(&commit, p->bytes + 8, sizeof(commit));
	commit |= RING_MISSED_EVENTS; /* it is not known how many */
	memcpy(p->bytes + 8, &commit, sizeof(commit));
}

/* The whole of it, of the version and compression that s has. */
static inline void made_trace_spec(struct made_dat_spec *s)
{
	static const struct made_option options[] = {
		{DAT_OPTION_CPUSTAT, "CPU: 0\nentries: 0\n", 19},
		{DAT_OPTION_CPUSTAT, "CPU: 1\nentries: 5\n", 19},
		{0, NULL, 0},
	};
	static struct made_page pages[3];
	static const struct made_vcpu top[] = {{0, pages[0].bytes, RING_PAGE_SIZE},
					       {1, pages[1].bytes, RING_PAGE_SIZE}};
	static const struct made_vcpu one[] = {{0, pages[2].bytes, 0},
					       {1, pages[2].bytes, RING_PAGE_SIZE}};
	static const struct made_buffer buffers[] = {
		{"", "global", top, 2},
		{"one", "global", one, 2},
		{NULL, NULL, NULL, 0},
	};

	made_trace_top0(&pages[0]);
	made_trace_top1(&pages[1]);
	made_trace_one1(&pages[2]);
	s->cpus = 2;
	s->kallsyms = made_trace_kallsyms;
	s->cmdlines = "1 init\n2 kthreadd\n33 kworker/0:1 H\n";
	s->formats = made_trace_formats;
	s->options = options;
	s->buffers = buffers;
}

static inline struct dat *made_trace(void)
{
	struct made_dat_spec s = {.version = 7, .compression = "zstd"};

	made_trace_spec(&s);
	return made_open(&s);
}

#endif
