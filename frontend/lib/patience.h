/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * patience.h - a command that has to wait for somebody else, libvirt or a guest, and holds nothing
 * that would be lost: people see what it waits for, and Ctrl-C ends it in good order.
 */
#ifndef HVTRACE_FRONTEND_LIB_PATIENCE_H
#define HVTRACE_FRONTEND_LIB_PATIENCE_H

#include "frontend/lib/cancel.h"
#include "frontend/lib/meter.h"

struct patience {
	struct cancel cancel;
	struct meter meter;
};

/* Before any other thread exists. 0, or -1: one line on stderr says why. */
int patience_begin(struct patience *p);
/* What is waited for from now on; NULL: nothing. The text must stay. */
void patience_for(struct patience *p, const char *what);
/* Asked now and then by what waits, with a struct patience: whether it is given up. */
bool patience_is_over(void *patience);
/* The exit status: this one, or that of a process that a signal has ended. */
int patience_end(struct patience *p, int status);

#endif
