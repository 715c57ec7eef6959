/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * dat.h - trace.dat files: what trace-cmd and KernelShark read and write, versions 6 and 7.
 *
 * The formats are told by trace-cmd.dat.v6(5) and trace-cmd.dat.v7(5). A file is anybody's: each
 * length and place in it is checked, and what is kept of it in memory is bounded. Only what is
 * little endian, has longs of 64 bits and pages of 4 to 64 KiB is read.
 */
#ifndef HVTRACE_FRONTEND_DAT_DAT_H
#define HVTRACE_FRONTEND_DAT_DAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct dat;

/* What is put into memory of all that describes the records, at most; and of one chunk of these. */
#define DAT_METADATA_MAX (UINT64_C(256) << 20)
#define DAT_CHUNK_MAX	 (UINT64_C(64) << 20)
#define DAT_CPUS_MAX	 8192 /* CONFIG_NR_CPUS of x86-64 is no larger */

/* Options of a file, by the numbers that they have in it. */
enum dat_option_id {
	DAT_OPTION_DONE = 0,
	DAT_OPTION_DATE = 1,
	DAT_OPTION_CPUSTAT = 2,
	DAT_OPTION_BUFFER = 3,
	DAT_OPTION_TRACECLOCK = 4,
	DAT_OPTION_UNAME = 5,
	DAT_OPTION_HOOK = 6,
	DAT_OPTION_OFFSET = 7,
	DAT_OPTION_CPUCOUNT = 8,
	DAT_OPTION_VERSION = 9,
	DAT_OPTION_PROCMAPS = 10,
	DAT_OPTION_TRACEID = 11,
	DAT_OPTION_TIME_SHIFT = 12,
	DAT_OPTION_GUEST = 13,
	DAT_OPTION_TSC2NSEC = 14,
	DAT_OPTION_STRINGS = 15,
	DAT_OPTION_HEADER_INFO = 16,
	DAT_OPTION_FTRACE_EVENTS = 17,
	DAT_OPTION_EVENT_FORMATS = 18,
	DAT_OPTION_KALLSYMS = 19,
	DAT_OPTION_PRINTK = 20,
	DAT_OPTION_CMDLINES = 21,
	DAT_OPTION_BUFFER_TEXT = 22,
};

/* A text of the file; text[len] is 0, whatever the file has there. NULL: it is not in the file. */
struct dat_text {
	const char *text;
	size_t len;
};

struct dat_format {
	const char *system; /* "ftrace", "sched", ... */
	struct dat_text text;
};

/* How time stamps that are ticks of the TSC become nanoseconds: (ticks * mult) >> shift. */
struct dat_tsc2nsec {
	uint32_t mult, shift; /* mult 0: there is no such thing */
	uint64_t offset;      /* what is taken off the ticks first; readers up to 3.1 do not */
};

/* The kernel's /proc/sys/kernel/random/boot_id: another one for each boot of each host. */
#define DAT_BOOT_ID_LEN 36

struct dat_info {
	const char *name;	 /* of the file, as it was opened */
	const char *part;	 /* the guest that dat_choose_part() has chosen; NULL: none */
	unsigned int version;	 /* 6, 7 */
	const char *compression; /* "none", "zlib", "zstd" */
	uint32_t page_size;
	unsigned int cpus; /* of the machine that was traced */
	bool has_trace_id;
	uint64_t trace_id;
	const char *clock;   /* "local"; NULL: not told */
	const char *uname;   /* NULL: not told */
	const char *program; /* that has written it; NULL: not told */
	/* The boot id of the host that it was written on; NULL: not told. */
	const char *host_boot;
	int64_t ts_offset; /* nanoseconds to add to each time stamp: what DATE and OFFSET come to */
	struct dat_tsc2nsec tsc2nsec;
	const struct dat_shift *shift; /* how they become the host's; NULL: not told */
	struct dat_text header_page, header_event, kallsyms, printk_formats, cmdlines;
	const struct dat_format *formats;
	size_t nr_formats;
};

/*
 * Where a part of a vCPU's data is in the file: pages, one behind the other, as they are or
 * compressed as one block.
 */
struct dat_piece {
	uint64_t offset; /* in the file */
	uint64_t stored; /* bytes there */
	uint64_t size;	 /* bytes of pages in them */
	bool compressed;
};

struct dat_vcpu {
	unsigned int cpu;
	uint64_t offset, stored; /* where the file says it is */
	const struct dat_piece *pieces;
	size_t nr_pieces;
	uint64_t size; /* bytes of pages, of all pieces */
};

/* One buffer: the top level's first, whose name is "", then those of instances. */
struct dat_buffer {
	const char *name;
	const char *clock; /* NULL: not told */
	uint32_t page_size;
	const struct dat_vcpu *vcpus; /* by their numbers, rising */
	unsigned int nr_vcpus;
	unsigned int cpus; /* one more than the highest number */
};

/* Whether a file begins as one, or as a recording that is to become one: of its first bytes. */
#define DAT_HEAD_LEN 128
bool dat_is_one(const void *head, size_t len);
/*
 * Whether there is something to read in what a recorder has left: not if it was killed before it
 * had recorded anything. It looks at heads of records and believes nothing else, so it may be asked
 * outside of a sandbox.
 */
bool dat_has_begun(int fd);

/*
 * Open a file and read all of it but the records. NULL on error, with one line in err that names
 * the file and what is wrong. dat_open_fd() takes the descriptor, also on error; name is what the
 * file is called in messages, and is copied.
 */
struct dat *dat_open(const char *path, char *err, size_t errlen);
struct dat *dat_open_fd(int fd, const char *name, char *err, size_t errlen);
void dat_close(struct dat *d); /* NULL is allowed; what was handed out of it goes with it */

const struct dat_info *dat_info(const struct dat *d);

enum dat_uname_word { DAT_UNAME_SYSTEM, DAT_UNAME_NODE, DAT_UNAME_RELEASE, DAT_UNAME_ARCH };

/*
 * A part of uname, "Linux NODE RELEASE MACHINE" as trace-cmd record writes it, and its length; a
 * node, as a domain's name, may have spaces. NULL: the file does not tell.
 */
const char *dat_uname(const struct dat_info *info, enum dat_uname_word word, size_t *len);
size_t dat_nr_buffers(const struct dat *d);
const struct dat_buffer *dat_buffer(const struct dat *d, size_t i);
/* The option of that id, the first one for nth = 0. False: there is none. */
bool dat_option(const struct dat *d, unsigned int id, size_t nth, struct dat_text *option);
/* An option GUEST of a host's file. */
struct dat_guest {
	const char *name;
	uint64_t trace_id;   /* of the guest's file */
	uint32_t nr;	     /* vCPUs that it tells of */
	const uint8_t *rows; /* for dat_guest_vcpu() */
};

/* The first one for nth = 0; false: there is none, or it is too short. */
bool dat_guest(const struct dat *d, size_t nth, struct dat_guest *o);
/* Which thread of the host runs which vCPU. */
void dat_guest_vcpu(const struct dat_guest *o, uint32_t i, uint32_t *vcpu, int32_t *tid);
/* Whether a file is that of the guest that it tells of. */
bool dat_guest_is(const struct dat_guest *o, const struct dat *d);

/*
 * The time of a time stamp of this vCPU's, in nanoseconds, or in what the clock counts in (see
 * dat_counts_ns()): the host's, if the file tells how. As libtracecmd 3.1 has it.
 */
uint64_t dat_time(const struct dat_info *info, unsigned int vcpu, uint64_t ts);
/* The first step of that alone. */
uint64_t dat_shift(const struct dat_shift *shift, unsigned int vcpu, uint64_t ts);
/*
 * Whether these are taken for nanoseconds, as libtracecmd does: not of clocks that count something
 * else, such as counter, and not of boot.
 */
bool dat_counts_ns(const struct dat_info *info);

/* --- files of several guests, which frontend/join makes --- */

#define DAT_PARTS_MAX 64
/*
 * GUEST is the buffer of a guest's top level, GUEST:INSTANCE that of its instance: of names with a
 * slash trace-cmd shows what is behind it.
 */
#define DAT_PART_COLON ':'
/*
 * How many guests a file says that it has, of DAT_PARTS_MAX at most; 0: it is of one. It looks at
 * the last bytes and believes nothing else, so it may be asked outside of a sandbox.
 */
unsigned int dat_parts_claimed(int fd);
/* Once it is open: as many as there are, and what they are called. 0: it is of one. */
size_t dat_nr_parts(const struct dat *d);
const char *dat_part(const struct dat *d, size_t i);
/*
 * From now on it is as the file of that guest was: its buffers, formats, symbols, tasks, kernel and
 * trace id are there and no others. For good, and before anything of it is used.
 */
void dat_choose_part(struct dat *d, size_t i);
/* What it is called where there are several: the guest that was chosen, or the file. */
const char *dat_title(const struct dat *d);

/* The pages of one vCPU, one after another, with one chunk of them in memory. */
struct dat_pages;

/* v is of one of d's buffers, b. NULL: no memory. */
struct dat_pages *dat_pages_open(struct dat *d, const struct dat_buffer *b,
				 const struct dat_vcpu *v);
void dat_pages_close(struct dat_pages *p); /* NULL is allowed */
/*
 * The next page: 1 with it in *page, valid until the next call, and its size, which is less than
 * b->page_size where the data end within one. 0: there is none. A negative errno: the file cannot
 * be read, has shrunk or lies; then dat_pages_error() says so in one line.
 */
int dat_pages_next(struct dat_pages *p, const void **page, size_t *size);
const char *dat_pages_error(const struct dat_pages *p);

#endif
