// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * save-vcpu.c - a vCPU in a snapshot.
 *
 * What depends on what, by KVM (arch/x86/kvm/x86.c, lapic.c): CPUID decides which registers there
 * are; SREGS have the base of the local APIC, which KVM_SET_LAPIC needs; KVM_SET_REGS forgets
 * exceptions that are pending, so events come behind it; and the APIC's timer goes by the TSC, and
 * counts from the moment on at which it is set.
 */
#include "vmm/kvm/save.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

#define MSR_TSC		 0x10
#define MSR_TSC_DEADLINE 0x6e0

#define CR4_VMXE  (UINT64_C(1) << 13)
#define EFER_SVME (UINT64_C(1) << 12)

#define MSRS_MAX  1024u
#define CPUID_MAX 256u

/* What one ioctl gives and another takes, in the order in which they are set. */
static const struct part {
	enum state_type type;
	unsigned long get, set;
	size_t size;
} parts[] = {
	{STATE_MP, KVM_GET_MP_STATE, KVM_SET_MP_STATE, sizeof(struct kvm_mp_state)},
	{STATE_SREGS, KVM_GET_SREGS, KVM_SET_SREGS, sizeof(struct kvm_sregs)},
	{STATE_XSAVE, KVM_GET_XSAVE, KVM_SET_XSAVE, sizeof(struct kvm_xsave)},
	{STATE_XCRS, KVM_GET_XCRS, KVM_SET_XCRS, sizeof(struct kvm_xcrs)},
	{STATE_EVENTS, KVM_GET_VCPU_EVENTS, KVM_SET_VCPU_EVENTS, sizeof(struct kvm_vcpu_events)},
	{STATE_DEBUGREGS, KVM_GET_DEBUGREGS, KVM_SET_DEBUGREGS, sizeof(struct kvm_debugregs)},
};

static const struct part lapic_part = {STATE_LAPIC, KVM_GET_LAPIC, KVM_SET_LAPIC,
				       sizeof(struct kvm_lapic_state)};

#define PART_MAX sizeof(struct kvm_xsave)

static int part_save(struct kvm_vcpu *v, const struct part *p, struct state_sections *s)
{
	_Alignas(8) uint8_t data[PART_MAX] = {0};

	if (ioctl(v->fd, p->get, data))
		return -errno;
	state_put(s, p->type, v->index, data, p->size);
	return 0;
}

static int part_restore(struct kvm_vcpu *v, const struct part *p, const struct state_file *f)
{
	_Alignas(8) uint8_t data[PART_MAX];
	const void *from = state_get_sized(f, p->type, v->index, p->size);

	if (!from)
		return -EINVAL;
	memcpy(data, from, p->size);
	return ioctl(v->fd, p->set, data) ? -errno : 0;
}

/* --- MSRs ---------------------------------------------------------------------------------- */

/*
 * KVM's own, and Hyper-V's, of which the guest is not told (cpuid.c); and the TSC, which is set
 * with the clocks.
 */
static bool msr_is_left_out(uint32_t msr)
{
	return msr == MSR_TSC || msr == 0x11 || msr == 0x12 || msr >> 16 == 0x4000 ||
	       msr >> 8 == 0x4b564d;
}

/* All that KVM has, with a list of MSRS_MAX. */
static struct kvm_msr_list *msrs_known(const struct kvm_machine *m)
{
	struct kvm_msr_list *l = calloc(1, sizeof(*l) + MSRS_MAX * sizeof(l->indices[0]));

	if (!l)
		return NULL;
	l->nmsrs = MSRS_MAX;
	if (!ioctl(m->kvm_fd, KVM_GET_MSR_INDEX_LIST, l))
		return l;
	free(l);
	return NULL;
}

static int msrs_save(struct kvm_vcpu *v, struct state_sections *s)
{
	struct kvm_msr_list *known = msrs_known(v->m);
	struct kvm_msr_entry *all = calloc(MSRS_MAX, sizeof(*all));
	uint32_t n = 0;

	for (uint32_t i = 0; known && all && i < known->nmsrs; i++) {
		struct kvm_msr_entry e = {.index = known->indices[i]};
		uint64_t value;

		/* Some are in the list, and not in this vCPU. */
		if (msr_is_left_out(e.index) || kvm_vcpu_get_msr(v, e.index, &value))
			continue;
		e.data = value;
		all[n++] = e;
	}
	if (known && all)
		state_put(s, STATE_MSRS, v->index, all, n * sizeof(*all));
	else
		s->failed = true;
	free(known);
	free(all);
	return 0;
}

/* One that has the value anyway need not take it: some cannot be written. */
static int msr_restore(struct kvm_vcpu *v, const struct kvm_msr_entry *e)
{
	uint64_t now;

	if (msr_is_left_out(e->index) || e->index == MSR_TSC_DEADLINE)
		return 0;
	if (!kvm_vcpu_get_msr(v, e->index, &now) && now == e->data)
		return 0;
	return kvm_vcpu_set_msr(v, e->index, e->data);
}

static const struct kvm_msr_entry *msrs_of(const struct kvm_vcpu *v, const struct state_file *f,
					   size_t *n)
{
	size_t len = 0;
	const struct kvm_msr_entry *all = state_get(f, STATE_MSRS, v->index, &len);

	*n = len / sizeof(*all);
	return len % sizeof(*all) || *n > MSRS_MAX ? NULL : all;
}

static int msrs_restore(struct kvm_vcpu *v, const struct state_file *f)
{
	size_t n;
	const struct kvm_msr_entry *all = msrs_of(v, f, &n);
	int rc = all ? 0 : -EINVAL;

	for (size_t i = 0; i < n && !rc; i++)
		rc = msr_restore(v, &all[i]);
	return rc;
}

/* --- what the vCPU says of itself ----------------------------------------------------------- */

static void cpuid_save(const struct kvm_vcpu *v, struct state_sections *s)
{
	state_put(s, STATE_CPUID, v->index, v->cpuid->entries,
		  v->cpuid->nent * sizeof(v->cpuid->entries[0]));
}

/* As it was found, and not as it would be found here, which may be more. */
static int cpuid_restore(struct kvm_vcpu *v, const struct state_file *f, char *err, size_t errlen)
{
	size_t len = 0;
	const struct kvm_cpuid_entry2 *found = state_get(f, STATE_CPUID, v->index, &len);
	struct kvm_cpuid2 *set;
	int rc;

	if (!found || !len || len > CPUID_MAX * sizeof(*found) || len % sizeof(*found))
		return -EINVAL;
	rc = kvm_cpuid_check(v->cpuid, found, len / sizeof(*found), err, errlen);
	if (rc)
		return rc;
	set = calloc(1, sizeof(*set) + len);
	if (!set)
		return -ENOMEM;
	set->nent = (uint32_t)(len / sizeof(*found));
	memcpy(set->entries, found, len);
	return kvm_cpuid_set(v, set);
}

/* --- all of it ------------------------------------------------------------------------------ */

bool kvm_vcpu_has_guests(struct kvm_vcpu *v)
{
	struct kvm_sregs s;

	return !kvm_vcpu_get_sregs(v, &s) && (s.cr4 & CR4_VMXE || s.efer & EFER_SVME);
}

int kvm_vcpu_save(struct kvm_vcpu *v, struct state_sections *s, uint64_t tsc)
{
	uint64_t guest = kvm_vcpu_tsc(v, tsc);
	int rc = 0;

	cpuid_save(v, s);
	/* As the tracer has left them: KVM gets them with the next KVM_RUN. */
	state_put(s, STATE_REGS, v->index, kvm_vcpu_regs(v), sizeof(struct kvm_regs));
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]) && !rc; i++)
		rc = part_save(v, &parts[i], s);
	if (!rc)
		rc = part_save(v, &lapic_part, s);
	if (!rc)
		rc = msrs_save(v, s);
	state_put(s, STATE_TSC, v->index, &guest, sizeof(guest));
	return rc;
}

static int regs_restore(struct kvm_vcpu *v, const struct state_file *f)
{
	const struct kvm_regs *regs = state_get_sized(f, STATE_REGS, v->index, sizeof(*regs));

	if (!regs)
		return -EINVAL;
	*kvm_vcpu_regs(v) = *regs;
	return ioctl(v->fd, KVM_SET_REGS, kvm_vcpu_regs(v)) ? -errno : 0;
}

static int state_restore(struct kvm_vcpu *v, const struct state_file *f)
{
	int rc = regs_restore(v, f);

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]) && !rc; i++) {
		if (parts[i].type == STATE_EVENTS)
			rc = msrs_restore(v, f);
		if (!rc)
			rc = part_restore(v, &parts[i], f);
	}
	return rc;
}

int kvm_vcpu_restore(struct kvm_vcpu *v, const struct state_file *f, char *err, size_t errlen)
{
	int rc = cpuid_restore(v, f, err, errlen);

	if (rc == -EXDEV)
		return rc;
	if (!rc)
		rc = state_restore(v, f);
	if (rc)
		snprintf(err, errlen, "vCPU %u of the snapshot cannot be taken over: %s", v->index,
			 strerror(-rc));
	return rc;
}

static int lapic_restore(struct kvm_vcpu *v, const struct state_file *f)
{
	size_t n;
	const struct kvm_msr_entry *all = msrs_of(v, f, &n);
	int rc = all ? part_restore(v, &lapic_part, f) : -EINVAL;

	for (size_t i = 0; i < n && !rc; i++) {
		if (all[i].index == MSR_TSC_DEADLINE)
			rc = kvm_vcpu_set_msr(v, MSR_TSC_DEADLINE, all[i].data);
	}
	return rc;
}

int kvm_vcpu_restore_clock(struct kvm_vcpu *v, const struct state_file *f, uint64_t tsc)
{
	const uint64_t *guest = state_get_sized(f, STATE_TSC, v->index, sizeof(*guest));
	int rc = guest ? kvm_vcpu_tsc_set(v, *guest, tsc) : -EINVAL;

	return rc ? rc : lapic_restore(v, f);
}

int kvm_vcpu_reset(struct kvm_vcpu *v, const struct state_file *f)
{
	int rc;

	/* What was to be taken over with the next KVM_RUN, and what came with the last one. */
	v->run->kvm_dirty_regs = 0;
	v->sregs_synced = false;
	rc = state_restore(v, f);
	return rc ? rc : lapic_restore(v, f);
}
