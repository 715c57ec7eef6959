// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * bounds.c - see bounds.h
 *
 * Who jumps into a function from another one (its cold part, for one) is found byte by byte: what
 * looks like such a jump by chance only makes an instruction stay. Tables are as the running kernel
 * has them; a place in them is mostly told by its distance from there.
 */
#include "tracer/probe/critical/bounds.h"
#include "tracer/guest/site.h"
#include "tracer/guest/static-calls.h"
#include "tracer/probe/critical/kinds.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define TABLE_MAX   (32u << 20)
#define ENTRIES_MAX (1u << 20)
#define CHUNK	    65536

struct bounds {
	struct trace *t;
	const struct text_range *func;
	size_t n;
	uint64_t *entry;
	size_t nr_entries, room_entries;
	struct text_range *taken;
	size_t nr_taken, room_taken;
	struct move_change *change;
	size_t nr_changes, room_changes;
	int ret;
};

static bool of_interest(const struct bounds *b, uint64_t va)
{
	size_t lo = 0, hi = b->n;

	while (lo < hi) { /* the first that does not end before va */
		size_t mid = lo + (hi - lo) / 2;

		if (b->func[mid].va + b->func[mid].size <= va)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < b->n && b->func[lo].va <= va;
}

static void *grow(void *v, size_t nr, size_t *room, size_t size)
{
	if (nr < *room)
		return v;
	*room = *room ? 2 * *room : 1024;
	return reallocarray(v, *room, size);
}

static void enter(struct bounds *b, uint64_t va)
{
	void *v;

	if (b->ret || !of_interest(b, va))
		return;
	if (b->nr_entries == ENTRIES_MAX) {
		b->ret = -E2BIG; /* its text says anything */
		return;
	}
	v = grow(b->entry, b->nr_entries, &b->room_entries, sizeof(*b->entry));
	if (!v) {
		b->ret = -ENOMEM;
		return;
	}
	b->entry = v;
	b->entry[b->nr_entries++] = va;
}

static void take(struct bounds *b, uint64_t va, uint64_t size)
{
	void *v;

	if (b->ret || !of_interest(b, va))
		return;
	v = grow(b->taken, b->nr_taken, &b->room_taken, sizeof(*b->taken));
	if (!v) {
		b->ret = -ENOMEM;
		return;
	}
	b->taken = v;
	b->taken[b->nr_taken++] = (struct text_range){va, size};
}

/* --- reading ---------------------------------------------------------------------------------- */

static uint64_t runtime(const struct bounds *b, const char *name)
{
	uint64_t va = guestsym_addr(b->t->gs, name);

	return va ? va + b->t->guest.slide : 0;
}

/* fn gets each `stride` bytes, at this address, and `len` bytes from there on. */
static void each(struct bounds *b, const char *start, const char *stop, size_t stride, size_t len,
		 void (*fn)(struct bounds *b, uint64_t va, const uint8_t *p))
{
	uint64_t va = runtime(b, start), end = runtime(b, stop);
	uint8_t *buf = malloc(CHUNK + len);

	if (!buf || (end > va && end - va > TABLE_MAX))
		b->ret = buf ? -EFAULT : -ENOMEM;
	while (!b->ret && va && va + len <= end) {
		size_t n = end - va < CHUNK + len ? (size_t)(end - va) : CHUNK + len, i = 0;

		b->ret = guest_read(&b->t->guest, va, buf, n);
		for (; !b->ret && i + len <= n; i += stride)
			fn(b, va + i, buf + i);
		va += i;
	}
	free(buf);
}

static uint64_t relative(uint64_t va, const uint8_t *p)
{
	int32_t rel;

	memcpy(&rel, p, sizeof(rel));
	return va + (uint64_t)(int64_t)rel;
}

/* --- what there is ---------------------------------------------------------------------------- */

enum { JUMP_SIZE = 6 };

static void look_at_text(struct bounds *b, uint64_t va, const uint8_t *p)
{
	if (*p == INSN_CALL || *p == INSN_JMP)
		enter(b, relative(va + SITE_SIZE, p + 1));
	else if (p[0] == 0x0f && (p[1] & 0xf0) == 0x80)
		enter(b, relative(va + JUMP_SIZE, p + 2));
}

/* Tables of jumps, and whatever else has an address in there. */
static void look_at_word(struct bounds *b, uint64_t va, const uint8_t *p)
{
	uint64_t word;

	(void)va;
	memcpy(&word, p, sizeof(word));
	enter(b, word);
}

/* A jump of 8 bits, or the NOP in its place: since 5.14 (arch/x86/kernel/jump_label.c). */
static bool is_short(const uint8_t now[2])
{
	return now[0] == 0xeb || (now[0] == 0x66 && now[1] == 0x90);
}

/* struct jump_entry: the code, where it may jump to, the key. */
static void look_at_key(struct bounds *b, uint64_t va, const uint8_t *p)
{
	uint64_t code = relative(va, p);
	uint8_t now[2] = {0};

	enter(b, relative(va + 4, p + 4));
	if (!of_interest(b, code))
		return;
	if (guest_read(&b->t->guest, code, now, sizeof(now)))
		b->ret = -EFAULT;
	take(b, code, is_short(now) ? 2 : SITE_SIZE);
}

/* struct exception_table_entry: the instruction, where it goes on. */
static void look_at_fault(struct bounds *b, uint64_t va, const uint8_t *p)
{
	take(b, relative(va, p), 1);
	enter(b, relative(va + 4, p + 4));
}

static void read_static_calls(struct bounds *b)
{
	struct static_calls calls;

	if (b->ret)
		return;
	b->ret = static_calls_read(&b->t->guest, b->t->gs, &calls);
	for (size_t i = 0; !b->ret && i < calls.nr; i++)
		take(b, calls.va[i], SITE_SIZE);
	if (!b->ret)
		static_calls_free(&calls);
}

static void note_change(struct bounds *b, const struct move_change *c)
{
	void *v;

	if (b->ret || !of_interest(b, c->va))
		return;
	v = grow(b->change, b->nr_changes, &b->room_changes, sizeof(*b->change));
	if (!v) {
		b->ret = -ENOMEM;
		return;
	}
	b->change = v;
	b->change[b->nr_changes++] = *c;
}

/* Those of no kind are instructions like others. */
static void read_change(struct bounds *b, const struct guestsym_preempt_site *s, bool may_move)
{
	uint64_t va = s->addr + b->t->guest.slide;

	for (unsigned int k = 0; k < FLAG_KINDS; k++) {
		if (!flag_kinds[k].change || flag_kinds[k].change != s->value ||
		    flag_kinds[k].form.size != s->len)
			continue;
		if (may_move)
			note_change(b, &(struct move_change){va, s->len, (uint8_t)k});
		else
			take(b, va, s->len);
	}
}

static void read_sites(struct bounds *b, bool may_move)
{
	const struct guestsym_preempt_site *changes;
	const struct guestsym_site *sites;
	size_t n = guestsym_fentry_sites(b->t->gs, &sites);

	for (size_t i = 0; i < n; i++)
		take(b, sites[i].addr + b->t->guest.slide, SITE_SIZE);
	n = guestsym_preempt_sites(b->t->gs, &changes);
	for (size_t i = 0; i < n; i++)
		read_change(b, &changes[i], may_move);
}

static int by_value(const void *a, const void *b)
{
	uint64_t p = *(const uint64_t *)a, q = *(const uint64_t *)b;

	return p < q ? -1 : p > q;
}

static int by_va(const void *a, const void *b)
{
	const struct text_range *p = a, *q = b;

	return p->va < q->va ? -1 : p->va > q->va;
}

int bounds_read(struct trace *t, const struct text_range *func, size_t n, bool changes,
		struct move_bounds *mb)
{
	struct bounds b = {.t = t, .func = func, .n = n};
	bool tables = guestsym_addr(t->gs, "__start_rodata");

	*mb = (struct move_bounds){0};
	if (!guestsym_addr(t->gs, "__start___ex_table"))
		return -ENODATA;
	each(&b, "_stext", "_etext", 1, JUMP_SIZE, look_at_text);
	each(&b, "__start_rodata", "__end_rodata", 8, 8, look_at_word);
	each(&b, "__start___jump_table", "__stop___jump_table", 16, 16, look_at_key);
	each(&b, "__start___ex_table", "__stop___ex_table", 12, 12, look_at_fault);
	read_static_calls(&b);
	read_sites(&b, changes);
	if (b.ret) {
		free(b.entry);
		free(b.taken);
		free(b.change);
		return b.ret;
	}
	if (b.nr_entries)
		qsort(b.entry, b.nr_entries, sizeof(*b.entry), by_value);
	if (b.nr_taken)
		qsort(b.taken, b.nr_taken, sizeof(*b.taken), by_va);
	*mb = (struct move_bounds){
		.entry = b.entry,
		.nr_entries = b.nr_entries,
		.taken = b.taken,
		.nr_taken = b.nr_taken,
		.change = b.change,
		.nr_changes = b.nr_changes,
		.tables = tables,
	};
	return 0;
}

void bounds_free(struct move_bounds *b)
{
	union {
		const void *from;
		void *v;
	} entry = {.from = b->entry}, taken = {.from = b->taken}, change = {.from = b->change};

	free(entry.v);
	free(taken.v);
	free(change.v);
	*b = (struct move_bounds){0};
}
