// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * patch.c - many small pieces of guest text, written in one sweep.
 *
 * Under KVM they go into QEMU's memory, a page at a time. Under TCG vCPUs go on executing what
 * QEMU has translated, so small sweeps go through the stub, which has it throw that away bit by
 * bit: 10 us for each packet, in batches; fewer but longer ones, with the bytes between the pieces,
 * are hardly faster. Of a large one QEMU is made to throw all away (translated.c), and then it goes
 * into its memory as well: 80,000 patches in 30 ms instead of 600.
 */
#include "vmm/qemu/qemu.h"

#include <errno.h>
#include <string.h>

#define PAGE	    4096
#define FORGET_FROM 1000 /* with fewer it takes longer to have it thrown away */

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

/* How many of them, from the first on, lie in one page of RAM; 1: go by the first alone. */
static size_t in_one_page(const struct machine_patch *patches, size_t n)
{
	uint64_t page = patches[0].pa / PAGE;
	size_t same = 0;

	while (same < n && patches[same].pa / PAGE == page &&
	       (patches[same].pa + patches[same].size - 1) / PAGE == page)
		same++;
	return same ? same : 1;
}

/* With what lies between them, which nobody changes while the guest stands. */
static int write_page(struct qemu_machine *m, const struct machine_patch *patches, size_t n)
{
	uint64_t first = patches[0].pa, end = first;
	uint8_t bytes[PAGE];
	int rc;

	if (n == 1)
		return qemu_write(&m->base, first, patches[0].bytes, patches[0].size);
	for (size_t i = 0; i < n; i++) {
		uint64_t behind = patches[i].pa + patches[i].size;

		first = patches[i].pa < first ? patches[i].pa : first;
		end = behind > end ? behind : end;
	}
	rc = qemu_read(&m->base, first, bytes, end - first);
	for (size_t i = 0; i < n; i++)
		memcpy(bytes + (patches[i].pa - first), patches[i].bytes, patches[i].size);
	return rc ? rc : qemu_write(&m->base, first, bytes, end - first);
}

static int write_pages(struct qemu_machine *m, const struct machine_patch *patches, size_t n)
{
	int rc = 0;

	for (size_t same; n && !rc; n -= same) {
		same = in_one_page(patches, n);
		rc = write_page(m, patches, same);
		patches += same;
	}
	return rc;
}

/* No vCPU of a guest that somebody else has stopped, or that has never run, is told to run. */
static bool may_run(struct qemu_machine *m)
{
	bool may;

	pthread_mutex_lock(&m->base.lock);
	may = m->want_run && !m->foreign && !machine_over_locked(&m->base);
	pthread_mutex_unlock(&m->base.lock);
	return may;
}

static int write_under_tcg(struct qemu_machine *m, const struct machine_patch *patches, size_t n,
			   bool run)
{
	bool direct = run && m->ram.direct && n >= FORGET_FROM;

	return direct && qemu_translated_forget(m) ? write_pages(m, patches, n)
						   : write_by_stub(m, patches, n);
}

/*
 * A vCPU that runs may execute the half of a patch, while calls that stay in the text lead to code
 * that stays as well: who cannot be stopped any more is left as it is.
 */
int qemu_patch_text(struct machine *base, const struct machine_patch *patches, size_t n)
{
	struct qemu_machine *m = qemu_machine(base);
	bool run;
	int rc;

	if (n && !qemu_run_is_over(m))
		return -ECONNRESET;
	for (size_t i = 0; i < n; i++) {
		if (!qemu_ram_has(m, patches[i].pa, patches[i].size))
			return -EFAULT;
	}
	if (m->kvm && m->ram.direct)
		return write_pages(m, patches, n);
	run = may_run(m);
	pthread_mutex_lock(&m->io);
	rc = write_under_tcg(m, patches, n, run);
	pthread_mutex_unlock(&m->io);
	return rc == -EREMOTEIO ? -EFAULT : rc;
}
