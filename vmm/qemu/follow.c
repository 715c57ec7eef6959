// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * follow.c - follows a call instruction by instruction: the stub lets its vCPU execute one, and all
 * others stand.
 *
 * Under TCG alone. There QEMU holds interrupts back from a vCPU that steps, and nothing of it shows
 * in the guest; a step that ends in an exception stops at its handler. Under KVM it steps by TF,
 * which gets to the guest's stack, and from where rip was before the stub has set it: rdtsc.c.
 *
 * Breakpoints are passed over by a step: a trap that the vCPU comes to is taken as if it were hit.
 */
#include "vmm/core/branch.h"
#include "vmm/qemu/qemu.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define STEP_MS 1000 /* a halt may take as long as there is no interrupt */

struct qemu_follow {
	struct machine_follow pub;
	uint64_t returns_to;
	unsigned int left; /* of pub.steps */
	struct branch_decoder *decoder;
};

void qemu_follow_free(struct qemu_machine *m)
{
	if (m->follow)
		branch_decoder_free(m->follow->decoder);
	free(m->follow);
	m->follow = NULL;
}

/* --- reading; called with m->io held ---------------------------------------------------------- */

struct reader {
	struct qemu_machine *m;
	struct qemu_vcpu *v;
};

static int read_virt(void *arg, uint64_t va, void *buf, size_t len)
{
	const struct reader *r = arg;
	char *to = buf;
	int rc = 0;

	while (len && !rc) {
		size_t n = 4096 - (va & 4095);
		uint64_t pa;

		n = n < len ? n : len;
		rc = qemu_walk_standing(r->m, r->v, r->v->reg[GDB_CR3], va, &pa);
		if (!rc)
			rc = qemu_read_standing(r->m, pa, to, n);
		va += n;
		to += n;
		len -= n;
	}
	return rc;
}

/* --- one step --------------------------------------------------------------------------------- */

/* Let it execute the instruction that it stands at. 0 or the stub's error. */
static int step(struct qemu_machine *m, struct qemu_vcpu *v, struct gdb_stop *stop)
{
	int rc;

	qemu_clock_running(m);
	qemu_vcpu_runs(v);
	rc = gdb_step_one(m->gdb, v->thread);
	if (!rc)
		rc = gdb_wait_stop(m->gdb, stop, STEP_MS);
	if (rc == -ETIMEDOUT) {
		gdb_interrupt(m->gdb);
		rc = gdb_wait_stop(m->gdb, stop, STEP_MS);
	}
	qemu_clock_stopped(m);
	return rc;
}

/* What has happened at a step. */
struct stepped {
	struct machine_branch b;
	struct machine_regs regs;
	bool taken;
	bool odd; /* it has stopped otherwise than behind the instruction */
	struct gdb_stop stop;
};

/* A string instruction that is repeated stays where it is, and is no branch. */
static bool has_branched(const struct branch *insn, const struct stepped *s)
{
	if (s->b.from == s->b.to)
		return insn->kind == BRANCH_GOES && insn->taken;
	return s->b.to != s->b.from + insn->len;
}

static int step_and_look(struct qemu_machine *m, struct qemu_vcpu *v, struct stepped *s)
{
	struct reader r = {m, v};
	const struct branch_cpu cpu = {.regs = &s->regs, .read = read_virt, .arg = &r};
	struct branch insn;
	int rc;

	qemu_vcpu_regs(v, &s->regs);
	s->b = (struct machine_branch){.from = s->regs.rip, .regs = &s->regs};
	if (branch_look(m->follow->decoder, &cpu, &insn))
		insn = (struct branch){.kind = BRANCH_OTHER};
	rc = step(m, v, &s->stop);
	if (rc)
		return rc;
	s->odd = s->stop.kind != GDB_STOP_SIGNAL || s->stop.signal != GDB_SIGNAL_TRAP;
	if (s->odd)
		return 0;
	rc = qemu_vcpu_fetch(m, v);
	qemu_vcpu_regs(v, &s->regs);
	s->b.to = s->regs.rip;
	s->taken = !rc && has_branched(&insn, s);
	if (s->taken)
		s->b.tsc = qemu_clock_tsc(m, v);
	return rc;
}

/* --- the call --------------------------------------------------------------------------------- */

static bool tell(struct qemu_machine *m, struct machine_branch *b)
{
	bool more;

	b->vcpu = m->follow->pub.vcpu;
	more = m->cfg.branch && m->cfg.branch(&m->base, b, m->cfg.arg);
	qemu_pause_handler_done(m);
	return more;
}

static enum machine_follow_end end_of(const struct qemu_machine *m, const struct qemu_vcpu *v)
{
	const struct qemu_follow *f = m->follow;
	uint64_t rip = v->reg[GDB_RIP];

	if (rip == f->returns_to && v->reg[GDB_RSP] == f->pub.sp + sizeof(uint64_t))
		return MACHINE_FOLLOW_RETURNED;
	if (v->reg[GDB_CS] & 3 || (f->pub.leaves && rip == f->pub.leaves))
		return MACHINE_FOLLOW_LEFT;
	return f->left ? MACHINE_FOLLOW_ON : MACHINE_FOLLOW_BOUND;
}

/* A hit of a trap here instead of a step: it takes rip along. */
static bool take_trap(struct qemu_machine *m, struct qemu_vcpu *v)
{
	bool is_trap;

	pthread_mutex_lock(&m->io);
	is_trap = !qemu_vcpu_fetch(m, v) && trap_table_find(&m->traps, v->reg[GDB_RIP]);
	pthread_mutex_unlock(&m->io);
	if (is_trap) {
		qemu_traps_hit(m, m->follow->pub.vcpu);
		qemu_pause_handler_done(m);
	}
	return is_trap;
}

static enum machine_follow_end go_on(struct qemu_machine *m, struct qemu_vcpu *v, struct stepped *s)
{
	enum machine_follow_end end;
	int rc;

	s->taken = s->odd = false;
	m->follow->left--;
	if (take_trap(m, v))
		return machine_has_ended(&m->base, NULL) ? MACHINE_FOLLOW_STOPPED
							 : MACHINE_FOLLOW_ON;
	pthread_mutex_lock(&m->io);
	rc = qemu_vcpu_fetch(m, v);
	if (!rc)
		rc = step_and_look(m, v, s);
	end = rc || s->odd ? MACHINE_FOLLOW_STOPPED : end_of(m, v);
	pthread_mutex_unlock(&m->io);
	if (rc)
		machine_end(&m->base, MACHINE_EVENT_ERROR, m->follow->pub.vcpu,
			    "the connection to QEMU is lost: %s", gdb_error_text(m->gdb, rc));
	if (s->taken && !tell(m, &s->b))
		end = MACHINE_FOLLOW_STOPPED;
	return end;
}

bool qemu_follow_run(struct qemu_machine *m, struct gdb_stop *stop)
{
	enum machine_follow_end end = MACHINE_FOLLOW_ON;
	struct stepped s = {0};
	struct machine_branch over;
	struct qemu_vcpu *v;

	if (!m->follow)
		return false;
	v = &m->vcpu[m->follow->pub.vcpu];
	while (end == MACHINE_FOLLOW_ON)
		end = m->follow->left ? go_on(m, v, &s) : MACHINE_FOLLOW_BOUND;
	over = (struct machine_branch){.end = end, .regs = &s.regs};
	tell(m, &over);
	qemu_follow_free(m);
	*stop = s.stop;
	/* One that was asked for because a step did not end. */
	return s.odd && !(stop->kind == GDB_STOP_SIGNAL && stop->signal == GDB_SIGNAL_INT);
}

/* --- beginning -------------------------------------------------------------------------------- */

static int follow_new(struct qemu_machine *m, const struct machine_follow *follow)
{
	struct reader r = {m, &m->vcpu[follow->vcpu]};
	uint64_t to;
	int rc = qemu_vcpu_fetch(m, r.v);

	if (!rc)
		rc = read_virt(&r, follow->sp, &to, sizeof(to));
	if (rc)
		return rc;
	m->follow = calloc(1, sizeof(*m->follow));
	if (!m->follow)
		return -ENOMEM;
	m->follow->pub = *follow;
	m->follow->returns_to = to;
	m->follow->left = follow->steps;
	m->follow->decoder = branch_decoder_new();
	if (m->follow->decoder)
		return 0;
	qemu_follow_free(m);
	return -ENOMEM;
}

int qemu_follow(struct machine *base, const struct machine_follow *follow)
{
	struct qemu_machine *m = qemu_machine(base);
	int rc;

	if (m->kvm)
		return -EOPNOTSUPP;
	if (follow->vcpu >= m->nvcpus || !qemu_run_is_thread(m))
		return -EINVAL;
	if (m->follow)
		return -EBUSY;
	pthread_mutex_lock(&m->io);
	rc = follow_new(m, follow);
	pthread_mutex_unlock(&m->io);
	return rc;
}
