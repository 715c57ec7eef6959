/* SPDX-License-Identifier: GPL-2.0-or-later */
/* crowd.h - what the parts of the test program crowd share. */
#ifndef HVTRACE_TESTS_SOAK_CROWD_H
#define HVTRACE_TESTS_SOAK_CROWD_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum {
	FILES_MAX = 1024,
	PATH_ROOM = 192,
	PAGE_BYTES = 4096,
	MARK_MAX = 900,
};

struct file {
	char path[PATH_ROOM];
	mode_t mode;
	_Atomic uint64_t digest; /* of a file that does not change; 0: not read yet */
};

/* Of all processes. */
struct shared {
	_Atomic bool end;
	_Atomic uint64_t reads, bytes, lines, pages, marks, writes, busy;
	unsigned int nr_files;
	struct file files[FILES_MAX];
};

struct member {
	struct shared *shared;
	const char *dir;
	uint64_t random;
	unsigned int number, marked;
};

/* --- crowd-check.c: what is read has to make sense ----------------------------------------------
 */

/* Say what is wrong with a file, and end this process so that all know. */
__attribute__((format(printf, 2, 3), noreturn)) void wrong(const char *path, const char *format,
							   ...);
/* errno is one that the kernel would give, too, for what is done here. */
void check_error(struct member *m, const char *path, const char *what);
/* Text that says what it has to be: its length. Room for MARK_MAX letters and 64 more. */
size_t make_mark(char *to, unsigned int who, unsigned int n);
/* What the name of a file says of it. */
unsigned int kind_of(const char *path);
bool kind_is_constant(unsigned int kind);
bool kind_is_event(unsigned int kind);
/* All whole lines of a text; what is left of the last one goes to its front: its length. */
size_t check_lines(struct member *m, const char *path, unsigned int kind, char *text, size_t len);
void check_page(struct member *m, const char *path, const char *page);

/* --- crowd-do.c: what they do -------------------------------------------------------------------
 */

/* A number below; each process has its own row of them. */
uint64_t chance(struct member *m, uint64_t below);
/* One of all that there is to do. */
void do_something(struct member *m);
/* Read what may never come, until killed. */
void wait_for_more(struct member *m);

#endif
