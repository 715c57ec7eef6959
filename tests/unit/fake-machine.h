/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fake-machine.h - the machine of a made-up guest: implements the parts of machine.h that tracer/
 * calls. What goes through machine_read() and machine_write() may be read and written by several
 * threads.
 */
#ifndef HVTRACE_TESTS_FAKE_MACHINE_H
#define HVTRACE_TESTS_FAKE_MACHINE_H

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/fake-state.h"

void machine_pause_for(struct machine *m, const char *what)
{
	(void)m;
	if (!what)
		abort(); /* also in fuzz targets, which have no cmocka */
	fake.paused++;
}

void machine_serve_begin(struct machine *m, const char *what)
{
	(void)m;
	if (!what)
		abort(); /* also in fuzz targets, which have no cmocka */
}

void machine_serve_end(struct machine *m)
{
	(void)m;
}

void machine_resume(struct machine *m)
{
	(void)m;
	if (--fake.paused || !fake.run || fake.running)
		return;
	fake.running = true;
	fake.run();
	fake.running = false;
}

void machine_wake(struct machine *m)
{
	(void)m;
	fake.woken++;
}

void *machine_host_ptr(struct machine *m, uint64_t pa, size_t len)
{
	(void)m;
	return pa <= FAKE_RAM && len <= FAKE_RAM - pa ? fake.ram + pa : NULL;
}

int machine_read(struct machine *m, uint64_t pa, void *buf, size_t len)
{
	const void *p = machine_host_ptr(m, pa, len);

	if (!p)
		return -EFAULT;
	if (fake.before_read)
		fake.before_read(pa, len);
	pthread_mutex_lock(&fake_lock);
	memcpy(buf, p, len);
	pthread_mutex_unlock(&fake_lock);
	return 0;
}

int machine_write(struct machine *m, uint64_t pa, const void *buf, size_t len)
{
	void *p = machine_host_ptr(m, pa, len);

	if (!p)
		return -EFAULT;
	pthread_mutex_lock(&fake_lock);
	memcpy(p, buf, len);
	if (fake.wrote)
		fake.wrote(pa, buf, len);
	pthread_mutex_unlock(&fake_lock);
	return 0;
}

int machine_write_text(struct machine *m, uint64_t pa, const void *buf, size_t len)
{
	return machine_write(m, pa, buf, len);
}

int machine_patch_text(struct machine *m, const struct machine_patch *patches, size_t n)
{
	int ret = 0;

	for (size_t i = 0; i < n && !ret; i++) {
		if (fake.patch_failures && !fake.patch_room) {
			fake.patch_failures--;
			return -EIO;
		}
		ret = machine_write(m, patches[i].pa, patches[i].bytes, patches[i].size);
		fake.patch_room -= fake.patch_failures && fake.patch_room;
	}
	return ret;
}

int machine_window(struct machine *m, size_t size, uint64_t *pa, void **host)
{
	if (!fake.window)
		return -EOPNOTSUPP;
	*pa = FAKE_WINDOW;
	*host = machine_host_ptr(m, *pa, size);
	return *host ? 0 : -ENOSPC;
}

int machine_reserved_page(struct machine *m, uint64_t *pa)
{
	(void)m;
	*pa = FAKE_TABLE;
	return fake.window ? 0 : -EOPNOTSUPP;
}

void machine_get_info(struct machine *m, struct machine_info *info)
{
	(void)m;
	*info = (struct machine_info){.vcpus = fake.vcpus,
				      .max_vcpus = fake.max_vcpus,
				      .memory = fake.memory,
				      .tsc_khz = 1000000,
				      .accel = fake.accel ? fake.accel : "tcg",
				      .was_running = true,
				      .loses_int3 = fake.loses_int3,
				      .direct = fake.direct,
				      .mmio = fake.mmio,
				      .follow = fake.follow,
				      .window = true};
}

unsigned int machine_traceable_vcpus(const struct machine_info *info)
{
	return info->vcpus;
}

int machine_look_at_vcpus(struct machine *m)
{
	(void)m;
	if (fake.vcpus_error)
		return fake.vcpus_error;
	return fake.vcpus ? (int)fake.vcpus : 1;
}

bool machine_has_halted(struct machine *m)
{
	(void)m;
	return fake.halted;
}

int machine_number_vcpus(struct machine *m, const unsigned int *number, unsigned int n)
{
	(void)m;
	if (n > FAKE_VCPUS)
		abort();
	for (unsigned int i = 0; i < n; i++)
		fake.number[i] = number[i];
	fake.numbered++;
	return fake.number_error;
}

void machine_get_pauses(struct machine *m, struct machine_pauses *pauses)
{
	(void)m;
	*pauses = (struct machine_pauses){.count = 3,
					  .total_ns = 2500000,
					  .longest_ns = 1250000,
					  .longest_what = "patching its text",
					  .limit_ns = 1000000000,
					  .row = {[10] = 2, [11] = 1}};
}

bool machine_has_ended(struct machine *m, struct machine_event *ev)
{
	(void)m, (void)ev;
	return fake.ended;
}

int machine_wait(struct machine *m, struct machine_event *ev, int timeout_ms)
{
	(void)m;
	*ev = (struct machine_event){.type = timeout_ms && fake.goes ? MACHINE_EVENT_POWEROFF
								     : MACHINE_EVENT_NONE};
	return 0;
}

int machine_walk(struct machine *m, uint64_t root, unsigned int levels, uint64_t va, uint64_t *pa,
		 uint64_t *left)
{
	(void)m, (void)levels;
	for (size_t i = 0; i < fake.nmaps; i++) {
		uint64_t off = va - fake.maps[i].va;

		if (fake.maps[i].root != root || off >= fake.maps[i].len)
			continue;
		if (fake.maps[i].again)
			off &= fake.maps[i].again - 1;
		*pa = fake.maps[i].pa + off;
		if (left)
			*left = (fake.maps[i].again ? fake.maps[i].again : fake.maps[i].len) - off;
		return 0;
	}
	return -EFAULT;
}

int machine_get_sregs(struct machine *m, unsigned int vcpu, struct machine_sregs *sregs)
{
	(void)m;
	*sregs = fake.each ? fake.each[vcpu] : fake.sregs;
	if (fake.elsewhere >> vcpu & 1)
		*sregs = (struct machine_sregs){0};
	return 0;
}

int machine_set_regs(struct machine *m, unsigned int vcpu, const struct machine_regs *regs)
{
	(void)m;
	if (vcpu >= FAKE_VCPUS)
		return -EINVAL;
	fake.regs[vcpu] = *regs;
	return 0;
}

int machine_get_regs(struct machine *m, unsigned int vcpu, struct machine_regs *regs)
{
	(void)m;
	if (vcpu >= FAKE_VCPUS)
		return -EINVAL;
	*regs = fake.now[vcpu];
	return fake.gone[vcpu] ? -ENODEV : 0;
}

int machine_mmio_watch(struct machine *m, bool on, char *err, size_t errlen)
{
	(void)m;
	if (on && fake.watch_error)
		snprintf(err, errlen, "nobody tells of devices");
	else
		fake.watched = on;
	return on ? fake.watch_error : 0;
}

uint64_t machine_get_tsc(struct machine *m, unsigned int vcpu)
{
	(void)m, (void)vcpu;
	return 0;
}

int machine_get_delay(struct machine *m, unsigned int vcpu, struct machine_delay *delay)
{
	(void)m;
	if (vcpu >= FAKE_VCPUS)
		return -EINVAL;
	pthread_mutex_lock(&fake_lock);
	*delay = fake.delay[vcpu];
	pthread_mutex_unlock(&fake_lock);
	return fake.delay_error;
}

static struct machine_trap *fake_trap(uint64_t va)
{
	for (size_t i = 0; i < fake.ntraps; i++)
		if (fake.traps[i].va == va)
			return &fake.traps[i];
	return NULL;
}

int machine_follow(struct machine *m, const struct machine_follow *follow)
{
	(void)m;
	fake.followed = *follow;
	fake.follows++;
	return fake.follow_error;
}

int machine_when_gone(struct machine *m, const struct machine_gone_word *word)
{
	(void)m;
	(void)word;
	return 0;
}

int machine_traps_set(struct machine *m, const struct machine_trap *traps, size_t n)
{
	(void)m;
	if (fake.trap_error)
		return fake.trap_error;
	if (n > FAKE_TRAPS - fake.ntraps)
		return -ENOSPC;
	for (size_t i = 0; i < n; i++) {
		if (fake_trap(traps[i].va))
			return -EEXIST;
		fake.traps[fake.ntraps++] = traps[i];
	}
	return 0;
}

int machine_traps_clear(struct machine *m, const uint64_t *vas, size_t n)
{
	(void)m;
	if (fake.trap_error)
		return fake.trap_error;
	for (size_t i = 0; i < n; i++) {
		struct machine_trap *t = fake_trap(vas[i]);

		if (!t)
			return -ENOENT;
		*t = fake.traps[--fake.ntraps];
	}
	return 0;
}

#endif
