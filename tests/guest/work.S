/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * work.S - functions that count their own calls in the first instruction behind their fentry site.
 *
 * So a test that stops a vCPU can tell from rip alone whether a call has passed the site and not
 * yet counted itself. work_N(slot, x): slot is the offset of the vCPU's counters; returns x rotated
 * left by N + 1 bits plus N, which the caller checks.
 */
#include "guest.h"

	.macro	WORK n
	.balign	16
	.globl	work_\n, work_counted_\n
	.type	work_\n, @function
work_\n:
0:	call	__fentry__
	.pushsection __mcount_loc, "a"
	.quad	0b
	.popsection
	incq	work_count + 8 * \n(%rdi)
work_counted_\n:
	movq	%rsi, %rax
	rolq	$(\n + 1), %rax
	addq	$\n, %rax
	ret
	.size	work_\n, . - work_\n
	.endm

	.text
	WORK	0
	WORK	1
	WORK	2
	WORK	3
	WORK	4
	WORK	5
	WORK	6
	WORK	7

	/*
	 * One site and a counter, round and round: what is at the site makes all the difference
	 * between two measurements. bench_loop() returns when job_stop is set.
	 */
	.balign	16
	.globl	bench_loop, bench_site
	.type	bench_loop, @function
bench_loop:
bench_site:
	.byte	0x0f, 0x1f, 0x44, 0x00, 0x00
	incq	bench_count
	cmpq	$0, job_stop
	je	bench_site
	ret
	.size	bench_loop, . - bench_loop

	.bss
	.balign	64
	.globl	bench_count
	.type	bench_count, @object
bench_count:
	.quad	0
	.size	bench_count, 8
	.balign	64
	.globl	work_count
	.type	work_count, @object
work_count:
	.skip	8 * NR_WORK * MAX_CPUS
	.size	work_count, . - work_count
