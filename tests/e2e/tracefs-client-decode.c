// SPDX-License-Identifier: GPL-2.0-or-later
/* tracefs-client-decode.c - records of a trace, decoded from its text and from its pages. */
#include "tests/e2e/tracefs-client.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A flag of newer kernels' than libtraceevent 1.7 knows of. */
enum { PREEMPT_RESCHED = 1 << 5 };

/* NOLINTBEGIN(cert-err34-c): a number that is too large is not the one that was decoded */
struct record *records_add(struct records *r)
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

bool records_from_text(struct client *c, struct records *r)
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

bool records_read(struct client *c, struct records *r)
{
	return records_from_cpus(c, r, read_page);
}

bool records_spliced(struct client *c, struct records *r)
{
	return records_from_cpus(c, r, read_buffered);
}

bool records_iterated(struct client *c, struct records *r)
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
bool records_written(struct client *c, struct records *r)
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
void sort_records(struct records *r)
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

bool same_records(const struct records *text, const struct records *pages)
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
/* NOLINTEND(cert-err34-c) */
