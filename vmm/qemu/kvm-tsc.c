// SPDX-License-Identifier: GPL-2.0-or-later
/* kvm-tsc.c - how the TSCs of a KVM guest follow the host's, from debugfs. */
#include "vmm/qemu/kvm-tsc.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#define DEBUGFS_KVM	  "/sys/kernel/debug/kvm"
#define FIRST_PIDS	  UINT64_C(0xeffffffc) /* PROC_PID_INIT_INO, include/linux/proc_ns.h */
#define MAX_FRAC_BITS	  63
#define DIRECTORY_TO_OPEN (O_RDONLY | O_DIRECTORY | O_CLOEXEC)

/* --- the folder --------------------------------------------------------------------------------
 */

/* Where nobody has mounted debugfs: a mount that no one else sees, gone when the last file of it is
 * closed. */
static int private_debugfs(void)
{
	int fs = fsopen("debugfs", FSOPEN_CLOEXEC), mount = -1, folder = -1, error;

	if (fs >= 0 && !fsconfig(fs, FSCONFIG_CMD_CREATE, NULL, NULL, 0))
		mount = fsmount(fs, FSMOUNT_CLOEXEC, MOUNT_ATTR_RDONLY);
	if (mount >= 0)
		folder = openat(mount, "kvm", DIRECTORY_TO_OPEN);
	error = errno;
	if (mount >= 0)
		close(mount);
	if (fs >= 0)
		close(fs);
	return folder >= 0 ? folder : error == EPERM ? -EACCES : -error;
}

static int debugfs_kvm(void)
{
	int folder = open(DEBUGFS_KVM, DIRECTORY_TO_OPEN);

	if (folder >= 0 || errno != ENOENT)
		return folder >= 0 ? folder : -errno;
	return private_debugfs();
}

/* The folder's names have the ids of the first namespace: another guest could have ours. */
static bool sees_all_pids(void)
{
	struct stat st;

	return !stat("/proc/self/ns/pid", &st) && st.st_ino == FIRST_PIDS;
}

/* --- what is in it ------------------------------------------------------------------------------
 */

/* Call see() for each name that begins so, until it gives other than 0: that. */
static int each_name(int folder, const char *begin, int (*see)(void *arg, const char *name),
		     void *arg)
{
	int fd = openat(folder, ".", DIRECTORY_TO_OPEN), ret = 0;
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *e;

	if (!dir) {
		ret = -errno;
		if (fd >= 0)
			close(fd);
		return ret;
	}
	while (!ret && (e = readdir(dir)))
		if (!strncmp(e->d_name, begin, strlen(begin)))
			ret = see(arg, e->d_name);
	closedir(dir);
	return ret;
}

struct guest_name {
	char name[64];
};

static int see_guest(void *arg, const char *name)
{
	struct guest_name *g = arg;

	if (*g->name)
		return -ENOTUNIQ;
	snprintf(g->name, sizeof(g->name), "%s", name);
	return 0;
}

static int guest_open(int folder, pid_t pid)
{
	struct guest_name g = {""};
	char begin[32];
	int ret, fd;

	snprintf(begin, sizeof(begin), "%d-", (int)pid);
	ret = each_name(folder, begin, see_guest, &g);
	if (ret || !*g.name)
		return ret ? ret : -ENOENT;
	fd = openat(folder, g.name, DIRECTORY_TO_OPEN);
	return fd < 0 ? -errno : fd;
}

/* The vCPUs' ids, which have gaps where a socket's cores are no power of two. */
struct vcpu_ids {
	unsigned long id[MACHINE_MAX_VCPUS];
	unsigned int n;
};

static int see_vcpu(void *arg, const char *name)
{
	struct vcpu_ids *ids = arg;

	if (ids->n == MACHINE_MAX_VCPUS)
		return -ERANGE;
	ids->id[ids->n++] = strtoul(name + strlen("vcpu"), NULL, 10);
	return 0;
}

static int by_number(const void *a, const void *b)
{
	unsigned long x = *(const unsigned long *)a, y = *(const unsigned long *)b;

	return (x > y) - (x < y);
}

/* Opened each time: these files cannot be sought in (simple_attr_open() in fs/libfs.c). */
static int read_file(int guest, unsigned long id, const char *name, int64_t *number)
{
	char path[64], text[32], *end;
	ssize_t n;
	int fd, error;

	snprintf(path, sizeof(path), "vcpu%lu/%s", id, name);
	fd = openat(guest, path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	n = read(fd, text, sizeof(text) - 1);
	error = errno;
	close(fd);
	if (n < 0)
		return -error;
	text[n] = '\0';
	errno = 0;
	*number = strtoll(text, &end, 10);
	return end == text || *end != '\n' || errno ? -EPROTO : 0;
}

/* A host without TSC scaling has no files for it. */
static int vcpu_look(struct kvm_tsc *t, unsigned long id)
{
	int64_t ratio = 1, bits = 0, offset = 0;
	int ret = read_file(t->folder, id, "tsc-scaling-ratio", &ratio);

	if (!ret)
		ret = read_file(t->folder, id, "tsc-scaling-ratio-frac-bits", &bits);
	if (ret && ret != -ENOENT)
		return ret;
	if (ratio <= 0 || bits < 0 || bits > MAX_FRAC_BITS)
		return -EPROTO;
	ret = read_file(t->folder, id, "tsc-offset", &offset);
	if (ret)
		return ret;
	t->vcpu[t->n].id = id;
	t->vcpu[t->n].ratio = (uint64_t)ratio;
	t->vcpu[t->n].frac_bits = (unsigned int)bits;
	t->vcpu[t->n].offset = offset;
	t->n++;
	return 0;
}

/* QEMU numbers its vCPUs in the order of these ids (hw/i386/x86.c, x86_possible_cpu_arch_ids()). */
static int vcpus_look(struct kvm_tsc *t, unsigned int vcpus)
{
	struct vcpu_ids ids = {.n = 0};
	int ret = each_name(t->folder, "vcpu", see_vcpu, &ids);

	if (ret || ids.n != vcpus)
		return ret ? ret : -ERANGE;
	qsort(ids.id, ids.n, sizeof(ids.id[0]), by_number);
	for (unsigned int i = 0; i < ids.n && !ret; i++)
		ret = vcpu_look(t, ids.id[i]);
	return ret;
}

/* --- the door ----------------------------------------------------------------------------------
 */

int kvm_tsc_open_at(struct kvm_tsc *t, int folder, pid_t pid, unsigned int vcpus)
{
	int ret;

	t->n = 0;
	t->folder = guest_open(folder, pid);
	if (t->folder < 0)
		return t->folder;
	ret = vcpus_look(t, vcpus);
	if (ret) {
		t->n = 0;
		close(t->folder);
	}
	return ret;
}

int kvm_tsc_open(struct kvm_tsc *t, pid_t pid, unsigned int vcpus)
{
	int folder, ret;

	t->n = 0;
	if (!sees_all_pids())
		return -EXDEV;
	folder = debugfs_kvm();
	if (folder < 0)
		return folder;
	ret = kvm_tsc_open_at(t, folder, pid, vcpus);
	close(folder);
	return ret;
}

void kvm_tsc_close(struct kvm_tsc *t)
{
	if (t->n)
		close(t->folder);
	t->n = 0;
}

static uint64_t scale(const struct kvm_tsc *t, unsigned int vcpu, uint64_t host)
{
	return (uint64_t)((unsigned __int128)host * t->vcpu[vcpu].ratio >> t->vcpu[vcpu].frac_bits);
}

/* Who is confined opens nothing more. */
static int read_offset(const struct kvm_tsc *t, unsigned int vcpu, int64_t *offset)
{
	int ret = vcpu < t->n ? read_file(t->folder, t->vcpu[vcpu].id, "tsc-offset", offset)
			      : -EINVAL;

	if (ret == -EPERM || ret == -EACCES) {
		*offset = t->vcpu[vcpu].offset;
		ret = 0;
	}
	return ret;
}

int kvm_tsc_read(const struct kvm_tsc *t, unsigned int vcpu, uint64_t host, uint64_t *guest)
{
	int64_t offset = 0;
	int ret = read_offset(t, vcpu, &offset);

	if (!ret)
		*guest = scale(t, vcpu, host) + (uint64_t)offset;
	return ret;
}

int kvm_tsc_get_line(const struct kvm_tsc *t, unsigned int vcpu, struct machine_tsc *line)
{
	int64_t offset = 0;
	int ret = read_offset(t, vcpu, &offset);

	if (ret)
		return ret;
	*line = (struct machine_tsc){t->vcpu[vcpu].ratio, t->vcpu[vcpu].frac_bits,
				     (uint64_t)offset};
	/* A host that can scale tells a ratio of all guests. */
	if (line->ratio == UINT64_C(1) << line->frac_bits) {
		line->ratio = 1;
		line->frac_bits = 0;
	}
	return 0;
}

uint64_t kvm_tsc_frequency(const struct kvm_tsc *t, uint64_t host)
{
	return t->n ? scale(t, 0, host) : host;
}
