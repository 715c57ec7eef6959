// SPDX-License-Identifier: GPL-2.0-or-later
/* expr-types.c - the types that print fmts and the fields of events name. */
#include "tracer/output/fmt/internal.h"

#include <string.h>

static const struct {
	const char *name;
	uint8_t size;
	bool is_signed;
} known_types[] = {
	{"char", 1, true},	 {"bool", 1, false},	    {"_Bool", 1, false},
	{"u8", 1, false},	 {"__u8", 1, false},	    {"uint8_t", 1, false},
	{"s8", 1, true},	 {"__s8", 1, true},	    {"int8_t", 1, true},
	{"short", 2, true},	 {"u16", 2, false},	    {"__u16", 2, false},
	{"uint16_t", 2, false},	 {"s16", 2, true},	    {"__s16", 2, true},
	{"int16_t", 2, true},	 {"__le16", 2, false},	    {"__be16", 2, false},
	{"int", 4, true},	 {"u32", 4, false},	    {"__u32", 4, false},
	{"uint32_t", 4, false},	 {"s32", 4, true},	    {"__s32", 4, true},
	{"int32_t", 4, true},	 {"__le32", 4, false},	    {"__be32", 4, false},
	{"gfp_t", 4, false},	 {"pid_t", 4, true},	    {"dev_t", 4, false},
	{"uint", 4, false},	 {"blk_opf_t", 4, false},   {"long", 8, true},
	{"u64", 8, false},	 {"__u64", 8, false},	    {"uint64_t", 8, false},
	{"s64", 8, true},	 {"__s64", 8, true},	    {"int64_t", 8, true},
	{"__le64", 8, false},	 {"__be64", 8, false},	    {"size_t", 8, false},
	{"ssize_t", 8, true},	 {"loff_t", 8, true},	    {"sector_t", 8, false},
	{"ino_t", 8, false},	 {"ktime_t", 8, true},	    {"void", 1, false},
	{"uintptr_t", 8, false}, {"phys_addr_t", 8, false}, {"dma_addr_t", 8, false},
};

/* The words of a type, one after the other. */
struct type_words {
	bool is_unsigned, is_signed, is_long, is_enum, is_pointer, known;
	struct expr_type type;
	char name[NAME_MAX_LEN]; /* "struct page"; "": only words of C */
};

static bool is_tag(const char *word)
{
	return !strcmp(word, "struct") || !strcmp(word, "union") || !strcmp(word, "enum");
}

static bool known_type(const char *word, struct type_words *w)
{
	for (size_t i = 0; i < NR(known_types); i++) {
		if (strcmp(known_types[i].name, word) != 0)
			continue;
		if (w->known && !strcmp(word, "int")) /* long int */
			return true;
		w->known = true;
		w->type.size = known_types[i].size;
		w->type.is_signed = known_types[i].is_signed;
		return true;
	}
	return false;
}

static bool add_word(struct type_words *w, const char *word)
{
	size_t len = strlen(w->name);

	if (!strcmp(word, "const") || !strcmp(word, "volatile") || !strcmp(word, "__user"))
		return true;
	if (!strcmp(word, "unsigned"))
		return w->is_unsigned = true;
	if (!strcmp(word, "signed"))
		return w->is_signed = true;
	if (!strcmp(word, "enum"))
		w->is_enum = true;
	if (!len && known_type(word, w))
		return true;
	if (w->known || w->is_unsigned || (len && !is_tag(w->name)))
		return false;
	if (len + strlen(word) + 2 > sizeof(w->name))
		return false;
	if (len)
		w->name[len++] = ' ';
	strcpy(w->name + len, word);
	return true;
}

static bool finish_type(const struct expr_names *names, struct type_words *w,
			struct expr_type *type)
{
	*type = w->type;
	type->is_pointer = w->is_pointer;
	if (w->known) {
		type->is_signed = type->is_signed && !w->is_unsigned;
	} else if (w->name[0]) {
		type->size = names->type_size ? names->type_size(names->arg, w->name) : 0;
		if (!type->size && w->is_enum)
			type->size = 4;
		/* To what a pointer leads does not matter unless it is counted with. */
		return type->size || w->is_pointer;
	} else if (w->is_unsigned || w->is_signed) {
		type->size = 4;
		type->is_signed = w->is_signed;
	} else {
		return false;
	}
	return true;
}

/* Leaves p behind the type, if it is one. */
bool expr_take_type(struct expr_parser *p, struct expr_type *type)
{
	struct type_words w = {0};
	char word[NAME_MAX_LEN];
	bool any = false;

	while (expr_take_name(p, word)) {
		if (!add_word(&w, word))
			return false;
		any = true;
	}
	while (any && expr_skip(p, '*')) {
		if (w.is_pointer) { /* to a pointer */
			w.known = true;
			w.type = (struct expr_type){.size = 8};
		}
		w.is_pointer = true;
	}
	return any && finish_type(p->names, &w, type);
}

bool expr_type_find(const struct expr_names *names, const char *name, struct expr_type *type)
{
	struct expr_parser p = {.at = name, .names = names};

	return expr_take_type(&p, type);
}
