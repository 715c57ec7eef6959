// SPDX-License-Identifier: GPL-2.0-or-later
/* save.c - a machine becomes a snapshot, and a snapshot a machine. */
#include "vmm/kvm/save.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <x86intrin.h>

#define TEXT_MAX   4096u
#define PAGE	   4096u
#define WINDOW_END (UINT64_C(1) << 52) /* no address of x86 is beyond */

/* By which part two hosts' TSCs may differ: what KVM allows (its tsc_tolerance_ppm). */
#define TSC_TOLERANCE 4000u

/* --- saving --------------------------------------------------------------------------------- */

static const char *why_not(struct kvm_machine *m, const struct machine_save *save)
{
	if (m->base.end.type != MACHINE_EVENT_NONE)
		return "it has ended";
	if (m->snapshot)
		return "it has only just been restored: try again";
	if (kvm_devices_unsavable(m))
		return kvm_devices_unsavable(m);
	if (m->channel)
		return "one that runs a command for its host cannot be saved";
	if (!save->traced && kvm_traps_foreign(m))
		return "it is traced by traps";
	for (unsigned int i = 0; i < m->nvcpus; i++) {
		if (kvm_vcpu_has_guests(&m->vcpu[i]))
			return "one that runs guests itself cannot be saved";
		if (m->vcpu[i].follow)
			return "the branches of a call are being traced: try again";
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
	if (!rc)
		rc = kvm_chips_save(m, s);
	return rc ? rc : kvm_devices_save(m, s);
}

/* Those that a tracer has, unless the guest is without one: they are closed then. */
static unsigned int mem_kept(struct kvm_machine *m, const struct machine_save *save)
{
	return save->traced ? m->nmem : m->nram;
}

static void put_windows(struct kvm_machine *m, unsigned int end, struct state_sections *s)
{
	for (unsigned int i = m->nram; i < end; i++) {
		const struct save_window w = {m->mem[i].pa, m->mem[i].size};

		state_put(s, STATE_WINDOW, i - m->nram, &w, sizeof(w));
	}
}

static int write_to(struct kvm_machine *m, const struct state_sink *to, unsigned int end,
		    const struct state_sections *s)
{
	uint64_t at = STATE_RAM_AT;
	int rc = 0;

	for (unsigned int i = 0; i < end && !rc; i++) {
		rc = state_write_memory(to, m->mem[i].host, m->mem[i].size, at);
		at += m->mem[i].size;
	}
	if (!rc)
		rc = kvm_devices_save_disks(m, to, &at);
	return rc ? rc : state_write_end(to, at - STATE_RAM_AT, s);
}

/* Of what has not been completed nothing is left. */
static int write_file(struct kvm_machine *m, int fd, unsigned int end,
		      const struct state_sections *s)
{
	const struct state_sink to = {state_put_file, &fd};
	int rc = ftruncate(fd, 0) ? -errno : write_to(m, &to, end, s);

	if (rc && ftruncate(fd, 0))
		return rc; /* without its header it is taken for none either */
	return rc;
}

static int write_out(struct kvm_machine *m, const struct machine_save *save,
		     struct state_sections *s)
{
	const struct state_sink to = {save->put, save->arg};
	unsigned int end = mem_kept(m, save);
	int rc;

	put_windows(m, end, s);
	kvm_traps_lift(m);
	rc = save->put ? write_to(m, &to, end, s) : write_file(m, save->fd, end, s);
	kvm_traps_lay(m);
	return rc;
}

static int save_held(struct kvm_machine *m, const struct machine_save *save, char *err,
		     size_t errlen)
{
	struct state_sections s = {0};
	int rc;

	rc = gather(m, save, &s);
	if (rc) {
		snprintf(err, errlen, "KVM does not tell the guest's state: %s", strerror(-rc));
	} else {
		rc = write_out(m, save, &s);
		if (rc)
			snprintf(err, errlen, "the snapshot cannot be written: %s", strerror(-rc));
	}
	state_sections_free(&s);
	return rc;
}

/* Devices are held before their part is read: with nothing under way there is less of it. */
int kvm_save(struct machine *base, const struct machine_save *save, char *err, size_t errlen)
{
	struct kvm_machine *m = kvm_machine(base);
	const char *why = why_not(m, save);
	int rc;

	if (why) {
		snprintf(err, errlen, "the guest cannot be saved: %s", why);
		return -EBUSY;
	}
	kvm_devices_hold(m);
	rc = save_held(m, save, err, errlen);
	kvm_devices_release(m);
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

const struct save_window *kvm_snapshot_window(const struct kvm_snapshot *snap, unsigned int i)
{
	const struct save_window *w = state_get_sized(&snap->file, STATE_WINDOW, i, sizeof(*w));

	if (!w || !w->size || w->size % PAGE || w->pa % PAGE || w->pa < KVM_RAM_HIGH_START ||
	    w->size > snap->file.memory || w->pa > WINDOW_END - w->size)
		return NULL;
	return w;
}

/* Where RAM and windows end in the file; 0: it is too short for them. */
static uint64_t memory_end(const struct kvm_snapshot *snap, uint64_t ram)
{
	uint64_t left = snap->file.memory;
	const struct save_window *w;

	if (ram % PAGE || ram > left)
		return 0;
	left -= ram;
	for (unsigned int i = 0; (w = kvm_snapshot_window(snap, i)); i++) {
		if (w->size > left)
			return 0;
		left -= w->size;
	}
	return STATE_RAM_AT + snap->file.memory - left;
}

static int take_machine(struct kvm_machine *m, struct kvm_snapshot *snap)
{
	const struct save_machine *about =
		state_get_sized(&snap->file, STATE_MACHINE, 0, sizeof(*about));
	char *cmdline = get_text(&snap->file, STATE_CMDLINE);
	int rc = -EINVAL;

	if (about && cmdline && strlen(cmdline) < sizeof(m->cmdline) && about->vcpus &&
	    about->vcpus <= MACHINE_MAX_VCPUS && memory_end(snap, about->memory)) {
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

/* All the memory that the file has is somebody's. */
static int take_disks(struct kvm_machine *m, struct kvm_snapshot *snap, char *err, size_t errlen)
{
	int rc = kvm_snapshot_find_disks(snap, memory_end(snap, snap->machine.memory), err, errlen);

	if (!rc && snap->end != STATE_RAM_AT + snap->file.memory)
		rc = -EINVAL;
	m->cfg.devices = (struct machine_devices){.disk = snap->disk, .ndisk = snap->ndisk};
	return rc;
}

int kvm_snapshot_open(struct kvm_machine *m, char *err, size_t errlen)
{
	const char *path = m->cfg.snapshot;
	char why[512] = "";
	int rc;

	m->snapshot = calloc(1, sizeof(*m->snapshot));
	if (!m->snapshot) {
		snprintf(err, errlen, "no memory for the machine");
		return -ENOMEM;
	}
	rc = state_open(&m->snapshot->file, path, why, sizeof(why));
	if (!rc)
		rc = take_machine(m, m->snapshot);
	if (!rc)
		rc = take_disks(m, m->snapshot, why, sizeof(why));
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
	if (rc)
		return rc;
	rc = kvm_chips_restore(m, f);
	return refused(rc ? rc : kvm_devices_restore(m, f), "the devices", err, errlen);
}

/* What its disks are called stays, for another snapshot. */
static void kvm_snapshot_done(struct kvm_machine *m)
{
	state_close(&m->snapshot->file);
	m->came_from = m->snapshot;
	m->snapshot = NULL;
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
	kvm_devices_go_on(m);
	kvm_snapshot_done(m);
	return refused(rc, "the clocks", err, errlen);
}

void kvm_snapshot_close(struct kvm_machine *m)
{
	struct kvm_snapshot *snap = m->snapshot ? m->snapshot : m->came_from;

	if (!snap)
		return;
	state_close(&snap->file);
	kvm_snapshot_free_disks(snap);
	free(snap);
	m->snapshot = m->came_from = NULL;
}
