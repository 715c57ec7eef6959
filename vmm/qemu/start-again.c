// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * start-again.c - a guest that hvtrace has started resets itself, and is started again.
 *
 * The domain stays, and its QEMU resets the machine in it, which goes on by itself: libvirt's word
 * of that comes when firmware runs already. So there is a hardware breakpoint at the address where
 * an x86 processor begins, which nothing else comes by. There the guest stands as its domain did at
 * first, and from there it is brought to its kernel as it was then.
 */
#include "vmm/qemu/qemu.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Intel SDM vol. 3, 10.1.4: the first instruction, by its address, and as cs and ip have it. */
#define RESET_ADDRESS 0xfffffff0
#define RESET_CS      0xf000
#define RESET_IP      0xfff0
#define CR0_PE	      UINT64_C(1)

#define MISSED_MS 5000 /* by then the guest has stopped for a reset that libvirt has told of */

struct qemu_again {
	struct machine_config cfg;
	bool stands;  /* at the reset; with the run thread gone */
	bool is_boot; /* another one than the first */
	/* When libvirt has told of a reset that the guest has not stood at yet, by
	 * qemu_start_now_ms(); 0: it has not. Not of what firmware does on the way to the kernel */
	_Atomic int64_t told_ms;
	atomic_bool runs; /* the kernel, and waits for that reset */
};

int qemu_again_init(struct qemu_machine *m, const struct machine_config *cfg)
{
	if (!cfg->reboots)
		return 0;
	m->again = calloc(1, sizeof(*m->again));
	if (!m->again)
		return -ENOMEM;
	m->again->cfg = *cfg;
	m->base.reboots = true;
	return 0;
}

int qemu_again_await(struct qemu_machine *m)
{
	if (!m->again)
		return 0;
	m->again->told_ms = 0;
	m->again->runs = true;
	return gdb_hw_breakpoint_set(m->gdb, RESET_ADDRESS);
}

void qemu_again_free(struct qemu_machine *m)
{
	free(m->again);
}

bool qemu_again_is_boot(const struct qemu_machine *m)
{
	return m->again && m->again->is_boot;
}

/* --- at the reset ------------------------------------------------------------------------------
 */

static bool is_at_reset(struct qemu_machine *m, struct qemu_vcpu *v)
{
	bool is;

	pthread_mutex_lock(&m->io);
	is = !qemu_vcpu_fetch(m, v) && !(v->reg[GDB_CR0] & CR0_PE) && v->reg[GDB_RIP] == RESET_IP &&
	     v->reg[GDB_CS] == RESET_CS;
	pthread_mutex_unlock(&m->io);
	return is;
}

bool qemu_again_stopped(struct qemu_machine *m, unsigned int vcpu)
{
	if (!m->again || !is_at_reset(m, &m->vcpu[vcpu]))
		return false;
	m->again->stands = true;
	m->again->runs = false;
	machine_end(&m->base, MACHINE_EVENT_RESET, vcpu, "the guest reset itself");
	return true;
}

bool qemu_again_told(struct qemu_machine *m)
{
	if (!m->again)
		return false;
	if (m->again->runs)
		m->again->told_ms = qemu_start_now_ms();
	return true;
}

void qemu_again_look(struct machine *base)
{
	struct qemu_machine *m = qemu_machine(base);
	const struct qemu_again *a = m->again;
	int64_t told_ms = a ? a->told_ms : 0;

	if (told_ms && a->runs && qemu_start_now_ms() - told_ms > MISSED_MS)
		machine_end(base, MACHINE_EVENT_RESET, 0, "the guest reset itself");
}

/* --- from there on -----------------------------------------------------------------------------
 */

/* It has ended by itself: nobody lets the guest run any more. */
static void join_run_thread(struct qemu_machine *m)
{
	if (m->started)
		pthread_join(m->thread, NULL);
	pthread_mutex_lock(&m->base.lock);
	m->started = false;
	pthread_mutex_unlock(&m->base.lock);
}

/* QEMU itself still has breakpoints where there is other memory now. */
static int forget(struct qemu_machine *m)
{
	qemu_follow_free(m);
	trap_table_cut(&m->traps, 0);
	m->was_reset = false;
	for (unsigned int i = 0; i < m->nvcpus; i++) {
		qemu_vcpu_runs(&m->vcpu[i]);
		m->vcpu[i].tables = false;
		/* Under KVM its TSC begins anew. */
		m->vcpu[i].tsc_tried &= !m->kvm;
	}
	qemu_stands(m, false, NULL);
	return gdb_forget_breakpoints(m->gdb);
}

static int boot(struct qemu_machine *m, char *err, size_t errlen)
{
	const struct machine_config *cfg = &m->again->cfg;
	int rc;

	snprintf(err, errlen, "its gdb stub does not answer");
	rc = forget(m);
	if (!rc)
		rc = qemu_start_bring(m, cfg, err, errlen);
	if (rc)
		return rc;
	snprintf(err, errlen, "it cannot be made to stand at its next reset");
	rc = qemu_vcpu_tables(m);
	if (!rc)
		rc = qemu_again_await(m);
	return rc ? rc : qemu_run_start(m, false);
}

int qemu_reboot(struct machine *base, char *err, size_t errlen)
{
	struct qemu_machine *m = qemu_machine(base);
	int rc;

	join_run_thread(m);
	if (!m->again->stands) {
		snprintf(err, errlen,
			 "nobody has seen it begin: hardware breakpoints do not work in guests of "
			 "this host");
		return -EINVAL;
	}
	m->again->stands = false;
	m->again->is_boot = true;
	machine_begin_anew(base);
	rc = boot(m, err, errlen);
	if (rc)
		machine_end(base, MACHINE_EVENT_ERROR, 0, "%s", err);
	return rc;
}
