// SPDX-License-Identifier: GPL-2.0-or-later
/* try.c - one probe before there are many. */
#include "tracer/probe/trampoline/internal.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define CHECK_MS 20000

/* Called with a NULL page it returns at once (mm/page_alloc.c). */
#define TRY_FUNCTION "free_pages"

static int site_patch(struct trace *t, uint64_t va, const uint8_t bytes[SITE_SIZE])
{
	struct machine_patch patch = {.size = SITE_SIZE};
	int ret = guest_translate(&t->guest, va, &patch.pa);

	memcpy(patch.bytes, bytes, SITE_SIZE);
	return ret ? ret : machine_patch_text(t->m, &patch, 1);
}

static bool recorded(struct trampoline *tr, unsigned int vcpu, uint64_t va)
{
	struct window *w = &tr->window;
	uint32_t size = w->header.ring_size, nr = size / PAYLOAD_RECORD_SIZE;
	struct payload_record r;
	uint64_t head;

	if (window_read(w, WINDOW_CTL + vcpu * CTL_SIZE + CTL_HEAD, &head, sizeof(head)))
		return false;
	for (uint64_t i = nr; i < head && i < 2 * (uint64_t)nr; i++) {
		uint64_t at = WINDOW_RINGS + (uint64_t)vcpu * size + (i - nr) * sizeof(r);

		if (!window_read(w, at, &r, sizeof(r)) && r.seq == (uint32_t)i &&
		    r.ip == (uint32_t)va)
			return true;
	}
	return false;
}

/*
 * Numbers start anew, so what has been recorded must not be there any more: it would pass for the
 * records that are about to get these numbers.
 */
static int records_forget(struct trace *t, struct trampoline *tr)
{
	static const struct payload_record none;
	struct window *w = &tr->window;
	uint32_t size = w->header.ring_size, nr = size / PAYLOAD_RECORD_SIZE;
	int ret = 0;

	for (unsigned int v = 0; v < t->vcpus && !ret; v++) {
		uint64_t head = nr, ring = WINDOW_RINGS + (uint64_t)v * size;

		ret = window_read(w, WINDOW_CTL + v * CTL_SIZE + CTL_HEAD, &head, sizeof(head));
		for (uint64_t i = nr; i < head && i < 2 * (uint64_t)nr && !ret; i++)
			ret = window_write(w, ring + (i - nr) * sizeof(none), &none, sizeof(none));
	}
	return ret ? ret : trampoline_control_init(t, tr);
}

static uint64_t try_site(struct trace *t)
{
	const struct guestsym_site *sites;
	size_t n = guestsym_fentry_sites(t->gs, &sites);

	for (size_t i = 0; i < n; i++)
		if (!strcmp(sites[i].name, TRY_FUNCTION))
			return sites[i].addr + t->guest.slide;
	return 0;
}

/* Its NOP again; else the window has to stay, for a call into memory of others is worse. */
static int site_restore(struct trace *t, struct trampoline *tr, uint64_t site, char *err,
			size_t errlen)
{
	uint8_t now[SITE_SIZE];
	int ret = site_patch(t, site, site_nop);

	if (!ret ||
	    (!guest_read(&t->guest, site, now, sizeof(now)) && !memcmp(now, site_nop, SITE_SIZE)))
		return 0;
	tr->stays = true;
	snprintf(err, errlen, "guest text cannot be restored: %s", strerror(-ret));
	return ret;
}

static int try_call(struct trace *t, struct trampoline *tr, uint64_t site, char *err, size_t errlen)
{
	struct borrow_call call = {.fn = borrow_function(t->borrow, TRY_FUNCTION)};
	uint8_t insn[SITE_SIZE], now[SITE_SIZE];
	int ret = guest_read(&t->guest, site, now, sizeof(now)), error;

	if (ret || memcmp(now, site_nop, SITE_SIZE)) {
		snprintf(err, errlen, "the site of " TRY_FUNCTION " is in use");
		return -EBUSY;
	}
	site_call_make(insn, site, tr->window.header.va + WINDOW_TEXT + tr->text.function);
	tr->called = true;
	ret = site_patch(t, site, insn);
	if (ret)
		snprintf(err, errlen, "guest text cannot be written: %s", strerror(-ret));
	else
		ret = borrow_run_wanted(t->borrow, &call, 1, BORROW_ANY, CHECK_MS, err, errlen);
	error = site_restore(t, tr, site, err, errlen);
	return ret ? ret : error;
}

int trampoline_try(struct trace *t, struct trampoline *tr, char *err, size_t errlen)
{
	uint64_t site = try_site(t);
	int ret = site ? try_call(t, tr, site, err, errlen) : 0;

	if (ret || !site)
		return ret;
	/* Nor are others' calls meanwhile asked for. */
	for (unsigned int i = 0; i < t->vcpus; i++)
		if (recorded(tr, i, site))
			return records_forget(t, tr);
	snprintf(err, errlen, "a probe of " TRY_FUNCTION " was called and recorded nothing");
	return -ENODATA;
}
