/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * branch-stack.h - what a block of instructions makes of its stack pointer, as far as that can be
 * told before it is executed. (Intel SDM vol. 2.)
 */
#ifndef HVTRACE_VMM_CORE_BRANCH_STACK_H
#define HVTRACE_VMM_CORE_BRANCH_STACK_H

#include <capstone/capstone.h>
#include <stdbool.h>
#include <stdint.h>

struct stack_reg {
	bool known;
	uint64_t value;
};

struct branch_stack {
	struct stack_reg rsp, rbp;
};

/* It executes an instruction that is no branch; decoded with CS_OPT_DETAIL. */
void branch_stack_pass(struct branch_stack *s, csh handle, const cs_insn *insn);

#endif
