// SPDX-License-Identifier: GPL-2.0-or-later
/* dynevent.c - see events/define/dyn-event.h */
#include "tracer/core/trace.h"
#include "tracer/dynevent/files.h"
#include "tracer/events/define/dyn-event.h"
#include "tracer/events/define/fetch.h"
#include "tracer/events/define/probe.h"
#include "tracer/events/events.h"
#include "tracer/instance/files.h"
#include "tracer/lib/command-lines.h"

#include <errno.h>

/* In the order in which the kernel asks whose a line is. */
static const struct dyn_event_ops *const kinds[] = {
	&event_probe_ops, &synth_event_ops, &fprobe_event_ops, &probe_event_ops, &uprobe_event_ops};

#define NR_KINDS (sizeof(kinds) / sizeof(kinds[0]))

const char *trace_dynamic_syntax(unsigned int i)
{
	return i < NR_KINDS ? kinds[i]->syntax : NULL;
}

const char *trace_fetch_type(unsigned int i)
{
	return fetch_type_name(i);
}

static bool is_of(const struct dyn_event *ev, const struct dyn_event_ops *kind)
{
	return !kind || ev->ops == kind;
}

/* --- lines ------------------------------------------------------------------------------------ */

static int remove_matching(struct trace *t, const struct dyn_event_ops *kind,
			   const struct probe_removal *removal)
{
	int ret = 0, found = -ENOENT;

	for (struct dyn_event *ev = t->dyn_events, *next; ev && !ret; ev = next) {
		next = ev->next;
		if (!is_of(ev, kind) || !ev->ops->matches(ev, removal))
			continue;
		found = 0;
		ret = ev->ops->remove(t, ev);
	}
	return ret ? ret : found;
}

static int release(struct trace *t, const struct dyn_event_ops *kind, const char *line)
{
	struct probe_removal removal;
	struct probe_words words;
	int ret = probe_words_split(&words, line);

	if (ret)
		return ret;
	ret = probe_removal_parse(&words, &removal);
	if (!ret)
		ret = remove_matching(t, kind, &removal);
	probe_words_free(&words);
	return ret;
}

static int define(struct trace *t, const char *line)
{
	int ret = -ECANCELED;

	for (size_t i = 0; i < NR_KINDS && ret == -ECANCELED; i++)
		ret = kinds[i]->define(t, line);
	return ret;
}

/* A file that is written to. */
struct file {
	struct trace *t;
	const struct dyn_event_ops *kind;
};

static int run_line(void *arg, char *line)
{
	const struct file *f = arg;
	int ret;

	if (*line == '-' || (*line == '!' && !f->kind))
		return release(f->t, f->kind, line);
	ret = f->kind ? f->kind->define(f->t, line) : define(f->t, line);
	return ret == -ECANCELED ? -EINVAL : ret;
}

/* --- files ------------------------------------------------------------------------------------ */

ssize_t dyn_events_write(struct trace *t, const struct dyn_event_ops *kind, const char *text,
			 size_t len)
{
	struct file f = {t, kind};
	ssize_t ret = events_load(t->trace_events);

	if (ret)
		return ret;
	events_lock(t->trace_events);
	ret = command_lines_run(text, len, run_line, &f);
	events_unlock(t->trace_events);
	return ret;
}

int dyn_events_clear(struct trace *t, const struct dyn_event_ops *kind)
{
	int ret = 0;

	events_lock(t->trace_events);
	for (struct dyn_event *ev = t->dyn_events; ev && !ret; ev = ev->next)
		if (is_of(ev, kind) && ev->ops->is_busy(t, ev))
			ret = -EBUSY;
	for (struct dyn_event *ev = t->dyn_events, *next; ev && !ret; ev = next) {
		next = ev->next;
		if (is_of(ev, kind))
			ret = ev->ops->remove(t, ev);
	}
	events_unlock(t->trace_events);
	return ret;
}

void dyn_events_print(struct trace *t, const struct dyn_event_ops *kind, struct text *out)
{
	events_lock(t->trace_events);
	for (const struct dyn_event *ev = t->dyn_events; ev; ev = ev->next)
		if (is_of(ev, kind))
			ev->ops->print(ev, out);
	events_unlock(t->trace_events);
}

/* --- files.h ---------------------------------------------------------------------------------- */

ssize_t trace_write_dynamic_events(struct trace *t, const char *text, size_t len)
{
	return dyn_events_write(t, NULL, text, len);
}

int trace_clear_dynamic_events(struct trace *t)
{
	return dyn_events_clear(t, NULL);
}

void trace_print_dynamic_events(struct trace *t, struct text *out)
{
	dyn_events_print(t, NULL, out);
}

ssize_t trace_write_kprobe_events(struct trace *t, const char *text, size_t len)
{
	return dyn_events_write(t, &probe_event_ops, text, len);
}

int trace_clear_kprobe_events(struct trace *t)
{
	return dyn_events_clear(t, &probe_event_ops);
}

void trace_print_kprobe_events(struct trace *t, struct text *out)
{
	dyn_events_print(t, &probe_event_ops, out);
}

int trace_clear_synthetic_events(struct trace *t)
{
	return dyn_events_clear(t, &synth_event_ops);
}
