/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * expr.h - the C expressions of an event's print fmt, as trees.
 *
 * The text is a guest's. libtraceevent could parse it as well, but recurses as deep as the text
 * nests, and so a guest could make it overrun the stack.
 */
#ifndef HVTRACE_TRACER_OUTPUT_FMT_EXPR_H
#define HVTRACE_TRACER_OUTPUT_FMT_EXPR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "guestsym/guestsym.h"

/* An integer, or the address of such (or of something else of that size). */
struct expr_type {
	uint32_t size;
	bool is_signed, is_pointer;
};

enum expr_kind {
	EXPR_NUMBER,
	EXPR_STRING,
	EXPR_VARIABLE, /* of the guest, read each time */
	EXPR_FIELD,    /* an integer or a pointer; arrays and structs are EXPR_PLACE */
	EXPR_PLACE,    /* the address of a field */
	EXPR_REC,      /* the record's: only for the field behind it */
	EXPR_UNARY,    /* op a */
	EXPR_DEREF,    /* *a */
	EXPR_BINARY,   /* a op b */
	EXPR_CHOICE,   /* a ? b : c */
	EXPR_CAST,     /* (type)a */
	EXPR_CALL,     /* function(a, b, c) */
};

enum expr_op {
	OP_NONE,
	OP_NOT,
	OP_INVERT,
	OP_MINUS,
	OP_PLUS,
	OP_TIMES,
	OP_DIVIDE,
	OP_MODULO,
	OP_LEFT,
	OP_RIGHT,
	OP_LESS,
	OP_GREATER,
	OP_LESS_EQUAL,
	OP_GREATER_EQUAL,
	OP_EQUAL,
	OP_UNEQUAL,
	OP_AND,
	OP_XOR,
	OP_OR,
	OP_BOTH,
	OP_EITHER,
};

/* What print fmts call. */
enum expr_function {
	FN_DYNAMIC, /* where a __data_loc field's data is: __get_str(), __get_dynamic_array()… */
	FN_DYNAMIC_LEN,
	FN_BITMASK,
	FN_FLAGS,
	FN_SYMBOLIC,
	FN_HEX,
	FN_HEX_STR,
	FN_ARRAY,
	FN_DYNAMIC_ARRAY,
	FN_SECS,
	FN_NSECS,
	FN_SAME, /* its argument */
	FN_JIFFIES_MSECS,
	FN_JIFFIES_USECS,
	FN_DISK_NAME,	 /* of nvme */
	FN_MEMORY_ERROR, /* of ras */
};

/* One { value, "name" } */
struct expr_row {
	uint64_t value;
	const char *name;
};

/* What the guest knows of the names in its print fmts. All may be NULL. */
struct expr_names {
	void *arg;
	/* A constant of an enum. */
	bool (*constant)(void *arg, const char *name, uint64_t *value);
	/* Where a variable of eight bytes is, 0: there is none; and what it holds now. */
	uint64_t (*variable)(void *arg, const char *name);
	bool (*read)(void *arg, uint64_t addr, uint64_t *value);
	/* Of a type, bytes: "struct page", "gfp_t"; 0: not known. */
	uint32_t (*type_size)(void *arg, const char *name);
	unsigned int hz; /* 0: not known */
};

struct expr {
	uint8_t kind; /* enum expr_kind */
	uint8_t op;   /* enum expr_op; of calls enum expr_function */
	bool rel;     /* FN_DYNAMIC…: a __rel_loc field */
	struct expr_type type;
	uint64_t number;  /* EXPR_NUMBER; of fields the offset, of variables the address */
	uint32_t size;	  /* of fields */
	uint32_t depth;	  /* of what is below */
	const char *text; /* EXPR_STRING */
	const struct expr_names *names; /* EXPR_VARIABLE */
	struct expr *a, *b, *c;
	const struct expr_row *row; /* FN_FLAGS, FN_SYMBOLIC */
	size_t nr_rows;
};

/*
 * Memory of trees: given back at once. Starts out as all zero, but for what it shares. How much is
 * asked for is up to a guest, so one takes EXPR_MEMORY_MAX bytes at most, and those that share
 * EXPR_MEMORY_SHARED in all. (The largest print fmt of Linux 6.1 takes 40 KB, all 700 take 2.5 MB.)
 */
#define EXPR_MEMORY_MAX	   ((size_t)1 << 20)
#define EXPR_MEMORY_SHARED ((size_t)32 << 20)

struct expr_memory {
	struct expr_chunk *chunks;
	size_t used;	/* of the first chunk */
	size_t taken;	/* by all of them */
	size_t *shared; /* by those that share, of which one is at work at a time; NULL: alone */
	int error;	/* 0; -ENOMEM: there was none; -ENOSPC: it would have been too much */
};

/* Zero-filled. NULL: see error. */
void *expr_alloc(struct expr_memory *mem, size_t len);
void expr_free(struct expr_memory *mem); /* it is as at the start */

struct expr_parser {
	const char *at; /* what is still to be parsed */
	const struct guestsym_event_field *fields;
	size_t nr_fields;
	const struct expr_names *names;
	struct expr_memory *mem;
	unsigned int depth;
};

/* A string, or several one behind the other, unescaped. NULL: there is none. */
const char *expr_parse_string(struct expr_parser *p);
/* A whole expression, up to a comma or the end. NULL: it makes no sense here, or to us. */
struct expr *expr_parse(struct expr_parser *p);
/* Skip blanks, and this character if it is the next. */
bool expr_skip(struct expr_parser *p, char c);
/* The type that a field's type or a cast names; false: it is not known. */
bool expr_type_find(const struct expr_names *names, const char *name, struct expr_type *type);

#endif
