/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tree-library.h - libtree-sitter, loaded when a configuration is read. Its own API is documented
 * in tree_sitter/api.h.
 */
#ifndef HVTRACE_FRONTEND_CONFIG_TOML_TREE_LIBRARY_H
#define HVTRACE_FRONTEND_CONFIG_TOML_TREE_LIBRARY_H

#include <tree_sitter/api.h>

#define TREE_FUNCTIONS(F)                                                                          \
	F(ts_node_end_byte)                                                                        \
	F(ts_node_has_error)                                                                       \
	F(ts_node_is_named)                                                                        \
	F(ts_node_named_child)                                                                     \
	F(ts_node_named_child_count)                                                               \
	F(ts_node_start_byte)                                                                      \
	F(ts_node_start_point)                                                                     \
	F(ts_node_type)                                                                            \
	F(ts_parser_delete)                                                                        \
	F(ts_parser_new)                                                                           \
	F(ts_parser_parse_string)                                                                  \
	F(ts_parser_reset)                                                                         \
	F(ts_parser_set_language)                                                                  \
	F(ts_parser_set_timeout_micros)                                                            \
	F(ts_tree_cursor_current_node)                                                             \
	F(ts_tree_cursor_delete)                                                                   \
	F(ts_tree_cursor_goto_first_child)                                                         \
	F(ts_tree_cursor_goto_next_sibling)                                                        \
	F(ts_tree_cursor_goto_parent)                                                              \
	F(ts_tree_cursor_new)                                                                      \
	F(ts_tree_delete)                                                                          \
	F(ts_tree_root_node)

/* NOLINTNEXTLINE(bugprone-macro-parentheses): a declaration */
#define TREE_MEMBER(name) __typeof__(&name) name;

struct tree_library {
	TREE_FUNCTIONS(TREE_MEMBER)
};

/* Load it, once in a process. NULL, or what is missing, in one line. */
const char *tree_library_missing(void);
/* Its functions, after that. */
const struct tree_library *tree_library(void);

#endif
