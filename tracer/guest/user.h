/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * user.h - the user mode of the guest's tasks: where its stack comes from, and which file an
 * address of it lies in.
 *
 * All is read from guest memory, at any time and with nothing of it trusted: what makes no sense
 * ends the search, every walk is bounded.
 */
#ifndef HVTRACE_TRACER_GUEST_USER_H
#define HVTRACE_TRACER_GUEST_USER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tracer/guest/guest.h"
#include "tracer/guest/tasks.h"

#define USER_NO_FIELD UINT32_MAX

/* Where things lie in the kernel's structures. USER_NO_FIELD: this kernel does not have it. */
struct user_layout {
	bool stacks, objects; /* enough is known for these */
	uint32_t task_mm, task_flags;
	uint32_t regs_ip, regs_sp, regs_bp, regs_cs;
	uint32_t regs_size; /* from struct pt_regs to the end of the kernel stack */
	uint32_t mm_pgd;
	uint32_t mm_tree, mm_list; /* of mappings: a maple tree from 6.1 on, a list before that */
	uint32_t range_pivot, range_slot, range_nr; /* struct maple_range_64; slots */
	uint32_t arange_pivot, arange_slot, arange_nr;
	uint32_t vma_start, vma_end, vma_file, vma_next;
	uint32_t file_dentry, file_mnt;
	uint32_t dentry_parent, dentry_name, dentry_len, dentry_hashed;
	uint32_t vfsmount_root, mount_vfsmount, mount_parent, mount_point;
};

void user_learn(struct user_layout *at, const struct guestsym *gs);

/* Copy from the user mode's memory of a task: 0 or -EFAULT. */
int user_read(struct guest_kernel *g, const struct user_layout *at, uint64_t task, uint64_t va,
	      void *buf, size_t len);

/*
 * The stack of the user mode that task (the address of its struct task_struct) came from into the
 * kernel: where it was, then return addresses along its frame pointers, as the kernel's
 * stack_trace_save_user(). How many, at most max; none of a kernel thread.
 */
unsigned int user_stack(struct guest_kernel *g, const struct user_layout *at,
			const struct task_layout *tasks, uint64_t task, uint64_t *ips,
			unsigned int max);

#define USER_PATH_MAX 4096 /* of a path, and its end */

/*
 * The file that is mapped at ip in the process whose pid is tgid, as an absolute path, and where
 * its mapping starts. False: there is none, or no such process any more.
 */
bool user_object(struct guest_kernel *g, const struct user_layout *at,
		 const struct task_layout *tasks, uint32_t tgid, uint64_t ip,
		 char path[USER_PATH_MAX], uint64_t *start);

#endif
