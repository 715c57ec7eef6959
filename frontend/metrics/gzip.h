/* SPDX-License-Identifier: GPL-2.0-or-later */
/* gzip.h - a text as a file of gzip (RFC 1952). */
#ifndef HVTRACE_FRONTEND_METRICS_GZIP_H
#define HVTRACE_FRONTEND_METRICS_GZIP_H

#include "tracer/tracer.h"

/* What it was is gone. Without memory it has failed. */
void gzip_text(struct text *t);

#endif
