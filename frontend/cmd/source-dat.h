/* SPDX-License-Identifier: GPL-2.0-or-later */
/* source-dat.h - for source.c: calls that were recorded to a file. */
#ifndef HVTRACE_FRONTEND_CMD_SOURCE_DAT_H
#define HVTRACE_FRONTEND_CMD_SOURCE_DAT_H

#include "frontend/report/calltree.h"

/* Whether it begins as a trace.dat file does, or a recording. */
bool source_dat_is_one(const char *path);
/*
 * Its calls of function_graph, of an instance or of the top level (NULL). NULL with a line on
 * stderr.
 */
struct calltree *source_dat_read(const char *path, const char *instance);

#endif
