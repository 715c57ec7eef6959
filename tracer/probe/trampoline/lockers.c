// SPDX-License-Identifier: GPL-2.0-or-later
/* lockers.c - functions of the kernel that take text_mutex and patch no site of ours. */
#include "tracer/probe/trampoline/internal.h"

#include <string.h>

/*
 * Static keys and calls are patched all the time, and at no site of ours; nor is what BPF programs
 * are written to, or the lock prefixes that one CPU can do without. In these functions' names.
 */
static const char *const harmless[] = {
	"jump_label_transform",	   "static_call_transform", "static_call_fixup",
	"text_poke_copy",	   "text_poke_set",	    "alternatives_smp",
	"alternatives_enable_smp",
};

bool trampoline_is_harmless(const char *name)
{
	for (size_t i = 0; i < sizeof(harmless) / sizeof(harmless[0]); i++)
		if (strstr(name, harmless[i]))
			return true;
	return false;
}

/* Of those that match: what is in front of a function, or put aside, calls nothing that locks. */
static bool is_locker(const struct guestsym_symbol *sym)
{
	return (sym->type == 't' || sym->type == 'T') && trampoline_is_harmless(sym->name) &&
	       strncmp(sym->name, "__pfx_", 6) != 0 && strncmp(sym->name, "__cfi_", 6) != 0 &&
	       !strstr(sym->name, ".cold");
}

/* The payload knows the first of them; what it does not know it asks about. */
int trampoline_describe_lockers(struct trace *t, struct window *w)
{
	struct payload_locker table[LOCKERS] = {{0}};
	const struct guestsym_symbol *syms;
	size_t n = guestsym_symbols(t->gs, &syms), nr = 0;

	for (size_t i = 0; i < n && nr < LOCKERS; i++) {
		uint64_t bytes;

		if (!is_locker(&syms[i]) || !guestsym_find(t->gs, syms[i].addr, NULL, &bytes) ||
		    bytes > UINT32_MAX)
			continue;
		table[nr++] = (struct payload_locker){(uint32_t)(syms[i].addr + t->guest.slide),
						      (uint32_t)bytes};
	}
	return window_write(w, WINDOW_LOCKERS, table, sizeof(table));
}
