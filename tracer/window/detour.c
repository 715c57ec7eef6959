// SPDX-License-Identifier: GPL-2.0-or-later
/* detour.c - see detour.h */
#include "tracer/window/detour.h"
#include "tracer/guest/site.h"
#include "tracer/window/quiesce.h"

#include <capstone/capstone.h>
#include <errno.h>
#include <string.h>

#define WITHIN_MS 20000

/*
 * Of the kind that a function begins with: saving registers, moving arguments, making room, simple
 * arithmetic. What the flags are before does not matter to any of them.
 */
static bool can_be_moved(const cs_insn *insn)
{
	switch (insn->id) {
	case X86_INS_PUSH:
	case X86_INS_MOV:
	case X86_INS_MOVABS:
	case X86_INS_MOVZX:
	case X86_INS_XOR:
	case X86_INS_SUB:
	case X86_INS_LEA:
	case X86_INS_AND:
	case X86_INS_TEST:
	case X86_INS_CMP:
	case X86_INS_ADD:
	case X86_INS_OR:
	case X86_INS_NOT:
	case X86_INS_NEG:
	case X86_INS_SHL:
	case X86_INS_SHR:
	case X86_INS_SAR:
	case X86_INS_MOVSX:
	case X86_INS_MOVSXD:
		break;
	default:
		return false;
	}
	return true;
}

static bool is_relative(const cs_insn *insn)
{
	for (uint8_t i = 0; i < insn->detail->x86.op_count; i++) {
		const cs_x86_op *op = &insn->detail->x86.operands[i];

		if (op->type == X86_OP_MEM && op->mem.base == X86_REG_RIP)
			return true;
	}
	return false;
}

/* The address goes on being the same where the copy is. Such an instruction makes room by itself.
 */
static void relative_learn(const cs_insn *insn, struct payload_detour *d)
{
	if (is_relative(insn))
		d->relative = (uint8_t)(d->size + insn->detail->x86.encoding.disp_offset);
}

static int insns_measure(struct payload_detour *d, const uint8_t *code, size_t len)
{
	cs_insn *insn = NULL;
	size_t n;
	csh cs;

	if (cs_open(CS_ARCH_X86, CS_MODE_64, &cs) != CS_ERR_OK)
		return -ENOMEM;
	cs_option(cs, CS_OPT_DETAIL, CS_OPT_ON);
	n = cs_disasm(cs, code, len, d->va, 0, &insn);
	d->size = d->relative = 0;
	for (size_t i = 0; i < n && d->size < SITE_SIZE && can_be_moved(&insn[i]); i++) {
		relative_learn(&insn[i], d);
		d->size += insn[i].size;
	}
	cs_free(insn, n);
	cs_close(&cs);
	return d->size < SITE_SIZE || d->size > DETOUR_REST - SITE_SIZE ? -EOPNOTSUPP : 0;
}

int detour_learn(struct guest_kernel *g, uint64_t va, struct payload_detour *d)
{
	uint8_t code[ENDBR_SIZE + DETOUR_INSNS], *at = code;
	int ret = guest_read(g, va, code, sizeof(code));

	if (ret)
		return ret;
	if (site_is_endbr(code)) { /* it stays where it is */
		at += ENDBR_SIZE;
		va += ENDBR_SIZE;
	}
	d->va = va;
	memcpy(d->insns, at, DETOUR_INSNS);
	return insns_measure(d, at, DETOUR_INSNS);
}

static void jump_make(uint8_t insn[SITE_SIZE], uint64_t va, uint64_t target)
{
	site_call_make(insn, va, target);
	insn[0] = INSN_JMP;
}

static uint64_t text_va(const struct window *w)
{
	return w->header.va + WINDOW_TEXT;
}

/* From a copy at va, which is in rel32 reach of all that the kernel's code is in reach of. */
static void relative_make(const struct payload_detour *d, uint64_t va, uint8_t *code)
{
	uint32_t rel;

	memcpy(&rel, code + d->relative, sizeof(rel));
	rel += (uint32_t)(d->va - va);
	memcpy(code + d->relative, &rel, sizeof(rel));
}

/* The copies, and the way back: how many bytes. */
static size_t rest_make(const struct window *w, const struct payload_detour *d, uint8_t *code)
{
	memcpy(code, d->insns, d->size);
	if (d->relative)
		relative_make(d, text_va(w) + d->rest, code);
	jump_make(code + d->size, text_va(w) + d->rest + d->size, d->va + d->size);
	return d->size + SITE_SIZE;
}

static int rest_write(struct window *w, const struct payload_detour *d)
{
	uint8_t code[DETOUR_REST];
	size_t len = rest_make(w, d, code);

	return window_write_text(w, WINDOW_TEXT + d->rest, code, len);
}

void detours_keep(const struct window *w, uint8_t text[WINDOW_TEXT_SIZE])
{
	for (size_t i = 0; i < PAYLOAD_DETOURS; i++)
		if (w->header.detour[i].va)
			rest_make(w, &w->header.detour[i], text + w->header.detour[i].rest);
}

uint64_t detours_home(struct guest_kernel *g, uint64_t window, uint32_t off)
{
	struct payload_detour d[PAYLOAD_DETOURS];

	if (guest_read(g, window + WINDOW_HEADER + offsetof(struct payload_header, detour), d,
		       sizeof(d)))
		return 0;
	for (size_t i = 0; i < PAYLOAD_DETOURS; i++)
		if (d[i].va && d[i].size <= DETOUR_INSNS && off - d[i].rest <= d[i].size)
			return d[i].va + (off - d[i].rest);
	return 0;
}

static int jumps_remove(struct guest_kernel *g, const struct window *w, size_t first, size_t nr)
{
	struct machine_patch patches[PAYLOAD_DETOURS];
	size_t n = 0;

	for (size_t i = first; i < first + nr; i++) {
		const struct payload_detour *d = &w->header.detour[i];
		uint8_t now[SITE_SIZE], jump[SITE_SIZE];

		if (!d->va || guest_read(g, d->va, now, sizeof(now)))
			continue;
		jump_make(jump, d->va, text_va(w) + d->entry);
		if (memcmp(now, jump, sizeof(now)) || guest_translate(g, d->va, &patches[n].pa))
			continue;
		patches[n].size = SITE_SIZE;
		memcpy(patches[n++].bytes, d->insns, SITE_SIZE);
	}
	return n ? machine_patch_text(g->m, patches, n) : 0;
}

int detours_remove(struct guest_kernel *g, const struct window *w)
{
	return jumps_remove(g, w, 0, PAYLOAD_DETOURS);
}

int detours_take_out(struct guest_kernel *g, const struct window *w, unsigned int first, size_t n)
{
	return jumps_remove(g, w, first, n);
}

struct insertion {
	struct guest_kernel *g;
	struct window *w;
	const struct payload_detour *d;
	size_t first, n;
};

/* The machine is paused. */
static int jumps_write(void *arg)
{
	struct machine_patch patches[PAYLOAD_DETOURS];
	struct insertion *in = arg;
	int ret;

	for (size_t i = 0; i < in->n; i++) {
		uint8_t now[DETOUR_INSNS];

		ret = guest_read(in->g, in->d[i].va, now, in->d[i].size);
		if (!ret && memcmp(now, in->d[i].insns, in->d[i].size))
			ret = -EBUSY;
		if (!ret)
			ret = guest_translate(in->g, in->d[i].va, &patches[i].pa);
		if (ret)
			return ret;
		patches[i].size = SITE_SIZE;
		jump_make(patches[i].bytes, in->d[i].va, text_va(in->w) + in->d[i].entry);
	}
	ret = machine_patch_text(in->g->m, patches, in->n);
	if (ret)
		jumps_remove(in->g, in->w, in->first, in->n);
	return ret;
}

int detours_insert(struct guest_kernel *g, const struct guestsym *gs, struct window *w,
		   unsigned int first, const struct payload_detour *d, size_t n)
{
	struct insertion in = {.g = g, .w = w, .d = d, .first = first, .n = n};
	struct text_range range[PAYLOAD_DETOURS];
	int ret = first + n > PAYLOAD_DETOURS ? -E2BIG : 0;

	for (size_t i = 0; i < n && !ret; i++) {
		/* Who is at the first of them goes through the jump. */
		range[i] = (struct text_range){d[i].va + 1, d[i].size - 1};
		w->header.detour[first + i] = d[i];
		ret = rest_write(w, &d[i]);
	}
	if (!ret)
		ret = window_write(w, WINDOW_HEADER, &w->header, sizeof(w->header));
	if (ret)
		return ret;
	return quiesce_then(g, gs, range, n, (struct quiesce_patience){.ms = WITHIN_MS},
			    jumps_write, &in);
}
