/* SPDX-License-Identifier: GPL-2.0-or-later */
/* schema.S - schema.sql, as a text that ends with 0. */

	.section .rodata, "a", @progbits
	.globl	ship_schema
	.type	ship_schema, @object
ship_schema:
	.incbin	"scripts/clickhouse/schema.sql"
	.byte	0
	.size	ship_schema, . - ship_schema

	.section .note.GNU-stack, "", @progbits
