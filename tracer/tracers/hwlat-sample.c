// SPDX-License-Identifier: GPL-2.0-or-later
/* hwlat-sample.c - see hwlat-sample.h */
#include "tracer/tracers/hwlat-sample.h"
#include "tracer/core/trace.h"
#include "tracer/tracers/files.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>

/* DEFAULT_SAMPLE_WINDOW and its like (kernel/trace/trace_hwlat.c, 6.1) */
#define WINDOW_US 1000000
#define WIDTH_US  500000
#define THRESH_NS 10000

struct hwlat_settings *hwlat_settings_new(void)
{
	struct hwlat_settings *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	*s = (struct hwlat_settings){
		.width_us = WIDTH_US,
		.window_us = WINDOW_US,
		.mode = HWLAT_ROUND_ROBIN,
		.thresh = THRESH_NS,
	};
	pthread_mutex_init(&s->lock, NULL);
	return s;
}

void hwlat_settings_free(struct hwlat_settings *s)
{
	if (!s)
		return;
	pthread_mutex_destroy(&s->lock);
	free(s);
}

void hwlat_detach(struct hwlat_settings *s)
{
	pthread_mutex_lock(&s->lock);
	s->detached = true;
	pthread_mutex_unlock(&s->lock);
}

/* --- samples --------------------------------------------------------------------------------- */

void hwlat_sample_begin(struct hwlat_sample *s, const struct machine_delay *now)
{
	*s = (struct hwlat_sample){.last = *now};
}

void hwlat_sample_look(struct hwlat_sample *s, const struct machine_delay *now, uint64_t thresh_us)
{
	uint64_t ns = now->ns - s->last.ns, runs = now->runs - s->last.runs;
	uint64_t one = runs > 1 ? ns / runs : ns;

	s->last = *now;
	s->total += ns;
	if (one > s->longest)
		s->longest = one;
	if (one / 1000 > thresh_us && !s->count++)
		clock_gettime(CLOCK_REALTIME, &s->first);
}

bool hwlat_sample_exceeds(const struct hwlat_sample *s, uint64_t thresh_us)
{
	return s->longest / 1000 > thresh_us;
}

/* --- files.h --------------------------------------------------------------------------------- */

uint64_t trace_hwlat_us(struct trace *t, enum hwlat_time which)
{
	struct hwlat_settings *s = t->hwlat;
	uint64_t us;

	pthread_mutex_lock(&s->lock);
	us = which == HWLAT_WIDTH ? s->width_us : s->window_us;
	pthread_mutex_unlock(&s->lock);
	return us;
}

int trace_set_hwlat_us(struct trace *t, enum hwlat_time which, uint64_t us)
{
	struct hwlat_settings *s = t->hwlat;
	int ret = 0;

	pthread_mutex_lock(&s->lock);
	if (which == HWLAT_WIDTH ? us > s->window_us : us < s->width_us)
		ret = -EINVAL;
	else if (which == HWLAT_WIDTH)
		s->width_us = us;
	else
		s->window_us = us;
	pthread_mutex_unlock(&s->lock);
	return ret;
}

enum hwlat_mode trace_hwlat_mode(struct trace *t)
{
	enum hwlat_mode mode;

	pthread_mutex_lock(&t->hwlat->lock);
	mode = t->hwlat->mode;
	pthread_mutex_unlock(&t->hwlat->lock);
	return mode;
}

void trace_set_hwlat_mode(struct trace *t, enum hwlat_mode mode)
{
	pthread_mutex_lock(&t->hwlat->lock);
	t->hwlat->mode = mode;
	pthread_mutex_unlock(&t->hwlat->lock);
}
