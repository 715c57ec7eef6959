// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * print.c - what there is, in the two formats that Prometheus reads.
 *
 * They differ in what a family is called: in the text format as its samples are, in OpenMetrics
 * without what the type adds. When a counter began (_created) is not told: Prometheus would keep
 * it as a series of its own.
 */
#include "frontend/metrics/local.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define NS_PER_S   UINT64_C(1000000000)
#define WHOLE_MAX  9007199254740992.0 /* 2^53 */
#define DIGITS_MAX 17		      /* tell any two doubles apart */

static const struct {
	const char *text, *openmetrics; /* its type, in words */
	const char *suffix;		/* of a sample that is a value */
} types[] = {
	[METRICS_COUNTER] = {"counter", "counter", "_total"},
	[METRICS_GAUGE] = {"gauge", "gauge", ""},
	[METRICS_HISTOGRAM] = {"histogram", "histogram", ""},
	[METRICS_INFO] = {"gauge", "info", "_info"},
};

/* --- numbers --------------------------------------------------------------------------------- */

/* As few digits as tell it from all others. */
static void put_value(double value, struct text *out)
{
	char buf[40];
	int digits = 15;

	if (isnan(value) || isinf(value)) {
		text_puts(out, isnan(value) ? "NaN" : value < 0 ? "-Inf" : "+Inf");
		return;
	}
	if (floor(value) == value && fabs(value) < WHOLE_MAX) {
		text_printf(out, "%.0f", value);
		return;
	}
	do
		snprintf(buf, sizeof(buf), "%.*g", digits, value);
	while (digits++ < DIGITS_MAX && strtod(buf, NULL) != value);
	text_puts(out, buf);
}

/* In seconds, with all digits that are not 0. */
static void put_ns(uint64_t ns, struct text *out)
{
	text_printf(out, "%" PRIu64, ns / NS_PER_S);
	if (!(ns % NS_PER_S))
		return;
	text_printf(out, ".%09" PRIu64, ns % NS_PER_S);
	while (!out->failed && out->buf[out->len - 1] == '0')
		out->len--;
}

/* --- samples --------------------------------------------------------------------------------- */

/* Up to its value. */
static void put_name(const struct metrics_about *about, const char *suffix, const struct series *s,
		     struct text *out)
{
	text_puts(out, about->name);
	text_puts(out, suffix);
	if (*s->labels) {
		text_putc(out, '{');
		text_puts(out, s->labels);
		text_putc(out, '}');
	}
	text_putc(out, ' ');
}

static void put_bucket_name(const struct metrics_about *about, const struct series *s,
			    struct text *out)
{
	text_puts(out, about->name);
	text_puts(out, "_bucket{");
	text_puts(out, s->labels);
	text_puts(out, *s->labels ? ",le=\"" : "le=\"");
}

static void put_histogram(const struct metrics_about *about, const struct series *s,
			  struct text *out)
{
	uint64_t count = 0;

	for (unsigned int b = 0; b < LATENCY_REPORT_BUCKETS; b++) {
		count += s->bucket[b];
		if (b < about->first || b > about->last)
			continue;
		put_bucket_name(about, s, out);
		put_ns(latency_bucket_begin(b + 1) - 1, out);
		text_printf(out, "\"} %" PRIu64 "\n", count);
	}
	put_bucket_name(about, s, out);
	text_printf(out, "+Inf\"} %" PRIu64 "\n", count);
	put_name(about, "_sum", s, out);
	put_ns(s->total_ns, out);
	text_putc(out, '\n');
	put_name(about, "_count", s, out);
	text_printf(out, "%" PRIu64 "\n", count);
}

/* --- families -------------------------------------------------------------------------------- */

static void put_head(const struct metrics_about *about, bool open, struct text *out)
{
	const char *suffix = open ? "" : types[about->type].suffix;

	text_printf(out, "# HELP %s%s %s\n", about->name, suffix, about->help);
	text_printf(out, "# TYPE %s%s %s\n", about->name, suffix,
		    open ? types[about->type].openmetrics : types[about->type].text);
	if (open && about->unit)
		text_printf(out, "# UNIT %s %s\n", about->name, about->unit);
}

static void put_family(const struct metrics_about *about, const struct sorted *all, bool open,
		       struct text *out)
{
	if (!all->nr)
		return;
	put_head(about, open, out);
	for (size_t i = 0; i < all->nr; i++) {
		if (all->v[i]->bucket) {
			put_histogram(about, all->v[i], out);
			continue;
		}
		put_name(about, types[about->type].suffix, all->v[i], out);
		put_value(all->v[i]->value, out);
		text_putc(out, '\n');
	}
}

void metrics_print(struct metrics *m, enum metrics_format format, struct text *out)
{
	bool open = format == METRICS_OPENMETRICS;

	pthread_mutex_lock(&m->lock);
	for (unsigned int f = 0; f < METRICS_FAMILIES; f++)
		put_family(metrics_about(f), &m->of[f], open, out);
	pthread_mutex_unlock(&m->lock);
	if (open)
		text_puts(out, "# EOF\n");
}
