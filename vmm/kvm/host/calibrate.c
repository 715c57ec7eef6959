// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * calibrate.c - finds out whether the host runs guest kernel mode or interprets it, by timing a
 * loop in a small machine of its own.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <time.h>
#include <unistd.h>

#include "vmm/core/backend.h"
#include "vmm/kvm/host/calibrate.h"
#include "vmm/kvm/host/tiny.h"

#define NSEC 1000000000ull

/* Enough when either is reached: a real CPU does the instructions in less than a millisecond. */
#define ENOUGH_INSNS 1000000
#define ENOUGH_NSEC  (NSEC / 5)

/*
 * An interpreter does a few millions a second, a CPU a thousand millions and more; one that QEMU's
 * TCG translates, for a host that is a guest itself, some tens of millions when it has to share.
 */
#define EMULATED_BELOW 10e6

#define ROUNDS	    16384
#define CHUNK_INSNS (ROUNDS * 2 + 3) /* between two exits */

static const uint8_t loop_code[] = {
	0xb9, ROUNDS & 0xff, ROUNDS >> 8, 0, 0, /* start: mov $ROUNDS, %ecx */
	0xff, 0xc9,				/* again: dec %ecx */
	0x75, 0xfc,				/* jnz again */
	0xe6, 0x10,				/* out %al, $0x10 */
	0xeb, 0xf3,				/* jmp start */
};

/* CPU time, which the guest's share is part of: a busy host is not a slow one. */
static uint64_t bench_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return (uint64_t)ts.tv_sec * NSEC + (uint64_t)ts.tv_nsec;
}

static int bench_run_chunk(struct tiny *t)
{
	int err = tiny_run(t);

	if (err)
		return err;
	return t->run->exit_reason == KVM_EXIT_IO ? 0 : -EIO;
}

static int bench_measure(struct tiny *t, double *insns_per_sec)
{
	uint64_t start, spent, insns = 0;
	int err = bench_run_chunk(t); /* not counted: the host sets itself up */

	if (err)
		return err;
	start = bench_now();
	do {
		err = bench_run_chunk(t);
		if (err)
			return err;
		insns += CHUNK_INSNS;
		spent = bench_now() - start;
	} while (insns < ENOUGH_INSNS && spent < ENOUGH_NSEC);
	*insns_per_sec = (double)insns * (double)NSEC / (double)(spent ? spent : 1);
	return 0;
}

int kvm_calibrate(int kvm_fd, struct kvm_calibration *cal)
{
	struct tiny t;
	int err = tiny_open(&t, kvm_fd, false);

	if (!err)
		err = tiny_enter(&t, loop_code, sizeof(loop_code));
	if (!err)
		err = bench_measure(&t, &cal->insns_per_sec);
	if (!err)
		cal->emulated = cal->insns_per_sec < EMULATED_BELOW;
	tiny_close(&t);
	return err;
}

int kvm_host_is_native(void)
{
	struct kvm_calibration cal;
	int fd = open("/dev/kvm", O_RDWR | O_CLOEXEC), rc;

	if (fd < 0)
		return -errno;
	rc = kvm_calibrate(fd, &cal);
	close(fd);
	return rc ? rc : !cal.emulated;
}
