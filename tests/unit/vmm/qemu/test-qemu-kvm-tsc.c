// SPDX-License-Identifier: GPL-2.0-or-later
/* test-qemu-kvm-tsc.c - a guest's TSCs as a host's debugfs tells them, by a folder that is like it.
 */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "frontend/sandbox/sandbox.h"
#include "tests/unit/remove-tree.h"
#include "vmm/qemu/kvm-tsc.h"

#define PID 4711

struct folder {
	char path[64];
	int fd;
};

static int make(void **state)
{
	static struct folder f;

	strcpy(f.path, "/tmp/hvk.XXXXXX");
	if (!mkdtemp(f.path))
		return -1;
	f.fd = open(f.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	*state = &f;
	return f.fd < 0;
}

static int take_away(void **state)
{
	struct folder *f = *state;

	close(f->fd);
	return remove_tree(f->path);
}

/* guest/vcpuID/file with this line, and the folders that it lies in. */
static void put(const struct folder *f, const char *guest, unsigned int id, const char *file,
		const char *line)
{
	char path[128];
	int fd;

	mkdirat(f->fd, guest, 0700);
	snprintf(path, sizeof(path), "%s/vcpu%u", guest, id);
	mkdirat(f->fd, path, 0700);
	snprintf(path, sizeof(path), "%s/vcpu%u/%s", guest, id, file);
	fd = openat(f->fd, path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, line, strlen(line)), strlen(line));
	close(fd);
}

static void offsets_are_each_vcpus_own(void **state)
{
	struct folder *f = *state;
	struct kvm_tsc t;
	uint64_t tsc;

	put(f, "4711-11", 0, "tsc-offset", "-1000\n");
	put(f, "4711-11", 10, "tsc-offset", "-30\n");
	put(f, "4711-11", 2, "tsc-offset", "20\n");
	put(f, "47110-11", 0, "tsc-offset", "7\n"); /* another process's */
	assert_int_equal(kvm_tsc_open_at(&t, f->fd, PID, 3), 0);
	assert_int_equal(kvm_tsc_read(&t, 0, 5000, &tsc), 0);
	assert_int_equal(tsc, 4000);
	assert_int_equal(kvm_tsc_read(&t, 1, 5000, &tsc), 0);
	assert_int_equal(tsc, 5020);
	assert_int_equal(kvm_tsc_read(&t, 2, 5000, &tsc), 0);
	assert_int_equal(tsc, 4970);
	assert_int_equal(kvm_tsc_read(&t, 3, 5000, &tsc), -EINVAL);
	assert_int_equal(kvm_tsc_frequency(&t, 2000000), 2000000);
	/* What the guest writes to its TSC is seen. */
	put(f, "4711-11", 0, "tsc-offset", "1\n");
	assert_int_equal(kvm_tsc_read(&t, 0, 5000, &tsc), 0);
	assert_int_equal(tsc, 5001);
	kvm_tsc_close(&t);
	assert_int_equal(t.n, 0);
	assert_int_equal(kvm_tsc_read(&t, 0, 5000, &tsc), -EINVAL);
}

/* Who may open nothing any more goes on from what it was. */
static void read_in_the_sandbox(void **state)
{
	struct folder *f = *state;
	struct kvm_tsc t;
	char err[256];
	uint64_t tsc;
	int status;
	pid_t pid;

	put(f, "4711-11", 0, "tsc-offset", "-1000\n");
	assert_int_equal(kvm_tsc_open_at(&t, f->fd, PID, 1), 0);
	pid = fork();
	if (!pid)
		_exit(sandbox_enter(UINT64_MAX, err, sizeof(err)) ||
		      kvm_tsc_read(&t, 0, 5000, &tsc) || tsc != 4000);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	kvm_tsc_close(&t);
}

/* Debugfs' files cannot be sought in, nor can this one. */
static void read_without_seeking(void **state)
{
	struct folder *f = *state;
	struct kvm_tsc t;
	uint64_t tsc;
	int fd;

	put(f, "4711-11", 0, "tsc-scaling-ratio", "1\n");
	put(f, "4711-11", 0, "tsc-scaling-ratio-frac-bits", "0\n");
	assert_int_equal(mkfifoat(f->fd, "4711-11/vcpu0/tsc-offset", 0600), 0);
	fd = openat(f->fd, "4711-11/vcpu0/tsc-offset", O_RDWR | O_CLOEXEC);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, "1\n", 2), 2);
	assert_int_equal(kvm_tsc_open_at(&t, f->fd, PID, 1), 0);
	assert_int_equal(write(fd, "2\n", 2), 2);
	assert_int_equal(kvm_tsc_read(&t, 0, 100, &tsc), 0);
	assert_int_equal(tsc, 102);
	kvm_tsc_close(&t);
	close(fd);
}

static void scaled(void **state)
{
	struct folder *f = *state;
	struct machine_tsc line;
	struct kvm_tsc t;
	uint64_t tsc;

	put(f, "4711-11", 0, "tsc-offset", "100\n");
	put(f, "4711-11", 0, "tsc-scaling-ratio", "6442450944\n"); /* 1.5 */
	put(f, "4711-11", 0, "tsc-scaling-ratio-frac-bits", "32\n");
	assert_int_equal(kvm_tsc_open_at(&t, f->fd, PID, 1), 0);
	assert_int_equal(kvm_tsc_read(&t, 0, UINT64_C(1) << 62, &tsc), 0);
	assert_true(tsc == (UINT64_C(3) << 61) + 100);
	assert_int_equal(kvm_tsc_frequency(&t, 2000000), 3000000);
	assert_int_equal(kvm_tsc_get_line(&t, 0, &line), 0);
	assert_true(line.ratio == UINT64_C(6442450944) && line.frac_bits == 32 &&
		    line.offset == 100);
	assert_int_equal(kvm_tsc_get_line(&t, 1, &line), -EINVAL);
	kvm_tsc_close(&t);
	/* By 1, as hosts that can scale do with all others. */
	put(f, "4711-11", 0, "tsc-scaling-ratio", "4294967296\n");
	assert_int_equal(kvm_tsc_open_at(&t, f->fd, PID, 1), 0);
	put(f, "4711-11", 0, "tsc-offset", "-7\n");
	assert_int_equal(kvm_tsc_get_line(&t, 0, &line), 0);
	assert_true(line.ratio == 1 && !line.frac_bits && line.offset == (uint64_t)-7);
	kvm_tsc_close(&t);
}

static void what_is_not_understood_is_refused(void **state)
{
	static const struct {
		const char *file, *line;
	} wrong[] = {
		{"tsc-offset", ""},
		{"tsc-offset", "none\n"},
		{"tsc-offset", "1"},
		{"tsc-offset", "99999999999999999999\n"},
		{"tsc-scaling-ratio", "0\n"},
		{"tsc-scaling-ratio", "-1\n"},
		{"tsc-scaling-ratio-frac-bits", "64\n"},
		{"tsc-scaling-ratio-frac-bits", "-1\n"},
	};
	struct folder *f = *state;
	struct kvm_tsc t;

	assert_int_equal(kvm_tsc_open_at(&t, f->fd, PID, 1), -ENOENT);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		put(f, "4711-11", 0, "tsc-offset", "1\n");
		put(f, "4711-11", 0, "tsc-scaling-ratio", "2\n");
		put(f, "4711-11", 0, "tsc-scaling-ratio-frac-bits", "1\n");
		put(f, "4711-11", 0, wrong[i].file, wrong[i].line);
		assert_int_equal(kvm_tsc_open_at(&t, f->fd, PID, 1), -EPROTO);
		assert_int_equal(t.n, 0);
	}
	put(f, "4711-11", 1, "tsc-offset", "1\n");
	assert_int_equal(kvm_tsc_open_at(&t, f->fd, PID, 1), -ERANGE);
	put(f, "4711-12", 0, "tsc-offset", "1\n");
	assert_int_equal(kvm_tsc_open_at(&t, f->fd, PID, 2), -ENOTUNIQ);
	for (unsigned int id = 2; id < MACHINE_MAX_VCPUS + 1; id++)
		put(f, "5-1", id, "tsc-offset", "1\n");
	put(f, "5-1", 1, "tsc-offset", "1\n");
	put(f, "5-1", 99, "tsc-offset", "1\n");
	assert_int_equal(kvm_tsc_open_at(&t, f->fd, 5, MACHINE_MAX_VCPUS), -ERANGE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(offsets_are_each_vcpus_own, make, take_away),
		cmocka_unit_test_setup_teardown(read_in_the_sandbox, make, take_away),
		cmocka_unit_test_setup_teardown(read_without_seeking, make, take_away),
		cmocka_unit_test_setup_teardown(scaled, make, take_away),
		cmocka_unit_test_setup_teardown(what_is_not_understood_is_refused, make, take_away),
	};

	return cmocka_run_group_tests_name("a KVM guest's TSC", tests, NULL, NULL);
}
