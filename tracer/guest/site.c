// SPDX-License-Identifier: GPL-2.0-or-later
/* site.c - see site.h */
#include "tracer/guest/site.h"

#include <errno.h>
#include <string.h>

#define PAGE 4096

const uint8_t site_nop[SITE_SIZE] = {0x0f, 0x1f, 0x44, 0x00, 0x00};

static const uint8_t plain_return[SITE_SIZE] = {0xc3, 0xcc, 0xcc, 0xcc, 0xcc};

static void relative_make(uint8_t insn[SITE_SIZE], uint8_t opcode, uint64_t va, uint64_t target)
{
	int32_t rel = (int32_t)(target - (va + SITE_SIZE));

	insn[0] = opcode;
	memcpy(insn + 1, &rel, sizeof(rel));
}

uint64_t site_call_target(const uint8_t now[SITE_SIZE], uint64_t va)
{
	int32_t rel;

	if (now[0] != INSN_CALL)
		return 0;
	memcpy(&rel, now + 1, sizeof(rel));
	return va + SITE_SIZE + (uint64_t)(int64_t)rel;
}

bool site_is_endbr(const uint8_t now[ENDBR_SIZE])
{
	static const uint8_t forms[][ENDBR_SIZE] = {
		{0xf3, 0x0f, 0x1e, 0xfa},
		{0x66, 0x0f, 0x1f, 0x00},
		{0x0f, 0x1f, 0x40, 0xd6},
	};

	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++)
		if (!memcmp(now, forms[i], ENDBR_SIZE))
			return true;
	return false;
}

void site_call_make(uint8_t insn[SITE_SIZE], uint64_t va, uint64_t target)
{
	relative_make(insn, INSN_CALL, va, target);
}

void site_return_make(uint8_t insn[SITE_SIZE], uint64_t va, uint64_t thunk)
{
	if (thunk)
		relative_make(insn, INSN_JMP, va, thunk);
	else
		memcpy(insn, plain_return, SITE_SIZE);
}

bool text_in_one_piece(struct guest_kernel *g, uint64_t va, uint8_t size)
{
	uint64_t first, last;

	if (va % PAGE + size <= PAGE)
		return true;
	return !guest_translate(g, va, &first) && !guest_translate(g, va + size - 1, &last) &&
	       last == first + size - 1;
}

bool site_in_one_piece(struct guest_kernel *g, uint64_t va)
{
	return text_in_one_piece(g, va, SITE_SIZE);
}

void text_view_init(struct text_view *v, struct guest_kernel *g)
{
	v->g = g;
	v->va = 0;
	v->len = 0;
}

/* As much as there is from this page on: the image is one piece, a module may end soon. */
static int view_move(struct text_view *v, uint64_t va)
{
	v->va = va & ~(uint64_t)(PAGE - 1);
	v->len = sizeof(v->bytes);
	while (v->len && guest_read(v->g, v->va, v->bytes, v->len))
		v->len = v->len > 2 * PAGE ? 2 * PAGE : v->len - PAGE;
	return v->len ? 0 : -EFAULT;
}

int text_view_get(struct text_view *v, uint64_t va, void *buf, size_t len)
{
	if (va < v->va || va - v->va > v->len || v->len - (size_t)(va - v->va) < len) {
		int ret = view_move(v, va);

		if (ret)
			return ret;
		if (v->len - (size_t)(va - v->va) < len)
			return -EFAULT;
	}
	memcpy(buf, v->bytes + (va - v->va), len);
	return 0;
}
