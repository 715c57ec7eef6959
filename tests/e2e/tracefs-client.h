/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tracefs-client.h - what the parts of the test program tracefs-client share. */
#ifndef HVTRACE_TESTS_E2E_TRACEFS_CLIENT_H
#define HVTRACE_TESTS_E2E_TRACEFS_CLIENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <kbuffer.h>
#include <tracefs.h>

enum { PAGE_BYTES = 4096 };

struct client {
	const char *dir;
	struct tracefs_instance *instance; /* that is tested now */
	struct tep_handle *tep;
	bool failed;
	const char *skipped; /* why the test that returns was not made */
};

/* Say on stdout what is not so, and where. */
#define check(condition) check_at(condition, #condition, __FILE__, __LINE__)

bool check_at(bool ok, const char *condition, const char *file, int line);
/* What a file of the instance reads. */
bool is_read(struct client *c, const char *file, const char *want);
bool list_has(char **list, const char *want);

/* --- tracefs-client-decode.c: records, from the text and from the pages -------------------------
 */

struct record {
	uint64_t us, ip, parent; /* ip: 0 for text that was written */
	int cpu, pid;
	char comm[20], flags[6], text[64];
};

struct records {
	struct record *at;
	size_t nr, room;
	struct client *c;
};

/* A new one at the end, all zero. */
struct record *records_add(struct records *r);
bool records_from_text(struct client *c, struct records *r);
/* From pages: by tracefs_cpu_read(), through a pipe, by tracefs_iterate_raw_events(), from a file.
 */
bool records_read(struct client *c, struct records *r);
bool records_spliced(struct client *c, struct records *r);
bool records_iterated(struct client *c, struct records *r);
bool records_written(struct client *c, struct records *r);
/* One vCPU behind the other, each in its order. */
void sort_records(struct records *r);
bool same_records(const struct records *text, const struct records *pages);

/* --- tests: false when something is wrong -------------------------------------------------------
 */

/* tracefs-client-records.c; record_some() has the function tracer record some, and stops it. */
bool record_some(struct client *c);
bool test_iterate(struct client *c);
bool test_cpu_read(struct client *c);
bool test_cpu_splice(struct client *c);
bool test_cpu_write(struct client *c);
bool test_graph(struct client *c);

/*
 * tracefs-client-pipe.c. Linux from 6.5 on takes FUSE files that have no size for empty: where
 * can_splice() is false, the test is skipped.
 */
bool can_splice(struct client *c);
bool test_pipe(struct client *c);
bool test_pipe_stream(struct client *c);
bool test_cpu_waits(struct client *c);

#endif
