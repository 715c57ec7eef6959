// SPDX-License-Identifier: GPL-2.0-or-later
/* reader.c - reads the rings of a trace as text; see reader.h. */
#include "tracer/output/reader.h"

#include <errno.h>
#include <stdlib.h>

#include "tracer/ring/page.h"

struct reader {
	bool consume;
	unsigned int nr;
	int cpu;
	uint64_t horizon;
	struct merge *merge; /* NULL: a trace file of which nothing has been read */
	bool ended;	     /* the end of a trace file was told */
	struct output out;
	uint64_t lost;		     /* of a trace_pipe of mmiotrace: what was told so far */
	uint8_t data[RING_MAX_DATA]; /* of an event that is not consumed yet */
	struct text text;	     /* printed, and not returned yet from `taken` on */
	size_t taken;
	struct ring *ring[];
};

/* From the oldest events on. NULL: no memory. */
static struct merge *merge_rings(const struct reader *r, struct ring *const *rings)
{
	struct ring **chosen = calloc(r->nr, sizeof(struct ring *));
	struct merge *m;

	if (!chosen)
		return NULL;
	for (unsigned int i = 0; i < r->nr; i++) {
		if (r->cpu == READER_ALL_CPUS || (unsigned int)r->cpu == i)
			chosen[i] = rings[i];
	}
	m = merge_new(chosen, r->nr, r->consume);
	free(chosen);
	return m;
}

/* 0 or -ENOMEM. */
static int reader_start(struct reader *r)
{
	r->merge = merge_rings(r, r->ring);
	return r->merge ? 0 : -ENOMEM;
}

struct reader *reader_open(struct ring *const *rings, unsigned int nr, int cpu, bool consume,
			   const struct output_config *cfg)
{
	struct reader *r = calloc(1, sizeof(*r) + nr * sizeof(struct ring *));

	if (!r)
		return NULL;
	r->consume = consume;
	r->nr = nr;
	r->cpu = cpu;
	r->horizon = MERGE_ALL;
	memcpy(r->ring, rings, nr * sizeof(struct ring *));
	output_init(&r->out, cfg, &r->text);
	if (consume && reader_start(r)) {
		reader_close(r);
		return NULL;
	}
	if (consume && r->out.is_mmio)
		output_mmio_begin(&r->out, cfg->pci_devices);
	r->out.cfg.pci_devices = NULL;
	return r;
}

void reader_close(struct reader *r)
{
	if (!r)
		return;
	merge_free(r->merge);
	output_exit(&r->out);
	text_free(&r->text);
	free(r);
}

void reader_set_options(struct reader *r, uint32_t options, uint32_t graph_options,
			uint32_t blk_options)
{
	output_set_options(&r->out, options, graph_options, blk_options);
}

/* Up to len bytes of what is printed already. */
static size_t give(struct reader *r, void *buf, size_t len)
{
	size_t n = r->text.len - r->taken;

	if (n > len)
		n = len;
	if (!n)
		return 0;
	memcpy(buf, r->text.buf + r->taken, n);
	r->taken += n;
	if (r->taken == r->text.len)
		r->taken = r->text.len = 0;
	return n;
}

/*
 * Print an event that has been taken out of the merge. It may be the entry into a leaf, whose
 * return is taken too: another consumer can have that first, and leave us the one behind it.
 */
static void print_taken(struct reader *r, unsigned int cpu, struct ring_event *ev, uint64_t next_ts)
{
	struct output *o = &r->out;
	struct ring_event ret;

	if (!output_may_be_leaf(o, ev) || !merge_peek_cpu(r->merge, &ret, cpu) ||
	    !output_is_leaf(o, ev, &ret)) {
		output_event(o, cpu, ev, next_ts);
		return;
	}
	ev->data = memcpy(r->data, ev->data, ev->len);
	if (!merge_take(r->merge, &ret, cpu)) {
		output_event(o, cpu, ev, next_ts);
	} else if (output_is_leaf(o, ev, &ret)) {
		output_leaf(o, cpu, ev, &ret, next_ts);
	} else {
		output_event(o, cpu, ev, next_ts);
		output_event(o, cpu, &ret, ret.ts);
	}
}

/* --- trace -------------------------------------------------------------------------------- */

static void print_header(struct reader *r)
{
	uint64_t entries = 0, overrun = 0;
	struct ring_event ev;
	unsigned int cpu;

	for (unsigned int i = 0; i < r->nr; i++) {
		struct ring_stats st;

		if (!r->ring[i])
			continue;
		ring_get_stats(r->ring[i], &st);
		entries += st.entries;
		overrun += st.overrun;
	}
	output_header(&r->out, entries, entries + overrun, !merge_peek(r->merge, &ev, &cpu));
}

static bool print_next(struct reader *r)
{
	struct ring_event ev, next;
	unsigned int cpu, next_cpu;
	uint64_t next_ts;

	if (!merge_next(r->merge, &ev, &cpu))
		return false;
	next_ts = ev.ts;
	if (r->out.cfg.options & OUTPUT_LATENCY_FORMAT && merge_peek(r->merge, &next, &next_cpu))
		next_ts = next.ts;
	/* Who does not consume is not told how many (ring_buffer_iter_dropped). */
	if (ev.lost)
		ev.lost = RING_LOST_UNKNOWN;
	print_taken(r, cpu, &ev, next_ts);
	return true;
}

static ssize_t read_trace(struct reader *r, char *buf, size_t len)
{
	size_t done = give(r, buf, len);

	if (!r->merge) {
		if (reader_start(r))
			return -ENOMEM;
		print_header(r);
	} else if (r->ended) {
		merge_extend(r->merge, MERGE_ALL);
	}
	while (done < len) {
		while (r->text.len < len - done && print_next(r))
			;
		if (r->text.failed)
			return -ENOMEM;
		if (!r->text.len)
			break;
		done += give(r, buf + done, len - done);
	}
	r->ended = !done && len;
	return (ssize_t)done;
}

void reader_rewind(struct reader *r)
{
	struct output_config cfg = r->out.cfg;

	if (r->consume)
		return;
	merge_free(r->merge);
	r->merge = NULL;
	r->ended = false;
	r->text.len = r->taken = 0;
	output_exit(&r->out);
	output_init(&r->out, &cfg, &r->text);
}

/* --- trace_pipe --------------------------------------------------------------------------- */

void reader_set_horizon(struct reader *r, uint64_t horizon)
{
	r->horizon = horizon;
}

int reader_switch(struct reader *r, struct ring *const *rings)
{
	struct merge *m = merge_rings(r, rings);

	if (!m)
		return -ENOMEM;
	merge_free(r->merge);
	r->merge = m;
	memcpy(r->ring, rings, r->nr * sizeof(struct ring *));
	return 0;
}

static bool same_event(const struct ring_event *a, const struct ring_event *b)
{
	return a->ts == b->ts && a->lost == b->lost && a->len == b->len &&
	       !memcmp(a->data, b->data, a->len);
}

/*
 * Consume the event that was printed from `before` on. Another consumer may have taken it by now,
 * for unlike the kernel's they do not keep each other away: then it is not ours to print, but the
 * one behind it, if there is one, is.
 */
static void consume_printed(struct reader *r, size_t before, const struct ring_event *ev,
			    unsigned int cpu)
{
	struct ring_event got;
	bool taken = merge_take(r->merge, &got, cpu);

	if (taken && same_event(ev, &got))
		return;
	r->text.len = before;
	r->out.index--;
	if (taken)
		output_event(&r->out, cpu, &got, got.ts);
}

/* Print and consume the next event, unless the text would then be too long and is not empty. */
static bool print_and_consume(struct reader *r, size_t len)
{
	size_t before = r->text.len;
	struct ring_event ev;
	unsigned int cpu;

	if (!merge_peek(r->merge, &ev, &cpu))
		return false;
	ev.data = memcpy(r->data, ev.data, ev.len);
	output_event(&r->out, cpu, &ev, ev.ts);
	if (before && r->text.len > len) {
		r->text.len = before;
		return false;
	}
	consume_printed(r, before, &ev, cpu);
	return true;
}

/* The same for a line that is known only once it is consumed. */
static bool consume_and_print(struct reader *r)
{
	struct ring_event ev;
	unsigned int cpu;

	if (!merge_next(r->merge, &ev, &cpu))
		return false;
	print_taken(r, cpu, &ev, ev.ts);
	return true;
}

/* What was printed and did not fit comes first in the next read. */
static void keep_rest(struct reader *r)
{
	r->text.len -= r->taken;
	memmove(r->text.buf, r->text.buf + r->taken, r->text.len);
	r->taken = 0;
}

/*
 * Print what fits into len bytes: how much that is, more than len when it is one line. What is
 * behind it in the text has to wait.
 */
static size_t fill_pipe(struct reader *r, size_t len)
{
	size_t fits = r->text.len;

	while (fits < len) {
		bool more = r->out.is_graph ? consume_and_print(r) : print_and_consume(r, len);

		if (!more || (fits && r->text.len > len))
			break;
		fits = r->text.len;
	}
	return fits;
}

/* Not where they were lost, as in the kernel (mmio_read). */
static void tell_lost_mmio(struct reader *r)
{
	uint64_t lost = 0;

	for (unsigned int i = 0; i < r->nr; i++) {
		struct ring_stats st;

		if (!r->ring[i])
			continue;
		ring_get_stats(r->ring[i], &st);
		lost += st.overrun + st.dropped;
	}
	if (lost > r->lost)
		output_mmio_lost(&r->out, lost - r->lost);
	r->lost = lost;
}

static ssize_t read_pipe(struct reader *r, char *buf, size_t len)
{
	size_t fits;

	if (r->taken) /* from a line that is longer than a read */
		return (ssize_t)give(r, buf, len);
	merge_extend(r->merge, r->horizon);
	if (r->out.is_mmio)
		tell_lost_mmio(r);
	r->out.index = 1; /* counts from here on at each read, and from 1 (tracing_read_pipe) */
	fits = fill_pipe(r, len);
	if (r->text.failed)
		return -ENOMEM;
	len = give(r, buf, fits < len ? fits : len);
	if (fits && fits == r->taken)
		keep_rest(r);
	return (ssize_t)len;
}

ssize_t reader_read(struct reader *r, void *buf, size_t len)
{
	output_check_symbols(&r->out);
	return r->consume ? read_pipe(r, buf, len) : read_trace(r, buf, len);
}
