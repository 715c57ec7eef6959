// SPDX-License-Identifier: GPL-2.0-or-later
/* kallsyms.c - the guest's symbols as its /proc/kallsyms has them (kernel/kallsyms.c, 6.1). */
#include "tracer/control/files.h"
#include "tracer/core/lock.h"
#include "tracer/core/trace.h"
#include "tracer/guest/modules.h"
#include "tracer/lib/text.h"

static void print_symbol(const struct guestsym_symbol *sym, uint64_t addr, const char *module,
			 struct text *out)
{
	char *at = text_begin(out, 20);

	if (!at)
		return;
	at = text_put_hex(at, addr, 16);
	*at++ = ' ';
	*at++ = sym->type;
	*at++ = ' ';
	text_end(out, at);
	text_puts(out, sym->name);
	if (module) {
		text_puts(out, "\t[");
		text_puts(out, module);
		text_putc(out, ']');
	}
	text_putc(out, '\n');
}

/* Per-CPU ones are offsets, which do not move with the kernel. */
static uint64_t run_time(const struct trace *t, uint64_t addr)
{
	return addr >> 63 ? addr + t->guest.slide : addr;
}

void trace_print_kallsyms(struct trace *t, struct text *out)
{
	const struct guestsym_module *mods;
	const struct guestsym_symbol *syms;
	size_t nr = guestsym_symbols(t->gs, &syms);

	for (size_t i = 0; i < nr; i++)
		print_symbol(&syms[i], run_time(t, syms[i].addr), NULL, out);
	change_lock(t);
	nr = modules_all(t->modules, &mods);
	for (size_t m = 0; m < nr; m++)
		for (size_t i = 0; i < mods[m].nr_syms; i++)
			print_symbol(&mods[m].syms[i], mods[m].syms[i].addr, mods[m].name, out);
	change_unlock(t);
}

uint64_t trace_kallsyms_changes(struct trace *t)
{
	uint64_t n;

	change_lock(t);
	n = modules_readings(t->modules) + t->guest.slide;
	change_unlock(t);
	return n;
}
