/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * check.h - `hvtrace check-host`: checks are rows of tables, one file for each group. A check looks
 * at one thing and says in a line how it is; printing and counting is done here (print.c).
 */
#ifndef HVTRACE_FRONTEND_CHECK_CHECK_H
#define HVTRACE_FRONTEND_CHECK_CHECK_H

#include <stdbool.h>
#include <stdio.h>

struct json;

enum check_verdict {
	CHECK_NOTE,	 /* something to know, neither good nor bad */
	CHECK_OK,	 /* it does what hvtrace counts on */
	CHECK_FAILED,	 /* it does not */
	CHECK_NOT_TRIED, /* and text says why */
	NR_CHECK_VERDICTS,
};

struct check_result {
	enum check_verdict verdict;
	char text[256];
};

/* One line of the report. Rows end with one that has no name. */
struct check {
	const char *name;
	/* Fill in res by check_say(); arg is what the rows of a table have in common. */
	void (*run)(void *arg, struct check_result *res);
};

struct check_report {
	FILE *out;
	struct json *json; /* writes to it; NULL: lines of text */
	unsigned int count[NR_CHECK_VERDICTS];
	bool (*cancelled)(void *arg); /* asked between checks; NULL: never */
	int cancel;		      /* a descriptor that is readable then; -1: none */
	void *arg;
};

/* What the commands' options say. */
struct check_options {
	const char *kernel, *connect, *target;
};

void check_say(struct check_result *res, enum check_verdict verdict, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* Before the first one. */
void check_begin(struct check_report *r);
/* One line; texts have no control characters when they are printed. */
void check_print(struct check_report *r, const char *name, const struct check_result *res);
/* All rows, until it is cancelled. */
void checks_run(struct check_report *r, const struct check *rows, void *arg);
/* In place of a table whose rows cannot be tried. */
void checks_skip(struct check_report *r, const char *what, const char *why);
/* The same for one that needs /dev/kvm: a failure where that can be opened. */
void check_cannot(struct check_report *r, const char *what, const char *why);
/* The last line, and whether nothing has failed. */
bool check_summary(struct check_report *r);
bool check_is_cancelled(const struct check_report *r);

/* --- the groups ------------------------------------------------------------------------------- */

void check_host(struct check_report *r, const struct check_options *opt);   /* host.c */
void check_kvm(struct check_report *r);					    /* kvm.c */
void check_bare(struct check_report *r);				    /* bare.c */
void check_kernel(struct check_report *r, const struct check_options *opt); /* kernel.c */
void check_attach(struct check_report *r, const struct check_options *opt); /* attach.c */
void check_look(struct check_report *r, const struct check_options *opt);   /* look.c */

#endif
