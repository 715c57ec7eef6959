// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * clock.c - the guest's TSC at a stop, which neither the stub nor the monitor tells.
 *
 * It is a clock that can be read, plus an offset. Under KVM the clock is the host's TSC, which the
 * guest's follows whether it runs or stands (TSC scaling apart). Under TCG the guest's TSC is the
 * host's while it runs, and stands while the guest stands (cpu_get_ticks() in softmmu/cpus.c of
 * QEMU 7.2; cpu-timers.c), as QEMU's virtual clock does. That clock drives the ACPI timer, which
 * the monitor can read: 24 bits at 3.58 MHz. Without an ACPI timer, or a monitor, the host's TSC
 * less the time for which we have seen the guest stand stands in; that gains some tens of
 * microseconds with each stop, since the guest has stopped before we hear of it.
 *
 * The offset: at the first hit, which is in the kernel, the vCPU executes one rdtsc on the side, by
 * itself, that is found in the kernel's text near the site. Where none is found the offset
 * is 0, and the differences of times are right all the same.
 */
#include "vmm/qemu/qemu.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <x86intrin.h>

#define ACPI_HZ	    3579545
#define ACPI_BITS   24
#define STEP_MS	    5000
#define LARGE_PAGE  (UINT64_C(2) << 20)
#define SCAN_CHUNK  (64 << 10)
#define CR4_LA57    (1u << 12)
#define MIN_BASE_NS 20000000

static const uint8_t rdtsc_insn[] = {0x0f, 0x31};

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

void qemu_clock_begin(struct qemu_machine *m)
{
	m->clock.base_ns = now_ns();
	m->clock.base_host = m->clock.stop_begin = __rdtsc();
}

void qemu_clock_init(struct qemu_machine *m, const char *mtree)
{
	m->clock.port = m->kvm ? 0 : qemu_monitor_port(mtree, "acpi-tmr");
}

/* The longer ago the beginning, the better: when attached it is good to a few parts in a million.
 */
uint64_t qemu_clock_khz(struct qemu_machine *m)
{
	struct qemu_clock *c = &m->clock;

	while (!c->khz) {
		uint64_t ns = now_ns() - c->base_ns;

		if (ns >= MIN_BASE_NS)
			c->khz = (uint64_t)((unsigned __int128)(__rdtsc() - c->base_host) *
					    1000000 / ns);
	}
	return c->khz;
}

void qemu_clock_stopped(struct qemu_machine *m)
{
	m->clock.stop_begin = __rdtsc();
}

void qemu_clock_running(struct qemu_machine *m)
{
	m->clock.stopped += __rdtsc() - m->clock.stop_begin;
}

/* The host's TSC, without the time that the guest has stood. */
static uint64_t seen_running(const struct qemu_clock *c)
{
	return c->stop_begin - c->stopped;
}

/* Its wrapping, every 4.7 s, is undone with the help of what we have seen of the time. */
static bool read_acpi(struct qemu_machine *m, uint64_t *ticks)
{
	struct qemu_clock *c = &m->clock;
	const uint64_t wrap = UINT64_C(1) << ACPI_BITS;
	uint64_t seen = seen_running(c), expected;
	char command[32], *answer;
	uint32_t value;
	int rc;

	snprintf(command, sizeof(command), "i /w 0x%x", c->port);
	if (!c->port || gdb_monitor(m->gdb, command, &answer))
		return false;
	rc = qemu_monitor_port_value(answer, &value);
	free(answer);
	if (rc)
		return false;
	expected = c->ticks + (uint64_t)((unsigned __int128)(seen - c->seen) * ACPI_HZ /
					 (qemu_clock_khz(m) * 1000));
	/* Of all that end in this value, the one nearest to what is expected. */
	*ticks = expected + ((value - expected + wrap / 2) & (wrap - 1)) - wrap / 2;
	c->ticks = *ticks;
	c->seen = seen;
	return true;
}

/* The clock that the guest's TSC differs from by an offset. */
static uint64_t clock_read(struct qemu_machine *m)
{
	uint64_t ticks;

	if (m->kvm)
		return m->clock.stop_begin;
	if (!m->clock.port)
		return seen_running(&m->clock);
	if (!read_acpi(m, &ticks))
		ticks = m->clock.ticks;
	return (uint64_t)((unsigned __int128)ticks * qemu_clock_khz(m) * 1000 / ACPI_HZ);
}

uint64_t qemu_clock_tsc(struct qemu_machine *m)
{
	return clock_read(m) + m->clock.offset;
}

/* --- the offset ---------------------------------------------------------------------------------
 */

/* Is this address of the vCPU's the one of this memory? */
static bool maps_to(struct qemu_machine *m, const struct qemu_vcpu *v, uint64_t va, uint64_t pa)
{
	unsigned int levels = v->reg[GDB_CR4] & CR4_LA57 ? 5 : 4;
	uint64_t found;

	return !machine_walk(&m->base, v->reg[GDB_CR3], levels, va, &found, NULL) && found == pa;
}

/* Bytes of rdtsc in the 2 MiB around the site, be they meant as an instruction or not: 0 if none.
 */
static uint64_t find_rdtsc(struct qemu_machine *m, const struct qemu_vcpu *v, uint64_t va,
			   uint64_t pa)
{
	uint64_t start = pa & ~(LARGE_PAGE - 1), found = 0;
	uint8_t *bytes = malloc(SCAN_CHUNK);

	for (uint64_t at = start; bytes && !found && at < start + LARGE_PAGE; at += SCAN_CHUNK) {
		const uint8_t *hit;

		if (qemu_read(&m->base, at, bytes, SCAN_CHUNK))
			continue;
		hit = memmem(bytes, SCAN_CHUNK, rdtsc_insn, sizeof(rdtsc_insn));
		if (hit && maps_to(m, v, va + (at + (uint64_t)(hit - bytes)) - pa,
				   at + (uint64_t)(hit - bytes)))
			found = va + (at + (uint64_t)(hit - bytes)) - pa;
	}
	free(bytes);
	return found;
}

/* Execute the one instruction at va, with its effect in v->reg. */
static bool step_at(struct qemu_machine *m, struct qemu_vcpu *v, uint64_t va)
{
	struct gdb_stop stop;

	if (qemu_vcpu_set(m, v, GDB_RIP, va))
		return false;
	qemu_clock_running(m);
	v->known = false;
	if (gdb_step(m->gdb, v->thread) || gdb_wait_stop(m->gdb, &stop, STEP_MS))
		return false;
	qemu_clock_stopped(m);
	return !qemu_vcpu_fetch(m, v) && v->reg[GDB_RIP] == va + sizeof(rdtsc_insn);
}

void qemu_clock_calibrate(struct qemu_machine *m, struct qemu_vcpu *v, uint64_t va, uint64_t pa)
{
	const struct gdb_reg_value before[] = {
		{GDB_RAX, v->reg[GDB_RAX]},
		{GDB_RDX, v->reg[GDB_RDX]},
		{GDB_RIP, v->reg[GDB_RIP]},
	};
	const unsigned int n = sizeof(before) / sizeof(before[0]);
	char packets[KEEPER_FIRST_MAX];
	uint64_t at;

	if (m->clock.tried || !m->ram.direct)
		return;
	m->clock.tried = true;
	at = find_rdtsc(m, v, va, pa);
	/* A tracer that is killed must not leave the vCPU there. */
	if (!at || gdb_regs_packets(m->gdb, v->thread, before, n, packets, sizeof(packets)) ||
	    keeper_first(&m->keeper, packets))
		return;
	if (step_at(m, v, at)) {
		uint64_t tsc = v->reg[GDB_RDX] << 32 | (uint32_t)v->reg[GDB_RAX];

		m->clock.offset = tsc - clock_read(m);
	}
	if (!qemu_vcpu_set_all(m, v, before, n))
		keeper_first(&m->keeper, NULL);
}
