// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * attach-many.c - see attach-many.h
 *
 * Each guest is recorded to a file of its own, with times of the host's clock, by a process of its
 * own. Where one output of all is wanted it is made of these files at the end.
 */
#include "frontend/cmd/attach-many.h"
#include "frontend/cmd/command.h"
#include "frontend/cmd/recording.h"
#include "frontend/dat/dat.h"
#include "frontend/fleet/collectors.h"
#include "frontend/join/join.h"
#include "frontend/lib/cancel.h"
#include "frontend/lib/file.h"
#include "frontend/lib/json.h"
#include "frontend/lib/output.h"
#include "frontend/lib/scratch.h"
#include "frontend/record/record.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* One time for all: sched_clock() of each guest begins with its boot. */
#define FLEET_CLOCK "host"

struct many {
	const struct attach_options *opt;
	const struct fleet_name *guest;
	size_t nr;
	bool kept;   /* a file for each guest is what is wanted */
	bool joined; /* a recording of all is */
	char *parts; /* of that: a folder beside it, which stays if it cannot be made */
	bool has_parts;
	struct scratch scratch;
	struct collector *collector;
	struct many_files *files; /* of each */
	bool unread;		  /* nobody else has what they have recorded: it stays */
};

/* Whatever guests are called, none of these is another's. */
struct many_files {
	char *trace;
	char *folder;  /* for this one alone; NULL: it is kept */
	char *summary; /* NULL: none is wanted */
};

/* --- one guest, in its process ------------------------------------------------------------------
 */

static int trace_one(void *arg, size_t i)
{
	const struct many *m = arg;
	struct attach_options opt = *m->opt;

	opt.target.name = m->guest[i].target;
	opt.session.output = m->files[i].trace;
	opt.session.record = true;
	opt.session.unheard = !m->kept;
	opt.session.summary = m->files[i].summary;
	if (!opt.session.clock)
		opt.session.clock = FLEET_CLOCK;
	opt.session.unheard |= opt.segment_ms != 0;
	return opt.segment_ms ? attach_segments(&opt) : attach_guest(&opt);
}

/* --- files --------------------------------------------------------------------------------------
 */

bool attach_output_is_folder(const char *output)
{
	struct stat st;
	size_t len = strlen(output);

	if (!strcmp(output, "-"))
		return false;
	return (len && output[len - 1] == '/') || (!stat(output, &st) && S_ISDIR(st.st_mode));
}

/* One line has said why not. */
static bool make_folder(const char *path)
{
	if (!mkdir(path, 0777) || errno == EEXIST)
		return true;
	fprintf(stderr, "hvtrace: no folder %s for the recordings: %s\n", path, strerror(errno));
	return false;
}

/* The same. Recordings that are there would be taken for those of this time. */
static bool make_parts(struct many *m)
{
	m->has_parts = !mkdir(m->parts, 0777);
	if (m->has_parts)
		return true;
	fprintf(stderr, "hvtrace: no folder %s for the recordings: %s%s\n", m->parts,
		strerror(errno),
		errno == EEXIST ? ": an earlier one has left them there: move them elsewhere" : "");
	return false;
}

/* The same. What is not kept nobody else is to see. */
static bool make_scratch(struct many *m)
{
	char err[512];
	const char *path = scratch_folder(&m->scratch, err, sizeof(err));
	int rc = !path || chmod(path, 0700) ? -errno : scratch_watch(&m->scratch);

	if (!path || rc)
		fprintf(stderr, "hvtrace: %s\n", path ? strerror(-rc) : err);
	return path && !rc;
}

/* NULL: no memory. */
static char *name_file(const char *format, ...)
{
	va_list ap;
	char *name;

	va_start(ap, format);
	if (vasprintf(&name, format, ap) < 0)
		name = NULL;
	va_end(ap);
	return name;
}

/* What is shown of several files is their names. */
static bool name_files(const struct many *m, size_t i)
{
	const char *output = m->opt->session.output, *name = m->guest[i].name;
	struct many_files *f = &m->files[i];

	if (m->opt->session.summary)
		f->summary = name_file("%s/%zu.json", m->scratch.path, i);
	if (m->kept || m->joined) {
		const char *folder = m->joined ? m->parts : output;

		f->trace = name_file("%s%s%s.dat", folder,
				     folder[strlen(folder) - 1] == '/' ? "" : "/", name);
		return f->trace && (f->summary || !m->opt->session.summary);
	}
	f->folder = name_file("%s/%zu", m->scratch.path, i);
	f->trace = name_file("%s/%zu/%s", m->scratch.path, i, name);
	return f->folder && f->trace && (f->summary || !m->opt->session.summary);
}

/* One line has said why not. */
static bool make_places(struct many *m)
{
	const char *output = m->opt->session.output;

	m->kept = attach_output_is_folder(output);
	m->joined = !m->kept && session_options_record(&m->opt->session);
	m->parts = m->joined ? name_file("%s.guests", output) : NULL;
	if ((m->kept && !make_folder(output)) || (m->parts && !make_parts(m)))
		return false;
	if (((!m->kept && !m->joined) || m->opt->session.summary) && !make_scratch(m))
		return false;
	m->files = calloc(m->nr, sizeof(*m->files));
	m->collector = calloc(m->nr, sizeof(*m->collector));
	for (size_t i = 0; i < m->nr; i++) {
		if (!m->files || !m->collector || (m->joined && !m->parts) || !name_files(m, i)) {
			fprintf(stderr, "hvtrace: no memory\n");
			return false;
		}
		m->collector[i].name = m->guest[i].name;
		if (m->files[i].folder && !make_folder(m->files[i].folder))
			return false;
	}
	return true;
}

/* Nobody else has put anything there but who would miss it. */
static void remove_parts(const struct many *m)
{
	char part[RECORD_PATH_MAX];

	for (size_t i = 0; m->files && i < m->nr; i++) {
		if (!m->files[i].trace)
			continue;
		unlink(m->files[i].trace);
		/* Of who was killed. */
		if (!record_part(m->files[i].trace, part))
			unlink(part);
	}
	if (rmdir(m->parts))
		fprintf(stderr, "hvtrace: the folder %s stays: %s\n", m->parts, strerror(errno));
}

/* What is shown of them could not be, or not all. */
static void keep_recordings(struct many *m)
{
	char *kept = m->joined ? NULL : scratch_keep(&m->scratch);

	if (m->joined || kept)
		fprintf(stderr, "hvtrace: what is recorded of each guest is in %s\n",
			kept ? kept : m->parts);
	else
		fprintf(stderr, "hvtrace: what is recorded of each guest cannot be kept: %s\n",
			strerror(errno));
	free(kept);
}

static void release(struct many *m)
{
	if (m->unread)
		keep_recordings(m);
	else if (m->has_parts)
		remove_parts(m);
	for (size_t i = 0; m->files && i < m->nr; i++) {
		free(m->files[i].trace);
		free(m->files[i].folder);
		free(m->files[i].summary);
	}
	free(m->files);
	free(m->collector);
	free(m->parts);
	scratch_remove(&m->scratch);
}

/* --- what comes of all --------------------------------------------------------------------------
 */

struct files {
	const char **path, **name;
	size_t nr;
};

static int print_files(const void *arg, const char *out)
{
	const struct files *f = arg;

	return report_files(f->path, f->nr, strcmp(out, "-") ? out : NULL);
}

static int join_all(const void *arg, const char *out)
{
	const struct files *f = arg;
	struct join_result result = {0};
	const struct join_options opt = {
		.out = out,
		.paths = f->path,
		.names = f->name,
		.nr = f->nr,
		.result = &result,
	};
	char err[512], size[RECORD_SIZE_LEN];

	if (join_files(&opt, err, sizeof(err))) {
		fprintf(stderr, "hvtrace: %s\n", err);
		return EXIT_FAILED;
	}
	fprintf(stderr, "hvtrace: %s: %s, %" PRIu64 " events of %zu guests\n", out,
		record_size(result.size, size), result.events, f->nr);
	return EXIT_OK;
}

/* Whoever was killed before it had recorded anything has left a file without anything. */
static bool has_recorded(const struct many *m, size_t i)
{
	int fd = open(m->files[i].trace, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	bool has = fd >= 0 && dat_has_begun(fd);

	if (fd < 0)
		return false;
	close(fd);
	if (!has)
		fprintf(stderr,
			"hvtrace: %s: its process has ended before it had recorded anything\n",
			m->guest[i].name);
	return has;
}

/* Who has what is printed wants no more of it, or whoever waits for it has asked to end. */
static bool is_enough(int status)
{
	struct pollfd out = {.fd = STDOUT_FILENO};

	return status == CANCEL_STATUS(SIGINT) || status == CANCEL_STATUS(SIGTERM) ||
	       (poll(&out, 1, 0) > 0 && out.revents & POLLERR);
}

/* Those that have recorded something, in one view, or one recording. */
static int put_all(struct many *m)
{
	struct files f = {.path = calloc(m->nr, sizeof(*f.path)),
			  .name = calloc(m->nr, sizeof(*f.name))};
	int status = EXIT_FAILED;

	for (size_t i = 0; f.path && f.name && i < m->nr; i++)
		if (has_recorded(m, i)) {
			f.name[f.nr] = m->guest[i].name;
			f.path[f.nr++] = m->files[i].trace;
		}
	if (f.nr)
		status = recording_apart(m->joined ? join_all : print_files, &f,
					 m->opt->session.output);
	m->unread = !f.path || !f.name || (f.nr && status && (m->joined || !is_enough(status)));
	free(f.path);
	free(f.name);
	return status;
}

static void put_silent(struct json *j, void *arg)
{
	const struct collector *c = arg;

	json_begin_object(j, NULL);
	json_put_number(j, "status", (uint64_t)c->status);
	json_put_text(j, "guest", c->name);
	json_end_object(j);
}

/* Of one that was killed, before or while it has said something, there is no more than that. */
static void put_summary(const struct many *m, size_t i, struct text *all)
{
	struct file_bytes one = {0};

	if (!file_read(&one, m->files[i].summary) && one.len > 2 &&
	    !memcmp((const char *)one.data + one.len - 2, "}\n", 2))
		text_add(all, one.data, one.len);
	else
		json_to_text(put_silent, &m->collector[i], all);
	while (all->len && all->buf[all->len - 1] == '\n')
		all->len--;
	file_free(&one);
}

/* An array of what each has said. */
static int put_summaries(const struct many *m)
{
	const char *to = m->opt->session.summary;
	struct text all = {0};

	text_printf(&all, "[");
	for (size_t i = 0; i < m->nr; i++) {
		text_puts(&all, i ? ",\n" : "\n");
		put_summary(m, i, &all);
	}
	text_puts(&all, "\n]\n");
	return output_write(&all, strcmp(to, "-") ? to : NULL);
}

/* That of the first that has failed. */
static int status_of(const struct collector *c, size_t nr, const char *what)
{
	size_t failed = 0;
	int status = EXIT_OK;

	for (size_t i = 0; i < nr; i++) {
		if (c[i].status && !failed++)
			status = c[i].status;
	}
	if (failed && failed < nr)
		fprintf(stderr, "hvtrace: %zu of %zu guests were not %s\n", failed, nr, what);
	return status;
}

/* --- what was killed ----------------------------------------------------------------------------
 */

struct recovery {
	const struct attach_options *opt;
	const struct fleet_name *guest;
};

static int recover_one(void *arg, size_t i)
{
	const struct recovery *r = arg;
	struct attach_options opt = *r->opt;

	opt.target.name = r->guest[i].target;
	opt.target.recover = true;
	return recover_guest(&opt);
}

int recover_many(const struct attach_options *opt, const struct fleet_name *guests, size_t nr)
{
	struct recovery r = {opt, guests};
	struct collector *c = calloc(nr, sizeof(*c));
	int signo, status;

	if (!c) {
		fprintf(stderr, "hvtrace: no memory\n");
		return EXIT_FAILED;
	}
	for (size_t i = 0; i < nr; i++)
		c[i].name = guests[i].name;
	signo = collectors_run(c, nr, recover_one, &r);
	status = status_of(c, nr, "recovered");
	free(c);
	return signo && status ? CANCEL_STATUS(signo) : status;
}

/* A process that was killed, or died, could not let go of its guest. */
static void recover_killed(const struct many *m)
{
	struct fleet_name *guests = calloc(m->nr, sizeof(*guests));
	size_t nr = 0;

	for (size_t i = 0; guests && i < m->nr; i++)
		if (m->collector[i].killed)
			guests[nr++] = m->guest[i];
	if (nr)
		recover_many(m->opt, guests, nr);
	free(guests);
}

/* --- all ----------------------------------------------------------------------------------------
 */

static int trace_all(struct many *m)
{
	int signo, status, printed;

	signo = collectors_run(m->collector, m->nr, trace_one, m);
	recover_killed(m);
	status = status_of(m->collector, m->nr, "traced to the end");
	printed = m->kept ? EXIT_OK : put_all(m);
	if (!status)
		status = printed;
	if (m->opt->session.summary && put_summaries(m) && !status)
		status = EXIT_FAILED;
	return signo && status ? CANCEL_STATUS(signo) : status;
}

/* One line says what does not go with several guests. */
static bool check(const struct attach_options *opt, size_t nr)
{
	const struct session_options *s = &opt->session;
	const char *what = NULL;

	if (nr > JOIN_FILES_MAX && session_options_record(s) &&
	    !attach_output_is_folder(s->output)) {
		fprintf(stderr,
			"hvtrace: %zu guests are too many for one file, which has %d at most: -o DIR/ "
			"makes one for each\n",
			nr, JOIN_FILES_MAX);
		return false;
	}
	if (s->mount_dir)
		what = "--mount: each of several guests has a mount of its own, below "
		       "$XDG_RUNTIME_DIR/hvtrace or /run/hvtrace";
	else if (s->host_events.nr && !attach_output_is_folder(s->output))
		what = "--host-events of several guests: -o DIR/ says where the files of each go";
	else if (opt->segment_ms && !attach_output_is_folder(s->output))
		what = "--segment of several guests: -o DIR/ says where the files of each go";
	else if (strcmp(s->format, "trace") != 0)
		what = "--format: what several guests have is printed as hvtrace report does";
	if (what)
		fprintf(stderr, "hvtrace: %s\n", what);
	return !what;
}

int attach_many(const struct attach_options *opt, const struct fleet_name *guests, size_t nr)
{
	struct many m = {.opt = opt, .guest = guests, .nr = nr};
	int status = EXIT_FAILED;

	if (!check(opt, nr))
		return EXIT_USAGE;
	if (make_places(&m))
		status = trace_all(&m);
	release(&m);
	return status;
}
