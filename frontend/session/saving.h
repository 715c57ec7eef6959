/* SPDX-License-Identifier: GPL-2.0-or-later */
/* saving.h - a guest that is kept in a file once it is not traced any more. */
#ifndef HVTRACE_FRONTEND_SESSION_SAVING_H
#define HVTRACE_FRONTEND_SESSION_SAVING_H

#include "frontend/sandbox/target.h"
#include "frontend/session/session.h"

struct saving {
	const char *path; /* NULL: it is not saved */
	struct target target;
	bool is_open;
	int fd; /* of what is made there */
};

/*
 * Before rights are given up; what the file holds stays until the guest is saved. path NULL:
 * nothing. 0, or s->err is set.
 */
int saving_open(struct saving *v, struct session *s, const char *path);
/* The trace is out of the guest. One line on stderr says what came of it. The exit status. */
int saving_do(struct saving *v, struct session *s);
void saving_close(struct saving *v);

#endif
