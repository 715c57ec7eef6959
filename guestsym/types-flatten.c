// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * types-flatten.c - makes a flat table of the types that an image has as BTF.
 *
 * libbpf goes through BTF; that what one type says of others makes sense, it leaves to us. What a
 * hostile image may cost: a few passes over it, three sorts, three times its size in memory.
 */
#include "guestsym/internal.h"
#include "guestsym/types-flat.h"

#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>

/* Kernels have some 6 MB of it, 20 thousand enumerators and 60 thousand functions. */
#define BTF_MAX	   (UINT64_C(64) << 20)
#define SORTED_MAX (UINT32_C(1) << 20)

/* What is to be found by its name. */
struct entry {
	uint64_t prefix; /* its first bytes, as a number of the same order */
	const char *name;
	uint32_t order; /* of several of one name the least counts */
	uint32_t what;	/* type id, or value */
};

struct entries {
	struct entry *v;
	uint32_t n;
};

struct flattening {
	const struct btf *btf;
	uint32_t ids;
	const char *strings;
	struct flat_header h;
	uint32_t
		*index; /* by id: of a composite, or of a function prototype that is kept; plus 1 */
	uint32_t *types; /* by id: of one that a member, a parameter or a result is of; plus 1 */
	uint32_t *marked, nr_marked; /* ids of these whose own types have not been looked at */
	struct entries names, functions, enumerators;
};

size_t types_raw(const struct elf_image *e, const struct symbols *s, const uint8_t **raw)
{
	const struct elf_section *sec = elf_image_section(e, ".BTF");
	uint64_t va;

	*raw = elf_section_data(e, sec);
	return *raw ? sec->size : table_entries(e, s, "__start_BTF", "__stop_BTF", 1, &va, raw);
}

/* --- is it sound? ------------------------------------------------------------------------ */

/* The header is in the kernel's include/uapi/linux/btf.h. */
static bool find_strings(struct flattening *f, const uint8_t *raw, size_t len)
{
	struct btf_header h;

	if (len < sizeof(h))
		return false;
	memcpy(&h, raw, sizeof(h));
	if (h.magic != BTF_MAGIC || h.hdr_len < sizeof(h) || h.hdr_len % 4 ||
	    (uint64_t)h.hdr_len + h.str_off + h.str_len > len)
		return false;
	f->strings = (const char *)raw + h.hdr_len + h.str_off;
	f->h.strings_len = h.str_len;
	return flat_strings_fit(f->strings, h.str_len);
}

static bool refers_to(const struct flattening *f, uint32_t name, uint32_t id)
{
	return name < f->h.strings_len && id < f->ids;
}

static bool members_are_sound(const struct flattening *f, const struct btf_type *t)
{
	const struct btf_member *m = btf_members(t);

	for (uint32_t i = 0; i < btf_vlen(t); i++)
		if (!refers_to(f, m[i].name_off, m[i].type))
			return false;
	return true;
}

static bool params_are_sound(const struct flattening *f, const struct btf_type *t)
{
	const struct btf_param *p = btf_params(t);

	for (uint32_t i = 0; i < btf_vlen(t); i++)
		if (!refers_to(f, p[i].name_off, p[i].type))
			return false;
	return refers_to(f, 0, t->type);
}

static bool enumerators_are_sound(const struct flattening *f, const struct btf_type *t)
{
	const struct btf_enum *e = btf_enum(t);

	for (uint32_t i = 0; i < btf_vlen(t); i++)
		if (!refers_to(f, e[i].name_off, 0))
			return false;
	return true;
}

/* Of what is looked at: there is no id or name in it that does not exist. */
static bool is_sound(const struct flattening *f, const struct btf_type *t)
{
	if (!refers_to(f, t->name_off, 0))
		return false;
	switch (btf_kind(t)) {
	case BTF_KIND_STRUCT:
	case BTF_KIND_UNION:
		return members_are_sound(f, t);
	case BTF_KIND_ENUM:
		return enumerators_are_sound(f, t);
	case BTF_KIND_FUNC_PROTO:
		return params_are_sound(f, t);
	case BTF_KIND_ARRAY:
		return refers_to(f, 0, btf_array(t)->type);
	case BTF_KIND_PTR:
	case BTF_KIND_TYPEDEF:
	case BTF_KIND_VOLATILE:
	case BTF_KIND_CONST:
	case BTF_KIND_RESTRICT:
	case BTF_KIND_FUNC:
	case BTF_KIND_VAR:
	case BTF_KIND_DECL_TAG:
	case BTF_KIND_TYPE_TAG:
		return refers_to(f, 0, t->type);
	default:
		return true;
	}
}

/* --- what is looked up by name ----------------------------------------------------------- */

static void entry_add(struct flattening *f, struct entries *e, uint32_t name, uint32_t order,
		      uint32_t what)
{
	const char *text = f->strings + name;
	uint64_t prefix = 0;

	if (!*text)
		return;
	for (size_t i = 0, at = 0; i < sizeof(prefix); i++) {
		prefix = prefix << 8 | (uint8_t)text[at];
		at += text[at] != 0;
	}
	e->v[e->n++] = (struct entry){prefix, text, order, what};
}

static int compare(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;
	int order;

	if (x->prefix != y->prefix)
		return x->prefix < y->prefix ? -1 : 1;
	order = strcmp(x->name, y->name);
	return order ? order : x->order < y->order ? -1 : x->order > y->order;
}

static void sort(struct entries *e)
{
	uint32_t n = 0;

	if (e->n)
		qsort(e->v, e->n, sizeof(*e->v), compare);
	for (uint32_t i = 0; i < e->n; i++)
		if (!n || strcmp(e->v[i].name, e->v[n - 1].name) != 0)
			e->v[n++] = e->v[i];
	e->n = n;
}

/* The struct or union that id stands for, behind typedefs and qualifiers: its index plus 1, or 0.
 */
static uint32_t composite(const struct flattening *f, uint32_t id)
{
	int real = btf__resolve_type(f->btf, id);

	return real > 0 && btf_is_composite(btf__type_by_id(f->btf, (uint32_t)real))
		       ? f->index[real]
		       : 0;
}

/* Structs and unions go before typedefs of the same name. */
static void collect_names(struct flattening *f)
{
	struct entries *e = &f->names;
	uint32_t n = 0;

	for (uint32_t id = 1; id < f->ids; id++) {
		const struct btf_type *t = btf__type_by_id(f->btf, id);

		if (btf_is_composite(t))
			entry_add(f, e, t->name_off, id, id);
		else if (btf_is_typedef(t))
			entry_add(f, e, t->name_off, f->ids + id, id);
	}
	sort(e);
	for (uint32_t i = 0; i < e->n; i++)
		if (composite(f, e->v[i].what))
			e->v[n++] = e->v[i];
	e->n = n;
}

static uint32_t proto_of(const struct flattening *f, uint32_t function)
{
	uint32_t id = btf__type_by_id(f->btf, function)->type;

	return btf_is_func_proto(btf__type_by_id(f->btf, id)) ? id : 0;
}

static void collect_functions(struct flattening *f)
{
	struct entries *e = &f->functions;
	uint32_t n = 0;

	for (uint32_t id = 1; id < f->ids; id++) {
		const struct btf_type *t = btf__type_by_id(f->btf, id);

		if (btf_is_func(t))
			entry_add(f, e, t->name_off, id, id);
	}
	sort(e);
	for (uint32_t i = 0; i < e->n; i++)
		if (proto_of(f, e->v[i].what))
			e->v[n++] = e->v[i];
	e->n = n;
}

/* Of several of one name the last one counts. */
static void collect_enumerators(struct flattening *f)
{
	struct entries *e = &f->enumerators;
	uint32_t order = UINT32_MAX;

	for (uint32_t id = 1; id < f->ids; id++) {
		const struct btf_type *t = btf__type_by_id(f->btf, id);

		for (uint32_t i = 0; btf_is_enum(t) && i < btf_vlen(t); i++)
			entry_add(f, e, btf_enum(t)[i].name_off, order--,
				  (uint32_t)btf_enum(t)[i].val);
	}
	sort(e);
}

/* --- what there is ----------------------------------------------------------------------- */

static int entries_alloc(struct entries *e, uint32_t n)
{
	if (n > SORTED_MAX)
		return -E2BIG;
	e->v = calloc(n ? n : 1, sizeof(*e->v));
	return e->v ? 0 : -ENOMEM;
}

/* Check all types, number the composites, make room for what is sorted. */
static int look_over(struct flattening *f)
{
	uint32_t names = 0, functions = 0, enumerators = 0;
	int err;

	for (uint32_t id = 1; id < f->ids; id++) {
		const struct btf_type *t = btf__type_by_id(f->btf, id);

		if (!is_sound(f, t))
			return -EINVAL;
		names += btf_is_composite(t) || btf_is_typedef(t);
		functions += btf_is_func(t);
		enumerators += btf_is_enum(t) ? btf_vlen(t) : 0;
		if (btf_is_composite(t)) {
			f->index[id] = ++f->h.nr_composites;
			f->h.nr_members += btf_vlen(t);
		}
	}
	err = entries_alloc(&f->names, names);
	if (!err)
		err = entries_alloc(&f->functions, functions);
	return err ? err : entries_alloc(&f->enumerators, enumerators);
}

static void mark(struct flattening *f, uint32_t id)
{
	if (!f->types[id])
		f->marked[f->nr_marked++] = id;
	f->types[id] = 1;
}

/* Mark the types that a composite or a prototype refers to. */
static void mark_types(struct flattening *f, const struct btf_type *t)
{
	for (uint32_t i = 0; i < btf_vlen(t); i++)
		mark(f, btf_is_composite(t) ? btf_members(t)[i].type : btf_params(t)[i].type);
	if (btf_is_func_proto(t))
		mark(f, t->type);
}

/* What it points to, or is an array of, behind typedefs and qualifiers. False: it is neither. */
static bool type_of(const struct flattening *f, uint32_t id, uint32_t *of)
{
	int real = btf__resolve_type(f->btf, id);
	const struct btf_type *t = real > 0 ? btf__type_by_id(f->btf, (uint32_t)real) : NULL;

	if (!t || (!btf_is_ptr(t) && !btf_is_array(t)))
		return false;
	*of = btf_is_ptr(t) ? t->type : btf_array(t)->type;
	return true;
}

/* Each type is looked at once, however they refer to each other. */
static void mark_what_they_are_of(struct flattening *f)
{
	uint32_t of = 0;

	while (f->nr_marked)
		if (type_of(f, f->marked[--f->nr_marked], &of))
			mark(f, of);
}

/* Number the prototypes of the functions, and all types that are referred to. */
static void number(struct flattening *f)
{
	for (uint32_t i = 0; i < f->functions.n; i++)
		f->index[proto_of(f, f->functions.v[i].what)] = 1;
	for (uint32_t id = 1; id < f->ids; id++) {
		const struct btf_type *t = btf__type_by_id(f->btf, id);

		if (!f->index[id])
			continue;
		mark_types(f, t);
		if (btf_is_func_proto(t)) {
			f->index[id] = ++f->h.nr_protos;
			f->h.nr_params += btf_vlen(t);
		}
	}
	mark_what_they_are_of(f);
	for (uint32_t id = 0; id < f->ids; id++)
		if (f->types[id])
			f->types[id] = ++f->h.nr_types;
}

/* --- writing ----------------------------------------------------------------------------- */

static void put_entries(const struct flattening *f, uint8_t *to, const struct flat_layout *l)
{
	struct flat_name *names = (struct flat_name *)(to + l->names);
	struct flat_function *functions = (struct flat_function *)(to + l->functions);
	struct flat_enumerator *enumerators = (struct flat_enumerator *)(to + l->enumerators);
	const struct entry *e;

	for (uint32_t i = 0; i < f->names.n; i++) {
		e = &f->names.v[i];
		names[i] = (struct flat_name){(uint32_t)(e->name - f->strings),
					      composite(f, e->what) - 1};
	}
	for (uint32_t i = 0; i < f->functions.n; i++) {
		e = &f->functions.v[i];
		functions[i] = (struct flat_function){(uint32_t)(e->name - f->strings),
						      f->index[proto_of(f, e->what)] - 1};
	}
	for (uint32_t i = 0; i < f->enumerators.n; i++) {
		e = &f->enumerators.v[i];
		enumerators[i] = (struct flat_enumerator){.name = (uint32_t)(e->name - f->strings),
							  .value = (int32_t)e->what};
	}
}

static void put_composites(const struct flattening *f, uint8_t *to, const struct flat_layout *l)
{
	struct flat_composite *composites = (struct flat_composite *)(to + l->composites);
	struct flat_member *members = (struct flat_member *)(to + l->members);
	uint32_t n = 0;

	for (uint32_t id = 1; id < f->ids; id++) {
		const struct btf_type *t = btf__type_by_id(f->btf, id);

		if (!btf_is_composite(t))
			continue;
		*composites++ = (struct flat_composite){t->size, n, btf_vlen(t)};
		for (uint32_t i = 0; i < btf_vlen(t); i++)
			members[n++] = (struct flat_member){
				.name = btf_members(t)[i].name_off,
				.type = f->types[btf_members(t)[i].type] - 1,
				.bit_off = btf_member_bit_offset(t, i),
				.bits = btf_member_bitfield_size(t, i),
			};
	}
}

static void put_protos(const struct flattening *f, uint8_t *to, const struct flat_layout *l)
{
	struct flat_proto *protos = (struct flat_proto *)(to + l->protos);
	struct flat_param *params = (struct flat_param *)(to + l->params);
	uint32_t n = 0;

	for (uint32_t id = 1; id < f->ids; id++) {
		const struct btf_type *t = btf__type_by_id(f->btf, id);

		if (!btf_is_func_proto(t) || !f->index[id])
			continue;
		*protos++ = (struct flat_proto){f->types[t->type] - 1, n, btf_vlen(t)};
		for (uint32_t i = 0; i < btf_vlen(t); i++)
			params[n++] = (struct flat_param){btf_params(t)[i].name_off,
							  f->types[btf_params(t)[i].type] - 1};
	}
}

static uint8_t kind_of(const struct btf_type *t)
{
	if (btf_is_ptr(t))
		return GUESTSYM_VALUE_POINTER;
	if (btf_is_int(t))
		return btf_int_encoding(t) & BTF_INT_SIGNED ? GUESTSYM_VALUE_SIGNED
							    : GUESTSYM_VALUE_UNSIGNED;
	if (btf_is_enum(t) || btf_is_enum64(t))
		return btf_kflag(t) ? GUESTSYM_VALUE_SIGNED : GUESTSYM_VALUE_UNSIGNED;
	return GUESTSYM_VALUE_OTHER;
}

static uint8_t form_of(const struct btf_type *t)
{
	if (btf_is_int(t))
		return FLAT_INT;
	if (btf_is_enum(t) || btf_is_enum64(t))
		return FLAT_ENUM;
	return btf_is_array(t) ? FLAT_ARRAY : FLAT_PLAIN;
}

static struct flat_type describe(const struct flattening *f, uint32_t id)
{
	uint32_t of = 0;
	int64_t size = btf__resolve_size(f->btf, id);
	int real = btf__resolve_type(f->btf, id);
	struct flat_type d = {
		.name = btf__type_by_id(f->btf, id)->name_off,
		.size = size < 0 || size > UINT32_MAX ? FLAT_NO_SIZE : (uint32_t)size,
		.composite = composite(f, id),
		.of = type_of(f, id, &of) ? f->types[of] : 0,
		.kind = id ? GUESTSYM_VALUE_OTHER : GUESTSYM_VALUE_NONE,
	};

	if (real > 0) {
		const struct btf_type *t = btf__type_by_id(f->btf, (uint32_t)real);

		d.kind = kind_of(t);
		d.form = form_of(t);
		d.is_signed = btf_is_int(t) && d.kind == GUESTSYM_VALUE_SIGNED;
	}
	return d;
}

static int put(struct flattening *f, struct blob *flat)
{
	const uint32_t strings_len = f->h.strings_len;
	struct flat_layout l;
	struct flat_type *types;
	uint8_t *to;
	int err;

	f->h.magic = FLAT_MAGIC;
	f->h.format = FLAT_FORMAT;
	f->h.btf_types = f->ids - 1;
	f->h.nr_names = f->names.n;
	f->h.nr_functions = f->functions.n;
	f->h.nr_enumerators = f->enumerators.n;
	f->h.strings_len += -flat_layout(&f->h).end & 7;
	l = flat_layout(&f->h);
	f->h.size = l.end;
	err = blob_alloc(flat, l.end);
	if (err)
		return err;
	to = flat->map;
	memcpy(to, &f->h, sizeof(f->h));
	put_entries(f, to, &l);
	put_composites(f, to, &l);
	put_protos(f, to, &l);
	types = (struct flat_type *)(to + l.types);
	for (uint32_t id = 0; id < f->ids; id++)
		if (f->types[id])
			types[f->types[id] - 1] = describe(f, id);
	memcpy(to + l.strings, f->strings, strings_len);
	return 0;
}

/* --- all of it --------------------------------------------------------------------------- */

static int flatten(struct flattening *f, struct blob *flat)
{
	int err;

	f->index = calloc(f->ids, sizeof(*f->index));
	f->types = calloc(f->ids, sizeof(*f->types));
	f->marked = calloc(f->ids, sizeof(*f->marked));
	if (!f->index || !f->types || !f->marked)
		return -ENOMEM;
	err = look_over(f);
	if (err)
		return err;
	collect_names(f);
	collect_functions(f);
	collect_enumerators(f);
	number(f);
	return put(f, flat);
}

/* Without the lines that libbpf would have printed of what it refuses. */
static struct btf *parse(const uint8_t *raw, size_t len)
{
	libbpf_print_fn_t print = libbpf_set_print(NULL);
	struct btf *btf = btf__new(raw, (uint32_t)len);
	int err = errno;

	libbpf_set_print(print);
	errno = err;
	return btf;
}

int types_flatten(const uint8_t *raw, size_t len, struct blob *flat)
{
	struct flattening f = {0};
	struct btf *btf;
	int err;

	*flat = (struct blob){0};
	if (len > BTF_MAX)
		return -E2BIG;
	if (!find_strings(&f, raw, len))
		return -EINVAL;
	btf = parse(raw, len);
	if (!btf)
		return errno == ENOMEM ? -ENOMEM : -EINVAL;
	/* No guest is of another word length, whatever its types are called. */
	btf__set_pointer_size(btf, 8);
	f.btf = btf;
	f.ids = btf__type_cnt(btf);
	err = flatten(&f, flat);
	free(f.index);
	free(f.types);
	free(f.marked);
	free(f.names.v);
	free(f.functions.v);
	free(f.enumerators.v);
	btf__free(btf);
	return err;
}
