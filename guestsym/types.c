// SPDX-License-Identifier: GPL-2.0-or-later
/* types.c - looks up types in a flat table of them, which may come from somebody hostile. */
#include "guestsym/internal.h"
#include "guestsym/types-flat.h"

#include <errno.h>
#include <stdlib.h>

/* Bounds for hostile tables; C needs far less. */
#define MAX_NESTING 16
#define MAX_MEMBERS 100000
#define MAX_NAME    255

/* Checked as a whole when it is loaded: no number in it leads outside. */
struct types {
	struct flat_header h; /* all 0 when there is no BTF */
	const struct flat_enumerator *enumerators;
	const struct flat_composite *composites;
	const struct flat_member *members;
	const struct flat_name *names;
	const struct flat_function *functions;
	const struct flat_proto *protos;
	const struct flat_param *params;
	const struct flat_type *types;
	const char *strings;
};

/* --- loading ----------------------------------------------------------------------------- */

static bool name_fits(const struct types *t, uint32_t name)
{
	return name < t->h.strings_len;
}

/* Where names are sorted, each comes once, and "" never. */
static bool name_follows(const struct types *t, uint32_t name, const char **last)
{
	const char *before = *last;

	if (!name_fits(t, name))
		return false;
	*last = t->strings + name;
	return strcmp(before, *last) < 0;
}

static bool sorted_fit(const struct types *t)
{
	const char *last = "";

	for (uint32_t i = 0; i < t->h.nr_names; i++)
		if (!name_follows(t, t->names[i].name, &last) ||
		    t->names[i].composite >= t->h.nr_composites)
			return false;
	last = "";
	for (uint32_t i = 0; i < t->h.nr_functions; i++)
		if (!name_follows(t, t->functions[i].name, &last) ||
		    t->functions[i].proto >= t->h.nr_protos)
			return false;
	last = "";
	for (uint32_t i = 0; i < t->h.nr_enumerators; i++)
		if (!name_follows(t, t->enumerators[i].name, &last) || t->enumerators[i].zero)
			return false;
	return true;
}

/* The next nr of n, of which *used are somebody's: each is one's alone. */
static bool part_fits(uint32_t first, uint32_t nr, uint32_t n, uint32_t *used)
{
	if (first != *used || nr > n - *used)
		return false;
	*used += nr;
	return true;
}

static bool composites_fit(const struct types *t)
{
	const struct flat_composite *c = t->composites;
	const struct flat_member *m = t->members;
	uint32_t used = 0;

	for (uint32_t i = 0; i < t->h.nr_composites; i++)
		if (!part_fits(c[i].first, c[i].nr, t->h.nr_members, &used))
			return false;
	for (uint32_t i = 0; i < t->h.nr_members; i++)
		if (!name_fits(t, m[i].name) || m[i].type >= t->h.nr_types || m[i].bits > UINT8_MAX)
			return false;
	return used == t->h.nr_members;
}

static bool protos_fit(const struct types *t)
{
	const struct flat_proto *p = t->protos;
	uint32_t used = 0;

	for (uint32_t i = 0; i < t->h.nr_protos; i++)
		if (!part_fits(p[i].first, p[i].nr, t->h.nr_params, &used) ||
		    p[i].result >= t->h.nr_types)
			return false;
	for (uint32_t i = 0; i < t->h.nr_params; i++)
		if (!name_fits(t, t->params[i].name) || t->params[i].type >= t->h.nr_types)
			return false;
	return used == t->h.nr_params;
}

static bool types_fit(const struct types *t)
{
	for (uint32_t i = 0; i < t->h.nr_types; i++) {
		const struct flat_type *type = &t->types[i];

		if (!name_fits(t, type->name) || type->composite > t->h.nr_composites ||
		    type->of > t->h.nr_types || type->kind > GUESTSYM_VALUE_OTHER ||
		    type->is_signed > 1 || type->form >= FLAT_FORMS || type->zero)
			return false;
	}
	return true;
}

/* The header is the caller's no more; the rest is where it says. */
static bool header_fits(struct types *t, const uint8_t *flat, size_t len)
{
	struct flat_layout l;

	if (len < sizeof(t->h) || (uintptr_t)flat % 8)
		return false;
	memcpy(&t->h, flat, sizeof(t->h));
	l = flat_layout(&t->h);
	if (t->h.magic != FLAT_MAGIC || t->h.format != FLAT_FORMAT || t->h.size != len ||
	    l.end != len)
		return false;
	t->enumerators = (const struct flat_enumerator *)(flat + l.enumerators);
	t->composites = (const struct flat_composite *)(flat + l.composites);
	t->members = (const struct flat_member *)(flat + l.members);
	t->names = (const struct flat_name *)(flat + l.names);
	t->functions = (const struct flat_function *)(flat + l.functions);
	t->protos = (const struct flat_proto *)(flat + l.protos);
	t->params = (const struct flat_param *)(flat + l.params);
	t->types = (const struct flat_type *)(flat + l.types);
	t->strings = (const char *)(flat + l.strings);
	return true;
}

int types_load(const void *flat, size_t len, struct types **t)
{
	struct types *loaded = calloc(1, sizeof(*loaded));

	*t = NULL;
	if (!loaded)
		return -ENOMEM;
	if (len &&
	    !(header_fits(loaded, flat, len) &&
	      flat_strings_fit(loaded->strings, loaded->h.strings_len) && types_fit(loaded) &&
	      composites_fit(loaded) && protos_fit(loaded) && sorted_fit(loaded))) {
		free(loaded);
		return -EINVAL;
	}
	*t = loaded;
	return 0;
}

void types_free(struct types *t)
{
	free(t);
}

/* --- by name ----------------------------------------------------------------------------- */

size_t types_count(const struct types *t)
{
	return t->h.btf_types;
}

/* Of n entries with that size, sorted by the name they start with: the one of that name, or NULL.
 */
static const void *find(const struct types *t, const void *entries, uint32_t n, size_t size,
			const char *name)
{
	uint32_t from = 0;

	while (from < n) {
		uint32_t mid = from + (n - from) / 2;
		const uint8_t *e = (const uint8_t *)entries + mid * size;
		int order = strcmp(name, t->strings + get_u32(e));

		if (!order)
			return e;
		if (order < 0)
			n = mid;
		else
			from = mid + 1;
	}
	return NULL;
}

static const struct flat_composite *find_composite(const struct types *t, const char *name)
{
	const struct flat_name *n = find(t, t->names, t->h.nr_names, sizeof(*n), name);

	return n ? &t->composites[n->composite] : NULL;
}

/* What a member's type is a name of, or NULL. */
static const struct flat_composite *composite_of(const struct types *t, uint32_t type)
{
	uint32_t number = t->types[type].composite;

	return number ? &t->composites[number - 1] : NULL;
}

/* --- members ----------------------------------------------------------------------------- */

struct member {
	uint64_t bit_off; /* from the start of the outermost type */
	uint32_t type;
	uint32_t bits; /* of a bitfield, else 0 */
};

/* Finds name in c or in its unnamed members; m->bit_off grows by where it is. */
static int member_find(const struct types *t, const struct flat_composite *c, const char *name,
		       struct member *m, int nesting, uint32_t *budget)
{
	uint64_t start = m->bit_off;

	for (uint32_t i = 0; i < c->nr; i++) {
		const struct flat_member *at = &t->members[c->first + i];
		const struct flat_composite *inner;

		if (!*budget)
			return -EINVAL;
		--*budget;
		*m = (struct member){start + at->bit_off, at->type, at->bits};
		if (t->strings[at->name]) {
			if (!strcmp(t->strings + at->name, name))
				return 0;
			continue;
		}
		inner = composite_of(t, at->type);
		if (inner && nesting < MAX_NESTING &&
		    !member_find(t, inner, name, m, nesting + 1, budget))
			return 0;
	}
	return -ENOENT;
}

/* The next name of a dotted path, which moves on behind it; -ENOENT when it is empty or too long.
 */
static int path_next(const char **path, char *name)
{
	size_t len = strcspn(*path, ".");

	if (!len || len > MAX_NAME)
		return -ENOENT;
	memcpy(name, *path, len);
	name[len] = 0;
	*path += len;
	if (**path == '.' && !*++*path)
		return -ENOENT;
	return 0;
}

static int member_to_field(const struct types *t, const struct member *m,
			   struct guestsym_field *field)
{
	uint32_t size = t->types[m->type].size;
	uint64_t storage;

	if (size == FLAT_NO_SIZE || m->bit_off / 8 > UINT32_MAX)
		return -EINVAL;
	*field = (struct guestsym_field){.offset = m->bit_off / 8, .size = size};
	if (!m->bits)
		return 0;
	/* A packed bitfield may not fit into one unit of its type: count from its byte then. */
	storage = size ? 8 * (uint64_t)size : 8;
	if (m->bit_off % storage + m->bits <= storage && storage <= 128)
		field->offset = m->bit_off / storage * (storage / 8);
	field->bit_off = m->bit_off - 8 * (uint64_t)field->offset;
	field->bit_count = m->bits;
	return 0;
}

int types_field(const struct types *t, const char *path, struct guestsym_field *field)
{
	const struct flat_composite *c;
	uint32_t budget = MAX_MEMBERS;
	struct member m = {0};
	char name[MAX_NAME + 1];
	int err;

	if (!t->strings)
		return -ENODATA;
	err = path_next(&path, name);
	if (err || !*path)
		return -ENOENT;
	c = find_composite(t, name);
	while (c && *path) {
		err = path_next(&path, name);
		if (!err)
			err = member_find(t, c, name, &m, 0, &budget);
		if (err)
			return err;
		c = composite_of(t, m.type);
	}
	return *path ? -ENOENT : member_to_field(t, &m, field);
}

int types_size(const struct types *t, const char *name, uint32_t *size)
{
	const struct flat_composite *c = t->strings ? find_composite(t, name) : NULL;

	if (!c)
		return t->strings ? -ENOENT : -ENODATA;
	*size = c->size;
	return 0;
}

int types_member(const struct types *t, const char *name, uint32_t n, struct types_member *member)
{
	const struct flat_composite *c = t->strings ? find_composite(t, name) : NULL;
	const struct flat_member *at;

	if (!c || n >= c->nr)
		return t->strings ? -ENOENT : -ENODATA;
	at = &t->members[c->first + n];
	member->name = t->strings + at->name;
	member->type = t->strings + t->types[at->type].name;
	member->is_signed = t->types[at->type].is_signed;
	return member_to_field(t, &(struct member){at->bit_off, at->type, at->bits},
			       &member->field);
}

/* --- functions --------------------------------------------------------------------------- */

/* As the kernel tells a character from a number (btf_type_is_char_ptr(), 6.12). */
static bool is_of_chars(const struct types *t, const struct flat_type *d)
{
	const struct flat_type *of = d->of ? &t->types[d->of - 1] : NULL;

	return of && of->form == FLAT_INT && !of->is_signed && of->size == 1;
}

static struct guestsym_value value_of(const struct types *t, uint32_t type, const char *name)
{
	const struct flat_type *d = &t->types[type];

	return (struct guestsym_value){
		.name = name,
		.size = d->size == FLAT_NO_SIZE ? 0 : d->size,
		.kind = d->kind,
		.is_enum = d->form == FLAT_ENUM,
		.is_array = d->form == FLAT_ARRAY,
		.of_chars = is_of_chars(t, d),
		.type = type,
	};
}

int types_pointee(const struct types *t, uint32_t type, uint32_t *pointee)
{
	if (type >= t->h.nr_types || t->types[type].kind != GUESTSYM_VALUE_POINTER ||
	    !t->types[type].of)
		return -EINVAL;
	*pointee = t->types[type].of - 1;
	return 0;
}

int types_member_of(const struct types *t, uint32_t type, const char *name,
		    struct guestsym_member *member)
{
	const struct flat_composite *c = type < t->h.nr_types ? composite_of(t, type) : NULL;
	uint32_t budget = MAX_MEMBERS;
	struct member m = {0};
	int err = c ? member_find(t, c, name, &m, 0, &budget) : -EINVAL;

	if (!err)
		*member = (struct guestsym_member){
			.value = value_of(t, m.type, NULL), .bit_off = m.bit_off, .bits = m.bits};
	return err;
}

int types_function(const struct types *t, const char *name, struct guestsym_value *param,
		   unsigned int n, struct guestsym_value *result)
{
	const struct flat_function *function;
	const struct flat_proto *proto;

	if (!t->strings)
		return -ENODATA;
	function = find(t, t->functions, t->h.nr_functions, sizeof(*function), name);
	if (!function)
		return -ENOENT;
	proto = &t->protos[function->proto];
	if (proto->nr < n)
		n = proto->nr;
	for (unsigned int i = 0; i < n; i++) {
		const struct flat_param *p = &t->params[proto->first + i];

		param[i] = value_of(t, p->type, t->strings + p->name);
	}
	*result = value_of(t, proto->result, NULL);
	return (int)n;
}

/* --- enumerators ------------------------------------------------------------------------- */

int types_enumerators(const struct types *t, const struct types_enumerator *v, size_t n)
{
	const struct flat_enumerator *e;

	if (!t->strings)
		return -ENODATA;
	for (size_t i = 0; i < n; i++) {
		e = find(t, t->enumerators, t->h.nr_enumerators, sizeof(*e), v[i].name);
		if (e)
			*v[i].value = e->value;
	}
	return 0;
}
