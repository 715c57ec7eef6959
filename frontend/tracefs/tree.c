// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * tree.c - the rows of all tables as a tree.
 *
 * It is the same for every instance, and has one node for all vCPUs: names that stand for several
 * are filled in when somebody asks. A thousand vCPUs and a hundred instances cost nothing here.
 */
#include "frontend/tracefs/internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct tracefs_table *const tables[] = {
	&tracefs_recording_files, &tracefs_function_files, &tracefs_pid_files,
	&tracefs_event_files,	  &tracefs_format_files,   &tracefs_trace_files,
	&tracefs_buffer_files,	  &tracefs_option_files,   &tracefs_marker_files,
	&tracefs_profile_files,	  &tracefs_blk_files,	   &tracefs_report_files,
	&tracefs_info_files,
};

const struct tracefs_table *tracefs_table(unsigned int i)
{
	return i < sizeof(tables) / sizeof(tables[0]) ? tables[i] : NULL;
}

struct tree {
	struct tree_node *node;
	unsigned int nr, room;
};

const struct tree_node *tree_node(const struct tree *tree, unsigned int n)
{
	return n >= TREE_ROOT && n < tree->nr ? &tree->node[n] : NULL;
}

/* The new node's number, 0 without memory. */
static unsigned int add_node(struct tree *tree, const struct tree_node *node)
{
	if (tree->nr == tree->room) {
		unsigned int room = tree->room ? 2 * tree->room : 128;
		struct tree_node *more = realloc(tree->node, room * sizeof(*more));

		if (!more)
			return 0;
		tree->node = more;
		tree->room = room;
	}
	tree->node[tree->nr] = *node;
	return tree->nr++;
}

static unsigned int find_or_add(struct tree *tree, const struct tree_node *node)
{
	for (unsigned int i = TREE_ROOT; i < tree->nr; i++) {
		struct tree_node *have = &tree->node[i];

		if (have->parent == node->parent && have->len == node->len &&
		    !memcmp(have->name, node->name, node->len)) {
			have->top &= node->top;
			return i;
		}
	}
	return add_node(tree, node);
}

static bool is_component(const char *name, size_t len, const char *what)
{
	return len == strlen(what) && !memcmp(name, what, len);
}

static bool add_file(struct tree *tree, const struct tracefs_file *file)
{
	unsigned int at = TREE_ROOT;
	const char *name = file->path;

	for (;;) {
		size_t len = strcspn(name, "/");
		struct tree_node node = {
			.name = name,
			.len = len,
			.parent = at,
			.top = file->flags & TRACEFS_TOP,
			.file = name[len] ? NULL : file,
		};

		if (len > 2 && !memcmp(name + len - 2, "%d", 2))
			node.kind = TREE_VCPU;
		if (is_component(name, len, "%system"))
			node.kind = TREE_SYSTEM;
		if (is_component(name, len, "%event"))
			node.kind = TREE_EVENT;
		if (is_component(name, len, "%s")) {
			node.kind = TREE_NAMED;
			node.names = file->name;
		}
		at = find_or_add(tree, &node);
		if (!at || !name[len])
			return at;
		name += len + 1;
	}
}

static bool add_all(struct tree *tree)
{
	static const struct tree_node nothing = {.name = ""};
	static const struct tree_node root = {.name = ""};
	static const struct tree_node instances = {
		.name = "instances", .len = 9, .parent = TREE_ROOT, .top = true, .instances = true};

	add_node(tree, &nothing);
	if (add_node(tree, &root) != TREE_ROOT || !add_node(tree, &instances))
		return false;
	for (size_t t = 0; t < sizeof(tables) / sizeof(tables[0]); t++)
		for (size_t i = 0; i < tables[t]->nr; i++)
			if (!add_file(tree, &tables[t]->row[i]))
				return false;
	return true;
}

struct tree *tree_new(void)
{
	struct tree *tree = calloc(1, sizeof(*tree));

	if (tree && !add_all(tree)) {
		tree_free(tree);
		return NULL;
	}
	return tree;
}

void tree_free(struct tree *tree)
{
	if (!tree)
		return;
	free(tree->node);
	free(tree);
}

bool tree_name(const struct tree_node *node, bool top, unsigned int vcpus, unsigned int n,
	       char *name, size_t len)
{
	switch (node->kind) {
	case TREE_VCPU:
		snprintf(name, len, "%.*s%u", (int)node->len - 2, node->name, n);
		return n < vcpus;
	case TREE_NAMED:
		return node->names(top, n, name, len);
	default:
		snprintf(name, len, "%.*s", (int)node->len, node->name);
		return n == 0;
	}
}
