/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * modules.h - what the steps of reading modules share: modules-copy.c copies what the guest has of
 * them, modules-digest.c makes symbols and sites of the copy, perhaps in another process, and
 * modules.c takes those.
 */
#ifndef HVTRACE_GUESTSYM_MODULES_H
#define HVTRACE_GUESTSYM_MODULES_H

#include "guestsym/internal.h"

#include <errno.h>

/*
 * For all modules together: symbols, bytes of their names, sites. Some hundred modules have 100
 * thousand symbols. Pages that lie at many addresses cost a guest nothing, and tables in them are
 * as long as they say.
 */
#define MODULES_SYMBOLS (1 << 20)
#define MODULES_NAMES	(UINT64_C(64) << 20)
#define MODULES_SITES	(1 << 20)
/* Bytes of what is made of all that: entries, and names that are of a symbol or of a site. */
#define MODULES_DIGESTS (UINT64_C(256) << 20)

#define MODULE_NAME_SIZE 60 /* MODULE_NAME_LEN is 56; the end, and no padding */

/* A module with the same ones has the same symbols and sites. */
struct module_facts {
	uint64_t addr, text, symtab, strtab, typetab, sites;
	uint32_t text_size, num_symtab, num_sites;
	char name[MODULE_NAME_SIZE];
};

/* Whether a site at addr is in the module's text, which does not go round the end of memory. */
static inline bool module_has_site(const struct module_facts *f, uint64_t addr)
{
	return f->text_size >= FENTRY_SIZE && addr >= f->text &&
	       addr - f->text <= f->text_size - FENTRY_SIZE;
}

/* What was made of a module once; readings that have it share it. */
struct guestsym_module_memory {
	uint32_t refs;
	bool whole; /* it could be read; otherwise there are no symbols and sites */
	struct module_facts facts;
	uint64_t names_len;
	struct blob digest;   /* what the kernel's parts refer to */
	struct kernel kernel; /* its symbols and sites */
};

struct module_copy {
	struct module_facts facts;
	enum guestsym_module_state state;
	struct guestsym_module_memory *known; /* there is nothing to be made */
	bool whole;			      /* as above */
	uint8_t *symtab, *types;
	char *strings; /* behind which there is a NUL */
	uint32_t strings_len;
	uint8_t *sites, *text; /* text only when there are sites */
};

struct guestsym_module_copies {
	struct guestsym_parsers *parsers;
	struct fentry_rule rule;
	struct module_copy *v;
	size_t n, room;
};

/* Take n from what is left of a budget: 0 or -E2BIG. */
static inline int module_spend(uint64_t *budget, uint64_t n)
{
	if (n > *budget)
		return -E2BIG;
	*budget -= n;
	return 0;
}

/*
 * Digests of those that are whole and not known, one behind the other, each led by its length as a
 * uint64_t and starting at a multiple of 8. 0, -ENOMEM or -E2BIG.
 */
int modules_digest(const struct guestsym_module_copies *copies, struct blob *digests);
/* The same, done elsewhere if p is not NULL; then also what apart_run() gives. */
int parsers_modules(struct guestsym_parsers *p, const struct guestsym_module_copies *copies,
		    struct blob *digests);
/*
 * modules.c: look at what was made of copies, perhaps by somebody who lies: the modules, which mods
 * has room for. *n, also after an error, is how many there are; their references are the caller's.
 * 0, -EINVAL, -ENOMEM, -E2BIG.
 */
int modules_take(const struct guestsym_module_copies *copies, const struct blob *digests,
		 struct guestsym_module *mods, size_t *n);
/* Those whose digest is made: neither known before nor copied in part. */
size_t modules_to_read(const struct guestsym_module_copies *copies);
/* modules-pack.c: what modules_digest() needs of copies, without pointers. 0, -ENOMEM, -EFBIG. */
int modules_pack(const struct guestsym_module_copies *copies, struct blob *packed);
/* -EINVAL when it is not. copies->v is to be freed, and refers to packed. */
int modules_unpack(const struct blob *packed, struct guestsym_module_copies *copies);

void module_memory_put(struct guestsym_module_memory *m);

#endif
