// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * ram.c - the guest's memory: in QEMU's address space if that can be reached, else through the
 * stub.
 *
 * QEMU's monitor tells where each region of RAM lies in its process. What is written there is
 * seen by the guest as data at once. As instructions it is seen under KVM, where the CPU itself
 * takes care; under TCG the vCPUs go on executing what they have translated, unless the bytes come
 * through QEMU's own memory functions, as those do that the stub writes.
 */
#include "vmm/qemu/peer.h"
#include "vmm/qemu/qemu.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PAGE	   4096
#define PROBE_SIZE 64
#define CR4_LA57   (1u << 12)

/* --- QEMU's address space --------------------------------------------------------------------- */

static ssize_t host_copy(const struct qemu_ram *ram, uint64_t hva, void *buf, size_t len,
			 bool write)
{
	if (write)
		return pwrite(ram->mem_fd, buf, len, (off_t)hva);
	return pread(ram->mem_fd, buf, len, (off_t)hva);
}

static int host_copy_all(const struct qemu_ram *ram, uint64_t hva, void *buf, size_t len,
			 bool write)
{
	uint8_t *at = buf;

	while (len) {
		ssize_t n;

		if (atomic_load(&ram->cut))
			return -ECONNRESET;
		n = host_copy(ram, hva, at, len, write);
		if (n < 0 && errno == EINTR)
			continue;
		/* An address space that has gone: QEMU has ended, or become another program. */
		if (!n)
			return -ECONNRESET;
		if (n < 0)
			return errno == EIO ? -EFAULT : -errno;
		hva += (uint64_t)n;
		at += n;
		len -= (size_t)n;
	}
	return 0;
}

/* --- regions ------------------------------------------------------------------------------------
 */

static const struct qemu_region *region_at(const struct qemu_ram *ram, uint64_t pa)
{
	unsigned int low = 0, high = ram->n;

	while (low < high) {
		unsigned int mid = (low + high) / 2;
		const struct qemu_region *r = &ram->region[mid];

		if (pa - r->pa < r->size)
			return r;
		if (pa < r->pa)
			high = mid;
		else
			low = mid + 1;
	}
	return NULL;
}

bool qemu_ram_has(const struct qemu_machine *m, uint64_t pa, size_t len)
{
	if (pa + len < pa)
		return false;
	if (!m->ram.n)
		return true; /* nobody knows */
	while (len) {
		const struct qemu_region *r = region_at(&m->ram, pa);
		uint64_t left;

		if (!r)
			return false;
		left = r->pa + r->size - pa;
		if (len <= left)
			return true;
		pa += left;
		len -= left;
	}
	return true;
}

size_t qemu_ram_piece(const struct qemu_ram *ram, uint64_t pa, size_t len, uint64_t *hva)
{
	const struct qemu_region *r = region_at(ram, pa);
	uint64_t off = pa - r->pa;

	*hva = r->hva + off;
	return r->size - off < len ? (size_t)(r->size - off) : len;
}

static int direct_copy(struct qemu_machine *m, uint64_t pa, void *buf, size_t len, bool write)
{
	uint8_t *at = buf;

	while (len) {
		uint64_t hva;
		size_t part = qemu_ram_piece(&m->ram, pa, len, &hva);
		int rc = host_copy_all(&m->ram, hva, at, part, write);

		if (rc)
			return rc;
		pa += part;
		at += part;
		len -= part;
	}
	return 0;
}

/* --- reading and writing ------------------------------------------------------------------------
 */

int qemu_read_standing(struct qemu_machine *m, uint64_t pa, void *buf, size_t len)
{
	int rc;

	if (!qemu_ram_has(m, pa, len))
		return -EFAULT;
	if (m->ram.direct)
		return direct_copy(m, pa, buf, len, false);
	rc = gdb_read_phys(m->gdb, pa, buf, len);
	return rc == -EREMOTEIO ? -EFAULT : rc;
}

static int read_standing(struct machine *base, uint64_t pa, void *buf, size_t len)
{
	return qemu_read_standing(qemu_machine(base), pa, buf, len);
}

int qemu_walk_standing(struct qemu_machine *m, const struct qemu_vcpu *v, uint64_t root,
		       uint64_t va, uint64_t *pa)
{
	unsigned int levels = v->reg[GDB_CR4] & CR4_LA57 ? 5 : 4;

	return machine_walk_by(&m->base, read_standing, root, levels, va, pa, NULL);
}

bool qemu_maps_to(struct qemu_machine *m, const struct qemu_vcpu *v, uint64_t va, uint64_t pa)
{
	uint64_t found;

	return !qemu_walk_standing(m, v, v->reg[GDB_CR3], va, &found) && found == pa;
}

/*
 * Where the memory lies does not change once we are attached, so any number of threads read at
 * once, without a lock and while the guest runs; but only if QEMU's memory can be reached.
 */
int qemu_read(struct machine *base, uint64_t pa, void *buf, size_t len)
{
	struct qemu_machine *m = qemu_machine(base);
	int rc;

	if (m->ram.direct || !qemu_ram_has(m, pa, len))
		return qemu_read_standing(m, pa, buf, len);
	qemu_pause(base);
	pthread_mutex_lock(&m->io);
	rc = qemu_read_standing(m, pa, buf, len);
	pthread_mutex_unlock(&m->io);
	qemu_resume(base);
	return rc;
}

static int stub_write(struct qemu_machine *m, uint64_t pa, const void *buf, size_t len)
{
	int rc;

	qemu_pause(&m->base);
	pthread_mutex_lock(&m->io);
	rc = gdb_write_phys(m->gdb, pa, buf, len);
	pthread_mutex_unlock(&m->io);
	qemu_resume(&m->base);
	return rc == -EREMOTEIO ? -EFAULT : rc;
}

int qemu_write(struct machine *base, uint64_t pa, const void *buf, size_t len)
{
	struct qemu_machine *m = qemu_machine(base);
	union {
		const void *from;
		void *buf; /* host_copy() only reads it */
	} bytes = {.from = buf};

	if (!qemu_ram_has(m, pa, len))
		return -EFAULT;
	if (m->ram.direct)
		return direct_copy(m, pa, bytes.buf, len, true);
	return stub_write(m, pa, buf, len);
}

int qemu_write_text(struct machine *base, uint64_t pa, const void *buf, size_t len)
{
	struct qemu_machine *m = qemu_machine(base);

	if (m->kvm)
		return qemu_write(base, pa, buf, len);
	return qemu_ram_has(m, pa, len) ? stub_write(m, pa, buf, len) : -EFAULT;
}

/* --- finding it ---------------------------------------------------------------------------------
 */

/* Where each region lies, and whether its end lies where it should: else it is not one piece. */
static int region_locate(struct qemu_machine *m, struct qemu_region *r)
{
	uint64_t last = (r->size - 1) & ~(uint64_t)(PAGE - 1), end_hva = 0;
	uint64_t *to[] = {&r->hva, &end_hva};
	int rc = 0;

	for (int i = 0; i < 2 && !rc; i++) {
		char command[64], *answer;

		snprintf(command, sizeof(command), "gpa2hva 0x%" PRIx64, r->pa + (i ? last : 0));
		rc = gdb_monitor(m->gdb, command, &answer);
		if (rc)
			return rc;
		rc = qemu_monitor_hva(answer, to[i]);
		free(answer);
	}
	return rc ? rc : end_hva - r->hva == last ? 0 : -EPROTO;
}

/* Neighbours in the guest that are neighbours in QEMU as well are one. */
static void regions_join(struct qemu_ram *ram)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < ram->n; i++) {
		struct qemu_region *last = n ? &ram->region[n - 1] : NULL, *r = &ram->region[i];

		ram->size += r->size;
		if (last && last->pa + last->size == r->pa && last->hva + last->size == r->hva)
			last->size += r->size;
		else
			ram->region[n++] = *r;
	}
	ram->n = n;
}

static int regions_find(struct qemu_machine *m, const char *mtree)
{
	struct qemu_ram *ram = &m->ram;
	int n = qemu_monitor_regions(mtree, ram->region, QEMU_MAX_REGIONS), rc = 0;

	for (int i = 0; i < n && !rc; i++)
		rc = region_locate(m, &ram->region[i]);
	if (n < 0 || rc)
		return n < 0 ? n : rc;
	ram->n = (unsigned int)n;
	regions_join(ram);
	return 0;
}

/*
 * Is the guest's memory what is found at these addresses of that process? The stub shows the same
 * bytes, and the guest stands.
 */
static int direct_check(struct qemu_machine *m)
{
	struct qemu_ram *ram = &m->ram;
	uint8_t direct[PROBE_SIZE], stub[PROBE_SIZE];

	for (unsigned int i = 0; i < ram->n; i++) {
		uint64_t pa = ram->region[i].pa + ram->region[i].size / 2;
		int rc = gdb_read_phys(m->gdb, pa, stub, sizeof(stub));

		if (!rc)
			rc = direct_copy(m, pa, direct, sizeof(direct), false);
		if (rc)
			return rc;
		if (memcmp(direct, stub, sizeof(stub)))
			return -EXDEV;
	}
	return 0;
}

/*
 * Who serves is told with each answer. The one that is told behind the opening has this address
 * space still, if it is the one that was told before: it has not become another program between.
 */
static int direct_open(struct qemu_machine *m, const struct ucred *server)
{
	const struct ucred listener = gdb_listener(m->gdb);
	int rc;

	if (!m->ram.n)
		return -ESRCH;
	m->ram.mem_fd = qemu_peer_memory(server, &listener);
	if (m->ram.mem_fd < 0)
		return m->ram.mem_fd;
	rc = direct_check(m);
	if (!rc && gdb_server(m->gdb).pid != server->pid)
		rc = -EXDEV;
	return rc ? rc : keeper_memory(&m->keeper, m->ram.mem_fd);
}

int qemu_ram_init(struct qemu_machine *m, const char *mtree)
{
	const struct ucred server = gdb_server(m->gdb);
	int rc;

	m->ram.mem_fd = -1;
	m->ram.pid = server.pid;
	rc = mtree ? regions_find(m, mtree) : -EOPNOTSUPP;
	if (gdb_error(m->gdb))
		return gdb_error(m->gdb);
	if (rc)
		m->ram.n = 0;
	rc = direct_open(m, &server);
	gdb_server_stays(m->gdb);
	if (gdb_error(m->gdb))
		return gdb_error(m->gdb);
	m->ram.direct = !rc;
	if (rc == -EPERM || rc == -EACCES)
		machine_message(
			&m->base, MACHINE_MSG_WARN,
			"no permission for the memory of QEMU (process %d), so its slow gdb stub is used: run as root, or as QEMU's user with kernel.yama.ptrace_scope=0",
			(int)m->ram.pid);
	else if (rc)
		machine_message(
			&m->base, MACHINE_MSG_WARN,
			"the memory of QEMU cannot be reached from here, so its slow gdb stub is used");
	return 0;
}

void qemu_ram_cut(struct qemu_machine *m)
{
	atomic_store(&m->ram.cut, true);
}

void qemu_ram_exit(struct qemu_machine *m)
{
	if (m->ram.mem_fd >= 0)
		close(m->ram.mem_fd);
}
