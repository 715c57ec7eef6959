// SPDX-License-Identifier: GPL-2.0-or-later
/* error-log.c - see error-log.h */
#include "tracer/lib/error-log.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NR_ERRORS 8
#define WHERE_LEN 128 /* with what is printed behind it */
#define PREFIX	  "  Command: "

struct error {
	uint64_t ns;
	uint16_t pos;
	char where[WHERE_LEN];
	char *what, *command;
};

struct error_log {
	pthread_mutex_t lock;
	struct error error[NR_ERRORS];
	size_t nr, oldest;
};

struct error_log *error_log_new(void)
{
	struct error_log *log = calloc(1, sizeof(*log));

	if (log)
		pthread_mutex_init(&log->lock, NULL);
	return log;
}

void error_log_free(struct error_log *log)
{
	if (!log)
		return;
	error_log_clear(log);
	pthread_mutex_destroy(&log->lock);
	free(log);
}

static void error_free(struct error *e)
{
	free(e->what);
	free(e->command);
	*e = (struct error){0};
}

/* An empty place; the oldest error makes room. */
static struct error *place_take(struct error_log *log)
{
	struct error *e = &log->error[(log->oldest + log->nr) % NR_ERRORS];

	if (log->nr < NR_ERRORS)
		log->nr++;
	else
		log->oldest = (log->oldest + 1) % NR_ERRORS;
	error_free(e);
	return e;
}

void error_log_add(struct error_log *log, uint64_t ns, const char *where, const char *what,
		   const char *command, uint16_t pos)
{
	struct error new = {.ns = ns, .pos = pos};

	new.what = strdup(what);
	new.command = strdup(command);
	if (!new.what || !new.command) {
		error_free(&new);
		return;
	}
	snprintf(new.where, sizeof(new.where), "%s: error: ", where);
	pthread_mutex_lock(&log->lock);
	*place_take(log) = new;
	pthread_mutex_unlock(&log->lock);
}

uint16_t error_log_pos(const char *command, const char *part)
{
	const char *at = strstr(command, part);

	return at && at - command <= UINT16_MAX ? (uint16_t)(at - command) : 0;
}

void error_log_clear(struct error_log *log)
{
	pthread_mutex_lock(&log->lock);
	for (size_t i = 0; i < NR_ERRORS; i++)
		error_free(&log->error[i]);
	log->nr = 0;
	log->oldest = 0;
	pthread_mutex_unlock(&log->lock);
}

static void error_print(const struct error *e, struct text *out)
{
	text_printf(out, "[%5" PRIu64 ".%06" PRIu64 "] %s", e->ns / 1000000000,
		    e->ns / 1000 % 1000000, e->where);
	text_puts(out, e->what);
	text_puts(out, "\n" PREFIX);
	text_puts(out, e->command);
	text_printf(out, "\n%*s^\n", (int)sizeof(PREFIX) - 1 + e->pos, "");
}

void error_log_print(struct error_log *log, struct text *out)
{
	pthread_mutex_lock(&log->lock);
	for (size_t i = 0; i < log->nr; i++)
		error_print(&log->error[(log->oldest + i) % NR_ERRORS], out);
	pthread_mutex_unlock(&log->lock);
}
