// SPDX-License-Identifier: GPL-2.0-or-later
/* eval.c - evaluates expressions as C does; see eval.h. */
#include "tracer/output/fmt/eval.h"

#include <string.h>

#define NSEC_PER_SEC UINT64_C(1000000000)

static struct expr_value number(uint64_t n)
{
	return (struct expr_value){.number = n};
}

/* An address that leads out of the record: there is nothing there. */
static struct expr_value place(const struct expr_record *rec, size_t offset)
{
	if (offset > rec->len)
		offset = rec->len;
	return (struct expr_value){.bytes = rec->data + offset, .room = rec->len - offset};
}

/* Of 1, 2, 4 or 8 bytes, to 64 bits. */
static uint64_t extended(uint64_t value, struct expr_type type)
{
	unsigned int unused;

	if (type.is_pointer || !type.size || type.size > 8)
		return value;
	unused = 64 - type.size * 8;
	if (type.is_signed)
		return (uint64_t)((int64_t)(value << unused) >> unused);
	return value << unused >> unused;
}

static uint64_t read_number(const uint8_t *at, size_t size, struct expr_type type)
{
	uint64_t value = 0;

	memcpy(&value, at, size);
	return extended(value, type);
}

static struct expr_value eval_field(const struct expr *e, const struct expr_record *rec)
{
	if (e->number + e->size > rec->len || e->size > 8)
		return number(0);
	return number(read_number(rec->data + e->number, e->size, e->type));
}

static struct expr_value eval_variable(const struct expr *e)
{
	uint64_t value;

	return number(e->names->read(e->names->arg, e->number, &value) ? value : 0);
}

static struct expr_value eval_deref(const struct expr *e, const struct expr_record *rec)
{
	struct expr_value v = expr_eval(e->a, rec);

	if (!v.bytes || v.room < e->type.size)
		return number(0);
	return number(read_number(v.bytes, e->type.size, e->type));
}

static bool truth(struct expr_value v)
{
	return v.bytes || v.number;
}

static struct expr_value eval_unary(const struct expr *e, const struct expr_record *rec)
{
	struct expr_value v = expr_eval(e->a, rec);

	switch (e->op) {
	case OP_NOT:
		return number(!truth(v));
	case OP_INVERT:
		return number(extended(~v.number, e->type));
	case OP_MINUS:
		return number(extended(-v.number, e->type));
	default:
		return v;
	}
}

/* An address and how many elements behind it. */
static struct expr_value add_address(struct expr_value v, struct expr_type type, uint64_t nr)
{
	uint64_t distance = nr * type.size;

	if (!v.bytes)
		return number(v.number + distance);
	if (distance > v.room) /* also when it is negative */
		distance = v.room;
	v.bytes += distance;
	v.room -= distance;
	return v;
}

static uint64_t divided(uint64_t a, uint64_t b, struct expr_type type, bool rest)
{
	if (!b)
		return 0;
	if (!type.is_signed)
		return rest ? a % b : a / b;
	if (b == UINT64_MAX) /* -1: the smallest number has no opposite */
		return rest ? 0 : -a;
	return (uint64_t)(rest ? (int64_t)a % (int64_t)b : (int64_t)a / (int64_t)b);
}

static bool less(uint64_t a, uint64_t b, struct expr_type type)
{
	return type.is_signed ? (int64_t)a < (int64_t)b : a < b;
}

/* What the operands of a comparison are converted to, which is not what it is of. */
static struct expr_type operand_type(const struct expr *e)
{
	struct expr_type a = e->a->type, b = e->b->type;
	struct expr_type narrow = {.size = 4, .is_signed = true};

	if (a.is_pointer || b.is_pointer)
		return (struct expr_type){.size = 8};
	if (a.size < 4)
		a = narrow;
	if (b.size < 4)
		b = narrow;
	if (a.size != b.size)
		return a.size > b.size ? a : b;
	return a.is_signed ? b : a;
}

static uint64_t shifted(uint64_t a, uint64_t b, struct expr_type type, bool left)
{
	unsigned int by = b & (type.size == 4 ? 31 : 63); /* as x86 does */

	if (left)
		return a << by;
	return type.is_signed ? (uint64_t)((int64_t)a >> by) : a >> by;
}

static uint64_t compute(enum expr_op op, uint64_t a, uint64_t b, struct expr_type type)
{
	switch (op) {
	case OP_PLUS:
		return a + b;
	case OP_MINUS:
		return a - b;
	case OP_TIMES:
		return a * b;
	case OP_DIVIDE:
	case OP_MODULO:
		return divided(a, b, type, op == OP_MODULO);
	case OP_AND:
		return a & b;
	case OP_XOR:
		return a ^ b;
	case OP_OR:
		return a | b;
	case OP_LESS:
		return less(a, b, type);
	case OP_GREATER:
		return less(b, a, type);
	case OP_LESS_EQUAL:
		return !less(b, a, type);
	case OP_GREATER_EQUAL:
		return !less(a, b, type);
	case OP_EQUAL:
		return a == b;
	case OP_UNEQUAL:
		return a != b;
	default:
		return 0;
	}
}

static struct expr_value eval_binary(const struct expr *e, const struct expr_record *rec)
{
	struct expr_value a = expr_eval(e->a, rec), b;
	struct expr_type type;

	if (e->op == OP_BOTH)
		return number(truth(a) && truth(expr_eval(e->b, rec)));
	if (e->op == OP_EITHER)
		return number(truth(a) || truth(expr_eval(e->b, rec)));
	b = expr_eval(e->b, rec);
	if (e->op == OP_LEFT || e->op == OP_RIGHT)
		return number(
			extended(shifted(a.number, b.number, e->type, e->op == OP_LEFT), e->type));
	if (e->op == OP_PLUS && e->a->type.is_pointer)
		return add_address(a, e->a->type, b.number);
	if (e->op == OP_PLUS && e->b->type.is_pointer)
		return add_address(b, e->b->type, a.number);
	if (e->op == OP_MINUS && e->a->type.is_pointer && !e->b->type.is_pointer)
		return add_address(a, e->a->type, -b.number);
	if (a.bytes || b.bytes) /* addresses are not known: they are not the same */
		return number(e->op == OP_UNEQUAL);
	type = operand_type(e);
	return number(extended(
		compute(e->op, extended(a.number, type), extended(b.number, type), type), e->type));
}

struct expr_value expr_dynamic(const struct expr *call, const struct expr_record *rec, size_t *len)
{
	struct expr_value v;
	uint32_t loc;
	size_t offset;

	*len = 0;
	if (call->number + sizeof(loc) > rec->len)
		return place(rec, rec->len);
	memcpy(&loc, rec->data + call->number, sizeof(loc));
	offset = loc & 0xffff;
	if (call->rel)
		offset += call->number + sizeof(loc);
	v = place(rec, offset);
	*len = loc >> 16 < v.room ? loc >> 16 : v.room;
	return v;
}

static uint64_t jiffies_to(uint64_t jiffies, uint64_t hz, uint64_t per_second)
{
	if (per_second % hz == 0)
		return jiffies * (per_second / hz);
	return (jiffies * per_second + hz - 1) / hz;
}

static struct expr_value eval_call(const struct expr *e, const struct expr_record *rec)
{
	struct expr_value v;
	uint32_t loc = 0;
	size_t len;

	switch (e->op) {
	case FN_DYNAMIC:
		return expr_dynamic(e, rec, &len);
	case FN_DYNAMIC_LEN:
		if (e->number + sizeof(loc) <= rec->len)
			memcpy(&loc, rec->data + e->number, sizeof(loc));
		return number(loc >> 16);
	case FN_SECS:
		return number(expr_eval(e->a, rec).number / NSEC_PER_SEC);
	case FN_NSECS:
		return number(expr_eval(e->a, rec).number % NSEC_PER_SEC);
	case FN_SAME:
		return expr_eval(e->a, rec);
	case FN_JIFFIES_MSECS:
	case FN_JIFFIES_USECS:
		v = expr_eval(e->a, rec);
		return number(extended(
			jiffies_to(v.number, e->number, e->op == FN_JIFFIES_MSECS ? 1000 : 1000000),
			e->type));
	default:
		return number(0);
	}
}

static struct expr_value eval_cast(const struct expr *e, const struct expr_record *rec)
{
	struct expr_value v = expr_eval(e->a, rec);

	if (!v.bytes)
		v.number = extended(v.number, e->type);
	return v;
}

static struct expr_value eval_choice(const struct expr *e, const struct expr_record *rec)
{
	struct expr_value v = expr_eval(truth(expr_eval(e->a, rec)) ? e->b : e->c, rec);

	if (!v.bytes)
		v.number = extended(v.number, e->type);
	return v;
}

struct expr_value expr_eval(const struct expr *e, const struct expr_record *rec)
{
	switch (e->kind) {
	case EXPR_NUMBER:
		return number(e->number);
	case EXPR_STRING:
		return (struct expr_value){.bytes = (const uint8_t *)e->text,
					   .room = strlen(e->text) + 1};
	case EXPR_VARIABLE:
		return eval_variable(e);
	case EXPR_FIELD:
		return eval_field(e, rec);
	case EXPR_PLACE:
		return place(rec, e->number);
	case EXPR_UNARY:
		return eval_unary(e, rec);
	case EXPR_DEREF:
		return eval_deref(e, rec);
	case EXPR_BINARY:
		return eval_binary(e, rec);
	case EXPR_CHOICE:
		return eval_choice(e, rec);
	case EXPR_CAST:
		return eval_cast(e, rec);
	case EXPR_CALL:
		return eval_call(e, rec);
	default:
		return number(0);
	}
}

static bool is_constant(const struct expr *e)
{
	if (e->kind == EXPR_FIELD || e->kind == EXPR_PLACE || e->kind == EXPR_CALL ||
	    e->kind == EXPR_REC || e->kind == EXPR_STRING || e->kind == EXPR_VARIABLE)
		return false;
	return (!e->a || is_constant(e->a)) && (!e->b || is_constant(e->b)) &&
	       (!e->c || is_constant(e->c));
}

bool expr_constant(const struct expr *e, uint64_t *value)
{
	const struct expr_record none = {0};

	if (!is_constant(e))
		return false;
	*value = expr_eval(e, &none).number;
	return true;
}
