// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * vcpus.c - which vCPUs a guest of QEMU's has, and how many it can have: they come and go
 * (device_add, device_del; virsh setvcpus).
 *
 * A vCPU keeps its number for as long as we are there, and so does one that is plugged in where
 * another was: the stub's number is the place's (QEMU: cpu_gdb_index(), pc_cpu_pre_plug()). What
 * else is plugged in comes behind the others, which is what the guest's kernel does too where it is
 * plugged in one after the other.
 */
#include "vmm/qemu/qemu.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Which threads of QEMU's run them; without the monitor that is not known. */
static void find_threads(struct qemu_machine *m)
{
	char *cpus;

	if (gdb_monitor(m->gdb, "info cpus", &cpus))
		return;
	qemu_monitor_threads(cpus, m->vcpu, m->nvcpus);
	free(cpus);
}

/* Without the monitor, or in a machine that takes none, there are those that there are. */
static void find_most(struct qemu_machine *m)
{
	char *slots;

	m->max_vcpus = m->nvcpus;
	if (gdb_monitor(m->gdb, "info hotpluggable-cpus", &slots))
		return;
	m->max_vcpus = qemu_monitor_vcpus(slots);
	free(slots);
	if (m->max_vcpus < m->nvcpus)
		m->max_vcpus = m->nvcpus;
}

int qemu_vcpus_find(struct qemu_machine *m, char *err, size_t errlen)
{
	uint32_t threads[MACHINE_MAX_VCPUS];
	int n = gdb_threads(m->gdb, threads, MACHINE_MAX_VCPUS);

	if (n == -E2BIG)
		snprintf(err, errlen, "guests with more than %d vCPUs cannot be traced",
			 MACHINE_MAX_VCPUS);
	else if (n < 0)
		snprintf(err, errlen, "the gdb stub does not tell the vCPUs: %s",
			 gdb_error_text(m->gdb, n));
	if (n < 0)
		return n;
	for (int i = 0; i < n; i++)
		m->vcpu[i].thread = threads[i];
	m->nvcpus = (unsigned int)n;
	find_threads(m);
	find_most(m);
	return 0;
}

static bool has_thread(const uint32_t *threads, unsigned int n, uint32_t thread)
{
	while (n--)
		if (threads[n] == thread)
			return true;
	return false;
}

static bool has_vcpu(const struct qemu_machine *m, uint32_t thread)
{
	for (unsigned int i = 0; i < m->nvcpus; i++)
		if (m->vcpu[i].thread == thread)
			return true;
	return false;
}

/* What has come in the place of one that was there has another thread. */
static bool is_back(struct qemu_vcpu *v, bool there)
{
	bool back = v->gone && there;

	if (back)
		*v = (struct qemu_vcpu){.thread = v->thread};
	v->gone = !there;
	return back;
}

/* For one that has come: where the guest's kernel had its place, if it was gone before we came. */
static struct qemu_vcpu *room_for(struct qemu_machine *m, uint32_t thread)
{
	if (thread && thread <= m->nvcpus && !m->vcpu[thread - 1].thread)
		return &m->vcpu[thread - 1];
	return m->nvcpus < MACHINE_MAX_VCPUS ? &m->vcpu[m->nvcpus++] : NULL;
}

/* m->io is held. */
static int look(struct qemu_machine *m)
{
	uint32_t threads[MACHINE_MAX_VCPUS];
	int n = gdb_threads(m->gdb, threads, MACHINE_MAX_VCPUS);
	bool came = false;

	for (unsigned int i = 0; i < m->nvcpus && n > 0; i++) {
		struct qemu_vcpu *v = &m->vcpu[i];

		came |= is_back(v, has_thread(threads, (unsigned int)n, v->thread));
	}
	for (int i = 0; i < n; i++) {
		struct qemu_vcpu *v;

		if (has_vcpu(m, threads[i]))
			continue;
		v = room_for(m, threads[i]);
		if (!v)
			return -E2BIG;
		*v = (struct qemu_vcpu){.thread = threads[i]};
		came = true;
	}
	if (came)
		find_threads(m);
	m->vcpus_came |= came;
	return n < 0 ? n : (int)m->nvcpus;
}

bool qemu_vcpus_grew(struct qemu_machine *m)
{
	return look(m) > 0 && m->vcpus_came;
}

/* m->io is held. */
static int number(struct qemu_machine *m, const unsigned int *to, unsigned int n)
{
	struct qemu_vcpu now[MACHINE_MAX_VCPUS];
	unsigned int most = n;

	for (unsigned int i = 0; i < n; i++) {
		if (to[i] >= m->max_vcpus || to[i] >= MACHINE_MAX_VCPUS)
			return -E2BIG;
		most = to[i] < most ? most : to[i] + 1;
	}
	for (unsigned int i = 0; i < most; i++)
		now[i] = (struct qemu_vcpu){.gone = true};
	for (unsigned int i = 0; i < n; i++)
		now[to[i]] = m->vcpu[i];
	memcpy(m->vcpu, now, most * sizeof(now[0]));
	m->nvcpus = most;
	return 0;
}

int qemu_vcpus_number(struct machine *base, const unsigned int *to, unsigned int n)
{
	struct qemu_machine *m = qemu_machine(base);
	int rc;

	pthread_mutex_lock(&m->io);
	rc = n == m->nvcpus ? number(m, to, n) : -E2BIG;
	pthread_mutex_unlock(&m->io);
	return rc;
}

int qemu_vcpus_look(struct machine *base)
{
	struct qemu_machine *m = qemu_machine(base);
	int n;

	pthread_mutex_lock(&m->io);
	n = look(m);
	pthread_mutex_unlock(&m->io);
	return n;
}
