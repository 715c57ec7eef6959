// SPDX-License-Identifier: GPL-2.0-or-later
/* print.c - events as trace-cmd report prints them. */
#include "frontend/decode/print.h"

#include "frontend/decode/fgraph.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct print {
	struct dat *d;
	struct formats *f;
	struct print_config cfg;
	struct fgraph graph;
	struct trace_seq seq;
	bool ns;	/* times are nanoseconds */
	int name_width; /* of the buffers' names; 0: there is but one */
};

static int longest_name(const struct dat *d)
{
	size_t longest = 0;

	for (size_t i = 0; i < dat_nr_buffers(d); i++) {
		size_t len = strlen(dat_buffer(d, i)->name);

		if (len > longest)
			longest = len;
	}
	return (int)longest;
}

struct print *print_new(struct dat *d, struct formats *f, struct records *e,
			const struct print_config *cfg)
{
	struct print *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	*p = (struct print){
		.d = d,
		.f = f,
		.cfg = *cfg,
		.graph =
			{
				.formats = f,
				.events = e,
				.tail = cfg->graph_tail,
				.depth = cfg->graph_depth,
			},
		.ns = dat_counts_ns(dat_info(d)),
		.name_width = cfg->no_buffer ? 0 : longest_name(d),
	};
	trace_seq_init(&p->seq);
	if (cfg->nanoseconds)
		tep_set_flag(formats_tep(f), TEP_NSEC_OUTPUT);
	if (!cfg->plain)
		fgraph_register(&p->graph);
	return p;
}

void print_free(struct print *p)
{
	if (!p)
		return;
	fgraph_unregister(&p->graph);
	trace_seq_destroy(&p->seq);
	free(p);
}

static void put_buffer(const struct print *p, const struct decode_event *ev, FILE *out)
{
	const char *name = dat_buffer(p->d, ev->buffer)->name;

	if (p->name_width)
		fprintf(out, "%*s%s", p->name_width, name, *name ? ": " : "  ");
}

static void put_lost(struct trace_seq *s, const struct decode_event *ev)
{
	if (ev->lost == DECODE_LOST_UNKNOWN)
		trace_seq_printf(s, "CPU:%u [EVENTS DROPPED]\n", ev->cpu);
	else if (ev->lost)
		trace_seq_printf(s, "CPU:%u [%" PRIu64 " EVENTS DROPPED]\n", ev->cpu, ev->lost);
}

static void put_name(struct trace_seq *s, const struct tep_event *event)
{
	const char *name = event ? event->name : "(NULL)";

	trace_seq_printf(s, " %s: ", name);
	if (strlen(name) < 20)
		trace_seq_printf(s, "%*s", 20 - (int)strlen(name), "");
}

static void put_time(const struct print *p, struct trace_seq *s, struct tep_record *record)
{
	struct tep_handle *tep = formats_tep(p->f);

	if (!p->ns)
		tep_print_event(tep, s, record, "%12d:", TEP_PRINT_TIME);
	else if (p->cfg.nanoseconds)
		tep_print_event(tep, s, record, " %9.1d:", TEP_PRINT_TIME);
	else
		tep_print_event(tep, s, record, " %6.1000d:", TEP_PRINT_TIME);
}

static void put_latency(const struct print *p, struct trace_seq *s, struct tep_record *record)
{
	struct tep_handle *tep = formats_tep(p->f);

	if (p->cfg.raw)
		trace_seq_printf(s, "-0x%x", (unsigned int)tep_data_flags(tep, record));
	else
		tep_print_event(tep, s, record, "%s", TEP_PRINT_LATENCY);
}

void print_text(struct print *p, const struct decode_event *ev, FILE *out)
{
	struct tep_record *record = formats_record(p->f, FORMATS_ONE, ev);
	struct tep_handle *tep = formats_tep(p->f);
	const struct tep_event *event = formats_event(p->f, ev->id);
	struct trace_seq *s = &p->seq;

	p->graph.now = ev;
	trace_seq_reset(s);
	put_buffer(p, ev, out);
	put_lost(s, ev);
	if (p->cfg.latency)
		tep_print_event(tep, s, record, "%8.8s-%-5d %3d", TEP_PRINT_COMM, TEP_PRINT_PID,
				TEP_PRINT_CPU);
	else
		tep_print_event(tep, s, record, "%16s-%-5d [%03d]", TEP_PRINT_COMM, TEP_PRINT_PID,
				TEP_PRINT_CPU);
	if (p->cfg.latency)
		put_latency(p, s, record);
	put_time(p, s, record);
	put_name(s, event);
	tep_print_event(tep, s, record, "%s", p->cfg.raw ? TEP_PRINT_INFO_RAW : TEP_PRINT_INFO);
	if (s->len && s->buffer[s->len - 1] == '\n')
		s->len--;
	fwrite(s->buffer, 1, s->len, out);
	putc('\n', out);
}

void print_info(struct formats *f, const struct decode_event *ev, struct trace_seq *to)
{
	trace_seq_reset(to);
	tep_print_event(formats_tep(f), to, formats_record(f, FORMATS_ONE, ev), "%s",
			TEP_PRINT_INFO);
	if (to->len && to->buffer[to->len - 1] == '\n')
		to->len--;
}

/* --- statistics --------------------------------------------------------------------------------
 */

/* Each as the writer found it in per_cpu/cpuN/stats. */
static void put_cpu_stats(const struct dat *d, FILE *out)
{
	struct dat_text o;
	size_t i;

	for (i = 0; dat_option(d, DAT_OPTION_CPUSTAT, i, &o); i++)
		if (o.len)
			fprintf(out, "%.*s\n", (int)(o.len - 1), o.text);
	fputs(i ? "\n" : " No stats in this file\n", out);
}

/*
 * Where its data are; those that are compressed where libtracecmd would have them in a file that
 * has only these, uncompressed, from its second page on.
 */
static void put_places(const struct dat *d, const struct dat_buffer *b, FILE *out)
{
	uint64_t page = dat_info(d)->page_size, next = page;
	unsigned int i = 0;

	for (unsigned int cpu = 0; cpu < b->cpus; cpu++) {
		const struct dat_vcpu *v =
			i < b->nr_vcpus && b->vcpus[i].cpu == cpu ? &b->vcpus[i++] : NULL;
		uint64_t at = v ? v->offset : 0;

		if (v && v->nr_pieces && v->pieces[0].compressed) {
			at = next;
			next = (next + v->size + page - 1) / page * page;
		}
		fprintf(out, "CPU%u data recorded at offset=0x%" PRIx64 "\n", cpu, at);
		fprintf(out, "    %" PRIu64 " bytes in size\n", v ? v->size : 0);
	}
}

void print_stat(struct dat *d, FILE *out)
{
	fputs("\nKernel buffer statistics:\n"
	      "  Note: \"entries\" are the entries left in the kernel ring buffer and are not\n"
	      "        recorded in the trace data. They should all be zero.\n\n",
	      out);
	put_cpu_stats(d, out);
	if (dat_nr_buffers(d))
		put_places(d, dat_buffer(d, 0), out);
}
