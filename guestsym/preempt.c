// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * preempt.c - the places that change the preempt count.
 *
 * A kernel with CONFIG_PREEMPT_COUNT has it per CPU, and changes it by single instructions all over
 * its text: incl, decl and addl of what lies at %gs:__preempt_count (since 6.2: a member of
 * pcpu_hot). Nobody lists them. What has a displacement that leads there is looked for byte by
 * byte, which is quick; what has been found is believed where an instruction starts, so only the
 * functions with some are decoded.
 */
#include "guestsym/decode.h"

#include <errno.h>
#include <stdlib.h>

#define NMI_MASK 0x00f00000 /* include/linux/preempt.h */

struct preempt_sites {
	const struct elf_image *e;
	const struct symbols *s;
	uint64_t count; /* address of the per-CPU variable, as its symbol has it */
	struct guestsym_range init;
	struct guestsym_preempt_site *v;
	size_t n, room;
};

static bool find_count(struct preempt_sites *ps, const struct types *t)
{
	const struct guestsym_symbol *sym = symbols_lookup(ps->s, "__preempt_count");
	struct guestsym_field f = {0};

	if (!sym) {
		sym = symbols_lookup(ps->s, "pcpu_hot");
		if (!sym || types_field(t, "pcpu_hot.preempt_count", &f))
			return false;
	}
	ps->count = sym->addr + f.offset;
	return true;
}

/* Init code is left out: it is gone before there is anything to measure. */
static int add_site(struct preempt_sites *ps, const struct guestsym_preempt_site *site)
{
	if (site->addr >= ps->init.start && site->addr < ps->init.end)
		return 0;
	if (ps->n == ps->room) {
		size_t room = ps->room ? 2 * ps->room : 4096;
		void *v = reallocarray(ps->v, room, sizeof(*ps->v));

		if (!v)
			return -ENOMEM;
		ps->v = v;
		ps->room = room;
	}
	ps->v[ps->n++] = *site;
	return 0;
}

/* --- one instruction ----------------------------------------------------------------------- */

#define INSN_MAX  16
#define GS_PREFIX 0x65

/* What an opcode and the middle bits of the byte behind it do to 32 bits of memory. */
static const struct form {
	uint8_t opcode, reg, imm; /* imm: bytes of an immediate */
	int8_t sign;
} forms[] = {
	{0xff, 0, 0, 1},  /* inc */
	{0xff, 1, 0, -1}, /* dec */
	{0x83, 0, 1, 1},  /* add */
	{0x83, 5, 1, -1}, /* sub */
	{0x81, 0, 4, 1},  /* add */
	{0x81, 5, 4, -1}, /* sub */
};

static const struct form *form_find(uint8_t opcode, uint8_t reg)
{
	for (size_t i = 0; i < ARRAY_SIZE(forms); i++)
		if (forms[i].opcode == opcode && forms[i].reg == reg)
			return &forms[i];
	return NULL;
}

/* Hostile images may have any number there. */
static int32_t immediate(const struct form *f, const uint8_t *p)
{
	uint32_t value = 1;

	if (f->imm)
		value = f->imm == 1 ? (uint32_t)(int8_t)*p : get_u32(p);
	return (int32_t)(f->sign < 0 ? 0 - value : value);
}

/* The displacement's place, when what is there is %gs:disp(%rip) or %gs:disp; 0: something else. */
static size_t displacement(const uint8_t *insn, size_t modrm)
{
	switch (insn[modrm] & 0xc7) {
	case 0x05:
		return modrm + 1;
	case 0x04:
		return insn[modrm + 1] == 0x25 ? modrm + 2 : 0;
	default:
		return 0;
	}
}

static bool is_relative(uint8_t modrm)
{
	return modrm & 1;
}

/* The site at p, if these bytes are an instruction that changes the count. */
static bool site_match(const struct preempt_sites *ps, const uint8_t *p, size_t len, uint64_t va,
		       struct guestsym_preempt_site *site)
{
	uint8_t insn[INSN_MAX] = {0};
	const struct form *f;
	size_t disp;
	uint64_t to;

	memcpy(insn, p, len < INSN_MAX ? len : INSN_MAX);
	f = form_find(insn[1], insn[2] >> 3 & 7);
	disp = displacement(insn, 2);
	if (!f || !disp || disp + 4 + f->imm > len)
		return false;
	*site = (struct guestsym_preempt_site){
		.addr = va,
		.value = immediate(f, insn + disp + 4),
		.len = (uint8_t)(disp + 4 + f->imm),
	};
	to = (uint64_t)(int64_t)(int32_t)get_u32(insn + disp);
	if (is_relative(insn[2]))
		to += va + site->len;
	return to == ps->count;
}

/* --- all of them --------------------------------------------------------------------------- */

/* Behind the last byte that a site may start with; most functions have none. */
static size_t last_candidate(const struct preempt_sites *ps, const uint8_t *p, size_t len,
			     uint64_t va)
{
	struct guestsym_preempt_site site;

	for (size_t pos = len; pos > 0; pos--)
		if (p[pos - 1] == GS_PREFIX &&
		    site_match(ps, p + pos - 1, len - pos + 1, va + pos - 1, &site))
			return pos;
	return 0;
}

/* These are not for the tracers: __nmi_enter() tells the kernel's own ones nothing either. */
static bool is_nmi(const struct guestsym_preempt_site *site)
{
	return (site->value < 0 ? 0 - (uint32_t)site->value : (uint32_t)site->value) & NMI_MASK;
}

static int look_in_function(void *arg, csh cs, cs_insn *insn, uint64_t va, uint64_t len)
{
	struct preempt_sites *ps = arg;
	const uint8_t *p = elf_image_at(ps->e, va, len);
	struct guestsym_preempt_site site;
	size_t left = len;
	uint64_t end;
	int err = 0;

	end = p ? va + last_candidate(ps, p, len, va) : va;
	while (va < end && !err) {
		bool found = *p == GS_PREFIX && site_match(ps, p, left, va, &site);

		if (!decode_next(cs, &p, &left, &va, insn))
			break;
		if (found && !is_nmi(&site))
			err = add_site(ps, &site);
	}
	return err;
}

int preempt_sites_find(const struct kernel *k, struct found_sites *found)
{
	struct preempt_sites ps = {
		.e = &k->elf,
		.s = &k->symbols,
		.init = symbols_init(&k->symbols),
	};
	int err = 0;

	if (find_count(&ps, k->types))
		err = decode_functions(ps.e, ps.s, look_in_function, &ps);
	/* Half of the sites would make windows that never end. */
	if (err)
		ps.n = 0;
	found->v = ps.v;
	found->n = ps.n;
	return err;
}
