/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * console.h - the guest's serial console: shown and fed from the terminal, or kept for the message
 * that tells how a guest ended.
 */
#ifndef HVTRACE_FRONTEND_SESSION_CONSOLE_H
#define HVTRACE_FRONTEND_SESSION_CONSOLE_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <termios.h>

#include "vmm/machine.h"

struct console {
	pthread_mutex_t lock;
	bool show; /* on stderr, as it comes */
	char tail[2048];
	size_t len; /* bytes ever written */
	bool raw;   /* stdin's terminal has its line editing off; saved has the way back */
	bool input; /* the thread runs */
	struct termios saved;
	pthread_t thread;
	int stop_fd;
	struct machine *m;
};

/*
 * show: the guest's output goes to stderr as it comes, for the terminal to obey, as it obeys any
 * console; else it is only kept.
 */
void console_init(struct console *c, bool show);
/* Output of the guest; any thread. */
void console_write(struct console *c, const char *text, size_t len);
/* Feed what is typed on stdin to the guest, until console_exit(). 0 or -errno. */
int console_feed(struct console *c, struct machine *m);
/* Print the last lines (at most n) that the guest wrote. */
void console_tail(struct console *c, FILE *out, unsigned int n);
/* End the input thread, give the terminal back as it was. Before machine_free(). */
/* The terminal is what it was. */
void console_restore(const struct console *c);
void console_exit(struct console *c);

#endif
