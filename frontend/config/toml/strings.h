/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * strings.h - what strings and keys say. The grammar has found them right: they have their quotes,
 * and behind each backslash stands what may stand there.
 */
#ifndef HVTRACE_FRONTEND_CONFIG_TOML_STRINGS_H
#define HVTRACE_FRONTEND_CONFIG_TOML_STRINGS_H

#include <stdbool.h>
#include <stddef.h>

#include "frontend/config/toml/memory.h"
#include "frontend/config/toml/mistakes.h"
#include "frontend/config/toml/toml.h"

/* The parts of a key with dots. */
struct key_path {
	const char *parts[TOML_DEPTH];
	unsigned int nr;
	unsigned int line;
};

/* Of any kind, with its quotes. NULL: a mistake in it has been told, or that there is no memory. */
const char *toml_string_read(struct toml_memory *m, struct mistakes *mistakes, unsigned int line,
			     const char *text, size_t len);
bool toml_key_read(struct toml_memory *m, struct mistakes *mistakes, unsigned int line,
		   const char *text, size_t len, struct key_path *path);

#endif
