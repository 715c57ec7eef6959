/* SPDX-License-Identifier: GPL-2.0-or-later */
/* eval.h - what expressions of print fmts are worth for a record. */
#ifndef HVTRACE_TRACER_OUTPUT_FMT_EVAL_H
#define HVTRACE_TRACER_OUTPUT_FMT_EVAL_H

#include "tracer/output/fmt/expr.h"

/* A record: a guest's, so nothing in it is to be believed. */
struct expr_record {
	const uint8_t *data;
	size_t len;
};

/* An integer, or an address: in the guest, or of bytes that are here, as a rule in the record. */
struct expr_value {
	uint64_t number;
	const uint8_t *bytes; /* NULL: it is a number, or an address in the guest */
	size_t room;	      /* how many there are until the record ends */
};

/* Without a value are calls that make text, and what cannot be read: 0. */
struct expr_value expr_eval(const struct expr *e, const struct expr_record *rec);
/* Where a dynamic field's data is, and how long it says that it is: at most as much as there is. */
struct expr_value expr_dynamic(const struct expr *call, const struct expr_record *rec, size_t *len);
/* False: it depends on a record. */
bool expr_constant(const struct expr *e, uint64_t *value);

#endif
