// SPDX-License-Identifier: GPL-2.0-or-later
/* user-stack.c - follows the frame pointers of a task's user mode (arch/x86/kernel/stacktrace.c).
 */
#include "tracer/guest/user.h"

#include <errno.h>

#define PF_KTHREAD 0x00200000 /* include/linux/sched.h */
#define PAGE	   4096

/* A process' memory. */
struct space {
	struct guest_kernel *g;
	uint64_t root; /* physical address of its page tables */
	unsigned int levels;
};

static int space_init(struct space *s, struct guest_kernel *g, const struct user_layout *at,
		      uint64_t mm)
{
	uint64_t pgd;
	int ret = guest_read(g, mm + at->mm_pgd, &pgd, sizeof(pgd));

	s->g = g;
	s->levels = guest_image_u32(g, g->l5_enabled, 0) ? 5 : 4;
	return ret ? ret : guest_translate(g, pgd, &s->root);
}

/* What lies above is the kernel's, whatever the process says. */
static uint64_t space_end(const struct space *s)
{
	return (UINT64_C(1) << (s->levels == 5 ? 56 : 47)) - PAGE;
}

static int space_read(const struct space *s, uint64_t va, void *buf, size_t len)
{
	uint8_t *to = buf;

	if (va >= space_end(s) || space_end(s) - va < len)
		return -EFAULT;
	while (len) {
		size_t part = PAGE - va % PAGE < len ? PAGE - va % PAGE : len;
		uint64_t pa;

		if (machine_walk(s->g->m, s->root, s->levels, va, &pa, NULL) ||
		    machine_read(s->g->m, pa, to, part))
			return -EFAULT;
		va += part;
		to += part;
		len -= part;
	}
	return 0;
}

int user_read(struct guest_kernel *g, const struct user_layout *at, uint64_t task, uint64_t va,
	      void *buf, size_t len)
{
	struct space s;
	uint64_t mm;

	if (at->task_mm == USER_NO_FIELD || at->mm_pgd == USER_NO_FIELD ||
	    guest_read(g, task + at->task_mm, &mm, sizeof(mm)) || !mm || space_init(&s, g, at, mm))
		return -EFAULT;
	return space_read(&s, va, buf, len);
}

struct registers {
	uint64_t ip, sp, bp;
};

/* What the task's user mode has been left with: at the end of its kernel stack. */
static int registers_read(struct guest_kernel *g, const struct user_layout *at,
			  const struct task_layout *tasks, uint64_t task, struct registers *r)
{
	uint64_t stack, regs, cs;

	if (guest_read(g, task + tasks->stack, &stack, sizeof(stack)))
		return -EFAULT;
	regs = stack + tasks->stack_size - at->regs_size;
	if (guest_read(g, regs + at->regs_ip, &r->ip, sizeof(r->ip)) ||
	    guest_read(g, regs + at->regs_sp, &r->sp, sizeof(r->sp)) ||
	    guest_read(g, regs + at->regs_bp, &r->bp, sizeof(r->bp)) ||
	    guest_read(g, regs + at->regs_cs, &cs, sizeof(cs)))
		return -EFAULT;
	return (cs & 3) == 3 ? 0 : -ENOENT;
}

/* The address space of a task that has a user mode; 0: none. */
static uint64_t task_mm(struct guest_kernel *g, const struct user_layout *at, uint64_t task)
{
	uint32_t flags;
	uint64_t mm;

	if (guest_read(g, task + at->task_flags, &flags, sizeof(flags)) || flags & PF_KTHREAD ||
	    guest_read(g, task + at->task_mm, &mm, sizeof(mm)))
		return 0;
	return mm;
}

unsigned int user_stack(struct guest_kernel *g, const struct user_layout *at,
			const struct task_layout *tasks, uint64_t task, uint64_t *ips,
			unsigned int max)
{
	uint64_t frame[2]; /* the caller's frame pointer, and where it goes on */
	uint64_t mm = at->stacks ? task_mm(g, at, task) : 0;
	struct registers r;
	struct space s;
	unsigned int n = 0;

	if (!mm || !max || registers_read(g, at, tasks, task, &r))
		return 0;
	ips[n++] = r.ip;
	if (space_init(&s, g, at, mm))
		return n;
	while (n < max && r.bp >= r.sp && !space_read(&s, r.bp, frame, sizeof(frame)) && frame[1]) {
		ips[n++] = frame[1];
		r.bp = frame[0];
	}
	return n;
}
