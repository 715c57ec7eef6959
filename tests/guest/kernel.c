// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * kernel.c - what the test guest has in common with Linux, as far as a tracer looks at it: per-CPU
 * variables behind %gs, tasks on a list, ftrace_init(), text_mutex. This file's types are the
 * image's BTF.
 */
#include "guest.h"

#define FIRST_PID     100
#define PREEMPT_START 0x80000000u /* no reschedule is wanted */
#define SITE_SIZE     5
#define CALL	      0xe8
#define JMP	      0xe9
#define CYC2NS_SHIFT  10

struct list_head {
	struct list_head *next, *prev;
};

struct signal_struct {
	struct list_head thread_head;
};

/* One for each CPU, that never sleeps. */
struct task_struct {
	struct {
		uint64_t flags;
	} thread_info;
	void *stack;
	int32_t pid, tgid;
	uint16_t migration_disabled;
	char comm[16];
	struct list_head tasks, thread_node;
	struct signal_struct *signal;
	struct {
		uint64_t sp;
	} thread;
};

struct task_struct init_task; /* the list's head, nobody's task */
uint64_t __per_cpu_offset[MAX_CPUS];
int32_t __use_tsc = 1; /* a static key */
struct mutex text_mutex;

static struct task_struct cpu_task[MAX_CPUS];
static struct signal_struct cpu_signal[MAX_CPUS];
static struct percpu percpu[MAX_CPUS];

static const uint8_t nop[SITE_SIZE] = {0x0f, 0x1f, 0x44, 0x00, 0x00};

/* --- tasks and CPUs -------------------------------------------------------------------------- */

NOT_TRACED static void list_add_tail(struct list_head *entry, struct list_head *head)
{
	entry->prev = head->prev;
	entry->next = head;
	head->prev->next = entry;
	head->prev = entry;
}

NOT_TRACED static void list_init(struct list_head *head)
{
	head->next = head->prev = head;
}

NOT_TRACED static void task_init(unsigned int cpu)
{
	struct task_struct *task = &cpu_task[cpu];

	task->stack = cpu_stacks + cpu * STACK_SIZE;
	task->thread.sp = (uint64_t)task->stack + STACK_SIZE;
	task->pid = task->tgid = FIRST_PID + (int32_t)cpu;
	task->comm[0] = 'c';
	task->comm[1] = 'p';
	task->comm[2] = 'u';
	task->comm[3] = (char)('0' + cpu);
	task->signal = &cpu_signal[cpu];
	list_init(&task->signal->thread_head);
	list_add_tail(&task->thread_node, &task->signal->thread_head);
	list_add_tail(&task->tasks, &init_task.tasks);
}

static uint64_t clock_mhz;

NOT_TRACED void clock_init(uint64_t mhz)
{
	clock_mhz = mhz;
	for (unsigned int cpu = 0; cpu < MAX_CPUS; cpu++) {
		for (unsigned int i = 0; i < 2; i++) {
			struct cyc2ns_data *data = &percpu[cpu].cyc2ns.data[i];

			data->cyc2ns_mul = (uint32_t)((1000 << CYC2NS_SHIFT) / mhz);
			data->cyc2ns_shift = CYC2NS_SHIFT;
		}
	}
}

NOT_TRACED uint64_t clock_ns(uint64_t ticks)
{
	return ticks * ((1000 << CYC2NS_SHIFT) / clock_mhz) >> CYC2NS_SHIFT;
}

NOT_TRACED void clock_wait(uint64_t start, uint64_t ns)
{
	while (clock_ns(rdtsc() - start) < ns)
		;
}

NOT_TRACED void kernel_init(void)
{
	list_init(&init_task.tasks);
	for (unsigned int cpu = 0; cpu < MAX_CPUS; cpu++) {
		task_init(cpu);
		percpu[cpu].cpu_number = cpu;
		percpu[cpu].preempt_count = PREEMPT_START;
		percpu[cpu].current_task = &cpu_task[cpu];
		percpu[cpu].hardirq_stack_ptr = irq_stacks + (cpu + 1) * STACK_SIZE - 8;
		__per_cpu_offset[cpu] = (uint64_t)&percpu[cpu] - (uint64_t)&percpu_linked;
	}
}

/* --- text ------------------------------------------------------------------------------------ */

extern const uint64_t __start_mcount_loc[], __stop_mcount_loc[];
extern const uint8_t __fentry__[], __x86_return_thunk[];
extern uint8_t _stext[], _etext[];

/* Is it this instruction, with this target? */
NOT_TRACED static bool site_is(const volatile uint8_t *site, uint8_t insn, const uint8_t *target)
{
	uint64_t to = (uint64_t)site + SITE_SIZE;
	uint32_t rel = 0;

	if (site[0] != insn)
		return false;
	for (unsigned int i = 0; i < sizeof(rel); i++)
		rel |= (uint32_t)site[1 + i] << 8 * i;
	to += (uint64_t)(int64_t)(int32_t)rel;
	return to == (uint64_t)target;
}

NOT_TRACED static bool site_is_nop(const volatile uint8_t *site)
{
	for (unsigned int i = 0; i < SITE_SIZE; i++)
		if (site[i] != nop[i])
			return false;
	return true;
}

/* As Linux does: each site must hold what the build has put there, and becomes a NOP. */
NOT_TRACED NOINLINE void ftrace_init(void)
{
	for (const uint64_t *site = __start_mcount_loc; site < __stop_mcount_loc; site++) {
		volatile uint8_t *text = (uint8_t *)*site;

		if (!site_is(text, CALL, __fentry__)) {
			print("ftrace failed\n");
			halt();
		}
		for (unsigned int i = 0; i < SITE_SIZE; i++)
			text[i] = nop[i];
	}
}

/* As Linux does where the processor needs no thunk: each jump to it becomes a return. */
NOT_TRACED NOINLINE void returns_init(void)
{
	static const uint8_t plain[SITE_SIZE] = {0xc3, 0xcc, 0xcc, 0xcc, 0xcc};

	for (volatile uint8_t *text = _stext; text + SITE_SIZE <= _etext; text++) {
		if (!site_is(text, JMP, __x86_return_thunk))
			continue;
		for (unsigned int i = 0; i < SITE_SIZE; i++)
			text[i] = plain[i];
	}
}

/* The end of the boot: from here on the text stays as it is. */
NOINLINE void free_initmem(void)
{
	__asm__ volatile("");
}

NOT_TRACED bool function_is_traced(const void *function)
{
	return !site_is_nop(function);
}

NOT_TRACED bool sites_are_nops(void)
{
	for (const uint64_t *site = __start_mcount_loc; site < __stop_mcount_loc; site++)
		if (!site_is_nop((const uint8_t *)*site))
			return false;
	return true;
}

/* --- locks ----------------------------------------------------------------------------------- */

NOINLINE void mutex_lock(struct mutex *lock)
{
	while (__atomic_exchange_n(&lock->owner, 1, __ATOMIC_SEQ_CST))
		__builtin_ia32_pause();
}

void mutex_unlock(struct mutex *lock)
{
	__atomic_store_n(&lock->owner, 0, __ATOMIC_SEQ_CST);
}
