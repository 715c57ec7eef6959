// SPDX-License-Identifier: GPL-2.0-or-later
/* learn.c - how functions return in this guest: what they jump to, or plainly. */
#include "tracer/probe/returns/internal.h"

#include <errno.h>
#include <string.h>

/* How many functions' returns are looked at to see what a return looks like. */
#define LEARN_FUNCTIONS 4000

#define NR_THUNKS 16

/* By name, since there is one for each of the processors' weaknesses. */
static unsigned int thunks_find(const struct trace *t, uint64_t *thunks)
{
	static const char *const names[] = {
		"__x86_return_thunk",	   "srso_return_thunk",	      "srso_alias_return_thunk",
		"retbleed_return_thunk",   "call_depth_return_thunk", "__x86_return_skl",
		"srso_return_thunk_alias", "its_return_thunk",	      "zen_return_thunk",
	};
	unsigned int n = 0;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		uint64_t addr = guestsym_addr(t->gs, names[i]);

		if (addr)
			thunks[n++] = addr + t->guest.slide;
	}
	return n;
}

/* votes[0] is for plain returns, the others for the thunks. */
static void vote(const struct returns_text *x, const struct piece *p, size_t len,
		 const uint64_t *thunks, unsigned int nr, size_t *votes)
{
	uint8_t plain[SITE_SIZE];

	site_return_make(plain, 0, 0);
	for (size_t i = 0; i + SITE_SIZE <= len; i++) {
		const uint8_t *insn = x->code + i;

		if (insn[0] == INSN_JMP)
			for (unsigned int k = 0; k < nr; k++)
				votes[k + 1] += jump_target(insn, p->start + i) == thunks[k];
		else if (!memcmp(insn, plain, SITE_SIZE))
			votes[0]++;
	}
}

/*
 * Which of them it is, by majority; false: these kernels have a return in each function, so this is
 * none that has room at its returns.
 */
static bool learn_sites(struct returns *r, struct returns_text *x)
{
	uint64_t thunks[NR_THUNKS];
	unsigned int nr = thunks_find(x->t, thunks), best = 0;
	size_t votes[NR_THUNKS + 1] = {0}, looked = 0;

	for (size_t i = 0; nr && i < x->map.nr && looked < LEARN_FUNCTIONS; i++) {
		const struct piece *p = &x->map.v[i];

		if (p->probe == UINT32_MAX)
			continue;
		vote(x, p, returns_text_read(x, p), thunks, nr, votes);
		looked++;
	}
	for (unsigned int k = 1; k <= nr; k++)
		if (votes[k] > votes[best])
			best = k;
	r->thunk = best ? thunks[best - 1] : 0;
	return votes[best] && votes[best] >= looked / 2;
}

int returns_learn_form(struct returns *r, struct returns_text *x)
{
	int ret = 0;

	r->decoded = !learn_sites(r, x);
	if (r->decoded)
		r->thunk = 0;
	static_calls_free(&r->static_calls);
	if (r->decoded || !r->nr_listed)
		ret = static_calls_read(&x->t->guest, x->t->gs, &r->static_calls);
	r->known = !ret;
	return ret == -EFAULT ? 0 : ret;
}
