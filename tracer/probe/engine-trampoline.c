// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * engine-trampoline.c - the engine that patches calls of the payload into sites. What it cannot
 * serve is a trap (engine-trap.c).
 */
#include "tracer/lib/text.h"
#include "tracer/probe/critical/sites.h"
#include "tracer/probe/probe.h"
#include "tracer/probe/returns/returns.h"
#include "tracer/probe/trampoline/trampoline.h"
#include "tracer/window/window.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Where the site's call goes, in the guest. */
static uint64_t probe_target(const struct trace *t, const struct probe *p)
{
	const struct payload_text *text = trampoline_text(t);
	uint32_t entry = text->function;

	if (p->flags & PROBE_FL_FLAG && flag_sites_moves(t, p->va))
		return flag_sites_code(t, p->va);
	if (p->flags & PROBE_FL_FLAG)
		entry = flag_sites_entry(t, p->va, text);
	else if (p->flags & PROBE_FL_EXIT)
		entry = p->flags & PROBE_FL_ALL_REGS ? text->exit_all : text->exit;
	else if (p->guards == GUARD_TEXT_LOCK)
		entry = p->flags & PROBE_FL_RECORD ? text->lock_record : text->lock;
	else if (p->guards == GUARD_DEPTH)
		entry = p->flags & PROBE_FL_RECORD ? text->depth_record : text->depth;
	else if (guards_are_stacks(p->guards))
		entry = text->stack;
	else if (p->guards)
		entry = text->call;
	return trampoline_window(t)->header.va + WINDOW_TEXT + entry;
}

/*
 * A call reaches 2 GiB to either side. What fires once is no call, and some returns have no room
 * for one, so these stay traps.
 */
static bool probe_served(const struct trace *t, const struct probe *p)
{
	int64_t rel = (int64_t)(probe_target(t, p) - (p->va + t->guest.slide + SITE_SIZE));

	if (p->flags & PROBE_FL_EXIT && returns_size(t, p->va) < SITE_SIZE)
		return false;
	if (p->guards & GUARD_PROBE)
		return false; /* which asks for any register */
	return !(p->flags & PROBE_FL_ONCE) && rel == (int32_t)rel;
}

static bool probe_moves(const struct trace *t, const struct probe *p)
{
	return p->flags & PROBE_FL_FLAG && flag_sites_moves(t, p->va);
}

/* How many bytes change. */
static uint8_t patch_size(const struct trace *t, const struct probe *p)
{
	uint8_t form[FLAG_SITE_MAX];

	if (!(p->flags & PROBE_FL_FLAG) || probe_moves(t, p))
		return SITE_SIZE;
	return flag_sites_form(t, p->va, form);
}

static int patch_make(struct trace *t, const struct probe *p, struct machine_patch *patch)
{
	uint64_t va = p->va + t->guest.slide;
	uint8_t before;

	patch->size = patch_size(t, p);
	before = patch->size - SITE_SIZE;
	memset(patch->bytes, PREFIX_CS, before);
	site_call_make(patch->bytes + before, va + before, probe_target(t, p));
	if (probe_moves(t, p))
		patch->bytes[0] = INSN_JMP;
	return guest_translate(&t->guest, va, &patch->pa);
}

/* The indexes of `which` in two parts: first those that `first` is true of. Gives their number. */
static size_t probes_split(struct trace *t, const uint32_t *which, size_t n, uint32_t *parts,
			   bool (*first)(const struct trace *t, const struct probe *p))
{
	size_t front = 0, back = n;

	for (size_t i = 0; i < n; i++) {
		if (first(t, &t->probes.v[which[i]]))
			parts[front++] = which[i];
		else
			parts[--back] = which[i];
	}
	return front;
}

/* What the kernel has there itself. */
static void site_bytes(const struct trace *t, const struct probe *p,
		       uint8_t bytes[MACHINE_PATCH_MAX])
{
	uint8_t form[FLAG_SITE_MAX];

	_Static_assert(PAYLOAD_FORM_MAX <= MACHINE_PATCH_MAX, "a machine can patch them");
	if (p->flags & PROBE_FL_FLAG) {
		flag_sites_form(t, p->va, form);
		memcpy(bytes, form, patch_size(t, p));
	} else if (p->flags & PROBE_FL_EXIT) {
		returns_form(t, p->va, bytes);
	} else {
		memcpy(bytes, site_nop, SITE_SIZE);
	}
}

/* Where the call, or the jump of one that has moved, leads to; 0: there is neither. */
static uint64_t leads_to(const struct trace *t, const struct probe *p, uint8_t now[SITE_SIZE],
			 uint64_t va)
{
	if (probe_moves(t, p))
		now[0] = now[0] == INSN_JMP ? INSN_CALL : 0;
	return site_call_target(now, va);
}

/*
 * Only a site that still calls the payload, wherever in it, is given its NOP or return back: else
 * somebody has taken it. Where nothing is mapped nothing is called: a module's text was freed.
 */
static int patch_out(struct trace *t, const uint32_t *which, size_t n)
{
	struct machine_patch *patches = calloc(n ? n : 1, sizeof(*patches));
	const struct window *w = trampoline_window(t);
	struct text_view view;
	size_t nr = 0;
	int ret = patches ? 0 : -ENOMEM;

	text_view_init(&view, &t->guest);
	for (size_t i = 0; i < n && !ret; i++) {
		const struct probe *p = &t->probes.v[which[i]];
		uint64_t va = p->va + t->guest.slide;
		uint8_t now[SITE_SIZE];

		ret = patch_make(t, p, &patches[nr]);
		if (ret == -EFAULT) {
			ret = 0;
			continue;
		}
		va += patches[nr].size - SITE_SIZE;
		if (!ret && !text_view_get(&view, va, now, SITE_SIZE) &&
		    leads_to(t, p, now, va) - w->header.va < w->header.size)
			site_bytes(t, p, patches[nr++].bytes);
	}
	if (!ret)
		ret = machine_patch_text(t->m, patches, nr);
	for (size_t i = 0; i < n && !ret; i++)
		t->probes.v[which[i]].flags &= (uint16_t)~PROBE_FL_CALL;
	free(patches);
	return ret;
}

/*
 * A sweep has failed, and some of it may be in the guest. What cannot be taken back either counts
 * as inserted: letting go tries once more, and leaves the payload where it is while it is called.
 */
static void patch_undo(struct trace *t, const uint32_t *which, size_t n)
{
	if (!patch_out(t, which, n))
		return;
	for (size_t i = 0; i < n; i++)
		t->probes.v[which[i]].flags |= PROBE_FL_SET | PROBE_FL_CALL;
}

static int patch_in(struct trace *t, const uint32_t *which, size_t n)
{
	struct machine_patch *patches = calloc(n ? n : 1, sizeof(*patches));
	int ret = patches ? 0 : -ENOMEM;

	for (size_t i = 0; i < n && !ret; i++)
		ret = patch_make(t, &t->probes.v[which[i]], &patches[i]);
	if (!ret) {
		trampoline_entered(t->tramp);
		ret = machine_patch_text(t->m, patches, n);
		if (ret)
			patch_undo(t, which, n);
	}
	for (size_t i = 0; i < n && !ret; i++)
		t->probes.v[which[i]].flags |= PROBE_FL_CALL;
	free(patches);
	return ret;
}

static int trampoline_enter(struct trace *t)
{
	trampoline_entered(t->tramp);
	return flag_sites_enter(t, trampoline_window(t), trampoline_text(t));
}

static int trampoline_insert(struct trace *t, const uint32_t *which, size_t n)
{
	uint32_t *parts = malloc((n ? n : 1) * sizeof(*parts));
	size_t calls;
	int ret;

	if (!parts)
		return -ENOMEM;
	calls = probes_split(t, which, n, parts, probe_served);
	ret = trap_probe_ops.insert(t, parts + calls, n - calls);
	if (!ret) {
		ret = patch_in(t, parts, calls);
		if (ret)
			trap_probe_ops.remove(t, parts + calls, n - calls);
	}
	free(parts);
	return ret;
}

static bool probe_is_call(const struct trace *t, const struct probe *p)
{
	(void)t;
	return p->flags & PROBE_FL_CALL;
}

static int trampoline_remove(struct trace *t, const uint32_t *which, size_t n)
{
	uint32_t *parts = malloc((n ? n : 1) * sizeof(*parts));
	size_t calls;
	int ret, error;

	if (!parts)
		return -ENOMEM;
	calls = probes_split(t, which, n, parts, probe_is_call);
	ret = trap_probe_ops.remove(t, parts + calls, n - calls);
	error = patch_out(t, parts, calls);
	free(parts);
	return ret ? ret : error;
}

const struct probe_ops trampoline_probe_ops = {
	.calls = true,
	.name = "trampoline",
	.desc = "each hit calls code placed in the guest",
	.enter = trampoline_enter,
	.insert = trampoline_insert,
	.remove = trampoline_remove,
};
