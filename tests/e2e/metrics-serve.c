// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * metrics-serve.c - metrics, as standard input tells them, for tests that read them.
 *
 * usage: metrics-serve names                   the names of all samples, and their labels, one a
 * line metrics-serve print text|openmetrics  what the lines have told metrics-serve serve ADDRESS
 * serves that; says where, and after each line "done"
 *
 * A line: NAME<tab>VALUE[<tab>LABEL=VALUE]..., as NAME is in families.c: a counter goes up by the
 * value, a histogram has one more that took so many ns. "all": a value of each family.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "frontend/metrics/metrics.h"
#include "frontend/sandbox/sandbox.h"

#define LINE_MAX_LEN 4096

/* --- names ----------------------------------------------------------------------------------- */

static void put_name(const struct metrics_about *a, const char *suffix)
{
	printf("%s%s", a->name, suffix);
	for (size_t i = 0; a->label[i]; i++)
		printf(" %s", a->label[i]);
	puts(!strcmp(suffix, "_bucket") ? " le" : "");
}

static void put_names(void)
{
	static const char *const suffix[] = {"_total", "", "_bucket", "_info"};

	for (unsigned int f = 0; f < METRICS_FAMILIES; f++) {
		const struct metrics_about *a = metrics_about(f);

		put_name(a, suffix[a->type]);
		if (a->type != METRICS_HISTOGRAM)
			continue;
		put_name(a, "_sum");
		put_name(a, "_count");
	}
}

/* --- lines ----------------------------------------------------------------------------------- */

static void set_label(struct metrics_labels *l, const char *name, const char *value)
{
	const struct {
		const char *name, **at;
	} members[] = {
		{"guest", &l->guest},	  {"uuid", &l->uuid},	  {"kernel", &l->kernel},
		{"rule", &l->rule},	  {"vcpu", &l->vcpu},	  {"syscall", &l->syscall},
		{"outcome", &l->outcome}, {"reason", &l->reason}, {"server", &l->server},
		{"version", &l->version},
	};

	for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++)
		if (!strcmp(members[i].name, name))
			*members[i].at = value;
}

static void tell(struct metrics *m, enum metrics_family f, const struct metrics_labels *labels,
		 double value)
{
	struct latency_row row = {.count = 0};

	switch (metrics_about(f)->type) {
	case METRICS_COUNTER:
		metrics_add(m, f, labels, value);
		break;
	case METRICS_HISTOGRAM:
		latency_add(&row, (uint64_t)value);
		metrics_observe_many(m, f, labels, row.bucket, row.total);
		break;
	default:
		metrics_set(m, f, labels, value);
	}
}

/* Of each family two samples, where its labels can tell them apart. */
static void tell_all(struct metrics *m)
{
	const struct metrics_labels one = {"web-1",
					   "4f0c1b7a-0000-4000-8000-000000000001",
					   "6.1.0-28",
					   "irqs",
					   "0",
					   "read",
					   "kept",
					   "attach",
					   "127.0.0.1:8123",
					   HVTRACE_VERSION};
	const struct metrics_labels two = {"db",
					   "4f0c1b7a-0000-4000-8000-000000000002",
					   "6.12.9",
					   "calls",
					   "1",
					   "futex",
					   "failed",
					   "age",
					   "127.0.0.1:8124",
					   HVTRACE_VERSION};

	for (unsigned int f = 0; f < METRICS_FAMILIES; f++) {
		enum metrics_type type = metrics_about(f)->type;

		tell(m, f, &one,
		     type == METRICS_HISTOGRAM ? 150000
		     : type == METRICS_INFO    ? 1
					       : 1 + f);
		if (metrics_about(f)->sets > 1)
			tell(m, f, &two, type == METRICS_HISTOGRAM ? 3e6 : 1);
	}
}

/* False: it makes no sense. */
static bool take_line(struct metrics *m, char *line)
{
	struct metrics_labels labels = {.guest = NULL};
	char *name = strsep(&line, "\t"), *value = strsep(&line, "\t"), *label, *equals;

	if (!strcmp(name, "all")) {
		tell_all(m);
		return true;
	}
	while ((label = strsep(&line, "\t"))) {
		equals = strchr(label, '=');
		if (!equals)
			return false;
		*equals = '\0';
		set_label(&labels, label, equals + 1);
	}
	for (unsigned int f = 0; f < METRICS_FAMILIES && value; f++)
		if (!strcmp(metrics_about(f)->name, name)) {
			tell(m, f, &labels, strtod(value, NULL));
			return true;
		}
	return false;
}

/* All lines of standard input; said: word of each. */
static int take_lines(struct metrics *m, bool said)
{
	char line[LINE_MAX_LEN];

	while (fgets(line, sizeof(line), stdin)) {
		line[strcspn(line, "\n")] = '\0';
		if (!take_line(m, line)) {
			fprintf(stderr, "metrics-serve: what is %s?\n", line);
			return EXIT_FAILURE;
		}
		if (said)
			puts("done");
		fflush(stdout);
	}
	return EXIT_SUCCESS;
}

static int print(struct metrics *m, enum metrics_format format)
{
	struct text text = {0};
	int status = take_lines(m, false);

	metrics_print(m, format, &text);
	if (text.failed || fwrite(text.buf, 1, text.len, stdout) != text.len)
		status = EXIT_FAILURE;
	text_free(&text);
	return status;
}

static int serve(struct metrics *m, const char *address, bool confined)
{
	struct metrics_server *s;
	char err[512];
	int status;

	if (metrics_serve(&s, m, address, err, sizeof(err)) ||
	    (confined && sandbox_enter(UINT64_MAX, err, sizeof(err)))) {
		fprintf(stderr, "hvtrace: %s\n", err);
		return EXIT_FAILURE;
	}
	puts(metrics_server_address(s));
	fflush(stdout);
	status = take_lines(m, true);
	metrics_stop(s);
	return status;
}

int main(int argc, char **argv)
{
	struct metrics *m = metrics_new();
	int status = EXIT_SUCCESS;

	if (!m)
		return EXIT_FAILURE;
	if (argc == 2 && !strcmp(argv[1], "names")) {
		put_names();
	} else if (argc == 3 && !strcmp(argv[1], "print")) {
		status = print(m, strcmp(argv[2], "text") ? METRICS_OPENMETRICS : METRICS_TEXT);
	} else if (argc == 3 && (!strcmp(argv[1], "serve") || !strcmp(argv[1], "confined"))) {
		status = serve(m, argv[2], !strcmp(argv[1], "confined"));
	} else {
		fprintf(stderr,
			"usage: metrics-serve names|print FORMAT|serve ADDRESS|confined ADDRESS\n");
		status = 2;
	}
	metrics_free(m);
	return status;
}
