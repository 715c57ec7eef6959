/* SPDX-License-Identifier: GPL-2.0-or-later */
/* guests.h - the guests of the host as they were seen last, and what is due of each by each rule.
 */
#ifndef HVTRACE_FRONTEND_SERVE_GUESTS_H
#define HVTRACE_FRONTEND_SERVE_GUESTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "frontend/config/config.h"
#include "frontend/serve/looker.h"

#define GUESTS_MAX 4096

struct round;

/* A rule, of a guest that it is for. */
struct due {
	bool wanted;	       /* it is for this guest */
	bool demanded;	       /* somebody has asked, or a threshold was crossed */
	int64_t next_ms;       /* not before; INT64_MAX: when it is demanded */
	int64_t pause_ms;      /* of that, for the sake of the guest */
	unsigned int failed;   /* times in a row */
	unsigned int before;   /* the same, that went well and were not too dear */
	int64_t busy_since_ms; /* steal is above the threshold since; 0: it is not */
	int64_t cool_ms;       /* no threshold is looked at before */
};

struct serve_guest {
	char name[128], uuid[MACHINE_UUID_SIZE], release[128];
	unsigned int id, vcpus;
	bool here;	 /* it runs */
	bool harmed;	 /* a tracer was killed that had it */
	int64_t gone_ms; /* when it was seen no more */
	bool seen;	 /* while guests_update() looks */
	char accel[8];
	char *metadata;	     /* of its domain */
	struct round *round; /* that is under way with it, or NULL */
	struct due *due;     /* of each rule; there is room for CONFIG_RULES */
	struct machine_load load;
	int64_t load_ms; /* when that was; 0: never */
	double steal;	 /* of a vCPU's time lately, the worst of all; < 0: not known */
};

struct guests {
	struct serve_guest **guest;
	size_t nr;
};

/* What becomes of one. */
struct guests_ops {
	void (*came)(void *arg, struct serve_guest *g);
	/* It does not run any more: a round that is under way is the caller's to end. It is freed
	 * by guests_drop() when nothing is under way any more. */
	void (*went)(void *arg, struct serve_guest *g);
	/* Its vCPUs have waited for so much since the last time. */
	void (*waited)(void *arg, struct serve_guest *g, unsigned int vcpu, uint64_t ns);
	void *arg;
};

/* What was seen takes the place of what was known. */
void guests_update(struct guests *all, const struct looker_sight *sight,
		   const struct guests_ops *ops);
/* By name or UUID. NULL: none. */
struct serve_guest *guests_find(const struct guests *all, const char *which);
/*
 * Those that are gone since before that time, and have no round; dropped() is told, NULL: nobody,
 * of one after which no guest has its name.
 */
void guests_drop(struct guests *all, int64_t before_ms,
		 void (*dropped)(void *arg, const struct serve_guest *g), void *arg);
void guests_free(struct guests *all);

/* Which rules are for which guests: `due` of all is as of a daemon that begins, but for rules that
 * are as they were: before[i] is the old number of rule i, or -1. */
void guests_apply(struct guests *all, const struct serve_config *cfg, const int *before);
/* The same of one that has come. */
void guests_apply_to(struct serve_guest *g, const struct serve_config *cfg);
/* What is known of this one may be something else by now: its labels, its kernel. */
void guests_match(struct serve_guest *g, const struct serve_config *cfg);

#endif
