// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * number.c - which CPU of the guest's kernel each vCPU is. The machine lists them in the order in
 * which they came, and so does the kernel; but of some that went before we came the machine knows
 * nothing, and the kernel keeps their numbers. What tells is the base of its per-CPU area, which is
 * where %gs leads in the kernel (arch/x86/kernel/cpu/common.c, switch_gdt_and_percpu_base(), 6.1).
 */
#include "tracer/guest/guest.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define NONE MACHINE_MAX_VCPUS

/* NONE: none, or several. */
static unsigned int cpu_with(const uint64_t *bases, uint64_t base)
{
	unsigned int cpu = NONE;

	for (unsigned int i = 0; i < MACHINE_MAX_VCPUS && base; i++) {
		if (bases[i] != base)
			continue;
		if (cpu != NONE)
			return NONE;
		cpu = i;
	}
	return cpu;
}

/* Also on the kernel's first instructions, when %gs is still user mode's, or again. */
static unsigned int cpu_of(const struct guest_kernel *g, const uint64_t *bases, unsigned int vcpu)
{
	struct machine_sregs s;
	unsigned int kernel, swapped;

	if (machine_get_sregs(g->m, vcpu, &s))
		return NONE;
	swapped = cpu_with(bases, s.kernel_gs_base);
	if (s.cpl == 3)
		return swapped;
	kernel = cpu_with(bases, s.gs_base);
	if (kernel != NONE && swapped != NONE && kernel != swapped)
		return NONE;
	return kernel != NONE ? kernel : swapped;
}

/* One that has never been online has none yet: the first that is free, its own if that is. */
static unsigned int free_number(const bool *taken, unsigned int vcpu)
{
	unsigned int n = 0;

	if (!taken[vcpu])
		return vcpu;
	while (taken[n])
		n++;
	return n;
}

static bool numbers_find(const struct guest_kernel *g, const uint64_t *bases, unsigned int n,
			 unsigned int number[MACHINE_MAX_VCPUS])
{
	bool taken[MACHINE_MAX_VCPUS] = {false}, others = false;

	for (unsigned int v = 0; v < n; v++) {
		number[v] = cpu_of(g, bases, v);
		if (number[v] != NONE && taken[number[v]])
			number[v] = NONE;
		if (number[v] != NONE)
			taken[number[v]] = true;
	}
	for (unsigned int v = 0; v < n; v++) {
		if (number[v] == NONE)
			number[v] = free_number(taken, v);
		taken[number[v]] = true;
		others |= number[v] != v;
	}
	return others;
}

int guest_number_vcpus(struct guest_kernel *g, char *err, size_t errlen)
{
	uint64_t bases[MACHINE_MAX_VCPUS];
	unsigned int number[MACHINE_MAX_VCPUS];
	struct machine_info info;
	int ret;

	machine_get_info(g->m, &info);
	if (info.vcpus > MACHINE_MAX_VCPUS || g->at.per_cpu_offset == GUEST_NONE)
		return 0;
	for (unsigned int i = 0; i < MACHINE_MAX_VCPUS; i++)
		bases[i] = guest_image_u64(g, g->at.per_cpu_offset + 8 * i, 0);
	if (!numbers_find(g, bases, info.vcpus, number))
		return 0;
	ret = machine_number_vcpus(g->m, number, info.vcpus);
	if (ret)
		snprintf(err, errlen,
			 "the guest's kernel has other numbers for its CPUs than QEMU for its "
			 "vCPUs, as some were unplugged, and without QEMU's monitor there is no "
			 "telling them apart");
	return ret;
}
