/* SPDX-License-Identifier: GPL-2.0-or-later */
/* attach.h - a session with a guest that runs already, for commands that trace one. */
#ifndef HVTRACE_FRONTEND_SESSION_ATTACH_H
#define HVTRACE_FRONTEND_SESSION_ATTACH_H

#include "frontend/session/session.h"

struct attach_target {
	const char *name;    /* a domain of libvirt, or gdb:… */
	const char *connect; /* URI of libvirt; NULL: the default */
	const char *kernel;  /* NULL: as the domain says, else found in memory */
	uint64_t stand_ms;   /* the guest may stand for so long at a time; 0: the default */
	bool recover;	     /* whatever another hvtrace has left is to be taken away */
};

#define ATTACH_OPTION_ROWS(target)                                                                   \
	OPT_STRING(0, "connect", &(target)->connect, "URI", "libvirt (default: qemu:///system)"),    \
		OPT_STRING(                                                                          \
			'k', "kernel", &(target)->kernel, "FILE",                                    \
			"the kernel that runs (default: as the domain says, else found in memory)"), \
		OPT_TIME(0, "max-standstill", &(target)->stand_ms, "TIME",                           \
			 "let the guest go if it stands for longer (default: 1s, emulated 60s)")

struct attach {
	struct session s;
	const struct attach_target *target;
	/*
	 * Optional: what the trace has to be told before it begins. Of a kernel that is read from
	 * memory there may be a second one. 0, or s.err is set.
	 */
	int (*prepare)(struct attach *a);
};

/* After session_init(): these two, in this order. -1, with s.err set, on error. */
int attach_machine(struct attach *a);
int attach_new_trace(struct attach *a);
/* The first for who has no terminal, or none of his own; stuck: machine_limits.stuck. The same. */
int attach_connect(struct attach *a, void (*stuck)(void *arg));
/* Begin to trace, as the session's options and prepare() ask for. 0, or s.err is set. */
int attach_begin(struct attach *a);
/* What the trace is found by: the domain, or the last word of a stub's address. */
const char *attach_name(const struct attach *a);

#endif
