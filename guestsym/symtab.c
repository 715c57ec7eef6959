// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * symtab.c - the ELF symbol table of an image that was not stripped, in the form of kallsyms.
 *
 * What is left out and how symbols of one address are ordered follows scripts/kallsyms.c and
 * scripts/mksysmap of the kernel, the type letters follow nm(1), from which the kernel has them.
 */
#include "guestsym/internal.h"

#include <ctype.h>
#include <elf.h>
#include <errno.h>
#include <stdlib.h>

struct entry {
	struct guestsym_symbol sym;
	uint8_t rank; /* among symbols of one address */
};

/* --- which symbols ----------------------------------------------------------------------- */

static bool has_prefix(const char *s, const char *prefix)
{
	return !strncmp(s, prefix, strlen(prefix));
}

static bool is_ignored(const char *name)
{
	static const char *const prefixes[] = {
		"$", ".L", "__crc_", "__kstrtab_", "__kstrtabns_", "__kcfi_typeid_", "L0",
	};
	static const char *const tables[] = {
		"kallsyms_addresses",	"kallsyms_offsets",	"kallsyms_relative_base",
		"kallsyms_num_syms",	"kallsyms_names",	"kallsyms_markers",
		"kallsyms_token_table", "kallsyms_token_index", "kallsyms_seqs_of_names",
	};

	for (size_t i = 0; i < ARRAY_SIZE(prefixes); i++)
		if (has_prefix(name, prefixes[i]))
			return true;
	for (size_t i = 0; i < ARRAY_SIZE(tables); i++)
		if (!strcmp(name, tables[i]))
			return true;
	return !name[0];
}

/* nm's letter for what a section holds; an empty one may have lost its flags. */
static char section_letter(const struct elf_section *sec)
{
	if (!(sec->flags & SHF_ALLOC))
		return sec->addr ? '?' : 0;
	if (sec->flags & SHF_EXECINSTR)
		return 't';
	if (sec->type == SHT_NOBITS)
		return 'b';
	return sec->flags & SHF_WRITE ? 'd' : 'r';
}

/* The symbol's letter, or 0 for one that the kernel would not list. */
static char symbol_letter(const struct elf_image *e, const Elf64_Sym *sym)
{
	unsigned int type = ELF64_ST_TYPE(sym->st_info), bind = ELF64_ST_BIND(sym->st_info);
	const struct elf_section *sec;
	char letter;

	if (type == STT_SECTION || type == STT_FILE || sym->st_shndx == SHN_UNDEF ||
	    sym->st_shndx >= SHN_LORESERVE || sym->st_shndx >= e->nr_secs)
		return 0;
	sec = &e->secs[sym->st_shndx];
	letter = section_letter(sec);
	if (letter && bind == STB_WEAK)
		return type == STT_OBJECT ? 'V' : 'W';
	/* Zero-based per-CPU variables are offsets (kallsyms --absolute-percpu). */
	if (sym->st_value < KERNEL_MAP && !strcmp(sec->name, ".data..percpu"))
		return 'A';
	return bind == STB_LOCAL ? letter : toupper(letter);
}

/* --- their order ------------------------------------------------------------------------- */

static bool is_linker_provided(const char *name)
{
	size_t len = strlen(name);

	if (len < 8 || !has_prefix(name, "__"))
		return false;
	return has_prefix(name + 2, "start_") || has_prefix(name + 2, "stop_") ||
	       has_prefix(name + 2, "end_") || !strcmp(name + len - 6, "_start") ||
	       !strcmp(name + len - 4, "_end");
}

static uint8_t symbol_rank(const struct guestsym_symbol *sym)
{
	size_t underscores = strspn(sym->name, "_");

	return (sym->type == 'W') << 7 | is_linker_provided(sym->name) << 6 |
	       (underscores < 63 ? underscores : 63);
}

static int compare_entries(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	if (x->sym.addr != y->sym.addr)
		return x->sym.addr < y->sym.addr ? -1 : 1;
	if (x->rank != y->rank)
		return x->rank < y->rank ? -1 : 1;
	/* scripts/kallsyms.c leaves them in the order that nm -n gives them */
	return strcmp(x->sym.name, y->sym.name);
}

/* --- reading ----------------------------------------------------------------------------- */

/* The kernel's own build leaves out names that are too long, scripts/kallsyms.c with a warning. */
static bool is_too_long(const char *name)
{
	return strnlen(name, SYMBOL_NAME_MAX + 1) > SYMBOL_NAME_MAX;
}

static size_t load_entries(const struct elf_image *e, const struct elf_section *tab,
			   const struct elf_section *str, struct entry *v)
{
	const char *names = (const char *)elf_section_data(e, str);
	const uint8_t *p = elf_section_data(e, tab);
	size_t n = 0;

	for (uint64_t i = 0; i < tab->size / sizeof(Elf64_Sym); i++) {
		const char *name;
		Elf64_Sym sym;
		char letter;

		memcpy(&sym, p + i * sizeof(sym), sizeof(sym));
		if (sym.st_name >= str->size)
			continue;
		name = names + sym.st_name;
		letter = symbol_letter(e, &sym);
		if (!letter || is_ignored(name) || is_too_long(name))
			continue;
		v[n] = (struct entry){.sym = {sym.st_value, name, letter}};
		v[n].rank = symbol_rank(&v[n].sym);
		n++;
	}
	return n;
}

/* Names may overlap, so that all of them are longer than the section: sorting compares them. */
static bool names_fit(const struct entry *v, size_t n)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < n && sum <= IMAGE_NAMES_MAX; i++)
		sum += strlen(v[i].sym.name) + 1;
	return sum <= IMAGE_NAMES_MAX;
}

static const struct elf_section *find_symtab(const struct elf_image *e)
{
	for (size_t i = 1; i < e->nr_secs; i++)
		if (e->secs[i].type == SHT_SYMTAB && e->secs[i].link < e->nr_secs)
			return &e->secs[i];
	return NULL;
}

int symtab_read(const struct elf_image *e, struct symbols *s)
{
	const struct elf_section *tab = find_symtab(e);
	const struct elf_section *str = tab ? &e->secs[tab->link] : NULL;
	const uint8_t *names = str ? elf_section_data(e, str) : NULL;
	struct entry *v;
	int err = 0;
	size_t n;

	/* Names end with a NUL each, the last one with the section's. */
	if (!names || !elf_section_data(e, tab) || names[str->size - 1])
		return -ENOENT;
	if (tab->size / sizeof(Elf64_Sym) > IMAGE_SYMBOLS_MAX)
		return -E2BIG;
	v = calloc(tab->size / sizeof(Elf64_Sym) + 1, sizeof(*v));
	if (!v)
		return -ENOMEM;
	n = load_entries(e, tab, str, v);
	if (!names_fit(v, n)) {
		free(v);
		return -E2BIG;
	}
	qsort(v, n, sizeof(*v), compare_entries);
	if (!n)
		err = -ENOENT;
	else if (!symbols_alloc(s, n, 0))
		err = -ENOMEM;
	for (size_t i = 0; !err && i < n; i++)
		s->v[i] = v[i].sym;
	free(v);
	return err;
}
