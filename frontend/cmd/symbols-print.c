// SPDX-License-Identifier: GPL-2.0-or-later
/* symbols-print.c - prints what is known about a kernel image. */
#include "frontend/cmd/symbols-print.h"

#include <errno.h>
#include <inttypes.h>

#include "guestsym/guestsym.h"

static size_t count_functions(const struct guestsym *gs)
{
	const struct guestsym_site *sites;
	size_t n = guestsym_fentry_sites(gs, &sites), functions = 0;

	for (size_t i = 0; i < n; i++)
		functions += !(sites[i].flags & GUESTSYM_SITE_INIT);
	return functions;
}

int symbols_print_summary(const struct guestsym *gs, FILE *out)
{
	const struct guestsym_preempt_site *preempts;
	const struct guestsym_irq_site *irqs;
	const struct guestsym_tracepoint *tps;
	const struct guestsym_symbol *syms;
	const struct guestsym_site *sites;
	const uint64_t *returns;

	fprintf(out, "release: %s\n", guestsym_release(gs));
	fprintf(out, "build-id: %s\n", guestsym_build_id(gs));
	fprintf(out, "symbols: %zu\n", guestsym_symbols(gs, &syms));
	fprintf(out, "fentry-sites: %zu\n", guestsym_fentry_sites(gs, &sites));
	fprintf(out, "functions: %zu\n", count_functions(gs));
	fprintf(out, "return-sites: %zu\n", guestsym_return_sites(gs, &returns));
	fprintf(out, "irq-sites: %zu\n", guestsym_irq_sites(gs, &irqs));
	fprintf(out, "preempt-sites: %zu\n", guestsym_preempt_sites(gs, &preempts));
	fprintf(out, "tracepoints: %zu\n", guestsym_tracepoints(gs, &tps));
	fprintf(out, "event-probes: %zu\n", guestsym_event_probes(gs));
	fprintf(out, "btf-types: %zu\n", guestsym_btf_types(gs));
	fprintf(out, "cached: %s\n", guestsym_cached(gs) ? "yes" : "no");
	fprintf(out, "parse-ms: %.1f\n", guestsym_parse_ms(gs));
	return 0;
}

int symbols_print_functions(const struct guestsym *gs, FILE *out)
{
	const struct guestsym_site *sites;
	size_t n = guestsym_fentry_sites(gs, &sites);

	for (size_t i = 0; i < n; i++)
		if (!(sites[i].flags & GUESTSYM_SITE_INIT) &&
		    fprintf(out, "%s\n", sites[i].name) < 0)
			return -errno;
	return 0;
}

int symbols_print_symbols(const struct guestsym *gs, FILE *out)
{
	const struct guestsym_symbol *syms;
	size_t n = guestsym_symbols(gs, &syms);

	for (size_t i = 0; i < n; i++)
		if (fprintf(out, "%016" PRIx64 " %c %s\n", syms[i].addr, syms[i].type,
			    syms[i].name) < 0)
			return -errno;
	return 0;
}
