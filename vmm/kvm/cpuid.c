// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * cpuid.c - what a vCPU says about itself.
 *
 * Bits are named in Intel SDM vol. 2 (CPUID), AMD APM vol. 3 appendix E and, for the hypervisor's
 * leaves, Documentation/virt/kvm/x86/cpuid.rst of Linux.
 */
#include "vmm/kvm/cpuid.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/ioctl.h>

#include "vmm/kvm/kvm.h"

#define ANY_INDEX UINT32_MAX
#define NOTHING	  0u
#define AS_IT_IS  UINT32_MAX
#define BIT(n)	  (UINT32_C(1) << (n))

/* What an emulating host's guest keeps of a leaf; a leaf that is not listed stays as it is. */
struct cpuid_mask {
	uint32_t function, index;
	uint32_t eax, ebx, ecx, edx;
};

/*
 * KVM's instruction emulator is complete for what kernels of the first x86-64 years execute in
 * kernel mode. Whatever makes them choose newer instructions there costs an exit and the assist
 * each time at best; what only user space cares about (SSE and SSE2) may stay.
 */
static const struct cpuid_mask emulated_masks[] = {
	{1, ANY_INDEX, AS_IT_IS, AS_IT_IS,
	 /* sse3, pclmulqdq, ssse3, fma, cx16, sse4.1, sse4.2, movbe, popcnt, TSC deadline, aes,
	  * xsave, osxsave, avx, f16c, rdrand */
	 ~(BIT(0) | BIT(1) | BIT(9) | BIT(12) | BIT(13) | BIT(19) | BIT(20) | BIT(22) | BIT(23) |
	   BIT(24) | BIT(25) | BIT(26) | BIT(27) | BIT(28) | BIT(29) | BIT(30)),
	 AS_IT_IS},
	{5, ANY_INDEX, NOTHING, NOTHING, NOTHING, NOTHING},    /* monitor, mwait */
	{7, ANY_INDEX, NOTHING, NOTHING, NOTHING, NOTHING},    /* smap, bmi, erms, avx512, … */
	{0xa, ANY_INDEX, NOTHING, NOTHING, NOTHING, NOTHING},  /* performance counters */
	{0xd, ANY_INDEX, NOTHING, NOTHING, NOTHING, NOTHING},  /* xsave */
	{0x14, ANY_INDEX, NOTHING, NOTHING, NOTHING, NOTHING}, /* processor trace */
	{0x80000001, ANY_INDEX, AS_IT_IS, AS_IT_IS,
	 /* abm, sse4a, misaligned sse, xop, fma4, tbm, performance counters */
	 ~(BIT(5) | BIT(6) | BIT(7) | BIT(11) | BIT(16) | BIT(21) | BIT(23) | BIT(24) | BIT(28)),
	 ~BIT(27)}, /* rdtscp */
	/* clzero, rdpru, wbnoinvd, the mitigations' MSRs; without "restores FPU error pointers"
	 * Linux uses x87 instructions at each restore */
	{0x80000008, ANY_INDEX, AS_IT_IS, BIT(2), AS_IT_IS, AS_IT_IS},
	{0x8000001f, ANY_INDEX, NOTHING, NOTHING, NOTHING, NOTHING}, /* memory encryption */
	{0x80000021, ANY_INDEX, NOTHING, NOTHING, NOTHING, NOTHING}, /* automatic ibrs, … */
	{0x80000022, ANY_INDEX, NOTHING, NOTHING, NOTHING, NOTHING}, /* performance counters */
};

static void cpuid_mask(struct kvm_cpuid_entry2 *e)
{
	for (size_t i = 0; i < sizeof(emulated_masks) / sizeof(emulated_masks[0]); i++) {
		const struct cpuid_mask *mask = &emulated_masks[i];

		if (mask->function != e->function ||
		    (mask->index != ANY_INDEX && mask->index != e->index))
			continue;
		e->eax &= mask->eax;
		e->ebx &= mask->ebx;
		e->ecx &= mask->ecx;
		e->edx &= mask->edx;
	}
}

/* --- topology: one package, a core for each vCPU ------------------------------------------- */

static unsigned int id_bits(unsigned int cpus)
{
	unsigned int bits = 0;

	while (1u << bits < cpus)
		bits++;
	return bits;
}

static void cpuid_features(struct kvm_cpuid_entry2 *e, const struct cpuid_config *cfg)
{
	e->ebx = cfg->index << 24 | cfg->cpus << 16 | (e->ebx & 0xffff);
	e->ecx |= BIT(31); /* under a hypervisor */
	if (cfg->tsc_deadline)
		e->ecx |= BIT(24);
	if (cfg->cpus > 1)
		e->edx |= BIT(28); /* the count in ebx is valid */
	else
		e->edx &= ~BIT(28);
}

/* Leaf 0xb, of which KVM_GET_SUPPORTED_CPUID gives no levels. */
static void cpuid_add_topology(struct kvm_cpuid2 *cpuid, const struct cpuid_config *cfg)
{
	enum { LEVEL_THREAD = 1, LEVEL_CORE = 2 };
	const struct kvm_cpuid_entry2 thread = {
		.function = 0xb,
		.index = 0,
		.flags = KVM_CPUID_FLAG_SIGNIFCANT_INDEX,
		.ebx = 1,
		.ecx = LEVEL_THREAD << 8,
		.edx = cfg->index,
	};
	const struct kvm_cpuid_entry2 core = {
		.function = 0xb,
		.index = 1,
		.flags = KVM_CPUID_FLAG_SIGNIFCANT_INDEX,
		.eax = id_bits(cfg->cpus),
		.ebx = cfg->cpus,
		.ecx = LEVEL_CORE << 8 | 1,
		.edx = cfg->index,
	};

	cpuid->entries[cpuid->nent++] = thread;
	cpuid->entries[cpuid->nent++] = core;
}

static void cpuid_topology(struct kvm_cpuid_entry2 *e, const struct cpuid_config *cfg)
{
	switch (e->function) {
	case 1:
		cpuid_features(e, cfg);
		break;
	case 4: /* Intel: cores in the package; the cache is not shared beyond what it says */
		if (e->eax & 0x1f)
			e->eax = (e->eax & 0x03ffffff) | ((1u << id_bits(cfg->cpus)) - 1) << 26;
		break;
	case 7: /* no 5-level paging: addresses of the kernel stay where 4 levels have them */
		if (e->index == 0)
			e->ecx &= ~BIT(16);
		break;
	case 0x80000008: /* AMD: width of the core number, cores in the package */
		e->ecx = id_bits(cfg->cpus) << 12 | (cfg->cpus - 1);
		break;
	case 0x8000001e: /* AMD: APIC id, core id, node 0 */
		e->eax = cfg->index;
		e->ebx = cfg->index;
		e->ecx = 0;
		break;
	}
}

/*
 * Without KVM's own leaves the guest takes its clock from the TSC alone, which is the clock that
 * trap hits are stamped with, and makes no hypercalls. Leaf 0x1f says what 0xb says, which is
 * written anew.
 */
static bool cpuid_is_dropped(const struct kvm_cpuid_entry2 *e)
{
	return (e->function >= 0x40000000 && e->function <= 0x4fffffff) || e->function == 0xb ||
	       e->function == 0x1f;
}

static void cpuid_drop(struct kvm_cpuid2 *cpuid)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < cpuid->nent; i++) {
		if (!cpuid_is_dropped(&cpuid->entries[i]))
			cpuid->entries[kept++] = cpuid->entries[i];
	}
	cpuid->nent = kept;
}

void cpuid_prepare(struct kvm_cpuid2 *cpuid, const struct cpuid_config *cfg)
{
	cpuid_drop(cpuid);
	for (uint32_t i = 0; i < cpuid->nent; i++) {
		struct kvm_cpuid_entry2 *e = &cpuid->entries[i];

		cpuid_topology(e, cfg);
		if (cfg->emulated)
			cpuid_mask(e);
	}
	cpuid_add_topology(cpuid, cfg);
}

/* --- KVM ----------------------------------------------------------------------------------- */

/* What the host can give, with room for what is added; NULL with errno set on error. */
static struct kvm_cpuid2 *cpuid_supported(int kvm_fd)
{
	for (uint32_t n = 128; n <= 4096; n *= 2) {
		struct kvm_cpuid2 *c =
			calloc(1, sizeof(*c) + (n + CPUID_ADDED) * sizeof(c->entries[0]));
		int err;

		if (!c)
			return NULL;
		c->nent = n;
		if (!ioctl(kvm_fd, KVM_GET_SUPPORTED_CPUID, c))
			return c;
		err = errno;
		free(c);
		errno = err;
		if (err != E2BIG)
			break;
	}
	return NULL;
}

int kvm_cpuid_set(struct kvm_vcpu *v, struct kvm_cpuid2 *cpuid)
{
	free(v->cpuid);
	v->cpuid = cpuid;
	return ioctl(v->fd, KVM_SET_CPUID2, cpuid) ? -errno : 0;
}

int kvm_cpuid_setup(struct kvm_vcpu *v)
{
	struct cpuid_config cfg = {
		.index = v->index, .cpus = v->m->nvcpus, .emulated = v->m->cal.emulated};
	struct kvm_cpuid2 *cpuid = cpuid_supported(v->m->kvm_fd);

	if (!cpuid)
		return -errno;
	cfg.tsc_deadline = ioctl(v->m->kvm_fd, KVM_CHECK_EXTENSION, KVM_CAP_TSC_DEADLINE_TIMER) > 0;
	cpuid_prepare(cpuid, &cfg);
	return kvm_cpuid_set(v, cpuid);
}
