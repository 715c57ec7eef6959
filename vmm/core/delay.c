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

int machine_get_delay(struct machine *m, unsigned int vcpu, struct machine_delay *delay)
{
	char path[64], text[80];
	pid_t pid, tid;
	ssize_t n;
	int fd, rc = m->ops->vcpu_thread(m, vcpu, &pid, &tid);

	if (rc)
		return rc;
	snprintf(path, sizeof(path), "/proc/%d/task/%d/schedstat", (int)pid, (int)tid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT ? -EOPNOTSUPP : -errno;
	n = read(fd, text, sizeof(text) - 1);
	rc = n < 0 ? -errno : 0;
	close(fd);
	if (rc)
		return rc;
	text[n] = '\0';
	return parse(text, delay);
}

int machine_get_process(struct machine *m, pid_t *pid)
{
	pid_t tid;

	return m->ops->vcpu_thread(m, 0, pid, &tid);
}
