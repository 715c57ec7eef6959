// SPDX-License-Identifier: GPL-2.0-or-later
/* trace-print.c - a trace as text: what the kernel's `trace` file would read. */
#include "tracer/internal.h"

#include <errno.h>

#include "tracer/merge.h"
#include "tracer/output.h"

enum { FLUSH_AT = 1 << 16 }; /* bytes of text gathered before they are written */

static const char *symbol_name(void *arg, uint64_t addr, uint64_t *off, uint64_t *size)
{
	const struct trace *t = arg;
	const struct guestsym_symbol *sym = modules_find(t, addr, off, size);

	if (!sym)
		sym = guestsym_find(t->gs, addr - t->guest.slide, off, size);
	return sym ? sym->name : NULL;
}

static void print_header(struct trace *t, struct output *o)
{
	uint64_t entries = 0, overrun = 0;

	for (unsigned int i = 0; i < t->vcpus; i++) {
		struct ring_stats st;

		ring_get_stats(t->ring[i], &st);
		entries += st.entries;
		overrun += st.overrun;
	}
	output_header(o, entries, entries + overrun);
}

static int text_write(struct text *text, FILE *out)
{
	size_t n;

	if (text->failed)
		return -ENOMEM;
	n = fwrite(text->buf, 1, text->len, out);
	if (n != text->len)
		return errno ? -errno : -EIO;
	text->len = 0;
	return 0;
}

static int print_events(struct merge *merge, struct output *o, FILE *out)
{
	struct ring_event ev;
	unsigned int cpu;
	uint64_t next;
	int ret = 0;

	while (!ret && merge_next(merge, &ev, &cpu)) {
		output_event(o, cpu, &ev, merge_peek(merge, &next) ? next : ev.ts);
		if (o->text->len >= FLUSH_AT)
			ret = text_write(o->text, out);
	}
	return ret;
}

int trace_print(struct trace *t, FILE *out)
{
	const struct output_config cfg = {
		.options = OUTPUT_DEFAULT,
		.tracer = t->tracer->name,
		.release = guestsym_release(t->gs),
		.cpus = t->vcpus,
		.ns = t->clock->ns,
		.comms = t->comms,
		.symbol = symbol_name,
		.arg = t,
	};
	struct merge *merge = merge_new(t->ring, t->vcpus, false);
	struct text text = {0};
	struct output o;
	int ret;

	if (!merge)
		return -ENOMEM;
	output_init(&o, &cfg, &text);
	print_header(t, &o);
	ret = print_events(merge, &o, out);
	if (!ret)
		ret = text_write(&text, out);
	merge_free(merge);
	text_free(&text);
	return ret;
}
