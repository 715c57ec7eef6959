/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * likely.h - what a kernel keeps of each likely() and unlikely() that it is built to count
 * (CONFIG_TRACE_BRANCH_PROFILING): a struct ftrace_likely_data, whose address is what it tells
 * ftrace_likely_update() (include/linux/compiler.h, kernel/trace/trace_branch.c, 6.1 and 6.12).
 */
#ifndef HVTRACE_TRACER_GUEST_LIKELY_H
#define HVTRACE_TRACER_GUEST_LIKELY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tracer/guest/guest.h"

/* Where its members are (include/linux/compiler_types.h). */
struct likely_layout {
	uint32_t size, func, file, line, correct, incorrect, constant;
};

struct likely {
	uint64_t func, file; /* addresses of their names */
	uint64_t correct, incorrect, constant;
	int32_t line;
};

#define LIKELY_NAME_MAX 512

/* False: this kernel keeps nothing, or its types do not tell where. */
bool likely_layout_learn(const struct guestsym *gs, struct likely_layout *at);
/* Those of the kernel itself, no module's: the run-time address of the first one, and their number.
 */
size_t likely_table(const struct guest_kernel *g, const struct guestsym *gs,
		    const struct likely_layout *at, uint64_t *first);
/* n of them from that address on. 0, -EFAULT or -ENOMEM. */
int likely_read(struct guest_kernel *g, const struct likely_layout *at, uint64_t va,
		struct likely *to, size_t n);
/* A name, or as much of it as there is in memory and room here; a file's without its folders. */
void likely_func_name(struct guest_kernel *g, const struct likely *l, char name[LIKELY_NAME_MAX]);
void likely_file_name(struct guest_kernel *g, const struct likely *l, char name[LIKELY_NAME_MAX]);

#endif
