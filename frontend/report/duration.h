/* SPDX-License-Identifier: GPL-2.0-or-later */
/* duration.h - times as people write and read them: "80ns", "12.5us", "3ms", "1.5s". */
#ifndef HVTRACE_FRONTEND_REPORT_DURATION_H
#define HVTRACE_FRONTEND_REPORT_DURATION_H

#include <stdbool.h>
#include <stdint.h>

#define DURATION_LEN 16 /* "999.99 us" and its end, with room to spare */

/* Three or four digits and the unit. Returns buf. */
const char *duration_text(uint64_t ns, char buf[DURATION_LEN]);
/* Without a unit: microseconds, as the kernel's tracing_thresh. */
bool duration_parse(const char *text, uint64_t *ns);

#endif
