/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * http-library.h - libmicrohttpd, loaded when metrics are served: it brings GnuTLS along, which
 * nothing else needs. Its own API is documented in microhttpd.h.
 */
#ifndef HVTRACE_FRONTEND_METRICS_HTTP_LIBRARY_H
#define HVTRACE_FRONTEND_METRICS_HTTP_LIBRARY_H

#include <microhttpd.h>

#define HTTP_FUNCTIONS(F)                                                                          \
	F(MHD_add_connection)                                                                      \
	F(MHD_add_response_header)                                                                 \
	F(MHD_create_response_from_buffer)                                                         \
	F(MHD_create_response_from_buffer_with_free_callback_cls)                                  \
	F(MHD_destroy_response)                                                                    \
	F(MHD_get_connection_info)                                                                 \
	F(MHD_get_daemon_info)                                                                     \
	F(MHD_get_timeout)                                                                         \
	F(MHD_lookup_connection_value)                                                             \
	F(MHD_queue_response)                                                                      \
	F(MHD_run)                                                                                 \
	F(MHD_start_daemon)                                                                        \
	F(MHD_stop_daemon)

/* NOLINTNEXTLINE(bugprone-macro-parentheses): a declaration */
#define HTTP_MEMBER(name) __typeof__(&name) name;

struct http_library {
	HTTP_FUNCTIONS(HTTP_MEMBER)
};

/* Load it, once in a process. NULL, or what is missing, in one line. */
const char *http_library_missing(void);
/* Its functions, after that. */
const struct http_library *http_library(void);

#endif
