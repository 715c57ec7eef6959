// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * fuzz-metrics.c - guests that are called anything, and scrapers that ask for anything: what is
 * printed is read as Prometheus would, line by line.
 *
 * An input is steps: a byte that says what is told, then words, each ended by a 0.
 */
#include "frontend/metrics/answer.h"

#include <stdlib.h>
#include <string.h>

#include "tests/fuzz/input.h"

#define WORD_LEN 300

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool holds)
{
	if (!holds)
		abort();
}

static void take_word(struct input *in, char word[WORD_LEN])
{
	size_t len = 0;
	char c;

	while ((c = (char)input_byte(in)))
		if (len < WORD_LEN - 1)
			word[len++] = c;
	word[len] = '\0';
}

/* --- what is printed ------------------------------------------------------------------------ */

/* Behind the value of a label that begins here: nothing in it that ends a line or moves a cursor.
 */
static const char *skip_value(const char *at)
{
	must(*at++ == '"');
	for (; *at != '"'; at++) {
		must((unsigned char)*at >= ' ' || *at == '\t');
		must(*at != 0x7f);
		if (*at == '\\') {
			at++;
			must(*at == '\\' || *at == '"' || *at == 'n');
		}
	}
	return at + 1;
}

static const char *skip_labels(const char *at)
{
	must(*at == '{');
	do {
		at++;
		must(*at >= 'a' && *at <= 'z');
		at += strspn(at, "abcdefghijklmnopqrstuvwxyz");
		must(*at++ == '=');
		at = skip_value(at);
	} while (*at == ',');
	must(*at == '}');
	return at + 1;
}

static void check_sample(const char *line)
{
	const char *at =
		line + strspn(line, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_");
	char *end;

	must(!strncmp(line, "hvtrace_", 8));
	if (*at == '{')
		at = skip_labels(at);
	must(*at == ' ' && at[1] > ' ');
	strtod(at + 1, &end);
	must(*end == '\0');
}

static void check_text(struct metrics *m, enum metrics_format format)
{
	struct text t = {0};
	char *line, *end;

	metrics_print(m, format, &t);
	text_putc(&t, '\0');
	must(!t.failed && strlen(t.buf) == t.len - 1);
	for (line = t.buf; *line; line = end + 1) {
		end = strchr(line, '\n');
		must(end);
		*end = '\0';
		if (*line != '#')
			check_sample(line);
	}
	text_free(&t);
}

/* --- what is told --------------------------------------------------------------------------- */

static void tell(struct metrics *m, struct input *in, unsigned int what)
{
	char guest[WORD_LEN], other[WORD_LEN];
	const struct metrics_labels labels = {
		.guest = guest,
		.rule = other,
		.syscall = other,
		.vcpu = other,
		.uuid = other,
		.reason = other,
		.server = other,
	};
	enum metrics_family f = what % METRICS_FAMILIES;
	uint64_t bucket[LATENCY_REPORT_BUCKETS] = {0}, value = input_u64(in);

	take_word(in, guest);
	take_word(in, other);
	switch (metrics_about(f)->type) {
	case METRICS_HISTOGRAM:
		bucket[value % LATENCY_REPORT_BUCKETS] = value;
		metrics_observe_many(m, f, &labels, bucket, value);
		break;
	case METRICS_COUNTER:
		metrics_add(m, f, &labels, (double)value);
		break;
	default:
		metrics_set(m, f, &labels, (double)(int64_t)value / 1000);
	}
}

static void ask(struct input *in)
{
	char word[WORD_LEN];

	take_word(in, word);
	must(answer_format(word) <= METRICS_OPENMETRICS);
	answer_may_pack(word);
}

static void forget(struct metrics *m, struct input *in)
{
	char guest[WORD_LEN];

	take_word(in, guest);
	metrics_forget(m, METRICS_FAMILIES, guest);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = {data, size};
	struct metrics *m = metrics_new();

	must(m);
	while (in.size) {
		unsigned int what = input_byte(&in);

		if (what == 255)
			forget(m, &in);
		else if (what >= 250)
			ask(&in);
		else
			tell(m, &in, what);
	}
	check_text(m, METRICS_TEXT);
	check_text(m, METRICS_OPENMETRICS);
	metrics_free(m);
	return 0;
}
