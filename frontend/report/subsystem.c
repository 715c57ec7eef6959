// SPDX-License-Identifier: GPL-2.0-or-later
/* subsystem.c - see subsystem.h */
#include "frontend/report/subsystem.h"

#include <ctype.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

const struct subsystem_info subsystems[SUBSYSTEM_NR] = {
	[SUBSYSTEM_OTHER] = {"other", {208, 202, 190}},
	[SUBSYSTEM_ENTRY] = {"entry", {142, 172, 214}},
	[SUBSYSTEM_SCHED] = {"scheduler, processes", {190, 156, 214}},
	[SUBSYSTEM_IRQ] = {"interrupts, time", {232, 134, 124}},
	[SUBSYSTEM_LOCK] = {"locks, RCU", {236, 214, 120}},
	[SUBSYSTEM_MM] = {"memory", {146, 200, 138}},
	[SUBSYSTEM_FS] = {"files", {240, 176, 104}},
	[SUBSYSTEM_NET] = {"network", {124, 202, 204}},
};

/*
 * The first that fits counts. One with ^ stands at the beginning of the name, one with _ anywhere,
 * others where a word of it begins: "fault" is not in "default".
 */
static const struct {
	const char *word;
	enum subsystem subsystem;
} words[] = {
	{"^do_syscall_64", SUBSYSTEM_ENTRY},
	{"^entry_", SUBSYSTEM_ENTRY},
	{"^x64_sys_call", SUBSYSTEM_ENTRY},
	{"^__x64_sys_", SUBSYSTEM_ENTRY},
	{"^__do_sys_", SUBSYSTEM_ENTRY},
	{"^__se_sys_", SUBSYSTEM_ENTRY},
	{"syscall_", SUBSYSTEM_ENTRY},
	{"exit_to_user_mode", SUBSYSTEM_ENTRY},
	{"_exc_", SUBSYSTEM_ENTRY},
	{"^exc_", SUBSYSTEM_ENTRY},
	{"page_fault", SUBSYSTEM_MM},
	{"handle_mm_fault", SUBSYSTEM_MM},
	{"sysvec_", SUBSYSTEM_IRQ},
	{"softirq", SUBSYSTEM_IRQ},
	{"hrtimer", SUBSYSTEM_IRQ},
	{"timer", SUBSYSTEM_IRQ},
	{"tick_", SUBSYSTEM_IRQ},
	{"ktime", SUBSYSTEM_IRQ},
	{"timekeeping", SUBSYSTEM_IRQ},
	{"clockevents", SUBSYSTEM_IRQ},
	{"update_process_times", SUBSYSTEM_IRQ},
	{"update_wall_time", SUBSYSTEM_IRQ},
	{"apic", SUBSYSTEM_IRQ},
	{"IPI", SUBSYSTEM_IRQ},
	{"ipi", SUBSYSTEM_IRQ},
	{"^rcu_", SUBSYSTEM_LOCK},
	{"_rcu_", SUBSYSTEM_LOCK},
	{"spin_", SUBSYSTEM_LOCK},
	{"mutex", SUBSYSTEM_LOCK},
	{"semaphore", SUBSYSTEM_LOCK},
	{"rwsem", SUBSYSTEM_LOCK},
	{"read_lock", SUBSYSTEM_LOCK},
	{"read_unlock", SUBSYSTEM_LOCK},
	{"write_lock", SUBSYSTEM_LOCK},
	{"write_unlock", SUBSYSTEM_LOCK},
	{"^down_", SUBSYSTEM_LOCK},
	{"^up_read", SUBSYSTEM_LOCK},
	{"^up_write", SUBSYSTEM_LOCK},
	{"_raw_", SUBSYSTEM_LOCK},
	{"lockref", SUBSYSTEM_LOCK},
	{"irq", SUBSYSTEM_IRQ},
	{"sched", SUBSYSTEM_SCHED},
	{"resched", SUBSYSTEM_SCHED},
	{"kthread", SUBSYSTEM_SCHED},
	{"wake_up", SUBSYSTEM_SCHED},
	{"wakeup", SUBSYSTEM_SCHED},
	{"ttwu", SUBSYSTEM_SCHED},
	{"enqueue_", SUBSYSTEM_SCHED},
	{"dequeue_", SUBSYSTEM_SCHED},
	{"pick_next", SUBSYSTEM_SCHED},
	{"next_entity", SUBSYSTEM_SCHED},
	{"prev_entity", SUBSYSTEM_SCHED},
	{"put_prev_", SUBSYSTEM_SCHED},
	{"update_curr", SUBSYSTEM_SCHED},
	{"update_load_avg", SUBSYSTEM_SCHED},
	{"load_balance", SUBSYSTEM_SCHED},
	{"newidle", SUBSYSTEM_SCHED},
	{"update_rq_clock", SUBSYSTEM_SCHED},
	{"switch_", SUBSYSTEM_SCHED},
	{"_task_fair", SUBSYSTEM_SCHED},
	{"idle", SUBSYSTEM_SCHED},
	{"cpuidle", SUBSYSTEM_SCHED},
	{"cpuacct", SUBSYSTEM_SCHED},
	{"exec", SUBSYSTEM_SCHED},
	{"bprm", SUBSYSTEM_SCHED},
	{"load_elf", SUBSYSTEM_SCHED},
	{"kernel_clone", SUBSYSTEM_SCHED},
	{"copy_process", SUBSYSTEM_SCHED},
	{"^do_exit", SUBSYSTEM_SCHED},
	{"^do_group_exit", SUBSYSTEM_SCHED},
	{"^do_wait", SUBSYSTEM_SCHED},
	{"^kernel_wait", SUBSYSTEM_SCHED},
	{"^sock", SUBSYSTEM_NET},
	{"^__sock", SUBSYSTEM_NET},
	{"sock_", SUBSYSTEM_NET},
	{"tcp_", SUBSYSTEM_NET},
	{"udp_", SUBSYSTEM_NET},
	{"^ip_", SUBSYSTEM_NET},
	{"^__ip_", SUBSYSTEM_NET},
	{"^inet", SUBSYSTEM_NET},
	{"skb", SUBSYSTEM_NET},
	{"netif", SUBSYSTEM_NET},
	{"napi", SUBSYSTEM_NET},
	{"^unix_", SUBSYSTEM_NET},
	{"^vfs_", SUBSYSTEM_FS},
	{"^ext4_", SUBSYSTEM_FS},
	{"^xfs_", SUBSYSTEM_FS},
	{"^btrfs_", SUBSYSTEM_FS},
	{"^ramfs_", SUBSYSTEM_FS},
	{"^shmem_", SUBSYSTEM_FS},
	{"^proc_", SUBSYSTEM_FS},
	{"^seq_", SUBSYSTEM_FS},
	{"^tty_", SUBSYSTEM_FS},
	{"^n_tty_", SUBSYSTEM_FS},
	{"pipe_", SUBSYSTEM_FS},
	{"path", SUBSYSTEM_FS},
	{"inode", SUBSYSTEM_FS},
	{"dentry", SUBSYSTEM_FS},
	{"lookup", SUBSYSTEM_FS},
	{"d_alloc", SUBSYSTEM_FS},
	{"dput", SUBSYSTEM_FS},
	{"filp", SUBSYSTEM_FS},
	{"fput", SUBSYSTEM_FS},
	{"fdget", SUBSYSTEM_FS},
	{"getname", SUBSYSTEM_FS},
	{"_open", SUBSYSTEM_FS},
	{"_stat", SUBSYSTEM_FS},
	{"getattr", SUBSYSTEM_FS},
	{"step_into", SUBSYSTEM_FS},
	{"walk_component", SUBSYSTEM_FS},
	{"ksys_read", SUBSYSTEM_FS},
	{"ksys_write", SUBSYSTEM_FS},
	{"mnt", SUBSYSTEM_FS},
	{"file_", SUBSYSTEM_FS},
	{"_file", SUBSYSTEM_FS},
	{"page", SUBSYSTEM_MM},
	{"hugepage", SUBSYSTEM_MM},
	{"folio", SUBSYSTEM_MM},
	{"fault", SUBSYSTEM_MM},
	{"faultin", SUBSYSTEM_MM},
	{"vma", SUBSYSTEM_MM},
	{"mmap", SUBSYSTEM_MM},
	{"_mm", SUBSYSTEM_MM},
	{"^mm", SUBSYSTEM_MM},
	{"kmem", SUBSYSTEM_MM},
	{"kmalloc", SUBSYSTEM_MM},
	{"kvmalloc", SUBSYSTEM_MM},
	{"kfree", SUBSYSTEM_MM},
	{"kvfree", SUBSYSTEM_MM},
	{"slab", SUBSYSTEM_MM},
	{"memcg", SUBSYSTEM_MM},
	{"_pte", SUBSYSTEM_MM},
	{"pmd", SUBSYSTEM_MM},
	{"tlb", SUBSYSTEM_MM},
	{"unmap", SUBSYSTEM_MM},
	{"munmap", SUBSYSTEM_MM},
	{"^mas_", SUBSYSTEM_MM},
	{"^mt_", SUBSYSTEM_MM},
	{"lru_", SUBSYSTEM_MM},
	{"read", SUBSYSTEM_FS},
	{"write", SUBSYSTEM_FS},
};

static bool begins(const char *text, const char *with)
{
	while (*with && *text == *with) {
		text++;
		with++;
	}
	return !*with;
}

static bool fits(const char *word, const char *function)
{
	if (*word == '^')
		return begins(function, word + 1);
	for (const char *at = function; (at = strstr(at, word)); at++)
		if (*word == '_' || at == function || !isalpha((unsigned char)at[-1]))
			return true;
	return false;
}

enum subsystem subsystem_of(const char *function)
{
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (fits(words[i].word, function))
			return words[i].subsystem;
	return SUBSYSTEM_OTHER;
}
