// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * tracefs-client.c - libtracefs and libtraceevent at work on a mounted trace: programs written for
 * the kernel's tracefs find here what they look for, and what they decode from the binary pages is
 * what the text says.
 *
 * usage: tracefs-client DIR
 *
 * The guest makes system calls meanwhile, and nothing is traced at first. Prints "ok - NAME", or
 * "# WHY" and "not ok - NAME", for each test.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <kbuffer.h>
#include <tracefs.h>

/* A flag of newer kernels' than libtraceevent 1.7 knows of. */
enum { PREEMPT_RESCHED = 1 << 5 };

enum { PATIENCE_SECONDS = 300, ENOUGH_RECORDS = 20000, PAGE_BYTES = 4096 };

struct client {
	const char *dir;
	struct tracefs_instance *instance; /* that is tested now */
	struct tep_handle *tep;
	bool failed;
};

#define check(condition) check_at(condition, #condition, __LINE__)

static bool check_at(bool ok, const char *condition, int line)
{
	if (!ok)
		printf("# line %d: not so: %s (%s)\n", line, condition, strerror(errno));
	return ok;
}

static bool is_read(struct client *c, const char *file, const char *want)
{
	char *text = tracefs_instance_file_read(c->instance, file, NULL);
	bool same = text && !strcmp(text, want);

	if (!same)
		printf("# %s reads '%s', not '%s'\n", file, text ? text : "(nothing)", want);
	free(text);
	return same;
}

static bool list_has(char **list, const char *want)
{
	for (int i = 0; list && list[i]; i++)
		if (!strcmp(list[i], want))
			return true;
	printf("# '%s' is not listed\n", want);
	return false;
}

/* NOLINTBEGIN(cert-err34-c): a number that is too large is not the one that was decoded */
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

/* display-graph is for tracers that we do not have, function-trace is not taken out of nop. */
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

/* --- records, from the text and from the pages -------------------------------------------- */

struct record {
	uint64_t us, ip, parent; /* ip: 0 for text that was written */
	int cpu, pid;
	char comm[20], flags[6], text[64];
};

struct records {
	struct record *at;
	size_t nr, room;
	struct client *c;
};

static struct record *records_add(struct records *r)
{
	if (r->nr == r->room) {
		r->room = r->room ? 2 * r->room : 1024;
		r->at = realloc(r->at, r->room * sizeof(*r->at));
		if (!r->at)
			abort();
	}
	memset(&r->at[r->nr], 0, sizeof(*r->at));
	return &r->at[r->nr++];
}

/* "   comm-pid     [cpu] flags    seconds.micros: ": what is behind it, or NULL */
static const char *parse_head(const char *line, struct record *r)
{
	const char *cpu = strstr(line, " ["), *dash, *comm = line + strspn(line, " ");
	uint64_t seconds, micros;
	int len = 0;

	if (!cpu)
		return NULL;
	for (dash = cpu; dash > comm && *dash != '-'; dash--)
		;
	snprintf(r->comm, sizeof(r->comm), "%.*s", (int)(dash - comm), comm);
	if (sscanf(dash, "-%d [%d] %5s %" SCNu64 ".%" SCNu64 ": %n", &r->pid, &r->cpu, r->flags,
		   &seconds, &micros, &len) != 5 ||
	    !len)
		return NULL;
	r->us = seconds * 1000000 + micros;
	return dash + len;
}

/* With sym-addr: "name <ip> <-name <parent>". */
static bool parse_line(const char *line, struct record *r)
{
	const char *what = parse_head(line, r);

	if (!what)
		return false;
	if (sscanf(what, "%63s <%" SCNx64 "> <-%*s <%" SCNx64 ">", r->text, &r->ip, &r->parent) ==
	    3)
		return true;
	r->ip = 0;
	return sscanf(what, "tracing_mark_write <%*[^>]>: %63[^\n]", r->text) == 1;
}

static bool parse_text(char *text, struct records *r)
{
	char *save = NULL;

	for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		if (*line == '#' || !strncmp(line, "CPU:", 4))
			continue;
		if (!parse_line(line, records_add(r))) {
			printf("# not an event: '%s'\n", line);
			return false;
		}
	}
	return true;
}

static bool records_from_text(struct client *c, struct records *r)
{
	char *text = tracefs_instance_file_read(c->instance, "trace", NULL);
	bool ok = check(text) && parse_text(text, r);

	free(text);
	return ok;
}

/* As the kernel tells irqs-off, need-resched, context and preemption depth. */
static void decode_flags(struct tep_handle *tep, struct tep_record *rec, char *to)
{
	int flags = tep_data_flags(tep, rec), depth = tep_data_preempt_count(tep, rec);
	bool hard = flags & TRACE_FLAG_HARDIRQ, soft = flags & TRACE_FLAG_SOFTIRQ;

	to[0] = flags & TRACE_FLAG_IRQS_OFF ? 'd' : '.';
	to[1] = ".pnN"[!!(flags & TRACE_FLAG_NEED_RESCHED) * 2 + !!(flags & PREEMPT_RESCHED)];
	to[2] = hard ? soft ? 'H' : 'h' : soft ? 's' : '.';
	to[3] = depth & 15 ? (char)("0123456789abcdef"[depth & 15]) : '.';
	to[4] = depth >> 4 ? (char)("0123456789abcdef"[depth >> 4]) : '.';
}

static uint64_t field(struct tep_event *event, struct tep_record *rec, const char *name)
{
	unsigned long long value = 0;

	if (tep_get_field_val(NULL, event, name, rec, &value, 1))
		printf("# no field %s in %s\n", name, event->name);
	return value;
}

static int add_decoded(struct tep_event *event, struct tep_record *rec, int cpu, void *arg)
{
	struct records *all = arg;
	struct tep_handle *tep = all->c->tep;
	struct record *r = records_add(all);
	const char *name;

	r->cpu = cpu;
	r->pid = tep_data_pid(tep, rec);
	r->us = (rec->ts + 500) / 1000;
	decode_flags(tep, rec, r->flags);
	snprintf(r->comm, sizeof(r->comm), "%s", tep_data_comm_from_pid(tep, r->pid));
	if (!strcmp(event->name, "function")) {
		r->ip = field(event, rec, "ip");
		r->parent = field(event, rec, "parent_ip");
		name = tep_find_function(tep, r->ip);
		snprintf(r->text, sizeof(r->text), "%s", name ? name : "?");
	} else if (!strcmp(event->name, "funcgraph_entry")) {
		name = tep_find_function(tep, field(event, rec, "func"));
		snprintf(r->text, sizeof(r->text), "%s", name ? name : "?");
	} else if (!strcmp(event->name, "funcgraph_exit")) {
		all->nr--; /* the text of a leaf does not tell where it was */
	} else if (!strcmp(event->name, "print")) {
		snprintf(r->text, sizeof(r->text), "%s",
			 (char *)tep_get_field_raw(NULL, event, "buf", rec, NULL, 1));
		r->text[strcspn(r->text, "\n")] = '\0';
	}
	return 0;
}

/* What is in a page, as kbuffer finds it. */
static bool decode_page(struct records *all, struct kbuffer *kbuf, void *page, int cpu)
{
	struct tep_handle *tep = all->c->tep;
	unsigned long long ts;
	void *data;

	if (!check(!kbuffer_load_subbuffer(kbuf, page)))
		return false;
	for (data = kbuffer_read_event(kbuf, &ts); data; data = kbuffer_next_event(kbuf, &ts)) {
		struct tep_record rec = {
			.ts = ts,
			.cpu = cpu,
			.data = data,
			.size = kbuffer_event_size(kbuf),
		};
		struct tep_event *event = tep_find_event_by_record(tep, &rec);

		if (!check(event))
			return false;
		add_decoded(event, &rec, cpu, all);
	}
	return true;
}

static int read_page(struct tracefs_cpu *cpu, void *page)
{
	return tracefs_cpu_read(cpu, page, true);
}

/* Through a pipe that splice(2) fills. */
static int read_buffered(struct tracefs_cpu *cpu, void *page)
{
	int n = tracefs_cpu_buffered_read(cpu, page, true);

	return n > 0 ? n : tracefs_cpu_flush(cpu, page);
}

typedef int (*page_reader)(struct tracefs_cpu *cpu, void *page);

static bool records_from_cpus(struct client *c, struct records *r, page_reader next)
{
	struct kbuffer *kbuf = tep_kbuffer(c->tep);
	char page[PAGE_BYTES];
	bool ok = check(kbuf);

	for (int i = 0; ok && i < 2; i++) {
		struct tracefs_cpu *cpu = tracefs_cpu_open(c->instance, i, true);
		int n = 0;

		ok = check(cpu) && check(tracefs_cpu_read_size(cpu) == PAGE_BYTES);
		while (ok && (n = next(cpu, page)) > 0)
			ok = check(n == PAGE_BYTES) && decode_page(r, kbuf, page, i);
		ok = ok && check(!n || errno == EAGAIN);
		if (cpu)
			tracefs_cpu_close(cpu);
	}
	kbuffer_free(kbuf);
	return ok;
}

static bool records_read(struct client *c, struct records *r)
{
	return records_from_cpus(c, r, read_page);
}

static bool records_spliced(struct client *c, struct records *r)
{
	return records_from_cpus(c, r, read_buffered);
}

static bool records_iterated(struct client *c, struct records *r)
{
	cpu_set_t cpus;

	/* Without a set it goes by the host's number of CPUs. */
	CPU_ZERO(&cpus);
	CPU_SET(0, &cpus);
	CPU_SET(1, &cpus);
	return check(!tracefs_iterate_raw_events(c->tep, c->instance, &cpus, sizeof(cpus),
						 add_decoded, r));
}

/* What tracefs_cpu_write() has put into a file. */
static bool records_written(struct client *c, struct records *r)
{
	struct kbuffer *kbuf = tep_kbuffer(c->tep);
	char page[PAGE_BYTES];
	bool ok = check(kbuf);

	for (int i = 0; ok && i < 2; i++) {
		struct tracefs_cpu *cpu = tracefs_cpu_open(c->instance, i, true);
		FILE *f = tmpfile();

		ok = check(cpu) && check(f);
		while (ok && tracefs_cpu_write(cpu, fileno(f), true) > 0)
			;
		while (ok && tracefs_cpu_flush_write(cpu, fileno(f)) > 0)
			;
		ok = ok && check(!fseek(f, 0, SEEK_SET));
		while (ok && fread(page, sizeof(page), 1, f) == 1)
			ok = decode_page(r, kbuf, page, i);
		if (f)
			fclose(f);
		if (cpu)
			tracefs_cpu_close(cpu);
	}
	kbuffer_free(kbuf);
	return ok;
}

/* One vCPU behind the other, each in its order. */
static void sort_records(struct records *r)
{
	struct record *sorted = calloc(r->nr + !r->nr, sizeof(*sorted));
	size_t n = 0;

	if (!sorted)
		abort();
	for (int cpu = 0; cpu < 2; cpu++)
		for (size_t i = 0; i < r->nr; i++)
			if (r->at[i].cpu == cpu)
				sorted[n++] = r->at[i];
	free(r->at);
	r->at = sorted;
	r->nr = n;
}

static bool same_record(const struct record *a, const struct record *b)
{
	return a->us == b->us && a->ip == b->ip && a->parent == b->parent && a->cpu == b->cpu &&
	       a->pid == b->pid && !strcmp(a->flags, b->flags) && !strcmp(a->text, b->text) &&
	       !strcmp(a->comm, b->comm);
}

static void print_record(const char *whose, const struct record *r)
{
	printf("# %s: %s-%d [%d] %s %" PRIu64 " %s <%" PRIx64 "> <- <%" PRIx64 ">\n", whose,
	       r->comm, r->pid, r->cpu, r->flags, r->us, r->text, r->ip, r->parent);
}

static bool same_records(const struct records *text, const struct records *pages)
{
	size_t nr = text->nr < pages->nr ? text->nr : pages->nr;

	for (size_t i = 0; i < nr; i++) {
		if (same_record(&text->at[i], &pages->at[i]))
			continue;
		printf("# record %zu of %zu and %zu\n", i, text->nr, pages->nr);
		print_record("text", &text->at[i]);
		print_record("page", &pages->at[i]);
		return false;
	}
	return check(text->nr == pages->nr);
}

/* --- recording some ----------------------------------------------------------------------- */

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

static bool record_some(struct client *c)
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
static bool test_graph(struct client *c)
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

static bool test_iterate(struct client *c)
{
	return compare(c, records_iterated);
}

static bool test_cpu_read(struct client *c)
{
	return compare(c, records_read);
}

static bool test_cpu_splice(struct client *c)
{
	return compare(c, records_spliced);
}

static bool test_cpu_write(struct client *c)
{
	return compare(c, records_written);
}

/* NOLINTEND(cert-err34-c) */
/* --- readers that wait -------------------------------------------------------------------- */

/* Lines of a text that tell events, one after the other in `to`. */
static size_t keep_events(char *text, char *to, size_t room)
{
	char *save = NULL;
	size_t len = 0;

	for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		if (*line != '#' && strncmp(line, "CPU:", 4))
			len += (size_t)snprintf(to + len, room - len, "%s\n", line);
		if (len >= room)
			return 0;
	}
	return len;
}

/* All that is in trace_pipe now; -1 with errno at the end, which is not waited for. */
static ssize_t read_all(int fd, char *to, size_t room)
{
	size_t len = 0;
	ssize_t n;

	while ((n = read(fd, to + len, room - len)) > 0)
		len += (size_t)n;
	return n < 0 && errno == EAGAIN ? (ssize_t)len : -1;
}

/* Linux from 6.5 on takes FUSE files that have no size for empty. */
static bool can_splice(struct client *c)
{
	int fd = tracefs_instance_file_open(c->instance, "trace_clock", O_RDONLY), ends[2];
	ssize_t n;

	if (!check(fd >= 0) || !check(!pipe(ends)))
		return true;
	n = splice(fd, NULL, ends[1], NULL, PAGE_BYTES, SPLICE_F_NONBLOCK);
	close(ends[0]);
	close(ends[1]);
	close(fd);
	return n > 0;
}

static ssize_t read_pipe(struct client *c, char *to, size_t room)
{
	int fd = tracefs_instance_file_open(c->instance, "trace_pipe", O_RDONLY | O_NONBLOCK);
	ssize_t n = check(fd >= 0) ? read_all(fd, to, room) : -1;

	if (fd >= 0)
		close(fd);
	return n;
}

static ssize_t stream_pipe(struct client *c, char *to, size_t room)
{
	FILE *f = tmpfile();
	ssize_t n = -1;

	if (check(f) &&
	    check(tracefs_trace_pipe_stream(fileno(f), c->instance, SPLICE_F_NONBLOCK) >= 0) &&
	    check(!fseek(f, 0, SEEK_SET)))
		n = (ssize_t)fread(to, 1, room, f);
	if (f)
		fclose(f);
	return n;
}

/* trace_pipe gives what trace has shown before. */
static bool compare_pipe(struct client *c, ssize_t (*fetch)(struct client *, char *, size_t))
{
	char *text = NULL, *want = NULL, *got = NULL;
	int size = 0;
	bool ok = record_some(c);

	text = ok ? tracefs_instance_file_read(c->instance, "trace", &size) : NULL;
	want = calloc(1, (size_t)size + 2);
	got = calloc(1, (size_t)size + 2);
	if (ok && check(text && want && got)) {
		size_t len = keep_events(text, want, (size_t)size + 2);

		ok = check(len) && check(fetch(c, got, (size_t)size + 2) == (ssize_t)len) &&
		     check(!memcmp(got, want, len));
	}
	free(got);
	free(want);
	free(text);
	return ok;
}

static bool test_pipe(struct client *c)
{
	return compare_pipe(c, read_pipe);
}

static bool test_pipe_stream(struct client *c)
{
	return !can_splice(c) || compare_pipe(c, stream_pipe);
}

struct waiting {
	struct tracefs_cpu *cpu;
	char page[PAGE_BYTES];
	int n;
};

static void *wait_for_page(void *arg)
{
	struct waiting *w = arg;

	w->n = tracefs_cpu_read(w->cpu, w->page, false);
	return NULL;
}

/* A reader that waits gets the page that comes; one that waits in vain is stopped. */
static bool test_cpu_waits(struct client *c)
{
	struct waiting w = {0};
	pthread_t thread;
	bool ok;

	if (!check(!tracefs_trace_off(c->instance)) || !check(!tracefs_tracer_clear(c->instance)) ||
	    !check(tracefs_instance_file_write(c->instance, "buffer_percent", "0") == 1))
		return false;
	w.cpu = tracefs_cpu_open(c->instance, 0, false);
	if (!check(w.cpu))
		return false;
	ok = check(!pthread_create(&thread, NULL, wait_for_page, &w)) &&
	     check(!tracefs_tracer_set(c->instance, TRACEFS_TRACER_FUNCTION) || errno == EBUSY);
	/* Written, for an open page file holds the tracer: on whichever vCPU that is shown. */
	ok = ok && check(!tracefs_trace_on(c->instance)) &&
	     check(!tracefs_printf(c->instance, "for the page"));
	if (ok)
		pthread_join(thread, NULL);
	ok = ok && check(w.n == PAGE_BYTES) &&
	     check(memmem(w.page, PAGE_BYTES, "for the page", 12));
	ok = ok && check(!pthread_create(&thread, NULL, wait_for_page, &w));
	tracefs_cpu_stop(w.cpu);
	if (ok)
		pthread_join(thread, NULL);
	ok = ok && check(w.n <= 0);
	tracefs_print_close(c->instance);
	tracefs_cpu_close(w.cpu);
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
		bool ok = tests[i].run(c);

		printf("%s - %s: %s\n", ok ? "ok" : "not ok", where, tests[i].name);
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
		{"so does what it streams, where FUSE files can be spliced", test_pipe_stream},
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
