/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * table.h - the sites of sites.h that have been found, by address. Any thread may look
 * one up while another, who holds trace.change, adds some or has some forgotten.
 */
#ifndef HVTRACE_TRACER_PROBE_CRITICAL_TABLE_H
#define HVTRACE_TRACER_PROBE_CRITICAL_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct flag_site {
	uint64_t va;	/* link address; of a module: less the kernel's slide as well */
	uint32_t probe; /* its index */
	uint8_t kind;	/* index of flag_kinds */
	uint16_t move;	/* which of moves.h; FLAG_STAYS: there is room for a call */
};

#define FLAG_STAYS UINT16_MAX

struct flag_table;

struct flag_table *flag_table_new(void); /* NULL: no memory */
void flag_table_free(struct flag_table *ft);

int flag_table_add(struct flag_table *ft, const struct flag_site *sites, size_t nr); /* -ENOMEM */
/* Those of which gone() says so are there no more. */
void flag_table_forget(struct flag_table *ft, bool (*gone)(void *arg, const struct flag_site *s),
		       void *arg);

/* A copy of the site at this address; false: there is none. */
bool flag_table_at(struct flag_table *ft, uint64_t va, struct flag_site *site);
/* Whether there is a site of that kind from start on, below end. */
bool flag_table_has(struct flag_table *ft, uint8_t kind, uint64_t start, uint64_t end);

/* All of them; for who holds trace.change, and until it adds or forgets some. */
const struct flag_site *flag_table_all(const struct flag_table *ft, size_t *nr);

#endif
