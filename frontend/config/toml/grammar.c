// SPDX-License-Identifier: GPL-2.0-or-later
/* grammar.c - see grammar.h */
#include "frontend/config/toml/grammar.h"

#include <stddef.h>

#ifdef HVTRACE_TOML

/* In the package's parser.c; its header is not for those who use it. */
const TSLanguage *tree_sitter_toml(void);

const TSLanguage *toml_grammar(void)
{
	return tree_sitter_toml();
}

#else

const TSLanguage *toml_grammar(void)
{
	return NULL;
}

#endif
