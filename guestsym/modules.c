// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * modules.c - takes the modules that were made of copies of them (modules-digest.c), and those that
 * were known before. A module that makes no sense has no symbols and sites.
 */
#include "guestsym/modules.h"

#include <errno.h>
#include <stdlib.h>

/* The digests that are still to be taken. */
struct digests {
	const uint8_t *next;
	size_t left;
};

void module_memory_put(struct guestsym_module_memory *m)
{
	if (!m || __atomic_sub_fetch(&m->refs, 1, __ATOMIC_ACQ_REL))
		return;
	kernel_exit(&m->kernel);
	blob_free(&m->digest);
	free(m);
}

/* Memory of its own: the others may go before it. */
static int take_digest(struct digests *d, struct blob *digest)
{
	uint64_t len;
	int err;

	if (d->left < sizeof(len))
		return -EINVAL;
	memcpy(&len, d->next, sizeof(len));
	if (len > d->left - sizeof(len) || len % sizeof(len))
		return -EINVAL;
	err = blob_alloc(digest, len);
	if (err)
		return err;
	memcpy(digest->map, d->next + sizeof(len), len);
	d->next += sizeof(len) + len;
	d->left -= sizeof(len) + len;
	return 0;
}

static uint64_t names_len(const struct symbols *s)
{
	uint64_t len = 0;

	for (size_t i = 0; i < s->n; i++)
		len += strlen(s->v[i].name) + 1;
	return len;
}

/* Text is written there. */
static bool sites_are_within(const struct fentry *f, const struct module_facts *facts)
{
	for (size_t i = 0; i < f->n; i++)
		if (!module_has_site(facts, f->v[i].addr))
			return false;
	return true;
}

static int take_contents(struct guestsym_module_memory *m, struct digests *d)
{
	const struct blob no_image = {0};
	int err = take_digest(d, &m->digest);

	if (!err)
		err = digest_load(&m->kernel, &m->digest, &no_image);
	if (!err &&
	    (m->kernel.symbols.n > m->facts.num_symtab || m->kernel.fentry.n > m->facts.num_sites ||
	     !sites_are_within(&m->kernel.fentry, &m->facts)))
		err = -EINVAL;
	m->names_len = err ? 0 : names_len(&m->kernel.symbols);
	m->kernel.symbols.start = m->facts.text;
	m->kernel.symbols.end = m->facts.text + m->facts.text_size;
	return err;
}

/* With a reference for the caller. */
static int take_module(struct module_copy *c, struct digests *d, uint64_t *names,
		       struct guestsym_module_memory **memory)
{
	struct guestsym_module_memory *m = c->known;
	int err = 0;

	*memory = NULL;
	if (m) {
		c->known = NULL; /* its reference becomes the module's */
	} else {
		m = calloc(1, sizeof(*m));
		if (!m)
			return -ENOMEM;
		m->refs = 1;
		m->facts = c->facts;
		m->whole = c->whole;
		err = c->whole ? take_contents(m, d) : 0;
	}
	if (!err)
		err = module_spend(names, m->names_len);
	if (err)
		module_memory_put(m);
	else
		*memory = m;
	return err;
}

static struct guestsym_module publish(const struct module_copy *c, struct guestsym_module_memory *m)
{
	const struct kernel *k = &m->kernel;

	/* Of one that makes no sense the text may be anywhere. */
	return (struct guestsym_module){
		.addr = m->facts.addr,
		.name = m->facts.name,
		.state = c->state,
		.text = {m->whole ? k->symbols.start : 0, m->whole ? k->symbols.end : 0},
		.syms = k->symbols.v,
		.nr_syms = k->symbols.n,
		.sites = k->fentry.v,
		.nr_sites = k->fentry.n,
		.memory = m,
	};
}

int modules_take(const struct guestsym_module_copies *copies, const struct blob *digests,
		 struct guestsym_module *mods, size_t *n)
{
	struct digests d = {digests->data, digests->len};
	uint64_t names = MODULES_NAMES;
	int err = 0;

	*n = 0;
	for (size_t i = 0; i < copies->n && !err; i++) {
		struct guestsym_module_memory *m;

		err = take_module(&copies->v[i], &d, &names, &m);
		if (!err)
			mods[(*n)++] = publish(&copies->v[i], m);
	}
	return err || !d.left ? err : -EINVAL;
}

int guestsym_modules_parse(struct guestsym_module_copies *copies, struct guestsym_module **mods,
			   size_t *n)
{
	struct blob digests;
	int err;

	*n = 0;
	*mods = calloc(copies->n + 1, sizeof(**mods));
	err = *mods ? parsers_modules(copies->parsers, copies, &digests) : -ENOMEM;
	if (!err) {
		err = modules_take(copies, &digests, *mods, n);
		blob_free(&digests);
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
