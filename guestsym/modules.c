// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * modules.c - makes symbols and fentry sites of what modules-copy.c has copied of a guest's
 * modules. A module that makes no sense has none.
 */
#include "guestsym/modules.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>

/* --- symbols ----------------------------------------------------------------------------- */

/* One address: in the order of the symbol table, which is that of its strings. */
static int compare_symbols(const void *a, const void *b)
{
	const struct guestsym_symbol *x = a, *y = b;

	if (x->addr != y->addr)
		return x->addr < y->addr ? -1 : 1;
	return x->name < y->name ? -1 : x->name > y->name;
}

/*
 * The name of symbol i, NULL for one that the kernel passes over: find_kallsyms_symbol() of
 * kernel/module/kallsyms.c. *len is what the kernel shows of it.
 */
static const char *symbol_name(const struct module_copy *c, uint32_t i, Elf64_Sym *sym, size_t *len)
{
	const char *name;

	memcpy(sym, c->symtab + i * sizeof(*sym), sizeof(*sym));
	if (sym->st_shndx == SHN_UNDEF || sym->st_name >= c->strings_len)
		return NULL;
	name = c->strings + sym->st_name;
	*len = strnlen(name, SYMBOL_NAME_MAX);
	if (!name[0] || !strncmp(name, ".L", 2))
		return NULL;
	return name_is_plain(name, *len) ? name : NULL;
}

/* Bytes that all names take. */
static uint64_t names_size(const struct module_copy *c)
{
	uint64_t size = 0;
	Elf64_Sym sym;
	size_t len;

	for (uint32_t i = 0; i < c->facts.num_symtab && size <= MODULES_NAMES; i++)
		if (symbol_name(c, i, &sym, &len))
			size += len + 1;
	return size;
}

/* Names may overlap in the module's strings, and be longer than any name is. */
static int load_symbols(struct guestsym_module_memory *m, const struct module_copy *c,
			uint64_t *names)
{
	struct symbols *s = &m->symbols;
	int err;
	char *to;

	m->names_len = names_size(c);
	err = module_spend(names, m->names_len);
	if (err)
		return err;
	to = symbols_alloc(s, c->facts.num_symtab, m->names_len);
	if (!to)
		return -ENOMEM;
	s->n = 0;
	for (uint32_t i = 0; i < c->facts.num_symtab; i++) {
		Elf64_Sym sym;
		size_t len;
		const char *name = symbol_name(c, i, &sym, &len);

		if (!name)
			continue;
		memcpy(to, name, len); /* the memory is zeroed */
		s->v[s->n++] = (struct guestsym_symbol){sym.st_value, to, (char)c->types[i]};
		to += len + 1;
	}
	qsort(s->v, s->n, sizeof(*s->v), compare_symbols);
	return symbols_index(s);
}

/* --- sites ------------------------------------------------------------------------------- */

/* Init code has sites as well, and is gone, or about to be. */
static int load_sites(struct fentry *f, const struct module_copy *c, const struct symbols *s)
{
	uint32_t n = c->facts.num_sites;

	if (fentry_alloc(f, n ? n : 1))
		return -ENOMEM;
	for (uint32_t i = 0; i < n; i++) {
		uint64_t addr = get_u64(c->sites + 8 * (size_t)i);

		if (addr >= s->start && addr < s->end)
			f->v[f->n++].addr = addr;
	}
	return 0;
}

/* What the sites hold is in the text, a small image of its own. */
static int resolve_sites(struct fentry *f, const struct module_copy *c, const struct symbols *s,
			 const struct fentry_rule *rule)
{
	struct elf_segment seg = {.va = s->start,
				  .filesz = c->facts.text_size,
				  .memsz = c->facts.text_size,
				  .exec = true};
	const struct elf_image e = {
		.data = c->text, .len = c->facts.text_size, .segs = &seg, .nr_segs = 1};

	return fentry_resolve(f, &e, s, rule);
}

/* --- modules ----------------------------------------------------------------------------- */

void module_memory_put(struct guestsym_module_memory *m)
{
	if (!m || __atomic_sub_fetch(&m->refs, 1, __ATOMIC_ACQ_REL))
		return;
	fentry_exit(&m->fentry);
	symbols_exit(&m->symbols);
	free(m);
}

static int parse_contents(struct guestsym_module_memory *m, const struct module_copy *c,
			  const struct fentry_rule *rule, uint64_t *names)
{
	struct symbols *s = &m->symbols;
	int err;

	s->start = c->facts.text;
	s->end = s->start + c->facts.text_size;
	if (!c->whole)
		return 0;
	err = load_symbols(m, c, names);
	if (!err)
		err = load_sites(&m->fentry, c, s);
	if (!err && m->fentry.n)
		err = resolve_sites(&m->fentry, c, s, rule);
	m->whole = !err;
	return err;
}

/* With a reference for the caller. */
static int parse_module(struct module_copy *c, const struct fentry_rule *rule, uint64_t *names,
			struct guestsym_module_memory **memory)
{
	struct guestsym_module_memory *m = c->known;
	int err;

	*memory = NULL;
	if (m) {
		err = module_spend(names, m->names_len);
		if (err)
			return err;
		c->known = NULL; /* its reference becomes the module's */
		*memory = m;
		return 0;
	}
	m = calloc(1, sizeof(*m));
	if (!m)
		return -ENOMEM;
	m->refs = 1;
	m->facts = c->facts;
	err = parse_contents(m, c, rule, names);
	if (err)
		module_memory_put(m);
	else
		*memory = m;
	return err;
}

static struct guestsym_module publish(const struct module_copy *c, struct guestsym_module_memory *m)
{
	/* Of one that makes no sense the text may be anywhere. */
	return (struct guestsym_module){
		.addr = m->facts.addr,
		.name = m->facts.name,
		.state = c->state,
		.text = {m->whole ? m->symbols.start : 0, m->whole ? m->symbols.end : 0},
		.syms = m->symbols.v,
		.nr_syms = m->symbols.n,
		.sites = m->fentry.v,
		.nr_sites = m->fentry.n,
		.memory = m,
	};
}

int guestsym_modules_parse(struct guestsym_module_copies *copies, struct guestsym_module **mods,
			   size_t *n)
{
	uint64_t names = MODULES_NAMES;
	int err = 0;

	*n = 0;
	*mods = calloc(copies->n + 1, sizeof(**mods));
	if (!*mods)
		err = -ENOMEM;
	for (size_t i = 0; i < copies->n && !err; i++) {
		struct guestsym_module_memory *m;

		err = parse_module(&copies->v[i], &copies->rule, &names, &m);
		if (!err)
			(*mods)[(*n)++] = publish(&copies->v[i], m);
	}
	guestsym_modules_copies_free(copies);
	if (err) {
		guestsym_modules_free(*mods, *n);
		*mods = NULL;
		*n = 0;
	}
	return err;
}

void guestsym_modules_free(struct guestsym_module *mods, size_t n)
{
	for (size_t i = 0; i < n; i++)
		module_memory_put(mods[i].memory);
	free(mods);
}
