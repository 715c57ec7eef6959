/* SPDX-License-Identifier: GPL-2.0-or-later */
/* dat-choice.h - which guest of a trace.dat file, and which of its buffers, a name means. */
#ifndef HVTRACE_FRONTEND_CMD_DAT_CHOICE_H
#define HVTRACE_FRONTEND_CMD_DAT_CHOICE_H

#include <stdbool.h>
#include <stddef.h>

struct dat;

/*
 * GUEST or GUEST:INSTANCE of a file of several guests, of which d becomes that one's (see
 * dat_choose_part()); INSTANCE of any other; NULL: the only guest that there is. *buffer gets the
 * number of the instance's buffer, RECORDS_ALL where none is named. False, with one line in err:
 * there is none of that name, or no name and several guests.
 */
bool dat_choice(struct dat *d, const char *name, size_t *buffer, char *err, size_t errlen);

#endif
