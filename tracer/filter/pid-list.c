// SPDX-License-Identifier: GPL-2.0-or-later
/* pid-list.c - see pid-list.h. A bitmap in three levels, which only grows. */
#include "tracer/filter/pid-list.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "tracer/lib/word.h"

#define WORD_SIZE 128 /* PID_BUF_SIZE + 1, kernel/trace/trace.c */

#define LEAF_BITS 14
#define NODE_BITS 8
#define NR_NODES  (1u << NODE_BITS)
#define NR_WORDS  (1u << (LEAF_BITS - 6))

struct leaf {
	_Atomic uint64_t bits[NR_WORDS];
};

struct node {
	struct leaf *_Atomic leaf[NR_NODES];
};

struct pid_list {
	pthread_mutex_t lock; /* of who changes it */
	atomic_bool on;
	struct node *_Atomic node[NR_NODES];
};

struct pid_list *pid_list_new(void)
{
	struct pid_list *list = calloc(1, sizeof(*list));

	if (list)
		pthread_mutex_init(&list->lock, NULL);
	return list;
}

void pid_list_free(struct pid_list *list)
{
	if (!list)
		return;
	for (uint32_t i = 0; i < NR_NODES; i++) {
		struct node *node = atomic_load(&list->node[i]);

		for (uint32_t j = 0; node && j < NR_NODES; j++)
			free(atomic_load(&node->leaf[j]));
		free(node);
	}
	pthread_mutex_destroy(&list->lock);
	free(list);
}

bool pid_list_on(const struct pid_list *list)
{
	return atomic_load_explicit(&list->on, memory_order_acquire);
}

/* The leaf that pid is in, or NULL. */
static struct leaf *leaf_of(const struct pid_list *list, uint32_t pid)
{
	struct node *node = atomic_load_explicit(&list->node[pid >> (LEAF_BITS + NODE_BITS)],
						 memory_order_acquire);

	return node ? atomic_load_explicit(&node->leaf[pid >> LEAF_BITS & (NR_NODES - 1)],
					   memory_order_acquire)
		    : NULL;
}

static _Atomic uint64_t *word_of(struct leaf *leaf, uint32_t pid)
{
	return &leaf->bits[pid >> 6 & (NR_WORDS - 1)];
}

static uint64_t bit_of(uint32_t pid)
{
	return UINT64_C(1) << (pid & 63);
}

bool pid_list_has(const struct pid_list *list, int32_t pid)
{
	uint32_t n = (uint32_t)pid;
	struct leaf *leaf = n < PID_LIST_LIMIT ? leaf_of(list, n) : NULL;

	return leaf && atomic_load_explicit(word_of(leaf, n), memory_order_relaxed) & bit_of(n);
}

/* Make room for pid; list->lock is held. 0, -EPERM or -ENOMEM. */
static int leaf_make(struct pid_list *list, uint32_t pid)
{
	struct node *_Atomic *nodep;
	struct leaf *_Atomic *leafp;
	struct node *node;
	struct leaf *leaf;

	if (pid >= PID_LIST_LIMIT)
		return -EPERM;
	nodep = &list->node[pid >> (LEAF_BITS + NODE_BITS)];
	node = atomic_load(nodep);
	if (!node) {
		node = calloc(1, sizeof(*node));
		if (!node)
			return -ENOMEM;
		atomic_store_explicit(nodep, node, memory_order_release);
	}
	leafp = &node->leaf[pid >> LEAF_BITS & (NR_NODES - 1)];
	if (atomic_load(leafp))
		return 0;
	leaf = calloc(1, sizeof(*leaf));
	if (!leaf)
		return -ENOMEM;
	atomic_store_explicit(leafp, leaf, memory_order_release);
	return 0;
}

/* There is room for it. */
static void bit_set(struct pid_list *list, uint32_t pid)
{
	atomic_fetch_or_explicit(word_of(leaf_of(list, pid), pid), bit_of(pid),
				 memory_order_relaxed);
}

/* The lowest pid that is listed and not lower than from; PID_LIST_LIMIT when there is none. */
static uint32_t pid_next(const struct pid_list *list, uint32_t from)
{
	while (from < PID_LIST_LIMIT) {
		struct leaf *leaf = leaf_of(list, from);
		uint64_t word;

		if (!leaf) {
			from = ((from >> LEAF_BITS) + 1) << LEAF_BITS;
			continue;
		}
		word = atomic_load_explicit(word_of(leaf, from), memory_order_relaxed);
		word &= ~(bit_of(from) - 1);
		if (word)
			return (from & ~63u) + (uint32_t)__builtin_ctzll(word);
		from = (from & ~63u) + 64;
	}
	return PID_LIST_LIMIT;
}

/* The pids of a write, before they are added. */
struct pids {
	uint32_t *v;
	size_t nr, room;
};

static int pids_add(struct pids *p, uint32_t pid)
{
	if (p->nr == p->room) {
		size_t room = p->room ? 2 * p->room : 64;
		uint32_t *v = realloc(p->v, room * sizeof(*v));

		if (!v)
			return -ENOMEM;
		p->v = v;
		p->room = room;
	}
	p->v[p->nr++] = pid;
	return 0;
}

/*
 * All words of text. The kernel takes the low half of a number; what is refused as too high has an
 * errno of its own.
 */
static ssize_t pids_parse(struct pids *p, struct word *w, const char *text, size_t len)
{
	size_t done = 0;

	while (done < len) {
		ssize_t n = word_take(w, true, text + done, len - done);
		uint64_t value;
		int err;

		if (n < 0)
			return n;
		done += (size_t)n;
		if (!word_loaded(w))
			break;
		if (word_number(w->text, &value))
			return -EINVAL;
		err = (uint32_t)value < PID_LIST_LIMIT ? pids_add(p, (uint32_t)value) : -EPERM;
		if (err)
			return err;
	}
	return (ssize_t)done;
}

/* list->lock is held. 0 or -ENOMEM. */
static int pids_list(struct pid_list *list, const struct pids *p)
{
	for (size_t i = 0; i < p->nr; i++)
		if (leaf_make(list, p->v[i]))
			return -ENOMEM;
	for (size_t i = 0; i < p->nr; i++)
		bit_set(list, p->v[i]);
	atomic_store_explicit(&list->on, pid_next(list, 0) < PID_LIST_LIMIT, memory_order_release);
	return 0;
}

ssize_t pid_list_write(struct pid_list *list, const char *text, size_t len)
{
	struct pids p = {0};
	struct word w;
	ssize_t done;

	if (!len)
		return 0;
	if (word_init(&w, WORD_SIZE))
		return -ENOMEM;
	done = pids_parse(&p, &w, text, len);
	word_free(&w);
	if (done >= 0) {
		pthread_mutex_lock(&list->lock);
		if (pids_list(list, &p))
			done = -ENOMEM;
		pthread_mutex_unlock(&list->lock);
	}
	free(p.v);
	return done;
}

void pid_list_clear(struct pid_list *list)
{
	pthread_mutex_lock(&list->lock);
	atomic_store_explicit(&list->on, false, memory_order_release);
	for (uint32_t pid = pid_next(list, 0); pid < PID_LIST_LIMIT; pid = pid_next(list, pid))
		atomic_store_explicit(word_of(leaf_of(list, pid), pid), 0, memory_order_relaxed);
	pthread_mutex_unlock(&list->lock);
}

void pid_list_print(struct pid_list *list, struct text *out)
{
	pthread_mutex_lock(&list->lock);
	for (uint32_t pid = pid_next(list, 0); pid < PID_LIST_LIMIT; pid = pid_next(list, pid + 1))
		text_printf(out, "%" PRIu32 "\n", pid);
	pthread_mutex_unlock(&list->lock);
}

void pid_list_fork(struct pid_list *list, int32_t parent, int32_t child)
{
	if (!pid_list_on(list) || !pid_list_has(list, parent))
		return;
	pthread_mutex_lock(&list->lock);
	if (pid_list_on(list) && !leaf_make(list, (uint32_t)child))
		bit_set(list, (uint32_t)child);
	pthread_mutex_unlock(&list->lock);
}

void pid_list_exit(struct pid_list *list, int32_t pid)
{
	if (!pid_list_has(list, pid))
		return;
	pthread_mutex_lock(&list->lock);
	if (pid_list_on(list))
		atomic_fetch_and_explicit(word_of(leaf_of(list, (uint32_t)pid), (uint32_t)pid),
					  ~bit_of((uint32_t)pid), memory_order_relaxed);
	pthread_mutex_unlock(&list->lock);
}
