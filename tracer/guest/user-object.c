// SPDX-License-Identifier: GPL-2.0-or-later
/* user-object.c - finds the file behind an address of a process (d_path() of find_vma()->vm_file).
 */
#include "tracer/guest/user.h"

#include <string.h>

/* More there is not, or it makes no sense. */
#define MAX_PROCESSES  65536
#define MAX_MAPPINGS   65536 /* sysctl vm.max_map_count is 65530 */
#define MAX_DEPTH      16    /* of a maple tree */
#define MAX_SLOTS      32
#define MAX_COMPONENTS 256
#define MAX_NAME       255

/* What the kernel's structures are read through: the first failure ends it all. */
struct look {
	struct guest_kernel *g;
	const struct user_layout *at;
	bool failed;
};

static void look_bytes(struct look *l, uint64_t va, void *buf, size_t len)
{
	if (l->failed || guest_read(l->g, va, buf, len)) {
		l->failed = true;
		memset(buf, 0, len);
	}
}

static uint64_t look_u64(struct look *l, uint64_t va)
{
	uint64_t value;

	look_bytes(l, va, &value, sizeof(value));
	return value;
}

static uint32_t look_u32(struct look *l, uint64_t va)
{
	uint32_t value;

	look_bytes(l, va, &value, sizeof(value));
	return value;
}

/* --- processes ------------------------------------------------------------------------------- */

/* The address space of a process; 0: there is none of this pid, or it has none any more. */
static uint64_t process_mm(struct look *l, const struct task_layout *tasks, uint32_t tgid)
{
	uint64_t head = tasks->init_task + tasks->tasks, node = look_u64(l, head);

	for (unsigned int i = 0; i < MAX_PROCESSES && node != head && !l->failed; i++) {
		uint64_t task = node - tasks->tasks;

		if (look_u32(l, task + tasks->pid) == tgid)
			return look_u64(l, task + l->at->task_mm);
		node = look_u64(l, node);
	}
	return 0;
}

/* --- mappings -------------------------------------------------------------------------------- */

static bool mapping_has(struct look *l, uint64_t vma, uint64_t ip, uint64_t *start)
{
	uint64_t end = look_u64(l, vma + l->at->vma_end);

	*start = look_u64(l, vma + l->at->vma_start);
	return !l->failed && ip >= *start && ip < end;
}

/* Entries of a maple tree (include/linux/maple_tree.h): nodes are told by their low bits. */
static bool is_node(uint64_t entry)
{
	return (entry & 3) == 2 && entry > 4096;
}

static bool is_leaf(uint64_t node)
{
	return (node >> 3 & 15) < 2;
}

/* What a node has for ip: behind each slot but the last is the highest address that it is for. */
static uint64_t node_find(struct look *l, uint64_t node, uint64_t ip)
{
	const struct user_layout *at = l->at;
	unsigned int type = node >> 3 & 15;
	bool gaps = type == 3; /* maple_arange_64 */
	uint64_t va = node & ~UINT64_C(0xff), pivots[MAX_SLOTS];
	uint32_t nr = gaps ? at->arange_nr : at->range_nr, i = 0;

	if (type < 1 || type > 3 || !nr || nr > MAX_SLOTS)
		return 0;
	look_bytes(l, va + (gaps ? at->arange_pivot : at->range_pivot), pivots, (nr - 1) * 8);
	while (i < nr - 1 && pivots[i] && pivots[i] < ip)
		i++;
	return look_u64(l, va + (gaps ? at->arange_slot : at->range_slot) + 8 * i);
}

static uint64_t tree_find(struct look *l, uint64_t mm, uint64_t ip)
{
	uint64_t entry = look_u64(l, mm + l->at->mm_tree);

	for (unsigned int i = 0; i < MAX_DEPTH && is_node(entry) && !l->failed; i++) {
		bool leaf = is_leaf(entry);

		entry = node_find(l, entry, ip);
		if (leaf)
			return is_node(entry) ? 0 : entry;
	}
	return 0;
}

static uint64_t list_find(struct look *l, uint64_t mm, uint64_t ip)
{
	uint64_t vma = look_u64(l, mm + l->at->mm_list), start;

	for (unsigned int i = 0; i < MAX_MAPPINGS && vma && !l->failed; i++) {
		if (mapping_has(l, vma, ip, &start))
			return vma;
		vma = look_u64(l, vma + l->at->vma_next);
	}
	return 0;
}

/* --- paths ----------------------------------------------------------------------------------- */

/* A path that grows at its front. */
struct path {
	char *text;
	size_t at; /* where it begins in USER_PATH_MAX bytes */
};

static bool path_add(struct path *p, const char *text, size_t len)
{
	if (p->at < len)
		return false;
	p->at -= len;
	memcpy(p->text + p->at, text, len);
	return true;
}

/* "/NAME"; the kernel prints no line end of a name as such. */
static bool path_add_name(struct look *l, struct path *p, uint64_t dentry)
{
	uint32_t len = look_u32(l, dentry + l->at->dentry_len);
	uint64_t name = look_u64(l, dentry + l->at->dentry_name);
	char text[MAX_NAME];

	if (l->failed || !len || len > MAX_NAME)
		return false;
	look_bytes(l, name, text, len);
	while (len--) {
		bool line_end = text[len] == '\n';

		if (!text[len] || !path_add(p, line_end ? "\\012" : &text[len], line_end ? 4 : 1))
			return false;
	}
	return !l->failed && path_add(p, "/", 1);
}

static bool path_of(struct look *l, struct path *p, uint64_t dentry, uint64_t mount)
{
	const struct user_layout *at = l->at;

	for (unsigned int i = 0; i < MAX_COMPONENTS && !l->failed; i++) {
		uint64_t root = look_u64(l, mount + at->mount_vfsmount + at->vfsmount_root);
		uint64_t parent;

		if (dentry == root) {
			parent = look_u64(l, mount + at->mount_parent);
			if (parent == mount)
				return p->text[p->at] || path_add(p, "/", 1);
			dentry = look_u64(l, mount + at->mount_point);
			mount = parent;
			continue;
		}
		parent = look_u64(l, dentry + at->dentry_parent);
		if (!path_add_name(l, p, dentry))
			return false;
		if (parent == dentry)
			return true; /* of no tree: memory, for example */
		dentry = parent;
	}
	return false;
}

static bool file_path(struct look *l, uint64_t file, char text[USER_PATH_MAX])
{
	const struct user_layout *at = l->at;
	uint64_t dentry = look_u64(l, file + at->file_dentry);
	uint64_t mnt = look_u64(l, file + at->file_mnt);
	struct path p = {.text = text, .at = USER_PATH_MAX - 1};

	text[p.at] = '\0';
	if (l->failed)
		return false;
	if (!look_u64(l, dentry + at->dentry_hashed) &&
	    dentry != look_u64(l, mnt + at->vfsmount_root))
		path_add(&p, " (deleted)", 10);
	if (!path_of(l, &p, dentry, mnt - at->mount_vfsmount))
		return false;
	memmove(text, text + p.at, USER_PATH_MAX - p.at);
	return true;
}

bool user_object(struct guest_kernel *g, const struct user_layout *at,
		 const struct task_layout *tasks, uint32_t tgid, uint64_t ip,
		 char path[USER_PATH_MAX], uint64_t *start)
{
	struct look l = {.g = g, .at = at};
	uint64_t mm = at->objects ? process_mm(&l, tasks, tgid) : 0, vma = 0, file;

	if (mm)
		vma = at->mm_tree != USER_NO_FIELD ? tree_find(&l, mm, ip) : list_find(&l, mm, ip);
	if (!vma || !mapping_has(&l, vma, ip, start))
		return false;
	file = look_u64(&l, vma + at->vma_file);
	return !l.failed && file && file_path(&l, file, path);
}
