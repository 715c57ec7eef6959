/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * types-flat.h - the flat table of types: what types-flatten.c makes of BTF, and types.c looks up.
 *
 * Whoever looks things up does not trust who made it, so it has nothing that asks for more than a
 * comparison of numbers to be checked: a header, then arrays in the order below, each as long as
 * the header says, then strings. Numbers of other entries count from 0; a name is its position
 * among the strings, 0 where there is none. What is looked up by name is sorted by it (bytewise),
 * each name once.
 */
#ifndef HVTRACE_GUESTSYM_TYPES_FLAT_H
#define HVTRACE_GUESTSYM_TYPES_FLAT_H

#include "guestsym/internal.h"

#define FLAT_MAGIC UINT32_C(0x74767468)
/* To be counted up whenever the format, or what is made of the same BTF, changes. */
#define FLAT_FORMAT 2
/* The size of a type that has none, or none that can be told. */
#define FLAT_NO_SIZE UINT32_MAX

struct flat_header {
	uint32_t magic, format;
	uint64_t size; /* bytes of all */
	uint32_t btf_types;
	uint32_t nr_enumerators, nr_composites, nr_members, nr_names, nr_functions, nr_protos,
		nr_params, nr_types;
	uint32_t strings_len; /* the first and the last byte of them are 0 */
};

/* Sorted by name; of several enumerators of that name the last one in BTF. */
struct flat_enumerator {
	uint32_t name, zero;
	int64_t value;
};

/* A struct or union. Those that follow each other have members that do. */
struct flat_composite {
	uint32_t size, first, nr;
};

struct flat_member {
	uint32_t name, type;
	uint32_t bit_off; /* within its struct */
	uint32_t bits;	  /* of a bitfield, else 0 */
};

/* Sorted by name: struct, union, or typedef of one. */
struct flat_name {
	uint32_t name, composite;
};

/* Sorted by name. */
struct flat_function {
	uint32_t name, proto;
};

/* Those that follow each other have parameters that do. */
struct flat_proto {
	uint32_t result; /* a type */
	uint32_t first, nr;
};

struct flat_param {
	uint32_t name, type;
};

/* What a member or a parameter is of, or a function returns; and what such point to. */
struct flat_type {
	uint32_t name;
	uint32_t size;	    /* bytes, or FLAT_NO_SIZE */
	uint32_t composite; /* which one it is, behind typedefs and qualifiers, plus one; or 0 */
	uint32_t of;	    /* the type that it points to, or is an array of, plus one; or 0 */
	uint8_t kind;	    /* of struct guestsym_value */
	uint8_t is_signed;  /* an integer that is */
	uint8_t form;	    /* enum flat_form */
	uint8_t zero;
};

enum flat_form { FLAT_PLAIN, FLAT_INT, FLAT_ENUM, FLAT_ARRAY, FLAT_FORMS };

/* Where each array starts, and the end of all. */
struct flat_layout {
	uint64_t enumerators, composites, members, names, functions, protos, params, types, strings,
		end;
};

static inline struct flat_layout flat_layout(const struct flat_header *h)
{
	struct flat_layout l = {.enumerators = sizeof(*h)};

	l.composites = l.enumerators + h->nr_enumerators * sizeof(struct flat_enumerator);
	l.members = l.composites + h->nr_composites * sizeof(struct flat_composite);
	l.names = l.members + h->nr_members * sizeof(struct flat_member);
	l.functions = l.names + h->nr_names * sizeof(struct flat_name);
	l.protos = l.functions + h->nr_functions * sizeof(struct flat_function);
	l.params = l.protos + h->nr_protos * sizeof(struct flat_proto);
	l.types = l.params + h->nr_params * sizeof(struct flat_param);
	l.strings = l.types + h->nr_types * sizeof(struct flat_type);
	l.end = l.strings + h->strings_len;
	return l;
}

/*
 * Whether these are names as the kernel has them in BTF, which it refuses otherwise: then whatever
 * position a name is at, it can be printed, has an end, and is not long to compare.
 */
static inline bool flat_strings_fit(const char *strings, uint32_t len)
{
	uint32_t end = 0;

	if (!len || strings[0] || strings[len - 1])
		return false;
	for (uint32_t i = 0; i < len; i++) {
		if (!strings[i])
			end = i;
		else if (strings[i] < ' ' || strings[i] > '~' || i - end > SYMBOL_NAME_MAX)
			return false;
	}
	return true;
}

#endif
