/* SPDX-License-Identifier: GPL-2.0-or-later */
/* daemon.h - what the daemon has: the parts of it share this, on one thread. */
#ifndef HVTRACE_FRONTEND_SERVE_DAEMON_H
#define HVTRACE_FRONTEND_SERVE_DAEMON_H

#include "frontend/metrics/metrics.h"
#include "frontend/serve/conf.h"
#include "frontend/serve/guests.h"
#include "frontend/serve/looker.h"
#include "frontend/serve/requests.h"
#include "frontend/serve/round.h"

/* Beside the collectors: so many look at recordings at a time. */
#define DAEMON_JOBS    2
#define DAEMON_TICK_MS 1000

struct daemon {
	const char *config; /* its file */
	const struct config_words *words;
	struct conf *conf;
	struct metrics *metrics;
	struct metrics_server *server;	  /* NULL: they are served nowhere */
	char listen[METRICS_ADDRESS_LEN]; /* what of the configuration it is by */
	struct looker *looker;
	struct machine_watch *watch; /* NULL: after a reload there was no room for one */
	bool half_looked;	     /* looker or watch are not as the configuration says */
	bool libvirt_gone;	     /* as the last sight says */
	int state; /* its directory, which is locked: a second daemon would take away the first
		      one's files */
	struct requests *requests;
	struct guests guests;
	struct round **round; /* under way */
	size_t nr_rounds, room;
	struct step repair; /* of one recording at a time, as it begins */
	char *unfinished;   /* the paths that are left, with a '\0' behind each: the one that is
			       repaired is the first */
	size_t unfinished_len;
	int signals;
	bool stopping;
	int64_t keep_ms;  /* the disk is looked at then */
	int64_t alive_ms; /* systemd is told so often; 0: not at all */
	int64_t told_ms;
	char status[128];    /* systemd was told that last */
	double cpu_s;	     /* its own, that has been told */
	unsigned int random; /* state of rand_r(3): when windows begin */
};

int64_t daemon_now_ms(void);
/* Its recorder has ended: if that was killed, what it has recorded is made whole. */
void daemon_repair(struct daemon *d, const char *recording);
/* The same of each recording that is there and that nobody records to any more. */
void daemon_repair_all(struct daemon *d);

/* --- rules.c: what is due, and what comes of rounds ------------------------------------------- */

/* Begin all rounds and steps that may begin, and end what is over. */
void rules_tick(struct daemon *d, int64_t now_ms);
/* A guest has come, or gone. */
void rules_came(struct daemon *d, struct serve_guest *g);
void rules_went(struct daemon *d, struct serve_guest *g);
/* Trace it as soon as it can be. 0; -ENOENT: the rule is not for it. */
int rules_demand(struct daemon *d, struct serve_guest *g, size_t rule);

/* --- tell.c: of itself, in metrics and to systemd ------------------------------------------------
 */

/* What keep_within() has found: of each rule, and of all. */
void tell_disk(const struct daemon *d, const struct keep_result *of_rule,
	       const struct keep_result *all);
/* What waits for a server that takes it. */
void tell_shipping(const struct daemon *d);
/* What the daemon has used. */
void tell_own(struct daemon *d);
void tell_attached(const struct daemon *d);
void tell_systemd(struct daemon *d, int64_t now_ms);

/* --- reload.c -----------------------------------------------------------------------------------
 */

/* Read the configuration anew: 0; -1: what is wrong with it is said, and the old one holds; 1: it
 * holds, but for what could not begin, which is said, goes on as before, and is tried again by the
 * next reload. */
int reload(struct daemon *d);
/* Metrics and looker as the configuration says; the first time, and when it is another one. 0, or
 * -1: one line has said why not. */
int reload_parts(struct daemon *d);

#endif
