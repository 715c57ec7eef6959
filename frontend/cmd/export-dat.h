/* SPDX-License-Identifier: GPL-2.0-or-later */
/* export-dat.h - a trace.dat file, or what of it is wanted, in another format. */
#ifndef HVTRACE_FRONTEND_CMD_EXPORT_DAT_H
#define HVTRACE_FRONTEND_CMD_EXPORT_DAT_H

#include "frontend/cmd/dat-file.h"
#include "frontend/export/export.h"

/* False: this build cannot write it, which a line on stderr has said. */
bool export_dat_check(const struct export_format *format);
/*
 * From the files of guests, and of their host, to where the options say. The exit status; what is
 * missing in it is said on stderr.
 */
int export_dat(const struct export_format *format, const struct dat_file_options *opt,
	       const char *const *paths, size_t nr);

#endif
