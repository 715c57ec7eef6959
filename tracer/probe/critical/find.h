/* SPDX-License-Identifier: GPL-2.0-or-later */
/* find.h - finds what looks like a given form in the text that the guest runs. */
#ifndef HVTRACE_TRACER_PROBE_CRITICAL_FIND_H
#define HVTRACE_TRACER_PROBE_CRITICAL_FIND_H

#include "tracer/core/trace.h"
#include "tracer/guest/within.h"
#include "tracer/payload/payload.h"

/* Link addresses, in their order. */
struct flag_list {
	uint64_t *v;
	size_t nr, room;
};

int flag_list_add(struct flag_list *l, uint64_t va); /* 0 or -ENOMEM */

/*
 * Add the instructions of this function that have the form; only instructions, not bytes that look
 * so. 0 or -ENOMEM; text that cannot be read has none.
 */
int flag_find_in(struct trace *t, const char *function, const struct payload_form *form,
		 struct flag_list *l);
/*
 * The same of all functions of the kernel (modules: of this module), for a form that few other
 * bytes look like.
 */
int flag_find_all(struct trace *t, const struct payload_form *form, struct flag_list *l);
int flag_find_module(struct trace *t, const struct guestsym_module *mod,
		     const struct payload_form *form, struct flag_list *l);

/* The function of the kernel's that this address is in: run-time both. False: in none. */
bool flag_function_at(const struct trace *t, uint64_t va, struct text_range *func);

#endif
