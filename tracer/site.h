/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * site.h - what an fentry site holds, and reading many of them.
 *
 * A site has two forms, before and after the kernel's ftrace_init(): call __fentry__ and the
 * five-byte NOP (arch/x86/kernel/ftrace.c).
 */
#ifndef HVTRACE_TRACER_SITE_H
#define HVTRACE_TRACER_SITE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tracer/guest.h"

#define SITE_SIZE 5
#define INSN_CALL 0xe8

extern const uint8_t site_nop[SITE_SIZE];

/* Where the call at va (run-time) goes; 0: it is none. */
uint64_t site_call_target(const uint8_t now[SITE_SIZE], uint64_t va);

void site_call_make(uint8_t insn[SITE_SIZE], uint64_t va, uint64_t target);

/* Guest text read in large pieces: for sites in the order of their addresses. */
struct text_view {
	struct guest_kernel *g;
	uint64_t va;
	size_t len;
	uint8_t bytes[65536];
};

void text_view_init(struct text_view *v, struct guest_kernel *g);
/* 0 or -EFAULT. */
int text_view_get(struct text_view *v, uint64_t va, void *buf, size_t len);

#endif
