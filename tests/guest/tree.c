// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * tree.c - calls whose tree is known: each tree_*() below is called once where it stands, whatever
 * the compiler would like. What job=tree and job=spin do.
 */
#include "guest.h"

/* Not inlined, not cloned, not merged with another one that does the same. */
#define TREE __attribute__((noipa))

#define DEEP 60 /* deeper than the kernel's function_graph remembers */

static volatile uint64_t steps; /* behind a call: it does not end the function */

TREE void tree_leaf(void)
{
	steps++;
}

TREE void tree_branch(void)
{
	tree_leaf();
	tree_leaf();
	steps++;
}

TREE void tree_recurse(unsigned int more)
{
	if (more)
		tree_recurse(more - 1);
	steps++;
}

/* --- calls that are jumps -------------------------------------------------------------------- */

/* Returns in the place of tree_tail_away(), and is not to be traced itself. */
TREE void away(void)
{
	steps++;
}

TREE void tree_tail_away(void)
{
	steps++;
	away();
}

TREE void tree_tail_next(void)
{
	steps++;
	tree_branch();
}

TREE void tree_tail(void)
{
	steps++;
	tree_tail_next();
}

TREE void tree_pong(unsigned int more);

TREE void tree_ping(unsigned int more)
{
	steps++;
	if (more)
		tree_pong(more - 1);
}

TREE void tree_pong(unsigned int more)
{
	steps++;
	if (more)
		tree_ping(more - 1);
}

/* The same call returns to the same place again and again. */
TREE void tree_loop(void)
{
	for (unsigned int i = 0; i < 3; i++)
		tree_tail_away();
	steps++;
}

/* --- interrupts ------------------------------------------------------------------------------ */

/* It has been sent by then, so it comes with the first instruction that it may come with. */
static void take_interrupt(unsigned int cpu)
{
	uint64_t before = ipi_count[cpu];

	apic_send_ipi(cpu);
	__asm__ volatile("sti" : : : "memory");
	while (ipi_count[cpu] == before)
		__builtin_ia32_pause();
	__asm__ volatile("cli" : : : "memory");
}

TREE void tree_interrupted(unsigned int cpu)
{
	take_interrupt(cpu);
	steps++;
}

TREE void tree_interrupted_between(unsigned int cpu)
{
	tree_leaf();
	take_interrupt(cpu);
	tree_leaf();
	steps++;
}

TREE void tree_interrupted_tail(unsigned int cpu)
{
	steps++;
	tree_interrupted(cpu);
}

/* --- jobs ------------------------------------------------------------------------------------ */

TREE void tree_all(unsigned int cpu)
{
	tree_leaf();
	tree_branch();
	tree_recurse(3);
	tree_tail();
	tree_tail_away();
	tree_ping(3);
	tree_loop();
	tree_interrupted(cpu);
	tree_interrupted_between(cpu);
	tree_interrupted_tail(cpu);
	steps++;
}

bool job_tree(unsigned int cpu)
{
	tree_all(cpu);
	return true;
}

bool job_deep(unsigned int cpu)
{
	if (!cpu)
		tree_recurse(DEEP - 1);
	return true;
}

TREE uint64_t tree_spin(uint64_t ticks)
{
	uint64_t start = rdtsc(), now;

	do {
		now = rdtsc();
	} while (now - start < ticks);
	return now - start;
}

/* A loop's length as seen from inside, and as seen from around the call. */
bool job_spin(unsigned int cpu)
{
	uint64_t n = param_number("count", 5), ticks = param_number("ticks", 50000000);

	if (cpu)
		return true;
	for (uint64_t i = 0; i < n; i++) {
		uint64_t start = rdtsc(), inside = tree_spin(ticks), around = rdtsc() - start;

		print("spin: ");
		print_number("inside", inside);
		print_number("around", around);
		print("\n");
	}
	return true;
}
