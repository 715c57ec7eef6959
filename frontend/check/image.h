/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * image.h - programs that checks run in guests, as the frontend's own data: ELF images that the
 * assembler makes whole, so that nothing is to be built or found apart from hvtrace.
 */
#ifndef HVTRACE_FRONTEND_CHECK_IMAGE_H
#define HVTRACE_FRONTEND_CHECK_IMAGE_H

#define BARE_BASE   0x1000000 /* image-bare.S: its physical address */
#define BARE_ROUNDS 300	      /* how often it comes by each of its sites */
#define BARE_SITE   5	      /* bytes of a site, but for: */
#define BARE_ONCE   6
#define BARE_PORT   0x64 /* it ends by a reset: command 0xfe of the keyboard controller */
#define BARE_RESET  0xfe

#define INIT_BASE 0x400000 /* image-init.S */
#define INIT_SAYS "hvtrace-check: "

#ifdef __ASSEMBLER__

/*
 * The ELF header of an image at `base` of one segment, from here up to `end`, with `room` bytes of
 * zeros behind it; `entry` is in it (System V ABI, chapters 4 and 5).
 */
.macro	elf_image start, base, entry, end, room, flags
	.balign	4096
\start:	.byte	0x7f, 'E', 'L', 'F', 2, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0
	.short	2, 62			/* ET_EXEC, EM_X86_64 */
	.long	1
	.quad	\base + (\entry - \start)
	.quad	64, 0			/* program headers; no sections */
	.long	0
	.short	64, 56, 1, 0, 0, 0
	.long	1, \flags		/* PT_LOAD */
	.quad	0, \base, \base
	.quad	\end - \start, \end - \start + \room, 4096
	.endm

#else

#include <stddef.h>
#include <stdint.h>

extern const uint8_t bare_image[], bare_image_end[];
extern const uint8_t init_image[], init_image_end[];
/* Places in the bare image. */
extern const uint8_t bare_out[], bare_int3[], bare_return[], bare_once[];
extern const uint8_t bare_count[];  /* uint32_t: how often bare_once was executed */
extern const uint8_t bare_window[]; /* uint64_t: physical address to look at; 0: none */
extern const uint8_t bare_flaws[];  /* uint32_t: registers that had changed behind a site */

#endif
#endif
