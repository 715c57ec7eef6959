/* SPDX-License-Identifier: GPL-2.0-or-later */
/* jobs-world.h - traces for jobs, of a few events told one by one, on two vCPUs. */
#ifndef HVTRACE_TESTS_JOBS_WORLD_H
#define HVTRACE_TESTS_JOBS_WORLD_H

#include "tests/unit/decode-world.h"

#include "frontend/jobs/boot.h"
#include "frontend/jobs/jobs.h"

enum {
	STORY_SWITCH = 320,
	STORY_WAKING = 321,
	STORY_WAKEUP = 322,
	STORY_ENTER = 323,
	STORY_EXIT = 324,
	STORY_OPENAT = 325,
	STORY_OPENAT_DONE = 326,
	STORY_IRQS_OFF = 327,
	STORY_IRQS_ON = 328,
	STORY_LEVEL = 329,
	STORY_START = 330,
	STORY_FINISH = 331,
	STORY_EXEC = 332,
	STORY_CPUS = 2,
	STORY_PAGES = 4, /* of a vCPU */
};

#define STORY_PID_COMM                                                                             \
	"\tfield:char comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"                                 \
	"\tfield:pid_t pid;\toffset:24;\tsize:4;\tsigned:1;\n"                                     \
	"\nprint fmt: \"%d\", REC->pid\n"

#define STORY_SYS_ENTER                                                                            \
	"\tfield:int __syscall_nr;\toffset:8;\tsize:4;\tsigned:1;\n"                               \
	"\tfield:long ret;\toffset:16;\tsize:8;\tsigned:1;\n"                                      \
	"\nprint fmt: \"%d\", REC->__syscall_nr\n"

#define STORY_CALLER                                                                               \
	"\tfield:s32 caller_offs;\toffset:8;\tsize:4;\tsigned:1;\n"                                \
	"\nprint fmt: \"%d\", REC->caller_offs\n"

#define STORY_INITCALL                                                                             \
	"\tfield:unsigned long func;\toffset:8;\tsize:8;\tsigned:0;\n"                             \
	"\tfield:int ret;\toffset:16;\tsize:4;\tsigned:1;\n"                                       \
	"\nprint fmt: \"%ps\", (void *)REC->func\n"

#define STORY_TEXT(field)                                                                          \
	"\tfield:__data_loc char[] " field ";\toffset:8;\tsize:4;\tsigned:0;\n"                    \
	"\nprint fmt: \"%s\", __get_str(" field ")\n"

static const struct dat_format story_formats[] = {
	{"sched",
	 {"name: sched_switch\nID: 320\n" MADE_COMMON
	  "\tfield:char prev_comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"
	  "\tfield:pid_t prev_pid;\toffset:24;\tsize:4;\tsigned:1;\n"
	  "\tfield:int prev_prio;\toffset:28;\tsize:4;\tsigned:1;\n"
	  "\tfield:long prev_state;\toffset:32;\tsize:8;\tsigned:1;\n"
	  "\tfield:char next_comm[16];\toffset:40;\tsize:16;\tsigned:0;\n"
	  "\tfield:pid_t next_pid;\toffset:56;\tsize:4;\tsigned:1;\n"
	  "\tfield:int next_prio;\toffset:60;\tsize:4;\tsigned:1;\n"
	  "\nprint fmt: \"%d\", REC->next_pid\n",
	  0}},
	{"sched", {"name: sched_waking\nID: 321\n" MADE_COMMON STORY_PID_COMM, 0}},
	{"sched", {"name: sched_wakeup\nID: 322\n" MADE_COMMON STORY_PID_COMM, 0}},
	{"raw_syscalls",
	 {"name: sys_enter\nID: 323\n" MADE_COMMON
	  "\tfield:long id;\toffset:8;\tsize:8;\tsigned:1;\n"
	  "\nprint fmt: \"%ld\", REC->id\n",
	  0}},
	{"raw_syscalls",
	 {"name: sys_exit\nID: 324\n" MADE_COMMON
	  "\tfield:long id;\toffset:8;\tsize:8;\tsigned:1;\n"
	  "\tfield:long ret;\toffset:16;\tsize:8;\tsigned:1;\n"
	  "\nprint fmt: \"%ld\", REC->ret\n",
	  0}},
	{"syscalls", {"name: sys_enter_openat\nID: 325\n" MADE_COMMON STORY_SYS_ENTER, 0}},
	{"syscalls", {"name: sys_exit_openat\nID: 326\n" MADE_COMMON STORY_SYS_ENTER, 0}},
	{"preemptirq", {"name: irq_disable\nID: 327\n" MADE_COMMON STORY_CALLER, 0}},
	{"preemptirq", {"name: irq_enable\nID: 328\n" MADE_COMMON STORY_CALLER, 0}},
	{"initcall", {"name: initcall_level\nID: 329\n" MADE_COMMON STORY_TEXT("level"), 0}},
	{"initcall", {"name: initcall_start\nID: 330\n" MADE_COMMON STORY_INITCALL, 0}},
	{"initcall", {"name: initcall_finish\nID: 331\n" MADE_COMMON STORY_INITCALL, 0}},
	{"sched", {"name: sched_process_exec\nID: 332\n" MADE_COMMON STORY_TEXT("filename"), 0}},
	{NULL, {NULL, 0}},
};

/* Any of them: what follows the common fields. */
struct story_record {
	uint16_t type;
	uint8_t flags, preempt_count;
	int32_t pid;
	union {
		struct {
			char prev_comm[16];
			int32_t prev_pid, prev_prio;
			int64_t prev_state;
			char next_comm[16];
			int32_t next_pid, next_prio;
		} sw;
		struct {
			char comm[16];
			int32_t pid;
		} woken;
		struct {
			int64_t id, ret;
		} call;
		struct {
			uint64_t func;
			int32_t ret;
		} init;
		struct {
			uint32_t where;
			char text[28];
		} text;
		struct {
			int32_t size, unused;
			uint64_t caller[4];
		} stack;
		int32_t offs;
	};
};

struct story {
	struct made_page page[STORY_CPUS][STORY_PAGES];
	size_t nr[STORY_CPUS];
	uint64_t lost[STORY_CPUS][STORY_PAGES]; /* before each page */
	uint8_t bytes[STORY_CPUS][STORY_PAGES * RING_PAGE_SIZE];
	struct dat_format formats[24];
};

/* A new page, before which so many records were lost. */
static inline void story_page(struct story *s, unsigned int cpu, uint64_t at, uint64_t lost)
{
	assert_true(s->nr[cpu] < STORY_PAGES);
	s->lost[cpu][s->nr[cpu]] = lost;
	made_page_begin(&s->page[cpu][s->nr[cpu]++], MADE_T0 + at);
}

static inline void story_event(struct story *s, unsigned int cpu, uint64_t at,
			       const struct story_record *r)
{
	if (!s->nr[cpu])
		story_page(s, cpu, at, 0);
	made_page_event(&s->page[cpu][s->nr[cpu] - 1], MADE_T0 + at, r, sizeof(*r));
}

static inline void story_name(char comm[16], int32_t pid)
{
	snprintf(comm, 16, pid ? "task%d" : "swapper", pid);
}

/* The state is that of the task that leaves: 0 for one that could go on. */
static inline void story_switch(struct story *s, unsigned int cpu, uint64_t at, int32_t prev,
				int64_t state, int32_t next)
{
	struct story_record r = {
		.type = STORY_SWITCH,
		.pid = prev,
		.sw = {.prev_pid = prev, .prev_state = state, .next_pid = next, .next_prio = 120},
	};

	story_name(r.sw.prev_comm, prev);
	story_name(r.sw.next_comm, next);
	story_event(s, cpu, at, &r);
}

static inline void story_woken(struct story *s, unsigned int cpu, uint64_t at, uint16_t type,
			       int32_t pid)
{
	struct story_record r = {.type = type, .woken = {.pid = pid}};

	story_name(r.woken.comm, pid);
	story_event(s, cpu, at, &r);
}

static inline void story_stack(struct story *s, unsigned int cpu, uint64_t at, int32_t pid,
			       unsigned int inner, unsigned int outer)
{
	const struct story_record r = {
		.type = MADE_STACK,
		.pid = pid,
		.stack = {.size = 2, .caller = {MADE_FUNC(inner), MADE_FUNC(outer), UINT64_MAX}},
	};

	story_event(s, cpu, at, &r);
}

static inline void story_call(struct story *s, uint64_t at, uint16_t type, int32_t pid, int64_t nr,
			      int64_t ret)
{
	struct story_record r = {.type = type, .pid = pid, .call = {nr, ret}};

	/* Those of a call alone have its number in 32 bits. */
	story_event(s, 0, at, &r);
}

static inline void story_init(struct story *s, uint64_t at, uint16_t type, unsigned int function,
			      int32_t ret)
{
	const struct story_record r = {.type = type, .pid = 1, .init = {MADE_FUNC(function), ret}};

	story_event(s, 0, at, &r);
}

static inline void story_text(struct story *s, uint64_t at, uint16_t type, int32_t pid,
			      const char *text)
{
	struct story_record r = {.type = type, .pid = pid};

	r.text.where = (uint32_t)(strlen(text) + 1) << 16 | 12;
	snprintf(r.text.text, sizeof(r.text.text), "%s", text);
	story_event(s, 0, at, &r);
}

static inline struct dat *story_open(struct story *s)
{
	struct made_vcpu vcpus[STORY_CPUS];
	const struct made_buffer buffers[] = {{"", "global", vcpus, STORY_CPUS},
					      {NULL, NULL, NULL, 0}};
	struct made_dat_spec spec = {.version = 7, .compression = "none"};
	size_t nr = 0;

	made_trace_spec(&spec);
	for (const struct dat_format *f = made_trace_formats; f->text.text; f++)
		if (!strcmp(f->system, "ftrace"))
			s->formats[nr++] = *f;
	for (const struct dat_format *f = story_formats; f->text.text; f++)
		s->formats[nr++] = *f;
	for (unsigned int cpu = 0; cpu < STORY_CPUS; cpu++) {
		for (size_t i = 0; i < s->nr[cpu]; i++) {
			made_page_end(&s->page[cpu][i], s->lost[cpu][i]);
			memcpy(s->bytes[cpu] + i * RING_PAGE_SIZE, s->page[cpu][i].bytes,
			       RING_PAGE_SIZE);
		}
		vcpus[cpu] = (struct made_vcpu){cpu, s->bytes[cpu], s->nr[cpu] * RING_PAGE_SIZE};
	}
	spec.formats = s->formats;
	spec.buffers = buffers;
	spec.cpus = STORY_CPUS;
	return made_open(&spec);
}

/* What a job makes of it; job_result_free(). */
static inline struct job_result story_read(struct story *s, const struct job *job,
					   const struct job_config *cfg)
{
	struct decode_world w = decode_world_of(story_open(s));
	const struct job_input in = {w.d, w.f, w.r};
	struct job_result r;

	assert_int_equal(job_read(job, &in, cfg, &r), 0);
	decode_world_end(&w);
	return r;
}

/* The row of that name; it is there. */
static inline const struct latency_row *story_row(const struct job_result *r, const char *from,
						  const char *to)
{
	for (size_t i = 0; i < r->report.nr; i++)
		if (!strcmp(r->report.row[i].from, from) && !strcmp(r->report.row[i].to, to))
			return &r->report.row[i];
	fail_msg("no row %s %s", from, to);
	return NULL;
}

#endif
