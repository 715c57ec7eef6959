/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * question.h - what libvirt is asked. Its calls have no deadline: a daemon that was stopped, or a
 * domain whose QEMU does not answer, holds them for ever. So each question is put on a thread of
 * its own, and given up when it takes too long or is not wanted any more.
 */
#ifndef HVTRACE_VMM_QEMU_LIBVIRT_QUESTION_H
#define HVTRACE_VMM_QEMU_LIBVIRT_QUESTION_H

#include <stdbool.h>
#include <stddef.h>

#include "vmm/core/errand.h"

/* As long as libvirt itself waits for a QEMU that starts, where processors are interpreted. */
#define LIBVIRT_START_MS 120000
#define LIBVIRT_ASK_MS	 30000

/* The first member of what is asked and what is answered. */
struct question {
	struct errand errand;
	/* On the thread: what rc is to be, negative with one line in err. */
	int (*ask)(struct question *q);
	/* Free what the answer has brought, whoever has it last. May be NULL. */
	void (*release)(struct question *q);
	char *uri; /* of libvirt; a copy */
	int rc;
	char err[512];
};

/* size bytes, the rest of them zeroed; uri NULL: the default. NULL: no memory. */
void *question_new(size_t size, const char *uri, int (*ask)(struct question *q),
		   void (*release)(struct question *q));
/*
 * True: it is answered. False: it is not, *rc and err say why, and what the question is about is
 * the thread's alone. patience->ms 0: LIBVIRT_ASK_MS.
 */
bool question_put(struct question *q, const struct errand_patience *patience, int *rc, char *err,
		  size_t errlen);
void question_free(struct question *q); /* NULL is allowed */

#endif
