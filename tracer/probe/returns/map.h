/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * map.h - the guest's text, cut into pieces: where each function of the kernel and of its
 * modules begins and ends.
 */
#ifndef HVTRACE_TRACER_PROBE_RETURNS_MAP_H
#define HVTRACE_TRACER_PROBE_RETURNS_MAP_H

#include "tracer/core/trace.h"

/* A function, or another piece of text with a name. All addresses are run-time ones. */
struct piece {
	uint64_t start, end;
	const char *name;
	uint32_t probe; /* of its fentry site; UINT32_MAX: it has none */
	bool wanted, module, init;
};

/* All text that there is; that of init (`init`) goes at the end of the boot. By address. */
struct text_map {
	struct piece *v;
	size_t nr, room;
};

/* As it is now; the machine is paused. 0 or -ENOMEM: text_map_free() then, too. */
int text_map_make(struct text_map *map, struct trace *t);
void text_map_free(struct text_map *map);
/* The piece that va is in, or NULL. */
struct piece *text_map_at(const struct text_map *map, uint64_t va);

#endif
