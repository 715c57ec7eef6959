/* SPDX-License-Identifier: GPL-2.0-or-later */
/* early-kernel.h - opens a kernel's image on another thread, while whoever wants it does more. */
#ifndef HVTRACE_FRONTEND_CMD_EARLY_KERNEL_H
#define HVTRACE_FRONTEND_CMD_EARLY_KERNEL_H

#include <pthread.h>
#include <stdbool.h>

struct guestsym;
struct guestsym_parsers;

struct early_kernel {
	bool begun, on_thread;
	struct guestsym_parsers *parsers;
	char *path;
	pthread_t thread;
	struct guestsym *gs;
	char err[512];
};

/* As guestsym_open() with GUESTSYM_FL_LATER; the path is copied. e is all zero before. */
void early_kernel_begin(struct early_kernel *e, struct guestsym_parsers *parsers, const char *path);
/*
 * Wait for it, once: what guestsym_open() gives, which is the caller's, or NULL with a line in
 * e->err. NULL, too, where nothing was begun.
 */
struct guestsym *early_kernel_end(struct early_kernel *e);

#endif
