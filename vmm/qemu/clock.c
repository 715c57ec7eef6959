// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * clock.c - the guest's TSC at a stop, which neither the stub nor the monitor tells.
 *
 * Under KVM it is the host's, scaled and with an offset, whether the guest runs or stands. Both are
 * what the host's kernel tells root (kvm-tsc.h), and nothing is executed in the guest for it.
 *
 * Else it is a clock that can be read, plus an offset that a vCPU tells at its first hit by an
 * rdtsc (calibrate.c). That clock is, under KVM, the host's TSC. Under TCG the guest's TSC is the
 * host's while it runs, and stands while the guest stands (cpu_get_ticks() in softmmu/cpus.c of
 * QEMU 7.2; cpu-timers.c), as QEMU's virtual clock does. That clock drives the ACPI timer, which
 * the monitor can read: 24 bits at 3.58 MHz. Without an ACPI timer, or a monitor, the host's TSC
 * less the time for which we have seen the guest stand stands in; that gains some tens of
 * microseconds with each stop, since the guest has stopped before we hear of it.
 *
 * Where no vCPU can be asked the offset is 0, and the differences of times are right all the same.
 */
#include "vmm/qemu/qemu.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <x86intrin.h>

#define ACPI_HZ	    3579545
#define ACPI_BITS   24
#define MIN_BASE_NS 20000000
#define LOOKS	    16

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

/*
 * A moment by both clocks. Of several looks the quickest one counts: what comes between the two
 * clocks on a busy host, some microseconds, would be a hundred parts in a million of what is
 * measured.
 */
static void read_both(uint64_t *ns, uint64_t *tsc)
{
	uint64_t least = UINT64_MAX;

	for (int i = 0; i < LOOKS; i++) {
		uint64_t before = __rdtsc(), at = now_ns(), took = __rdtsc() - before;

		if (took >= least)
			continue;
		least = took;
		*ns = at;
		*tsc = before + took / 2;
	}
}

void qemu_clock_begin(struct qemu_machine *m)
{
	read_both(&m->clock.base_ns, &m->clock.base_host);
	m->clock.stop_begin = m->clock.base_host;
}

void qemu_clock_init(struct qemu_machine *m, const char *mtree)
{
	m->clock.port = m->kvm ? 0 : qemu_monitor_port(mtree, "acpi-tmr");
}

/* The longer ago the beginning, the better: when attached it is good to a few parts in a million.
 */
static uint64_t host_khz(struct qemu_clock *c)
{
	while (!c->khz) {
		uint64_t ns, tsc;

		read_both(&ns, &tsc);
		ns -= c->base_ns;
		if (ns >= MIN_BASE_NS)
			c->khz = (uint64_t)((unsigned __int128)(tsc - c->base_host) * 1000000 / ns);
	}
	return c->khz;
}

void qemu_clock_open(struct qemu_machine *m)
{
	if (m->kvm && m->ram.pid)
		kvm_tsc_open(&m->clock.host, m->ram.pid, m->nvcpus);
	host_khz(&m->clock);
}

void qemu_clock_close(struct qemu_machine *m)
{
	kvm_tsc_close(&m->clock.host);
}

uint64_t qemu_clock_khz(const struct qemu_machine *m)
{
	return kvm_tsc_frequency(&m->clock.host, m->clock.khz);
}

void qemu_clock_stopped(struct qemu_machine *m)
{
	m->clock.stop_begin = __rdtsc();
}

/*
 * Until the next stop the clock goes as the host's TSC does. Under TCG from what was read of it
 * last; before it has been read at all from the stops that we have seen.
 */
static uint64_t clock_ahead(const struct qemu_machine *m)
{
	const struct qemu_clock *c = &m->clock;

	if (m->kvm)
		return 0;
	return (c->read_seen ? c->read - c->read_seen : 0) - c->stopped;
}

void qemu_clock_running(struct qemu_machine *m)
{
	struct qemu_clock *c = &m->clock;

	c->stopped += __rdtsc() - c->stop_begin;
	pthread_mutex_lock(&c->lock);
	c->now.ahead = clock_ahead(m);
	for (unsigned int i = 0; i < m->nvcpus; i++)
		c->now.tsc_offset[i] = qemu_clock_offset_of(m, &m->vcpu[i])->tsc_offset;
	pthread_mutex_unlock(&c->lock);
}

uint64_t qemu_clock_at(struct qemu_machine *m, unsigned int vcpu, uint64_t host)
{
	struct qemu_clock *c = &m->clock;
	uint64_t tsc;

	if (!kvm_tsc_read(&c->host, vcpu, host, &tsc))
		return tsc;
	pthread_mutex_lock(&c->lock);
	tsc = host + c->now.ahead + c->now.tsc_offset[vcpu];
	pthread_mutex_unlock(&c->lock);
	return tsc;
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
	expected = c->ticks +
		   (uint64_t)((unsigned __int128)(seen - c->seen) * ACPI_HZ / (c->khz * 1000));
	/* Of all that end in this value, the one nearest to what is expected. */
	*ticks = expected + ((value - expected + wrap / 2) & (wrap - 1)) - wrap / 2;
	c->ticks = *ticks;
	c->seen = seen;
	return true;
}

/* The clock that the guest's TSC differs from by an offset. */
uint64_t qemu_clock_read(struct qemu_machine *m)
{
	struct qemu_clock *c = &m->clock;
	uint64_t ticks;

	if (m->kvm)
		return c->stop_begin;
	if (!c->port)
		return seen_running(c);
	if (read_acpi(m, &ticks)) {
		c->read = (uint64_t)((unsigned __int128)ticks * c->khz * 1000 / ACPI_HZ);
		c->read_seen = c->seen;
	}
	return c->read;
}

/* Under TCG all vCPUs have one TSC. */
struct qemu_vcpu *qemu_clock_offset_of(struct qemu_machine *m, struct qemu_vcpu *v)
{
	return m->kvm ? v : &m->vcpu[0];
}

uint64_t qemu_clock_tsc(struct qemu_machine *m, struct qemu_vcpu *v)
{
	uint64_t tsc;

	if (!kvm_tsc_read(&m->clock.host, (unsigned int)(v - m->vcpu), m->clock.stop_begin, &tsc))
		return tsc;
	return qemu_clock_read(m) + qemu_clock_offset_of(m, v)->tsc_offset;
}

int qemu_tsc_line(struct machine *base, unsigned int vcpu, struct machine_tsc *line)
{
	const struct qemu_machine *m = qemu_machine(base);

	if (vcpu >= m->nvcpus)
		return -EINVAL;
	return kvm_tsc_get_line(&m->clock.host, vcpu, line) ? -EOPNOTSUPP : 0;
}
