/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * boot.h - how a kernel boots: its initcalls, by the levels in which they come, and what comes
 * before and behind them. Read by job_read() with job_boot, whose report has the functions that
 * function_graph has recorded.
 */
#ifndef HVTRACE_FRONTEND_JOBS_BOOT_H
#define HVTRACE_FRONTEND_JOBS_BOOT_H

#include "frontend/jobs/jobs.h"

#define BOOT_LEVELS_MAX 32
#define BOOT_CALLS_MAX	(1U << 16)

/* The function in which task 1 goes from the kernel to its first program. */
#define BOOT_FIRST_PROGRAM "run_init_process"

extern const struct job job_boot;

struct boot_level {
	char name[16];	   /* "early" */
	uint64_t from, to; /* ns */
	uint32_t calls;
};

struct boot_call {
	char name[64]; /* of the function */
	uint8_t level; /* of the levels */
	bool ended;    /* else it had not, by the end of the trace */
	int32_t pid;
	unsigned int cpu;
	uint64_t from, to;
	int64_t ret;
};

struct boot {
	struct boot_level level[BOOT_LEVELS_MAX];
	size_t nr_levels;
	struct boot_call *call; /* in the order of their beginnings */
	size_t nr_calls;
	uint64_t until;	  /* the last event */
	uint64_t user;	  /* when the first program began; 0: not in the trace */
	char program[64]; /* its name; "": not known */
};

enum boot_sort { BOOT_TOOK, BOOT_FROM };

struct boot_view {
	size_t rows; /* so many initcalls: the slowest */
	enum boot_sort sort;
	const char *title;
};

/* What came one after another: "before initcalls", levels, the way to the first program. */
struct boot_phase {
	const char *name;
	uint64_t from, to;
	uint32_t calls;
	int level; /* -1: it is none */
};

#define BOOT_PHASES_MAX (BOOT_LEVELS_MAX + 2)
size_t boot_phases(const struct boot *b, struct boot_phase phase[BOOT_PHASES_MAX]);
/* The slowest, in the order that view asks for; how many. idx[] has room for view->rows. */
size_t boot_slowest(const struct boot *b, const struct boot_view *view, uint32_t *idx);
/* NULL is allowed. */
void boot_free(struct boot *b);

void boot_render_text(const struct boot *b, const struct boot_view *view, struct text *out);
void boot_render_svg(const struct boot *b, const struct boot_view *view, struct text *out);
void boot_json(const struct boot *b, const struct boot_view *view, FILE *out);

#endif
