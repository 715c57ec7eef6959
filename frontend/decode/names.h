/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * names.h - texts that tell names, a line each: kallsyms, printk_formats, saved_cmdlines. Lines
 * that are none of them, or too long, are left out.
 */
#ifndef HVTRACE_FRONTEND_DECODE_NAMES_H
#define HVTRACE_FRONTEND_DECODE_NAMES_H

#include <event-parse.h>

#include "frontend/dat/dat.h"

/* Each adds them one by one, and gives false when there is no memory. */
bool names_functions(struct tep_handle *tep, const struct dat_text *kallsyms);
bool names_printk(struct tep_handle *tep, const struct dat_text *formats);
bool names_tasks(struct tep_handle *tep, const struct dat_text *cmdlines);

#endif
