// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * speedscope.c - calls of function_graph for speedscope.app: an evented profile for each task. Each
 * has its events in one array, so they are kept until the end, up to a limit; speedscope itself
 * takes no more either.
 */
#include "frontend/export/timeline.h"
#include "frontend/lib/json.h"

#include <stdlib.h>
#include <string.h>

/* A block is about 2 KiB: 512 MiB of them in all. */
enum { BLOCK = 168, BLOCKS_MAX = 1 << 18 };

struct block {
	struct block *next;
	size_t nr;
	uint64_t when[BLOCK]; /* twice the time, and whether it begins */
	uint32_t name[BLOCK];
};

struct profile {
	struct profile *next;
	char name[TASKS_COMM + 16];
	uint64_t first;
	struct block *blocks, *last;
};

struct speedscope {
	struct export *x;
	struct timeline *timeline;
	struct profile *profiles, *last; /* as they come */
	size_t nr_blocks;
	uint64_t now;
};

/* --- keeping -----------------------------------------------------------------------------------
 */

static struct profile *profile_of(struct speedscope *s, struct track *t)
{
	const struct task *task = t->task;
	struct profile *p = t->own;

	if (p || s->nr_blocks == BLOCKS_MAX)
		return p;
	p = calloc(1, sizeof(*p));
	if (!p)
		return NULL;
	if (task->pid)
		snprintf(p->name, sizeof(p->name), "%s-%d", task->comm, task->pid);
	else
		snprintf(p->name, sizeof(p->name), "%s/%u", task->comm, task->cpu);
	p->first = s->now;
	if (s->last)
		s->last->next = p;
	else
		s->profiles = p;
	s->last = p;
	t->own = p;
	return p;
}

/* NULL: there is no room. */
static struct block *block_of(struct speedscope *s, struct profile *p)
{
	struct block *b;

	if (p->last && p->last->nr < BLOCK)
		return p->last;
	if (s->nr_blocks == BLOCKS_MAX)
		return NULL;
	b = malloc(sizeof(*b));
	if (!b)
		return NULL;
	b->next = NULL;
	b->nr = 0;
	if (p->last)
		p->last->next = b;
	else
		p->blocks = b;
	p->last = b;
	s->nr_blocks++;
	return b;
}

static void keep(struct speedscope *s, struct track *t, uint64_t time, uint32_t name, bool begins)
{
	struct profile *p = t->kind == TRACK_CALLS ? profile_of(s, t) : NULL;
	struct block *b = p ? block_of(s, p) : NULL;

	if (b) {
		b->when[b->nr] = time << 1 | begins;
		b->name[b->nr++] = name;
	} else if (t->kind == TRACK_CALLS) {
		s->x->result.left_out++;
	}
}

static void on_begin(void *arg, struct track *t, uint64_t time, uint32_t name)
{
	keep(arg, t, time, name, true);
}

static void on_end(void *arg, struct track *t, uint64_t time, uint32_t name)
{
	keep(arg, t, time, name, false);
}

static const struct track_ops tracks = {
	.begin = on_begin,
	.end = on_end,
};

/* --- writing -----------------------------------------------------------------------------------
 */

/* Calls that are open; not more of them than the timeline lets there be. */
struct stack {
	uint32_t name[DEPTH_MAX];
	size_t nr;
};

static void put_event(bool begins, uint32_t name, uint64_t at, struct json *j)
{
	json_begin_object(j, NULL);
	json_put_text(j, "type", begins ? "O" : "C");
	json_put_number(j, "frame", name);
	json_put_number(j, "at", at);
	json_end_object(j);
}

/* Where there was no room for the ends they are made up: it is balanced all the same. */
static void put_events(const struct speedscope *s, const struct profile *p, struct json *j)
{
	struct stack open = {.nr = 0};

	json_begin_rows(j, "events");
	for (const struct block *b = p->blocks; b; b = b->next) {
		for (size_t i = 0; i < b->nr; i++) {
			bool begins = b->when[i] & 1;

			if (begins ? open.nr == DEPTH_MAX : !open.nr)
				continue;
			if (begins)
				open.name[open.nr++] = b->name[i];
			else
				open.nr--;
			put_event(begins, begins ? b->name[i] : open.name[open.nr], b->when[i] >> 1,
				  j);
		}
	}
	while (open.nr)
		put_event(false, open.name[--open.nr], s->now, j);
	json_end_array(j);
}

static void put_profile(const struct speedscope *s, const struct profile *p, struct json *j)
{
	json_begin_object(j, NULL);
	json_put_text(j, "type", "evented");
	json_put_text(j, "name", p->name);
	json_put_text(j, "unit", "nanoseconds");
	json_put_number(j, "startValue", p->first);
	json_put_number(j, "endValue", s->now);
	put_events(s, p, j);
	json_end_object(j);
}

static void put_frames(const struct speedscope *s, struct json *j)
{
	json_begin_object(j, "shared");
	json_begin_rows(j, "frames");
	for (uint32_t i = 0; i < timeline_nr_names(s->timeline); i++) {
		json_begin_object(j, NULL);
		json_put_text(j, "name", timeline_name(s->timeline, i));
		json_end_object(j);
	}
	json_end_array(j);
	json_end_object(j);
}

static void speedscope_end(void *self)
{
	struct speedscope *s = self;
	struct json j = {.out = s->x->out, .compact = true};

	timeline_end(s->timeline);
	json_begin_object(&j, NULL);
	json_put_text(&j, "$schema", "https://www.speedscope.app/file-format-schema.json");
	json_put_text(&j, "exporter", "hvtrace");
	json_put_text(&j, "name", dat_info(s->x->in->dat)->name);
	put_frames(s, &j);
	json_begin_rows(&j, "profiles");
	for (const struct profile *p = s->profiles; p; p = p->next)
		put_profile(s, p, &j);
	json_end_array(&j);
	json_end_object(&j);
}

/* --- the format --------------------------------------------------------------------------------
 */

static void speedscope_free(void *self)
{
	struct speedscope *s = self;
	struct profile *p = s->profiles, *next;

	for (; p; p = next) {
		struct block *b = p->blocks, *after;

		for (; b; b = after) {
			after = b->next;
			free(b);
		}
		next = p->next;
		free(p);
	}
	timeline_free(s->timeline);
	free(s);
}

static void *speedscope_begin(struct export *x)
{
	struct speedscope *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->x = x;
	s->timeline = timeline_new(x, &tracks, s);
	if (s->timeline)
		return s;
	free(s);
	return NULL;
}

static void speedscope_event(void *self, const struct decode_event *ev)
{
	struct speedscope *s = self;

	s->now = ev->time;
	timeline_event(s->timeline, ev);
}

const struct export_format export_speedscope = {
	.name = "speedscope",
	.about = "for speedscope.app: the calls of function_graph, by tasks",
	.begin = speedscope_begin,
	.event = speedscope_event,
	.end = speedscope_end,
	.free = speedscope_free,
};
