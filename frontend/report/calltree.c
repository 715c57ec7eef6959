// SPDX-License-Identifier: GPL-2.0-or-later
/* calltree.c - see calltree.h */
#include "frontend/report/calltree.h"

#include <stdlib.h>
#include <string.h>

enum { BUCKETS_MIN = 1024 };

static uint32_t *buckets_new(uint32_t nr)
{
	uint32_t *bucket = malloc(nr * sizeof(*bucket));

	if (bucket)
		memset(bucket, 0xff, nr * sizeof(*bucket));
	return bucket;
}

struct calltree *calltree_new(void)
{
	struct calltree *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	t->unused = CALLTREE_NONE;
	t->nr_buckets = t->nr_name_buckets = BUCKETS_MIN;
	t->bucket = buckets_new(t->nr_buckets);
	t->name_bucket = buckets_new(t->nr_name_buckets);
	if (t->bucket && t->name_bucket && calltree_name(t, "", 0) != CALLTREE_NONE &&
	    calltree_detached(t) == CALLTREE_ROOT)
		return t;
	calltree_free(t);
	return NULL;
}

void calltree_free(struct calltree *t)
{
	if (!t)
		return;
	for (uint32_t i = 0; i < t->nr_names; i++)
		free(t->name[i]);
	free(t->name);
	free(t->name_chain);
	free(t->name_bucket);
	free(t->bucket);
	free(t->node);
	free(t);
}

/* --- names -------------------------------------------------------------------------------- */

/* FNV-1a */
static uint32_t hash_bytes(const char *bytes, size_t len)
{
	uint32_t h = 2166136261;

	for (size_t i = 0; i < len; i++)
		h = (h ^ (unsigned char)bytes[i]) * 16777619;
	return h;
}

static uint32_t name_lookup(const struct calltree *t, const char *name, size_t len)
{
	uint32_t i = t->name_bucket[hash_bytes(name, len) & (t->nr_name_buckets - 1)];

	while (i != CALLTREE_NONE && (strncmp(t->name[i], name, len) || t->name[i][len]))
		i = t->name_chain[i];
	return i;
}

static void name_link(struct calltree *t, uint32_t i)
{
	uint32_t hash = hash_bytes(t->name[i], strlen(t->name[i]));
	uint32_t *bucket = &t->name_bucket[hash & (t->nr_name_buckets - 1)];

	t->name_chain[i] = *bucket;
	*bucket = i;
}

static bool names_grow(struct calltree *t)
{
	uint32_t room = t->room_names ? 2 * t->room_names : BUCKETS_MIN;
	char **name = realloc(t->name, room * sizeof(*name));
	uint32_t *chain, *bucket;

	if (!name)
		return false;
	t->name = name;
	chain = realloc(t->name_chain, room * sizeof(*chain));
	if (!chain)
		return false;
	t->name_chain = chain;
	bucket = buckets_new(room);
	if (!bucket)
		return false;
	free(t->name_bucket);
	t->name_bucket = bucket;
	t->nr_name_buckets = t->room_names = room;
	for (uint32_t i = 0; i < t->nr_names; i++)
		name_link(t, i);
	return true;
}

uint32_t calltree_name(struct calltree *t, const char *name, size_t len)
{
	const char *end = memchr(name, '\0', len);
	uint32_t i;
	char *copy;

	if (end)
		len = (size_t)(end - name);
	i = name_lookup(t, name, len);
	if (i != CALLTREE_NONE)
		return i;
	copy = t->nr_names < CALLTREE_NODES ? strndup(name, len) : NULL;
	if (!copy || (t->nr_names == t->room_names && !names_grow(t))) {
		free(copy);
		t->full = true;
		return CALLTREE_NONE;
	}
	t->name[t->nr_names] = copy;
	name_link(t, t->nr_names);
	return t->nr_names++;
}

const char *calltree_name_of(const struct calltree *t, uint32_t node)
{
	return t->name[t->node[node].name];
}

/* --- nodes -------------------------------------------------------------------------------- */

static uint32_t *node_bucket(const struct calltree *t, uint32_t parent, uint32_t name)
{
	uint64_t key = (uint64_t)parent << 32 | name;

	return &t->bucket[(key * UINT64_C(0x9e3779b97f4a7c15) >> 32) & (t->nr_buckets - 1)];
}

static void node_link(struct calltree *t, uint32_t i)
{
	uint32_t *bucket = node_bucket(t, t->node[i].parent, t->node[i].name);

	t->node[i].chain = *bucket;
	*bucket = i;
}

static void node_unlink(struct calltree *t, uint32_t i)
{
	uint32_t *at = node_bucket(t, t->node[i].parent, t->node[i].name);

	while (*at != i)
		at = &t->node[*at].chain;
	*at = t->node[i].chain;
}

/* Those without a parent are in no bucket. */
static bool buckets_grow(struct calltree *t)
{
	uint32_t nr = 2 * t->nr_buckets, *bucket = buckets_new(nr);

	if (!bucket)
		return false;
	free(t->bucket);
	t->bucket = bucket;
	t->nr_buckets = nr;
	for (uint32_t i = 0; i < t->nr; i++)
		if (t->node[i].parent != CALLTREE_NONE)
			node_link(t, i);
	return true;
}

static bool nodes_grow(struct calltree *t)
{
	uint32_t room = t->room ? 2 * t->room : BUCKETS_MIN;
	struct call_node *node;

	if (room > CALLTREE_NODES)
		return false;
	node = realloc(t->node, room * sizeof(*node));
	if (!node)
		return false;
	t->node = node;
	t->room = room;
	return room <= t->nr_buckets || buckets_grow(t);
}

uint32_t calltree_detached(struct calltree *t)
{
	uint32_t i = t->unused;

	if (i != CALLTREE_NONE) {
		t->unused = t->node[i].next;
	} else if (t->nr < t->room || nodes_grow(t)) {
		i = t->nr++;
	} else {
		t->full = true;
		return CALLTREE_NONE;
	}
	t->node[i] = (struct call_node){
		.parent = CALLTREE_NONE,
		.child = CALLTREE_NONE,
		.next = CALLTREE_NONE,
		.chain = CALLTREE_NONE,
	};
	return i;
}

static void node_free(struct calltree *t, uint32_t i)
{
	t->node[i].parent = CALLTREE_NONE;
	t->node[i].next = t->unused;
	t->unused = i;
}

uint32_t calltree_child(struct calltree *t, uint32_t parent, uint32_t name)
{
	uint32_t i;

	if (parent == CALLTREE_NONE || name == CALLTREE_NONE)
		return CALLTREE_NONE;
	for (i = *node_bucket(t, parent, name); i != CALLTREE_NONE; i = t->node[i].chain)
		if (t->node[i].parent == parent && t->node[i].name == name)
			return i;
	i = calltree_detached(t);
	if (i == CALLTREE_NONE)
		return i;
	t->node[i].parent = parent;
	t->node[i].name = name;
	t->node[i].next = t->node[parent].child;
	t->node[parent].child = i;
	node_link(t, i);
	return i;
}

/* --- sums --------------------------------------------------------------------------------- */

void calltree_add(struct call_stats *to, const struct call_stats *st)
{
	to->calls += st->calls;
	to->begun += st->begun;
	to->total += st->total;
	to->self += st->self;
	to->cpu += st->cpu;
	if (st->max > to->max)
		to->max = st->max;
}

/* NOLINTNEXTLINE(misc-no-recursion): no deeper than CALLTREE_DEPTH */
void calltree_merge_children(struct calltree *t, uint32_t dst, const struct calltree *from,
			     uint32_t src)
{
	for (uint32_t c = from->node[src].child; c != CALLTREE_NONE; c = from->node[c].next) {
		const char *name = calltree_name_of(from, c);
		uint32_t id = calltree_name(t, name, strlen(name));
		uint32_t to = calltree_child(t, dst, id);

		if (to == CALLTREE_NONE)
			return;
		calltree_add(&t->node[to].st, &from->node[c].st);
		calltree_merge_children(t, to, from, c);
	}
}

/*
 * A child that dst has not got moves there with all that is below it, so the time that this takes
 * does not grow with that.
 *
 * NOLINTNEXTLINE(misc-no-recursion): no deeper than CALLTREE_DEPTH
 */
void calltree_dissolve(struct calltree *t, uint32_t dst, uint32_t src)
{
	uint32_t next;

	for (uint32_t c = t->node[src].child; c != CALLTREE_NONE; c = next) {
		uint32_t to = *node_bucket(t, dst, t->node[c].name);

		next = t->node[c].next;
		node_unlink(t, c);
		while (to != CALLTREE_NONE &&
		       (t->node[to].parent != dst || t->node[to].name != t->node[c].name))
			to = t->node[to].chain;
		if (to == CALLTREE_NONE) {
			t->node[c].parent = dst;
			t->node[c].next = t->node[dst].child;
			t->node[dst].child = c;
			node_link(t, c);
		} else {
			calltree_add(&t->node[to].st, &t->node[c].st);
			calltree_dissolve(t, to, c);
		}
	}
	node_free(t, src);
}

uint64_t calltree_children_total(const struct calltree *t, uint32_t node)
{
	uint64_t sum = 0;

	for (uint32_t c = t->node[node].child; c != CALLTREE_NONE; c = t->node[c].next)
		sum += t->node[c].st.total;
	return sum;
}

/* NOLINTNEXTLINE(misc-no-recursion): no deeper than CALLTREE_DEPTH */
uint64_t calltree_cpu_total(const struct calltree *t, uint32_t node)
{
	uint64_t sum = t->node[node].st.cpu;

	if (t->inverted)
		return sum;
	for (uint32_t c = t->node[node].child; c != CALLTREE_NONE; c = t->node[c].next)
		sum += calltree_cpu_total(t, c);
	return sum;
}
