// SPDX-License-Identifier: GPL-2.0-or-later
/* tell.c - what the daemon tells of itself, in its metrics and to systemd: see daemon.h */
#include "frontend/serve/daemon.h"
#include "frontend/serve/notify.h"
#include "frontend/serve/plan.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#define BATCH ".batch" /* as frontend/ship/spool.c calls them */

static const struct metrics_labels none = {0};

/* --- the disk -----------------------------------------------------------------------------------
 */

static void tell_removed(const struct daemon *d, const char *rule, enum keep_why why, uint64_t nr)
{
	static const char *const words[KEEP_WHYS] = {
		[KEEP_FOR_DISK] = "disk", [KEEP_FOR_AGE] = "age"};
	const struct metrics_labels labels = {.rule = rule, .reason = words[why]};

	metrics_add(d->metrics, METRICS_REMOVED_RECORDINGS, &labels, (double)nr);
}

/* Recordings of rules that are no more are among all, and have no rule. */
void tell_disk(const struct daemon *d, const struct keep_result *of_rule,
	       const struct keep_result *all)
{
	const struct serve_config *c = d->conf->c;
	struct statvfs fs;

	for (size_t i = 0; i < c->nr_rules; i++) {
		const struct metrics_labels labels = {.rule = c->rules[i].name};

		metrics_set(d->metrics, METRICS_DISK, &labels, (double)of_rule[i].bytes);
	}
	metrics_set(d->metrics, METRICS_DISK, &none, (double)all->bytes);
	for (enum keep_why why = 0; why < KEEP_WHYS; why++) {
		uint64_t others = all->removed[why];

		for (size_t i = 0; i < c->nr_rules; i++) {
			tell_removed(d, c->rules[i].name, why, of_rule[i].removed[why]);
			others -= of_rule[i].removed[why];
		}
		tell_removed(d, NULL, why, others);
	}
	if (!statvfs(c->serve.state, &fs))
		metrics_set(d->metrics, METRICS_DISK_FREE, &none,
			    (double)fs.f_bavail * (double)fs.f_frsize);
}

/* --- what waits for a server --------------------------------------------------------------------
 */

struct waiting {
	uint64_t bytes; /* in the spool */
	time_t since;	/* of the oldest, also of recordings whose turn has not come */
	bool any;
};

static void take_oldest(struct waiting *w, const struct stat *st)
{
	if (!w->any || st->st_mtim.tv_sec < w->since)
		w->since = st->st_mtim.tv_sec;
	w->any = true;
}

/* A folder that is not there yet has nothing in it. */
static void look_at_spool(struct waiting *w, const char *path)
{
	DIR *dir = opendir(path);
	const struct dirent *entry;
	struct stat st;

	while (dir && (entry = readdir(dir))) {
		size_t len = strlen(entry->d_name);

		if (len <= strlen(BATCH) ||
		    strcmp(entry->d_name + len - strlen(BATCH), BATCH) != 0 ||
		    fstatat(dirfd(dir), entry->d_name, &st, AT_SYMLINK_NOFOLLOW))
			continue;
		w->bytes += (uint64_t)st.st_size;
		take_oldest(w, &st);
	}
	if (dir)
		closedir(dir);
}

static bool is_to_be_shipped(const struct round *r)
{
	for (unsigned int i = r->at; i < r->nr && !round_has_guest(r); i++)
		if (r->kind[i] == PLAN_SHIP)
			return true;
	return false;
}

void tell_shipping(const struct daemon *d)
{
	const struct serve_config *c = d->conf->c;
	struct waiting w = {0};
	char path[PATH_MAX];
	struct stat st;
	time_t now = time(NULL);

	if (!plan_spool(c, path, sizeof(path)))
		look_at_spool(&w, path);
	for (size_t i = 0; i < d->nr_rounds; i++)
		if (is_to_be_shipped(d->round[i]) && !stat(d->round[i]->recording, &st))
			take_oldest(&w, &st);
	metrics_set(d->metrics, METRICS_SHIP_SPOOL, &none, (double)w.bytes);
	metrics_set(d->metrics, METRICS_SHIP_SPOOL_LIMIT, &none, (double)c->ship.spool_bytes);
	metrics_set(d->metrics, METRICS_SHIP_LAG, &none,
		    w.any && w.since < now ? (double)(now - w.since) : 0);
}

/* --- what it takes itself -----------------------------------------------------------------------
 */

static double seconds(const struct timeval *t)
{
	return (double)t->tv_sec + (double)t->tv_usec / 1e6;
}

/* Pages that it has, the second number of statm; 0: that is not known. */
static uint64_t resident_pages(void)
{
	FILE *f = fopen("/proc/self/statm", "re");
	char line[128], *second = NULL;

	if (f && fgets(line, sizeof(line), f))
		second = strchr(line, ' ');
	if (f)
		fclose(f);
	return second ? strtoull(second, NULL, 10) : 0;
}

void tell_own(struct daemon *d)
{
	uint64_t pages = resident_pages();
	struct rusage used;
	double cpu;

	if (pages)
		metrics_set(d->metrics, METRICS_RESIDENT, &none,
			    (double)pages * (double)sysconf(_SC_PAGESIZE));
	if (getrusage(RUSAGE_SELF, &used))
		return;
	cpu = seconds(&used.ru_utime) + seconds(&used.ru_stime);
	metrics_add(d->metrics, METRICS_CPU, &none, cpu - d->cpu_s);
	d->cpu_s = cpu;
}

/* --- now ----------------------------------------------------------------------------------------
 */

void tell_attached(const struct daemon *d)
{
	size_t nr = 0;

	for (size_t i = 0; i < d->guests.nr; i++) {
		const struct serve_guest *g = d->guests.guest[i];
		const struct metrics_labels labels = {.guest = g->name, .uuid = g->uuid};

		nr += g->round != NULL;
		metrics_set(d->metrics, METRICS_GUEST_ATTACHED, &labels, g->round != NULL);
	}
	metrics_set(d->metrics, METRICS_COLLECTORS, &none, (double)nr);
}

/* Its watchdog, if it has one, and what systemctl status shows. */
void tell_systemd(struct daemon *d, int64_t now_ms)
{
	char status[sizeof(d->status)];
	size_t here = 0, traced = 0;

	for (size_t i = 0; i < d->guests.nr; i++) {
		here += d->guests.guest[i]->here;
		traced += d->guests.guest[i]->round != NULL;
	}
	snprintf(status, sizeof(status), "%zu guests, %zu of them traced", here, traced);
	if (strcmp(status, d->status) != 0) {
		memcpy(d->status, status, sizeof(d->status));
		notify_status(status);
	}
	if (!d->alive_ms || now_ms - d->told_ms < d->alive_ms)
		return;
	d->told_ms = now_ms;
	notify_alive();
}
