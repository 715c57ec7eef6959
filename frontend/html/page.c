// SPDX-License-Identifier: GPL-2.0-or-later
/* page.c - see page.h */
#include "frontend/html/page.h"

#include <stddef.h>

const char *html_page_missing(void)
{
	return html_page_head_size
		       ? NULL
		       : "html: this build has no page (npm was not there: install it and build again)";
}
