/* SPDX-License-Identifier: GPL-2.0-or-later */
/* layout.h - which register has which number and place in a stub's answers. */
#ifndef HVTRACE_VMM_QEMU_GDB_LAYOUT_H
#define HVTRACE_VMM_QEMU_GDB_LAYOUT_H

#include <stddef.h>
#include <stdint.h>

/* In the order of gdb_reg_names[] in layout.c. */
enum gdb_reg {
	GDB_RAX,
	GDB_RBX,
	GDB_RCX,
	GDB_RDX,
	GDB_RSI,
	GDB_RDI,
	GDB_RBP,
	GDB_RSP,
	GDB_R8,
	GDB_R9,
	GDB_R10,
	GDB_R11,
	GDB_R12,
	GDB_R13,
	GDB_R14,
	GDB_R15,
	GDB_RIP,
	GDB_EFLAGS,
	GDB_CS,
	GDB_SS,
	GDB_FS_BASE,
	GDB_GS_BASE,
	GDB_K_GS_BASE,
	GDB_CR0,
	GDB_CR2,
	GDB_CR3,
	GDB_CR4,
	GDB_EFER,
	GDB_NR_REGS
};

struct gdb_layout {
	size_t bytes; /* of all registers together, those that have no name here too */
	uint32_t next;
	struct {
		uint32_t number;
		uint32_t offset; /* in the answer to `g` */
		uint8_t size;	 /* in bytes; 0: the stub does not have it */
	} reg[GDB_NR_REGS];
};

/*
 * Add the registers of a target description (XML) to the layout, in their order. The XML is not
 * trusted. -EPROTO when it makes no sense.
 */
int gdb_layout_add(struct gdb_layout *layout, const char *xml);

/*
 * The name of the n-th document that this one includes: 1 and its name in href, 0 when there is
 * none, -EPROTO.
 */
int gdb_layout_include(const char *xml, unsigned int n, char *href, size_t room);

/* 0 when every register is there in a size that makes sense, else -EPROTO and its name in *name. */
int gdb_layout_check(const struct gdb_layout *layout, const char **name);

#endif
