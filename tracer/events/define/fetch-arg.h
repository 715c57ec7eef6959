/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fetch-arg.h - the fetch arguments of probe events: NAME=FETCHARG:TYPE, what to read at a hit and
 * how to show it (Documentation/trace/kprobetrace.rst).
 *
 * What is accepted, and what is said about the rest, is what traceprobe_parse_probe_arg()
 * (kernel/trace/trace_probe.c, 6.1 and 6.12) makes of it.
 */
#ifndef HVTRACE_TRACER_EVENTS_DEFINE_FETCH_ARG_H
#define HVTRACE_TRACER_EVENTS_DEFINE_FETCH_ARG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "guestsym/guestsym.h"
#include "tracer/events/define/words.h"

#define FETCH_DEREF_MAX 14   /* what the kernel has room for */
#define FETCH_SIZE_MAX	3072 /* of all arguments in a record, without strings */
#define FETCH_STACK_MAX 2048 /* words of a kernel stack */

enum fetch_string {
	FETCH_NO_STRING,
	FETCH_STRING,  /* at an address of the kernel */
	FETCH_USTRING, /* or of the task's user mode */
	FETCH_SYMSTR,  /* not there: the name of the symbol at the address */
};

struct fetch_type {
	const char *name;
	uint8_t size; /* of one in a record */
	bool is_signed;
	uint8_t string;	    /* enum fetch_string */
	const char *format; /* in the print fmt */
	const char *field;  /* in the format file */
};

enum fetch_source {
	FETCH_REG,     /* number: enum fetch_reg */
	FETCH_STACK,   /* number: which word of the stack */
	FETCH_STACKP,  /* the stack pointer */
	FETCH_RETVAL,  /* what the function returns */
	FETCH_ARG,     /* number: of the function, from 0 on, as it was called */
	FETCH_IMM,     /* number */
	FETCH_SYMBOL,  /* text: a symbol, and an offset */
	FETCH_COMM,    /* the task's name */
	FETCH_LITERAL, /* text itself */
	FETCH_FIELD,   /* text: of the event that an event probe is at; number: which one */
	FETCH_FILE,    /* number: an offset in the file that a uprobe is in: its address */
};

/* As the kernel calls them, in the order of fetch_reg_name(). */
enum fetch_reg {
	FETCH_R15,
	FETCH_R14,
	FETCH_R13,
	FETCH_R12,
	FETCH_R11,
	FETCH_R10,
	FETCH_R9,
	FETCH_R8,
	FETCH_BX,
	FETCH_CX,
	FETCH_DX,
	FETCH_SI,
	FETCH_DI,
	FETCH_BP,
	FETCH_AX,
	FETCH_ORIG_AX,
	FETCH_IP,
	FETCH_CS,
	FETCH_FLAGS,
	FETCH_SP,
	FETCH_SS,
	FETCH_REGS
};

/* The word at what has been fetched so far + offset; what is fetched last may be of another size.
 */
struct fetch_deref {
	int64_t offset;
	bool user;
};

struct fetch_arg {
	char *name, *body; /* "arg1" when it was given none; what is behind the = */
	const struct fetch_type *type;
	uint32_t count;	 /* of an array; 0: it is none */
	uint32_t offset; /* in the record, behind what the event itself has there */
	enum fetch_source source;
	uint64_t number; /* of FETCH_SYMBOL: its address, once it is known */
	char *text;
	struct fetch_deref deref[FETCH_DEREF_MAX];
	unsigned int nr_deref;
	uint8_t bits, first_bit; /* of a bitfield; bits 0: it is none */
};

/* What the probe that an argument belongs to has. */
enum {
	FETCH_AT_RETURN = 1 << 0,
	FETCH_AT_ENTRY = 1 << 1,      /* of a function */
	FETCH_HAS_CHAR = 1 << 2,      /* and of the kernel: it knows that type */
	FETCH_AT_EVENT = 1 << 3,      /* it is an event probe: $NAME is a field */
	FETCH_HAS_NAMES = 1 << 4,     /* of the kernel: it knows arguments by their names */
	FETCH_NO_REGISTERS = 1 << 5,  /* of the probe */
	FETCH_AT_TRACEPOINT = 1 << 6, /* an entry, whose first argument is none of its own */
	FETCH_KEEPS_ARGS = 1 << 7,    /* of the kernel: at a return it has those of the entry */
	FETCH_OF_USER = 1 << 8,	      /* it is a uprobe: registers and memory are user mode's */
};

#define FETCH_PARAMS_MAX 13

/*
 * The function that a probe is at, where the kernel knows its arguments by their names (from 6.5
 * on, CONFIG_PROBE_EVENTS_BTF_ARGS).
 */
struct fetch_function {
	struct guestsym_value param[FETCH_PARAMS_MAX], result;
	unsigned int nr; /* of parameters */
	/* As guestsym_pointee(), guestsym_member(). */
	int (*pointee)(void *arg, uint32_t type, uint32_t *pointee);
	int (*member)(void *arg, uint32_t type, const char *name, struct guestsym_member *member);
	void *arg;
};

/* Bytes in a record. */
static inline uint32_t fetch_arg_size(const struct fetch_arg *a)
{
	return a->type->size * (a->count ? a->count : 1);
}

/*
 * Make arg[n] of `text`, word n + 2 of the command; those before it are there. *size is that of all
 * arguments so far. function may be NULL. 0 or -errno: then err says why, and the argument holds
 * nothing.
 */
int fetch_arg_parse(struct fetch_arg *arg, unsigned int n, const char *text, unsigned int at,
		    const struct fetch_function *function, uint32_t *size, struct probe_error *err);
void fetch_arg_free(struct fetch_arg *a);

/* Split "symbol+offset" at its sign, which becomes the end of the symbol. 0, -EINVAL, -ERANGE. */
int fetch_split_symbol(char *symbol, int64_t *offset);

bool probe_name_is_good(const char *name, bool hyphens);

#endif
