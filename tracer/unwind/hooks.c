// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * hooks.c - functions that return to the kernel's probes of returns, and from there to their
 * callers: the kernel keeps in a list of the task where that is (kernel/trace/rethook.c,
 * before 5.18 kernel/kprobes.c).
 */
#include "tracer/unwind/internal.h"

#include <string.h>

#define NODES_MAX 256 /* of a task's list, which is the guest's word */

static const struct kind {
	const char *symbol, *first, *node, *ret, *frame;
} kinds[] = {
	{"arch_rethook_trampoline", "task_struct.rethooks", "rethook_node.llist",
	 "rethook_node.ret_addr", "rethook_node.frame"},
	{"__kretprobe_trampoline", "task_struct.kretprobe_instances", "kretprobe_instance.llist",
	 "kretprobe_instance.ret_addr", "kretprobe_instance.fp"},
};

static bool find(const struct guestsym *gs, const char *path, uint32_t *offset)
{
	struct guestsym_field f;

	if (guestsym_field(gs, path, &f) || f.size != sizeof(uint64_t))
		return false;
	*offset = f.offset;
	return true;
}

void unwind_hooks_learn(struct unwind_hooks *h, const struct guestsym *gs)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		const struct kind *k = &kinds[i];

		*h = (struct unwind_hooks){.link = guestsym_addr(gs, k->symbol)};
		if (h->link && find(gs, k->first, &h->first) && find(gs, k->node, &h->node) &&
		    find(gs, k->ret, &h->ret) && find(gs, k->frame, &h->frame))
			return;
	}
	h->link = 0;
}

/* Several may be of one return: only the first of them was there before the function was hooked. */
static bool task_return(const struct unwind_hooks *h, struct guest_kernel *g, uint64_t task,
			uint64_t slot, uint64_t *ip)
{
	uint64_t node, ret, frame;

	if (guest_read(g, task + h->first, &node, sizeof(node)))
		return false;
	for (unsigned int n = 0; node && n < NODES_MAX; n++) {
		uint64_t at = node - h->node;

		if (guest_read(g, at + h->ret, &ret, sizeof(ret)) ||
		    guest_read(g, at + h->frame, &frame, sizeof(frame)))
			return false;
		if (frame == slot && ret != h->link + g->slide) {
			*ip = ret;
			return true;
		}
		if (guest_read(g, node, &node, sizeof(node)))
			return false;
	}
	return false;
}

/* The stack is that of a task that some vCPU has. */
void unwind_hooks_return(const struct unwind_hooks *h, struct guest_kernel *g, uint64_t slot,
			 uint64_t *ip)
{
	struct machine_info info;

	if (!h->link || *ip != h->link + g->slide)
		return;
	machine_get_info(g->m, &info);
	for (unsigned int v = 0; v < info.vcpus; v++) {
		uint64_t base = guest_image_u64(g, g->at.per_cpu_offset + 8 * v, 0), task;

		if (!guest_read(g, base + guest_percpu_disp(g, g->at.current_task), &task,
				sizeof(task)) &&
		    task_return(h, g, task, slot, ip))
			return;
	}
}
