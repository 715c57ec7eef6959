/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tables.h - where the values of a text go: each key once, and no table begun a second time. */
#ifndef HVTRACE_FRONTEND_CONFIG_TOML_TABLES_H
#define HVTRACE_FRONTEND_CONFIG_TOML_TABLES_H

#include "frontend/config/toml/memory.h"
#include "frontend/config/toml/mistakes.h"
#include "frontend/config/toml/strings.h"
#include "frontend/config/toml/toml.h"

struct tables {
	struct toml_memory *memory;
	struct mistakes *mistakes;
};

/* NULL: there is no memory, which has been told. */
struct toml_value *toml_value_new(struct tables *t, enum toml_kind kind, unsigned int line);
/* At the end of an array. */
void toml_array_add(struct toml_value *array, struct toml_value *v);
/* path = v. False: that cannot be, which has been told. */
bool toml_table_set(struct tables *t, struct toml_value *table, const struct key_path *path,
		    struct toml_value *v);
/*
 * The table of a header [path], or one more of [[path]]. NULL: there cannot be one, which has been
 * told.
 */
struct toml_value *toml_table_begin(struct tables *t, struct toml_value *root,
				    const struct key_path *path, bool repeated);

#endif
