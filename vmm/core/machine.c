// SPDX-License-Identifier: GPL-2.0-or-later
/* machine.c - the way from machine.h into the backend that a machine is of. */
#include "vmm/core/backend.h"
#include "vmm/core/traps.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

void machine_free(struct machine *m)
{
	if (m)
		m->ops->destroy(m);
}

int machine_start(struct machine *m, char *err, size_t errlen)
{
	return m->ops->start(m, err, errlen);
}

int machine_reboot(struct machine *m, char *err, size_t errlen)
{
	struct machine_event end;

	/* What has faulted three times is reset by the board of a PC. */
	if (m->reboots && machine_has_ended(m, &end) &&
	    (end.type == MACHINE_EVENT_RESET || end.type == MACHINE_EVENT_CRASH))
		return m->ops->reboot(m, err, errlen);
	snprintf(err, errlen, "it has not reset itself");
	return -EINVAL;
}

int machine_save(struct machine *m, const struct machine_save *save, char *err, size_t errlen)
{
	int rc;

	if (!m->ops->save) {
		snprintf(err, errlen, "guests of %s cannot be saved, only those of hvtrace's own",
			 m->ops->name);
		return -EOPNOTSUPP;
	}
	machine_pause_for(m, "saving it");
	rc = m->ops->save(m, save, err, errlen);
	machine_resume(m);
	return rc;
}

void machine_get_info(struct machine *m, struct machine_info *info)
{
	m->ops->get_info(m, info);
}

void *machine_host_ptr(struct machine *m, uint64_t pa, size_t len)
{
	return m->ops->host_ptr ? m->ops->host_ptr(m, pa, len) : NULL;
}

/* Bytes from pa to the end of its page, at most len. */
static size_t page_chunk(uint64_t pa, size_t len)
{
	size_t chunk = 4096 - (pa & 4095);

	return chunk < len ? chunk : len;
}

/*
 * Copying goes page by page, because neighbouring pages may belong to different memory. All of
 * the range is looked up before the first byte is copied, so that an error changes nothing.
 */
static int check_range(struct machine *m, uint64_t pa, size_t len)
{
	if (pa + len < pa)
		return -EFAULT;
	while (len) {
		size_t chunk = page_chunk(pa, len);

		if (!machine_host_ptr(m, pa, chunk))
			return -EFAULT;
		pa += chunk;
		len -= chunk;
	}
	return 0;
}

int machine_read(struct machine *m, uint64_t pa, void *buf, size_t len)
{
	char *to = buf;

	if (m->ops->read)
		return m->ops->read(m, pa, buf, len);
	if (check_range(m, pa, len))
		return -EFAULT;
	while (len) {
		size_t chunk = page_chunk(pa, len);

		memcpy(to, machine_host_ptr(m, pa, chunk), chunk);
		pa += chunk;
		to += chunk;
		len -= chunk;
	}
	return 0;
}

int machine_write(struct machine *m, uint64_t pa, const void *buf, size_t len)
{
	const char *from = buf;

	if (m->ops->write)
		return m->ops->write(m, pa, buf, len);
	if (check_range(m, pa, len))
		return -EFAULT;
	while (len) {
		size_t chunk = page_chunk(pa, len);

		memcpy(machine_host_ptr(m, pa, chunk), from, chunk);
		pa += chunk;
		from += chunk;
		len -= chunk;
	}
	return 0;
}

int machine_write_text(struct machine *m, uint64_t pa, const void *buf, size_t len)
{
	if (m->ops->write_text)
		return m->ops->write_text(m, pa, buf, len);
	return machine_write(m, pa, buf, len);
}

/* Each patch by host address: the kvm backend's vCPUs are outside the guest and enter it anew. */
static int patch_directly(struct machine *m, const struct machine_patch *patches, size_t n)
{
	int rc = 0;

	for (size_t i = 0; i < n; i++) {
		if (check_range(m, patches[i].pa, patches[i].size))
			return -EFAULT;
	}
	for (size_t i = 0; i < n && !rc; i++)
		rc = machine_write_text(m, patches[i].pa, patches[i].bytes, patches[i].size);
	return rc;
}

int machine_patch_text(struct machine *m, const struct machine_patch *patches, size_t n)
{
	int rc;

	for (size_t i = 0; i < n; i++) {
		if (!patches[i].size || patches[i].size > MACHINE_PATCH_MAX)
			return -EINVAL;
	}
	machine_pause_for(m, "patching its text");
	rc = m->ops->patch_text ? m->ops->patch_text(m, patches, n) : patch_directly(m, patches, n);
	machine_resume(m);
	return rc;
}

int machine_when_gone(struct machine *m, const struct machine_gone_word *word)
{
	return m->ops->when_gone ? m->ops->when_gone(m, word) : 0;
}

int machine_window(struct machine *m, size_t size, uint64_t *pa, void **host)
{
	return m->ops->window(m, size, pa, host);
}

int machine_reserved_page(struct machine *m, uint64_t *pa)
{
	return m->ops->reserved_page ? m->ops->reserved_page(m, pa) : -EOPNOTSUPP;
}

void machine_pause_for(struct machine *m, const char *what)
{
	m->ops->pause(m);
	stand_begin(m, what);
}

void machine_pause(struct machine *m)
{
	machine_pause_for(m, NULL);
}

void machine_resume(struct machine *m)
{
	m->ops->resume(m);
	stand_end(m);
}

void machine_serve_begin(struct machine *m, const char *what)
{
	stand_begin(m, what);
}

void machine_serve_end(struct machine *m)
{
	stand_end(m);
}

unsigned int machine_traceable_vcpus(const struct machine_info *info)
{
	unsigned int n = info->max_vcpus > info->vcpus ? info->max_vcpus : info->vcpus;

	return n < MACHINE_MAX_VCPUS ? n : MACHINE_MAX_VCPUS;
}

bool machine_has_halted(struct machine *m)
{
	return m->ops->has_halted(m);
}

int machine_look_at_vcpus(struct machine *m)
{
	struct machine_info info;

	if (m->ops->look_at_vcpus)
		return m->ops->look_at_vcpus(m);
	machine_get_info(m, &info);
	return (int)info.vcpus;
}

int machine_number_vcpus(struct machine *m, const unsigned int *number, unsigned int n)
{
	int rc = m->ops->number_vcpus ? m->ops->number_vcpus(m, number, n) : -EOPNOTSUPP;

	if (!rc)
		machine_delays_number(m, number, n);
	return rc;
}

int machine_mmio_watch(struct machine *m, bool on, char *err, size_t errlen)
{
	return m->ops->mmio_watch ? m->ops->mmio_watch(m, on, err, errlen) : 0;
}

int machine_get_regs(struct machine *m, unsigned int vcpu, struct machine_regs *regs)
{
	return m->ops->get_regs(m, vcpu, regs);
}

int machine_set_regs(struct machine *m, unsigned int vcpu, const struct machine_regs *regs)
{
	return m->ops->set_regs(m, vcpu, regs);
}

uint64_t machine_get_tsc(struct machine *m, unsigned int vcpu)
{
	return m->ops->get_tsc(m, vcpu);
}

int machine_get_tsc_line(struct machine *m, unsigned int vcpu, struct machine_tsc *line)
{
	return m->ops->tsc_line(m, vcpu, line);
}

int machine_get_sregs(struct machine *m, unsigned int vcpu, struct machine_sregs *sregs)
{
	return m->ops->get_sregs(m, vcpu, sregs);
}

int machine_traps_set(struct machine *m, const struct machine_trap *traps, size_t n)
{
	int rc = 0;

	for (size_t i = 0; i < n && !rc; i++)
		rc = trap_check(&traps[i]);
	if (rc)
		return rc;
	machine_pause_for(m, "setting traps");
	rc = m->ops->traps_set(m, traps, n);
	machine_resume(m);
	return rc;
}

int machine_traps_clear(struct machine *m, const uint64_t *vas, size_t n)
{
	int rc;

	machine_pause_for(m, "clearing traps");
	rc = m->ops->traps_clear(m, vas, n);
	machine_resume(m);
	return rc;
}

int machine_follow(struct machine *m, const struct machine_follow *follow)
{
	if (!m->ops->follow)
		return -EOPNOTSUPP;
	return follow->steps ? m->ops->follow(m, follow) : -EINVAL;
}

size_t machine_console_input(struct machine *m, const char *text, size_t len)
{
	return m->ops->console_input(m, text, len);
}

size_t machine_channel_input(struct machine *m, const char *text, size_t len)
{
	return m->ops->channel_input(m, text, len);
}

int machine_power_button(struct machine *m, char *err, size_t errlen)
{
	return m->ops->power_button(m, err, errlen);
}
