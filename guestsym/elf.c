// SPDX-License-Identifier: GPL-2.0-or-later
/* elf.c - the ELF image: what it consists of, and the bytes behind a link address. */
#include "guestsym/internal.h"

#include <errno.h>
#include <gelf.h>
#include <libelf.h>
#include <stdlib.h>

/* A kernel has some 5 segments and 45 sections; a relocatable -ffunction-sections one is no image.
 */
#define MAX_SEGMENTS 64
#define MAX_SECTIONS 4096

static bool range_ok(uint64_t off, uint64_t size, uint64_t limit)
{
	return off <= limit && size <= limit - off;
}

static int truncated(const struct complaint *c, const char *what)
{
	return complain(c, -EINVAL, "is truncated or damaged: %s; copy or install it again", what);
}

static int check_header(const struct elf_image *e, Elf *elf, GElf_Ehdr *eh,
			const struct complaint *c)
{
	if (elf_kind(elf) != ELF_K_ELF || !gelf_getehdr(elf, eh))
		return truncated(c, "no complete ELF header");
	if (eh->e_ident[EI_CLASS] != ELFCLASS64 || eh->e_ident[EI_DATA] != ELFDATA2LSB ||
	    eh->e_machine != EM_X86_64)
		return complain(c, -EINVAL,
				"is an ELF file for another processor (machine %u, %s); "
				"hvtrace needs an x86-64 kernel",
				eh->e_machine,
				eh->e_ident[EI_CLASS] == ELFCLASS64 ? "64-bit" : "32-bit");
	if (eh->e_type != ET_EXEC && eh->e_type != ET_DYN)
		return complain(c, -EINVAL,
				"is an ELF file, but no linked kernel image (type %u); "
				"give a /boot/vmlinuz-* or a vmlinux",
				eh->e_type);
	if (!range_ok(eh->e_phoff, eh->e_phnum * sizeof(Elf64_Phdr), e->len))
		return truncated(c, "program headers are not in the file");
	if (eh->e_shoff && !range_ok(eh->e_shoff, eh->e_shnum * sizeof(Elf64_Shdr), e->len))
		return truncated(c, "section headers are not in the file");
	return 0;
}

static int read_segments(struct elf_image *e, Elf *elf, const struct complaint *c)
{
	size_t n;

	if (elf_getphdrnum(elf, &n))
		return truncated(c, "program headers are not in the file");
	if (!n || n > MAX_SEGMENTS)
		return complain(c, -EINVAL,
				"has %zu program headers, which no kernel image has; "
				"give a /boot/vmlinuz-* or a vmlinux",
				n);
	e->segs = calloc(n, sizeof(*e->segs));
	if (!e->segs)
		return complain(c, -ENOMEM, "no memory");
	for (size_t i = 0; i < n; i++) {
		GElf_Phdr ph;

		if (!gelf_getphdr(elf, i, &ph))
			return truncated(c, "program headers are not in the file");
		if (ph.p_type != PT_LOAD || !ph.p_memsz)
			continue;
		if (!range_ok(ph.p_offset, ph.p_filesz, e->len))
			return truncated(c, "a segment ends behind the end of the file");
		if (ph.p_filesz > ph.p_memsz || ph.p_vaddr + (ph.p_memsz - 1) < ph.p_vaddr ||
		    ph.p_paddr + ph.p_memsz < ph.p_paddr)
			return truncated(c, "a segment has an impossible size");
		e->segs[e->nr_segs++] = (struct elf_segment){
			.va = ph.p_vaddr,
			.pa = ph.p_paddr,
			.off = ph.p_offset,
			.filesz = ph.p_filesz,
			.memsz = ph.p_memsz,
			.exec = ph.p_flags & PF_X,
		};
	}
	return 0;
}

static int read_section(struct elf_image *e, Elf *elf, size_t index, size_t names,
			const struct complaint *c)
{
	Elf_Scn *scn = elf_getscn(elf, index);
	const char *name;
	GElf_Shdr sh;

	if (!scn || !gelf_getshdr(scn, &sh))
		return truncated(c, "section headers are not in the file");
	if (sh.sh_type != SHT_NULL && sh.sh_type != SHT_NOBITS &&
	    !range_ok(sh.sh_offset, sh.sh_size, e->len))
		return truncated(c, "a section ends behind the end of the file");
	/* libelf hands out a pointer into the image's string section. */
	name = names ? elf_strptr(elf, names, sh.sh_name) : NULL;
	e->secs[index] = (struct elf_section){
		.name = name && name >= (const char *)e->data &&
					name < (const char *)e->data + e->len
				? name
				: "",
		.addr = sh.sh_addr,
		.off = sh.sh_offset,
		.size = sh.sh_size,
		.flags = sh.sh_flags,
		.type = sh.sh_type,
		.link = sh.sh_link,
	};
	return 0;
}

static int read_sections(struct elf_image *e, Elf *elf, const struct complaint *c)
{
	size_t n, names = 0;
	int err;

	if (elf_getshdrnum(elf, &n))
		return truncated(c, "section headers are not in the file");
	if (n > MAX_SECTIONS)
		return complain(c, -EINVAL,
				"has %zu sections, which no kernel image has; "
				"give a /boot/vmlinuz-* or a vmlinux",
				n);
	if (!n)
		return 0;
	if (elf_getshdrstrndx(elf, &names))
		names = 0;
	e->secs = calloc(n, sizeof(*e->secs));
	if (!e->secs)
		return complain(c, -ENOMEM, "no memory");
	for (size_t i = 0; i < n; i++) {
		err = read_section(e, elf, i, names, c);
		if (err)
			return err;
		e->nr_secs++;
	}
	return 0;
}

int elf_image_init(struct elf_image *e, const uint8_t *data, size_t len, const struct complaint *c)
{
	GElf_Ehdr eh;
	Elf *elf;
	int err;

	*e = (struct elf_image){.data = data, .len = len};
	elf_version(EV_CURRENT);
	/* libelf only reads images that are opened this way, whatever its prototype says. */
	elf = elf_memory((char *)(uintptr_t)data, len);
	if (!elf)
		return truncated(c, "no complete ELF header");
	err = check_header(e, elf, &eh, c);
	if (!err)
		err = read_segments(e, elf, c);
	if (!err)
		err = read_sections(e, elf, c);
	elf_end(elf);
	if (err)
		elf_image_exit(e);
	return err;
}

void elf_image_exit(struct elf_image *e)
{
	free(e->segs);
	free(e->secs);
	*e = (struct elf_image){0};
}

const struct elf_section *elf_image_section(const struct elf_image *e, const char *name)
{
	for (size_t i = 1; i < e->nr_secs; i++)
		if (!strcmp(e->secs[i].name, name))
			return &e->secs[i];
	return NULL;
}

const uint8_t *elf_section_data(const struct elf_image *e, const struct elf_section *sec)
{
	if (!sec || sec->type == SHT_NULL || sec->type == SHT_NOBITS || !sec->size)
		return NULL;
	return e->data + sec->off;
}

static const struct elf_segment *segment_of(const struct elf_image *e, uint64_t va)
{
	for (size_t i = 0; i < e->nr_segs; i++)
		if (va >= e->segs[i].va && va - e->segs[i].va < e->segs[i].memsz)
			return &e->segs[i];
	return NULL;
}

const uint8_t *elf_image_at(const struct elf_image *e, uint64_t va, uint64_t len)
{
	const struct elf_segment *seg = segment_of(e, va);

	if (!seg || !range_ok(va - seg->va, len, seg->filesz))
		return NULL;
	return e->data + seg->off + (va - seg->va);
}

const char *elf_image_string(const struct elf_image *e, uint64_t va, size_t max)
{
	const struct elf_segment *seg = segment_of(e, va);
	uint64_t off, left;
	const char *p;

	if (!seg || va - seg->va >= seg->filesz)
		return NULL;
	off = va - seg->va;
	left = seg->filesz - off;
	p = (const char *)e->data + seg->off + off;
	return memchr(p, 0, left < max + 1 ? left : max + 1) ? p : NULL;
}

bool elf_image_is_text(const struct elf_image *e, uint64_t va)
{
	const struct elf_segment *seg = segment_of(e, va);

	return seg && seg->exec;
}

bool elf_image_holds(const struct elf_image *e, const void *bytes, size_t len)
{
	const struct elf_section *rodata = elf_image_section(e, ".rodata");
	const uint8_t *p = elf_section_data(e, rodata);

	if (p)
		return memmem(p, rodata->size, bytes, len);
	if (!e->data)
		return false;
	for (size_t i = 0; i < e->nr_segs; i++)
		if (memmem(e->data + e->segs[i].off, e->segs[i].filesz, bytes, len))
			return true;
	return false;
}

int elf_image_phys(const struct elf_image *e, uint64_t va, uint64_t *pa)
{
	const struct elf_segment *seg = segment_of(e, va);

	if (!seg)
		return -EFAULT;
	*pa = seg->pa + (va - seg->va);
	return 0;
}
