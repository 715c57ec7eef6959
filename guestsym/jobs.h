/* SPDX-License-Identifier: GPL-2.0-or-later */
/* jobs.h - what parsers.c asks for, and jobs.c does in another process. */
#ifndef HVTRACE_GUESTSYM_JOBS_H
#define HVTRACE_GUESTSYM_JOBS_H

#include "guestsym/apart/apart.h"

/* Their descriptors, 0 to 2; what comes back is in capitals. */
enum {
	JOB_IMAGE,   /* file, ELF IMAGE, struct stat of the file and DIGEST */
	JOB_BOOTED,  /* copy of memory, struct booted_head with pieces, DIGEST */
	JOB_IRQ,     /* ELF image or copy of memory, digest, SITES */
	JOB_PREEMPT, /* likewise */
	JOB_MODULES, /* modules_pack(), none, DIGESTS */
	NR_JOBS,
};

extern const struct apart_job guestsym_jobs[NR_JOBS];

/* Segments of the copy follow. */
struct booted_head {
	uint64_t hint, nr_segs;
};

#endif
