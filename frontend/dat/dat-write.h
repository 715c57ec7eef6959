/* SPDX-License-Identifier: GPL-2.0-or-later */
/* dat-write.h - makes a trace.dat of a journal, in constant memory and one way through it. */
#ifndef HVTRACE_FRONTEND_DAT_DAT_WRITE_H
#define HVTRACE_FRONTEND_DAT_DAT_WRITE_H

#include <stdbool.h>
#include <stdint.h>

struct dat_written {
	uint64_t size;	/* of the trace.dat */
	uint64_t bytes; /* of pages in it, unpacked */
	uint64_t torn;	/* of the journal, at its end, that were no record */
};

/*
 * journal: as journal.h has it; verify: it may be damaged, so the sums of all data are looked at;
 * what is not whole ends it. out: a file that may be longer, but holds nothing; it gets its length
 * at the end. done() is told how far it is, 0 to 100, and may be NULL. 0; -EINVAL: it is no
 * journal; -ENODATA: it ends before the formats of records, or has nothing that is whole; -EBADMSG:
 * what it says makes no sense; -errno of either file.
 */
int dat_write(int journal, bool verify, int out, void (*done)(void *arg, unsigned int percent),
	      void *arg, struct dat_written *written);

/*
 * How many bytes a trace.dat of such a journal may be longer than it: its packed parts are copied
 * as they are, and what else there is is small beside this.
 */
#define DAT_WRITE_MORE (UINT64_C(4) << 20)

#endif
