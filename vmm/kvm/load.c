// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * load.c - puts the segments of an x86-64 ELF image where its program headers want them, or
 * elsewhere: kaslr.c.
 */
#include "vmm/kvm/local.h"

#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#define SEGMENTS_MAX 128 /* a vmlinux has five; bounds the time a hostile image can take */

static int header_read(const struct machine_config *cfg, Elf64_Ehdr *eh, char *err, size_t errlen)
{
	if (cfg->kernel_size < sizeof(*eh)) {
		snprintf(err, errlen, "the kernel image is not an ELF file: it has only %zu bytes",
			 cfg->kernel_size);
		return -ENOEXEC;
	}
	memcpy(eh, cfg->kernel, sizeof(*eh));
	if (memcmp(eh->e_ident, ELFMAG, SELFMAG)) {
		snprintf(err, errlen, "the kernel image is not an ELF file");
		return -ENOEXEC;
	}
	if (eh->e_ident[EI_CLASS] != ELFCLASS64 || eh->e_ident[EI_DATA] != ELFDATA2LSB ||
	    eh->e_machine != EM_X86_64) {
		snprintf(err, errlen, "the kernel image is not for x86-64");
		return -ENOEXEC;
	}
	if (eh->e_phentsize != sizeof(Elf64_Phdr) || eh->e_phnum > SEGMENTS_MAX ||
	    eh->e_phoff > cfg->kernel_size ||
	    cfg->kernel_size - eh->e_phoff < (size_t)eh->e_phnum * sizeof(Elf64_Phdr)) {
		snprintf(err, errlen,
			 "the kernel image is damaged: no program headers where they should be");
		return -ENOEXEC;
	}
	return 0;
}

/* The next segment that is loaded, from number *i on; false: there are no more. */
static bool segment_next(const struct kvm_machine *m, const Elf64_Ehdr *eh, unsigned int *i,
			 Elf64_Phdr *ph)
{
	while (*i < eh->e_phnum) {
		memcpy(ph, (const uint8_t *)m->cfg.kernel + eh->e_phoff + *i * sizeof(*ph),
		       sizeof(*ph));
		++*i;
		if (ph->p_type == PT_LOAD && ph->p_memsz)
			return true;
	}
	return false;
}

/* RAM is zeroed, so there is nothing to do for what the file does not fill. */
static int segment_load(struct kvm_machine *m, const Elf64_Phdr *ph, unsigned int nr, char *err,
			size_t errlen)
{
	const struct machine_config *cfg = &m->cfg;
	uint64_t pa = ph->p_paddr + m->kernel_moved;
	void *to;

	if (ph->p_offset > cfg->kernel_size || ph->p_filesz > cfg->kernel_size - ph->p_offset ||
	    ph->p_filesz > ph->p_memsz) {
		snprintf(err, errlen,
			 "the kernel image is damaged: segment %u lies outside of the file", nr);
		return -ENOEXEC;
	}
	to = kvm_host_ptr(m, pa, ph->p_memsz);
	if (pa < KVM_BIOS_END || !to) {
		snprintf(err, errlen,
			 "the kernel image wants %llu KiB at %#llx: the guest has no memory there",
			 (unsigned long long)ph->p_memsz >> 10, (unsigned long long)pa);
		return -ENOMEM;
	}
	memcpy(to, (const uint8_t *)cfg->kernel + ph->p_offset, ph->p_filesz);
	return 0;
}

/* Physical addresses as linked, and where in the file all ends that the ELF headers tell of. */
struct extent {
	uint64_t start, end, file_end;
	bool entry; /* the entry point is in a segment */
};

static void extent_to(uint64_t *end, uint64_t offset, uint64_t size)
{
	if (offset + size >= offset && offset + size > *end)
		*end = offset + size;
}

static void extent_sections(const struct machine_config *cfg, const Elf64_Ehdr *eh,
			    struct extent *x)
{
	uint64_t size = (uint64_t)eh->e_shnum * sizeof(Elf64_Shdr);

	if (eh->e_shentsize != sizeof(Elf64_Shdr) || eh->e_shoff > cfg->kernel_size ||
	    size > cfg->kernel_size - eh->e_shoff)
		return;
	extent_to(&x->file_end, eh->e_shoff, size);
	for (unsigned int i = 0; i < eh->e_shnum; i++) {
		Elf64_Shdr sh;

		memcpy(&sh, (const uint8_t *)cfg->kernel + eh->e_shoff + i * sizeof(sh),
		       sizeof(sh));
		if (sh.sh_type != SHT_NOBITS)
			extent_to(&x->file_end, sh.sh_offset, sh.sh_size);
	}
}

static struct extent extent_of(const struct kvm_machine *m, const Elf64_Ehdr *eh)
{
	struct extent x = {.start = UINT64_MAX};
	unsigned int i = 0;
	Elf64_Phdr ph;

	extent_to(&x.file_end, eh->e_phoff, (uint64_t)eh->e_phnum * sizeof(ph));
	while (segment_next(m, eh, &i, &ph)) {
		if (ph.p_paddr < x.start)
			x.start = ph.p_paddr;
		extent_to(&x.end, ph.p_paddr, ph.p_memsz);
		extent_to(&x.file_end, ph.p_offset, ph.p_filesz);
		x.entry |= eh->e_entry - ph.p_paddr < ph.p_filesz;
	}
	extent_sections(&m->cfg, eh, &x);
	return x;
}

static int relocate(struct kvm_machine *m, const struct extent *x, char *err, size_t errlen)
{
	size_t size = m->cfg.kernel_size, from = x->file_end < size ? (size_t)x->file_end : size;

	return kvm_kaslr_relocate(m, x->end + m->kernel_moved,
				  (const uint8_t *)m->cfg.kernel + from, size - from, err, errlen);
}

static int segments_load(struct kvm_machine *m, const Elf64_Ehdr *eh, char *err, size_t errlen)
{
	unsigned int i = 0;
	Elf64_Phdr ph;
	int rc = 0;

	while (!rc && segment_next(m, eh, &i, &ph))
		rc = segment_load(m, &ph, i - 1, err, errlen);
	return rc;
}

int kvm_load_elf(struct kvm_machine *m, uint64_t *kernel_end, char *err, size_t errlen)
{
	struct extent x;
	Elf64_Ehdr eh;
	int rc = header_read(&m->cfg, &eh, err, errlen);

	if (rc)
		return rc;
	x = extent_of(m, &eh);
	m->kernel_slide = m->kernel_moved = 0;
	if (m->cfg.kaslr && x.entry)
		rc = kvm_kaslr_place(m, x.start, x.end, err, errlen);
	if (!rc)
		rc = segments_load(m, &eh, err, errlen);
	if (rc)
		return rc;
	if (!x.entry) {
		snprintf(err, errlen,
			 "the kernel image is damaged: its entry point %#llx is in no segment",
			 (unsigned long long)eh.e_entry);
		return -ENOEXEC;
	}
	m->entry = eh.e_entry + m->kernel_moved;
	m->kernel_pa = x.start + m->kernel_moved;
	*kernel_end = x.end + m->kernel_moved;
	return m->cfg.kaslr ? relocate(m, &x, err, errlen) : 0;
}
