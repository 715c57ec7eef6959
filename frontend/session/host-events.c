// SPDX-License-Identifier: GPL-2.0-or-later
/* host-events.c - see host-events.h */
#include "frontend/session/host-events.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "frontend/decode/several.h"
#include "frontend/host/host.h"
#include "frontend/lib/exit.h"
#include "frontend/report/exits.h"

#define THREADS_MS 1000 /* until vCPUs that were just started have threads */

struct host_events {
	char path[RECORD_PATH_MAX]; /* of the file; empty: there is none, all is printed */
	struct record *record;
	struct host *host; /* NULL: not begun, or it cannot be */
	char name[64];	   /* of the instance, since it has begun */
	char guest[256];
	uint64_t trace_id, guest_id;
	struct host_vcpu vcpus[MACHINE_MAX_VCPUS];
	size_t nr_vcpus;
	struct formats *formats[2]; /* for who prints: of the host's events, and of the guest's */
	struct exits *exits;	    /* that were counted at the end */
	bool finished;
	struct summary_host result;
};

/* --- before ----------------------------------------------------------------------------------- */

/* guest1.dat: guest1-host.dat. */
static bool name_file(struct host_events *h, const char *guest)
{
	size_t len = strlen(guest);
	bool dat = len > 4 && !strcmp(guest + len - 4, ".dat");

	return snprintf(h->path, sizeof(h->path), "%.*s-host%s", (int)(dat ? len - 4 : len), guest,
			dat ? ".dat" : "") < (int)sizeof(h->path);
}

static int open_record(struct session *s, struct host_events *h)
{
	const bool file = session_options_record(s->opt);
	const struct record_config cfg = {
		.path = file ? h->path : NULL,
		.version = session_options_version(s->opt),
		.zstd = file && session_options_zstd(s->opt),
	};

	if (file && !name_file(h, s->opt->output)) {
		snprintf(s->err, sizeof(s->err), "%s: its name is too long", s->opt->output);
		return -1;
	}
	h->record = record_open(&cfg, s->err, sizeof(s->err));
	return h->record ? 0 : -1;
}

/* Plugins of libtraceevent are files, too. */
static int open_formats(struct session *s, struct host_events *h)
{
	const struct formats_config plugins = {.no_plugins = false};

	for (size_t i = 0; i < 2 && !session_options_record(s->opt); i++) {
		h->formats[i] = formats_new(&plugins);
		if (h->formats[i])
			continue;
		snprintf(s->err, sizeof(s->err), "no memory");
		return -1;
	}
	return 0;
}

void host_events_clean(void)
{
	char why[256];
	int tracefs = host_tracefs_open(why, sizeof(why));

	if (tracefs < 0)
		return;
	host_clean(tracefs);
	close(tracefs);
}

static int find_events(struct session *s, int tracefs)
{
	const struct option_list *events = &s->opt->host_events;
	size_t which;

	if (!host_events_exist(tracefs, events->values, events->nr, &which))
		return 0;
	snprintf(s->err, sizeof(s->err), "--host-events %s: this host's kernel has no such event",
		 events->values[which]);
	return -1;
}

int host_events_open(struct session *s)
{
	struct host_events *h;
	char why[256];
	int tracefs, rc;

	if (!s->opt->host_events.nr)
		return 0;
	tracefs = host_tracefs_open(why, sizeof(why));
	if (tracefs < 0) {
		fprintf(stderr, "hvtrace: no events of the host: %s\n", why);
		return 0;
	}
	host_clean(tracefs);
	rc = find_events(s, tracefs);
	close(tracefs);
	h = rc ? NULL : calloc(1, sizeof(*h));
	if (!h)
		return -1;
	s->host = h;
	h->trace_id = record_new_id();
	h->guest_id = record_new_id();
	return open_record(s, h) || open_formats(s, h) ? -1 : 0;
}

void host_events_name(struct host_events *h, const char *guest, uint64_t *guest_id,
		      uint64_t *host_id)
{
	if (!h)
		return;
	snprintf(h->guest, sizeof(h->guest), "%s", guest);
	*guest_id = h->guest_id;
	*host_id = h->trace_id;
}

/* --- the beginning ---------------------------------------------------------------------------- */

/* It has just been started. */
static int wait_for_thread(struct machine *m, unsigned int vcpu, pid_t *tid)
{
	const struct timespec ms = {.tv_nsec = 1000000};
	int rc = machine_get_thread(m, vcpu, tid);

	for (int i = 0; i < THREADS_MS && rc == -EAGAIN; i++) {
		nanosleep(&ms, NULL);
		rc = machine_get_thread(m, vcpu, tid);
	}
	return rc;
}

static size_t find_vcpus(const struct session *s, struct host_vcpu *vcpus)
{
	struct machine_info info;
	size_t n = 0;

	machine_get_info(s->m, &info);
	for (unsigned int i = 0; i < info.vcpus && i < MACHINE_MAX_VCPUS; i++) {
		vcpus[n].vcpu = i;
		if (!wait_for_thread(s->m, i, &vcpus[n].tid))
			n++;
	}
	return n;
}

static int begin(struct session *s, int tracefs, char *why, size_t len)
{
	struct host_events *h = s->host;
	struct host_config cfg = {
		.tracefs = tracefs,
		.events = s->opt->host_events.values,
		.nr_events = s->opt->host_events.nr,
		.vcpus = h->vcpus,
		.nr_vcpus = h->nr_vcpus,
		.trace_id = h->trace_id,
		.guest = h->guest,
		.guest_id = h->guest_id,
		.ticks = s->shift.ticks,
	};
	struct record_source source;
	int rc;

	if (!h->nr_vcpus) {
		snprintf(why, len, "which of its threads run the vCPUs cannot be told");
		return -1;
	}
	host_boot_id(cfg.boot_id);
	h->host = host_begin(&cfg, why, len);
	if (!h->host)
		return -1;
	snprintf(h->name, sizeof(h->name), "%s", host_name(h->host));
	source = host_source(h->host);
	rc = record_start_source(h->record, &source);
	if (rc)
		snprintf(why, len, "cannot record: %s", strerror(-rc));
	return rc;
}

/* Whoever may be recording already ends before what he reads goes. */
static void give_up(struct host_events *h, int tracefs)
{
	record_close(h->record);
	h->record = NULL;
	host_free(h->host);
	h->host = NULL;
	if (*h->name)
		host_remove(tracefs, h->name);
	*h->name = '\0';
}

void host_events_begin(struct session *s)
{
	int tracefs, rc;
	char why[256];

	if (!s->host)
		return;
	s->host->nr_vcpus = find_vcpus(s, s->host->vcpus);
	tracefs = host_tracefs_open(why, sizeof(why));
	rc = tracefs < 0 ? tracefs : begin(s, tracefs, why, sizeof(why));
	if (rc) {
		fprintf(stderr, "hvtrace: no events of the host: %s\n", why);
		give_up(s->host, tracefs);
	}
	if (tracefs >= 0)
		close(tracefs);
}

/* --- the end ---------------------------------------------------------------------------------- */

void host_events_stop(struct host_events *h)
{
	if (h && h->host)
		record_let_go(h->record);
}

int host_events_remove(const struct host_events *h)
{
	char why[256];
	int tracefs = h && *h->name ? host_tracefs_open(why, sizeof(why)) : -ENOENT, rc;

	if (tracefs < 0)
		return tracefs;
	rc = host_remove(tracefs, h->name);
	close(tracefs);
	return rc;
}

int host_events_place(const struct host_events *h)
{
	return record_place(h->path);
}

/* Everything of it is closed first: one that is in use stays. */
static void let_go(struct session *s)
{
	struct host_events *h = s->host;

	host_free(h->host);
	h->host = NULL;
	if (*h->name)
		session_remove_host(s);
}

/* A file that is whole, to be read. */
static bool open_file(const struct record *r, const char *name, struct formats *formats,
		      struct several_file *f)
{
	char err[512] = "";
	int fd = record_reopen(r);

	f->formats = formats;
	if (fd >= 0)
		f->dat = dat_open_fd(fd, name, err, sizeof(err));
	if (f->dat && f->formats && !formats_load(formats, dat_info(f->dat), err, sizeof(err)))
		f->records = records_open(f->dat, RECORDS_ALL);
	if (!f->records && *err)
		fprintf(stderr, "hvtrace: %s\n", err);
	return f->records;
}

static void close_file(struct several_file *f)
{
	print_free(f->print);
	records_close(f->records);
	dat_close(f->dat);
}

/* --- what there was --------------------------------------------------------------------------- */

static void count(struct host_events *h, struct several_file *f)
{
	struct exits *e = exits_new(f->formats, NULL, NULL);
	const struct decode_event *ev;

	if (!e)
		return;
	for (size_t i = 0; i < h->nr_vcpus; i++)
		exits_vcpu(e, h->vcpus[i].vcpu, h->vcpus[i].tid);
	while ((ev = records_next(f->records))) {
		h->result.events++;
		h->result.lost |= ev->lost != 0;
		exits_event(e, ev);
	}
	exits_print(e, stderr);
	h->exits = e;
	h->result.exits = e;
	if (h->result.lost)
		fprintf(stderr, "hvtrace: events of the host are lost: they came faster than they "
				"were read\n");
}

static void say_exits(struct host_events *h)
{
	const struct formats_config plain = {.no_plugins = true};
	struct formats *formats = formats_new(&plain);
	struct several_file f = {0};

	if (open_file(h->record, *h->path ? h->path : "host", formats, &f))
		count(h, &f);
	close_file(&f);
	formats_free(formats);
}

int host_events_finish(struct session *s)
{
	struct host_events *h = s->host;
	char size[RECORD_SIZE_LEN], bytes[RECORD_SIZE_LEN];
	struct record_result result;
	int rc;

	if (!h || !*h->name)
		return EXIT_OK;
	rc = record_finish(h->record, NULL, NULL, &result);
	let_go(s);
	if (!rc)
		say_exits(h);
	if (!rc && *h->path)
		rc = session_place_host(s);
	if (!rc)
		rc = result.lost;
	h->finished = true;
	h->result.file = (struct summary_file){
		.opened = *h->path && !rc,
		.path = *h->path ? h->path : NULL,
		.recorded = true,
		.sized = true,
		.bytes = result.size,
		.record_bytes = result.bytes,
		.error = rc,
	};
	if (rc) {
		fprintf(stderr, "hvtrace: events of the host are not all there: %s\n",
			strerror(-rc));
		return EXIT_FAILED;
	}
	if (*h->path)
		fprintf(stderr, "hvtrace: %s: %s, %s of records\n", h->path,
			record_size(result.size, size), record_size(result.bytes, bytes));
	return EXIT_OK;
}

/* --- both as text ----------------------------------------------------------------------------- */

static int print_files(struct several_file *files, size_t nr, FILE *out)
{
	const struct print_config cfg = {.no_buffer = nr > 1};

	for (size_t i = 0; i < nr; i++) {
		struct several_file *f = &files[i];

		f->print = print_new(f->dat, f->formats, f->records, &cfg);
		if (!f->print)
			return -ENOMEM;
	}
	several_print(files, nr, out);
	return 0;
}

int host_events_print(struct session *s)
{
	struct host_events *h = s->host;
	struct several_file files[2] = {0};
	size_t nr = 0;
	int rc = -EIO;

	if (*h->name && open_file(h->record, "host", h->formats[0], &files[nr]))
		nr++;
	if (open_file(s->record, h->guest, h->formats[1], &files[nr]))
		nr++;
	if (nr)
		rc = print_files(files, nr, s->out);
	for (size_t i = 0; i < 2; i++)
		close_file(&files[i]);
	return rc;
}

const struct summary_host *host_events_result(const struct host_events *h)
{
	return h && h->finished ? &h->result : NULL;
}

void host_events_close(struct session *s)
{
	struct host_events *h = s->host;

	if (!h)
		return;
	record_close(h->record);
	let_go(s);
	for (size_t i = 0; i < 2; i++)
		formats_free(h->formats[i]);
	exits_free(h->exits);
	free(h);
	s->host = NULL;
}
