// SPDX-License-Identifier: GPL-2.0-or-later
/* stack-table.c - see stack-table.h */
#include "tracer/stat/stack-table.h"
#include "tracer/output/output.h"

#include <inttypes.h>

#define WORD sizeof(uint64_t)

void stack_table_fill(struct stack_table *s, const uint64_t *sps, unsigned int n, uint64_t top)
{
	uint64_t before = UINT32_MAX;

	for (s->nr = 0; s->nr < n; s->nr++) {
		uint64_t depth = top - (sps[s->nr] - WORD);

		if (!depth || depth >= before)
			break;
		s->depth[s->nr] = (uint32_t)depth;
		before = depth;
	}
}

/* As %pS. */
static void print_location(const struct output_config *cfg, uint64_t ip, struct text *out)
{
	struct output_symbol sym = {0};

	if (!cfg->symbol(cfg->arg, ip, &sym)) {
		text_printf(out, "0x%" PRIx64 "\n", ip);
		return;
	}
	text_printf(out, "%s+0x%" PRIx64 "/0x%" PRIx64, sym.name, sym.off, sym.size);
	if (sym.module)
		text_printf(out, " [%s]", sym.module);
	text_putc(out, '\n');
}

void stack_table_print(const struct stack_table *s, bool disabled, const struct output_config *cfg,
		       struct text *out)
{
	text_printf(out,
		    "        Depth    Size   Location    (%u entries)\n"
		    "        -----    ----   --------\n",
		    s->nr);
	if (disabled)
		text_puts(out, "#\n"
			       "#  Stack tracer disabled\n"
			       "#\n"
			       "# To enable the stack tracer, either add 'stacktrace' to the\n"
			       "# kernel command line\n"
			       "# or 'echo 1 > /proc/sys/kernel/stack_tracer_enabled'\n"
			       "#\n");
	for (unsigned int i = 0; i < s->nr; i++) {
		uint32_t outer = i + 1 < s->nr ? s->depth[i + 1] : 0;

		text_printf(out, "%3u) %8" PRIu32 "   %5" PRIu32 "   ", i, s->depth[i],
			    s->depth[i] - outer);
		print_location(cfg, s->ip[i], out);
	}
}
