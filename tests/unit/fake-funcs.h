/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fake-funcs.h - a short list of functions, and an owner that notes what a filter wants of it. */
#ifndef HVTRACE_TESTS_FAKE_FUNCS_H
#define HVTRACE_TESTS_FAKE_FUNCS_H

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tracer/filter/func-commands.h"
#include "tracer/filter/func-filter.h"

#define FAKE_TEXT 0xffffffff81000000

/* In the order of available_filter_functions; numbers in filters count from 1. */
enum {
	FAKE_FIRST,
	FAKE_INVALID,
	FAKE_VFS_READ,
	FAKE_VFS_WRITE,
	FAKE_SCHEDULE,
	FAKE_VFS_OPEN,
	FAKE_EXT4_READ,
	FAKE_EXT4_WRITE,
	FAKE_NR
};

static const struct func fake_funcs[FAKE_NR] = {
	{.addr = FAKE_TEXT + 0x00, .name = "__traceiter_initcall_level"},
	{.addr = FAKE_TEXT + 0x10, .name = "__ftrace_invalid_address___16", .invalid = true},
	{.addr = FAKE_TEXT + 0x20, .name = "vfs_read"},
	{.addr = FAKE_TEXT + 0x30, .name = "vfs_write"},
	{.addr = FAKE_TEXT + 0x40, .name = "schedule"},
	{.addr = FAKE_TEXT + 0x50, .name = "vfs_open"},
	{.addr = 0xffffffffc0000020, .name = "ext4_read", .module = "ext4"},
	{.addr = 0xffffffffc0000000, .name = "ext4_write", .module = "ext4"},
};

struct fake_owner {
	struct func_owner owner;
	struct func_filter *filter;
	struct func_file *file; /* a test's */
	int apply_error, snapshot_error;
	/* What apply() was told last: who is traced, has a command, is in the graph sets. */
	unsigned int applied;
	char traced[16], commands[16], graph[16];
	atomic_bool on;
	atomic_int switched, snapshots, stacks, dumps, cpu_dumps;
	struct fake_event {
		const char *name;
		int error; /* of the guest, when it is asked for */
		int soft;  /* commands that are about it */
		atomic_bool disabled;
		atomic_int switched;
	} event[2];
};

/* One letter for each function: x chosen, . not. */
static void fake_mark(const struct funcs *fs, const struct func_set *set, char *text)
{
	for (uint32_t i = 0; i < fs->nr; i++)
		text[i] = set && func_set_has(set, i) ? 'x' : '.';
	text[fs->nr] = '\0';
}

static int fake_apply(void *arg, const struct func_selection *sel)
{
	struct fake_owner *o = arg;

	o->applied++;
	for (uint32_t i = 0; i < sel->funcs->nr; i++)
		o->traced[i] = func_selection_traces(sel, i) ? 'x' : '.';
	o->traced[sel->funcs->nr] = '\0';
	fake_mark(sel->funcs, sel->commands, o->commands);
	fake_mark(sel->funcs, sel->set[FUNC_GRAPH], o->graph);
	return o->apply_error;
}

static bool fake_is_on(void *arg)
{
	return atomic_load(&((struct fake_owner *)arg)->on);
}

static void fake_set(void *arg, bool on)
{
	struct fake_owner *o = arg;

	atomic_store(&o->on, on);
	atomic_fetch_add(&o->switched, 1);
}

static int fake_snapshot_ready(void *arg)
{
	return ((struct fake_owner *)arg)->snapshot_error;
}

static void fake_snapshot(void *arg, const struct func_hit *hit)
{
	(void)hit;
	atomic_fetch_add(&((struct fake_owner *)arg)->snapshots, 1);
}

static void fake_stack(void *arg, const struct func_hit *hit)
{
	(void)hit;
	atomic_fetch_add(&((struct fake_owner *)arg)->stacks, 1);
}

static void fake_dump(void *arg, const struct func_hit *hit, bool all)
{
	struct fake_owner *o = arg;

	(void)hit;
	atomic_fetch_add(all ? &o->dumps : &o->cpu_dumps, 1);
}

static void *fake_event_find(void *arg, const char *system, const char *name)
{
	struct fake_owner *o = arg;
	char both[64];

	snprintf(both, sizeof(both), "%s:%s", system, name);
	for (size_t i = 0; i < sizeof(o->event) / sizeof(o->event[0]); i++)
		if (!strcmp(o->event[i].name, both))
			return &o->event[i];
	return NULL;
}

static void fake_event_print(void *arg, void *event, struct text *out)
{
	(void)arg;
	text_puts(out, ((struct fake_event *)event)->name);
}

static int fake_event_soft_mode(void *arg, void *event, bool on)
{
	struct fake_event *e = event;

	(void)arg;
	if (on && e->error)
		return e->error;
	if (on && !e->soft)
		e->disabled = true;
	e->soft += on ? 1 : -1;
	return 0;
}

static bool fake_event_disabled(void *arg, void *event)
{
	(void)arg;
	return atomic_load(&((struct fake_event *)event)->disabled);
}

static void fake_event_disable(void *arg, void *event, bool disable)
{
	struct fake_event *e = event;

	(void)arg;
	atomic_store(&e->disabled, disable);
	atomic_fetch_add(&e->switched, 1);
}

static const struct func_event_ops fake_event_ops = {
	.find = fake_event_find,
	.print = fake_event_print,
	.soft_mode = fake_event_soft_mode,
	.soft_disabled = fake_event_disabled,
	.soft_disable = fake_event_disable,
};

static inline struct fake_owner *fake_owner_new(void)
{
	struct funcs *fs = funcs_new(fake_funcs, FAKE_NR);
	struct fake_owner *o = calloc(1, sizeof(*o));

	if (!fs || !o)
		abort();
	o->on = true;
	o->event[0].name = "sched:sched_switch";
	o->event[1].name = "irq:broken";
	o->event[1].error = -EBUSY;
	o->owner = (struct func_owner){
		.apply = fake_apply,
		.tracing_is_on = fake_is_on,
		.tracing_set = fake_set,
		.snapshot_ready = fake_snapshot_ready,
		.snapshot = fake_snapshot,
		.stacktrace = fake_stack,
		.dump = fake_dump,
		.events = &fake_event_ops,
		.arg = o,
	};
	o->filter = func_filter_new(&o->owner, fs);
	funcs_put(fs);
	if (!o->filter)
		abort();
	return o;
}

static inline void fake_owner_free(struct fake_owner *o)
{
	func_filter_free(o->filter);
	free(o);
}

/* Open, write once, close, as a shell's printf: what write(2) returns. */
static inline ssize_t fake_write(struct fake_owner *o, enum func_file_kind kind, int flags,
				 const char *text)
{
	struct func_file *file;
	ssize_t done;

	if (func_file_open(o->filter, kind, O_WRONLY | flags, &file))
		abort();
	done = func_file_write(file, text, strlen(text));
	func_file_close(file);
	return done;
}

/* What an open file reads; to be freed. */
static inline char *fake_read_open(struct func_file *file)
{
	struct text out = {0};

	func_file_print(file, &out);
	text_putc(&out, '\0');
	return out.buf;
}

static inline char *fake_read(struct fake_owner *o, enum func_file_kind kind)
{
	struct func_file *file;
	char *text;

	if (func_file_open(o->filter, kind, O_RDONLY, &file))
		abort();
	text = fake_read_open(file);
	func_file_close(file);
	return text;
}

static inline void fake_hit(struct fake_owner *o, int func, unsigned int vcpu)
{
	const struct func_hit hit = {.addr = fake_funcs[func].addr, .vcpu = vcpu};

	func_filter_hit(o->filter, &hit);
}

#endif
