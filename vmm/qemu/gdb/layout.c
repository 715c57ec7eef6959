// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * layout.c - reads the register layout out of a target description.
 *
 * Of the XML (gdb manual, appendix "Target Descriptions") only the elements reg and xi:include
 * matter: registers are numbered in their order unless one has a regnum, and the answer to `g`
 * has them in the order of their numbers. QEMU never writes a regnum that jumps, so a description
 * in which one does is refused.
 */
#include "vmm/qemu/gdb/layout.h"
#include "vmm/qemu/text/xml.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define MAX_REGS     1024
#define MAX_REG_BITS 2048

static const char *const gdb_reg_names[GDB_NR_REGS] = {
	"rax",	   "rbx",     "rcx",	   "rdx", "rsi", "rdi", "rbp", "rsp",	 "r8", "r9",
	"r10",	   "r11",     "r12",	   "r13", "r14", "r15", "rip", "eflags", "cs", "ss",
	"fs_base", "gs_base", "k_gs_base", "cr0", "cr2", "cr3", "cr4", "efer",
};

/* A decimal number up to max: false when it is none. */
static bool attribute_number(const char *element, size_t len, const char *name, uint32_t max,
			     uint32_t *number)
{
	char text[16], *end;
	unsigned long n;

	if (!xml_attribute(element, len, name, text, sizeof(text)) || text[0] < '0' ||
	    text[0] > '9')
		return false;
	n = strtoul(text, &end, 10);
	*number = (uint32_t)n;
	return !*end && n <= max;
}

static void note_reg(struct gdb_layout *layout, const char *name, uint32_t bits)
{
	for (unsigned int i = 0; i < GDB_NR_REGS; i++) {
		if (strcmp(gdb_reg_names[i], name))
			continue;
		layout->reg[i].number = layout->next;
		layout->reg[i].offset = (uint32_t)layout->bytes;
		layout->reg[i].size = bits > 64 ? 0 : (uint8_t)(bits / 8);
	}
}

int gdb_layout_add(struct gdb_layout *layout, const char *xml)
{
	size_t len;

	while ((xml = xml_element(xml, "reg", &len))) {
		char name[32];
		uint32_t bits, number;

		if (layout->next == MAX_REGS ||
		    !attribute_number(xml, len, "bitsize", MAX_REG_BITS, &bits) || bits % 8 ||
		    !bits)
			return -EPROTO;
		if (attribute_number(xml, len, "regnum", MAX_REGS, &number) &&
		    number != layout->next)
			return -EPROTO;
		if (xml_attribute(xml, len, "name", name, sizeof(name)))
			note_reg(layout, name, bits);
		layout->bytes += bits / 8;
		layout->next++;
		xml += len;
	}
	return 0;
}

int gdb_layout_include(const char *xml, unsigned int n, char *href, size_t room)
{
	size_t len;

	while ((xml = xml_element(xml, "xi:include", &len))) {
		if (!n--)
			return xml_attribute(xml, len, "href", href, room) ? 1 : -EPROTO;
		xml += len;
	}
	return 0;
}

int gdb_layout_check(const struct gdb_layout *layout, const char **name)
{
	for (unsigned int i = 0; i < GDB_NR_REGS; i++) {
		unsigned int least = i == GDB_EFLAGS || i == GDB_CS || i == GDB_SS ? 4 : 8;

		*name = gdb_reg_names[i];
		if (layout->reg[i].size < least)
			return -EPROTO;
	}
	return 0;
}
