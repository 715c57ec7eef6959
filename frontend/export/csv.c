// SPDX-License-Identifier: GPL-2.0-or-later
/* csv.c - a line for each event, of values between commas (RFC 4180), below one with their names.
 */
#include "frontend/export/local.h"

#include "frontend/decode/print.h"
#include "frontend/lib/json.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct csv {
	struct export *x;
	struct trace_seq info;
	bool ns; /* times are nanoseconds */
};

/* Bytes that are no text, and line ends, would make it something else than one line of text. */
static void put_char(const uint8_t *at, size_t n, FILE *out)
{
	if (*at == '\n' || *at == '\r' || *at == '\t')
		putc(' ', out);
	else if (!n || *at < ' ' || *at == 0x7f)
		putc('?', out);
	else if (*at == '"')
		fputs("\"\"", out);
	else
		fwrite(at, 1, n, out);
}

static bool needs_quotes(const char *text, size_t len)
{
	return memchr(text, ',', len) || memchr(text, '"', len);
}

static void put_text(const char *text, size_t len, FILE *out)
{
	const uint8_t *at = (const uint8_t *)text;
	bool quotes = needs_quotes(text, len);

	if (quotes)
		putc('"', out);
	while (len) {
		size_t n = utf8_len(at, len), step = n ? n : 1;

		put_char(at, n, out);
		at += step;
		len -= step;
	}
	if (quotes)
		putc('"', out);
}

static void put_name(const char *name, FILE *out)
{
	putc(',', out);
	put_text(name, strlen(name), out);
}

static void csv_free(void *self)
{
	struct csv *c = self;

	trace_seq_destroy(&c->info);
	free(c);
}

static bool tells_file(const struct export_input *in)
{
	return in->host.dat || in->machine;
}

static void *csv_begin(struct export *x)
{
	struct csv *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->x = x;
	c->ns = dat_counts_ns(dat_info(x->in->dat));
	trace_seq_init(&c->info);
	if (x->in->machine <= 1)
		fprintf(x->out, "time,cpu,pid,comm,buffer,system,event,lost,info%s\n",
			tells_file(x->in) ? ",file" : "");
	return c;
}

static void put_event(struct csv *c, const struct export_file *in, const struct decode_event *ev)
{
	const struct tep_event *event = formats_event(in->formats, ev->id);
	FILE *out = c->x->out;

	if (c->ns)
		fprintf(out, "%" PRIu64 ".%09" PRIu64, ev->time / 1000000000,
			ev->time % 1000000000);
	else
		fprintf(out, "%" PRIu64, ev->time);
	fprintf(out, ",%u,%d", ev->cpu, ev->pid);
	put_name(tep_data_comm_from_pid(formats_tep(in->formats), ev->pid), out);
	put_name(dat_buffer(in->dat, ev->buffer)->name, out);
	put_name(event ? event->system : "", out);
	if (event)
		put_name(event->name, out);
	else
		fprintf(out, ",%d", ev->id);
	if (ev->lost == DECODE_LOST_UNKNOWN)
		fputs(",some,", out);
	else
		fprintf(out, ",%" PRIu64 ",", ev->lost);
	if (event) {
		print_info(in->formats, ev, &c->info);
		put_text(c->info.buffer, c->info.len, out);
	}
	if (tells_file(c->x->in))
		put_name(dat_title(in->dat), out);
	putc('\n', out);
}

static void csv_event(void *self, const struct decode_event *ev)
{
	struct csv *c = self;
	const struct export_input *in = c->x->in;
	const struct export_file guest = {in->dat, in->formats, in->records};

	put_event(c, &guest, ev);
}

static void csv_host_event(void *self, const struct decode_event *ev)
{
	struct csv *c = self;

	/* Once, whose host it may be. */
	if (c->x->in->machine <= 1)
		put_event(c, &c->x->in->host, ev);
}

static void csv_end(void *self)
{
	(void)self;
}

const struct export_format export_csv = {
	.name = "csv",
	.about = "a line of values for each event, for tables (RFC 4180)",
	.several = true,
	.begin = csv_begin,
	.event = csv_event,
	.host_event = csv_host_event,
	.end = csv_end,
	.free = csv_free,
};
