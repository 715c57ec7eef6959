// SPDX-License-Identifier: GPL-2.0-or-later
/* save.c - a machine becomes a snapshot, and a snapshot a machine. */
#include "vmm/kvm/save.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <x86intrin.h>

#define TEXT_MAX 4096u

/* By which part two hosts' TSCs may differ: what KVM allows (its tsc_tolerance_ppm). */
#define TSC_TOLERANCE 4000u

/* --- saving --------------------------------------------------------------------------------- */

static const char *why_not(struct kvm_machine *m)
{
	if (m->base.end.type != MACHINE_EVENT_NONE)
		return "it has ended";
	if (m->pci)
		return "one with disks or a network card cannot be saved yet";
	if (m->channel)
		return "one that runs a command for its host cannot be saved";
	if (kvm_traps_foreign(m))
		return "it is traced by traps";
	for (unsigned int i = 0; i < m->nvcpus; i++) {
		if (kvm_vcpu_has_guests(&m->vcpu[i]))
			return "one that runs guests itself cannot be saved";
	}
	return NULL;
}

static void put_text(struct state_sections *s, enum state_type type, const char *text)
{
	if (text)
		state_put(s, type, 0, text, strlen(text));
}

static int gather(struct kvm_machine *m, const struct machine_save *save, struct state_sections *s)
{
	const struct save_machine about = {
		.memory = kvm_mem_size(m),
		.tsc_khz = m->tsc_khz,
		.kernel_pa = m->kernel_pa,
		.kernel_slide = m->kernel_slide,
		.kernel_moved = m->kernel_moved,
		.vcpus = m->nvcpus,
		.emulated = m->cal.emulated,
	};
	uint64_t tsc = __rdtsc();
	int rc = 0;

	state_put(s, STATE_MACHINE, 0, &about, sizeof(about));
	put_text(s, STATE_CMDLINE, m->cmdline);
	put_text(s, STATE_KERNEL_PATH, save->kernel_path);
	put_text(s, STATE_KERNEL_ID, save->kernel_id);
	for (unsigned int i = 0; i < m->nvcpus && !rc; i++)
		rc = kvm_vcpu_save(&m->vcpu[i], s, tsc);
	return rc ? rc : kvm_chips_save(m, s);
}

static int write_out(struct kvm_machine *m, int fd, const struct state_sections *s)
{
	struct state_ram ram[KVM_MEM_MAX];
	unsigned int n = m->nram;
	int rc;

	for (unsigned int i = 0; i < n; i++)
		ram[i] = (struct state_ram){m->mem[i].host, m->mem[i].size};
	kvm_traps_lift(m);
	rc = state_write(fd, ram, n, s);
	kvm_traps_lay(m);
	return rc;
}

int kvm_save(struct machine *base, const struct machine_save *save, char *err, size_t errlen)
{
	struct kvm_machine *m = kvm_machine(base);
	struct state_sections s = {0};
	const char *why = why_not(m);
	int rc;

	if (why) {
		snprintf(err, errlen, "the guest cannot be saved: %s", why);
		return -EBUSY;
	}
	rc = gather(m, save, &s);
	if (rc) {
		snprintf(err, errlen, "KVM does not tell the guest's state: %s", strerror(-rc));
	} else {
		rc = write_out(m, save->fd, &s);
		if (rc)
			snprintf(err, errlen, "the snapshot cannot be written: %s", strerror(-rc));
	}
	state_sections_free(&s);
	return rc;
}

/* --- a machine of it ------------------------------------------------------------------------ */

/* Text without control characters, for the caller to free. NULL: none, or no memory. */
static char *get_text(const struct state_file *f, enum state_type type)
{
	size_t len = 0;
	const char *text = state_get(f, type, 0, &len);

	if (!text || len > TEXT_MAX)
		return NULL;
	for (size_t i = 0; i < len; i++) {
		if ((unsigned char)text[i] < ' ')
			return NULL;
	}
	return strndup(text, len);
}

static int take_machine(struct kvm_machine *m, struct kvm_snapshot *snap)
{
	const struct save_machine *about =
		state_get_sized(&snap->file, STATE_MACHINE, 0, sizeof(*about));
	char *cmdline = get_text(&snap->file, STATE_CMDLINE);
	int rc = -EINVAL;

	if (about && cmdline && strlen(cmdline) < sizeof(m->cmdline) && about->vcpus &&
	    about->vcpus <= MACHINE_MAX_VCPUS && about->memory == snap->file.ram) {
		snap->machine = *about;
		m->nvcpus = about->vcpus;
		m->cfg.memory = about->memory;
		m->kernel_pa = about->kernel_pa;
		m->kernel_slide = about->kernel_slide;
		m->kernel_moved = about->kernel_moved;
		memcpy(m->cmdline, cmdline, strlen(cmdline) + 1);
		m->kernel_path = get_text(&snap->file, STATE_KERNEL_PATH);
		m->kernel_id = get_text(&snap->file, STATE_KERNEL_ID);
		rc = 0;
	}
	free(cmdline);
	return rc;
}

int kvm_snapshot_open(struct kvm_machine *m, char *err, size_t errlen)
{
	const char *path = m->cfg.snapshot;
	char why[160] = "";
	int rc;

	m->snapshot = calloc(1, sizeof(*m->snapshot));
	if (!m->snapshot) {
		snprintf(err, errlen, "no memory for the machine");
		return -ENOMEM;
	}
	rc = state_open(&m->snapshot->file, path, why, sizeof(why));
	if (!rc)
		rc = take_machine(m, m->snapshot);
	if (rc)
		snprintf(err, errlen, "%s: %s", path,
			 *why ? why : "the snapshot does not say what machine it is of");
	return rc;
}

static int host_check(const struct kvm_machine *m, char *err, size_t errlen)
{
	const struct save_machine *was = &m->snapshot->machine;
	uint64_t more =
		was->tsc_khz > m->tsc_khz ? was->tsc_khz - m->tsc_khz : m->tsc_khz - was->tsc_khz;

	if (was->emulated != m->cal.emulated)
		snprintf(err, errlen,
			 "the snapshot is of a host where KVM %s guest kernels, and here it %s",
			 was->emulated ? "interprets" : "does not interpret",
			 was->emulated ? "does not" : "does");
	else if (more > m->tsc_khz / TSC_TOLERANCE)
		snprintf(err, errlen,
			 "the snapshot is of a host whose TSC has %llu kHz, and here it has %llu",
			 (unsigned long long)was->tsc_khz, (unsigned long long)m->tsc_khz);
	else
		return 0;
	return -EXDEV;
}

static int refused(int rc, const char *what, char *err, size_t errlen)
{
	if (rc)
		snprintf(err, errlen, "%s of the snapshot cannot be taken over: %s", what,
			 strerror(-rc));
	return rc;
}

int kvm_snapshot_restore(struct kvm_machine *m, char *err, size_t errlen)
{
	const struct state_file *f = &m->snapshot->file;
	int rc = host_check(m, err, errlen);

	if (rc)
		return rc;
	for (unsigned int i = 0; i < m->nvcpus && !rc; i++)
		rc = kvm_vcpu_restore(&m->vcpu[i], f, err, errlen);
	return rc ? rc : refused(kvm_chips_restore(m, f), "the devices", err, errlen);
}

int kvm_snapshot_start(struct kvm_machine *m, char *err, size_t errlen)
{
	const struct state_file *f = &m->snapshot->file;
	uint64_t tsc = __rdtsc();
	int rc = 0;

	for (unsigned int i = 0; i < m->nvcpus && !rc; i++)
		rc = kvm_vcpu_restore_clock(&m->vcpu[i], f, tsc);
	if (!rc)
		rc = kvm_chips_restore_clock(m, f);
	kvm_snapshot_close(m);
	return refused(rc, "the clocks", err, errlen);
}

void kvm_snapshot_close(struct kvm_machine *m)
{
	if (!m->snapshot)
		return;
	state_close(&m->snapshot->file);
	free(m->snapshot);
	m->snapshot = NULL;
}
