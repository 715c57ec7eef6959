// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * delay.c - how long a vCPU had to wait for a processor of the host: what the host's scheduler
 * counts of its thread, whichever backend it belongs to.
 */
#include "vmm/core/backend.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

/* "RAN WAITED TIMES", nanoseconds and a count (proc_pid_schedstat() in fs/proc/base.c, 6.1) */
static int parse(const char *text, struct machine_delay *delay)
{
	uint64_t ran;

	/* NOLINTNEXTLINE(cert-err34-c): each number is a u64 of the kernel's */
	if (sscanf(text, "%" SCNu64 " %" SCNu64 " %" SCNu64, &ran, &delay->ns, &delay->runs) != 3)
		return -EPROTO;
	/* All zeros, of a thread that has run: this kernel counts nothing. */
	return ran || delay->ns || delay->runs ? 0 : -EOPNOTSUPP;
}

/* Its descriptor, or -errno. */
static int open_schedstat(struct machine *m, unsigned int vcpu)
{
	char path[64];
	pid_t pid, tid;
	int fd, rc = m->ops->vcpu_thread(m, vcpu, &pid, &tid);

	if (rc)
		return rc;
	snprintf(path, sizeof(path), "/proc/%d/task/%d/schedstat", (int)pid, (int)tid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT ? -EOPNOTSUPP : -errno;
	return fd;
}

/* Opened once: the number of a thread that has gone is another's some day, and who confines himself
 * can open nothing more. */
static int schedstat(struct machine *m, unsigned int vcpu)
{
	int fd, none = 0;

	if (vcpu >= MACHINE_MAX_VCPUS)
		return -EINVAL;
	fd = atomic_load(&m->delay_fd[vcpu]) - 1;
	if (fd >= 0)
		return fd;
	fd = open_schedstat(m, vcpu);
	if (fd < 0 || atomic_compare_exchange_strong(&m->delay_fd[vcpu], &none, fd + 1))
		return fd;
	close(fd); /* another thread was faster */
	return none - 1;
}

int machine_get_delay(struct machine *m, unsigned int vcpu, struct machine_delay *delay)
{
	int fd = schedstat(m, vcpu);
	char text[80];
	ssize_t n;

	if (fd < 0)
		return fd;
	n = pread(fd, text, sizeof(text) - 1, 0);
	if (n < 0)
		return errno == ESRCH ? -EOPNOTSUPP : -errno;
	text[n] = '\0';
	return parse(text, delay);
}

void machine_delays_number(struct machine *m, const unsigned int *number, unsigned int n)
{
	int fd[MACHINE_MAX_VCPUS];

	for (unsigned int i = 0; i < n; i++)
		fd[i] = atomic_exchange(&m->delay_fd[i], 0);
	for (unsigned int i = 0; i < n; i++)
		atomic_store(&m->delay_fd[number[i]], fd[i]);
}

void machine_delays_close(struct machine *m)
{
	for (unsigned int i = 0; i < MACHINE_MAX_VCPUS; i++)
		if (atomic_load(&m->delay_fd[i]))
			close(atomic_load(&m->delay_fd[i]) - 1);
}

int machine_get_process(struct machine *m, pid_t *pid)
{
	pid_t tid;

	return m->ops->vcpu_thread(m, 0, pid, &tid);
}

int machine_get_thread(struct machine *m, unsigned int vcpu, pid_t *tid)
{
	pid_t pid;

	return m->ops->vcpu_thread(m, vcpu, &pid, tid);
}
