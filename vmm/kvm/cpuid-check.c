// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * cpuid-check.c - whether a guest that has found a CPU with these features can go on with the one
 * that is here.
 *
 * It may have less than there is, never more. What the bits of a leaf are is in cpuid.c's sources.
 */
#include "vmm/kvm/save.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define BIT(n) (UINT32_C(1) << (n))

enum { EAX, EBX, ECX, EDX };

static const struct feature_word {
	uint32_t function, index;
	unsigned int reg;
	uint32_t changes; /* bits that follow what the guest does */
} words[] = {
	{1, 0, ECX, BIT(3) | BIT(27)}, /* monitor, osxsave */
	{1, 0, EDX, BIT(9)},	       /* apic */
	{7, 0, EBX, 0},
	{7, 0, ECX, BIT(4)}, /* ospke */
	{7, 0, EDX, 0},
	{7, 1, EAX, 0},
	{0xd, 0, EAX, 0},
	{0xd, 0, EDX, 0},
	{0xd, 1, EAX, 0},
	{0x80000001, 0, ECX, 0},
	{0x80000001, 0, EDX, 0},
	{0x80000008, 0, EBX, 0},
};

static const struct kvm_cpuid_entry2 *find(const struct kvm_cpuid_entry2 *e, size_t n,
					   uint32_t function, uint32_t index)
{
	for (size_t i = 0; i < n; i++) {
		if (e[i].function == function &&
		    (e[i].index == index || !(e[i].flags & KVM_CPUID_FLAG_SIGNIFCANT_INDEX)))
			return &e[i];
	}
	return NULL;
}

static uint32_t word(const struct kvm_cpuid_entry2 *e, unsigned int reg)
{
	const uint32_t regs[] = {e ? e->eax : 0, e ? e->ebx : 0, e ? e->ecx : 0, e ? e->edx : 0};

	return regs[reg];
}

static bool same_vendor(const struct kvm_cpuid_entry2 *a, const struct kvm_cpuid_entry2 *b)
{
	return a && b && a->ebx == b->ebx && a->ecx == b->ecx && a->edx == b->edx;
}

int kvm_cpuid_check(const struct kvm_cpuid2 *have, const struct kvm_cpuid_entry2 *found, size_t n,
		    char *err, size_t errlen)
{
	if (!same_vendor(find(found, n, 0, 0), find(have->entries, have->nent, 0, 0))) {
		snprintf(err, errlen, "the snapshot is of a CPU of another make");
		return -EXDEV;
	}
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		const struct feature_word *w = &words[i];
		uint32_t lacks =
			word(find(found, n, w->function, w->index), w->reg) & ~w->changes &
			~word(find(have->entries, have->nent, w->function, w->index), w->reg);

		if (!lacks)
			continue;
		snprintf(err, errlen,
			 "the CPU here lacks what the snapshot's guest uses (CPUID %#x.%u %s, bits "
			 "%#x)",
			 w->function, w->index,
			 (const char *const[]){"eax", "ebx", "ecx", "edx"}[w->reg], lacks);
		return -EXDEV;
	}
	return 0;
}
