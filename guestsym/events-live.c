// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * events-live.c - the trace events of a kernel that runs: its list `ftrace_events`, and the lists
 * of fields that it has made when they were registered.
 */
#include "guestsym/events.h"

#include <errno.h>
#include <stdlib.h>

/* An event that goes while the list is walked breaks it. */
#define ATTEMPTS 3

#define LIST_PREV 8 /* struct list_head */

struct live {
	struct event_reader r;
	struct guestsym_field link, type, name, filter_type, offset, size, is_signed, length;
	bool has_length;
	struct guestsym_event *v; /* of the kernel itself, in their order of registration */
	struct guestsym_event *late;
	size_t nr, nr_late, room, room_late;
	size_t nr_of_modules, left_out;
};

static int learn_fields(struct live *l, const struct types *t)
{
	const struct {
		const char *path;
		struct guestsym_field *f;
		uint32_t size;
	} fields[] = {
		{"ftrace_event_field.link", &l->link, 16},
		{"ftrace_event_field.type", &l->type, 8},
		{"ftrace_event_field.name", &l->name, 8},
		{"ftrace_event_field.filter_type", &l->filter_type, 4},
		{"ftrace_event_field.offset", &l->offset, 4},
		{"ftrace_event_field.size", &l->size, 4},
		{"ftrace_event_field.is_signed", &l->is_signed, 4},
		{"ftrace_event_field.len", &l->length, 4},
	};

	for (size_t i = 0; i < ARRAY_SIZE(fields); i++) {
		int err = types_field(t, fields[i].path, fields[i].f);

		if (err == -ENOENT && fields[i].f == &l->length)
			return 0;
		if (err)
			return err == -ENOENT ? -ENODATA : err;
		if (!field_fits(fields[i].f, fields[i].size, l->r.at.field_size))
			return -EINVAL;
	}
	l->has_length = true;
	return 0;
}

/* --- fields ------------------------------------------------------------------------------ */

static int read_field(struct live *l, size_t n, uint64_t va)
{
	uint8_t raw[EVENT_STRUCT_MAX];
	struct event_raw_field f;
	int err = pages_read(&l->r.pages, va, raw, l->r.at.field_size);

	if (err)
		return err;
	f = (struct event_raw_field){
		.type = event_member(raw, &l->type),
		.name = event_member(raw, &l->name),
		.offset = event_member(raw, &l->offset),
		.size = event_member(raw, &l->size),
		.filter_type = event_member(raw, &l->filter_type),
		.is_signed = event_member(raw, &l->is_signed),
		.has_length = l->has_length,
		.length = l->has_length ? event_member(raw, &l->length) : 0,
	};
	return event_make_field(&l->r, n, &f);
}

/* Each was added in front of those before it, so the format file goes backwards. */
static int read_fields(struct live *l, uint64_t head, const struct guestsym_event_field **fields,
		       size_t *n)
{
	uint64_t at;
	int err = event_read_u64(&l->r, head + LIST_PREV, &at);

	for (*n = 0; !err && at != head; ++*n) {
		if (*n == FIELDS_MAX)
			return -EINVAL;
		err = read_field(l, *n, at - l->link.offset);
		if (!err)
			err = event_read_u64(&l->r, at + LIST_PREV, &at);
	}
	if (!err)
		*fields = event_keep_fields(&l->r, *n, &err);
	return err;
}

static int read_event_fields(struct live *l, const struct event_call *call,
			     struct guestsym_event *ev)
{
	struct event_class *class = call->class;
	int err = 0;

	if (class->kind == EVENT_CLASS_ALIEN)
		return -EINVAL;
	if (class->kind == EVENT_CLASS_ENTER)
		return read_fields(l, call->data + l->r.at.enter_fields.offset, &ev->fields,
				   &ev->nr_fields);
	if (!class->known)
		err = read_fields(l, class->va + l->r.at.fields.offset, &class->fields,
				  &class->nr_fields);
	class->known = !err;
	ev->fields = class->fields;
	ev->nr_fields = class->nr_fields;
	return err;
}

/* --- the list ---------------------------------------------------------------------------- */

static int append(struct guestsym_event **v, size_t *n, size_t *room,
		  const struct guestsym_event *ev)
{
	if (*n == *room) {
		size_t more = *room ? 2 * *room : 1024;
		void *p = reallocarray(*v, more, sizeof(**v));

		if (!p)
			return -ENOMEM;
		*v = p;
		*room = more;
	}
	(*v)[(*n)++] = *ev;
	return 0;
}

static bool is_kernels_own(const struct live *l, uint64_t va)
{
	const struct events_of *k = l->r.kernel;

	return va >= k->symbols->start + k->slide && va < k->symbols->end + k->slide;
}

static int read_event(struct live *l, uint64_t va)
{
	struct guestsym_event ev;
	struct event_call call;
	int err = event_read_call(&l->r, va, &ev, &call);

	if (!err && ev.module && l->nr_of_modules == GUESTSYM_MODULE_EVENTS_MAX) {
		l->left_out++;
		return 0;
	}
	if (!err)
		err = read_event_fields(l, &call, &ev);
	if (!err)
		err = event_read_string(&l->r, call.print_fmt, PRINT_MAX, &ev.print_fmt);
	if (err)
		return event_error_is_its_own(err) ? 0 : err;
	l->nr_of_modules += ev.module != NULL;
	if (is_kernels_own(l, va))
		return append(&l->v, &l->nr, &l->room, &ev);
	return append(&l->late, &l->nr_late, &l->room_late, &ev);
}

/* From the first that was registered to the last. */
static int walk_events(struct live *l, uint64_t head)
{
	uint64_t at;
	int err = event_read_u64(&l->r, head + LIST_PREV, &at);

	for (int i = 0; !err && at != head; i++) {
		if (i == EVENTS_MAX)
			return -ELOOP;
		err = read_event(l, at - l->r.at.list.offset);
		if (!err)
			err = event_read_u64(&l->r, at + LIST_PREV, &at);
	}
	return err;
}

/*
 * The kernel lists its own events as they come in the image; those that were registered later are
 * in front, the latest first (kernel/trace/trace_events.c: __trace_early_add_events(),
 * trace_create_new_event()).
 */
static int put_in_order(struct live *l, struct guestsym_event_list *list)
{
	struct guestsym_event *v;

	list->n = l->nr + l->nr_late;
	if (!list->n)
		return -ENOENT;
	v = event_alloc(&l->r, list->n * sizeof(*v));
	if (!v)
		return -ENOMEM;
	for (size_t i = 0; i < l->nr_late; i++)
		v[i] = l->late[l->nr_late - 1 - i];
	for (size_t i = 0; i < l->nr; i++)
		v[l->nr_late + i] = l->v[i];
	list->v = v;
	list->left_out = l->left_out;
	return 0;
}

static int read_list(struct live *l, struct guestsym_event_list *list)
{
	uint64_t head = event_reader_addr(&l->r, "ftrace_events");
	uint64_t common = event_reader_addr(&l->r, "ftrace_common_fields");
	int err = learn_fields(l, l->r.kernel->types);

	if (!err && (!head || !common))
		err = -ENOENT;
	if (!err)
		err = read_fields(l, common, &list->common, &list->nr_common);
	if (!err)
		err = walk_events(l, head);
	return err ? err : put_in_order(l, list);
}

static int try_to_read(const struct events_of *k, const struct guestsym_memory *mem,
		       struct guestsym_event_list *list)
{
	struct live l = {0};
	int err = event_reader_init(&l.r, k, mem);

	if (!err)
		err = read_list(&l, list);
	if (!err)
		event_reader_give(&l.r, list);
	event_reader_exit(&l.r);
	free(l.late);
	free(l.v);
	return err;
}

int events_read(const struct events_of *k, const struct guestsym_memory *mem,
		struct guestsym_event_list *list)
{
	int err = -EFAULT;

	for (int i = 0; i < ATTEMPTS && err == -EFAULT; i++) {
		*list = (struct guestsym_event_list){0};
		err = try_to_read(k, mem, list);
	}
	if (err)
		*list = (struct guestsym_event_list){0};
	return err;
}
