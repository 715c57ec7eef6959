// SPDX-License-Identifier: GPL-2.0-or-later
/* load.c - puts the segments of an x86-64 ELF image where its program headers want them. */
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

/* RAM is zeroed, so there is nothing to do for what the file does not fill. */
static int segment_load(struct kvm_machine *m, const Elf64_Phdr *ph, unsigned int nr, char *err,
			size_t errlen)
{
	const struct machine_config *cfg = &m->cfg;
	void *to;

	if (ph->p_offset > cfg->kernel_size || ph->p_filesz > cfg->kernel_size - ph->p_offset ||
	    ph->p_filesz > ph->p_memsz) {
		snprintf(err, errlen,
			 "the kernel image is damaged: segment %u lies outside of the file", nr);
		return -ENOEXEC;
	}
	to = kvm_host_ptr(m, ph->p_paddr, ph->p_memsz);
	if (ph->p_paddr < KVM_BIOS_END || !to) {
		snprintf(err, errlen,
			 "the kernel image wants %llu KiB at %#llx: the guest has no memory there",
			 (unsigned long long)ph->p_memsz >> 10, (unsigned long long)ph->p_paddr);
		return -ENOMEM;
	}
	memcpy(to, (const uint8_t *)cfg->kernel + ph->p_offset, ph->p_filesz);
	return 0;
}

int kvm_load_elf(struct kvm_machine *m, uint64_t *kernel_end, char *err, size_t errlen)
{
	bool entry_loaded = false;
	Elf64_Ehdr eh;
	int rc = header_read(&m->cfg, &eh, err, errlen);

	if (rc)
		return rc;
	m->entry = eh.e_entry;
	m->kernel_pa = UINT64_MAX;
	*kernel_end = 0;
	for (unsigned int i = 0; i < eh.e_phnum; i++) {
		Elf64_Phdr ph;

		memcpy(&ph, (const uint8_t *)m->cfg.kernel + eh.e_phoff + i * sizeof(ph),
		       sizeof(ph));
		if (ph.p_type != PT_LOAD || !ph.p_memsz)
			continue;
		rc = segment_load(m, &ph, i, err, errlen);
		if (rc)
			return rc;
		if (ph.p_paddr < m->kernel_pa)
			m->kernel_pa = ph.p_paddr;
		if (ph.p_paddr + ph.p_memsz > *kernel_end)
			*kernel_end = ph.p_paddr + ph.p_memsz;
		if (eh.e_entry - ph.p_paddr < ph.p_filesz)
			entry_loaded = true;
	}
	if (entry_loaded)
		return 0;
	snprintf(err, errlen, "the kernel image is damaged: its entry point %#llx is in no segment",
		 (unsigned long long)eh.e_entry);
	return -ENOEXEC;
}
