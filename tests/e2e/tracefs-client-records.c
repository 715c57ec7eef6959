// SPDX-License-Identifier: GPL-2.0-or-later
/* tracefs-client-records.c - what is decoded from the pages of a trace is what its text says. */
#include "tests/e2e/tracefs-client.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { PATIENCE_SECONDS = 300, ENOUGH_RECORDS = 20000 };

/* NOLINTBEGIN(cert-err34-c): a number that is too large is not the one that was decoded */
static uint64_t entries(struct client *c, int cpu)
{
	char path[64], *text;
	uint64_t n = 0;

	snprintf(path, sizeof(path), "per_cpu/cpu%d/stats", cpu);
	text = tracefs_instance_file_read(c->instance, path, NULL);
	if (!text || sscanf(text, "entries: %" SCNu64, &n) != 1)
		printf("# %s reads '%s'\n", path, text ? text : "(nothing)");
	free(text);
	return n;
}

static bool wait_for_records(struct client *c, uint64_t enough)
{
	const struct timespec tick = {.tv_nsec = 20000000};

	for (int i = 0; i < PATIENCE_SECONDS * 50; i++) {
		if (entries(c, 0) + entries(c, 1) >= enough)
			return true;
		nanosleep(&tick, NULL);
	}
	printf("# no %" PRIu64 " records in %d s\n", enough, PATIENCE_SECONDS);
	return false;
}

static bool record_with(struct client *c, enum tracefs_tracers tracer, const char *name)
{
	bool ok = check(!tracefs_trace_off(c->instance)) &&
		  check(tracefs_trace_is_on(c->instance) == 0) &&
		  check(!tracefs_tracer_clear(c->instance)) &&
		  is_read(c, "current_tracer", "nop\n") &&
		  check(!tracefs_tracer_set(c->instance, tracer)) &&
		  is_read(c, "current_tracer", name) && check(!tracefs_trace_on(c->instance)) &&
		  check(tracefs_trace_is_on(c->instance) == 1) &&
		  wait_for_records(c, ENOUGH_RECORDS) &&
		  check(!tracefs_printf(c->instance, "written %d by %s", 42, "tracefs_printf")) &&
		  check(!tracefs_trace_off(c->instance));

	tracefs_print_close(c->instance);
	return ok;
}

bool record_some(struct client *c)
{
	return record_with(c, TRACEFS_TRACER_FUNCTION, "function\n");
}

/*
 * As tracefs_local_events() does it, which finds nothing while there are no events but those of
 * tracers, and takes the names of functions from the host's own kernel.
 */
static bool load_formats(struct client *c)
{
	char **names = tracefs_system_events(c->dir, "ftrace"), *text;
	int len = 0, parsed = 0;

	text = tracefs_instance_file_read(NULL, "events/header_page", &len);
	tep_free(c->tep);
	c->tep = tep_alloc();
	if (!check(names) || !check(text) || !check(c->tep) ||
	    !check(!tep_parse_header_page(c->tep, text, (unsigned long)len, sizeof(long))))
		return false;
	free(text);
	for (int i = 0; names[i]; i++) {
		text = tracefs_event_file_read(NULL, "ftrace", names[i], "format", &len);
		parsed += check(text) &&
			  check(!tep_parse_event(c->tep, text, (unsigned long)len, "ftrace"));
		free(text);
	}
	tracefs_list_free(names);
	tep_set_long_size(c->tep, tep_get_header_page_size(c->tep));
	return check(parsed >= 10) && check(tep_find_event_by_name(c->tep, "ftrace", "function"));
}

/* Names of functions and of tasks. */
static bool load_names(struct client *c)
{
	char *text = tracefs_instance_file_read(NULL, "available_filter_functions_addrs", NULL);
	char *save = NULL, name[128];
	unsigned long long addr;

	if (!check(text) || !load_formats(c) || !check(!tracefs_load_cmdlines(c->dir, c->tep)))
		return false;
	for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save))
		if (sscanf(line, "%llx %127s", &addr, name) == 2)
			tep_register_function(c->tep, name, addr, NULL);
	free(text);
	return check(tep_get_function_count(c->tep) > 30000);
}

static bool compare(struct client *c, bool (*fetch)(struct client *, struct records *))
{
	struct records text = {.c = c}, pages = {.c = c};
	bool ok;

	ok = check(!tracefs_option_enable(c->instance, TRACEFS_OPTION_SYM_ADDR)) &&
	     record_some(c) && load_names(c) && records_from_text(c, &text) && fetch(c, &pages) &&
	     check(!entries(c, 0) && !entries(c, 1));
	if (ok) {
		sort_records(&text);
		sort_records(&pages);
		ok = same_records(&text, &pages) && check(text.nr >= ENOUGH_RECORDS);
		printf("# %zu records\n", text.nr);
	}
	free(text.at);
	free(pages.at);
	return ok;
}

/* " CPU) DURATION | FUNCTION();", or with " {" for what calls others: those, as records. */
static void calls_of_text(char *text, struct records *all)
{
	char *save = NULL, name[64];
	int cpu;

	for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		const char *bar = strchr(line, '|');
		struct record *r;

		if (*line == '#' || !bar || sscanf(line, "%d)", &cpu) != 1 ||
		    sscanf(bar + 1, " %63[a-zA-Z0-9_.]()", name) != 1)
			continue;
		r = records_add(all);
		r->cpu = cpu;
		snprintf(r->text, sizeof(r->text), "%s", name);
	}
}

static bool same_calls(const struct records *text, const struct records *pages)
{
	size_t nr = text->nr < pages->nr ? text->nr : pages->nr;

	for (size_t i = 0; i < nr; i++) {
		const struct record *t = &text->at[i], *p = &pages->at[i];

		if (t->cpu == p->cpu && !strcmp(t->text, p->text))
			continue;
		printf("# call %zu: %s [%d], not %s [%d]\n", i, p->text, p->cpu, t->text, t->cpu);
		return false;
	}
	return check(text->nr == pages->nr) && check(nr > ENOUGH_RECORDS / 4);
}

static void drop_marks(struct records *r)
{
	size_t kept = 0;

	for (size_t i = 0; i < r->nr; i++)
		if (strncmp(r->at[i].text, "written ", 8) != 0)
			r->at[kept++] = r->at[i];
	r->nr = kept;
}

/* The calls of a graph, in the order in which each vCPU has made them. */
bool test_graph(struct client *c)
{
	struct records text = {.c = c}, pages = {.c = c};
	bool ok = check(!tracefs_option_disable(c->instance, TRACEFS_OPTION_SYM_ADDR)) &&
		  record_with(c, TRACEFS_TRACER_FUNCTION_GRAPH, "function_graph\n") &&
		  load_names(c);
	char *all = ok ? tracefs_instance_file_read(c->instance, "trace", NULL) : NULL;

	if (all && records_iterated(c, &pages)) {
		calls_of_text(all, &text);
		drop_marks(&pages);
		sort_records(&text);
		sort_records(&pages);
		ok = same_calls(&text, &pages);
		printf("# %zu calls\n", text.nr);
	} else {
		ok = false;
	}
	free(all);
	free(text.at);
	free(pages.at);
	return ok;
}

bool test_iterate(struct client *c)
{
	return compare(c, records_iterated);
}

bool test_cpu_read(struct client *c)
{
	return compare(c, records_read);
}

bool test_cpu_splice(struct client *c)
{
	return !can_splice(c) || compare(c, records_spliced);
}

bool test_cpu_write(struct client *c)
{
	return compare(c, records_written);
}
/* NOLINTEND(cert-err34-c) */
