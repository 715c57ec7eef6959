// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * events.c - trace events: what struct trace_event_call, its class and its fields say, wherever
 * they are read from, and the memory of the list that is made of them.
 *
 * It is guest memory, or an image: every string and every list is bounded, and so is all of it.
 */
#include "guestsym/events.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#define MODULE_MAX 56 /* MODULE_NAME_LEN */

#define CHUNK	   (UINT32_C(256) << 10)
#define MEMORY_MAX (UINT64_C(64) << 20)

/* --- memory ------------------------------------------------------------------------------ */

struct chunk {
	struct chunk *next;
	size_t used, size;
	uint64_t bytes[];
};

struct guestsym_event_memory {
	struct chunk *chunks; /* the one that is being filled first */
	uint64_t used;
};

static struct chunk *chunk_new(struct guestsym_event_memory *m, size_t len)
{
	size_t size = len > CHUNK ? len : CHUNK;
	struct chunk *c;

	m->used += size;
	c = m->used > MEMORY_MAX ? NULL : calloc(1, sizeof(*c) + size);
	if (!c)
		return NULL;
	c->size = size;
	c->next = m->chunks;
	m->chunks = c;
	return c;
}

void *event_alloc(struct event_reader *r, size_t len)
{
	struct chunk *c = r->memory->chunks;
	void *p;

	len = (len + 7) & ~(size_t)7;
	if (!c || len > c->size - c->used)
		c = chunk_new(r->memory, len);
	if (!c)
		return NULL;
	p = (uint8_t *)c->bytes + c->used;
	c->used += len;
	return p;
}

void guestsym_events_free(struct guestsym_event_list *list)
{
	struct chunk *c = list->memory ? list->memory->chunks : NULL, *next;

	for (; c; c = next) {
		next = c->next;
		free(c);
	}
	free(list->memory);
	*list = (struct guestsym_event_list){0};
}

/* --- where things are -------------------------------------------------------------------- */

struct wanted {
	const char *path;
	struct guestsym_field *f;
	uint32_t size; /* 0: any */
	const uint32_t *within;
};

static int learn_fields(const struct types *t, const struct wanted *v, size_t n)
{
	int err = 0;

	for (size_t i = 0; i < n && !err; i++) {
		err = types_field(t, v[i].path, v[i].f);
		if (!err && v[i].within && !field_fits(v[i].f, v[i].size, *v[i].within))
			err = -EINVAL;
	}
	/* A kernel without trace events, or one that has them in a way that nobody knows yet. */
	return err == -ENOENT ? -ENODATA : err;
}

static int learn_sizes(struct event_layout *at, const struct types *t)
{
	const struct {
		const char *name;
		uint32_t *size;
	} sizes[] = {
		{"trace_event_call", &at->call_size},
		{"trace_event_class", &at->class_size},
		{"ftrace_event_field", &at->field_size},
	};
	int err = 0;

	for (size_t i = 0; i < ARRAY_SIZE(sizes) && !err; i++) {
		err = types_size(t, sizes[i].name, sizes[i].size);
		if (!err && *sizes[i].size > EVENT_STRUCT_MAX)
			err = -EINVAL;
	}
	return err == -ENOENT ? -ENODATA : err;
}

/* A kernel without CONFIG_FTRACE_SYSCALLS has none. */
static int learn_syscalls(struct event_layout *at, const struct types *t)
{
	const struct wanted fields[] = {
		{"syscall_metadata.syscall_nr", &at->nr, 4, &at->meta_size},
		{"syscall_metadata.enter_fields", &at->enter_fields, 16, &at->meta_size},
		{"syscall_metadata.name", &at->meta_name, 8, &at->meta_size},
		{"syscall_metadata.nb_args", &at->nb_args, 4, &at->meta_size},
		{"syscall_metadata.types", &at->types, 8, &at->meta_size},
		{"syscall_metadata.args", &at->args, 8, &at->meta_size},
	};
	int err = types_size(t, "syscall_metadata", &at->meta_size);

	if (err == -ENOENT)
		return 0;
	if (!err && at->meta_size > EVENT_STRUCT_MAX)
		err = -EINVAL;
	return err ? err : learn_fields(t, fields, ARRAY_SIZE(fields));
}

static int learn_numbers(struct event_layout *at, const struct types *t)
{
	const struct types_enumerator numbers[] = {
		{"TRACE_EVENT_FL_TRACEPOINT", &at->is_tracepoint},
		{"TRACE_EVENT_FL_DYNAMIC", &at->is_dynamic},
		{"TRACE_EVENT_FL_CUSTOM", &at->is_custom},
		{"TRACE_EVENT_FL_IGNORE_ENABLE", &at->is_ignored},
		{"TRACE_EVENT_FL_KPROBE", &at->is_kprobe},
		{"TRACE_EVENT_FL_UPROBE", &at->is_uprobe},
		{"FILTER_STATIC_STRING", &at->string},
		{"FILTER_DYN_STRING", &at->dyn_string},
		{"FILTER_RDYN_STRING", &at->rdyn_string},
		{"FILTER_PTR_STRING", &at->ptr_string},
		{"FILTER_TRACE_FN", &at->function},
		{"FILTER_CPUMASK", &at->cpumask},
	};

	at->string = at->dyn_string = at->rdyn_string = at->ptr_string = -1;
	at->function = at->cpumask = -1;
	return types_enumerators(t, numbers, ARRAY_SIZE(numbers));
}

static int learn_layout(struct event_layout *at, const struct types *t)
{
	const struct wanted fields[] = {
		{"trace_event_call.list", &at->list, 16, &at->call_size},
		{"trace_event_call.class", &at->class, 8, &at->call_size},
		{"trace_event_call.name", &at->name, 8, &at->call_size},
		{"trace_event_call.tp", &at->tp, 8, &at->call_size},
		{"trace_event_call.event.type", &at->type, 4, &at->call_size},
		{"trace_event_call.print_fmt", &at->print_fmt, 8, &at->call_size},
		{"trace_event_call.data", &at->data, 8, &at->call_size},
		{"trace_event_call.flags", &at->flags, 4, &at->call_size},
		{"trace_event_class.system", &at->system, 8, &at->class_size},
		{"trace_event_class.probe", &at->probe, 8, &at->class_size},
		{"trace_event_class.reg", &at->reg, 8, &at->class_size},
		{"trace_event_class.fields_array", &at->fields_array, 8, &at->class_size},
		{"trace_event_class.get_fields", &at->get_fields, 8, &at->class_size},
		{"trace_event_class.fields", &at->fields, 16, &at->class_size},
		{"trace_event_class.raw_init", &at->raw_init, 8, &at->class_size},
		{"tracepoint.name", &at->tp_name, 8, NULL},
	};
	int err = learn_sizes(at, t);

	if (!err)
		err = learn_fields(t, fields, ARRAY_SIZE(fields));
	/* Until 5.15 it was called mod. */
	if (!err && types_field(t, "trace_event_call.module", &at->module))
		err = types_field(t, "trace_event_call.mod", &at->module);
	if (!err && !field_fits(&at->module, 8, at->call_size))
		err = -EINVAL;
	/* A kernel without modules has no events of any. */
	if (!err && types_field(t, "module.name", &at->module_name))
		at->module_name.size = 0;
	if (!err)
		err = learn_syscalls(at, t);
	return err ? err : learn_numbers(at, t);
}

uint64_t event_member(const uint8_t *raw, const struct guestsym_field *f)
{
	uint64_t v = f->size == 8 ? get_u64(raw + f->offset) : get_u32(raw + f->offset);

	return f->bit_count ? v >> f->bit_off & ((UINT64_C(1) << f->bit_count) - 1) : v;
}

/* --- the reader -------------------------------------------------------------------------- */

int event_reader_init(struct event_reader *r, const struct events_of *k,
		      const struct guestsym_memory *mem)
{
	*r = (struct event_reader){.kernel = k, .pages.mem = mem};
	r->memory = calloc(1, sizeof(*r->memory));
	r->fields = calloc(FIELDS_MAX, sizeof(*r->fields));
	return r->memory && r->fields ? learn_layout(&r->at, k->types) : -ENOMEM;
}

void event_reader_exit(struct event_reader *r)
{
	for (size_t i = 0; i < r->classes.room; i++)
		free(r->classes.slots[i].p);
	va_map_exit(&r->classes);
	pages_exit(&r->pages);
	guestsym_events_free(&(struct guestsym_event_list){.memory = r->memory});
	free(r->fields);
	*r = (struct event_reader){0};
}

void event_reader_give(struct event_reader *r, struct guestsym_event_list *list)
{
	list->memory = r->memory;
	r->memory = NULL;
}

uint64_t event_reader_addr(const struct event_reader *r, const char *name)
{
	uint64_t va = symbols_addr(r->kernel->symbols, name);

	return va ? va + r->kernel->slide : 0;
}

int event_read_string(struct event_reader *r, uint64_t va, size_t max, const char **s)
{
	size_t len;
	int err = pages_string_length(&r->pages, va, max, &len);
	char *copy;

	if (err)
		return err;
	copy = event_alloc(r, len + 1);
	*s = copy;
	return copy ? pages_read(&r->pages, va, copy, len) : -ENOMEM;
}

int event_read_u64(struct event_reader *r, uint64_t va, uint64_t *v)
{
	return pages_read(&r->pages, va, v, sizeof(*v));
}

/* Something that may be the name of a file, and a word of set_event. */
static bool is_word(const char *s)
{
	for (const char *p = s; *p; p++)
		if (*p <= ' ' || *p > '~' || *p == '/' || *p == ':')
			return false;
	return *s && *s != '.';
}

static int read_word(struct event_reader *r, uint64_t va, size_t max, const char **s)
{
	int err = event_read_string(r, va, max, s);

	return err || is_word(*s) ? err : -EINVAL;
}

/* --- classes ----------------------------------------------------------------------------- */

static enum event_class_kind class_kind(const struct event_reader *r, uint64_t va,
					uint64_t get_fields)
{
	if (va == event_reader_addr(r, "event_class_syscall_enter"))
		return r->at.meta_size ? EVENT_CLASS_ENTER : EVENT_CLASS_ALIEN;
	if (get_fields)
		return EVENT_CLASS_ALIEN;
	if (va == event_reader_addr(r, "event_class_syscall_exit") && r->at.meta_size)
		return EVENT_CLASS_EXIT;
	return EVENT_CLASS_PLAIN;
}

static int read_class(struct event_reader *r, struct event_class *class)
{
	const struct event_layout *at = &r->at;
	uint8_t raw[EVENT_STRUCT_MAX];
	int err = pages_read(&r->pages, class->va, raw, at->class_size);

	if (err)
		return err;
	class->probe = event_member(raw, &at->probe);
	class->reg = event_member(raw, &at->reg);
	class->fields_array = event_member(raw, &at->fields_array);
	class->kind = class_kind(r, class->va, event_member(raw, &at->get_fields));
	class->raw_init = event_member(raw, &at->raw_init);
	class->system_va = event_member(raw, &at->system);
	return read_word(r, class->system_va, WORD_MAX, &class->system);
}

static int find_class(struct event_reader *r, uint64_t va, struct event_class **class)
{
	struct event_class *c;
	int err;

	*class = va_map_find(&r->classes, va);
	if (*class)
		return 0;
	c = calloc(1, sizeof(*c));
	if (!c)
		return -ENOMEM;
	c->va = va;
	err = read_class(r, c);
	if (!err)
		err = va_map_add(&r->classes, va, c);
	if (err)
		free(c);
	else
		*class = c;
	return err;
}

/* --- calls ------------------------------------------------------------------------------- */

/* As trace_event_name() of include/linux/trace_events.h. */
static int read_name(struct event_reader *r, const uint8_t *raw, struct guestsym_event *ev)
{
	const struct event_layout *at = &r->at;
	int64_t flags = event_member(raw, &at->flags);
	uint64_t name = event_member(raw, &at->name);
	int err = 0;

	if (flags & at->is_tracepoint && !(flags & at->is_custom)) {
		ev->tracepoint = event_member(raw, &at->tp);
		err = event_read_u64(r, ev->tracepoint + at->tp_name.offset, &name);
	}
	return err ? err : read_word(r, name, WORD_MAX, &ev->name);
}

/* Dynamic ones count their users where others have their module. */
static int read_module(struct event_reader *r, const uint8_t *raw, struct guestsym_event *ev)
{
	uint64_t module = event_member(raw, &r->at.module);

	if (!module || !r->at.module_name.size || ev->flags & GUESTSYM_EVENT_FL_DYNAMIC)
		return 0;
	ev->module_at = module;
	return read_word(r, module + r->at.module_name.offset, MODULE_MAX, &ev->module);
}

static int read_syscall_nr(struct event_reader *r, const struct event_call *call,
			   struct guestsym_event *ev)
{
	uint8_t raw[EVENT_STRUCT_MAX];
	int err;

	ev->syscall_nr = -1;
	if (call->class->kind != EVENT_CLASS_ENTER && call->class->kind != EVENT_CLASS_EXIT)
		return 0;
	ev->syscall_exit = call->class->kind == EVENT_CLASS_EXIT;
	err = pages_read(&r->pages, call->data, raw, r->at.meta_size);
	if (!err)
		ev->syscall_nr = (int32_t)event_member(raw, &r->at.nr);
	return err;
}

static uint32_t flags_of(const struct event_reader *r, const struct event_class *class,
			 int64_t flags)
{
	return (class->reg ? GUESTSYM_EVENT_FL_REG : 0) |
	       (flags & r->at.is_ignored ? GUESTSYM_EVENT_FL_IGNORE_ENABLE : 0) |
	       (flags & r->at.is_dynamic ? GUESTSYM_EVENT_FL_DYNAMIC : 0) |
	       (flags & r->at.is_kprobe ? GUESTSYM_EVENT_FL_KPROBE : 0) |
	       (flags & r->at.is_uprobe ? GUESTSYM_EVENT_FL_UPROBE : 0);
}

static enum guestsym_event_source source_of(const struct event_class *class,
					    const struct guestsym_event *ev)
{
	if (class->kind == EVENT_CLASS_ENTER || class->kind == EVENT_CLASS_EXIT)
		return GUESTSYM_EVENT_SYSCALL;
	if (!class->reg || ev->flags & GUESTSYM_EVENT_FL_IGNORE_ENABLE)
		return GUESTSYM_EVENT_FTRACE;
	if (ev->tracepoint && class->probe && !(ev->flags & GUESTSYM_EVENT_FL_DYNAMIC))
		return GUESTSYM_EVENT_PROBE;
	return GUESTSYM_EVENT_OTHER;
}

int event_read_call(struct event_reader *r, uint64_t va, struct guestsym_event *ev,
		    struct event_call *call)
{
	const struct event_layout *at = &r->at;
	uint8_t raw[EVENT_STRUCT_MAX];
	int err = pages_read(&r->pages, va, raw, at->call_size);

	*ev = (struct guestsym_event){.call = va};
	if (!err)
		err = find_class(r, event_member(raw, &at->class), &call->class);
	if (err)
		return err;
	call->print_fmt = event_member(raw, &at->print_fmt);
	call->data = event_member(raw, &at->data);
	ev->system = call->class->system;
	ev->probe = call->class->probe;
	ev->id = event_member(raw, &at->type);
	ev->flags = flags_of(r, call->class, event_member(raw, &at->flags));
	err = read_name(r, raw, ev);
	if (!err)
		err = read_module(r, raw, ev);
	if (!err)
		err = read_syscall_nr(r, call, ev);
	ev->source = source_of(call->class, ev);
	return err;
}

/* --- fields ------------------------------------------------------------------------------ */

/* As filter_assign_type() of kernel/trace/trace_events_filter.c. */
static enum guestsym_event_field_kind kind_by_type(const struct event_layout *at, const char *type)
{
	bool chars = strstr(type, "char");

	if (strstr(type, "__data_loc") && chars)
		return GUESTSYM_EVENT_DYN_STRING;
	if (strstr(type, "__data_loc") && strstr(type, "cpumask_t") && at->cpumask >= 0)
		return GUESTSYM_EVENT_CPUMASK;
	if (strstr(type, "__rel_loc") && chars)
		return GUESTSYM_EVENT_RDYN_STRING;
	if (strchr(type, '[') && chars)
		return GUESTSYM_EVENT_STRING;
	if (!strcmp(type, "char *") || !strcmp(type, "const char *"))
		return GUESTSYM_EVENT_PTR_STRING;
	return GUESTSYM_EVENT_NUMBER;
}

/* FILTER_OTHER, zero, is what the type is to decide. */
static enum guestsym_event_field_kind kind_of(const struct event_layout *at, const char *type,
					      int64_t filter_type)
{
	const struct {
		int64_t filter_type;
		enum guestsym_event_field_kind kind;
	} kinds[] = {
		{at->string, GUESTSYM_EVENT_STRING},
		{at->dyn_string, GUESTSYM_EVENT_DYN_STRING},
		{at->rdyn_string, GUESTSYM_EVENT_RDYN_STRING},
		{at->ptr_string, GUESTSYM_EVENT_PTR_STRING},
		{at->function, GUESTSYM_EVENT_FUNCTION},
		{at->cpumask, GUESTSYM_EVENT_CPUMASK},
	};

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		if (filter_type == kinds[i].filter_type)
			return kinds[i].kind;
	return filter_type ? GUESTSYM_EVENT_NUMBER : kind_by_type(at, type);
}

/*
 * Since 6.0 the kernel prints a length of its own in place of what is between the brackets, which
 * may be the name of a constant (f_show() of kernel/trace/trace_events.c).
 */
static int set_length(struct event_reader *r, const char **type, uint32_t length)
{
	const char *bracket = strchr(*type, '[');
	size_t before = bracket ? bracket - *type : 0;
	char *text;

	if (!bracket || !strncmp(*type, "__data_loc", strlen("__data_loc")))
		return 0;
	text = event_alloc(r, before + sizeof("[4294967295]"));
	if (!text)
		return -ENOMEM;
	memcpy(text, *type, before);
	if (length)
		sprintf(text + before, "[%u]", length);
	else
		strcpy(text + before, "[]");
	*type = text;
	return 0;
}

int event_make_field(struct event_reader *r, size_t n, const struct event_raw_field *f)
{
	struct guestsym_event_field *to = &r->fields[n];
	int err = event_read_string(r, f->type, TYPE_MAX, &to->type);

	if (!err)
		err = event_read_string(r, f->name, WORD_MAX, &to->name);
	if (err)
		return err;
	to->offset = f->offset;
	to->size = f->size;
	to->is_signed = f->is_signed;
	to->kind = kind_of(&r->at, to->type, f->filter_type);
	return f->has_length ? set_length(r, &to->type, f->length) : 0;
}

const struct guestsym_event_field *event_keep_fields(struct event_reader *r, size_t n, int *err)
{
	size_t len = n * sizeof(*r->fields);
	struct guestsym_event_field *kept = event_alloc(r, len);

	*err = kept ? 0 : -ENOMEM;
	if (kept)
		memcpy(kept, r->fields, len);
	return kept;
}
