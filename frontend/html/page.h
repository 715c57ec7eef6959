/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * page.h - the program that draws a trace in a browser, with all that it needs, as the two parts of
 * an HTML file: data elements stand between them.
 */
#ifndef HVTRACE_FRONTEND_HTML_PAGE_H
#define HVTRACE_FRONTEND_HTML_PAGE_H

#include <stdint.h>

extern const char html_page_head[], html_page_tail[];
extern const uint64_t html_page_head_size, html_page_tail_size;

/* NULL, or one line that says why this build has no page. */
const char *html_page_missing(void);

#endif
