/* SPDX-License-Identifier: GPL-2.0-or-later */
/* values.h - what a statement says, out of the grammar's tree of it. */
#ifndef HVTRACE_FRONTEND_CONFIG_TOML_VALUES_H
#define HVTRACE_FRONTEND_CONFIG_TOML_VALUES_H

#include <tree_sitter/api.h>

#include "frontend/config/toml/statements.h"
#include "frontend/config/toml/tables.h"
#include "frontend/config/toml/toml.h"

/* What statements add to. */
struct values {
	struct tables tables;
	struct toml_value *root;
	struct toml_value *table; /* of the last header; NULL: there was a mistake in that */
};

/* tree: of a statement without mistakes. What it says cannot be is told. */
void toml_values_add(struct values *v, const struct statement *s, const TSTree *tree);

#endif
