/* SPDX-License-Identifier: GPL-2.0-or-later */
/* screen.h - a terminal that is drawn on, and left as it was. */
#ifndef HVTRACE_FRONTEND_REPORT_SCREEN_H
#define HVTRACE_FRONTEND_REPORT_SCREEN_H

#include <stdbool.h>
#include <stdint.h>

#include "tracer/tracer.h"

struct screen;

/*
 * Take the terminal of standard input and output over. Until it is closed, signals that end a
 * program or tell a new size wait for screen_wait(). NULL: it is none, or cannot be.
 */
struct screen *screen_open(void);
void screen_close(struct screen *s); /* NULL is allowed */
void screen_size(unsigned int *rows, unsigned int *columns);
/* Lines, of which one is a heading; what does not fit has been cut off. */
void screen_draw(const struct text *text, unsigned int heading);
/* Until it is time to draw: after so long, or with a new size. False: who looks has enough. */
bool screen_wait(struct screen *s, uint64_t ms);

#endif
