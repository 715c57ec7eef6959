/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * json-library.h - json-c, loaded when a daemon begins. Its own API is documented in json-c/json.h.
 */
#ifndef HVTRACE_FRONTEND_SERVE_JSON_LIBRARY_H
#define HVTRACE_FRONTEND_SERVE_JSON_LIBRARY_H

#include <json-c/json.h>

#define JSONC_FUNCTIONS(F)                                                                         \
	F(json_object_array_get_idx)                                                               \
	F(json_object_array_length)                                                                \
	F(json_object_get_double)                                                                  \
	F(json_object_get_int64)                                                                   \
	F(json_object_get_string)                                                                  \
	F(json_object_is_type)                                                                     \
	F(json_object_object_get_ex)                                                               \
	F(json_object_put)                                                                         \
	F(json_tokener_free)                                                                       \
	F(json_tokener_new_ex)                                                                     \
	F(json_tokener_parse_ex)

/* NOLINTNEXTLINE(bugprone-macro-parentheses): a declaration */
#define JSONC_MEMBER(name) __typeof__(&name) name;

struct jsonc_library {
	JSONC_FUNCTIONS(JSONC_MEMBER)
};

/* Load it, once in a process. NULL, or what is missing, in one line. */
const char *jsonc_library_missing(void);
/* Its functions, after that. */
const struct jsonc_library *jsonc_library(void);

#endif
