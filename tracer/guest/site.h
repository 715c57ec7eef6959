/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * site.h - what an fentry site or a return site holds, and reading many of them.
 *
 * An fentry site has two forms, before and after the kernel's ftrace_init(): call __fentry__ and
 * the five-byte NOP (arch/x86/kernel/ftrace.c). A return site jumps to a thunk that makes returns
 * safe on this processor, or has become a plain return and four int3 at boot
 * (arch/x86/kernel/alternative.c: apply_returns()).
 */
#ifndef HVTRACE_TRACER_GUEST_SITE_H
#define HVTRACE_TRACER_GUEST_SITE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tracer/guest/guest.h"

#define SITE_SIZE 5
#define INSN_CALL 0xe8
#define INSN_JMP  0xe9
#define PREFIX_CS 0x2e /* means nothing before a call in 64-bit mode */

extern const uint8_t site_nop[SITE_SIZE];

/* Where the call at va (run-time) goes; 0: it is none. */
uint64_t site_call_target(const uint8_t now[SITE_SIZE], uint64_t va);

void site_call_make(uint8_t insn[SITE_SIZE], uint64_t va, uint64_t target);

#define ENDBR_SIZE 4
/*
 * What allows a function to be the target of an indirect branch (Intel SDM vol. 2, ENDBR64), or
 * what a kernel has put in its place where nothing branches there (gen_endbr_poison() of
 * arch/x86/include/asm/ibt.h, 6.12 and 6.15).
 */
bool site_is_endbr(const uint8_t now[ENDBR_SIZE]);

/* A return site: a jump to the thunk, or a plain return where there is none (0). */
void site_return_make(uint8_t insn[SITE_SIZE], uint64_t va, uint64_t thunk);

/* Module text is mapped page by page: a site on two pages may lie in two places. False: it does. */
bool site_in_one_piece(struct guest_kernel *g, uint64_t va);
bool text_in_one_piece(struct guest_kernel *g, uint64_t va, uint8_t size); /* the same of so much */

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
