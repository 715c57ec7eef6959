// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * gdb-layout.c - reads the register layout out of a target description.
 *
 * Of the XML (gdb manual, appendix "Target Descriptions") only the elements reg and xi:include
 * matter: registers are numbered in their order unless one has a regnum, and the answer to `g`
 * has them in the order of their numbers. QEMU never writes a regnum that jumps, so a description
 * in which one does is refused.
 */
#include "vmm/qemu/gdb-layout.h"

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

/* The next element of that name behind at: the text between its name and its >, or NULL. */
static const char *next_element(const char *at, const char *name, size_t *len)
{
	size_t name_len = strlen(name);
	const char *end;

	while ((at = strchr(at, '<'))) {
		at++;
		if (!strncmp(at, "!--", 3)) {
			at = strstr(at, "-->");
			if (!at)
				return NULL;
			continue;
		}
		if (strncmp(at, name, name_len) || !strchr(" \t\r\n/", at[name_len]))
			continue;
		at += name_len;
		end = strchr(at, '>');
		if (!end)
			return NULL;
		*len = (size_t)(end - at);
		return at;
	}
	return NULL;
}

static bool is_space(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

/* Copy the value of an attribute: false when it is not there or does not fit. */
static bool attribute(const char *element, size_t len, const char *name, char *value, size_t room)
{
	size_t name_len = strlen(name);

	for (size_t i = 1; i + name_len + 2 <= len; i++) {
		const char *from = element + i + name_len + 2, *end;

		if (!is_space(element[i - 1]) || strncmp(element + i, name, name_len) ||
		    from[-2] != '=' || (from[-1] != '"' && from[-1] != '\''))
			continue;
		end = memchr(from, from[-1], len - (size_t)(from - element));
		if (!end || (size_t)(end - from) >= room)
			return false;
		memcpy(value, from, (size_t)(end - from));
		value[end - from] = '\0';
		return true;
	}
	return false;
}

/* A decimal number up to max: false when it is none. */
static bool attribute_number(const char *element, size_t len, const char *name, uint32_t max,
			     uint32_t *number)
{
	char text[16], *end;
	unsigned long n;

	if (!attribute(element, len, name, text, sizeof(text)) || text[0] < '0' || text[0] > '9')
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

	while ((xml = next_element(xml, "reg", &len))) {
		char name[32];
		uint32_t bits, number;

		if (layout->next == MAX_REGS ||
		    !attribute_number(xml, len, "bitsize", MAX_REG_BITS, &bits) || bits % 8 ||
		    !bits)
			return -EPROTO;
		if (attribute_number(xml, len, "regnum", MAX_REGS, &number) &&
		    number != layout->next)
			return -EPROTO;
		if (attribute(xml, len, "name", name, sizeof(name)))
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

	while ((xml = next_element(xml, "xi:include", &len))) {
		if (!n--)
			return attribute(xml, len, "href", href, room) ? 1 : -EPROTO;
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
