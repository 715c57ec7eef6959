/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * grammar.h - the grammar of TOML for libtree-sitter, which npm's package has
 * (frontend/config/toml/build.mk).
 */
#ifndef HVTRACE_FRONTEND_CONFIG_TOML_GRAMMAR_H
#define HVTRACE_FRONTEND_CONFIG_TOML_GRAMMAR_H

#include <tree_sitter/api.h>

/* NULL: this hvtrace was built without it. */
const TSLanguage *toml_grammar(void);

#endif
