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

/* Long enough for one chunk at a CPU's speed: that takes microseconds. */
#define ENOUGH_NSEC (NSEC / 2)

/*
 * An interpreter does a few millions a second, a CPU a thousand millions and more; one that QEMU's
 * TCG translates, for a host that is a guest itself, some tens of millions when it has to share.
 */
#define EMULATED_BELOW 10e6

#define ROUNDS	    4096
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

/*
 * What counts is the fastest chunk: a host that is a guest of a busy one stands for longer than a
 * chunk takes, and is not told, while one that interprets is never fast.
 */
static int bench_measure(struct tiny *t, double *insns_per_sec)
{
	int err = bench_run_chunk(t); /* not counted: the host sets itself up */
	uint64_t start = bench_now(), now = start;

	*insns_per_sec = 0;
	while (!err && *insns_per_sec < EMULATED_BELOW && now - start < ENOUGH_NSEC) {
		uint64_t last = now;
		double rate;

		err = bench_run_chunk(t);
		now = bench_now();
		rate = (double)CHUNK_INSNS * (double)NSEC / (double)(now > last ? now - last : 1);
		if (rate > *insns_per_sec)
			*insns_per_sec = rate;
	}
	return err;
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
