/* SPDX-License-Identifier: GPL-2.0-or-later */
/* page-parts.S - what frontend/html/build.mjs has made, see page.h. Both are empty where there is no npm. */

.macro part name, file
	.globl	html_page_\name
	.globl	html_page_\name\()_size
	.type	html_page_\name, @object
	.type	html_page_\name\()_size, @object
html_page_\name:
	.incbin	"\file"
.Lend_\name:
	.size	html_page_\name, . - html_page_\name
	.balign	8
html_page_\name\()_size:
	.quad	.Lend_\name - html_page_\name
	.size	html_page_\name\()_size, 8
.endm

	.section .rodata, "a", @progbits
	part	head, "frontend/html/page.head"
	part	tail, "frontend/html/page.tail"

	.section .note.GNU-stack, "", @progbits
