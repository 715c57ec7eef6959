// SPDX-License-Identifier: GPL-2.0-or-later
/* returns.c - how functions return in this guest, and keeping the probes of returns up to date. */
#include "tracer/probe/returns/internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static struct returns *returns_new(const struct guestsym *gs)
{
	struct returns *r = calloc(1, sizeof(*r));
	const uint64_t *listed;
	size_t n = guestsym_return_sites(gs, &listed);

	if (!r)
		return NULL;
	r->listed = malloc((n + 1) * sizeof(*r->listed));
	if (!r->listed) {
		free(r);
		return NULL;
	}
	if (n)
		memcpy(r->listed, listed, n * sizeof(*listed));
	r->nr_listed = n;
	return r;
}

int returns_learn(struct trace *t)
{
	struct returns_text *x;
	int ret;

	if (!t->returns)
		t->returns = returns_new(t->gs);
	if (!t->returns)
		return -ENOMEM;
	x = returns_text_new(t);
	if (!x)
		return -ENOMEM;
	ret = returns_learn_form(t->returns, x);
	returns_text_free(x);
	return ret;
}

int returns_learn_early(struct trace *t)
{
	int ret = returns_learn(t);

	if (!ret && t->returns->decoded)
		returns_forget(t);
	return ret;
}

/* They are not to be set again by whoever sets all others meanwhile: boot.c does. */
void returns_forget(struct trace *t)
{
	struct returns *r = t->returns;

	for (size_t i = 0; r && i < r->nr; i++)
		t->probes.v[r->at[i].probe].flags &= (uint16_t)~PROBE_FL_RECORD;
	if (r)
		r->known = false;
}

bool returns_known(const struct trace *t)
{
	return t->returns && t->returns->known;
}

uint64_t returns_thunk(const struct trace *t)
{
	return t->returns ? t->returns->thunk : 0;
}

void returns_tell_cost(struct trace *t)
{
	struct returns *r = t->returns;
	size_t wanted = 0, exits = 0;

	if (!returns_known(t) || !r->decoded || r->told)
		return;
	for (size_t i = 0; i < r->nr; i++) {
		if (!(t->probes.v[r->at[i].probe].flags & PROBE_FL_RECORD))
			continue;
		wanted++;
		exits += r->at[i].form.size < SITE_SIZE;
	}
	if (!exits)
		return;
	r->told = true;
	trace_note(t,
		   "this kernel keeps no room at its returns (CONFIG_RETHUNK, from 6.9 on "
		   "CONFIG_MITIGATION_RETHUNK): %zu of the %zu to be traced exit to the host each "
		   "time, so trace few functions",
		   exits, wanted);
}

int returns_update(struct trace *t, const struct returns_wish *wish)
{
	struct wanted_list wanted = {0};
	int ret = 0;

	if (!returns_known(t) || (!wish && !t->returns->nr))
		return 0;
	if (wish)
		ret = returns_search(t, wish, &wanted);
	if (!ret)
		ret = returns_settle(t, &wanted);
	if (!ret && wanted.nr && t->placed)
		returns_tell_cost(t);
	free(wanted.v);
	return ret;
}

void returns_count(struct trace *t, size_t *listed, size_t *unknown)
{
	const struct returns *r = t->returns;
	uint64_t etext = guestsym_addr(t->gs, "_etext");
	struct text_view view;

	*listed = *unknown = 0;
	text_view_init(&view, &t->guest);
	for (size_t i = 0; returns_known(t) && !r->decoded && i < r->nr_listed; i++) {
		uint64_t va = r->listed[i] + t->guest.slide;
		uint8_t form[SITE_SIZE], now[SITE_SIZE];

		if (r->listed[i] >= etext)
			continue;
		(*listed)++;
		site_return_make(form, va, r->thunk);
		*unknown +=
			!returns_probe_set(t, r->listed[i]) &&
			(text_view_get(&view, va, now, SITE_SIZE) || memcmp(now, form, SITE_SIZE));
	}
}

void returns_free(struct trace *t)
{
	if (t->returns) {
		static_calls_free(&t->returns->static_calls);
		free(t->returns->listed);
		free(t->returns->at);
	}
	free(t->returns);
}
