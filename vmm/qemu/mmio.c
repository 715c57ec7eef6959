// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * mmio.c - accesses of the guest's to devices, as QEMU itself tells them: by two of its trace
 * events, in its log, which becomes a pipe of ours for as long as it is traced.
 *
 * The monitor switches all that on and off. QEMU writes a line on the vCPU's thread before the vCPU
 * goes on, so at a stop all lines of what came before it are in the pipe: what the guest does next
 * is told behind them (qemu_mmio_catch_up()). Its end does not block: where nobody reads, lines are
 * lost, and the guest goes on. Should the tracer die, the keeper switches it off; should both die,
 * QEMU writes into a pipe without a reader, which it ignores, until the next tracer finds that.
 * How that is done: mmio-log.c.
 */
#include "vmm/qemu/qemu.h"
#include "vmm/thread.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>
#include <x86intrin.h>

#define CHUNK	  (64 << 10)
#define CATCH_UP  (4u << 20) /* more than any pipe holds */
#define PORTS	  0x10000    /* I/O ports are told by the same events, at these addresses */
#define OLDEST_NS UINT64_C(10000000000) /* of a time stamp; else the two clocks are not one */

/* --- what is told ------------------------------------------------------------------------------
 */

static uint64_t realtime_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

/* The host's TSC when that was, by the line's own time or by when it is read, and not behind
 * `latest`. */
static uint64_t host_tsc(const struct qemu_machine *m, const struct mmio_line *line,
			 uint64_t latest)
{
	const struct qemu_mmio *mm = &m->mmio;
	uint64_t ago = line->ns && line->ns < mm->at_ns ? mm->at_ns - line->ns : 0, at = mm->at;

	if (ago < OLDEST_NS)
		at -= (uint64_t)((unsigned __int128)ago * m->clock.khz / 1000000);
	return at < latest ? at : latest;
}

static int vcpu_of(const struct qemu_machine *m, uint32_t cpu)
{
	/* The stub's number is one more: monitor.c. */
	for (unsigned int i = 0; i < m->nvcpus && i < m->max_vcpus; i++)
		if (m->vcpu[i].thread == cpu + 1)
			return (int)i;
	return -ENOENT;
}

struct telling {
	struct qemu_machine *m;
	uint64_t latest;
};

static void tell(void *arg, const struct mmio_line *line)
{
	const struct telling *t = arg;
	struct qemu_machine *m = t->m;
	int vcpu = vcpu_of(m, line->cpu);
	struct machine_mmio access = {
		.is_write = line->is_write,
		.size = line->size,
		.pa = line->addr,
		.value = line->value,
	};

	if (vcpu < 0 || line->addr < PORTS || !atomic_load(&m->mmio.on))
		return;
	access.vcpu = (unsigned int)vcpu;
	access.tsc = qemu_clock_at(m, access.vcpu, host_tsc(m, line, t->latest));
	m->cfg.mmio(&m->base, &access, m->cfg.arg);
}

static void tell_lost(struct qemu_machine *m)
{
	if (m->mmio.told || !atomic_load(&m->mmio.on))
		return;
	m->mmio.told = true;
	machine_message(&m->base, MACHINE_MSG_WARN,
			"QEMU told of accesses to devices faster than they could be read: some may "
			"be missing");
}

/* With mmio.lock held: how much there was, at most CHUNK; 0: nothing (yet). */
static size_t read_some(struct qemu_machine *m, uint64_t latest)
{
	struct telling t = {m, latest};
	struct qemu_mmio *mm = &m->mmio;
	char bytes[CHUNK];
	ssize_t n;

	if (!mm->made)
		return 0;
	if (mmio_pipe_is_full(&mm->pipe))
		tell_lost(m);
	n = read(mm->pipe.fd, bytes, sizeof(bytes));
	if (n <= 0)
		return 0;
	mm->at = __rdtsc();
	mm->at_ns = realtime_ns();
	mmio_lines_feed(&mm->lines, bytes, (size_t)n, tell, &t);
	return (size_t)n;
}

void qemu_mmio_catch_up(struct qemu_machine *m)
{
	uint64_t latest = m->clock.stop_begin;
	size_t sum = 0, n = 1;

	if (!atomic_load(&m->mmio.on))
		return;
	pthread_mutex_lock(&m->mmio.lock);
	for (; n && sum < CATCH_UP; sum += n)
		n = read_some(m, latest);
	pthread_mutex_unlock(&m->mmio.lock);
}

static void *mmio_thread(void *arg)
{
	struct qemu_machine *m = arg;
	struct pollfd fds[] = {{.fd = m->mmio.wake, .events = POLLIN},
			       {.fd = m->mmio.pipe.fd, .events = POLLIN}};

	while (poll(fds, 2, -1) > 0 || errno == EINTR) {
		if (fds[0].revents)
			break;
		pthread_mutex_lock(&m->mmio.lock);
		read_some(m, UINT64_MAX);
		pthread_mutex_unlock(&m->mmio.lock);
	}
	return NULL;
}

/* --- beginning and end --------------------------------------------------------------------------
 */

static int start_thread(struct qemu_machine *m, char *err, size_t errlen)
{
	struct qemu_mmio *mm = &m->mmio;
	int rc;

	mm->wake = eventfd(0, EFD_CLOEXEC);
	rc = mm->wake < 0 ? -errno : thread_start(&mm->thread, "mmio", NULL, mmio_thread, m);
	mm->started = !rc;
	if (rc)
		snprintf(err, errlen, "cannot start a thread: %s", strerror(-rc));
	return rc;
}

static void stop_thread(struct qemu_mmio *mm)
{
	const uint64_t one = 1;

	if (!mm->started)
		return;
	while (write(mm->wake, &one, sizeof(one)) < 0 && errno == EINTR)
		;
	pthread_join(mm->thread, NULL);
	mm->started = false;
}

static void close_log(struct qemu_machine *m)
{
	struct qemu_mmio *mm = &m->mmio;

	stop_thread(mm);
	if (mm->wake >= 0)
		close(mm->wake);
	mm->wake = -1;
	pthread_mutex_lock(&mm->lock);
	mm->made = false;
	mmio_pipe_close(&mm->pipe);
	pthread_mutex_unlock(&mm->lock);
}

/* With m->io held and the guest standing. */
static int begin(struct qemu_machine *m, char *err, size_t errlen)
{
	struct qemu_mmio *mm = &m->mmio;
	int rc = 0;

	if (!mm->made) {
		rc = qemu_mmio_log_open(m, err, errlen);
		if (rc)
			return rc;
		mm->made = true;
		rc = start_thread(m, err, errlen);
	}
	if (!rc) {
		atomic_store(&mm->on, true);
		rc = qemu_mmio_log_switch(m, true, err, errlen);
	}
	if (rc)
		qemu_mmio_end(m);
	return rc;
}

static void pause_telling(struct qemu_machine *m)
{
	struct qemu_mmio *mm = &m->mmio;

	qemu_mmio_log_switch(m, false, NULL, 0);
	qemu_mmio_catch_up(m);
	pthread_mutex_lock(&mm->lock); /* who is told of one is done with it behind this */
	atomic_store(&mm->on, false);
	pthread_mutex_unlock(&mm->lock);
}

int qemu_mmio_watch(struct machine *base, bool on, char *err, size_t errlen)
{
	struct qemu_machine *m = qemu_machine(base);
	int rc = 0;

	if (on == atomic_load(&m->mmio.on))
		return 0;
	machine_pause_for(base, "switching accesses to devices on or off");
	pthread_mutex_lock(&m->io);
	if (on)
		rc = begin(m, err, errlen);
	else
		pause_telling(m);
	pthread_mutex_unlock(&m->io);
	machine_resume(base);
	return rc;
}

void qemu_mmio_end(struct qemu_machine *m)
{
	if (!m->mmio.made)
		return;
	qemu_mmio_log_end(m);
	atomic_store(&m->mmio.on, false);
	close_log(m);
}

int qemu_mmio_init(struct qemu_machine *m)
{
	m->mmio.wake = m->mmio.pipe.fd = m->mmio.pipe.qemu_fd = -1;
	return -pthread_mutex_init(&m->mmio.lock, NULL);
}

void qemu_mmio_exit(struct qemu_machine *m)
{
	close_log(m);
	pthread_mutex_destroy(&m->mmio.lock);
}
