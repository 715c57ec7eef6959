// SPDX-License-Identifier: GPL-2.0-or-later
/* decode.c - instructions of guest text, as far as somebody wants to know of them. */
#include "guestsym/decode.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct guestsym_decoder {
	csh cs;
	cs_insn *insn;
};

/*
 * Length of a system instruction in the register forms of 0f 00 and 0f 01, where new ones keep
 * coming (serialize, lkgs, rmpadjust: the decoder knows none of them); 0 for something else.
 */
static size_t system_insn(const uint8_t *p, size_t len)
{
	size_t prefix = len && (p[0] == 0xf2 || p[0] == 0xf3);

	if (len < prefix + 3 || p[prefix] != 0x0f || p[prefix + 1] > 0x01 || p[prefix + 2] < 0xc0)
		return 0;
	return prefix + 3;
}

bool decode_next(csh cs, const uint8_t **p, size_t *left, uint64_t *va, cs_insn *insn)
{
	size_t len;

	if (cs_disasm_iter(cs, p, left, va, insn))
		return true;
	len = system_insn(*p, *left);
	insn->id = X86_INS_INVALID;
	insn->address = *va;
	insn->size = (uint16_t)len;
	*p += len;
	*left -= len;
	*va += len;
	return len;
}

static int each_function(const struct elf_image *e, const struct symbols *s, csh cs, cs_insn *insn,
			 int (*fn)(void *arg, csh cs, cs_insn *insn, uint64_t va, uint64_t len),
			 void *arg)
{
	int err = 0;

	for (size_t i = 0, next; i < s->n && !err; i = next) {
		bool text = false;

		for (next = i; next < s->n && s->v[next].addr == s->v[i].addr; next++)
			text |= tolower(s->v[next].type) == 't' || s->v[next].type == 'W';
		if (text && next < s->n && elf_image_is_text(e, s->v[i].addr))
			err = fn(arg, cs, insn, s->v[i].addr, s->v[next].addr - s->v[i].addr);
	}
	return err;
}

int decode_functions(const struct elf_image *e, const struct symbols *s,
		     int (*fn)(void *arg, csh cs, cs_insn *insn, uint64_t va, uint64_t len),
		     void *arg)
{
	cs_insn *insn;
	int err;
	csh cs;

	if (cs_open(CS_ARCH_X86, CS_MODE_64, &cs) != CS_ERR_OK)
		return -ENOMEM;
	insn = cs_malloc(cs);
	err = insn ? each_function(e, s, cs, insn, fn, arg) : -ENOMEM;
	if (insn)
		cs_free(insn, 1);
	cs_close(&cs);
	return err;
}

struct guestsym_decoder *guestsym_decoder_new(void)
{
	struct guestsym_decoder *d = calloc(1, sizeof(*d));

	if (!d)
		return NULL;
	if (cs_open(CS_ARCH_X86, CS_MODE_64, &d->cs) != CS_ERR_OK) {
		free(d);
		return NULL;
	}
	d->insn = cs_malloc(d->cs);
	if (d->insn)
		return d;
	guestsym_decoder_free(d);
	return NULL;
}

void guestsym_decoder_free(struct guestsym_decoder *d)
{
	if (!d)
		return;
	if (d->insn)
		cs_free(d->insn, 1);
	cs_close(&d->cs);
	free(d);
}

/* Behind its opcode, and last in it. */
static uint64_t relative_target(const struct guestsym_insn *insn, const uint8_t *code, size_t size)
{
	uint64_t end = insn->addr + insn->size;

	if (size == 1)
		return end + (uint64_t)(int64_t)(int8_t)code[insn->size - 1];
	return place_relative(end, code + insn->size - 4);
}

/* Prefixes of jumps are hints, and of two-byte returns nothing. */
static void classify(struct guestsym_insn *insn, const uint8_t *code, unsigned int id)
{
	const uint8_t *op = code, *end = code + insn->size;

	if (id == X86_INS_NOP || id == X86_INS_INT3) {
		insn->kind = id == X86_INS_NOP ? GUESTSYM_INSN_NOP : GUESTSYM_INSN_INT3;
		return;
	}
	while (op + 1 < end && (*op == 0x2e || *op == 0x3e || *op == 0xf2 || *op == 0xf3))
		op++;
	if (op + 1 == end && *op == 0xc3) {
		insn->kind = GUESTSYM_INSN_RETURN;
	} else if (op + 5 == end && *op == 0xe9) {
		insn->kind = GUESTSYM_INSN_JUMP;
		insn->target = relative_target(insn, code, 4);
	} else if (op + 2 == end && *op == 0xeb) {
		insn->kind = GUESTSYM_INSN_JUMP;
		insn->target = relative_target(insn, code, 1);
	} else if (id == X86_INS_JMP) {
		insn->kind = GUESTSYM_INSN_JUMP;
	} else if (op + 6 == end && op[0] == 0x0f && (op[1] & 0xf0) == 0x80) {
		insn->kind = GUESTSYM_INSN_BRANCH;
		insn->target = relative_target(insn, code, 4);
	} else if (op + 2 == end && ((*op & 0xf0) == 0x70 || (*op & 0xfc) == 0xe0)) {
		insn->kind = GUESTSYM_INSN_BRANCH;
		insn->target = relative_target(insn, code, 1);
	}
}

void guestsym_decode(struct guestsym_decoder *d, const uint8_t *code, size_t len, uint64_t addr,
		     bool (*fn)(void *arg, const struct guestsym_insn *insn), void *arg)
{
	const uint8_t *p = code, *at = code;
	uint64_t va = addr;
	size_t left = len;

	for (; decode_next(d->cs, &p, &left, &va, d->insn); at = p) {
		struct guestsym_insn insn = {
			.addr = d->insn->address,
			.size = (uint8_t)d->insn->size,
		};

		classify(&insn, at, d->insn->id);
		if (!fn(arg, &insn))
			break;
	}
}
