// SPDX-License-Identifier: GPL-2.0-or-later
/* symbols-print.c - prints what is known about a kernel image. */
#include "frontend/cmd/symbols-print.h"

#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <string.h>

#include "frontend/lib/json.h"
#include "guestsym/guestsym.h"

static size_t count_functions(const struct guestsym *gs)
{
	const struct guestsym_site *sites;
	size_t n = guestsym_fentry_sites(gs, &sites), functions = 0;

	for (size_t i = 0; i < n; i++)
		functions += !(sites[i].flags & GUESTSYM_SITE_INIT);
	return functions;
}

/* How many there are of what. */
struct counts {
	size_t symbols, fentry_sites, functions, return_sites, irq_sites, preempt_sites;
	size_t tracepoints, event_probes, btf_types;
};

static void count(const struct guestsym *gs, struct counts *c)
{
	const struct guestsym_preempt_site *preempts;
	const struct guestsym_irq_site *irqs;
	const struct guestsym_tracepoint *tps;
	const struct guestsym_symbol *syms;
	const struct guestsym_site *sites;
	const uint64_t *returns;

	*c = (struct counts){
		.symbols = guestsym_symbols(gs, &syms),
		.fentry_sites = guestsym_fentry_sites(gs, &sites),
		.functions = count_functions(gs),
		.return_sites = guestsym_return_sites(gs, &returns),
		.irq_sites = guestsym_irq_sites(gs, &irqs),
		.preempt_sites = guestsym_preempt_sites(gs, &preempts),
		.tracepoints = guestsym_tracepoints(gs, &tps),
		.event_probes = guestsym_event_probes(gs),
		.btf_types = guestsym_btf_types(gs),
	};
}

static const struct {
	const char *name, *key;
	size_t at;
} rows[] = {
	{"symbols", "symbols", offsetof(struct counts, symbols)},
	{"fentry-sites", "fentry_sites", offsetof(struct counts, fentry_sites)},
	{"functions", "functions", offsetof(struct counts, functions)},
	{"return-sites", "return_sites", offsetof(struct counts, return_sites)},
	{"irq-sites", "irq_sites", offsetof(struct counts, irq_sites)},
	{"preempt-sites", "preempt_sites", offsetof(struct counts, preempt_sites)},
	{"tracepoints", "tracepoints", offsetof(struct counts, tracepoints)},
	{"event-probes", "event_probes", offsetof(struct counts, event_probes)},
	{"btf-types", "btf_types", offsetof(struct counts, btf_types)},
};

enum { NR_ROWS = sizeof(rows) / sizeof(rows[0]) };

static size_t counted(const struct counts *c, size_t row)
{
	size_t n;

	memcpy(&n, (const char *)c + rows[row].at, sizeof(n));
	return n;
}

int symbols_print_summary(const struct guestsym *gs, FILE *out)
{
	struct counts c;

	count(gs, &c);
	fprintf(out, "release: %s\n", guestsym_release(gs));
	fprintf(out, "build-id: %s\n", guestsym_build_id(gs));
	for (size_t i = 0; i < NR_ROWS; i++)
		fprintf(out, "%s: %zu\n", rows[i].name, counted(&c, i));
	fprintf(out, "cached: %s\n", guestsym_cached(gs) ? "yes" : "no");
	fprintf(out, "parse-ms: %.1f\n", guestsym_parse_ms(gs));
	return 0;
}

int symbols_put_summary(const struct guestsym *gs, struct json *j)
{
	struct counts c;

	count(gs, &c);
	json_begin_object(j, NULL);
	json_put_text(j, "release", guestsym_release(gs));
	json_put_text(j, "build_id", guestsym_build_id(gs));
	for (size_t i = 0; i < NR_ROWS; i++)
		json_put_number(j, rows[i].key, counted(&c, i));
	json_put_bool(j, "cached", guestsym_cached(gs));
	json_put_real(j, "parse_ms", guestsym_parse_ms(gs), 1);
	json_end_object(j);
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

int symbols_put_functions(const struct guestsym *gs, struct json *j)
{
	const struct guestsym_site *sites;
	size_t n = guestsym_fentry_sites(gs, &sites);

	json_begin_array(j, NULL);
	for (size_t i = 0; i < n; i++)
		if (!(sites[i].flags & GUESTSYM_SITE_INIT))
			json_put_text(j, NULL, sites[i].name);
	json_end_array(j);
	return 0;
}

int symbols_put_symbols(const struct guestsym *gs, struct json *j)
{
	const struct guestsym_symbol *syms;
	size_t n = guestsym_symbols(gs, &syms);

	json_begin_array(j, NULL);
	for (size_t i = 0; i < n; i++) {
		const char type[] = {syms[i].type, '\0'};

		json_begin_object(j, NULL);
		json_put_address(j, "address", syms[i].addr);
		json_put_text(j, "type", type);
		json_put_text(j, "name", syms[i].name);
		json_end_object(j);
	}
	json_end_array(j);
	return 0;
}
