// SPDX-License-Identifier: GPL-2.0-or-later
/* memory.c - guest memory of the kvm backend: RAM, windows, and copies to and from them. */
#include "vmm/kvm/save.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#define CR0_PG	 (1ull << 31)
#define CR4_LA57 (1ull << 12)

#define PAGE_SIZE    4096ull
#define WINDOW_ALIGN (2ull << 20) /* so that a guest can map a window with large pages */

static uint64_t round_up(uint64_t val, uint64_t align)
{
	return (val + align - 1) & ~(align - 1);
}

/* What memory is at first: zeros, or what a file holds from `at` on. */
struct content {
	int fd; /* -1: zeros */
	uint64_t at;
	bool shared; /* what the guest writes is in the file, too; else it is its own */
};

/* Memory that takes no host page until it is touched. */
static void *mem_map(uint64_t size, const struct content *c)
{
	int flags = MAP_NORESERVE | (c->shared ? MAP_SHARED : MAP_PRIVATE);

	return mmap(NULL, size, PROT_READ | PROT_WRITE, flags | (c->fd < 0 ? MAP_ANONYMOUS : 0),
		    c->fd, (off_t)c->at);
}

/* Back [pa, pa + size) with such memory. */
static int mem_add(struct kvm_machine *m, uint64_t pa, uint64_t size, const struct content *c)
{
	unsigned int slot = m->nmem;
	struct kvm_userspace_memory_region region = {
		.slot = slot,
		.guest_phys_addr = pa,
		.memory_size = size,
	};
	void *host;

	if (slot == KVM_MEM_MAX)
		return -ENOSPC;
	host = mem_map(size, c);
	if (host == MAP_FAILED)
		return -errno;
	/* What a guest has in its memory is nothing for a file on the host's disk. */
	madvise(host, size, MADV_DONTDUMP);
	region.userspace_addr = (uintptr_t)host;
	if (ioctl(m->vm_fd, KVM_SET_USER_MEMORY_REGION, &region)) {
		int rc = -errno;

		munmap(host, size);
		return rc;
	}
	m->mem[slot] = (struct kvm_mem){.pa = pa, .size = size, .host = host, .offset = c->at};
	atomic_store_explicit(&m->nmem, slot + 1, memory_order_release);
	return 0;
}

static bool mem_is_taken(const struct kvm_machine *m, uint64_t pa, uint64_t size)
{
	for (unsigned int i = 0; i < m->nmem; i++) {
		if (pa < m->mem[i].pa + m->mem[i].size && m->mem[i].pa < pa + size)
			return true;
	}
	return false;
}

/* What a tracer of the guest that was saved had beside its RAM. */
static int mem_add_windows(struct kvm_machine *m, uint64_t at)
{
	const struct save_window *w;
	struct content c = {.fd = m->snapshot->file.fd, .at = at};
	int rc = 0;

	for (unsigned int i = 0; !rc && (w = kvm_snapshot_window(m->snapshot, i)); i++) {
		rc = mem_is_taken(m, w->pa, w->size) ? -EINVAL : mem_add(m, w->pa, w->size, &c);
		c.at += w->size;
	}
	return rc;
}

/* A file for RAM that other processes map, which none of them can cut off. -errno: there is none.
 */
static int ram_file(uint64_t size)
{
	int fd = memfd_create("guest", MFD_CLOEXEC | MFD_ALLOW_SEALING), rc = 0;

	if (fd < 0)
		return -errno;
	if (ftruncate(fd, (off_t)size) ||
	    fcntl(fd, F_ADD_SEALS, F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL))
		rc = -errno;
	if (rc)
		close(fd);
	return rc ? rc : fd;
}

static int ram_init(struct kvm_machine *m, uint64_t size)
{
	uint64_t low = size < KVM_RAM_LOW_END ? size : KVM_RAM_LOW_END;
	struct content c = {.fd = -1};
	int rc;

	if (m->snapshot) {
		c = (struct content){.fd = m->snapshot->file.fd, .at = STATE_RAM_AT};
	} else if (m->cfg.devices.nshare) {
		c = (struct content){.fd = ram_file(size), .shared = true};
		if (c.fd < 0)
			return c.fd;
		m->ram_fd = c.fd;
	}
	rc = mem_add(m, 0, low, &c);
	c.at += low;
	if (!rc && size > low)
		rc = mem_add(m, KVM_RAM_HIGH_START, size - low, &c);
	m->nram = m->nmem;
	return rc;
}

int kvm_mem_init(struct kvm_machine *m, char *err, size_t errlen)
{
	uint64_t size = m->cfg.memory & ~(PAGE_SIZE - 1);
	uint64_t host = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
	int rc;

	if (size < KVM_RAM_MIN) {
		snprintf(err, errlen, "%llu MiB of guest memory are too few: give it %llu at least",
			 (unsigned long long)size >> 20, KVM_RAM_MIN >> 20);
		return -EINVAL;
	}
	if (size > host) {
		snprintf(err, errlen,
			 "%llu MiB of guest memory are too much: the host itself has %llu MiB",
			 (unsigned long long)size >> 20, (unsigned long long)host >> 20);
		return -ENOMEM;
	}
	rc = ram_init(m, size);
	if (!rc && m->snapshot)
		rc = mem_add_windows(m, STATE_RAM_AT + size);
	if (rc)
		snprintf(err, errlen, "cannot get %llu MiB of guest memory: %s",
			 (unsigned long long)size >> 20, strerror(-rc));
	return rc;
}

static int window_remove(struct kvm_machine *m, unsigned int slot)
{
	const struct kvm_mem *mem = &m->mem[slot];
	struct kvm_userspace_memory_region none = {.slot = slot, .guest_phys_addr = mem->pa};

	if (ioctl(m->vm_fd, KVM_SET_USER_MEMORY_REGION, &none))
		return -errno;
	atomic_store_explicit(&m->nmem, slot, memory_order_release);
	munmap(mem->host, mem->size);
	return 0;
}

int kvm_mem_clear(struct kvm_machine *m)
{
	/* What is the guest's alone is dropped; of a file that is shared its pages are. */
	int drop = m->ram_fd >= 0 ? MADV_REMOVE : MADV_DONTNEED, rc = 0;

	for (unsigned int slot = m->nmem; slot-- > m->nram && !rc;)
		rc = window_remove(m, slot);
	for (unsigned int i = 0; i < m->nram && !rc; i++)
		rc = madvise(m->mem[i].host, m->mem[i].size, drop) ? -errno : 0;
	atomic_store(&m->nreserved, 0);
	return rc;
}

uint64_t kvm_mem_size(const struct kvm_machine *m)
{
	uint64_t size = 0;

	for (unsigned int i = 0; i < m->nram; i++)
		size += m->mem[i].size;
	return size;
}

void kvm_mem_exit(struct kvm_machine *m)
{
	for (unsigned int i = 0; i < m->nmem; i++)
		munmap(m->mem[i].host, m->mem[i].size);
	if (m->ram_fd >= 0)
		close(m->ram_fd);
}

int kvm_window(struct machine *base, size_t size, uint64_t *pa, void **host)
{
	struct kvm_machine *m = kvm_machine(base);
	uint64_t at = KVM_RAM_HIGH_START;
	int rc;

	if (!size || size > SIZE_MAX - PAGE_SIZE)
		return -EINVAL;
	pthread_mutex_lock(&m->base.lock);
	for (unsigned int i = 0; i < m->nmem; i++) {
		uint64_t end = m->mem[i].pa + m->mem[i].size;

		if (end > at)
			at = end;
	}
	*pa = round_up(at, WINDOW_ALIGN);
	rc = mem_add(m, *pa, round_up(size, PAGE_SIZE), &(const struct content){.fd = -1});
	if (!rc)
		*host = m->mem[m->nmem - 1].host;
	pthread_mutex_unlock(&m->base.lock);
	return rc;
}

void *kvm_host_ptr(struct kvm_machine *m, uint64_t pa, size_t len)
{
	unsigned int n = atomic_load_explicit(&m->nmem, memory_order_acquire);

	for (unsigned int i = 0; i < n; i++) {
		uint64_t off = pa - m->mem[i].pa; /* huge when pa lies below */

		if (off < m->mem[i].size && len <= m->mem[i].size - off)
			return m->mem[i].host + off;
	}
	return NULL;
}

int kvm_mem_read(struct kvm_machine *m, uint64_t pa, void *buf, size_t len)
{
	return machine_read(&m->base, pa, buf, len);
}

int kvm_mem_write(struct kvm_machine *m, uint64_t pa, const void *buf, size_t len)
{
	return machine_write(&m->base, pa, buf, len);
}

/* Physical address of va as the vCPU would translate it now, and the bytes left in its page. */
static int vcpu_walk(struct kvm_vcpu *v, const struct kvm_sregs *sregs, uint64_t va, uint64_t *pa,
		     uint64_t *left)
{
	if (!(sregs->cr0 & CR0_PG)) {
		*pa = va;
		*left = PAGE_SIZE - (va & (PAGE_SIZE - 1));
		return 0;
	}
	return machine_walk(&v->m->base, sregs->cr3, sregs->cr4 & CR4_LA57 ? 5 : 4, va, pa, left);
}

int kvm_virt_read(struct kvm_vcpu *v, uint64_t va, void *buf, size_t len)
{
	struct kvm_sregs sregs;
	uint8_t *p = buf;
	int rc = kvm_vcpu_get_sregs(v, &sregs);

	while (!rc && len) {
		uint64_t pa, left;
		size_t chunk;

		rc = vcpu_walk(v, &sregs, va, &pa, &left);
		if (rc)
			break;
		chunk = left < len ? left : len;
		rc = kvm_mem_read(v->m, pa, p, chunk);
		va += chunk;
		p += chunk;
		len -= chunk;
	}
	return rc;
}
