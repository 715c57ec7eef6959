/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * latency.h - how long things took, as histograms: windows by where they began and ended, as a
 * trace has kept them (hvtrace/latency), or whatever else has begun and ended (frontend/jobs).
 */
#ifndef HVTRACE_FRONTEND_REPORT_LATENCY_H
#define HVTRACE_FRONTEND_REPORT_LATENCY_H

#include "tracer/tracer.h"

/* As tracer/stat/latency-table.h has them: 0 ns; then of 2^(n-1) ns to less than 2^n. */
enum { LATENCY_REPORT_BUCKETS = 48, LATENCY_NAME_LEN = 128 };

struct latency_row {
	char from[LATENCY_NAME_LEN], to[LATENCY_NAME_LEN]; /* to: "" if the first says it all */
	uint64_t count, total, max;			   /* ns */
	uint64_t errors;				   /* of count, those that have failed */
	uint64_t bucket[LATENCY_REPORT_BUCKETS];
	char *stack; /* of the longest: names, innermost first, a tab between two; NULL: none */
};

/* What rows are of. */
struct latency_words {
	const char *each;   /* "windows" */
	const char *rows;   /* "pairs of a beginning and an end" */
	const char *column; /* "FROM -> TO" */
	bool errors;	    /* they may fail */
};

struct latency_report {
	const struct latency_words *words; /* NULL: windows */
	char tracer[32];		   /* "none": nothing was kept */
	uint64_t left_out, gaps;	   /* windows without a row; times that records were lost */
	struct latency_row *row;
	size_t nr;
};

/*
 * The text of hvtrace/latency, whoever has written it. 0, -ENOMEM, or -EINVAL: *line makes no
 * sense. latency_report_free() in any case.
 */
int latency_report_read(struct latency_report *r, const char *text, size_t len, unsigned int *line);
void latency_report_free(struct latency_report *r);

#define LATENCY_SORT_NAMES "max, p99, mean, total and count"
enum latency_sort { LATENCY_MAX, LATENCY_P99, LATENCY_MEAN, LATENCY_TOTAL, LATENCY_COUNT };

/* i from 0 on, up to NULL. */
const char *latency_sort_name(unsigned int i);
bool latency_sort_parse(const char *name, enum latency_sort *by);
/* Who has most comes first. */
void latency_report_sort(struct latency_report *r, enum latency_sort by);

/* All rows in one; without names. */
void latency_report_sum(const struct latency_report *r, struct latency_row *sum);

/* Not NULL. */
const struct latency_words *latency_words(const struct latency_report *r);
/* One more that took so long. */
void latency_add(struct latency_row *row, uint64_t ns);
uint64_t latency_mean(const struct latency_row *row);
/*
 * What `percent` of all windows took at most: the end of the bucket in which the last of them is,
 * so up to twice as much, though never more than the longest.
 */
uint64_t latency_percentile(const struct latency_row *row, unsigned int percent);
/* What a window of this bucket took at least. */
uint64_t latency_bucket_begin(unsigned int bucket);

/* The buckets that any of the first nr rows has something in. False: none has. */
bool latency_report_range(const struct latency_report *r, size_t nr, unsigned int *first,
			  unsigned int *last);

/* "from -> to", or what there is of it, with nothing in it that a terminal takes for a command. */
void latency_put_names(const struct latency_row *row, struct text *out);

/* --- render-latency.c: a table ---------------------------------------------------------------- */

struct latency_view {
	size_t rows; /* so many at most */
	bool blocks; /* the terminal shows Unicode */
	bool stacks; /* below each row that of its longest window */
};

void render_latency(const struct latency_report *r, const struct latency_view *view,
		    struct text *out);

/* --- render-latency-svg.c: a picture, a panel for each row ------------------------------------ */

void render_latency_svg(const struct latency_report *r, size_t rows, const char *title,
			struct text *out);

#endif
