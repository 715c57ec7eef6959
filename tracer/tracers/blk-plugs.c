// SPDX-License-Identifier: GPL-2.0-or-later
/* blk-plugs.c - see blk-plugs.h */
#include "tracer/tracers/blk-plugs.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define SETS 512
#define WAYS 8

/* As in block/blk-mq.c (6.1): so many are kept back at most, to one device or to several. */
#define MAX_ONE	    32
#define MAX_SEVERAL 64
#define BIG	    (128U << 10) /* with one of that size no more are kept back */

struct request {
	uint32_t device;
	unsigned int vcpu; /* where it was got: that is which queue of the device it is for */
};

struct task {
	bool known;
	int32_t pid;
	struct request last; /* that it has got */
	uint32_t bytes;	     /* of that */
	bool big;	     /* the one before was */
	/* Kept back, in their order; the last one is about to be, or has been. */
	struct request waiting[MAX_SEVERAL + 1];
	unsigned int n;
};

struct blk_plugs {
	bool first;
	pthread_mutex_t lock;
	struct {
		struct task way[WAYS];
		unsigned int next; /* which makes room */
	} set[SETS];
};

struct blk_plugs *blk_plugs_new(bool first)
{
	struct blk_plugs *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->first = first;
	pthread_mutex_init(&p->lock, NULL);
	return p;
}

void blk_plugs_free(struct blk_plugs *p)
{
	if (!p)
		return;
	pthread_mutex_destroy(&p->lock);
	free(p);
}

void blk_plugs_forget(struct blk_plugs *p)
{
	pthread_mutex_lock(&p->lock);
	memset(p->set, 0, sizeof(p->set));
	pthread_mutex_unlock(&p->lock);
}

/* NULL: nothing is known of it. */
static struct task *find(struct blk_plugs *p, int32_t pid)
{
	struct task *way = p->set[(uint32_t)pid % SETS].way;

	for (unsigned int w = 0; w < WAYS; w++)
		if (way[w].known && way[w].pid == pid)
			return &way[w];
	return NULL;
}

static struct task *find_or_make(struct blk_plugs *p, int32_t pid)
{
	struct task *task = find(p, pid);
	unsigned int s = (uint32_t)pid % SETS;

	if (task)
		return task;
	task = &p->set[s].way[p->set[s].next];
	p->set[s].next = (p->set[s].next + 1) % WAYS;
	*task = (struct task){.known = true, .pid = pid};
	return task;
}

void blk_plugs_got(struct blk_plugs *p, unsigned int vcpu, int32_t pid, uint32_t device,
		   uint32_t bytes)
{
	struct task *task;

	pthread_mutex_lock(&p->lock);
	task = find_or_make(p, pid);
	task->big = task->bytes >= BIG;
	task->last = (struct request){device, vcpu};
	task->bytes = bytes;
	if (task->n && task->n <= MAX_SEVERAL)
		task->waiting[task->n++] = task->last;
	pthread_mutex_unlock(&p->lock);
}

void blk_plugs_merged(struct blk_plugs *p, int32_t pid, uint32_t device, uint32_t bytes)
{
	struct task *task;

	pthread_mutex_lock(&p->lock);
	task = find(p, pid);
	if (task && task->last.device == device && task->bytes < BIG)
		task->bytes += bytes < BIG ? bytes : BIG;
	pthread_mutex_unlock(&p->lock);
}

bool blk_plugs_plug(struct blk_plugs *p, int32_t pid, uint32_t *device)
{
	struct task *task;

	pthread_mutex_lock(&p->lock);
	task = find(p, pid);
	if (task) {
		*device = task->last.device;
		task->waiting[0] = task->last;
		task->n = 1;
	}
	pthread_mutex_unlock(&p->lock);
	return task;
}

static bool are_several(const struct task *task, unsigned int n)
{
	for (unsigned int k = 1; k < n; k++)
		if (task->waiting[k].device != task->waiting[0].device)
			return true;
	return false;
}

/*
 * How many of them are let go: all, or those before the last one, for which there was no room
 * (blk_add_rq_to_plug()).
 */
static unsigned int nr_let_go(const struct task *task)
{
	unsigned int before = task->n - 1;

	if (!before)
		return task->n;
	if (task->big || before >= (are_several(task, before) ? MAX_SEVERAL : MAX_ONE))
		return before;
	return task->n;
}

static void take_out(struct task *task, unsigned int k)
{
	task->n--;
	memmove(task->waiting + k, task->waiting + k + 1, (task->n - k) * sizeof(task->waiting[0]));
}

/* Those like `of` that are among the first n, up to depth; which is left of that. */
static uint64_t let_go(struct task *task, unsigned int *n, const struct request *of, bool any_vcpu,
		       uint64_t depth)
{
	for (unsigned int k = 0; k < *n && depth;) {
		const struct request *r = &task->waiting[k];

		if (r->device == of->device && (any_vcpu || r->vcpu == of->vcpu)) {
			take_out(task, k);
			--*n;
			depth--;
		} else {
			k++;
		}
	}
	return depth;
}

bool blk_plugs_unplug(struct blk_plugs *p, int32_t pid, uint64_t depth, uint32_t *device)
{
	struct request next;
	struct task *task;
	unsigned int n;

	pthread_mutex_lock(&p->lock);
	task = find(p, pid);
	if (task) {
		n = task->n ? nr_let_go(task) : 0;
		next = n ? task->waiting[p->first ? 0 : n - 1] : task->last;
		depth = let_go(task, &n, &next, false, depth);
		let_go(task, &n, &next, true, depth);
		*device = next.device;
	}
	pthread_mutex_unlock(&p->lock);
	return task;
}
