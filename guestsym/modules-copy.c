// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * modules-copy.c - copies what a kernel that runs has of its modules: the `modules` list, and of
 * each module the symbols and fentry sites that the kernel keeps for itself.
 *
 * All of it is guest memory, and the guest stands meanwhile. Every length that it gives is bounded,
 * and so is the sum of them; nothing is looked at but what tells how much there is to be copied.
 */
#include "guestsym/modules.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>

#define PAGE UINT64_C(0x1000)

#define MODULES_MAX 4096
#define STRUCT_MAX  16384
#define STRINGS_MAX (UINT32_C(32) << 20)
#define TEXT_MAX    (UINT64_C(64) << 20)
/* Bytes to be read for all of them; some hundred modules have some 10 MB and as much text. */
#define BYTES_BUDGET (UINT64_C(256) << 20)
/* Of text, also where it is not read here: who has the modules may look through it. */
#define TEXT_BUDGET (UINT64_C(256) << 20)

/* enum module_state of include/linux/module.h, the same since 3.8 */
enum { STATE_LIVE, STATE_COMING, STATE_GOING, STATE_UNFORMED };

/* Where the members of struct module are. */
struct layout {
	uint32_t size;
	struct guestsym_field list, name, state, text, text_size;
	struct guestsym_field symtab, num_symtab, strtab, typetab, sites, num_sites;
};

struct walk {
	const struct guestsym_memory *mem;
	struct layout at;
	const struct guestsym_module *known;
	size_t nr_known, next_known; /* they mostly come in the same order */
	/* What is left of the budgets */
	uint64_t bytes, symbols, sites, text;
	struct guestsym_module_copies *copies;
	uint64_t seen[MODULES_MAX]; /* where a struct module was */
	uint32_t nr_seen;
	uint8_t raw[STRUCT_MAX]; /* the struct module that is being looked at */
};

/* --- struct module ----------------------------------------------------------------------- */

/* Until 6.3 core_layout, then mem[], whose first is MOD_TEXT. */
static int learn_text(struct layout *at, const struct types *t)
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
static int learn_layout(struct layout *at, const struct types *t)
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

/* --- reading ----------------------------------------------------------------------------- */

static int walk_read(struct walk *w, uint64_t va, void *buf, size_t len)
{
	int err = module_spend(&w->bytes, len);

	return err ? err : w->mem->read(w->mem->arg, va, buf, len);
}

/* The same in memory of our own, to be freed; at least one byte. */
static int walk_read_new(struct walk *w, uint64_t va, size_t len, uint8_t **buf)
{
	int err;

	if (len > w->bytes)
		return -E2BIG;
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

/* As much as is mapped of *len bytes, which becomes how many these are. */
static int walk_read_some(struct walk *w, uint64_t va, char *buf, uint32_t *len)
{
	uint32_t done = 0;
	int err = 0;

	while (done < *len && !err) {
		size_t part = PAGE - (va + done) % PAGE;

		if (part > *len - done)
			part = *len - done;
		err = walk_read(w, va + done, buf + done, part);
		if (!err)
			done += part;
	}
	*len = done;
	return err == -EFAULT ? 0 : err;
}

/* --- one module -------------------------------------------------------------------------- */

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

/*
 * The names are said to be as long as a symbol claims, and may be mapped nowhere: what is not read
 * of them costs none of the budget, and takes no memory.
 */
static int copy_strings(struct walk *w, struct module_copy *c)
{
	uint32_t len = c->strings_len;
	char *strings;
	int err;

	if (len > w->bytes)
		return -E2BIG;
	c->strings = malloc(len + 1);
	if (!c->strings)
		return -ENOMEM;
	err = walk_read_some(w, c->facts.strtab, c->strings, &c->strings_len);
	if (err)
		return err;
	c->strings[c->strings_len] = 0;
	strings = c->strings_len < len ? realloc(c->strings, c->strings_len + 1) : NULL;
	if (strings)
		c->strings = strings;
	return 0;
}

static int copy_symbols(struct walk *w, struct module_copy *c)
{
	const struct module_facts *f = &c->facts;
	int err = walk_read_new(w, f->symtab, f->num_symtab * sizeof(Elf64_Sym), &c->symtab);

	if (!err)
		err = walk_read_new(w, f->typetab, f->num_symtab, &c->types);
	if (err)
		return err;
	c->strings_len = strings_size(c->symtab, f->num_symtab);
	return c->strings_len ? copy_strings(w, c) : -EINVAL;
}

/* What the sites hold is in the text. */
static int copy_sites(struct walk *w, struct module_copy *c)
{
	const struct module_facts *f = &c->facts;
	int err = walk_read_new(w, f->sites, f->num_sites * (size_t)8, &c->sites);

	return err || !f->num_sites ? err : walk_read_new(w, f->text, f->text_size, &c->text);
}

static void copy_free(struct module_copy *c)
{
	free(c->symtab);
	free(c->types);
	free(c->strings);
	free(c->sites);
	free(c->text);
	c->symtab = c->types = c->sites = c->text = NULL;
	c->strings = NULL;
}

static int spend_facts(struct walk *w, const struct module_facts *f)
{
	int err = module_spend(&w->symbols, f->num_symtab);

	if (!err)
		err = module_spend(&w->sites, f->num_sites);
	return err ? err : module_spend(&w->text, f->text_size);
}

/* One that makes no sense has no symbols and sites. */
static int copy_contents(struct walk *w, struct module_copy *c)
{
	const struct module_facts *f = &c->facts;
	int err;

	if (f->text_size > TEXT_MAX || f->text + f->text_size < f->text ||
	    f->num_symtab > MODULES_SYMBOLS || f->num_sites > MODULES_SITES)
		return 0;
	err = spend_facts(w, f);
	if (!err)
		err = copy_symbols(w, c);
	if (!err)
		err = copy_sites(w, c);
	c->whole = !err;
	if (err)
		copy_free(c);
	return err == -EFAULT || err == -EINVAL ? 0 : err;
}

/* What was made of it at an earlier reading, or NULL. */
static struct guestsym_module_memory *find_known(struct walk *w, const struct module_facts *f)
{
	for (size_t i = 0; i < w->nr_known; i++) {
		size_t k = (w->next_known + i) % w->nr_known;
		struct guestsym_module_memory *m = w->known[k].memory;

		if (w->known[k].addr != f->addr)
			continue;
		w->next_known = k + 1;
		return m->whole && !memcmp(&m->facts, f, sizeof(*f)) ? m : NULL;
	}
	return NULL;
}

/* What is known counts as well: it takes memory. */
static int share_known(struct walk *w, struct module_copy *c)
{
	int err = spend_facts(w, &c->facts);

	if (!err)
		__atomic_add_fetch(&c->known->refs, 1, __ATOMIC_RELAXED);
	else
		c->known = NULL;
	return err;
}

/* --- the list ---------------------------------------------------------------------------- */

static uint64_t member_u64(const struct walk *w, const struct guestsym_field *f)
{
	return get_u64(w->raw + f->offset);
}

static uint32_t member_u32(const struct walk *w, const struct guestsym_field *f)
{
	return get_u32(w->raw + f->offset);
}

static void read_facts(const struct walk *w, uint64_t addr, struct module_facts *f)
{
	const struct layout *at = &w->at;
	size_t len = at->name.size < MODULE_NAME_SIZE ? at->name.size : MODULE_NAME_SIZE - 1;

	_Static_assert(sizeof(*f) == 6 * 8 + 3 * 4 + MODULE_NAME_SIZE, "compared as bytes");
	*f = (struct module_facts){
		.addr = addr,
		.text = member_u64(w, &at->text),
		.symtab = member_u64(w, &at->symtab),
		.strtab = member_u64(w, &at->strtab),
		.typetab = member_u64(w, &at->typetab),
		.sites = member_u64(w, &at->sites),
		.text_size = member_u32(w, &at->text_size),
		.num_symtab = member_u32(w, &at->num_symtab),
		.num_sites = member_u32(w, &at->num_sites),
	};
	/* Behind its end there may be anything. */
	memcpy(f->name, w->raw + at->name.offset,
	       strnlen((const char *)w->raw + at->name.offset, len));
}

static enum guestsym_module_state public_state(uint32_t state)
{
	if (state == STATE_LIVE)
		return GUESTSYM_MODULE_LIVE;
	return state == STATE_COMING ? GUESTSYM_MODULE_COMING : GUESTSYM_MODULE_GOING;
}

/* One more, zeroed; NULL: no memory. */
static struct module_copy *copies_add(struct guestsym_module_copies *copies)
{
	if (copies->n == copies->room) {
		size_t room = copies->room ? 2 * copies->room : 64;
		struct module_copy *v = reallocarray(copies->v, room, sizeof(*v));

		if (!v)
			return NULL;
		copies->v = v;
		copies->room = room;
	}
	copies->v[copies->n] = (struct module_copy){0};
	return &copies->v[copies->n++];
}

/* The module at addr, whose struct is in w->raw. */
static int append_module(struct walk *w, uint64_t addr)
{
	uint32_t state = member_u32(w, &w->at.state);
	struct module_copy *c;

	if (state >= STATE_UNFORMED ||
	    !name_is_plain((const char *)w->raw + w->at.name.offset,
			   w->at.name.size < MODULE_NAME_SIZE ? w->at.name.size
							      : MODULE_NAME_SIZE - 1))
		return 0;
	c = copies_add(w->copies);
	if (!c)
		return -ENOMEM;
	c->state = public_state(state);
	read_facts(w, addr, &c->facts);
	c->known = find_known(w, &c->facts);
	return c->known ? share_known(w, c) : copy_contents(w, c);
}

/* A list that comes back to what it has been at has no end. */
static int see(struct walk *w, uint64_t addr)
{
	for (uint32_t i = 0; i < w->nr_seen; i++)
		if (w->seen[i] == addr)
			return -ELOOP;
	if (w->nr_seen == MODULES_MAX)
		return -ELOOP;
	w->seen[w->nr_seen++] = addr;
	return 0;
}

static int walk_modules(struct walk *w, uint64_t head)
{
	uint64_t at;
	int err = walk_read(w, head, &at, sizeof(at));

	while (!err && at != head) {
		uint64_t addr = at - w->at.list.offset;

		if (w->mem->cancelled && w->mem->cancelled(w->mem->arg))
			return -ECANCELED;
		err = see(w, addr);
		if (!err)
			err = walk_read(w, addr, w->raw, w->at.size);
		at = member_u64(w, &w->at.list);
		if (!err)
			err = append_module(w, addr);
	}
	return err;
}

int modules_copy(const struct modules_of *k, const struct guestsym_memory *mem,
		 const struct guestsym_module *known, size_t nr_known,
		 struct guestsym_module_copies **copies)
{
	struct walk *w = calloc(1, sizeof(*w));
	int err;

	*copies = calloc(1, sizeof(**copies));
	err = w && *copies ? 0 : -ENOMEM;
	if (!err)
		err = k->list ? learn_layout(&w->at, k->types) : -ENOENT;
	if (!err) {
		(*copies)->rule = k->rule;
		(*copies)->parsers = k->parsers;
		w->mem = mem;
		w->known = known;
		w->nr_known = nr_known;
		w->copies = *copies;
		w->bytes = BYTES_BUDGET;
		w->symbols = MODULES_SYMBOLS;
		w->sites = MODULES_SITES;
		w->text = TEXT_BUDGET;
		err = walk_modules(w, k->list);
	}
	if (err) {
		guestsym_modules_copies_free(*copies);
		*copies = NULL;
	}
	free(w);
	return err;
}

void guestsym_modules_copies_free(struct guestsym_module_copies *copies)
{
	if (!copies)
		return;
	for (size_t i = 0; i < copies->n; i++) {
		copy_free(&copies->v[i]);
		module_memory_put(copies->v[i].known);
	}
	free(copies->v);
	free(copies);
}
