/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ship.h - takes records of trace.dat files to ClickHouse: one process reads a file and makes
 * batches of it (ship_feed()), in the sandbox; another one that has never looked into the file
 * delivers them (ship_deliver()). A pipe between them is the queue.
 *
 * Each record counts once, however often a file is shipped, and whatever is killed meanwhile. The
 * rows of a delivery, which is one INSERT, have a number of its own, `sent`. Nothing is seen of
 * them (scripts/clickhouse/) before a row of the table `batches` names it, which is written when
 * the server has said that it has all of them; of several deliveries of one batch, on whatever
 * servers, the one with the least number is seen. So a batch of which nobody knows what has become
 * may be sent again, and anywhere.
 */
#ifndef HVTRACE_FRONTEND_SHIP_SHIP_H
#define HVTRACE_FRONTEND_SHIP_SHIP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "frontend/decode/formats.h"
#include "frontend/decode/records.h"

#define SHIP_SERVERS_MAX    16
#define SHIP_BATCH_ROWS	    (UINT32_C(1) << 20)
#define SHIP_BATCH_ROWS_MAX (UINT32_C(4) << 20)

/* --- who reads ---------------------------------------------------------------------------------
 */

struct ship_source {
	struct dat *dat;
	struct formats *formats;
	struct records *records; /* of all buffers, none left out: they are counted */
	const char *host;
	const char *guest; /* NULL: what the file says, else the name of the file */
	uint32_t rows;	   /* of a batch */
	bool fields;	   /* what events say as text, too */
	uint32_t written;  /* when the file was, in seconds since 1970 */
	int fd;		   /* where batches go: a pipe to ship_deliver() */
};

/* To the end, or an error of records_error(). 0, -EPIPE: nobody takes them any more, or -errno. */
int ship_feed(const struct ship_source *s);

/* --- who delivers ------------------------------------------------------------------------------
 */

/* NULL, or what is missing on this host, in one line. */
const char *ship_missing(void);
/* Whether it is a URL that may be in ship_config. */
bool ship_url_good(const char *url);

struct ship_config {
	const char *const *urls; /* of servers, SHIP_SERVERS_MAX at most */
	size_t nr_urls;
	const char *database;
	const char *user, *password; /* NULL: none; without control characters */
	const char *spool;	     /* a folder, NULL: none */
	uint64_t spool_max;	     /* bytes */
	uint64_t retry_ms; /* for an answer, and how long servers that do not take anything are
			      tried */
	uint64_t for_ms;   /* of all of it; 0: as long as it takes */
	/* What is to be known while it goes on, a line; from the same thread. */
	void (*say)(void *arg, const char *line);
	void *arg;
};

struct ship_result {
	uint64_t records, batches;	   /* delivered */
	uint64_t raw, packed;		   /* bytes of these, before and after compression */
	uint64_t there, there_batches;	   /* records that were there already */
	uint64_t spooled, spooled_batches; /* of this feed's */
	uint64_t missed, missed_batches;   /* neither delivered nor spooled */
	uint64_t left;			   /* batches in the spool in the end */
	uint64_t lost;			   /* records that the trace has lost among these */
	bool refused;			   /* a file, which is said */
	bool stopped;			   /* more of the feed was not even looked at */
	char why[256]; /* the last reason why a server took nothing; may be "" */
};

/*
 * Make the database and the tables of scripts/clickhouse/schema.sql, where they are not there yet,
 * on all servers. 0, or -1 with one line in err.
 */
int ship_create(const struct ship_config *cfg, char *err, size_t errlen);
/*
 * Deliver what is in the spool, then what comes from fd, to its end. 0, or -1 with one line in err
 * where it could not begin; what has become of it is in *result.
 */
int ship_deliver(const struct ship_config *cfg, int fd, struct ship_result *result, char *err,
		 size_t errlen);

#endif
