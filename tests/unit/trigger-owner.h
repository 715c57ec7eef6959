/* SPDX-License-Identifier: GPL-2.0-or-later */
/* trigger-owner.h - an instance with some events, for tests of their triggers. */
#ifndef HVTRACE_TESTS_TRIGGER_OWNER_H
#define HVTRACE_TESTS_TRIGGER_OWNER_H

#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "made-events.h"
#include "tracer/lib/error-log.h"
#include "tracer/events/trigger/trigger.h"
#include "tracer/output/output.h"
#include "tracer/events/define/synth.h"
#include "tracer/events/hist/commands.h"

enum { OWNER_SWITCH, OWNER_KMALLOC, OWNER_ENTER, OWNER_ANY, OWNER_WAKING, OWNER_EVENTS };

struct owner_event {
	struct event_triggers *triggers;
	int soft_mode;
	bool soft_disabled;
};

struct owner_symbol {
	uint64_t addr;
	struct output_symbol sym;
	char name[64];
};

struct trigger_owner {
	struct event_trigger_owner ops;
	struct event_hist_names *names;
	struct owner_event event[OWNER_EVENTS];
	bool on, no_snapshot, no_stacks;
	unsigned int switched, snapshots, stacks;
	int timestamps;
	char clock[16];
	uint64_t ns; /* of the next error */
	struct error_log *log;
	struct owner_symbol symbol[1024];
	size_t nr_symbols;
	const char *syscall[512];
	struct synth_event *synth; /* those that there are */
	uint8_t made[SYNTH_RECORD_MAX];
	size_t made_len;
	unsigned int nr_made;
};

static bool owner_is_on(void *arg)
{
	return ((struct trigger_owner *)arg)->on;
}

static void owner_set(void *arg, bool on)
{
	struct trigger_owner *o = arg;

	o->on = on;
	o->switched++;
}

static int owner_snapshot_ready(void *arg)
{
	return ((struct trigger_owner *)arg)->no_snapshot ? -ENOMEM : 0;
}

static void owner_snapshot(void *arg, const struct event_data *data)
{
	(void)data;
	((struct trigger_owner *)arg)->snapshots++;
}

static void owner_stacktrace(void *arg, const struct event_data *data)
{
	(void)data;
	((struct trigger_owner *)arg)->stacks++;
}

static const struct guestsym_event *const owner_events[OWNER_EVENTS] = {
	&made_switch, &made_kmalloc, &made_enter, &made_any, &made_waking,
};

static struct event_triggers *owner_find(void *arg, const char *system, const char *name)
{
	struct trigger_owner *o = arg;

	for (int i = 0; i < OWNER_EVENTS; i++)
		if (!strcmp(owner_events[i]->system, system) &&
		    !strcmp(owner_events[i]->name, name))
			return o->event[i].triggers;
	return NULL;
}

static int owner_soft_mode(void *arg, void *event, bool on)
{
	struct owner_event *e = event;

	(void)arg;
	e->soft_mode += on ? 1 : -1;
	if (e->soft_mode < 0)
		abort();
	if (on && e->soft_mode == 1)
		e->soft_disabled = true;
	return 0;
}

static bool owner_soft_disabled(void *arg, void *event)
{
	(void)arg;
	return ((struct owner_event *)event)->soft_disabled;
}

static void owner_soft_disable(void *arg, void *event, bool disable)
{
	(void)arg;
	((struct owner_event *)event)->soft_disabled = disable;
}

static bool owner_has_stacks(void *arg)
{
	return !((struct trigger_owner *)arg)->no_stacks;
}

static int owner_set_clock(void *arg, const char *clock)
{
	struct trigger_owner *o = arg;

	if (strcmp(clock, "global") != 0 && strcmp(clock, "mono") != 0)
		return -EINVAL;
	snprintf(o->clock, sizeof(o->clock), "%s", clock);
	return 0;
}

static void owner_timestamps(void *arg, bool on)
{
	((struct trigger_owner *)arg)->timestamps += on ? 1 : -1;
}

static bool owner_find_symbol(void *arg, uint64_t addr, struct output_symbol *sym)
{
	struct trigger_owner *o = arg;

	for (size_t i = 0; i < o->nr_symbols; i++)
		if (o->symbol[i].addr == addr) {
			*sym = o->symbol[i].sym;
			sym->name = o->symbol[i].name;
			return true;
		}
	return false;
}

static const char *owner_syscall_name(void *arg, uint64_t nr)
{
	return nr < 512 ? ((struct trigger_owner *)arg)->syscall[nr] : NULL;
}

static struct synth_event *owner_synth_find(void *arg, const char *name)
{
	struct synth_event *se = ((struct trigger_owner *)arg)->synth;

	while (se && strcmp(se->name, name) != 0)
		se = se->next;
	return se;
}

/* The last one is kept. */
static void owner_synth(void *arg, const struct synth_event *se, void *record, size_t len,
			const struct event_data *data)
{
	struct trigger_owner *o = arg;

	(void)se, (void)data;
	memcpy(o->made, record, len);
	o->made_len = len;
	o->nr_made++;
}

static void owner_error(void *arg, const char *where, const char *what, const char *command,
			uint16_t pos)
{
	struct trigger_owner *o = arg;

	error_log_add(o->log, o->ns, where, what, command, pos);
}

static inline void owner_init(struct trigger_owner *o)
{
	*o = (struct trigger_owner){
		.ops = {.commands = event_commands,
			.tracing_is_on = owner_is_on,
			.tracing_set = owner_set,
			.snapshot_ready = owner_snapshot_ready,
			.snapshot = owner_snapshot,
			.stacktrace = owner_stacktrace,
			.find = owner_find,
			.soft_mode = owner_soft_mode,
			.soft_disabled = owner_soft_disabled,
			.soft_disable = owner_soft_disable,
			.has_stacks = owner_has_stacks,
			.set_clock = owner_set_clock,
			.timestamps = owner_timestamps,
			.symbol = owner_find_symbol,
			.syscall_name = owner_syscall_name,
			.error = owner_error,
			.synth_find = owner_synth_find,
			.synth = owner_synth,
			.vars = event_hist_vars_new(),
			.kernel = {.function = made_function, .nr_cpus = 8},
			.arg = o},
		.names = event_hist_names_new(),
		.log = error_log_new(),
	};
	for (int i = 0; i < OWNER_EVENTS; i++) {
		struct event_format format = made_format(owner_events[i]);

		o->event[i].triggers = event_triggers_new(&o->ops, o->names, &format, &o->event[i]);
	}
}

static inline void owner_exit(struct trigger_owner *o)
{
	for (int i = 0; i < OWNER_EVENTS; i++)
		event_triggers_clear(o->event[i].triggers);
	for (int i = 0; i < OWNER_EVENTS; i++) {
		if (o->event[i].soft_mode)
			abort();
		event_triggers_free(o->event[i].triggers);
	}
	if (o->timestamps)
		abort();
	event_hist_names_free(o->names);
	event_hist_vars_free(o->ops.vars);
	for (struct synth_event *se = o->synth, *next; se; se = next) {
		next = se->next;
		if (se->refs)
			abort();
		synth_event_free(se);
	}
	error_log_free(o->log);
}

/* A line of synthetic_events. */
static inline int owner_define(struct trigger_owner *o, const char *line)
{
	struct synth_command command;
	struct synth_error err;
	int ret = synth_command_parse(o->synth, line, &command, &err);

	if (err.what)
		error_log_add(o->log, o->ns, "synthetic_events", err.what, line, err.pos);
	free(command.gone);
	if (ret || !command.event)
		return ret;
	command.event->next = o->synth;
	o->synth = command.event;
	return 0;
}

static inline ssize_t owner_write(struct trigger_owner *o, int event, const char *text)
{
	return event_triggers_write(o->event[event].triggers, text, strlen(text));
}

/* One record, through both phases. */
static inline void owner_hit(struct trigger_owner *o, int event, const struct event_data *data)
{
	unsigned int pending = event_triggers_hit(o->event[event].triggers, data);

	event_triggers_post(o->event[event].triggers, pending, data);
}

/* To be freed. */
static inline char *owner_read(void (*print)(struct event_triggers *t, struct text *out),
			       const struct trigger_owner *o, int event)
{
	struct text out = {0};

	print(o->event[event].triggers, &out);
	text_putc(&out, '\0');
	return out.buf;
}

static inline void owner_expect(const struct trigger_owner *o, int event, const char *want)
{
	char *got = owner_read(event_triggers_print, o, event);

	assert_string_equal(got, want);
	free(got);
}

static inline void owner_expect_log(const struct trigger_owner *o, const char *want)
{
	struct text out = {0};

	error_log_print(o->log, &out);
	text_putc(&out, '\0');
	assert_string_equal(out.buf, want);
	text_free(&out);
}

#endif
