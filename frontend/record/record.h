/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * record.h - a trace written to a trace.dat while it is under way.
 *
 * A thread takes full pages out of the rings of all instances and puts them into a journal
 * (frontend/dat/journal.h) in the file's place; when the guest has been let go, a trace.dat is made
 * of that, for which room is set aside all along, and takes its place. Memory does not depend on
 * how much there is.
 */
#ifndef HVTRACE_FRONTEND_RECORD_RECORD_H
#define HVTRACE_FRONTEND_RECORD_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "frontend/dat/dat.h"
#include "vmm/machine.h"

struct record;
struct trace;
struct view;

#define RECORD_PATH_MAX 4096

struct record_config {
	const char *path;     /* NULL: files without a name, in a folder for such */
	unsigned int version; /* of the format: 6 or 7 */
	bool zstd;	      /* packed, which 7 can be */
	bool stream;	      /* the journal goes to stdout, and no trace.dat is made of it */
};

/* Open the files. NULL with one line in err. */
struct record *record_open(const struct record_config *cfg, char *err, size_t errlen);

/* How a guest's TSC follows the host's: what makes times of the clock x86-tsc the host's. */
struct record_shift {
	uint64_t peer_id;	   /* of the host's trace; 0: there is none, or not known */
	struct dat_tsc2nsec ticks; /* of the host's */
	struct machine_tsc vcpu[MACHINE_MAX_VCPUS];
};

/* All of it stays until record_close(). */
struct record_guest {
	const char *name, *release;	     /* what it is called, and its kernel's version */
	uint64_t tsc_khz;		     /* 0: not known */
	uint64_t trace_id;		     /* that of its trace; 0: a new one */
	char host_boot[DAT_BOOT_ID_LEN + 1]; /* dat_info has it; empty: not known */
	const struct record_shift *shift;    /* NULL: not known */
};

/* How ticks of such a TSC become nanoseconds; mult 0: not known, as khz 0. */
struct dat_tsc2nsec record_ticks(uint64_t khz);
/* By which traces of one time know each other: random, and not 0. */
uint64_t record_new_id(void);

/*
 * From now on what the trace records goes to the file. v is used until record_let_go(), t until
 * record_finish(). 0 or -errno; what goes wrong later is told by record_error().
 */
int record_start(struct record *r, struct trace *t, struct view *v,
		 const struct record_guest *guest);
/* What has ended it before its time, -ENOSPC and such; 0: nothing. Any thread. */
int record_error(struct record *r);
/* The guest is about to be let go: read what only one that is attached to tells. Waits for no disk.
 */
void record_let_go(struct record *r);

struct record_result {
	uint64_t size;	/* of the file */
	uint64_t bytes; /* of pages in it */
	int lost;	/* what has kept some from being written, -errno; 0: all are there */
};

/*
 * The guest has been let go: write the rest, and make the trace.dat. done() is told how far that
 * is, in percent. 0 or -errno: then the file is still the journal. Of a stream the size is the
 * journal's.
 */
int record_finish(struct record *r, void (*done)(void *arg, unsigned int percent), void *arg,
		  struct record_result *result);
/* The trace.dat once it is finished: a descriptor of its own, or -errno. */
int record_reopen(const struct record *r);
/* Put it into its place, in a process that may. 0 or -errno. */
int record_place(const char *path);
/* The name of the file beside it that the trace.dat is written to. 0, or -ENAMETOOLONG. */
int record_part(const char *path, char part[RECORD_PATH_MAX]);
/* "1.4 MB", for people. Returns buf. */
#define RECORD_SIZE_LEN 32
const char *record_size(uint64_t bytes, char buf[RECORD_SIZE_LEN]);
/*
 * Ends the thread if it runs. Files that have come with record_open() go with it if nothing was
 * recorded. NULL is allowed.
 */
void record_close(struct record *r);

/* Who is told how far it is, in percent; done may be NULL. */
struct record_watch {
	void (*done)(void *arg, unsigned int percent);
	void *arg;
};

struct record_repaired {
	uint64_t size, bytes; /* as of record_result */
	uint64_t torn;	      /* bytes at the end of the journal that were not whole */
};

/*
 * Make a trace.dat of the journal that a recorder has left which was killed, in its place, or in
 * `to`; NULL: none. 0; 1: it is a trace.dat already; -1, with one line in err: nothing has changed.
 */
int record_repair(const char *path, const char *to, const struct record_watch *watch,
		  struct record_repaired *result, char *err, size_t errlen);

#endif
