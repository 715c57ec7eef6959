// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * tracefs-client.c - libtracefs and libtraceevent at work on a mounted trace: programs written for
 * the kernel's tracefs find here what they look for, and what they decode from the binary pages is
 * what the text says.
 *
 * usage: tracefs-client DIR
 *
 * The guest makes system calls meanwhile, and nothing is traced at first. Prints "ok - NAME", "ok -
 * NAME # SKIP WHY", or "# WHY" and "not ok - NAME", for each test.
 */
#include "tests/e2e/tracefs-client.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool check_at(bool ok, const char *condition, const char *file, int line)
{
	if (!ok)
		printf("# %s:%d: not so: %s (%s)\n", file, line, condition, strerror(errno));
	return ok;
}

bool is_read(struct client *c, const char *file, const char *want)
{
	char *text = tracefs_instance_file_read(c->instance, file, NULL);
	bool same = text && !strcmp(text, want);

	if (!same)
		printf("# %s reads '%s', not '%s'\n", file, text ? text : "(nothing)", want);
	free(text);
	return same;
}

bool list_has(char **list, const char *want)
{
	for (int i = 0; list && list[i]; i++)
		if (!strcmp(list[i], want))
			return true;
	printf("# '%s' is not listed\n", want);
	return false;
}

/* --- what there is ------------------------------------------------------------------------ */

static bool test_directory(struct client *c)
{
	struct tracefs_instance *top = tracefs_instance_alloc(c->dir, NULL);
	char **tracers = tracefs_tracers(c->dir); /* without nop */
	char *clock = top ? tracefs_get_clock(top) : NULL;
	bool ok = check(top) && check(!strcmp(tracefs_instance_get_trace_dir(top), c->dir)) &&
		  check(!tracefs_instance_get_name(top)) && check(!tracefs_instance_is_new(top)) &&
		  check(tracefs_file_exists(top, "trace_pipe")) &&
		  check(tracefs_dir_exists(top, "per_cpu")) && list_has(tracers, "function") &&
		  check(tracefs_tracer_available(c->dir, "function")) &&
		  check(!tracefs_tracer_available(c->dir, "functio")) &&
		  check(clock && !strcmp(clock, "global")) &&
		  check(!strcmp(tracefs_tracing_dir(), c->dir));

	free(clock);
	tracefs_list_free(tracers);
	tracefs_instance_free(top);
	return ok;
}

static int count_instance(const char *name, void *arg)
{
	int *count = arg;

	*count += !strcmp(name, "client");
	return 0;
}

static bool test_instance(struct client *c)
{
	struct tracefs_instance *again;
	char **names;
	int count = 0;
	bool ok;

	c->instance = tracefs_instance_create("client");
	again = tracefs_instance_create("client");
	names = tracefs_instances("^cli");
	ok = check(c->instance) && check(tracefs_instance_is_new(c->instance)) && check(again) &&
	     check(!tracefs_instance_is_new(again)) && list_has(names, "client") &&
	     check(!tracefs_instances_walk(count_instance, &count)) && check(count == 1);
	tracefs_list_free(names);
	tracefs_instance_free(again);
	return ok;
}

static bool test_instance_goes(struct client *c)
{
	bool ok = check(!tracefs_instance_destroy(c->instance)) &&
		  check(!tracefs_dir_exists(NULL, "instances/client"));

	tracefs_instance_free(c->instance);
	c->instance = NULL;
	return ok;
}

static bool test_buffer(struct client *c)
{
	ssize_t one, all;

	if (!check(!tracefs_instance_set_buffer_size(c->instance, 4096, -1)))
		return false;
	one = tracefs_instance_get_buffer_size(c->instance, 1);
	all = tracefs_instance_get_buffer_size(c->instance, -1);
	return check(one >= 4096 && one < 4096 + 4) && check(all == 2 * one);
}

static bool test_affinity(struct client *c)
{
	char *now;
	bool ok;

	if (!check(tracefs_instance_set_affinity(c->instance, "1") >= 0))
		return false;
	now = tracefs_instance_get_affinity(c->instance);
	ok = check(now && !strcmp(now, "1"));
	free(now);
	return check(tracefs_instance_set_affinity(c->instance, NULL) >= 0) && ok;
}

/* --- options ------------------------------------------------------------------------------ */

static bool option_switches(struct client *c, enum tracefs_option_id id)
{
	const char *name = tracefs_option_name(id);
	bool was = tracefs_option_is_enabled(c->instance, id), ok;

	ok = check(tracefs_option_id(name) == id) &&
	     check(!tracefs_option_enable(c->instance, id)) &&
	     check(tracefs_option_is_enabled(c->instance, id)) &&
	     check(!tracefs_option_disable(c->instance, id)) &&
	     check(!tracefs_option_is_enabled(c->instance, id)) &&
	     check(!was || !tracefs_option_enable(c->instance, id));
	if (!ok)
		printf("# option %s\n", name);
	return ok;
}

/* Each that there is, off and on again; display-graph and function-trace, too. */
static bool test_options(struct client *c)
{
	const struct tracefs_options_mask *all = tracefs_options_get_supported(c->instance);
	const struct tracefs_options_mask *on = tracefs_options_get_enabled(c->instance);
	unsigned int switched = 0;

	if (!check(all) || !check(on) ||
	    !check(tracefs_option_mask_is_set(on, TRACEFS_OPTION_OVERWRITE)) ||
	    !check(!tracefs_option_mask_is_set(on, TRACEFS_OPTION_SYM_ADDR)) ||
	    !check(tracefs_option_is_supported(c->instance, TRACEFS_OPTION_SYM_ADDR)) ||
	    !check(tracefs_option_is_supported(c->instance, TRACEFS_OPTION_ANNOTATE)))
		return false;
	for (int id = TRACEFS_OPTION_INVALID + 1; id < TRACEFS_OPTION_MAX; id++) {
		if (!tracefs_option_mask_is_set(all, (enum tracefs_option_id)id))
			continue;
		if (!option_switches(c, (enum tracefs_option_id)id))
			return false;
		switched++;
	}
	printf("# %u options\n", switched);
	return check(switched > 20);
}

/* --- functions ---------------------------------------------------------------------------- */

static bool has_lines(struct client *c, const char *file, unsigned int enough)
{
	char *text = tracefs_instance_file_read(c->instance, file, NULL);
	unsigned int lines = 0;

	for (const char *at = text; at && *at; at++)
		lines += *at == '\n';
	free(text);
	return check(lines >= enough);
}

static bool test_filter(struct client *c)
{
	char **list = NULL;
	bool ok =
		check(!tracefs_function_filter(c->instance, "vfs_statx", NULL, TRACEFS_FL_RESET)) &&
		is_read(c, "set_ftrace_filter", "vfs_statx\n") &&
		check(!tracefs_function_filter(c->instance, "^vfs_getattr$", NULL,
					       TRACEFS_FL_CONTINUE)) &&
		check(!tracefs_function_filter(c->instance, "^__do_sys_getppid$", NULL, 0)) &&
		is_read(c, "set_ftrace_filter", "__do_sys_getppid\nvfs_getattr\nvfs_statx\n") &&
		check(tracefs_function_filter(c->instance, "no_such_function", NULL, 0)) &&
		check(!tracefs_function_notrace(c->instance, "schedule", NULL, TRACEFS_FL_RESET)) &&
		is_read(c, "set_ftrace_notrace", "schedule\n") &&
		check(!tracefs_instance_file_clear(c->instance, "set_ftrace_notrace")) &&
		is_read(c, "set_ftrace_notrace", "#### no functions disabled ####\n") &&
		check(!tracefs_filter_functions("^vfs_stat.*", NULL, &list)) &&
		list_has(list, "vfs_statx") &&
		check(!tracefs_function_filter(c->instance, "vfs_*", NULL,
					       TRACEFS_FL_RESET | TRACEFS_FL_CONTINUE)) &&
		check(!tracefs_function_filter(c->instance, "^__do_sys_.*", NULL, 0)) &&
		has_lines(c, "set_ftrace_filter", 50);

	tracefs_list_free(list);
	return ok;
}

static bool test_errors(struct client *c)
{
	char *all = tracefs_error_all(c->instance);
	bool ok = check(!all || !*all) && check(!tracefs_error_clear(c->instance));

	free(all);
	return ok && check(tracefs_instance_file_write(c->instance, "current_tracer", "x") < 0) &&
	       check(errno == EINVAL);
}

/* --- main --------------------------------------------------------------------------------- */

struct test {
	const char *name;
	bool (*run)(struct client *c);
};

static void run(struct client *c, const char *where, const struct test *tests, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		bool ok;

		c->skipped = NULL;
		ok = tests[i].run(c);
		printf("%s - %s: %s%s%s\n", ok ? "ok" : "not ok", where, tests[i].name,
		       c->skipped ? " # SKIP " : "", c->skipped ? c->skipped : "");
		c->failed |= !ok;
	}
}

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

int main(int argc, char **argv)
{
	static const struct test before[] = {
		{"the directory is one of tracefs", test_directory},
		{"an instance is made", test_instance},
		{"a buffer is sized", test_buffer},
		{"a set of CPUs is chosen", test_affinity},
	};
	static const struct test both[] = {
		{"all options switch", test_options},
		{"functions are chosen", test_filter},
		{"records that are iterated over are those of the text", test_iterate},
		{"so are those of pages that are read", test_cpu_read},
		{"so are those of pages that are spliced", test_cpu_splice},
		{"so are those of pages that are written to a file", test_cpu_write},
		{"trace_pipe reads as the text does", test_pipe},
		{"so does what it streams", test_pipe_stream},
		{"a reader waits for a page, and is stopped", test_cpu_waits},
		{"errors are errors", test_errors},
	};
	static const struct test after[] = {{"the instance is removed", test_instance_goes}};
	static const struct test top[] = {
		{"the calls of a graph are those of its text", test_graph}};
	struct client c = {.dir = argc == 2 ? argv[1] : NULL};

	if (!c.dir || tracefs_set_tracing_dir(argv[1])) {
		fprintf(stderr, "usage: tracefs-client DIR\n");
		return 2;
	}
	setlinebuf(stdout);
	run(&c, "libtracefs", before, COUNT(before));
	if (c.instance)
		run(&c, "libtracefs, an instance", both, COUNT(both));
	if (c.instance)
		run(&c, "libtracefs", after, COUNT(after));
	c.instance = tracefs_instance_alloc(c.dir, NULL);
	if (c.instance) {
		run(&c, "libtracefs, top level", both, COUNT(both));
		run(&c, "libtracefs, top level", top, COUNT(top));
	}
	tracefs_instance_free(c.instance);
	tep_free(c.tep);
	return c.failed;
}
