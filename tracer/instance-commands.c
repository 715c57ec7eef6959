// SPDX-License-Identifier: GPL-2.0-or-later
/* instance-commands.c - what filter commands do besides switching: dump, cpudump, stacktrace. */
#include "tracer/entry.h"
#include "tracer/instance.h"
#include "tracer/unwind.h"

#include <string.h>

static void dump_line(struct trace *t, const char *line, size_t len)
{
	trace_note(t, "%.*s", (int)len, line);
}

/* Line by line, as ftrace_dump() (kernel/trace/trace.c, 6.1) has them on the console. */
static void dump_text(struct trace *t, struct text *text)
{
	const char *at = text->buf, *end = text->buf + text->len;

	while (at < end) {
		const char *stop = memchr(at, '\n', (size_t)(end - at));

		stop = stop ? stop : end;
		dump_line(t, at, (size_t)(stop - at));
		at = stop + 1;
	}
}

void instance_dump(void *arg, const struct func_hit *hit, bool all_cpus)
{
	struct instance *i = arg;
	struct instance_reader *r =
		instance_read_open(i, all_cpus ? ALL_VCPUS : (int)hit->vcpu, false);
	struct text text = {0};
	char buf[4096];
	ssize_t n;

	if (!r)
		return;
	while ((n = instance_read(r, buf, sizeof(buf), (off_t)text.len)) > 0)
		text_add(&text, buf, (size_t)n);
	instance_read_close(r);
	trace_note(i->t, "Dumping ftrace buffer:");
	dump_text(i->t, &text);
	text_free(&text);
}

/* --- stacktrace ------------------------------------------------------------------------------ */

#define STACK_DEPTH 64

/* The tables take a while to read, and most traces never need them. */
static struct unwind *unwinder(struct trace *t)
{
	char err[256];

	if (atomic_load(&t->unwind_ready))
		return t->unwind;
	machine_pause(t->m);
	pthread_mutex_lock(&t->instances_lock);
	if (!atomic_load(&t->unwind_ready)) {
		t->unwind = unwind_new(t->gs, err, sizeof(err));
		if (t->unwind)
			modules_unwind(t);
		else
			trace_note(t, "stack traces show one function only: %s", err);
		atomic_store(&t->unwind_ready, true);
	}
	pthread_mutex_unlock(&t->instances_lock);
	machine_resume(t->m);
	return t->unwind;
}

/* The vCPU stands at the hit; its lock is held. */
static void stack_record(struct instance *i, const struct machine_hit *hit, struct unwind *u)
{
	uint64_t ips[STACK_DEPTH];
	/* The innermost address is where the site's own call would return to, as the kernel has it.
	 */
	unsigned int n = unwind_entry(u, &i->t->guest, hit->va + SITE_SIZE, hit->regs->rsp, ips,
				      NULL, STACK_DEPTH);
	struct trace_stack_entry *e =
		trace_reserve(i, hit, TRACE_STACK, sizeof(*e) + n * sizeof(ips[0]));

	if (!e)
		return;
	e->size = (int32_t)n;
	e->pad = 0;
	memcpy(e->caller, ips, n * sizeof(ips[0]));
	ring_commit(i->ring[hit->vcpu]);
}

void instance_stacktrace(void *arg, const struct func_hit *hit)
{
	struct instance *i = arg;
	struct unwind *u = hit->machine ? unwinder(i->t) : NULL;

	if (!hit->machine)
		return;
	pthread_mutex_lock(&i->t->vcpu_lock[hit->vcpu]);
	if (i->on)
		stack_record(i, hit->machine, u);
	pthread_mutex_unlock(&i->t->vcpu_lock[hit->vcpu]);
	instances_wake(i->t);
}
