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
#include "frontend/fleet/collectors.h"
#include "frontend/lib/cancel.h"
#include "frontend/lib/file.h"
#include "frontend/lib/output.h"
#include "frontend/lib/scratch.h"

#include <errno.h>
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
	bool kept; /* a file for each guest is what is wanted */
	struct scratch scratch;
	const char *dir; /* where these files are */
	struct collector *collector;
	char **path, **summary; /* of each */
};

/* --- one guest, in its process ------------------------------------------------------------------
 */

static int trace_one(void *arg, size_t i)
{
	const struct many *m = arg;
	struct attach_options opt = *m->opt;

	opt.target.name = m->guest[i].target;
	opt.session.output = m->path[i];
	opt.session.record = true;
	opt.session.unheard = !m->kept;
	opt.session.summary = m->summary[i];
	if (!opt.session.clock)
		opt.session.clock = FLEET_CLOCK;
	opt.session.unheard |= opt.segment_ms != 0;
	return opt.segment_ms ? attach_segments(&opt) : attach_guest(&opt);
}

/* --- files --------------------------------------------------------------------------------------
 */

/* "DIR/", or a directory that is there. */
static bool is_folder(const char *output)
{
	struct stat st;
	size_t len = strlen(output);

	return (len && output[len - 1] == '/') || (!stat(output, &st) && S_ISDIR(st.st_mode));
}

/* One line has said why not. */
static bool choose_folder(struct many *m)
{
	const char *output = m->opt->session.output;
	char err[512];

	m->kept = is_folder(output);
	if (m->kept) {
		m->dir = output;
		if (!mkdir(output, 0777) || errno == EEXIST)
			return true;
		fprintf(stderr, "hvtrace: no folder %s for the recordings: %s\n", output,
			strerror(errno));
		return false;
	}
	m->dir = scratch_folder(&m->scratch, err, sizeof(err));
	if (m->dir && !chmod(m->dir, 0700))
		return true;
	fprintf(stderr, "hvtrace: %s\n", m->dir ? strerror(errno) : err);
	return false;
}

/* What is shown of several files is their names. */
static bool name_files(struct many *m)
{
	const char *slash = m->dir[strlen(m->dir) - 1] == '/' ? "" : "/";
	const char *end = m->kept ? ".dat" : "";
	bool summary = m->opt->session.summary;

	m->path = calloc(m->nr, sizeof(*m->path));
	m->summary = calloc(m->nr, sizeof(*m->summary));
	m->collector = calloc(m->nr, sizeof(*m->collector));
	for (size_t i = 0; m->path && m->summary && m->collector && i < m->nr; i++) {
		m->collector[i].name = m->guest[i].name;
		if (asprintf(&m->path[i], "%s%s%s%s", m->dir, slash, m->guest[i].name, end) < 0)
			m->path[i] = NULL;
		if (summary &&
		    asprintf(&m->summary[i], "%s%s%s.json", m->dir, slash, m->guest[i].name) < 0)
			m->summary[i] = NULL;
		if (!m->path[i] || (summary && !m->summary[i]))
			break;
		if (i + 1 == m->nr)
			return true;
	}
	fprintf(stderr, "hvtrace: no memory\n");
	return false;
}

static void release(struct many *m)
{
	for (size_t i = 0; i < m->nr; i++) {
		if (m->path)
			free(m->path[i]);
		if (m->summary)
			free(m->summary[i]);
	}
	free(m->path);
	free(m->summary);
	free(m->collector);
	scratch_remove(&m->scratch);
}

/* --- what comes of all --------------------------------------------------------------------------
 */

struct files {
	const char **path;
	size_t nr;
};

static int print_files(const void *arg, const char *out)
{
	const struct files *f = arg;

	return report_files(f->path, f->nr, strcmp(out, "-") ? out : NULL);
}

/* Those that have recorded something, in one view. */
static int print_all(const struct many *m)
{
	struct files f = {.path = calloc(m->nr, sizeof(*f.path))};
	int status = EXIT_FAILED;

	for (size_t i = 0; f.path && i < m->nr; i++)
		if (!access(m->path[i], F_OK))
			f.path[f.nr++] = m->path[i];
	if (f.nr)
		status = recording_apart(print_files, &f, m->opt->session.output);
	free(f.path);
	return status;
}

/* An array of what each has said; one that has said nothing is told by its name alone. */
static int put_summaries(const struct many *m)
{
	const char *to = m->opt->session.summary;
	struct text all = {0};

	text_printf(&all, "[");
	for (size_t i = 0; i < m->nr; i++) {
		struct file_bytes one;

		text_printf(&all, "%s\n", i ? "," : "");
		if (file_read(&one, m->summary[i])) {
			text_printf(&all, "{\"status\": %d}\n", m->collector[i].status);
		} else {
			text_printf(&all, "%.*s", (int)one.len, (const char *)one.data);
			file_free(&one);
		}
		if (m->kept)
			unlink(m->summary[i]);
	}
	text_printf(&all, "]\n");
	return output_write(&all, strcmp(to, "-") ? to : NULL);
}

/* That of the first that has failed. */
static int status_of(const struct many *m)
{
	size_t failed = 0;
	int status = EXIT_OK;

	for (size_t i = 0; i < m->nr; i++) {
		if (m->collector[i].status && !failed++)
			status = m->collector[i].status;
	}
	if (failed && failed < m->nr)
		fprintf(stderr, "hvtrace: %zu of %zu guests were not traced to the end\n", failed,
			m->nr);
	return status;
}

static int trace_all(struct many *m)
{
	int signo, status, printed;

	signo = collectors_run(m->collector, m->nr, trace_one, m);
	status = status_of(m);
	printed = m->kept ? EXIT_OK : print_all(m);
	if (!status)
		status = printed;
	if (m->opt->session.summary && put_summaries(m) && !status)
		status = EXIT_FAILED;
	return signo && status ? CANCEL_STATUS(signo) : status;
}

/* One line says what does not go with several guests. */
static bool check(const struct attach_options *opt)
{
	const struct session_options *s = &opt->session;
	const char *what = NULL;

	if (s->mount_dir)
		what = "--mount: each of several guests has a mount of its own, below "
		       "$XDG_RUNTIME_DIR/hvtrace or /run/hvtrace";
	else if (s->host_events.nr && !is_folder(s->output))
		what = "--host-events of several guests: -o DIR/ says where the files of each go";
	else if (session_options_record(s) && !is_folder(s->output))
		what = "several guests are recorded to a file each: -o DIR/ says where";
	else if (opt->segment_ms && !is_folder(s->output))
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

	if (!check(opt))
		return EXIT_USAGE;
	if (choose_folder(&m) && name_files(&m))
		status = trace_all(&m);
	release(&m);
	return status;
}
