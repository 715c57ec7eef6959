/* SPDX-License-Identifier: GPL-2.0-or-later */
/* image.S - the program of guest/, as the frontend's own data. */
	.section .rodata, "a", @progbits
	.globl	exec_image, exec_image_end
exec_image:
	.incbin	"frontend/exec/init"
exec_image_end:

	.section .note.GNU-stack, "", @progbits
