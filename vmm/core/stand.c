// SPDX-License-Identifier: GPL-2.0-or-later
/* stand.c - counts how often and for how long a guest stands. Who watches: watchdog.c. */
#include "vmm/core/stand.h"
#include "vmm/core/backend.h"

#include <errno.h>
#include <time.h>

int stand_init(struct stand *s)
{
	pthread_condattr_t attr;
	int rc;

	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	rc = pthread_cond_init(&s->change, &attr);
	pthread_condattr_destroy(&attr);
	if (rc)
		return -rc;
	rc = pthread_mutex_init(&s->lock, NULL);
	if (rc)
		pthread_cond_destroy(&s->change);
	return -rc;
}

void stand_exit(struct stand *s)
{
	pthread_mutex_destroy(&s->lock);
	pthread_cond_destroy(&s->change);
}

static int64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

/* In which row of the histogram: the last has all that are longer than the others. */
static unsigned int row_of(uint64_t ns)
{
	unsigned int row = 0;

	while (row < MACHINE_PAUSE_ROWS - 1 && ns / 1000 >= (uint64_t)1 << row)
		row++;
	return row;
}

static void count_locked(struct stand *s, uint64_t ns)
{
	s->sum.count++;
	s->sum.total_ns += ns;
	s->sum.row[row_of(ns)]++;
	if (ns < s->sum.longest_ns)
		return;
	s->sum.longest_ns = ns;
	s->sum.longest_what = s->first;
}

void stand_begin(struct machine *m, const char *what)
{
	struct stand *s = &m->stand;

	pthread_mutex_lock(&s->lock);
	if (!s->depth++) {
		s->since = now_ns();
		s->first = s->last = NULL;
	}
	if (what)
		s->last = what;
	if (!s->first)
		s->first = what;
	pthread_mutex_unlock(&s->lock);
}

void stand_end(struct machine *m)
{
	struct stand *s = &m->stand;

	pthread_mutex_lock(&s->lock);
	if (!--s->depth)
		count_locked(s, (uint64_t)(now_ns() - s->since));
	pthread_mutex_unlock(&s->lock);
}

void machine_get_pauses(struct machine *m, struct machine_pauses *pauses)
{
	struct stand *s = &m->stand;

	pthread_mutex_lock(&s->lock);
	*pauses = s->sum;
	pthread_mutex_unlock(&s->lock);
}
