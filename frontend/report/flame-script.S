/* SPDX-License-Identifier: GPL-2.0-or-later */
/* flame-script.S - flame.js, as a text that ends with 0. */

	.section .rodata, "a", @progbits
	.globl	flame_script
	.type	flame_script, @object
flame_script:
	.incbin	"frontend/report/flame.js"
	.byte	0
	.size	flame_script, . - flame_script

	.section .note.GNU-stack, "", @progbits
