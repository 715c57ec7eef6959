// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * patch.c - many small pieces of guest text, written in one sweep.
 *
 * Under TCG they go through the stub, which has QEMU throw away what it has translated of them. The
 * packets follow each other without waiting: 36,000 of them take QEMU a quarter of a second, a
 * third of what they take one by one. Fewer but longer ones, with the bytes between the pieces, are
 * hardly faster. Under KVM they go into QEMU's memory, a thousand in a system call.
 */
#include "vmm/qemu/qemu.h"

#include <errno.h>
#include <limits.h>
#include <sys/uio.h>

static int write_by_stub(struct qemu_machine *m, const struct machine_patch *patches, size_t n)
{
	int rc = 0, end;

	for (size_t i = 0; i < n && !rc; i++)
		rc = gdb_write_ahead(m->gdb, patches[i].pa, patches[i].bytes, patches[i].size);
	end = gdb_write_finish(m->gdb);
	return rc ? rc : end;
}

/* --- into QEMU's memory ------------------------------------------------------------------------
 */

struct batch {
	struct iovec local[IOV_MAX], remote[IOV_MAX];
	size_t n;
	size_t bytes;
};

static int batch_write(const struct qemu_ram *ram, struct batch *b)
{
	size_t want = b->bytes;
	ssize_t done = 0;

	if (atomic_load(&ram->cut))
		return -ECONNRESET;
	if (b->n)
		done = process_vm_writev(ram->pid, b->local, b->n, b->remote, b->n, 0);
	b->n = b->bytes = 0;
	if (done < 0)
		return -errno;
	return (size_t)done == want ? 0 : -EFAULT;
}

static int batch_add(const struct qemu_ram *ram, struct batch *b, const struct machine_patch *patch)
{
	union {
		const uint8_t *from;
		void *base; /* process_vm_writev(2) only reads it */
	} bytes = {.from = patch->bytes};
	uint64_t pa = patch->pa, hva;

	for (size_t left = patch->size, len; left; left -= len) {
		int rc = b->n == IOV_MAX ? batch_write(ram, b) : 0;

		if (rc)
			return rc;
		len = qemu_ram_piece(ram, pa, left, &hva);
		b->local[b->n] = (struct iovec){.iov_base = bytes.base, .iov_len = len};
		b->remote[b->n] =
			(struct iovec){.iov_base = (void *)(uintptr_t)hva, .iov_len = len};
		b->n++;
		b->bytes += len;
		bytes.from += len;
		pa += len;
	}
	return 0;
}

static int write_batches(const struct qemu_ram *ram, const struct machine_patch *patches, size_t n)
{
	struct batch b = {.n = 0};
	int rc = 0;

	for (size_t i = 0; i < n && !rc; i++)
		rc = batch_add(ram, &b, &patches[i]);
	return rc ? rc : batch_write(ram, &b);
}

/* Where process_vm_writev(2) is refused. */
static int write_each(struct qemu_machine *m, const struct machine_patch *patches, size_t n)
{
	int rc = 0;

	for (size_t i = 0; i < n && !rc; i++)
		rc = qemu_write(&m->base, patches[i].pa, patches[i].bytes, patches[i].size);
	return rc;
}

/*
 * A vCPU that runs may execute the half of a patch, while calls that stay in the text lead to code
 * that stays as well: who cannot be stopped any more is left as it is.
 */
int qemu_patch_text(struct machine *base, const struct machine_patch *patches, size_t n)
{
	struct qemu_machine *m = qemu_machine(base);
	int rc;

	if (n && !qemu_run_is_over(m))
		return -ECONNRESET;
	for (size_t i = 0; i < n; i++) {
		if (!qemu_ram_has(m, patches[i].pa, patches[i].size))
			return -EFAULT;
	}
	if (m->kvm && m->ram.direct)
		return m->ram.mem_fd < 0 ? write_batches(&m->ram, patches, n)
					 : write_each(m, patches, n);
	pthread_mutex_lock(&m->io);
	rc = write_by_stub(m, patches, n);
	pthread_mutex_unlock(&m->io);
	return rc == -EREMOTEIO ? -EFAULT : rc;
}
