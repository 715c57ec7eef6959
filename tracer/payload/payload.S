/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * payload.S - the code that probes call in the guest: its frame, and what its parts have in common;
 * they are included at the end. It is data here: patch.c copies it and fills in what depends on the
 * kernel and the window.
 *
 * The entries are called by a 5-byte site: (%rsp) is the site's end, 8(%rsp) the function's return
 * address. Those at a function's start change %rax, %r10, %r11 and the arithmetic flags, none of
 * which means anything at the start of a C function (psABI x86-64, 3.2.3: %al tells the number of
 * vector registers, which the kernel does not pass arguments in), and nothing else. Those in a
 * return's place return from the function as well; what they change is said there.
 *
 * What is between the raise of preempt_count and its return cannot be left by a task: so the
 * vCPU stays the same, and a host that finds no task preempted in here outside payload_edges[] and
 * no vCPU inside may take the code away. Interrupts and NMIs may come at any instruction, and the
 * functions that they call come in here too.
 *
 * Where kernel code is translated (QEMU's TCG), a memory access costs as much as some ten other
 * instructions and a branch not much less. Hence: what can be loaded or stored together is, one
 * compare finds everything unusual, and what is unusual lies behind the common path. Before each
 * memory access all registers that have changed are written back, and so is what the flags follow
 * from: two words, one after `and` or `or`. So arithmetic stands together, ends with one of these,
 * and lea, mov and not are preferred, which change no flags; it has 64 bits, for 32 have to be cut
 * off once more.
 */
#include "tracer/payload/code.h"
#include "tracer/payload/payload.h"

/* A place for an immediate that the assembler does not make shorter. */
#define IMM32 0x10000000

#define RFLAGS_IF_SHIFT 9
#define RFLAGS_IF	(1 << RFLAGS_IF_SHIFT)

	.section .note.GNU-stack, "", @progbits
	.section .rodata.payload, "a", @progbits

/* The operand that ends `back` bytes before here, and is `width` bytes long, is to be filled in. */
	.macro	at kind, width=4, back=0
.Lpatch\@:
	.pushsection .rodata.payload_patches, "a"
	.long	.Lpatch\@ - payload_code - \back - \width, \kind
	.popsection
	.endm

/* From the label on the code is for kernels with this member. */
	.macro	only_with kind, from
.Lonly\@:
	.pushsection .rodata.payload_optional, "a"
	.long	\from - payload_code, .Lonly\@ - payload_code, \kind
	.popsection
	.endm

/* From the label to here nothing has been done yet, or all is done and a return is left: EDGE_. */
	.macro	edge from, how=EDGE_RETURN
.Ledge\@:
	.pushsection .rodata.payload_edges, "a"
	.long	\from - payload_code, .Ledge\@ - payload_code, \how
	.popsection
	.endm

/*
 * From here on so many `words` lie on the stack in front of the address that is returned to, of the
 * site or of what is called in here. push and pop say so themselves; what else changes the stack has
 * to, and what is come to by a jump from where there were more or fewer.
 */
	.set	pushed, 0
	.set	site, FRAME_OTHER
	.macro	holds words:vararg
	.set	pushed, \words
.Lholds\@:
	.pushsection .rodata.payload_frames, "a"
	.long	.Lholds\@ - payload_code, pushed | site
	.popsection
	.endm

/* Nothing does, and what calls from here on is a site of this kind: FRAME_. */
	.macro	site_of kind
	.set	site, \kind
	holds	0
	.endm

	.macro	push what:vararg
	pushq	\what
	holds	pushed + 1
	.endm

	.macro	pop what:vararg
	popq	\what
	holds	pushed - 1
	.endm

	.macro	pushf
	pushfq
	holds	pushed + 1
	.endm

	.macro	popf
	popfq
	holds	pushed - 1
	.endm

/* A jump to a function of the kernel's. */
	.macro	kernel_jump kind
	.skip	5, 0xcc
	at	\kind, 5
	.endm

	.macro	label name, table
	.pushsection .rodata.\table, "a"
	.balign	4
	.globl	\name
\name:
	.popsection
	.endm

	label	payload_patches, payload_patches
	label	payload_optional, payload_optional
	label	payload_edges, payload_edges
	label	payload_frames, payload_frames

/* A function that the kernel calls by address: patch.c puts its type in front of it. */
	.macro	called_by_address name
	.skip	TYPE_SIZE, 0xcc
	.globl	\name
\name:
	holds	0
	endbr64
	.endm

/* TSC into %rax; changes %rdx. */
	.macro	read_tsc
	rdtsc
	shl	$32, %rdx
	or	%rdx, %rax
	.endm

	.balign	64
	.globl	payload_code
payload_code:

/* --- the calls of functions, and their returns ------------------------------------------------ */

#include "tracer/payload/function.S"
#include "tracer/payload/exit.S"

/* --- calls to the host ----------------------------------------------------------------------- */

#include "tracer/payload/call.S"
#include "tracer/payload/depth.S"

	site_of	FRAME_OTHER

/* --- copies of stacks ------------------------------------------------------------------------ */

#include "tracer/payload/copy.S"

/* --- interrupts off -------------------------------------------------------------------------- */

#include "tracer/payload/flags.S"

/* --- preemption off -------------------------------------------------------------------------- */

#include "tracer/payload/preempt.S"

/* --- trace events ---------------------------------------------------------------------------- */

#include "tracer/payload/event.S"
#include "tracer/payload/print.S"
#include "tracer/payload/switch.S"
#include "tracer/payload/branch.S"

/* --- work ------------------------------------------------------------------------------------ */

#include "tracer/payload/work.S"

/* --- probes of the guest's kernel ------------------------------------------------------------ */

#include "tracer/payload/kprobe.S"

	.globl	payload_code_end
payload_code_end:

	label	payload_patches_end, payload_patches
	label	payload_optional_end, payload_optional
	label	payload_edges_end, payload_edges
	label	payload_frames_end, payload_frames
