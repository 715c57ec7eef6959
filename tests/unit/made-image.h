/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * made-image.h - makes up small kernel images: an ELF file with two segments (text and data),
 * symbols as kallsyms tables of any layout from 5.10 to 7.0 or as .symtab, and a bzImage around it.
 */
#ifndef HVTRACE_TESTS_MADE_IMAGE_H
#define HVTRACE_TESTS_MADE_IMAGE_H

#include <elf.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MADE_BASE   UINT64_C(0xffffffff81000000)
#define MADE_PHYS   UINT64_C(0x1000000)
#define MADE_TEXT   0x2000 /* bytes of the text segment; data comes behind it */
#define MADE_SIZE   0x8000
#define MADE_OFFSET 0x1000 /* of the first segment in the file */
#define MADE_BANNER "Linux version 6.1.0-made (someone@somewhere) #1 SMP\n"

struct made_symbol {
	uint64_t addr;
	char type;
	const char *name;
};

struct made_section {
	const char *name;
	uint64_t addr;
	uint32_t off, size, type, link;
	uint64_t flags;
};

struct made_image {
	uint8_t mem[MADE_SIZE];
	size_t used;
	struct made_symbol syms[700];
	size_t nr_syms;
	struct made_section secs[12];
	size_t nr_secs;
};

/* --- memory and symbols ------------------------------------------------------------------ */

static inline uint8_t *made_at(struct made_image *m, uint64_t va)
{
	return m->mem + (va - MADE_BASE);
}

static inline void made_align(struct made_image *m, size_t align)
{
	m->used = (m->used + align - 1) / align * align;
}

/* Put bytes into the data segment: their address. */
static inline uint64_t made_put(struct made_image *m, const void *bytes, size_t len)
{
	uint64_t va = MADE_BASE + m->used;

	if (m->used + len > MADE_SIZE)
		abort();
	if (len)
		memcpy(m->mem + m->used, bytes, len);
	m->used += len;
	return va;
}

static inline uint64_t made_put32(struct made_image *m, uint32_t v)
{
	return made_put(m, &v, 4);
}

static inline uint64_t made_put64(struct made_image *m, uint64_t v)
{
	return made_put(m, &v, 8);
}

/* A 32-bit place-relative reference to va. */
static inline uint64_t made_put_rel(struct made_image *m, uint64_t va)
{
	return made_put32(m, (uint32_t)(va - (MADE_BASE + m->used)));
}

static inline void made_symbol(struct made_image *m, const char *name, char type, uint64_t addr)
{
	m->syms[m->nr_syms++] = (struct made_symbol){addr, type, name};
}

/* A symbol for the place where the next made_put() goes. */
static inline void made_label(struct made_image *m, const char *name, char type)
{
	made_symbol(m, name, type, MADE_BASE + m->used);
}

static inline void made_section(struct made_image *m, const char *name, uint64_t va, size_t size,
				uint32_t type, uint64_t flags)
{
	m->secs[m->nr_secs++] = (struct made_section){
		.name = name,
		.addr = va,
		.off = MADE_OFFSET + (va - MADE_BASE),
		.size = size,
		.type = type,
		.flags = flags,
	};
}

/* --- kallsyms ---------------------------------------------------------------------------- */

enum made_addresses { MADE_ABSOLUTE_PERCPU, MADE_BASED, MADE_PLACE };

struct made_layout {
	const char *name;
	unsigned int align;
	bool offsets_first; /* until 6.3 */
	bool seqs;
	bool big; /* two-byte lengths */
	enum made_addresses addresses;
};

static const struct made_layout made_layouts[] = {
	{"5.10", 8, true, false, false, MADE_ABSOLUTE_PERCPU},
	{"5.10 UP", 8, true, false, false, MADE_BASED},
	{"6.1", 8, true, false, true, MADE_ABSOLUTE_PERCPU},
	{"6.2", 8, true, true, true, MADE_ABSOLUTE_PERCPU},
	{"6.4", 8, false, true, true, MADE_ABSOLUTE_PERCPU},
	{"6.15", 8, false, true, true, MADE_BASED},
	{"7.0", 4, false, true, true, MADE_PLACE},
};

#define MADE_LAYOUTS (sizeof(made_layouts) / sizeof(made_layouts[0]))
#define MADE_DEBIAN  (&made_layouts[3])

/* Codes for more than one character; characters stand for themselves, the rest is unused. */
static const char *const made_tokens[] = {
	"trace_", "__start_", "__stop_", "Tsched_", "_a_very_long_token_of_the_table_",
};

static inline size_t made_encode(const struct made_symbol *sym, uint8_t *codes)
{
	char text[600];
	size_t n = 0;

	snprintf(text, sizeof(text), "%c%s", sym->type, sym->name);
	for (const char *p = text; *p;) {
		uint8_t code = *p;
		size_t len = 1;

		for (size_t i = 0; i < sizeof(made_tokens) / sizeof(made_tokens[0]); i++) {
			if (!strncmp(p, made_tokens[i], strlen(made_tokens[i]))) {
				code = 0x80 + i;
				len = strlen(made_tokens[i]);
			}
		}
		codes[n++] = code;
		p += len;
	}
	return n;
}

static inline int made_compare(const void *a, const void *b)
{
	const struct made_symbol *x = a, *y = b;

	return x->addr < y->addr ? -1 : x->addr > y->addr;
}

static inline void made_put_offsets(struct made_image *m, const struct made_layout *l)
{
	uint64_t base = MADE_BASE;

	made_align(m, l->align);
	for (size_t i = 0; i < m->nr_syms; i++) {
		uint64_t addr = m->syms[i].addr;

		if (l->addresses == MADE_PLACE)
			made_put_rel(m, addr);
		else if (l->addresses == MADE_ABSOLUTE_PERCPU && addr >= base)
			made_put32(m, (uint32_t)(base - 1 - addr));
		else
			made_put32(m, (uint32_t)(l->addresses == MADE_BASED ? addr - base : addr));
	}
	if (l->addresses == MADE_PLACE)
		return;
	made_align(m, 8);
	made_put64(m, base);
}

static inline void made_put_names(struct made_image *m, const struct made_layout *l)
{
	uint32_t markers[16] = {0};
	uint64_t start;

	made_align(m, l->align);
	made_put32(m, m->nr_syms);
	made_align(m, l->align);
	start = m->used;
	for (size_t i = 0; i < m->nr_syms; i++) {
		uint8_t codes[600];
		size_t n = made_encode(&m->syms[i], codes);
		uint8_t len[2] = {n, 0};

		if (i % 256 == 0)
			markers[i / 256] = m->used - start;
		if (l->big && n > 127) {
			len[0] = (n & 0x7f) | 0x80;
			len[1] = n >> 7;
		}
		made_put(m, len, l->big && n > 127 ? 2 : 1);
		made_put(m, codes, n);
	}
	made_align(m, l->align);
	made_put(m, markers, (m->nr_syms + 255) / 256 * 4);
}

static inline void made_put_seqs(struct made_image *m, const struct made_layout *l)
{
	made_align(m, l->align);
	for (size_t i = 0; i < m->nr_syms; i++)
		made_put(m, (uint8_t[3]){i >> 16, i >> 8, i}, 3);
}

static inline void made_put_tokens(struct made_image *m, const struct made_layout *l)
{
	uint16_t index[256];
	size_t start;

	made_align(m, l->align);
	start = m->used;
	for (int i = 0; i < 256; i++) {
		char text[64] = {0};

		if (i > ' ' && i < 0x7f)
			text[0] = i;
		else if (i >= 0x80 && i < 0x80 + (int)(sizeof(made_tokens) / sizeof(char *)))
			snprintf(text, sizeof(text), "%s", made_tokens[i - 0x80]);
		index[i] = m->used - start;
		made_put(m, text, strlen(text) + 1);
	}
	made_align(m, l->align);
	made_put(m, index, sizeof(index));
}

/* All symbols so far, as .rodata. */
static inline void made_kallsyms(struct made_image *m, const struct made_layout *l)
{
	uint64_t start;

	qsort(m->syms, m->nr_syms, sizeof(m->syms[0]), made_compare);
	made_align(m, 64);
	start = made_put(m, "something else that is read-only", 32);
	if (l->offsets_first)
		made_put_offsets(m, l);
	made_put_names(m, l);
	if (l->offsets_first && l->seqs)
		made_put_seqs(m, l);
	made_put_tokens(m, l);
	if (!l->offsets_first) {
		made_put_offsets(m, l);
		made_put_seqs(m, l);
	}
	made_section(m, ".rodata", start, MADE_BASE + m->used - start, SHT_PROGBITS, SHF_ALLOC);
}

/* --- .symtab ----------------------------------------------------------------------------- */

static inline void made_symtab(struct made_image *m)
{
	char names[4096] = {0};
	size_t names_len = 1;
	uint64_t va;

	made_align(m, 8);
	va = made_put(m, &(Elf64_Sym){0}, sizeof(Elf64_Sym));
	for (size_t i = 0; i < m->nr_syms; i++) {
		const struct made_symbol *s = &m->syms[i];
		bool weak = s->type == 'W' || s->type == 'V';
		bool object = s->type == 'V' || s->type == 'd' || s->type == 'D';
		Elf64_Sym sym = {
			.st_name = names_len,
			.st_info = ELF64_ST_INFO(weak		  ? STB_WEAK
						 : s->type >= 'a' ? STB_LOCAL
								  : STB_GLOBAL,
						 object ? STT_OBJECT : STT_FUNC),
			.st_value = s->addr,
			.st_shndx = s->addr < MADE_BASE		      ? 3
				    : s->addr < MADE_BASE + MADE_TEXT ? 1
								      : 2,
		};

		names_len += snprintf(names + names_len, sizeof(names) - names_len, "%s", s->name);
		names_len++;
		made_put(m, &sym, sizeof(sym));
	}
	made_section(m, ".symtab", va, MADE_BASE + m->used - va, SHT_SYMTAB, 0);
	/* Sections are numbered from 1 in the file. */
	m->secs[m->nr_secs - 1].link = m->nr_secs + 1;
	va = made_put(m, names, names_len);
	made_section(m, ".strtab", va, names_len, SHT_STRTAB, 0);
}

/* --- files ------------------------------------------------------------------------------- */

/* Sections 1 and 2 are .text and .data; of symbols below them .symtab says section 3. */
static inline void made_init(struct made_image *m)
{
	memset(m, 0, sizeof(*m));
	m->used = MADE_TEXT;
	memset(m->mem, 0xcc, MADE_TEXT);
	made_section(m, ".text", MADE_BASE, MADE_TEXT, SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR);
	made_section(m, ".data", MADE_BASE + MADE_TEXT, MADE_SIZE - MADE_TEXT, SHT_PROGBITS,
		     SHF_ALLOC | SHF_WRITE);
	made_symbol(m, "_stext", 'T', MADE_BASE);
	made_symbol(m, "_end", 'B', MADE_BASE + MADE_SIZE);
	made_label(m, "linux_banner", 'D');
	made_put(m, MADE_BANNER, sizeof(MADE_BANNER));
	made_align(m, 8);
}

/* Functions for made_mcount() to be called once they are all there. */
static inline uint64_t made_function(struct made_image *m, const char *name, uint64_t off,
				     const void *code, size_t len)
{
	made_symbol(m, name, 'T', MADE_BASE + off);
	memcpy(m->mem + off, code, len);
	return MADE_BASE + off;
}

static inline void made_mcount(struct made_image *m, const uint64_t *sites, size_t n)
{
	made_align(m, 8);
	made_label(m, "__start_mcount_loc", 'D');
	made_put(m, sites, n * sizeof(*sites));
	made_label(m, "__stop_mcount_loc", 'D');
}

static inline Elf64_Phdr made_segment(uint64_t off, size_t size, uint32_t flags)
{
	return (Elf64_Phdr){
		.p_type = PT_LOAD,
		.p_flags = flags,
		.p_offset = MADE_OFFSET + off,
		.p_vaddr = MADE_BASE + off,
		.p_paddr = MADE_PHYS + off,
		.p_filesz = size,
		.p_memsz = size,
		.p_align = 4096,
	};
}

static inline Elf64_Shdr made_shdr(const struct made_section *s, uint32_t name)
{
	return (Elf64_Shdr){
		.sh_name = name,
		.sh_type = s->type,
		.sh_flags = s->flags,
		.sh_addr = s->flags & SHF_ALLOC ? s->addr : 0,
		.sh_offset = s->off,
		.sh_size = s->size,
		.sh_link = s->link,
		.sh_entsize = s->type == SHT_SYMTAB ? sizeof(Elf64_Sym) : 0,
	};
}

/* The image as an ELF file, in memory of its own. */
static inline uint8_t *made_elf(const struct made_image *m, size_t *len)
{
	size_t names_off = MADE_OFFSET + MADE_SIZE, names_len = 1, nr = m->nr_secs + 2;
	char names[512] = {0};
	Elf64_Shdr sh[16] = {0};
	Elf64_Phdr ph[2] = {made_segment(0, MADE_TEXT, PF_R | PF_X),
			    made_segment(MADE_TEXT, MADE_SIZE - MADE_TEXT, PF_R | PF_W)};
	Elf64_Ehdr eh = {
		.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
		.e_type = ET_EXEC,
		.e_machine = EM_X86_64,
		.e_version = EV_CURRENT,
		.e_entry = MADE_PHYS,
		.e_phoff = sizeof(eh),
		.e_shoff = names_off + sizeof(names),
		.e_ehsize = sizeof(eh),
		.e_phentsize = sizeof(ph[0]),
		.e_phnum = 2,
		.e_shentsize = sizeof(sh[0]),
		.e_shnum = nr,
		.e_shstrndx = nr - 1,
	};
	uint8_t *file;

	for (size_t i = 0; i < m->nr_secs; i++) {
		sh[i + 1] = made_shdr(&m->secs[i], names_len);
		names_len += snprintf(names + names_len, sizeof(names) - names_len, "%s",
				      m->secs[i].name) +
			     1;
	}
	sh[nr - 1] = (Elf64_Shdr){
		.sh_type = SHT_STRTAB, .sh_offset = names_off, .sh_size = sizeof(names)};
	*len = eh.e_shoff + nr * sizeof(sh[0]);
	file = calloc(1, *len);
	if (!file)
		abort();
	memcpy(file, &eh, sizeof(eh));
	memcpy(file + sizeof(eh), ph, sizeof(ph));
	memcpy(file + MADE_OFFSET, m->mem, MADE_SIZE);
	memcpy(file + names_off, names, sizeof(names));
	memcpy(file + eh.e_shoff, sh, nr * sizeof(sh[0]));
	return file;
}

/* A bzImage around a payload; the unpacked size is appended as the kernel build does it. */
static inline uint8_t *made_bzimage(const uint8_t *payload, size_t payload_len, uint32_t unpacked,
				    size_t *len)
{
	const size_t setup = 2 * 512;
	uint32_t off = 0x40, size = payload_len + 4;
	uint8_t *file = calloc(1, setup + off + size);

	if (!file)
		abort();
	*len = setup + off + size;
	file[0x1f1] = 1;
	memcpy(file + 0x1fe, &(uint16_t){0xaa55}, 2);
	memcpy(file + 0x202, &(uint32_t){0x53726448}, 4); /* HdrS */
	memcpy(file + 0x206, &(uint16_t){0x020f}, 2);
	file[0x236] = 1;
	memcpy(file + 0x248, &off, 4);
	memcpy(file + 0x24c, &size, 4);
	memcpy(file + setup + off, payload, payload_len);
	memcpy(file + setup + off + payload_len, &unpacked, 4);
	return file;
}

/* A kernel with two traceable functions, for tests that are about something else. */
static inline uint8_t *made_kernel(struct made_image *m, const struct made_layout *l, size_t *len)
{
	static const uint8_t call[5] = {0xe8};
	uint64_t sites[2];

	sites[0] = made_function(m, "do_one", 0x100, call, sizeof(call));
	sites[1] = made_function(m, "do_two", 0x200, call, sizeof(call));
	made_mcount(m, sites, 2);
	made_kallsyms(m, l);
	return made_elf(m, len);
}

#endif
