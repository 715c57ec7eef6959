/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * metrics.h - what operators ask of an hvtrace that goes on for months, as numbers that Prometheus
 * reads: how guests are, what tracing them costs, whether what is recorded arrives.
 *
 * The families are fixed: metrics_about() tells what each is. Within a family there is a number, or
 * a histogram, for each set of labels. What labels say is anybody's, a guest's name for one: it is
 * made fit for a terminal as by escape.h and cut at METRICS_VALUE_MAX bytes, and a family has so
 * many sets and no more. What there is no room for, or no memory, is counted
 * (METRICS_LEFT_OUT_SAMPLES).
 *
 * Any thread may call any of these, but for metrics_free() and metrics_stop().
 */
#ifndef HVTRACE_FRONTEND_METRICS_METRICS_H
#define HVTRACE_FRONTEND_METRICS_METRICS_H

#include <stddef.h>
#include <stdint.h>

#include "frontend/report/latency.h"

#define METRICS_VALUE_MAX   256
#define METRICS_ADDRESS_LEN 128

enum metrics_family {
	/* Guests */
	METRICS_GUEST_INFO,
	METRICS_GUEST_UP,
	METRICS_GUEST_ATTACHED,
	METRICS_GUEST_REBOOTS,
	METRICS_GUEST_PANICS,
	METRICS_VCPU_STEAL,
	METRICS_IRQS_OFF,
	METRICS_PREEMPT_OFF,
	METRICS_WAKEUP_LATENCY,
	METRICS_SYSCALL_LATENCY,
	METRICS_SYSCALL_ERRORS,
	/* What tracing them costs */
	METRICS_WINDOWS,
	METRICS_FAILURES,
	METRICS_BACKOFF,
	METRICS_RECORDS,
	METRICS_LOST_RECORDS,
	METRICS_RECORDED_BYTES,
	METRICS_STANDSTILL,
	METRICS_LONGEST_STANDSTILL,
	METRICS_STANDSTILL_BUDGET,
	METRICS_OVERHEAD,
	METRICS_OVERHEAD_BUDGET,
	METRICS_CPU,
	METRICS_RESIDENT,
	METRICS_COLLECTORS,
	METRICS_COLLECTORS_LIMIT,
	/* Where records go */
	METRICS_DISK,
	METRICS_DISK_LIMIT,
	METRICS_DISK_FREE,
	METRICS_REMOVED_RECORDINGS,
	METRICS_SHIP_RECORDS,
	METRICS_SHIP_BATCHES,
	METRICS_SHIP_BYTES,
	METRICS_SHIP_FAILURES,
	METRICS_SHIP_SPOOL,
	METRICS_SHIP_SPOOL_LIMIT,
	METRICS_SHIP_LAG,
	METRICS_SHIP_LOST_RECORDS,
	/* hvtrace itself */
	METRICS_BUILD_INFO,
	METRICS_START_TIME,
	METRICS_LIBVIRT_CONNECTED,
	METRICS_CONFIG_RELOAD_SUCCESS,
	METRICS_CONFIG_RELOAD_TIME,
	METRICS_RULES,
	METRICS_LEFT_OUT_SAMPLES,
	METRICS_FAMILIES
};

enum metrics_type { METRICS_COUNTER, METRICS_GAUGE, METRICS_HISTOGRAM, METRICS_INFO };

/*
 * Those that a family has not are not looked at; NULL and "" are the same: it says nothing. Where
 * there are none NULL may be given.
 */
struct metrics_labels {
	const char *guest;  /* its name */
	const char *uuid;   /* of a domain of libvirt */
	const char *kernel; /* its release */
	const char *rule;   /* by which it is traced */
	const char *vcpu, *syscall;
	const char *outcome, *reason; /* one word of a few */
	const char *server;	      /* that records are shipped to */
	const char *version;
};

struct metrics_about {
	const char *name; /* without what a type adds: _total, _info, _bucket and such */
	const char *unit; /* which is the name's last word; NULL: it is a number of things */
	const char *help;
	enum metrics_type type;
	unsigned int sets;	    /* so many sets of labels at most */
	unsigned int first, last;   /* of histograms: the buckets that are told apart */
	const char *const label[4]; /* NULL behind the last */
};

/* Not NULL. */
const struct metrics_about *metrics_about(enum metrics_family family);

/* --- metrics.c -------------------------------------------------------------------------------- */

struct metrics;

/* With this program's own METRICS_BUILD_INFO, and no other. NULL: no memory. */
struct metrics *metrics_new(void);
void metrics_free(struct metrics *m); /* NULL is allowed */

/*
 * A counter goes up by what there is more since the last time, in the family's unit; by 0 it is
 * there from then on, so that it is seen when it goes up first. What is negative or no number is
 * not looked at: counters never go back.
 */
void metrics_add(struct metrics *m, enum metrics_family family, const struct metrics_labels *labels,
		 double more);
/* What a gauge is now, in the family's unit; 1 of an info. */
void metrics_set(struct metrics *m, enum metrics_family family, const struct metrics_labels *labels,
		 double value);
/*
 * A histogram gets more, of a latency_row for one: its bucket[] and its total. A family of system
 * calls has METRICS_SYSCALLS_MAX of a guest and a rule; what comes behind them is "other".
 */
#define METRICS_SYSCALLS_MAX 32
void metrics_observe_many(struct metrics *m, enum metrics_family family,
			  const struct metrics_labels *labels,
			  const uint64_t bucket[LATENCY_REPORT_BUCKETS], uint64_t total_ns);

/* All of a guest that has gone for good; of one family, or of METRICS_FAMILIES: of each. */
void metrics_forget(struct metrics *m, enum metrics_family family, const char *guest);

/* Of a rule that is no more: what gauges say of it now. Counters and histograms stay, of what was.
 */
void metrics_forget_rule(struct metrics *m, const char *rule);

/* --- print.c ---------------------------------------------------------------------------------- */

enum metrics_format {
	METRICS_TEXT,	     /* Prometheus' text format 0.0.4 */
	METRICS_OPENMETRICS, /* 1.0 */
};

/*
 * All there is, in an order that stays. Where a bucket ends (le) is the longest that is in it:
 * 2^n - 1 ns, so that counts are those that hvtrace latency and such print.
 */
void metrics_print(struct metrics *m, enum metrics_format format, struct text *out);

/* --- serve.c ---------------------------------------------------------------------------------- */

struct metrics_server;

/*
 * Serve /metrics, /-/healthy and a page that names them by HTTP, on a thread of its own, to anybody
 * who can connect. address: "ADDRESS:PORT", in numbers; ":PORT" for all of the host's; port 0 for
 * any that is free; or a socket's path, which begins with "/" and which this user and group may
 * connect to. m has to stay until metrics_stop(). 0, or -errno and in err one line that says what
 * is wrong and what to do.
 *
 * Nobody who connects can hold it or make it grow: there are METRICS_PEERS_MAX connections at once,
 * each is one request, and over after METRICS_PEER_MS, whatever has come of it.
 */
#define METRICS_PEERS_MAX 16
#define METRICS_PEER_MS	  10000
int metrics_serve(struct metrics_server **s, struct metrics *m, const char *address, char *err,
		  size_t errlen);
/* Where it listens, as metrics_serve() takes it, with the port that it has got. */
const char *metrics_server_address(const struct metrics_server *s);
/* Whoever is being answered is left at once. NULL is allowed. */
void metrics_stop(struct metrics_server *s);

#endif
