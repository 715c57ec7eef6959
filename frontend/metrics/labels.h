/* SPDX-License-Identifier: GPL-2.0-or-later */
/* labels.h - what stands between the braces of a sample, which is also what it is found by. */
#ifndef HVTRACE_FRONTEND_METRICS_LABELS_H
#define HVTRACE_FRONTEND_METRICS_LABELS_H

#include "frontend/metrics/metrics.h"

/*
 * Those that the family has, with a '\0' behind that is not part of the text: guest="a",rule="b".
 * As both formats want it: UTF-8, and backslash, quote and line end with a backslash in front.
 */
void labels_put(struct text *to, const struct metrics_about *about,
		const struct metrics_labels *labels);
/* What those of a guest begin with, whatever comes behind it; the same '\0'. */
void labels_put_guest(struct text *to, const char *guest);

#endif
