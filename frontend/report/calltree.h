/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * calltree.h - calls merged by their functions: a node is a function called by way of the functions
 * above it. Below the root there is a node for each task.
 *
 * What is reported comes from guests and from files: depth and size are bounded.
 */
#ifndef HVTRACE_FRONTEND_REPORT_CALLTREE_H
#define HVTRACE_FRONTEND_REPORT_CALLTREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CALLTREE_NONE  UINT32_MAX
#define CALLTREE_ROOT  0
#define CALLTREE_DEPTH 1024	 /* nodes above one, at most */
#define CALLTREE_NODES (1 << 21) /* at most */

/* Times are nanoseconds. Of a node's calls, and what they call: total is self and the children's.
 */
struct call_stats {
	uint64_t calls;
	uint64_t begun; /* of these, before the trace: they count with what is in the trace */
	uint64_t total;
	uint64_t self; /* without what the function calls */
	uint64_t max;  /* the longest call that is in the trace from beginning to end */
	uint64_t cpu;  /* of self, on a CPU; 0 for all when has_cpu is not set */
};

struct call_node {
	struct call_stats st;
	uint32_t name;
	uint32_t parent, child, next; /* the first child, the next sibling */
	uint32_t chain;		      /* of those with the same hash */
};

struct calltree {
	struct call_node *node; /* by number; children may have lower numbers than parents */
	uint32_t nr, room, unused;
	uint32_t *bucket, nr_buckets;
	char **name;
	uint32_t nr_names, room_names;
	uint32_t *name_bucket, nr_name_buckets;
	uint32_t *name_chain;
	/* What is known of the trace as a whole. */
	char guest[64], release[64]; /* what it is called, its kernel's version; "": not known */
	uint64_t from, until;	     /* times of its first and last event; 0: not known */
	uint64_t lost;		     /* events that are known to be missing */
	unsigned int cpus;	     /* 0: not known */
	bool has_cpu, has_time;
	bool inverted; /* below a function are its callers; cpu is that of all that it calls, too */
	bool full;     /* there was no room or no memory: something is missing */
};

/* NULL: no memory. */
struct calltree *calltree_new(void);
void calltree_free(struct calltree *t); /* NULL is allowed */

/* The number of a name (not terminated), CALLTREE_NONE without memory. */
uint32_t calltree_name(struct calltree *t, const char *name, size_t len);
const char *calltree_name_of(const struct calltree *t, uint32_t node);

/*
 * The child of that name, made if need be. NONE without room; a child of NONE is NONE. A pointer to
 * a node lasts until the next one is made.
 */
uint32_t calltree_child(struct calltree *t, uint32_t parent, uint32_t name);
/* A node that has no parent yet. */
uint32_t calltree_detached(struct calltree *t);
/* Add what is below src to what is below dst. Neither is below the other. */
void calltree_merge_children(struct calltree *t, uint32_t dst, const struct calltree *from,
			     uint32_t src);
/* The same in one tree, from a detached node, which is no more. */
void calltree_dissolve(struct calltree *t, uint32_t dst, uint32_t src);
void calltree_add(struct call_stats *to, const struct call_stats *st);
/* What is below a node: the sums of its children's total, and of cpu in all of them. */
uint64_t calltree_children_total(const struct calltree *t, uint32_t node);
uint64_t calltree_cpu_total(const struct calltree *t, uint32_t node);

#endif
