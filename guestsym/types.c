// SPDX-License-Identifier: GPL-2.0-or-later
/* types.c - the image's BTF: parsed by libbpf on first use, then asked where members lie. */
#include "guestsym/internal.h"

#include <bpf/btf.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

/* Bounds for hostile BTF; C needs far less. */
#define MAX_NESTING 16
#define MAX_MEMBERS 100000
#define MAX_NAME    255

struct types {
	pthread_mutex_t lock; /* protects loading; what was loaded never changes */
	const uint8_t *raw;
	size_t len;
	size_t count;
	bool parsed, indexed; /* it was tried */
	struct btf *btf;
	uint32_t *hash; /* type id of struct, union or typedef by name; open addressing */
	size_t mask;
	struct hash_key key;
};

struct types *types_new(const struct elf_image *e, const struct symbols *s, size_t count)
{
	const struct elf_section *sec = elf_image_section(e, ".BTF");
	struct types *t = calloc(1, sizeof(*t));
	uint64_t va;

	if (!t)
		return NULL;
	pthread_mutex_init(&t->lock, NULL);
	t->count = count;
	t->raw = elf_section_data(e, sec);
	t->len = t->raw ? sec->size : 0;
	if (!t->raw)
		t->len = table_entries(e, s, "__start_BTF", "__stop_BTF", 1, &va, &t->raw);
	if (t->len > UINT32_MAX)
		t->len = 0;
	return t;
}

void types_free(struct types *t)
{
	if (!t)
		return;
	btf__free(t->btf);
	free(t->hash);
	pthread_mutex_destroy(&t->lock);
	free(t);
}

/* --- loading ----------------------------------------------------------------------------- */

static const char *type_name(const struct types *t, uint32_t id)
{
	const struct btf_type *type = btf__type_by_id(t->btf, id);
	const char *name = type ? btf__name_by_offset(t->btf, type->name_off) : NULL;

	return name ? name : "";
}

static size_t slot_of(const struct types *t, const char *name)
{
	size_t i = hash_keyed(&t->key, name, strlen(name)) & t->mask;

	while (t->hash[i] && strcmp(type_name(t, t->hash[i]), name) != 0)
		i = (i + 1) & t->mask;
	return i;
}

static bool is_named(const struct types *t, uint32_t id, bool typedefs)
{
	const struct btf_type *type = btf__type_by_id(t->btf, id);
	const char *name;

	if (!type || (typedefs ? !btf_is_typedef(type) : !btf_is_composite(type)))
		return false;
	name = type_name(t, id);
	return name[0] && strnlen(name, SYMBOL_NAME_MAX + 1) <= SYMBOL_NAME_MAX;
}

/* Structs and unions go before typedefs of the same name. */
static void index_types(struct types *t)
{
	uint32_t n = btf__type_cnt(t->btf), named = 0;
	size_t size = 64;

	for (uint32_t id = 1; id < n; id++)
		named += is_named(t, id, false) || is_named(t, id, true);
	while (size < 2 * (size_t)named)
		size *= 2;
	t->hash = calloc(size, sizeof(*t->hash));
	if (!t->hash)
		return;
	t->mask = size - 1;
	t->key = hash_key_new();
	for (int typedefs = 0; typedefs < 2; typedefs++) {
		for (uint32_t id = 1; id < n; id++) {
			size_t slot;

			if (!is_named(t, id, typedefs))
				continue;
			slot = slot_of(t, type_name(t, id));
			if (!t->hash[slot])
				t->hash[slot] = id;
		}
	}
}

/* The parsed BTF, or NULL; with the index of names when asked for. */
static const struct btf *types_btf(struct types *t, bool index)
{
	pthread_mutex_lock(&t->lock);
	if (!t->parsed && t->len)
		t->btf = btf__new(t->raw, t->len);
	t->parsed = true;
	if (!t->indexed && index && t->btf)
		index_types(t);
	t->indexed |= index;
	pthread_mutex_unlock(&t->lock);
	return t->btf && (t->hash || !index) ? t->btf : NULL;
}

size_t types_count(struct types *t)
{
	const struct btf *btf = t->count ? NULL : types_btf(t, false);

	if (t->count)
		return t->count;
	return btf ? btf__type_cnt(btf) - 1 : 0;
}

/* --- members ----------------------------------------------------------------------------- */

struct member {
	uint64_t bit_off; /* from the start of the outermost type */
	uint32_t type;
	uint32_t bits; /* of a bitfield, else 0 */
};

/* The struct or union that id stands for, behind typedefs and qualifiers. */
static const struct btf_type *composite(const struct btf *btf, uint32_t id)
{
	int real = btf__resolve_type(btf, id);
	const struct btf_type *type = real < 0 ? NULL : btf__type_by_id(btf, real);

	return type && btf_is_composite(type) ? type : NULL;
}

/* Finds name in type or in its unnamed members; m->bit_off grows by where it is. */
static int member_find(const struct btf *btf, const struct btf_type *type, const char *name,
		       struct member *m, int nesting, uint32_t *budget)
{
	uint64_t start = m->bit_off;

	for (uint32_t i = 0; i < btf_vlen(type); i++) {
		const struct btf_member *bm = &btf_members(type)[i];
		const char *bm_name = btf__name_by_offset(btf, bm->name_off);
		const struct btf_type *inner;

		if (!bm_name || !*budget)
			return -EINVAL;
		--*budget;
		m->bit_off = start + btf_member_bit_offset(type, i);
		m->type = bm->type;
		m->bits = btf_member_bitfield_size(type, i);
		if (bm_name[0]) {
			if (!strcmp(bm_name, name))
				return 0;
			continue;
		}
		inner = composite(btf, bm->type);
		if (inner && nesting < MAX_NESTING &&
		    !member_find(btf, inner, name, m, nesting + 1, budget))
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

static int member_to_field(const struct btf *btf, const struct member *m,
			   struct guestsym_field *field)
{
	int64_t size = btf__resolve_size(btf, m->type);
	uint64_t storage;

	if (size < 0 || size > UINT32_MAX || m->bit_off / 8 > UINT32_MAX)
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

int types_field(struct types *t, const char *path, struct guestsym_field *field)
{
	const struct btf *btf = types_btf(t, true);
	uint32_t budget = MAX_MEMBERS;
	struct member m = {0};
	char name[MAX_NAME + 1];
	int err;

	if (!btf)
		return -ENODATA;
	err = path_next(&path, name);
	if (err || !*path)
		return -ENOENT;
	m.type = t->hash[slot_of(t, name)];
	if (!m.type)
		return -ENOENT;
	while (*path) {
		const struct btf_type *type = composite(btf, m.type);

		err = type ? path_next(&path, name) : -ENOENT;
		if (!err)
			err = member_find(btf, type, name, &m, 0, &budget);
		if (err)
			return err;
	}
	return member_to_field(btf, &m, field);
}

int types_size(struct types *t, const char *name, uint32_t *size)
{
	const struct btf *btf = types_btf(t, true);
	const struct btf_type *type;

	if (!btf)
		return -ENODATA;
	type = composite(btf, t->hash[slot_of(t, name)]);
	if (!type)
		return -ENOENT;
	*size = type->size;
	return 0;
}

static bool is_signed_int(const struct btf *btf, uint32_t id)
{
	int real = btf__resolve_type(btf, id);
	const struct btf_type *type = real < 0 ? NULL : btf__type_by_id(btf, real);

	return type && btf_is_int(type) && btf_int_encoding(type) & BTF_INT_SIGNED;
}

int types_member(struct types *t, const char *name, uint32_t n, struct types_member *member)
{
	const struct btf *btf = types_btf(t, true);
	const struct btf_type *type = btf ? composite(btf, t->hash[slot_of(t, name)]) : NULL;
	const struct btf_member *bm;
	struct member m;

	if (!btf)
		return -ENODATA;
	if (!type || n >= btf_vlen(type))
		return -ENOENT;
	bm = &btf_members(type)[n];
	member->name = btf__name_by_offset(btf, bm->name_off);
	if (!member->name)
		return -EINVAL;
	member->type = type_name(t, bm->type);
	member->is_signed = is_signed_int(btf, bm->type);
	m = (struct member){btf_member_bit_offset(type, n), bm->type,
			    btf_member_bitfield_size(type, n)};
	return member_to_field(btf, &m, &member->field);
}

/* --- functions --------------------------------------------------------------------------- */

static void value_describe(const struct btf *btf, uint32_t id, struct guestsym_value *v)
{
	int real = btf__resolve_type(btf, id);
	const struct btf_type *type = real > 0 ? btf__type_by_id(btf, (uint32_t)real) : NULL;

	*v = (struct guestsym_value){.kind = id ? GUESTSYM_VALUE_OTHER : GUESTSYM_VALUE_NONE};
	if (!type)
		return;
	v->size = type->size;
	if (btf_is_ptr(type)) {
		v->kind = GUESTSYM_VALUE_POINTER;
		v->size = 8;
	} else if (btf_is_int(type)) {
		v->kind = btf_int_encoding(type) & BTF_INT_SIGNED ? GUESTSYM_VALUE_SIGNED
								  : GUESTSYM_VALUE_UNSIGNED;
	} else if (btf_is_enum(type) || btf_is_enum64(type)) {
		v->kind = btf_kflag(type) ? GUESTSYM_VALUE_SIGNED : GUESTSYM_VALUE_UNSIGNED;
	}
}

int types_function(struct types *t, const char *name, struct guestsym_value *param, unsigned int n,
		   struct guestsym_value *result)
{
	const struct btf *btf = types_btf(t, false);
	int32_t id = btf ? btf__find_by_name_kind(btf, name, BTF_KIND_FUNC) : -ENODATA;
	const struct btf_type *type = id > 0 ? btf__type_by_id(btf, (uint32_t)id) : NULL;
	unsigned int nr;

	type = type ? btf__type_by_id(btf, type->type) : NULL;
	if (!type || !btf_is_func_proto(type))
		return btf ? -ENOENT : -ENODATA;
	nr = btf_vlen(type) < n ? btf_vlen(type) : n;
	for (unsigned int i = 0; i < nr; i++) {
		const struct btf_param *p = &btf_params(type)[i];
		const char *text = btf__name_by_offset(btf, p->name_off);

		value_describe(btf, p->type, &param[i]);
		param[i].name = text ? text : "";
	}
	value_describe(btf, type->type, result);
	return (int)nr;
}

/* --- enumerators ------------------------------------------------------------------------- */

static void match_enumerator(const struct types_enumerator *v, size_t n, const char *name,
			     int64_t value)
{
	for (size_t i = 0; i < n; i++)
		if (!strcmp(v[i].name, name))
			*v[i].value = value;
}

int types_enumerators(struct types *t, const struct types_enumerator *v, size_t n)
{
	const struct btf *btf = types_btf(t, false);
	uint32_t types = btf ? btf__type_cnt(btf) : 0;

	for (uint32_t id = 1; id < types; id++) {
		const struct btf_type *type = btf__type_by_id(btf, id);

		if (!btf_is_enum(type))
			continue;
		for (uint32_t i = 0; i < btf_vlen(type); i++) {
			const struct btf_enum *e = &btf_enum(type)[i];
			const char *name = btf__name_by_offset(btf, e->name_off);

			if (name)
				match_enumerator(v, n, name, e->val);
		}
	}
	return btf ? 0 : -ENODATA;
}
