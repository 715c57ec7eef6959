// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * events-image.c - the trace events that a kernel will have, from its image alone: what it does
 * with __start_ftrace_events when it boots (kernel/trace/trace_events.c: event_trace_enable()).
 */
#include "guestsym/events.h"

#include <stdlib.h>

#define ENTRY_MAX 64 /* struct trace_entry has 8 bytes */

struct image {
	struct event_reader r;
	struct event_evals evals;
	struct event_syscalls syscalls;
	/* struct trace_event_fields */
	struct guestsym_field type, name, size, align, is_signed, filter_type, length;
	uint32_t field_size, entry_size;
	bool has_length;
	uint32_t next_id;
	uint64_t slide; /* of the addresses that are told */
	struct guestsym_event *v;
	size_t n;
};

/* --- its bytes as memory ----------------------------------------------------------------- */

/* What of [va, va + len) a segment has; the rest of its memory is zero. */
static bool copy_segment(const struct elf_image *e, const struct elf_segment *seg, uint64_t va,
			 uint8_t *to, uint64_t len)
{
	uint64_t start = va > seg->va ? va : seg->va, end = va + len;

	if (seg->va + seg->filesz < end)
		end = seg->va + seg->filesz;
	if (start < end)
		memcpy(to + (start - va), e->data + seg->off + (start - seg->va), end - start);
	return va < seg->va + seg->memsz && va + len > seg->va;
}

static int read_image(void *arg, uint64_t va, void *buf, size_t len)
{
	const struct image *im = arg;
	const struct elf_image *e = im->r.kernel->elf;
	bool found = false;

	memset(buf, 0, len);
	for (size_t i = 0; i < e->nr_segs; i++)
		found |= copy_segment(e, &e->segs[i], va, buf, len);
	return found ? 0 : -EFAULT;
}

/* --- where things are -------------------------------------------------------------------- */

static int learn_fields(struct image *im, const struct types *t)
{
	const struct {
		const char *path;
		struct guestsym_field *f;
		uint32_t size;
	} fields[] = {
		{"trace_event_fields.type", &im->type, 8},
		{"trace_event_fields.name", &im->name, 8},
		{"trace_event_fields.size", &im->size, 4},
		{"trace_event_fields.align", &im->align, 4},
		{"trace_event_fields.is_signed", &im->is_signed, 4},
		{"trace_event_fields.filter_type", &im->filter_type, 4},
		{"trace_event_fields.len", &im->length, 4},
	};

	for (size_t i = 0; i < ARRAY_SIZE(fields); i++) {
		int err = types_field(t, fields[i].path, fields[i].f);

		if (err == -ENOENT && fields[i].f == &im->length)
			return 0;
		if (err)
			return err;
		if (!field_fits(fields[i].f, fields[i].size, im->field_size))
			return -EINVAL;
	}
	im->has_length = true;
	return 0;
}

/* Since 6.2 an allocator of numbers, without a variable for the first. */
static int learn_first_id(struct image *im, const struct types *t)
{
	uint64_t va = symbols_addr(im->r.kernel->symbols, "next_event_type");
	int64_t last = -1;
	const struct types_enumerator wanted = {"__TRACE_LAST_TYPE", &last};
	int err;

	if (va)
		return pages_read(&im->r.pages, va, &im->next_id, sizeof(im->next_id));
	err = types_enumerators(t, &wanted, 1);
	im->next_id = last;
	return !err && last < 0 ? -ENODATA : err;
}

static int learn(struct image *im, const struct types *t)
{
	int err = types_size(t, "trace_event_fields", &im->field_size);

	if (!err)
		err = types_size(t, "trace_entry", &im->entry_size);
	if (!err && (im->field_size > EVENT_STRUCT_MAX || im->entry_size > ENTRY_MAX))
		err = -EINVAL;
	if (!err)
		err = learn_fields(im, t);
	if (!err)
		err = learn_first_id(im, t);
	return err == -ENOENT ? -ENODATA : err;
}

/* --- fields ------------------------------------------------------------------------------ */

/* The name of a type as the kernel's source has it. */
static const char *spelling(const char *btf_name)
{
	return strcmp(btf_name, "short unsigned int") ? btf_name : "unsigned short";
}

static const char *keep_text(struct event_reader *r, const char *before, const char *text)
{
	char *kept = event_alloc(r, strlen(before) + strlen(text) + 1);

	return kept ? strcat(strcpy(kept, before), text) : NULL;
}

/* As trace_define_common_fields(): the members of struct trace_entry. */
static int make_common_fields(struct image *im, struct guestsym_event_list *list)
{
	struct types_member m;
	size_t n = 0;
	int err = 0;

	for (; n < FIELDS_MAX; n++) {
		struct guestsym_event_field *f = &im->r.fields[n];

		err = types_member(im->r.kernel->types, "trace_entry", n, &m);
		if (err)
			break;
		f->name = keep_text(&im->r, "common_", m.name);
		f->type = keep_text(&im->r, "", spelling(m.type));
		if (!f->name || !f->type)
			return -ENOMEM;
		f->offset = m.field.offset;
		f->size = m.field.size;
		f->is_signed = m.is_signed;
		f->kind = GUESTSYM_EVENT_NUMBER;
	}
	if (err != -ENOENT)
		return err ? err : -EINVAL;
	list->common = event_keep_fields(&im->r, n, &err);
	list->nr_common = n;
	return err;
}

/* Where a field goes that has this alignment; *end is behind the ones before it. */
static int place_field(struct event_raw_field *f, uint32_t align, uint32_t *end)
{
	if (!align || align & (align - 1) || align > 4096 || f->size > INT32_MAX ||
	    *end > INT32_MAX)
		return -EINVAL;
	f->offset = (*end + align - 1) & ~(align - 1);
	*end = f->offset + f->size;
	return 0;
}

/* A field of the array, behind whose last one the type is NULL. */
static int read_field(struct image *im, const uint8_t *raw, size_t n, uint32_t *end)
{
	struct event_raw_field f = {
		.type = event_member(raw, &im->type),
		.name = event_member(raw, &im->name),
		.size = event_member(raw, &im->size),
		.is_signed = event_member(raw, &im->is_signed),
		.filter_type = event_member(raw, &im->filter_type),
		.has_length = im->has_length,
		.length = im->has_length ? event_member(raw, &im->length) : 0,
	};
	int err = place_field(&f, event_member(raw, &im->align), end);

	return err ? err : event_make_field(&im->r, n, &f);
}

/* As event_define_fields(). Behind TRACE_FUNCTION_TYPE a function defines the rest. */
static int read_fields(struct image *im, const struct event_call *call, struct guestsym_event *ev)
{
	uint64_t va = call->class->fields_array, type;
	uint32_t end = im->entry_size;
	size_t n = 0;
	int err;

	for (;; va += im->field_size, n++) {
		uint8_t raw[EVENT_STRUCT_MAX];

		err = n < FIELDS_MAX ? pages_read(&im->r.pages, va, raw, im->field_size) : -EINVAL;
		type = err ? 0 : event_member(raw, &im->type);
		if (!type || type == UINT64_MAX)
			break;
		err = read_field(im, raw, n, &end);
		if (err)
			return err;
	}
	if (type && call->class->kind != EVENT_CLASS_ENTER)
		return -EINVAL;
	if (type)
		err = event_syscall_fields(&im->r, call->data, end, &n);
	if (!err)
		ev->fields = event_keep_fields(&im->r, n, &err);
	ev->nr_fields = n;
	return err;
}

/* Events of a class have the same ones, but for system calls. */
static int find_fields(struct image *im, const struct event_call *call, struct guestsym_event *ev)
{
	struct event_class *class = call->class;
	int err;

	if (class->kind == EVENT_CLASS_ALIEN)
		return -EINVAL;
	if (class->known) {
		ev->fields = class->fields;
		ev->nr_fields = class->nr_fields;
		return 0;
	}
	err = read_fields(im, call, ev);
	if (class->kind == EVENT_CLASS_ENTER || err)
		return err;
	class->fields = ev->fields;
	class->nr_fields = ev->nr_fields;
	class->known = true;
	return 0;
}

/* --- events ------------------------------------------------------------------------------ */

static int make_print_fmt(struct image *im, const struct event_call *call,
			  struct guestsym_event *ev)
{
	int err;

	if (ev->source == GUESTSYM_EVENT_SYSCALL)
		return event_syscall_print_fmt(&im->r, ev, &ev->print_fmt);
	err = event_read_string(&im->r, call->print_fmt, PRINT_MAX, &ev->print_fmt);
	if (!err)
		err = event_evals_replace(&im->evals, &im->r, call->class->system_va,
					  &ev->print_fmt);
	return err;
}

/* The image has link addresses. */
static void place_event(const struct image *im, struct guestsym_event *ev)
{
	uint64_t *const addresses[] = {&ev->call, &ev->tracepoint, &ev->probe};

	for (size_t i = 0; i < ARRAY_SIZE(addresses); i++)
		if (*addresses[i])
			*addresses[i] += im->slide;
}

static int read_event(struct image *im, uint64_t va)
{
	struct guestsym_event *ev = &im->v[im->n];
	struct event_call call;
	int err = event_read_call(&im->r, va, ev, &call);

	if (err)
		return err;
	if (ev->source == GUESTSYM_EVENT_SYSCALL) {
		ev->syscall_nr = event_syscalls_nr(&im->syscalls, call.data);
		if (ev->syscall_nr < 0)
			return 0; /* the kernel leaves it out as well */
	}
	/* It has its number even when we cannot make sense of it. */
	if (!ev->id && call.class->raw_init)
		ev->id = im->next_id++;
	err = find_fields(im, &call, ev);
	if (!err)
		err = make_print_fmt(im, &call, ev);
	place_event(im, ev);
	im->n += !err;
	return err;
}

static int read_events(struct image *im)
{
	const struct events_of *k = im->r.kernel;
	const uint8_t *p = NULL;
	uint64_t va;
	size_t n = table_entries(k->elf, k->symbols, "__start_ftrace_events",
				 "__stop_ftrace_events", 8, &va, &p);
	int err = 0;

	if (!n || n > EVENTS_MAX)
		return n ? -EINVAL : -ENOENT;
	im->v = event_alloc(&im->r, n * sizeof(*im->v));
	if (!im->v)
		return -ENOMEM;
	for (size_t i = 0; i < n && !err; i++) {
		err = read_event(im, get_u64(p + 8 * i));
		if (event_error_is_its_own(err))
			err = 0;
	}
	return err || im->n ? err : -ENOENT;
}

static int read_all(struct image *im, struct guestsym_event_list *list)
{
	int err = learn(im, im->r.kernel->types);

	if (!err)
		err = event_evals_read(&im->evals, &im->r);
	if (!err)
		err = event_syscalls_read(&im->syscalls, &im->r);
	if (!err)
		err = make_common_fields(im, list);
	if (!err)
		err = read_events(im);
	list->v = im->v;
	list->n = im->n;
	return err;
}

int events_image(const struct events_of *k, uint64_t slide, struct guestsym_event_list *list)
{
	struct image im = {.slide = slide};
	const struct guestsym_memory bytes = {.read = read_image, .arg = &im};
	int err = event_reader_init(&im.r, k, &bytes);

	*list = (struct guestsym_event_list){0};
	if (!err)
		err = read_all(&im, list);
	if (!err)
		event_reader_give(&im.r, list);
	else
		*list = (struct guestsym_event_list){0};
	event_syscalls_exit(&im.syscalls);
	event_evals_exit(&im.evals);
	event_reader_exit(&im.r);
	return err;
}
