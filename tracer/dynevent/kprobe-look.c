// SPDX-License-Identifier: GPL-2.0-or-later
/* kprobe-look.c - what a handler in the window has called the host for: guest_probe_look(). */
#include "tracer/dynevent/kprobe-guest.h"
#include "tracer/dynevent/probe-rows.h"
#include "tracer/dynevent/uprobe-guest.h"
#include "tracer/probe/trampoline/trampoline.h"

/* struct pt_regs (arch/x86/include/asm/ptrace.h) */
struct registers {
	uint64_t r15, r14, r13, r12, bp, bx, r11, r10, r9, r8, ax, cx, dx, si, di;
	uint64_t orig_ax, ip, cs, flags, sp, ss;
};

static void regs_take(struct machine_regs *to, const struct registers *r)
{
	*to = (struct machine_regs){
		.rax = r->ax,
		.rbx = r->bx,
		.rcx = r->cx,
		.rdx = r->dx,
		.rsi = r->si,
		.rdi = r->di,
		.rsp = r->sp,
		.rbp = r->bp,
		.r8 = r->r8,
		.r9 = r->r9,
		.r10 = r->r10,
		.r11 = r->r11,
		.r12 = r->r12,
		.r13 = r->r13,
		.r14 = r->r14,
		.r15 = r->r15,
		.rip = r->ip,
		.rflags = r->flags,
	};
}

/*
 * Where several kretprobes are at one function, the others' return to the kernel's own code that
 * serves them all, which knows by then where the function itself does.
 */
static bool return_find(struct guest_probes *g, uint64_t instance, struct guest_probe_hit *hit)
{
	static const char *const shared[] = {"arch_rethook_trampoline", "__kretprobe_trampoline"};

	if (guest_read(&g->t->guest, instance + g->at.ret_addr.offset, &hit->ret_ip,
		       sizeof(hit->ret_ip)))
		return false;
	for (size_t i = 0; i < sizeof(shared) / sizeof(shared[0]); i++)
		if (hit->ret_ip == trace_runtime(g->t, shared[i]))
			hit->ret_ip = hit->regs.rip;
	return !g->row[hit->row].args || !guest_read(&g->t->guest, instance + g->at.data.offset,
						     hit->args, sizeof(hit->args));
}

/* Nothing that the guest says here is believed, but for what it says about itself. */
bool guest_probe_look(struct guest_probes *g, const struct machine_hit *call,
		      struct guest_probe_hit *hit)
{
	struct guest_kernel *k = &g->t->guest;
	struct {
		uint64_t first, row; /* as kprobe.S has pushed them */
	} on_stack;
	struct registers regs;
	uint64_t at;
	uint32_t kind;

	if (guest_read(k, call->regs->rsp, &on_stack, sizeof(on_stack)) ||
	    guest_read(k, call->regs->rdi, &regs, sizeof(regs)))
		return false;
	at = on_stack.row - probe_row_va(trampoline_window(g->t), 0);
	if (at % PROBE_ROW_SIZE || at / PROBE_ROW_SIZE >= PROBE_ROWS)
		return false;
	*hit = (struct guest_probe_hit){.row = (unsigned int)(at / PROBE_ROW_SIZE)};
	regs_take(&hit->regs, &regs);
	hit->user = (struct guest_probe_user){
		.cs = (uint16_t)regs.cs, .ss = (uint16_t)regs.ss, .orig_ax = regs.orig_ax};
	kind = __atomic_load_n(&g->row[hit->row].kind, __ATOMIC_ACQUIRE);
	if (probe_row_is_uprobe(kind)) {
		hit->func = kind == PROBE_ROW_URETPROBE ? on_stack.first : regs.ip;
		hit->ret_ip = regs.ip;
		return true;
	}
	return kind == PROBE_ROW_ENTRY || kind == PROBE_ROW_TRACEPOINT ||
	       (kind == PROBE_ROW_RETURN && return_find(g, on_stack.first, hit));
}
