/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * funcs.h - the functions that can be named in a filter, in the order of
 * available_filter_functions: the kernel's by address, then those of modules as they were loaded.
 *
 * A list does not change once it is made. When modules come or go there is a new one, and who
 * works with the old one holds on to it as long as need be. Functions are known by their index.
 */
#ifndef HVTRACE_TRACER_FILTER_FUNCS_H
#define HVTRACE_TRACER_FILTER_FUNCS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tracer/lib/text.h"

#define FUNC_NONE UINT32_MAX

struct func {
	uint64_t addr;
	const char *name;
	const char *module; /* NULL: of the kernel itself */
	/*
	 * The address is of no function that is there (a weak one that was replaced): listed, as
	 * "__ftrace_invalid_address___16", and counted, but no glob matches it.
	 */
	bool invalid;
};

struct funcs {
	const struct func *v;
	uint32_t nr;
};

/* A list of nr functions, which are copied. NULL: no memory, or too many. */
struct funcs *funcs_new(const struct func *v, size_t nr);
struct funcs *funcs_get(struct funcs *fs);
void funcs_put(struct funcs *fs); /* NULL is allowed */

/* The function whose address that is, or FUNC_NONE. */
uint32_t funcs_at(const struct funcs *fs, uint64_t addr);
/* The same function in another list, or FUNC_NONE. */
uint32_t funcs_same(const struct funcs *fs, uint32_t func, const struct funcs *in);
/* Some function of that module is listed. */
bool funcs_have_module(const struct funcs *fs, const char *module);

/* As it is listed, without a line end: "name" or "name [module]". */
void func_print(const struct func *f, struct text *out);
/* available_filter_functions, or available_filter_functions_addrs. */
void funcs_print(const struct funcs *fs, bool addrs, struct text *out);

#endif
