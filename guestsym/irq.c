// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * irq.c - the places that change or read the interrupt flag.
 *
 * Kernels with paravirtualised operations call them through pv_ops and list the calls, which the
 * booted kernel replaces by cli, sti and so on: in .parainstructions, or since 6.8 in
 * .altinstructions. Which operation it is follows from the function that the image has in that
 * slot of pv_ops. In kernels without, the instructions themselves are looked for, but for those of
 * the entry code, which runs half in user mode. So are, in the memory of a booted kernel, what the
 * listed calls have become: the list is gone by then.
 */
#include "guestsym/decode.h"

#include <errno.h>
#include <stdlib.h>

#define PV_OPS_MAX 4096 /* struct paravirt_patch_template has some 100 pointers */

struct irq_sites {
	const struct elf_image *e;
	const struct symbols *s;
	uint64_t pv_ops;
	bool patched; /* what has become of calls is looked for */
	struct guestsym_range init, entry;
	struct guestsym_irq_site *v;
	size_t n, room;
};

/* Init code is left out: it is gone before there is anything to measure. */
static int add_site(struct irq_sites *irq, uint64_t addr, enum guestsym_irq_kind kind, uint8_t len)
{
	if (addr >= irq->init.start && addr < irq->init.end)
		return 0;
	if (irq->n == irq->room) {
		size_t room = irq->room ? 2 * irq->room : 1024;
		void *v = reallocarray(irq->v, room, sizeof(*irq->v));

		if (!v)
			return -ENOMEM;
		irq->v = v;
		irq->room = room;
	}
	irq->v[irq->n++] = (struct guestsym_irq_site){.addr = addr, .kind = kind, .len = len};
	return 0;
}

/* --- calls through pv_ops ---------------------------------------------------------------- */

static bool name_to_kind(const char *name, enum guestsym_irq_kind *kind)
{
	/* native_irq_disable, since 6.2 pv_native_irq_disable (arch/x86/kernel/paravirt.c) */
	static const struct {
		const char *suffix;
		enum guestsym_irq_kind kind;
	} ops[] = {
		{"native_irq_disable", GUESTSYM_IRQ_DISABLE},
		{"native_irq_enable", GUESTSYM_IRQ_ENABLE},
		{"native_save_fl", GUESTSYM_IRQ_SAVE},
		{"native_restore_fl", GUESTSYM_IRQ_RESTORE},
	};
	size_t len = strlen(name);

	for (size_t i = 0; i < ARRAY_SIZE(ops); i++) {
		size_t suffix = strlen(ops[i].suffix);

		if (len >= suffix && !strcmp(name + len - suffix, ops[i].suffix)) {
			*kind = ops[i].kind;
			return true;
		}
	}
	return false;
}

/* How many names of one function are looked at: kernels have two of those that matter. */
#define ALIASES_MAX 64

/* Which operation the function that slot points to is; it may have several names. */
static bool slot_to_kind(const struct irq_sites *irq, uint64_t slot, enum guestsym_irq_kind *kind)
{
	const struct guestsym_symbol *sym, *end;
	const uint8_t *p = elf_image_at(irq->e, slot, 8);
	uint64_t off;

	if (slot < irq->pv_ops || slot - irq->pv_ops >= PV_OPS_MAX || !p)
		return false;
	sym = symbols_find(irq->s, get_u64(p), &off, NULL);
	if (!sym || off)
		return false;
	end = irq->s->v + irq->s->n;
	if (end - sym > ALIASES_MAX)
		end = sym + ALIASES_MAX;
	for (uint64_t addr = sym->addr; sym < end && sym->addr == addr; sym++)
		if (name_to_kind(sym->name, kind))
			return true;
	return false;
}

/* Add the site at addr if it is an indirect call through an interrupt-flag slot of pv_ops. */
static int add_pv_call(struct irq_sites *irq, uint64_t addr)
{
	const uint8_t *p = elf_image_at(irq->e, addr, 7);
	enum guestsym_irq_kind kind;
	uint64_t slot;
	uint8_t len;

	if (!p || p[0] != 0xff)
		return 0;
	if (p[1] == 0x15) { /* call *slot(%rip) */
		len = 6;
		slot = place_relative(addr + len, p + 2);
	} else if (p[1] == 0x14 && p[2] == 0x25) { /* call *slot */
		len = 7;
		slot = (uint64_t)(int64_t)(int32_t)get_u32(p + 3);
	} else {
		return 0;
	}
	return slot_to_kind(irq, slot, &kind) ? add_site(irq, addr, kind, len) : 0;
}

/* struct paravirt_patch_site: pointer, type, length, padded to 16 bytes. */
static int find_parainstructions(struct irq_sites *irq)
{
	const uint8_t *p;
	uint64_t va;
	size_t n = table_entries(irq->e, irq->s, "__parainstructions", "__parainstructions_end", 16,
				 &va, &p);
	int err = 0;

	for (size_t i = 0; i < n && !err; i++)
		err = add_pv_call(irq, get_u64(p + 16 * i));
	return err;
}

/*
 * struct alt_instr starts with two place-relative words, instruction and replacement; with what
 * follows it has 12 bytes (5.13), 13 (before: padlen) or 14 (6.3: flags). Read with another size
 * they lead out of the image soon.
 */
static bool alt_stride_fits(const struct irq_sites *irq, const uint8_t *p, uint64_t va, size_t len,
			    size_t stride)
{
	if (len % stride)
		return false;
	for (size_t pos = 0; pos < len; pos += stride)
		if (!elf_image_at(irq->e, place_relative(va + pos, p + pos), 1) ||
		    !elf_image_at(irq->e, place_relative(va + pos + 4, p + pos + 4), 1))
			return false;
	return true;
}

static int find_altinstructions(struct irq_sites *irq)
{
	const uint8_t *p;
	uint64_t va;
	size_t len = table_entries(irq->e, irq->s, "__alt_instructions", "__alt_instructions_end",
				   1, &va, &p);
	int err = 0;

	for (size_t stride = 12; stride <= 14; stride++) {
		if (!len || !alt_stride_fits(irq, p, va, len, stride))
			continue;
		for (size_t pos = 0; pos < len && !err; pos += stride)
			err = add_pv_call(irq, place_relative(va + pos, p + pos));
		break;
	}
	return err;
}

/* --- instructions ------------------------------------------------------------------------ */

static bool insn_to_kind(const cs_insn *insn, enum guestsym_irq_kind *kind)
{
	switch (insn->id) {
	case X86_INS_CLI:
		*kind = GUESTSYM_IRQ_DISABLE;
		return true;
	case X86_INS_STI:
		*kind = GUESTSYM_IRQ_ENABLE;
		return true;
	case X86_INS_POPFQ:
		*kind = GUESTSYM_IRQ_RESTORE;
		return true;
	default:
		return false;
	}
}

/* Bytes up to and including the last one that may be cli, sti or popf; most functions have none. */
static size_t last_candidate(const uint8_t *p, size_t len)
{
	while (len && p[len - 1] != 0xfa && p[len - 1] != 0xfb && p[len - 1] != 0x9d)
		len--;
	return len;
}

#define PATCHED_LEN 6 /* call *slot(%rip) */

/* What apply_paravirt() (since 6.8: apply_alternatives()) makes of the calls on plain hardware. */
static bool patched_to_kind(const uint8_t *p, size_t len, enum guestsym_irq_kind *kind)
{
	static const struct {
		uint8_t bytes[PATCHED_LEN];
		enum guestsym_irq_kind kind;
	} patched[] = {
		{{0xfa, 0x0f, 0x1f, 0x44, 0x00, 0x00}, GUESTSYM_IRQ_DISABLE},
		{{0xfb, 0x0f, 0x1f, 0x44, 0x00, 0x00}, GUESTSYM_IRQ_ENABLE},
		{{0x9c, 0x58, 0x0f, 0x1f, 0x40, 0x00}, GUESTSYM_IRQ_SAVE},
		{{0x57, 0x9d, 0x0f, 0x1f, 0x40, 0x00}, GUESTSYM_IRQ_RESTORE},
	};

	if (len < PATCHED_LEN)
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(patched); i++) {
		if (memcmp(p, patched[i].bytes, PATCHED_LEN) != 0)
			continue;
		*kind = patched[i].kind;
		return true;
	}
	return false;
}

static size_t last_patched(const uint8_t *p, size_t len)
{
	enum guestsym_irq_kind kind;

	for (size_t pos = len; pos > 0; pos--)
		if (patched_to_kind(p + pos - 1, len - pos + 1, &kind))
			return pos;
	return 0;
}

static int look_in_function(void *arg, csh cs, cs_insn *insn, uint64_t va, uint64_t len)
{
	struct irq_sites *irq = arg;
	const uint8_t *p = elf_image_at(irq->e, va, len);
	bool patched = irq->patched;
	size_t left = len, todo = 0;
	uint64_t end;
	int err = 0;

	if (va >= irq->entry.start && va < irq->entry.end)
		return 0;
	if (p)
		todo = patched ? last_patched(p, len) : last_candidate(p, len);
	end = va + todo;
	while (va < end && !err) {
		enum guestsym_irq_kind kind;
		bool found = patched && patched_to_kind(p, left, &kind);
		uint64_t addr = va;

		if (!decode_next(cs, &p, &left, &va, insn))
			break;
		if (found)
			err = add_site(irq, addr, kind, PATCHED_LEN);
		else if (!patched && insn_to_kind(insn, &kind))
			err = add_site(irq, addr, kind, insn->size);
	}
	return err;
}

/* --- putting it together ----------------------------------------------------------------- */

static int compare_sites(const void *a, const void *b)
{
	uint64_t x = ((const struct guestsym_irq_site *)a)->addr;
	uint64_t y = ((const struct guestsym_irq_site *)b)->addr;

	return x < y ? -1 : x > y;
}

/* An instruction with several alternatives is listed once for each. */
static void sort_unique(struct irq_sites *irq)
{
	size_t n = 0;

	if (!irq->n)
		return;
	qsort(irq->v, irq->n, sizeof(*irq->v), compare_sites);
	for (size_t i = 0; i < irq->n; i++)
		if (!i || irq->v[i].addr != irq->v[n - 1].addr)
			irq->v[n++] = irq->v[i];
	irq->n = n;
}

/* A kernel may have other paravirtualised operations, and not these. */
static bool has_irq_ops(const struct irq_sites *irq)
{
	return irq->pv_ops && (symbols_lookup(irq->s, "pv_native_irq_disable") ||
			       symbols_lookup(irq->s, "native_irq_disable"));
}

static int find_insns(struct irq_sites *irq, bool booted)
{
	int err = 0;

	irq->patched = booted && irq->pv_ops;
	if (irq->patched)
		err = decode_functions(irq->e, irq->s, look_in_function, irq);
	/* A kernel with these operations has made something else of all of them: of Xen's. */
	if (err || irq->n || (irq->patched && has_irq_ops(irq)))
		return err;
	irq->patched = false;
	return decode_functions(irq->e, irq->s, look_in_function, irq);
}

int irq_sites_find(const struct kernel *k, struct found_sites *found)
{
	struct irq_sites irq = {
		.e = &k->elf,
		.s = &k->symbols,
		.pv_ops = symbols_addr(&k->symbols, "pv_ops"),
		.init = symbols_init(&k->symbols),
		.entry = {symbols_addr(&k->symbols, "__entry_text_start"),
			  symbols_addr(&k->symbols, "__entry_text_end")},
	};
	int err = 0;

	if (irq.pv_ops && !k->booted) {
		err = find_parainstructions(&irq);
		if (!err)
			err = find_altinstructions(&irq);
	}
	if (!err && !irq.n)
		err = find_insns(&irq, k->booted);
	/* Half of the sites would make windows that never end. */
	if (err)
		irq.n = 0;
	sort_unique(&irq);
	found->v = irq.v;
	found->n = irq.n;
	return err;
}
