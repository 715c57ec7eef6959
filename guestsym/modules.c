// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * modules.c - the modules of a kernel that runs: the `modules` list, and of each module the
 * symbols and fentry sites that the kernel keeps for itself.
 *
 * All of it is guest memory. Every length that it gives is bounded, and so is the sum of them; a
 * module that makes no sense has no symbols and sites.
 */
#include "guestsym/internal.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>

#define PAGE UINT64_C(0x1000)

#define MODULES_MAX  4096
#define STRUCT_MAX   16384
#define NAME_MAX_LEN 56 /* MODULE_NAME_LEN */
#define STRINGS_MAX  (UINT32_C(32) << 20)
#define TEXT_MAX     (UINT64_C(64) << 20)
/*
 * For all of them together: bytes to be read, symbols, bytes of their names, sites. Some hundred
 * modules have some 10 MB, and 100 thousand symbols. Pages that lie at many addresses cost a guest
 * nothing, and tables in them are as long as they say.
 */
#define BYTES_BUDGET   (UINT64_C(256) << 20)
#define SYMBOLS_BUDGET (1 << 20)
#define NAMES_BUDGET   (UINT64_C(64) << 20)
#define SITES_BUDGET   (1 << 20)

/* enum module_state of include/linux/module.h, the same since 3.8 */
enum { STATE_LIVE, STATE_COMING, STATE_GOING, STATE_UNFORMED };

/* Where the members of struct module are. */
struct layout {
	uint32_t size;
	struct guestsym_field list, name, state, text, text_size;
	struct guestsym_field symtab, num_symtab, strtab, typetab, sites, num_sites;
};

struct guestsym_module_memory {
	struct symbols symbols;
	struct fentry fentry;
	char name[NAME_MAX_LEN + 1];
};

struct walk {
	const struct guestsym_memory *mem;
	struct layout at;
	struct fentry_rule rule;
	uint64_t bytes, symbols, names, sites; /* what is left of the budgets */
	uint8_t raw[STRUCT_MAX];	       /* the struct module that is being looked at */
};

/* --- struct module ----------------------------------------------------------------------- */

/* Until 6.3 core_layout, then mem[], whose first is MOD_TEXT. */
static int learn_text(struct layout *at, struct types *t)
{
	struct guestsym_field mem;
	int err = types_field(t, "module.mem", &mem);

	if (err == -ENOENT) {
		err = types_field(t, "module.core_layout.base", &at->text);
		return err ? err : types_field(t, "module.core_layout.text_size", &at->text_size);
	}
	if (!err)
		err = types_field(t, "module_memory.base", &at->text);
	if (!err)
		err = types_field(t, "module_memory.size", &at->text_size);
	if (!err && mem.offset > STRUCT_MAX)
		err = -EINVAL;
	if (!err) {
		at->text.offset += mem.offset;
		at->text_size.offset += mem.offset;
	}
	return err;
}

/*
 * core_kallsyms is what stays once the module's init code has run; it is complete before the
 * module is COMING (kernel/module/kallsyms.c: add_kallsyms()).
 */
static int learn_layout(struct layout *at, struct types *t)
{
	const struct {
		const char *path;
		struct guestsym_field *f;
		uint32_t size; /* 0: any */
	} fields[] = {
		{"module.list", &at->list, 16},
		{"module.name", &at->name, 0},
		{"module.state", &at->state, 4},
		{NULL, &at->text, 8},
		{NULL, &at->text_size, 4},
		{"module.core_kallsyms.symtab", &at->symtab, 8},
		{"module.core_kallsyms.num_symtab", &at->num_symtab, 4},
		{"module.core_kallsyms.strtab", &at->strtab, 8},
		{"module.core_kallsyms.typetab", &at->typetab, 8},
		{"module.ftrace_callsites", &at->sites, 8},
		{"module.num_ftrace_callsites", &at->num_sites, 4},
	};
	int err = types_size(t, "module", &at->size);

	if (!err && at->size > STRUCT_MAX)
		err = -EINVAL;
	if (!err)
		err = learn_text(at, t);
	for (size_t i = 0; i < ARRAY_SIZE(fields) && !err; i++) {
		if (fields[i].path)
			err = types_field(t, fields[i].path, fields[i].f);
		if (!err && !field_fits(fields[i].f, fields[i].size, at->size))
			err = -EINVAL;
	}
	return err;
}

static uint64_t member_u64(const struct walk *w, const struct guestsym_field *f)
{
	return get_u64(w->raw + f->offset);
}

static uint32_t member_u32(const struct walk *w, const struct guestsym_field *f)
{
	return get_u32(w->raw + f->offset);
}

/* --- reading ----------------------------------------------------------------------------- */

static int spend(uint64_t *budget, uint64_t n)
{
	if (n > *budget)
		return -E2BIG;
	*budget -= n;
	return 0;
}

static int walk_read(struct walk *w, uint64_t va, void *buf, size_t len)
{
	int err = spend(&w->bytes, len);

	return err ? err : w->mem->read(w->mem->arg, va, buf, len);
}

/* The same in memory of our own, to be freed; at least one byte. */
static int walk_read_new(struct walk *w, uint64_t va, size_t len, uint8_t **buf)
{
	int err;

	*buf = malloc(len ? len : 1);
	if (!*buf)
		return -ENOMEM;
	err = len ? walk_read(w, va, *buf, len) : 0;
	if (err) {
		free(*buf);
		*buf = NULL;
	}
	return err;
}

/* As much as is mapped of len bytes; zeros follow. */
static void walk_read_some(struct walk *w, uint64_t va, char *buf, size_t len)
{
	while (len) {
		size_t part = PAGE - va % PAGE;

		if (part > len)
			part = len;
		if (walk_read(w, va, buf, part)) {
			memset(buf, 0, len);
			return;
		}
		va += part;
		buf += part;
		len -= part;
	}
}

/* --- symbols ----------------------------------------------------------------------------- */

/* One address: in the order of the symbol table, which is that of its strings. */
static int compare_symbols(const void *a, const void *b)
{
	const struct guestsym_symbol *x = a, *y = b;

	if (x->addr != y->addr)
		return x->addr < y->addr ? -1 : 1;
	return x->name < y->name ? -1 : x->name > y->name;
}

/* A module's tables, copied. */
struct tables_copy {
	uint8_t *symtab, *types;
	uint32_t n;
	char *strings; /* behind which there is a NUL */
	uint32_t strings_len;
};

/*
 * The name of symbol i, NULL for one that the kernel passes over: find_kallsyms_symbol() of
 * kernel/module/kallsyms.c. *len is what the kernel shows of it.
 */
static const char *symbol_name(const struct tables_copy *t, uint32_t i, Elf64_Sym *sym, size_t *len)
{
	const char *name;

	memcpy(sym, t->symtab + i * sizeof(*sym), sizeof(*sym));
	if (sym->st_shndx == SHN_UNDEF || sym->st_name >= t->strings_len)
		return NULL;
	name = t->strings + sym->st_name;
	*len = strnlen(name, SYMBOL_NAME_MAX);
	return name[0] && strncmp(name, ".L", 2) != 0 ? name : NULL;
}

/* Bytes that all names take. */
static int names_size(struct walk *w, const struct tables_copy *t, uint64_t *size)
{
	Elf64_Sym sym;
	int err = 0;
	size_t len;

	*size = 0;
	for (uint32_t i = 0; i < t->n && !err; i++) {
		if (!symbol_name(t, i, &sym, &len))
			continue;
		err = spend(&w->names, len + 1);
		*size += len + 1;
	}
	return err;
}

/* Names may overlap in the module's strings, and be longer than any name is. */
static int load_symbols(struct walk *w, struct symbols *s, const struct tables_copy *t)
{
	uint64_t size;
	int err = names_size(w, t, &size);
	char *to = err ? NULL : symbols_alloc(s, t->n, size);

	if (!to)
		return err ? err : -ENOMEM;
	s->n = 0;
	for (uint32_t i = 0; i < t->n; i++) {
		Elf64_Sym sym;
		size_t len;
		const char *name = symbol_name(t, i, &sym, &len);

		if (!name)
			continue;
		memcpy(to, name, len); /* the memory is zeroed */
		s->v[s->n++] = (struct guestsym_symbol){sym.st_value, to, (char)t->types[i]};
		to += len + 1;
	}
	qsort(s->v, s->n, sizeof(*s->v), compare_symbols);
	return symbols_index(s);
}

/* How many bytes the names may take, 0 when they cannot be right. */
static uint32_t strings_size(const uint8_t *symtab, uint32_t n)
{
	uint32_t last = 0;

	for (uint32_t i = 0; i < n; i++) {
		uint32_t name = get_u32(symtab + i * sizeof(Elf64_Sym));

		last = name > last ? name : last;
	}
	return last < STRINGS_MAX ? last + SYMBOL_NAME_MAX + 1 : 0;
}

static int read_tables(struct walk *w, struct tables_copy *t)
{
	int err = walk_read_new(w, member_u64(w, &w->at.symtab), t->n * sizeof(Elf64_Sym),
				&t->symtab);

	if (!err)
		err = walk_read_new(w, member_u64(w, &w->at.typetab), t->n, &t->types);
	if (err)
		return err;
	t->strings_len = strings_size(t->symtab, t->n);
	if (!t->strings_len)
		return -EINVAL;
	t->strings = malloc(t->strings_len + 1);
	if (!t->strings)
		return -ENOMEM;
	walk_read_some(w, member_u64(w, &w->at.strtab), t->strings, t->strings_len);
	t->strings[t->strings_len] = 0;
	return 0;
}

static int read_symbols(struct walk *w, struct symbols *s)
{
	struct tables_copy t = {.n = member_u32(w, &w->at.num_symtab)};
	int err;

	if (t.n > SYMBOLS_BUDGET)
		return -EINVAL;
	err = spend(&w->symbols, t.n);
	if (!err)
		err = read_tables(w, &t);
	if (!err)
		err = load_symbols(w, s, &t);
	free(t.strings);
	free(t.types);
	free(t.symtab);
	return err;
}

/* --- sites ------------------------------------------------------------------------------- */

/* Init code has sites as well, and is gone, or about to be. */
static int load_sites(struct fentry *f, const uint8_t *p, uint32_t n, const struct symbols *s)
{
	if (fentry_alloc(f, n ? n : 1))
		return -ENOMEM;
	for (uint32_t i = 0; i < n; i++) {
		uint64_t addr = get_u64(p + 8 * (size_t)i);

		if (addr >= s->start && addr < s->end)
			f->v[f->n++].addr = addr;
	}
	return 0;
}

/* What the sites hold is in the text, a small image of its own. */
static int resolve_sites(struct walk *w, struct fentry *f, const struct symbols *s)
{
	struct elf_segment seg = {.va = s->start, .filesz = s->end - s->start, .exec = true};
	struct elf_image e = {.segs = &seg, .nr_segs = 1};
	uint8_t *text;
	int err = walk_read_new(w, s->start, seg.filesz, &text);

	if (err)
		return err;
	seg.memsz = seg.filesz;
	e.data = text;
	e.len = seg.filesz;
	err = fentry_resolve(f, &e, s, &w->rule);
	free(text);
	return err;
}

static int read_sites(struct walk *w, struct fentry *f, const struct symbols *s)
{
	uint32_t n = member_u32(w, &w->at.num_sites);
	uint8_t *p;
	int err;

	if (n > SITES_BUDGET)
		return -EINVAL;
	err = spend(&w->sites, n);
	if (err)
		return err;
	err = walk_read_new(w, member_u64(w, &w->at.sites), n * (size_t)8, &p);
	if (err)
		return err;
	err = load_sites(f, p, n, s);
	free(p);
	return err || !f->n ? err : resolve_sites(w, f, s);
}

/* --- modules ----------------------------------------------------------------------------- */

static enum guestsym_module_state public_state(uint32_t state)
{
	if (state == STATE_LIVE)
		return GUESTSYM_MODULE_LIVE;
	return state == STATE_COMING ? GUESTSYM_MODULE_COMING : GUESTSYM_MODULE_GOING;
}

static int read_contents(struct walk *w, struct guestsym_module_memory *m)
{
	struct symbols *s = &m->symbols;
	int err;

	if (member_u32(w, &w->at.text_size) > TEXT_MAX)
		return -EINVAL;
	s->start = member_u64(w, &w->at.text);
	s->end = s->start + member_u32(w, &w->at.text_size);
	if (s->end < s->start)
		return -EINVAL;
	err = read_symbols(w, s);
	return err ? err : read_sites(w, &m->fentry, s);
}

static void publish(struct guestsym_module *mod, uint64_t addr, uint32_t state,
		    struct guestsym_module_memory *m)
{
	*mod = (struct guestsym_module){
		.addr = addr,
		.name = m->name,
		.state = public_state(state),
		.text = {m->symbols.start, m->symbols.end},
		.syms = m->symbols.v,
		.nr_syms = m->symbols.n,
		.sites = m->fentry.v,
		.nr_sites = m->fentry.n,
		.memory = m,
	};
}

/* The module at addr, whose struct is in w->raw. */
static int read_module(struct walk *w, uint64_t addr, struct guestsym_module *mod)
{
	struct guestsym_module_memory *m = calloc(1, sizeof(*m));
	size_t len = w->at.name.size < NAME_MAX_LEN ? w->at.name.size : NAME_MAX_LEN;
	int err;

	if (!m)
		return -ENOMEM;
	memcpy(m->name, w->raw + w->at.name.offset, len);
	err = read_contents(w, m);
	if (err) {
		fentry_exit(&m->fentry);
		symbols_exit(&m->symbols);
	}
	if (err == -ENOMEM || err == -E2BIG) {
		free(m);
		return err;
	}
	publish(mod, addr, member_u32(w, &w->at.state), m);
	return 0;
}

static int append_module(struct walk *w, uint64_t addr, struct guestsym_module **mods, size_t *n)
{
	void *v;
	int err;

	if (member_u32(w, &w->at.state) >= STATE_UNFORMED)
		return 0;
	v = reallocarray(*mods, *n + 1, sizeof(**mods));
	if (!v)
		return -ENOMEM;
	*mods = v;
	err = read_module(w, addr, &(*mods)[*n]);
	*n += !err;
	return err;
}

static int walk_modules(struct walk *w, uint64_t head, struct guestsym_module **mods, size_t *n)
{
	uint64_t at;
	int err = walk_read(w, head, &at, sizeof(at));

	for (int i = 0; !err && at != head; i++) {
		uint64_t addr = at - w->at.list.offset;

		if (i == MODULES_MAX)
			return -ELOOP;
		err = walk_read(w, addr, w->raw, w->at.size);
		at = member_u64(w, &w->at.list);
		if (!err)
			err = append_module(w, addr, mods, n);
	}
	return err;
}

int modules_read(const struct modules_of *k, const struct guestsym_memory *mem,
		 struct guestsym_module **mods, size_t *n)
{
	struct walk *w = calloc(1, sizeof(*w));
	int err;

	*mods = NULL;
	*n = 0;
	if (!w)
		return -ENOMEM;
	w->mem = mem;
	w->bytes = BYTES_BUDGET;
	w->symbols = SYMBOLS_BUDGET;
	w->names = NAMES_BUDGET;
	w->sites = SITES_BUDGET;
	w->rule = k->rule;
	err = k->list ? learn_layout(&w->at, k->types) : -ENOENT;
	if (!err)
		err = walk_modules(w, k->list, mods, n);
	if (err) {
		guestsym_modules_free(*mods, *n);
		*mods = NULL;
		*n = 0;
	}
	free(w);
	return err;
}

void guestsym_modules_free(struct guestsym_module *mods, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		fentry_exit(&mods[i].memory->fentry);
		symbols_exit(&mods[i].memory->symbols);
		free(mods[i].memory);
	}
	free(mods);
}
