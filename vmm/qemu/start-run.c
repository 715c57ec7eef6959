// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * start-run.c - has a guest that is being started run to one of some places and stand there.
 *
 * By hardware breakpoints, as there may be no memory at these places yet that could hold others.
 */
#include "vmm/qemu/qemu.h"

#include <errno.h>
#include <time.h>

#define SLICE_MS 100
#define LOOK_MS	 5
#define STAND_MS 20000

int64_t qemu_start_now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * INT64_C(1000) + ts.tv_nsec / 1000000;
}

static bool has_ended(struct qemu_machine *m)
{
	bool ended;

	pthread_mutex_lock(&m->base.lock);
	ended = m->base.end.type != MACHINE_EVENT_NONE;
	pthread_mutex_unlock(&m->base.lock);
	return ended;
}

/* What it has stopped for: 0 is a breakpoint. */
static int check_stop(const struct gdb_stop *stop, int otherwise)
{
	if (stop->kind == GDB_STOP_EXITED)
		return -ESHUTDOWN;
	if (stop->signal == GDB_SIGNAL_TRAP)
		return 0;
	return stop->signal == GDB_SIGNAL_INT ? otherwise : -ESHUTDOWN;
}

/* It may just have come to a breakpoint. */
static int make_stand(struct qemu_machine *m, int otherwise)
{
	struct gdb_stop stop;
	int rc = gdb_interrupt(m->gdb);

	if (!rc)
		rc = gdb_wait_stop(m->gdb, &stop, STAND_MS);
	return rc ? rc : check_stop(&stop, otherwise);
}

static int wait_stop(struct qemu_machine *m, const struct machine_config *cfg,
		     const struct start_run *run)
{
	int slice = run->look ? LOOK_MS : SLICE_MS;

	for (;;) {
		int64_t left = run->end_ms - qemu_start_now_ms();
		struct gdb_stop stop;
		int rc;

		if (left <= 0 || (run->look && run->look(run->arg)))
			return make_stand(m, -ETIMEDOUT);
		rc = gdb_wait_stop(m->gdb, &stop, left < slice ? (int)left : slice);
		if (!rc)
			return check_stop(&stop, -ESHUTDOWN);
		if (rc != -ETIMEDOUT)
			return rc;
		if (has_ended(m))
			return -ESHUTDOWN;
		if (cfg->cancelled && cfg->cancelled(cfg->arg))
			return -ECANCELED;
		if (atomic_load(&m->resets) != m->resets_seen)
			return make_stand(m, -ERESTART);
	}
}

static int set_all(struct qemu_machine *m, const struct start_run *run)
{
	for (unsigned int i = 0; i < run->n; i++) {
		int rc = gdb_hw_breakpoint_set(m->gdb, run->at[i]);

		if (!rc)
			continue;
		while (i--)
			gdb_hw_breakpoint_clear(m->gdb, run->at[i]);
		return rc;
	}
	return 0;
}

static int clear_all(struct qemu_machine *m, const struct start_run *run)
{
	int rc = 0;

	for (unsigned int i = 0; i < run->n && !rc; i++)
		rc = gdb_hw_breakpoint_clear(m->gdb, run->at[i]);
	return rc;
}

int qemu_start_run(struct qemu_machine *m, const struct machine_config *cfg,
		   const struct start_run *run)
{
	int rc = set_all(m, run), cleared;

	if (rc)
		return rc;
	qemu_clock_running(m);
	rc = gdb_continue(m->gdb, 0);
	if (!rc)
		rc = wait_stop(m, cfg, run);
	qemu_clock_stopped(m);
	if (rc && rc != -ETIMEDOUT && rc != -ERESTART)
		return rc; /* it is at its end, or is not talked to any more */
	cleared = clear_all(m, run);
	return cleared ? cleared : rc;
}

int qemu_start_step(struct qemu_machine *m)
{
	struct gdb_stop stop;
	uint32_t thread;
	int rc = gdb_threads(m->gdb, &thread, 1);

	if (rc > 0 || rc == -E2BIG) {
		qemu_clock_running(m);
		rc = gdb_step_one(m->gdb, thread);
	}
	if (!rc)
		rc = gdb_wait_stop(m->gdb, &stop, STAND_MS);
	qemu_clock_stopped(m);
	return rc ? rc : check_stop(&stop, -ESHUTDOWN);
}

int qemu_start_regs(struct qemu_machine *m, uint64_t reg[GDB_NR_REGS])
{
	uint32_t thread;
	/* The first vCPU: the others are started by the kernel. */
	int rc = gdb_threads(m->gdb, &thread, 1);

	return rc > 0 || rc == -E2BIG ? gdb_read_regs(m->gdb, thread, reg) : rc;
}
