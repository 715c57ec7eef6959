// SPDX-License-Identifier: GPL-2.0-or-later
/* sites.c - sites that are found when somebody first asks for them, by any thread. */
#include "guestsym/internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define INSN_MAX    15 /* bytes of an instruction */
#define SITES_TRIES 3

static bool in_text(const struct kernel *k, uint64_t addr, size_t len, uint64_t behind)
{
	return addr >= behind && addr >= k->symbols.start && addr < k->symbols.end && len &&
	       len <= INSN_MAX && len <= k->symbols.end - addr;
}

static bool irq_is_sound(const struct kernel *k, const struct found_sites *found)
{
	const struct guestsym_irq_site *v = found->v;
	uint64_t behind = 0;

	for (size_t i = 0; i < found->n; i++) {
		if (!in_text(k, v[i].addr, v[i].len, behind) || v[i].kind > GUESTSYM_IRQ_RESTORE)
			return false;
		behind = v[i].addr + v[i].len;
	}
	return true;
}

static bool preempt_is_sound(const struct kernel *k, const struct found_sites *found)
{
	const struct guestsym_preempt_site *v = found->v;
	uint64_t behind = 0;

	for (size_t i = 0; i < found->n; i++) {
		if (!in_text(k, v[i].addr, v[i].len, behind))
			return false;
		behind = v[i].addr + v[i].len;
	}
	return true;
}

static const struct {
	size_t size; /* of one */
	int (*find)(const struct kernel *k, struct found_sites *found);
	bool (*is_sound)(const struct kernel *k, const struct found_sites *found);
} kinds[NR_SITES] = {
	[SITES_IRQ] = {sizeof(struct guestsym_irq_site), irq_sites_find, irq_is_sound},
	[SITES_PREEMPT] = {sizeof(struct guestsym_preempt_site), preempt_sites_find,
			   preempt_is_sound},
};

int sites_find(const struct kernel *k, enum sites_kind kind, struct found_sites *found)
{
	return kinds[kind].find(k, found);
}

size_t sites_size(enum sites_kind kind)
{
	return kinds[kind].size;
}

int sites_take(const struct kernel *k, enum sites_kind kind, const void *v, size_t len,
	       struct found_sites *found)
{
	if (len % kinds[kind].size)
		return -EINVAL;
	found->v = malloc(len ? len : 1);
	if (!found->v)
		return -ENOMEM;
	if (len)
		memcpy(found->v, v, len);
	found->n = len / kinds[kind].size;
	return kinds[kind].is_sound(k, found) ? 0 : -EINVAL;
}

struct sites *sites_new(void)
{
	struct sites *sites = calloc(1, sizeof(*sites));

	if (sites)
		pthread_mutex_init(&sites->lock, NULL);
	return sites;
}

void sites_free(struct sites *sites)
{
	if (!sites)
		return;
	for (int i = 0; i < NR_SITES; i++)
		free(sites->found[i].v);
	pthread_mutex_destroy(&sites->lock);
	free(sites);
}

/* A host that is short of something for a moment is asked again; an image made for that is not. */
static int find_once_more(const struct guestsym *gs, enum sites_kind kind,
			  struct found_sites *found, const struct complaint *c)
{
	if (found->known)
		return 0;
	if (found->tries == SITES_TRIES)
		return complain(c, found->err, "was tried %d times: %s", SITES_TRIES,
				strerror(-found->err));
	found->tries++;
	found->err = parsers_sites(gs, kind, found, c);
	found->known = !found->err;
	if (found->err) {
		free(found->v);
		found->v = NULL;
		found->n = 0;
	}
	return found->err;
}

static int sites_get(const struct guestsym *gs, enum sites_kind kind, const struct complaint *c)
{
	int err;

	pthread_mutex_lock(&gs->sites->lock);
	err = find_once_more(gs, kind, &gs->sites->found[kind], c);
	pthread_mutex_unlock(&gs->sites->lock);
	return err;
}

int guestsym_find_sites(const struct guestsym *gs, char *err, size_t errlen)
{
	static const char *const what[NR_SITES] = {
		[SITES_IRQ] = "places where interrupts go off or on",
		[SITES_PREEMPT] = "places that change the preempt count",
	};
	int ret = 0;

	if (errlen)
		err[0] = '\0';
	for (int kind = 0; kind < NR_SITES && !ret; kind++) {
		const struct complaint c = {what[kind], err, errlen};

		ret = sites_get(gs, (enum sites_kind)kind, &c);
	}
	return ret;
}

/* None, as long as they cannot be found. */
static const struct found_sites *sites_known(const struct guestsym *gs, enum sites_kind kind)
{
	const struct complaint nobody = {0};
	static const struct found_sites none;

	return sites_get(gs, kind, &nobody) ? &none : &gs->sites->found[kind];
}

size_t guestsym_irq_sites(const struct guestsym *gs, const struct guestsym_irq_site **sites)
{
	const struct found_sites *found = sites_known(gs, SITES_IRQ);

	*sites = found->v;
	return found->n;
}

size_t guestsym_preempt_sites(const struct guestsym *gs, const struct guestsym_preempt_site **sites)
{
	const struct found_sites *found = sites_known(gs, SITES_PREEMPT);

	*sites = found->v;
	return found->n;
}
