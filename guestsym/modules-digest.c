// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * modules-digest.c - makes symbols and fentry sites of what modules-copy.c has copied of a guest's
 * modules.
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

/* As kallsyms has for what kind of symbol it is; it is printed. */
static bool is_letter(uint8_t type)
{
	return type > ' ' && type <= '~';
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
	if (!name[0] || !strncmp(name, ".L", 2) || !is_letter(c->types[i]))
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
static int load_symbols(struct symbols *s, const struct module_copy *c, uint64_t *names)
{
	uint64_t names_len = names_size(c);
	int err = module_spend(names, names_len);
	char *to;

	if (err)
		return err;
	to = symbols_alloc(s, c->facts.num_symtab, names_len);
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
static int load_sites(struct fentry *f, const struct module_copy *c)
{
	uint32_t n = c->facts.num_sites;

	if (fentry_alloc(f, n ? n : 1))
		return -ENOMEM;
	for (uint32_t i = 0; i < n; i++) {
		uint64_t addr = get_u64(c->sites + 8 * (size_t)i);

		if (module_has_site(&c->facts, addr))
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

/* --- digests ----------------------------------------------------------------------------- */

static int parse(struct kernel *k, const struct module_copy *c, const struct fentry_rule *rule,
		 uint64_t *names)
{
	int err;

	k->symbols.start = c->facts.text;
	k->symbols.end = c->facts.text + c->facts.text_size;
	err = load_symbols(&k->symbols, c, names);
	if (!err)
		err = load_sites(&k->fentry, c);
	if (!err && k->fentry.n)
		err = resolve_sites(&k->fentry, c, &k->symbols, rule);
	return err;
}

static int append(struct blob *to, const struct blob *digest)
{
	const uint64_t len = digest->len;
	uint8_t *grown = realloc(to->map, to->len + sizeof(len) + len);

	if (!grown)
		return -ENOMEM;
	memcpy(grown + to->len, &len, sizeof(len));
	memcpy(grown + to->len + sizeof(len), digest->data, len);
	to->map = grown;
	to->data = grown;
	to->len += sizeof(len) + len;
	return 0;
}

static int digest_one(const struct module_copy *c, const struct fentry_rule *rule, uint64_t *names,
		      struct blob *digests)
{
	struct kernel k = {0};
	struct blob digest = {0};
	int err = parse(&k, c, rule, names);

	if (!err)
		err = digest_make(&digest, &k);
	if (!err)
		err = append(digests, &digest);
	blob_free(&digest);
	kernel_exit(&k);
	return err;
}

int modules_digest(const struct guestsym_module_copies *copies, struct blob *digests)
{
	uint64_t names = MODULES_NAMES;
	int err = 0;

	*digests = (struct blob){0};
	for (size_t i = 0; i < copies->n && !err; i++)
		if (copies->v[i].whole && !copies->v[i].known)
			err = digest_one(&copies->v[i], &copies->rule, &names, digests);
	if (err)
		blob_free(digests);
	return err;
}
