/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * curl-library.h - libcurl, loaded by who ships: nothing else needs it and what it brings along.
 * Its own API is documented in libcurl's pages.
 */
#ifndef HVTRACE_FRONTEND_SHIP_CURL_LIBRARY_H
#define HVTRACE_FRONTEND_SHIP_CURL_LIBRARY_H

/* Its checks of arguments are macros with the names of functions. */
#define CURL_DISABLE_TYPECHECK
#include <curl/curl.h>

#define CURL_FUNCTIONS(F)                                                                          \
	F(curl_easy_cleanup)                                                                       \
	F(curl_easy_getinfo)                                                                       \
	F(curl_easy_init)                                                                          \
	F(curl_easy_setopt)                                                                        \
	F(curl_easy_strerror)                                                                      \
	F(curl_global_init)                                                                        \
	F(curl_multi_add_handle)                                                                   \
	F(curl_multi_cleanup)                                                                      \
	F(curl_multi_info_read)                                                                    \
	F(curl_multi_init)                                                                         \
	F(curl_multi_perform)                                                                      \
	F(curl_multi_poll)                                                                         \
	F(curl_multi_remove_handle)                                                                \
	F(curl_slist_append)                                                                       \
	F(curl_slist_free_all)

/* NOLINTNEXTLINE(bugprone-macro-parentheses): a declaration */
#define CURL_MEMBER(name) __typeof__(&(name)) name;

struct curl_library {
	CURL_FUNCTIONS(CURL_MEMBER)
};

/* Load it, once in a process. NULL, or what is missing, in one line. */
const char *curl_library_missing(void);
/* Its functions, after that. */
const struct curl_library *curl_library(void);

#endif
