/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * error-log.h - tracefs' error_log: what was wrong with the commands written last.
 *
 * The kernel's tracing_log_err(). The function filter files log nothing; commands that are parsed
 * further (event filters, triggers, dynamic events) do.
 */
#ifndef HVTRACE_TRACER_LIB_ERROR_LOG_H
#define HVTRACE_TRACER_LIB_ERROR_LOG_H

#include <stdint.h>

#include "tracer/lib/text.h"

struct error_log;

struct error_log *error_log_new(void);	    /* NULL: no memory */
void error_log_free(struct error_log *log); /* NULL is allowed */

/*
 * At ns of the guest's local clock, `where` (as "event filter parse error") found that what is
 * wrong with command, at byte pos of it. Keeps the latest 8; without memory it is lost. Any thread.
 */
void error_log_add(struct error_log *log, uint64_t ns, const char *where, const char *what,
		   const char *command, uint16_t pos);
/* Where part begins in command, 0 when it is not there: a pos for error_log_add(). */
uint16_t error_log_pos(const char *command, const char *part);
/* As an opening of the file with O_TRUNC for writing does; what is written then is ignored. */
void error_log_clear(struct error_log *log);
void error_log_print(struct error_log *log, struct text *out);

#endif
