// SPDX-License-Identifier: GPL-2.0-or-later
/* fetch.c - see fetch.h */
#include "tracer/events/define/fetch.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
	STRING_MAX = 4096, /* PATH_MAX of the kernel, which is what it takes of a string */
	SYMBOL_MAX = 600,
	PAGE = 4096,
	STACK_SIZE = 16384, /* THREAD_SIZE */
	KERNEL_CS = 0x10,
	KERNEL_SS = 0x18,
};

/* A record that is being filled. */
struct record {
	uint8_t *bytes;
	size_t len, max;
	bool full;
};

static uint64_t reg_value(const struct fetch_hit *hit, uint64_t which)
{
	static const struct fetch_user kernel = {.cs = KERNEL_CS, .ss = KERNEL_SS};
	const struct fetch_user user = hit->user ? *hit->user : kernel;
	const struct machine_regs *r = hit->regs;
	const uint64_t values[FETCH_REGS] = {
		[FETCH_R15] = r->r15, [FETCH_R14] = r->r14, [FETCH_R13] = r->r13,
		[FETCH_R12] = r->r12, [FETCH_R11] = r->r11, [FETCH_R10] = r->r10,
		[FETCH_R9] = r->r9,   [FETCH_R8] = r->r8,   [FETCH_BX] = r->rbx,
		[FETCH_CX] = r->rcx,  [FETCH_DX] = r->rdx,  [FETCH_SI] = r->rsi,
		[FETCH_DI] = r->rdi,  [FETCH_BP] = r->rbp,  [FETCH_AX] = r->rax,
		[FETCH_IP] = hit->ip, [FETCH_CS] = user.cs, [FETCH_FLAGS] = r->rflags,
		[FETCH_SP] = r->rsp,  [FETCH_SS] = user.ss, [FETCH_ORIG_AX] = user.orig_ax,
	};

	return which < FETCH_REGS ? values[which] : 0;
}

/* On x86 an address says itself whose it is. What user mode has made up is none of the kernel's. */
static int read_at(const struct fetch_hit *hit, bool user, uint64_t va, void *buf, size_t len)
{
	if (hit->user && (va >> 63 || (va + len) >> 63))
		return -EFAULT;
	return hit->read(hit->arg, user || !(va >> 63), va, buf, len);
}

/* A word of the stack; of the kernel's, 0 for one that is not in the same one. */
static uint64_t stack_word(const struct fetch_hit *hit, uint64_t n)
{
	uint64_t sp = hit->regs->rsp, at = sp + 8 * n, word;

	if (hit->user)
		return read_at(hit, true, at, &word, sizeof(word)) ? 0 : word;
	if ((at & ~(uint64_t)(STACK_SIZE - 1)) != (sp & ~(uint64_t)(STACK_SIZE - 1)) ||
	    hit->read(hit->arg, false, at, &word, sizeof(word)))
		return 0;
	return word;
}

/* Six are in registers, the others behind the return address, which is gone at a return. */
static uint64_t function_arg(const struct fetch_hit *hit, uint64_t n)
{
	const struct machine_regs *r = hit->regs;
	const uint64_t in_regs[FETCH_ARG_REGS] = {r->rdi, r->rsi, r->rdx, r->rcx, r->r8, r->r9};

	if (n >= FETCH_ARG_REGS)
		return stack_word(hit, n - FETCH_ARG_REGS + !hit->args);
	return hit->args ? hit->args[n] : in_regs[n];
}

static uint64_t source_value(const struct fetch_arg *a, const struct fetch_hit *hit)
{
	switch (a->source) {
	case FETCH_REG:
		return reg_value(hit, a->number);
	case FETCH_STACK:
		return stack_word(hit, a->number);
	case FETCH_STACKP:
		return hit->regs->rsp;
	case FETCH_RETVAL:
		return hit->regs->rax;
	case FETCH_ARG:
		return function_arg(hit, a->number);
	case FETCH_FIELD:
		return hit->field(hit->arg, a->number);
	case FETCH_FILE:
		return (hit->user ? hit->user->file : 0) + a->number;
	default:
		return a->number;
	}
}

/* --- numbers --------------------------------------------------------------------------------- */

static void cut_bits(const struct fetch_arg *a, uint8_t *at)
{
	uint64_t value = 0;

	if (!a->bits)
		return;
	memcpy(&value, at, a->type->size);
	value >>= a->first_bit;
	if (a->bits < 64)
		value &= (UINT64_C(1) << a->bits) - 1;
	memcpy(at, &value, a->type->size);
}

/* Either the value itself, or what is at it + the last offset. */
static void store_numbers(const struct fetch_arg *a, const struct fetch_hit *hit, uint64_t value,
			  uint8_t *at)
{
	const struct fetch_deref *last = a->nr_deref ? &a->deref[a->nr_deref - 1] : NULL;
	uint32_t size = a->type->size;

	if (!last) {
		memcpy(at, &value, size);
		cut_bits(a, at);
		return;
	}
	value += (uint64_t)last->offset;
	for (uint32_t i = 0; i < (a->count ? a->count : 1); i++) {
		if (read_at(hit, last->user, value + i * size, at + i * size, size))
			memset(at + i * size, 0, size);
		cut_bits(a, at + i * size);
	}
}

/* --- strings --------------------------------------------------------------------------------- */

/* Up to its end, which is one of the bytes. 0: it cannot be read. */
static size_t copy_string(const struct fetch_hit *hit, bool user, uint64_t va, char *buf,
			  size_t size)
{
	size_t len = 0;

	while (len < size) {
		size_t piece = PAGE - (va + len) % PAGE;
		const char *end;

		if (piece > size - len)
			piece = size - len;
		if (read_at(hit, user, va + len, buf + len, piece))
			return 0;
		end = memchr(buf + len, '\0', piece);
		if (end)
			return (size_t)(end - buf) + 1;
		len += piece;
	}
	if (len)
		buf[len - 1] = '\0';
	return len;
}

/* A __data_loc, and the bytes it is about at the record's end. */
static void store_bytes(struct record *r, uint8_t *at, const char *bytes, size_t len)
{
	uint32_t place = (uint32_t)(len << 16 | (r->len & 0xffff));

	if (r->max - r->len < len) {
		r->full = true;
		return;
	}
	memcpy(at, &place, sizeof(place));
	memcpy(r->bytes + r->len, bytes, len);
	r->len += len;
}

static void store_text(struct record *r, const struct fetch_arg *a, const struct fetch_hit *hit,
		       uint64_t value, uint8_t *at)
{
	bool user =
		a->type->string == FETCH_USTRING || (a->nr_deref && a->deref[a->nr_deref - 1].user);
	char buf[STRING_MAX];
	size_t len;

	if (a->type->string == FETCH_SYMSTR)
		len = hit->symbol(hit->arg, value, buf, SYMBOL_MAX) + 1;
	else
		len = copy_string(hit, user, value, buf, sizeof(buf));
	store_bytes(r, at, buf, len);
}

/* Of an array the last step gives where each pointer to a string is. */
static void store_strings(struct record *r, const struct fetch_arg *a, const struct fetch_hit *hit,
			  uint64_t value, uint8_t *at)
{
	const struct fetch_deref *last = a->nr_deref ? &a->deref[a->nr_deref - 1] : NULL;
	const uint8_t none[4] = {0};

	for (uint32_t i = 0; i < a->count; i++) {
		uint64_t string = value;

		if (last ? read_at(hit, last->user, value + (uint64_t)last->offset + 8 * i, &string,
				   sizeof(string))
			 : i > 0) {
			store_bytes(r, at + 4 * i, (const char *)none, 0);
			continue;
		}
		store_text(r, a, hit, string, at + 4 * i);
	}
}

static void store_string(struct record *r, const struct fetch_arg *a, const struct fetch_hit *hit,
			 uint64_t value, uint8_t *at)
{
	if (a->source == FETCH_COMM)
		store_bytes(r, at, hit->comm, strlen(hit->comm) + 1);
	else if (a->source == FETCH_LITERAL)
		store_bytes(r, at, a->text, strlen(a->text) + 1);
	else if (a->count)
		store_strings(r, a, hit, value, at);
	else if (a->nr_deref && a->type->string != FETCH_SYMSTR)
		store_text(r, a, hit, value + (uint64_t)a->deref[a->nr_deref - 1].offset, at);
	else
		store_text(r, a, hit, value, at);
}

/* --- an argument ------------------------------------------------------------------------------ */

/* How many words are fetched on the way to what is stored: a symbol's name is of the last one. */
static unsigned int words_between(const struct fetch_arg *a)
{
	return a->type->string == FETCH_SYMSTR || !a->nr_deref ? a->nr_deref : a->nr_deref - 1;
}

static void store_arg(struct record *r, const struct fetch_arg *a, const struct fetch_hit *hit,
		      uint8_t *at)
{
	uint64_t value = source_value(a, hit);

	for (unsigned int i = 0; i < words_between(a); i++)
		if (read_at(hit, a->deref[i].user, value + (uint64_t)a->deref[i].offset, &value,
			    sizeof(value))) {
			if (a->type->string && !a->count)
				store_bytes(r, at, "", 0);
			return;
		}
	if (a->type->string)
		store_string(r, a, hit, value, at);
	else
		store_numbers(a, hit, value, at);
}

size_t fetch_args(const struct fetch_arg *arg, unsigned int n, const struct fetch_hit *hit,
		  void *record, size_t head, size_t max)
{
	struct record r = {.bytes = record, .len = head, .max = max};

	for (unsigned int i = 0; i < n; i++)
		r.len += fetch_arg_size(&arg[i]);
	if (r.len > max)
		return 0;
	memset(r.bytes + head, 0, r.len - head);
	for (unsigned int i = 0; i < n && !r.full; i++)
		store_arg(&r, &arg[i], hit, r.bytes + head + arg[i].offset);
	return r.full ? 0 : r.len;
}
