// SPDX-License-Identifier: GPL-2.0-or-later
/* comms.c - the table of task names: filled by vCPU threads, read by whoever prints. */
#include "tracer/guest/comms.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Pids that differ by a multiple of this share a place, as in the kernel (PID_MAX_DEFAULT). */
#define MAP_SIZE 32768
#define NO_PLACE UINT32_MAX

/* Written with the lock held, but comms_note() looks without: hence every field is atomic. */
struct place {
	_Atomic int32_t pid; /* 0: empty */
	_Atomic int32_t tgid;
	_Atomic uint64_t comm[COMM_LEN / 8];
};

struct comms {
	struct comms *before; /* readers may be looking into it still */
	pthread_mutex_t lock;
	size_t nr, last; /* places; the one taken last */
	_Atomic uint32_t map[MAP_SIZE];
	struct place place[];
};

struct comms *comms_new(size_t nr)
{
	struct comms *c;

	if (!nr || nr >= NO_PLACE)
		return NULL;
	c = calloc(1, sizeof(*c) + nr * sizeof(c->place[0]));
	if (!c)
		return NULL;
	pthread_mutex_init(&c->lock, NULL);
	c->nr = nr;
	for (size_t i = 0; i < MAP_SIZE; i++)
		atomic_init(&c->map[i], NO_PLACE);
	return c;
}

void comms_free(struct comms *c)
{
	while (c) {
		struct comms *before = c->before;

		pthread_mutex_destroy(&c->lock);
		free(c);
		c = before;
	}
}

static void comm_copy(void *arg, int32_t pid, int32_t tgid, const char comm[COMM_LEN])
{
	comms_note(arg, pid, tgid, *comm ? comm : NULL);
}

struct comms *comms_resize(struct comms *c, size_t nr)
{
	struct comms *other = comms_new(nr);

	if (!other)
		return NULL;
	comms_each(c, comm_copy, other);
	other->before = c;
	return other;
}

static _Atomic uint32_t *map_of(struct comms *c, int32_t pid)
{
	return &c->map[(uint32_t)pid % MAP_SIZE];
}

/* Where pid is noted, or NO_PLACE. Without the lock it may come to stand for another one any time.
 */
static uint32_t place_of(struct comms *c, int32_t pid)
{
	uint32_t i = atomic_load_explicit(map_of(c, pid), memory_order_relaxed);

	if (i == NO_PLACE || atomic_load_explicit(&c->place[i].pid, memory_order_relaxed) != pid)
		return NO_PLACE;
	return i;
}

/* The place that pid's map entry leads to or, when others have it by now, a new one. */
static uint32_t place_take(struct comms *c, int32_t pid)
{
	uint32_t i = atomic_load_explicit(map_of(c, pid), memory_order_relaxed);

	if (i != NO_PLACE) {
		int32_t owner = atomic_load_explicit(&c->place[i].pid, memory_order_relaxed);

		if (map_of(c, owner) == map_of(c, pid))
			return i;
	}
	c->last = (c->last + 1) % c->nr;
	i = (uint32_t)c->last;
	atomic_store_explicit(map_of(c, pid), i, memory_order_relaxed);
	return i;
}

/* What is noted is what these say, as far as they say something. */
static bool place_holds(const struct place *p, int32_t tgid, const uint64_t *comm)
{
	if (tgid && atomic_load_explicit(&p->tgid, memory_order_relaxed) != tgid)
		return false;
	return !comm || (atomic_load_explicit(&p->comm[0], memory_order_relaxed) == comm[0] &&
			 atomic_load_explicit(&p->comm[1], memory_order_relaxed) == comm[1]);
}

static void place_write(struct place *p, int32_t tgid, const uint64_t *comm)
{
	if (tgid)
		atomic_store_explicit(&p->tgid, tgid, memory_order_relaxed);
	for (unsigned int i = 0; comm && i < COMM_LEN / 8; i++)
		atomic_store_explicit(&p->comm[i], comm[i], memory_order_relaxed);
}

static void place_clear(struct place *p)
{
	static const uint64_t none[COMM_LEN / 8];

	place_write(p, 0, none);
	atomic_store_explicit(&p->tgid, 0, memory_order_relaxed);
}

static void place_read(const struct place *p, char comm[COMM_LEN])
{
	uint64_t words[COMM_LEN / 8];

	words[0] = atomic_load_explicit(&p->comm[0], memory_order_relaxed);
	words[1] = atomic_load_explicit(&p->comm[1], memory_order_relaxed);
	memcpy(comm, words, sizeof(words));
	comm[COMM_LEN - 1] = '\0';
}

void comms_note(struct comms *c, int32_t pid, int32_t tgid, const char comm[COMM_LEN])
{
	uint64_t words[COMM_LEN / 8], *name = comm ? words : NULL;
	struct place *p;
	uint32_t i;

	if (pid <= 0 || (!comm && !tgid))
		return;
	if (comm)
		memcpy(words, comm, sizeof(words));
	i = place_of(c, pid);
	if (i != NO_PLACE && place_holds(&c->place[i], tgid, name))
		return;

	pthread_mutex_lock(&c->lock);
	p = &c->place[place_take(c, pid)];
	if (atomic_load_explicit(&p->pid, memory_order_relaxed) != pid)
		place_clear(p);
	atomic_store_explicit(&p->pid, pid, memory_order_relaxed);
	place_write(p, tgid, name);
	pthread_mutex_unlock(&c->lock);
}

void comms_find(struct comms *c, int32_t pid, char comm[COMM_LEN])
{
	uint32_t i;

	if (pid <= 0) {
		strcpy(comm, pid ? "<XXX>" : "<idle>");
		return;
	}
	pthread_mutex_lock(&c->lock);
	i = place_of(c, pid);
	if (i != NO_PLACE)
		place_read(&c->place[i], comm);
	if (i == NO_PLACE || !*comm)
		strcpy(comm, "<...>");
	pthread_mutex_unlock(&c->lock);
}

int32_t comms_tgid(struct comms *c, int32_t pid)
{
	int32_t tgid = 0;
	uint32_t i;

	pthread_mutex_lock(&c->lock);
	i = pid > 0 ? place_of(c, pid) : NO_PLACE;
	if (i != NO_PLACE)
		tgid = atomic_load_explicit(&c->place[i].tgid, memory_order_relaxed);
	pthread_mutex_unlock(&c->lock);
	return tgid;
}

void comms_each(struct comms *c,
		void (*fn)(void *arg, int32_t pid, int32_t tgid, const char comm[COMM_LEN]),
		void *arg)
{
	pthread_mutex_lock(&c->lock);
	for (size_t i = 0; i < c->nr; i++) {
		const struct place *p = &c->place[i];
		int32_t pid = atomic_load_explicit(&p->pid, memory_order_relaxed);
		char comm[COMM_LEN];

		if (!pid || place_of(c, pid) != i)
			continue;
		place_read(p, comm);
		fn(arg, pid, atomic_load_explicit(&p->tgid, memory_order_relaxed), comm);
	}
	pthread_mutex_unlock(&c->lock);
}

size_t comms_size(const struct comms *c)
{
	return c->nr;
}
