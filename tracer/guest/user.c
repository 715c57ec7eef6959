// SPDX-License-Identifier: GPL-2.0-or-later
/* user.c - what user.h needs to know of the kernel's structures. */
#include "tracer/guest/user.h"

static uint32_t field(const struct guestsym *gs, const char *path)
{
	struct guestsym_field f;

	return guestsym_field(gs, path, &f) ? USER_NO_FIELD : f.offset;
}

/* How many pointers an array has. */
static uint32_t field_words(const struct guestsym *gs, const char *path)
{
	struct guestsym_field f;

	return guestsym_field(gs, path, &f) ? 0 : f.size / 8;
}

/*
 * Registers lie at the end of the kernel stack; with FRED there are two words behind them
 * (arch/x86/include/asm/thread_info.h).
 */
static void learn_registers(struct user_layout *at, const struct guestsym *gs)
{
	uint32_t last = field(gs, "pt_regs.ss");

	at->regs_ip = field(gs, "pt_regs.ip");
	at->regs_sp = field(gs, "pt_regs.sp");
	at->regs_bp = field(gs, "pt_regs.bp");
	at->regs_cs = field(gs, "pt_regs.cs");
	at->regs_size = 0;
	if (last != USER_NO_FIELD)
		at->regs_size = last + 8 + (guestsym_addr(gs, "asm_fred_entrypoint_user") ? 16 : 0);
}

static void learn_mappings(struct user_layout *at, const struct guestsym *gs)
{
	uint32_t tree = field(gs, "mm_struct.mm_mt"), root = field(gs, "maple_tree.ma_root");

	at->mm_tree = tree == USER_NO_FIELD || root == USER_NO_FIELD ? USER_NO_FIELD : tree + root;
	at->mm_list = field(gs, "mm_struct.mmap");
	at->range_pivot = field(gs, "maple_range_64.pivot");
	at->range_slot = field(gs, "maple_range_64.slot");
	at->range_nr = field_words(gs, "maple_range_64.slot");
	at->arange_pivot = field(gs, "maple_arange_64.pivot");
	at->arange_slot = field(gs, "maple_arange_64.slot");
	at->arange_nr = field_words(gs, "maple_arange_64.slot");
	at->vma_start = field(gs, "vm_area_struct.vm_start");
	at->vma_end = field(gs, "vm_area_struct.vm_end");
	at->vma_file = field(gs, "vm_area_struct.vm_file");
	at->vma_next = field(gs, "vm_area_struct.vm_next");
}

static void learn_paths(struct user_layout *at, const struct guestsym *gs)
{
	at->file_dentry = field(gs, "file.f_path.dentry");
	at->file_mnt = field(gs, "file.f_path.mnt");
	at->dentry_parent = field(gs, "dentry.d_parent");
	at->dentry_name = field(gs, "dentry.d_name.name");
	at->dentry_len = field(gs, "dentry.d_name.len");
	at->dentry_hashed = field(gs, "dentry.d_hash.pprev");
	at->vfsmount_root = field(gs, "vfsmount.mnt_root");
	at->mount_vfsmount = field(gs, "mount.mnt");
	at->mount_parent = field(gs, "mount.mnt_parent");
	at->mount_point = field(gs, "mount.mnt_mountpoint");
}

static bool all_known(const uint32_t *fields, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (fields[i] == USER_NO_FIELD)
			return false;
	return true;
}

static bool mappings_known(const struct user_layout *at)
{
	const uint32_t tree[] = {at->mm_tree, at->range_pivot, at->range_slot, at->arange_pivot,
				 at->arange_slot};
	const uint32_t list[] = {at->mm_list, at->vma_next};

	return all_known(tree, sizeof(tree) / sizeof(tree[0])) ||
	       all_known(list, sizeof(list) / sizeof(list[0]));
}

void user_learn(struct user_layout *at, const struct guestsym *gs)
{
	at->task_mm = field(gs, "task_struct.mm");
	at->task_flags = field(gs, "task_struct.flags");
	at->mm_pgd = field(gs, "mm_struct.pgd");
	learn_registers(at, gs);
	learn_mappings(at, gs);
	learn_paths(at, gs);

	const uint32_t stacks[] = {at->task_mm, at->task_flags, at->mm_pgd, at->regs_ip,
				   at->regs_sp, at->regs_bp,	at->regs_cs};
	const uint32_t objects[] = {at->task_mm,       at->vma_start,	 at->vma_end,
				    at->vma_file,      at->file_dentry,	 at->file_mnt,
				    at->dentry_parent, at->dentry_name,	 at->dentry_len,
				    at->vfsmount_root, at->mount_parent, at->mount_vfsmount,
				    at->dentry_hashed, at->mount_point};

	at->stacks = at->regs_size && all_known(stacks, sizeof(stacks) / sizeof(stacks[0]));
	at->objects =
		mappings_known(at) && all_known(objects, sizeof(objects) / sizeof(objects[0]));
}
