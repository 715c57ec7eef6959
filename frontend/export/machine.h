/* SPDX-License-Identifier: GPL-2.0-or-later */
/* machine.h - what a trace.dat file tells of the machine that was traced. */
#ifndef HVTRACE_FRONTEND_EXPORT_MACHINE_H
#define HVTRACE_FRONTEND_EXPORT_MACHINE_H

#include "frontend/dat/dat.h"
#include "frontend/export/names.h"

/* Of its uname: clean UTF-8 in buf. NULL: the file does not tell. */
char *machine_uname(const struct dat_info *info, enum dat_uname_word word, char buf[NAMES_LEN]);

#endif
