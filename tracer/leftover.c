// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * leftover.c - takes away what a tracer that was killed has left in a guest: calls of its payload
 * at the sites, and the window. Its header tells all that has to be known about it.
 */
#include "tracer/internal.h"
#include "tracer/lib/host-time.h"
#include "tracer/dynevent/kprobe.h"
#include "tracer/events/events.h"
#include "tracer/guest/modules.h"
#include "tracer/guest/tasks.h"
#include "tracer/payload/patch.h"
#include "tracer/probe/trampoline/trampoline.h"
#include "tracer/tracepoint/tracepoint.h"
#include "tracer/window/moved.h"
#include "tracer/window/quiesce.h"
#include "tracer/window/window.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define QUIET_MS  20000
#define LOOK_SIZE 4096

/*
 * What the guest says of its text, and of the window, may be forged, and it stands meanwhile. A
 * distribution's kernel has 20 MB of text and its modules as much; with everything traced that
 * makes some 150,000 sites.
 */
const struct leftover_limits leftover_limits = {
	.bytes = UINT64_C(256) << 20, .patches = 1 << 20, .ms = 10000, .now_ms = host_ms};

struct leftover {
	struct trace *t;
	const struct leftover_limits *limits;
	struct window window;
	struct text_view view;
	struct machine_patch *patches;
	size_t nr, room;
	uint64_t looked; /* bytes of text */
	int64_t end_ms;
	int error;
};

/* So many more bytes are about to be looked at. False: there have been too many, or for too long.
 */
static bool may_look(struct leftover *l, size_t len)
{
	l->looked += len;
	if (!l->error && l->looked > l->limits->bytes)
		l->error = -E2BIG;
	if (!l->error && l->limits->now_ms() >= l->end_ms)
		l->error = -ETIMEDOUT;
	return !l->error;
}

static void give_back(struct leftover *l, uint64_t va, const uint8_t *bytes, uint8_t size)
{
	struct machine_patch *p;

	if (l->nr == l->limits->patches) {
		l->error = -E2BIG;
		return;
	}
	if (l->nr == l->room) {
		l->room = l->room ? 2 * l->room : 1024;
		p = realloc(l->patches, l->room * sizeof(*p));
		if (!p) {
			l->error = -ENOMEM;
			return;
		}
		l->patches = p;
	}
	p = &l->patches[l->nr];
	p->size = size;
	memcpy(p->bytes, bytes, size);
	if (!guest_translate(&l->t->guest, va, &p->pa))
		l->nr++;
}

/* A site (run-time address) that calls into the window gets its NOP back. */
static void look_at_site(void *arg, uint64_t va)
{
	struct leftover *l = arg;
	uint8_t now[SITE_SIZE];

	if (may_look(l, sizeof(now)) && !text_view_get(&l->view, va, now, sizeof(now)) &&
	    site_call_target(now, va) - l->window.header.va < l->window.header.size)
		give_back(l, va, site_nop, SITE_SIZE);
}

static bool calls_exit(const struct leftover *l, const uint8_t *insn, uint64_t va)
{
	const struct payload_header *h = &l->window.header;
	uint64_t off = site_call_target(insn, va) - (h->va + WINDOW_TEXT);

	return h->exit && (off == h->exit || off == h->exit_all);
}

/* It was read from the guest's memory. */
static bool form_makes_sense(const struct payload_form *f)
{
	return f->entry && f->size >= SITE_SIZE && f->size <= PAYLOAD_FORM_MAX &&
	       (!f->relative || (f->relative >= sizeof(int32_t) && f->relative <= f->size));
}

/* The form whose place such a call has taken; NULL: it is none of those. */
static const struct payload_form *form_called(const struct leftover *l, const uint8_t *insn,
					      uint64_t va)
{
	const struct payload_header *h = &l->window.header;
	uint64_t off = site_call_target(insn, va) - (h->va + WINDOW_TEXT);

	for (size_t i = 0; i < PAYLOAD_FORMS; i++) {
		const struct payload_form *f = &h->form[i];

		if (form_makes_sense(f) && off == f->entry)
			return f;
	}
	return NULL;
}

static void look_at_call(struct leftover *l, const uint8_t *insn, uint64_t va)
{
	const struct payload_form *form = form_called(l, insn, va);
	uint8_t back[PAYLOAD_FORM_MAX];

	if (form) {
		uint64_t site = va - (form->size - SITE_SIZE);

		payload_form_make(form, site, back);
		give_back(l, site, back, form->size);
	} else if (calls_exit(l, insn, va)) {
		site_return_make(back, va, l->window.header.return_thunk);
		give_back(l, va, back, SITE_SIZE);
	}
}

/*
 * Return sites are found by what they call, wherever they are: nobody else calls there, and five
 * bytes that look so by chance would have to hold one of two numbers of 32 bits.
 */
static void look_at_text(struct leftover *l, uint64_t from, uint64_t to)
{
	uint8_t code[LOOK_SIZE + SITE_SIZE - 1];

	/* The last addresses there are: it would begin anew. */
	if (to > UINT64_MAX - LOOK_SIZE)
		return;
	for (uint64_t va = from; va < to; va += LOOK_SIZE) {
		size_t len = to - va < sizeof(code) ? (size_t)(to - va) : sizeof(code);

		if (!may_look(l, LOOK_SIZE))
			return;
		if (text_view_get(&l->view, va, code, len))
			continue;
		for (size_t i = 0; i + SITE_SIZE <= len && !l->error; i++)
			if (code[i] == INSN_CALL)
				look_at_call(l, code + i, va + i);
	}
}

static int look_at_module(void *arg, const struct guestsym_module *mod)
{
	struct leftover *l = arg;

	look_at_text(l, mod->text.start, mod->text.end);
	return l->error;
}

static void look_at_all(struct leftover *l)
{
	const struct guestsym_site *sites;
	size_t n = guestsym_fentry_sites(l->t->gs, &sites);

	for (size_t i = 0; i < n; i++)
		look_at_site(l, sites[i].addr + l->t->guest.slide);
	modules_each_site(l->t->modules, look_at_site, l);
	look_at_text(l, guestsym_addr(l->t->gs, "_stext") + l->t->guest.slide,
		     guestsym_addr(l->t->gs, "_etext") + l->t->guest.slide);
	modules_each(l->t->modules, look_at_module, l);
}

/* What it has moved: where a jump leads there. */
static void look_at_moved(struct leftover *l)
{
	uint64_t start = guestsym_addr(l->t->gs, "_stext") + l->t->guest.slide;
	uint64_t end = guestsym_addr(l->t->gs, "_etext") + l->t->guest.slide;
	struct moved *m = malloc(sizeof(*m));

	l->error = m ? moved_read(&l->window, m) : -ENOMEM;
	for (size_t i = 0; !l->error && i < m->nr; i++) {
		uint64_t va = KERNEL_HALF | m->row[i].at;
		uint8_t now[SITE_SIZE], jump[SITE_SIZE];

		if (va < start || va >= end || !may_look(l, sizeof(now)) ||
		    text_view_get(&l->view, va, now, sizeof(now)))
			continue;
		moved_jump(m, i, jump);
		if (!memcmp(now, jump, sizeof(jump)))
			give_back(l, va, m->row[i].bytes, SITE_SIZE);
	}
	free(m);
}

/* Whoever waits for the tracer that is no more need not wait any longer. */
static void answer_calls(struct leftover *l)
{
	static const uint32_t off = 0, done = PAYLOAD_CALL_DONE;

	for (uint32_t i = 0; i < l->window.header.nr_vcpus && i < MACHINE_MAX_VCPUS; i++) {
		uint64_t ctl = WINDOW_CTL + i * CTL_SIZE;
		uint32_t call = PAYLOAD_CALL_NONE;

		window_write(&l->window, ctl + CTL_FLAGS, &off, sizeof(off));
		if (!window_read(&l->window, ctl + CTL_CALL, &call, sizeof(call)) &&
		    call == PAYLOAD_CALL_MADE)
			window_write(&l->window, ctl + CTL_CALL, &done, sizeof(done));
	}
}

/* The machine is paused. -ENOENT: there is no window, or no place where one could be. */
static int give_sites_back(struct leftover *l)
{
	int ret = window_find(&l->window, &l->t->guest);

	if (ret)
		return ret == -EFAULT ? -ENOENT : ret;
	text_view_init(&l->view, &l->t->guest);
	look_at_moved(l);
	if (!l->error)
		look_at_all(l);
	ret = l->error ? l->error : machine_patch_text(l->t->m, l->patches, l->nr);
	if (!ret)
		answer_calls(l);
	return ret;
}

static int take_away(struct leftover *l, char *err, size_t errlen)
{
	const struct quiesce_patience patience = {.ms = QUIET_MS};
	struct trace *t = l->t;
	int ret;

	events_ask_within(t->trace_events, EVENTS_LET_GO_MS);
	ret = guest_probes_recover(t, &l->window, err, errlen);
	if (!ret)
		ret = events_recover(t, &l->window, err, errlen);
	events_ask_within(t->trace_events, 0);
	if (ret)
		return ret;
	ret = quiesce(&t->guest, t->gs, &l->window, patience);
	if (!ret)
		return window_close(&l->window, t->borrow, err, errlen);
	snprintf(err, errlen, "the guest does not leave the code of an earlier hvtrace: %s",
		 tasks_strerror(ret));
	return ret;
}

int leftover_remove(struct trace *t, const struct leftover_limits *limits, char *err, size_t errlen)
{
	struct leftover *l = calloc(1, sizeof(*l));
	int ret;

	if (!l) {
		snprintf(err, errlen, "no memory");
		return -ENOMEM;
	}
	l->t = t;
	l->limits = limits;
	l->end_ms = limits->now_ms() + limits->ms;
	machine_pause_for(t->m, "looking for what a killed hvtrace has left");
	ret = give_sites_back(l);
	machine_resume(t->m);
	if (!ret)
		ret = take_away(l, err, errlen);
	else if (l->error == -E2BIG || l->error == -ETIMEDOUT)
		snprintf(
			err, errlen,
			"what looks like the probes of an earlier hvtrace is left as it is: the "
			"guest's text, or what calls there, is %s; boot the guest anew to trace it",
			l->error == -E2BIG ? "more than a kernel has"
					   : "not looked through in time");
	else if (ret != -ENOENT)
		snprintf(err, errlen, "the probes of an earlier hvtrace cannot be removed: %s",
			 strerror(-ret));
	if (!ret)
		ret = (int)l->nr;
	free(l->patches);
	free(l);
	return ret == -ENOENT ? 0 : ret;
}
