// SPDX-License-Identifier: GPL-2.0-or-later
/* note.c - what a trace tells: notes to the user, its end, how much of it there may be. */
#include "tracer/core/trace.h"
#include "tracer/lib/message-limit.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

void trace_finish(struct trace *t)
{
	atomic_store(&t->done, true);
	machine_wake(t->m);
}

void trace_fail(struct trace *t, int error)
{
	int none = 0;

	/* Whoever has it given up is about to end it: nothing has gone wrong. */
	if (error == -ECANCELED)
		return;
	atomic_compare_exchange_strong(&t->error, &none, error); /* the first one says most */
	/* A guest that has gone: its machine is about to tell how, which says more. */
	if (error != -ECONNRESET && error != -EPIPE)
		trace_finish(t);
}

void trace_note_rest(struct trace *t, bool all)
{
	char line[MESSAGE_TEXT + 64];

	while (t->cfg.message && message_limit_rest(t->notes, all, line, sizeof(line)))
		t->cfg.message(t->cfg.message_arg, line);
}

void trace_note_at(struct trace *t, const char *place, const char *fmt, ...)
{
	char text[MESSAGE_TEXT];
	va_list ap;

	if (!t->cfg.message)
		return;
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	trace_note_rest(t, false);
	if (message_limit_admit(t->notes, place, text))
		t->cfg.message(t->cfg.message_arg, text);
}

void trace_tell(struct trace *t, const char *line, size_t len)
{
	char text[MESSAGE_TEXT];

	if (!t->cfg.message)
		return;
	snprintf(text, sizeof(text), "%.*s", (int)len, line);
	t->cfg.message(t->cfg.message_arg, text);
}

uint64_t trace_admit(struct trace *t, uint64_t n)
{
	uint64_t before, left;

	if (!n || atomic_load_explicit(&t->done, memory_order_relaxed))
		return 0;
	before = atomic_fetch_add_explicit(&t->events, n, memory_order_relaxed);
	left = before < t->max_events ? t->max_events - before : 0;
	if (left && n >= left)
		trace_finish(t);
	return n < left ? n : left;
}
