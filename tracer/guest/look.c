// SPDX-License-Identifier: GPL-2.0-or-later
/* look.c - what can be told of a running kernel by looking at its memory alone. */
#include "tracer/guest/ktables.h"
#include "tracer/guest/locate.h"

#include <errno.h>
#include <string.h>

/* X86_FEATURE_PTI: bit 11 of word 7 (arch/x86/include/asm/cpufeatures.h, Linux 4.15 to 6.12). */
#define PTI_WORD 7
#define PTI_BIT	 11

static int tables_get(struct machine *m, struct ktables *t)
{
	int ret;

	machine_pause_for(m, "reading its page tables");
	ret = ktables_find(m, 0, t);
	if (!ret)
		ret = ktables_keep(t);
	machine_resume(m);
	return ret;
}

static int read_pti(const struct ktables *t, const struct guestsym *gs, uint64_t slide, bool *pti)
{
	uint64_t cpu = guestsym_addr(gs, "boot_cpu_data");
	struct guestsym_field words;
	uint32_t word;
	int ret = cpu ? guestsym_field(gs, "cpuinfo_x86.x86_capability", &words) : -ENOENT;

	if (ret)
		return ret;
	if (words.size < (PTI_WORD + 1) * sizeof(word))
		return -ENODATA;
	ret = ktables_read(t, cpu + slide + words.offset + PTI_WORD * sizeof(word), &word,
			   sizeof(word));
	*pti = word >> PTI_BIT & 1;
	return ret;
}

/* Its name, of which the kernel's own are shorter than there is room for here. */
static void read_clocksource(const struct ktables *t, const struct guestsym *gs, uint64_t slide,
			     char *name, size_t size)
{
	uint64_t at = guestsym_addr(gs, "curr_clocksource"), source, text;
	struct guestsym_field field;

	*name = '\0';
	if (!at || guestsym_field(gs, "clocksource.name", &field) ||
	    ktables_read(t, at + slide, &source, sizeof(source)) ||
	    ktables_read(t, source + field.offset, &text, sizeof(text)) ||
	    ktables_read(t, text, name, size - 1))
		*name = '\0';
	name[size - 1] = '\0';
}

int trace_look(struct machine *m, const struct guestsym *gs, uint64_t slide,
	       struct trace_look *look)
{
	struct ktables t;
	int ret = tables_get(m, &t);

	*look = (struct trace_look){.pti = false};
	if (ret)
		return ret;
	look->levels = t.levels;
	read_clocksource(&t, gs, slide, look->clocksource, sizeof(look->clocksource));
	return read_pti(&t, gs, slide, &look->pti);
}
