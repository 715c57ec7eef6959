/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * payload-guest.h - this process as the guest that the payload runs in: a window where 32-bit
 * displacements reach it, a per-CPU area behind %gs, and a function with a site.
 */
#ifndef HVTRACE_TESTS_PAYLOAD_GUEST_H
#define HVTRACE_TESTS_PAYLOAD_GUEST_H

#include <asm/prctl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cmocka.h>

#include "tracer/payload/payload.h"
#include "tracer/payload/patch.h"

enum {
	GUEST_RING = 8192, /* bytes */
	GUEST_LENGTH = GUEST_RING / PAYLOAD_RECORD_SIZE,
	GUEST_VCPU = 1,
	GUEST_PREEMPT = 3,    /* its preempt_count outside the payload */
	GUEST_EVENTS = 32768, /* bytes */
	GUEST_WINDOW = WINDOW_RINGS + 2 * (GUEST_RING + GUEST_EVENTS),
	GUEST_STACK = 16384, /* bytes of its task's */
};

struct guest_percpu {
	uint32_t cpu_number, preempt_count;
	struct guest_task *current_task;
	void *current_kprobe;
	uint64_t *irq_stack;
};

struct guest_task {
	uint64_t flags;
	uint32_t pid, tgid;
	char comm[16];
	uint16_t migration_disabled, other;
	uint64_t stack;
};

/* struct trace_event_buffer */
struct guest_fbuffer {
	void *buffer, *event, *file, *entry;
};

/* Registers that the payload must keep, in the order in which payload_guest_enter() has them. */
struct guest_regs {
	uint64_t rax, rbx, rcx, rdx, rsi, rdi, rbp, r8, r9, r12, r13, r14, r15;
	uint64_t rflags; /* bits that are set on the way in */
	uint64_t rsp;	 /* at the site */
};

struct payload_guest {
	struct guest_percpu percpu;
	struct guest_task task;
	struct payload_config cfg;
	struct payload_text text;
	uint8_t *window, *ctl, *code;
	struct payload_record *ring;
};

/* Call function with these registers, and put what they are afterwards in their place. */
void payload_guest_enter(struct guest_regs *regs, void *function);
extern uint8_t payload_guest_parent[]; /* where the function returns to */

__asm__(".pushsection .text\n"
	".globl payload_guest_enter, payload_guest_parent\n"
	"payload_guest_enter:\n"
	"	push %rbx; push %rbp; push %r12; push %r13; push %r14; push %r15\n"
	"	push %rdi\n"
	"	push %rsi\n"
	"	mov %rdi, %r11\n"
	"	lea -8(%rsp), %rax; mov %rax, 112(%r11)\n"
	"	mov (%r11), %rax; mov 8(%r11), %rbx; mov 16(%r11), %rcx; mov 24(%r11), %rdx\n"
	"	mov 32(%r11), %rsi; mov 40(%r11), %rdi; mov 48(%r11), %rbp; mov 56(%r11), %r8\n"
	"	mov 64(%r11), %r9; mov 72(%r11), %r12; mov 80(%r11), %r13; mov 88(%r11), %r14\n"
	"	mov 96(%r11), %r15\n"
	"	pushf; mov 104(%r11), %r10; or %r10, (%rsp); popf\n"
	"	call *(%rsp)\n"
	"payload_guest_parent:\n"
	"	pushf; andl $~0x100, (%rsp); popf\n"
	"	mov 8(%rsp), %r11\n"
	"	mov %rax, (%r11); mov %rbx, 8(%r11); mov %rcx, 16(%r11); mov %rdx, 24(%r11)\n"
	"	mov %rsi, 32(%r11); mov %rdi, 40(%r11); mov %rbp, 48(%r11); mov %r8, 56(%r11)\n"
	"	mov %r9, 64(%r11); mov %r12, 72(%r11); mov %r13, 80(%r11); mov %r14, 88(%r11)\n"
	"	mov %r15, 96(%r11)\n"
	"	add $16, %rsp\n"
	"	pop %r15; pop %r14; pop %r13; pop %r12; pop %rbp; pop %rbx\n"
	"	ret\n"
	".popsection\n");

static inline uint32_t *ctl32(struct payload_guest *g, unsigned int off)
{
	return (uint32_t *)(void *)(g->ctl + off);
}

static inline uint64_t *ctl64(struct payload_guest *g, unsigned int off)
{
	return (uint64_t *)(void *)(g->ctl + off);
}

/* For what another thread may see or change. */
static inline uint32_t ctl32_look(struct payload_guest *g, unsigned int off)
{
	return __atomic_load_n(ctl32(g, off), __ATOMIC_ACQUIRE);
}

static inline void ctl32_set(struct payload_guest *g, unsigned int off, uint32_t value)
{
	__atomic_store_n(ctl32(g, off), value, __ATOMIC_RELEASE);
}

static inline uint64_t ctl64_look(struct payload_guest *g, unsigned int off)
{
	return __atomic_load_n(ctl64(g, off), __ATOMIC_ACQUIRE);
}

static inline void ctl64_set(struct payload_guest *g, unsigned int off, uint64_t value)
{
	__atomic_store_n(ctl64(g, off), value, __ATOMIC_RELEASE);
}

static inline void payload_guest_load(struct payload_guest *g)
{
	const char *what = "nothing";

	if (payload_text_make(&g->cfg, g->window + WINDOW_TEXT, &g->text, &what))
		fail_msg("%s does not fit", what);
}

/* Have its records wait for room, up to so many ticks. */
static inline void payload_guest_wait(struct payload_guest *g, uint64_t timeout)
{
	g->cfg.full_timeout = timeout;
	payload_guest_load(g);
}

static inline void payload_guest_config(struct payload_guest *g)
{
	g->cfg = (struct payload_config){
		.window = (uintptr_t)g->window,
		.ring_size = GUEST_RING,
		.cpu_number = offsetof(struct guest_percpu, cpu_number),
		.current_task = offsetof(struct guest_percpu, current_task),
		.preempt_count = offsetof(struct guest_percpu, preempt_count),
		.current_kprobe = offsetof(struct guest_percpu, current_kprobe),
		.irq_stack = offsetof(struct guest_percpu, irq_stack),
		.task_pid = offsetof(struct guest_task, pid),
		.task_tgid = offsetof(struct guest_task, tgid),
		.task_comm = offsetof(struct guest_task, comm),
		.task_migration_disabled = offsetof(struct guest_task, migration_disabled),
		.task_flags = offsetof(struct guest_task, flags),
		.task_stack = offsetof(struct guest_task, stack),
		.stack_size = GUEST_STACK,
		.need_resched_bit = 3,
		.text_mutex = PAYLOAD_NONE,
		.call_timeout = 1000000,
		.full_timeout = PAYLOAD_NONE,
		.event_rings = (uintptr_t)g->window + WINDOW_RINGS + 2 * GUEST_RING,
		.event_ring_size = GUEST_EVENTS,
		.fbuffer_event = offsetof(struct guest_fbuffer, event),
		.fbuffer_file = offsetof(struct guest_fbuffer, file),
		.fbuffer_entry = offsetof(struct guest_fbuffer, entry),
	};
}

static inline int payload_guest_setup(void **state)
{
	static struct payload_guest guest; /* one at a time: %gs is the thread's */
	struct payload_guest *g = &guest;

	memset(g, 0, sizeof(*g));
	g->window = mmap(NULL, GUEST_WINDOW + 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
	if (g->window == MAP_FAILED)
		return -1;
	g->code = g->window + GUEST_WINDOW;
	g->ctl = g->window + WINDOW_CTL + GUEST_VCPU * CTL_SIZE;
	g->ring = (void *)(g->window + WINDOW_RINGS + GUEST_VCPU * GUEST_RING);
	g->percpu = (struct guest_percpu){
		.cpu_number = GUEST_VCPU,
		.preempt_count = GUEST_PREEMPT,
		.current_task = &g->task,
	};
	g->task = (struct guest_task){.pid = 1234, .tgid = 1200, .comm = "workload"};
	payload_guest_config(g);
	payload_guest_load(g);
	*ctl64(g, CTL_HEAD) = GUEST_LENGTH;
	*ctl64(g, CTL_TAIL) = GUEST_LENGTH;
	*ctl32(g, CTL_FLAGS) = CTL_FL_ON;
	*ctl32(g, CTL_LAST_PID) = g->task.pid;
	*ctl64(g, CTL_EVENT_FULL) = UINT64_MAX;
	*state = g;
	return (int)syscall(SYS_arch_prctl, ARCH_SET_GS, &g->percpu);
}

static inline int payload_guest_teardown(void **state)
{
	struct payload_guest *g = *state;

	return munmap(g->window, GUEST_WINDOW + 4096);
}

/* Nothing has been done yet at this offset of the code, or all is done. */
static inline bool in_edge(const struct payload_text *text, uint64_t off)
{
	for (uint32_t i = 0; i < text->nr_edges; i++) {
		if (off >= text->edge[i].from && off < text->edge[i].to)
			return true;
	}
	return false;
}

/* Function n (of some): its site calls this entry of the payload. */
static inline void *payload_guest_function(struct payload_guest *g, unsigned int n, uint32_t entry)
{
	uint8_t *site = g->code + (size_t)n * 16;
	int32_t rel = (int32_t)(g->window + WINDOW_TEXT + entry - (site + 5));

	site[0] = 0xe8;
	memcpy(site + 1, &rel, sizeof(rel));
	site[5] = 0xc3;
	return site;
}

/* Call function 0 with these registers: all but %rax (and those that they leave out) must be kept.
 */
static inline void payload_guest_call_with(struct payload_guest *g, uint32_t entry,
					   struct guest_regs *regs)
{
	struct guest_regs before = *regs;

	payload_guest_enter(regs, payload_guest_function(g, 0, entry));
	before.rsp = regs->rsp;
	before.rax = regs->rax;
	assert_memory_equal(&before, regs, sizeof(before));
}

/* The same with a value of its own in each of them, and this argument; a detour's entry. */
static inline void payload_guest_call_full(struct payload_guest *g, uint32_t entry,
					   const void *argument)
{
	struct guest_regs regs = {.rbx = 2,
				  .rcx = UINT64_MAX,
				  .rdx = 3,
				  .rsi = 4,
				  .rdi = (uintptr_t)argument,
				  .rbp = 5,
				  .r8 = 6,
				  .r9 = 7,
				  .r12 = 8,
				  .r13 = 9,
				  .r14 = 10,
				  .r15 = 11};

	payload_guest_call_with(g, entry, &regs);
	assert_int_equal(g->percpu.preempt_count & 0xff, GUEST_PREEMPT);
}

static inline void payload_guest_call(struct payload_guest *g, uint32_t entry,
				      struct guest_regs *regs)
{
	*regs = (struct guest_regs){0x0102030405060708,
				    2,
				    3,
				    ~UINT64_C(4),
				    5,
				    0x1122334455667788,
				    7,
				    8,
				    9,
				    12,
				    13,
				    14,
				    15,
				    regs->rflags,
				    0};
	payload_guest_call_with(g, entry, regs);
}

static inline void payload_guest_functions(struct payload_guest *g, unsigned int n)
{
	struct guest_regs regs = {.rflags = 0};

	for (unsigned int i = 0; i < n; i++)
		payload_guest_call(g, g->text.function, &regs);
}

/* The record with this number, which must be whole. */
static inline const struct payload_record *payload_guest_record(struct payload_guest *g,
								uint64_t nr)
{
	const struct payload_record *r = &g->ring[nr & (GUEST_LENGTH - 1)];

	assert_int_equal(r->seq, (uint32_t)nr);
	return r;
}

#endif
