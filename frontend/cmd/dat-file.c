// SPDX-License-Identifier: GPL-2.0-or-later
/* dat-file.c - see dat-file.h */
#include "frontend/cmd/dat-file.h"

#include "frontend/cmd/crash-line.h"
#include "frontend/cmd/dat-choice.h"
#include "frontend/lib/exit.h"
#include "frontend/lib/output.h"
#include "frontend/sandbox/sandbox.h"
#include "guestsym/guestsym.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* What is read of a file, and what libtraceevent makes of it. */
#define MEMORY_MAX (UINT64_C(4) << 30)

void dat_file_options_free(struct dat_file_options *opt)
{
	option_list_free(&opt->pids);
	option_list_free(&opt->comms);
	option_list_free(&opt->events);
	option_list_free(&opt->functions);
	option_list_free(&opt->filters);
}

/* --- times -------------------------------------------------------------------------------------
 */

/*
 * "12.345678": the times that are printed so, rounded as they are. Without a point also what a
 * clock counts that does not count nanoseconds.
 */
static bool read_time(const char *text, bool ns, uint64_t *first, uint64_t *last)
{
	uint64_t unit = ns ? 1000000000 : 1, whole, part = 0;
	char *end;

	errno = 0;
	whole = strtoull(text, &end, 10);
	if (end == text || errno || *text == '-' || whole > UINT64_MAX / unit - 1)
		return false;
	if (*end == '.' && ns)
		for (end++; *end >= '0' && *end <= '9' && unit > 1; end++) {
			unit /= 10;
			part += (uint64_t)(*end - '0') * unit;
		}
	if (*end)
		return false;
	whole = whole * (ns ? 1000000000 : 1) + part;
	/* Times are printed to the microsecond; what has fewer digits is not meant to be less
	 * exact. */
	if (unit > 1000)
		unit = ns ? 1000 : 1;
	*first = whole >= unit / 2 ? whole - unit / 2 : 0;
	*last = whole + (unit - 1) / 2;
	return true;
}

static void no_time(struct dat_file *f, const char *text)
{
	snprintf(f->err, sizeof(f->err), "'%s' is no time of this trace (%s)", text,
		 dat_counts_ns(dat_info(f->dat)) ? "such as 12.345678"
						 : "whose clock counts cycles");
}

static bool read_range(struct dat_file *f)
{
	const struct dat_file_options *opt = f->opt;
	bool ns = dat_counts_ns(dat_info(f->dat));
	uint64_t ignored;

	f->wanted.has_from = opt->from;
	f->wanted.has_to = opt->until;
	if (opt->from && !read_time(opt->from, ns, &f->wanted.from, &ignored))
		no_time(f, opt->from);
	else if (opt->until && !read_time(opt->until, ns, &ignored, &f->wanted.to))
		no_time(f, opt->until);
	else
		return true;
	return false;
}

/* --- opening -----------------------------------------------------------------------------------
 */

static struct select_list list_of(const struct option_list *l)
{
	return (struct select_list){l->values, l->nr};
}

/* Opening it for writing would empty it before it is read. */
static bool is_output(const struct stat *in, const char *out)
{
	struct stat st;

	return out && !stat(out, &st) && st.st_dev == in->st_dev && st.st_ino == in->st_ino;
}

/* Nobody else knows of it. */
static void remove_with_directory(const char *path)
{
	char dir[PATH_MAX];
	const char *slash = strrchr(path, '/');

	unlink(path);
	if (!slash || (size_t)(slash - path) >= sizeof(dir))
		return;
	snprintf(dir, sizeof(dir), "%.*s", (int)(slash - path), path);
	rmdir(dir);
}

/* What goes to a terminal, or a pager, says itself how far it is. */
static bool is_file(int fd)
{
	struct stat st;

	return !fstat(fd, &st) && !isatty(fd) && !S_ISFIFO(st.st_mode) && !S_ISSOCK(st.st_mode);
}

static bool is_socket(const char *path)
{
	struct stat st;

	return !stat(path, &st) && S_ISSOCK(st.st_mode);
}

/* Everything that takes a name: then the file is read, by who can open nothing else. */
static int open_file(struct dat_file *f, const char *path, const struct formats_config *plugins)
{
	const char *out = f->opt->out;
	struct stat st;
	int fd = guestsym_open_regular(path, &st);

	if (fd < 0) {
		snprintf(f->err, sizeof(f->err), "%s: %s%s", path,
			 fd == -EINVAL ? "it is not a regular file" : strerror(-fd),
			 fd == -EINVAL && is_socket(path)
				 ? " (the socket of a gdb stub is named gdb:unix:PATH)"
				 : "");
		return -1;
	}
	if (f->opt->temporary)
		remove_with_directory(path);
	if (is_output(&st, out)) {
		snprintf(f->err, sizeof(f->err), "%s: -o: it is the file that is read", out);
		return fd;
	}
	f->to_file = out || is_file(STDOUT_FILENO);
	meter_begin(&f->meter, path, "records");
	f->formats = formats_new(plugins);
	if (!f->formats)
		snprintf(f->err, sizeof(f->err), "no memory");
	return fd;
}

static void open_output(struct dat_file *f)
{
	const char *out = f->opt->out;
	int rc = f->opt->folder ? target_open_folder(&f->target, out)
				: target_open_file(&f->target, out, NULL);

	f->out = f->target.out;
	if (rc)
		snprintf(f->err, sizeof(f->err), "cannot write %s: %s",
			 out ? out : "to standard output", strerror(-rc));
}

/* False: one line says what is wrong. */
static bool choose(struct dat_file *f)
{
	const char *name = f->opt->buffer;

	f->buffer = RECORDS_ALL;
	if (f->part >= (int)dat_nr_parts(f->dat))
		snprintf(f->err, sizeof(f->err), "%s: it lies: it says that it has more guests",
			 dat_info(f->dat)->name);
	else if (f->part >= 0)
		dat_choose_part(f->dat, (size_t)f->part);
	else if (!f->opt->as_it_is)
		dat_choice(f->dat, name, &f->buffer, f->err, sizeof(f->err));
	if (f->opt->top && f->buffer == RECORDS_ALL)
		f->buffer = 0;
	return !*f->err;
}

static void show_progress(void *arg, const struct records_progress *p)
{
	meter_show(arg, p->done, p->all, p->nr);
}

static void open_records(struct dat_file *f)
{
	if (!choose(f) || formats_load(f->formats, dat_info(f->dat), f->err, sizeof(f->err)) ||
	    !read_range(f))
		return;
	f->select = select_new(&f->wanted, f->dat, f->formats, f->err, sizeof(f->err));
	f->unwanted = !f->select;
	if (f->unwanted)
		return;
	f->records = records_open(f->dat, f->buffer);
	if (!f->records) {
		snprintf(f->err, sizeof(f->err), "no memory");
		return;
	}
	records_select(f->records, select_wants, f->select);
	if (f->to_file)
		records_watch(f->records, show_progress, &f->meter);
}

/* What was opened is not given up yet. */
static int confine(struct dat_file *f)
{
	int rc = target_keep_rights(&f->target);

	if (rc)
		snprintf(f->err, sizeof(f->err), "a process cannot be started: %s", strerror(-rc));
	else if (!f->opt->no_sandbox)
		rc = sandbox_enter_folder(MEMORY_MAX, f->target.folder, f->err, sizeof(f->err));
	return rc;
}

static void read_file(struct dat_file *f, int fd, const char *path)
{
	char line[512];

	snprintf(
		line, sizeof(line),
		"hvtrace: %.256s: its formats are more than libtraceevent can cope with: it may be "
		"damaged, or made to do harm\n",
		path);
	crash_line_set(line);
	f->dat = dat_open_fd(fd, path, f->err, sizeof(f->err));
	if (!f->dat)
		return;
	if (!dat_nr_buffers(f->dat))
		snprintf(f->err, sizeof(f->err), "%s: it has no records", path);
	else
		open_records(f);
}

/* What one file knows nothing of, another one may: only what none has is a mistake. */
static void forgive(struct dat_file *files, size_t nr)
{
	size_t unwanted = 0;

	for (size_t i = 0; i < nr; i++)
		unwanted += files[i].unwanted;
	for (size_t i = 0; i < nr && unwanted < nr; i++)
		if (files[i].unwanted)
			*files[i].err = '\0';
}

/* Some file must know each of them. */
static void check_events(struct dat_file *files)
{
	const struct dat_file_options *opt = files->opt;

	for (size_t i = 0; files->wanted.known && i < opt->events.nr; i++)
		if (!files->wanted.known[i] && !*files->err)
			snprintf(files->err, sizeof(files->err), "no file knows an event %s",
				 opt->events.values[i]);
}

static struct dat_file *add_file(struct dat_file *files, size_t *nr, const char *path,
				 const struct dat_file_options *opt)
{
	struct dat_file *f = &files[(*nr)++];

	*f = (struct dat_file){
		.opt = opt,
		.path = path,
		.part = -1,
		.target = {.folder = -1},
		.wanted =
			{
				.cpus = opt->cpus,
				.pids = list_of(&opt->pids),
				.comms = list_of(&opt->comms),
				.events = list_of(&opt->events),
				.functions = list_of(&opt->functions),
				.filters = list_of(&opt->filters),
			},
	};
	return f;
}

/* How many guests it is to be taken apart into. */
static unsigned int parts_of(const struct dat_file_options *opt, int fd)
{
	return opt->buffer || opt->top || opt->as_it_is ? 0 : dat_parts_claimed(fd);
}

/* The file that was added last, and once more for each further guest in it: room of them in all. */
static void open_parts(struct dat_file *files, size_t room, size_t *nr, int *fds,
		       const struct formats_config *plugins)
{
	struct dat_file *first = &files[*nr - 1], *f;
	const int fd = open_file(first, first->path, plugins);
	unsigned int parts;

	fds[*nr - 1] = fd;
	parts = *first->err ? 0 : parts_of(first->opt, fd);
	if (parts)
		first->part = 0;
	for (unsigned int i = 1; i < parts && !*first->err; i++) {
		if (*nr == room) {
			snprintf(first->err, sizeof(first->err),
				 "%s: with its guests there are more files than %zu", first->path,
				 room);
			return;
		}
		f = add_file(files, nr, first->path, first->opt);
		f->part = (int)i;
		f->to_file = first->to_file;
		meter_begin(&f->meter, f->path, "records");
		f->formats = formats_new(plugins);
		fds[*nr - 1] = fcntl(fd, F_DUPFD_CLOEXEC, 3);
		if (!f->formats || fds[*nr - 1] < 0)
			snprintf(first->err, sizeof(first->err), "no memory");
	}
}

/* Before that nobody knows how many there are. */
static void open_paths(struct dat_file *files, size_t room, const char *const *paths, size_t *nr,
		       int *fds, const struct dat_file_options *opt,
		       const struct formats_config *plugins)
{
	const size_t nr_paths = *nr;
	bool failed = false;

	*nr = 0;
	for (size_t i = 0; i < nr_paths && !failed; i++) {
		struct dat_file *f;

		if (*nr == room) {
			snprintf(files->err, sizeof(files->err),
				 "%s: with the guests of others there are more files than %zu",
				 paths[i], room);
			return;
		}
		f = add_file(files, nr, paths[i], opt);
		open_parts(files, room, nr, fds, plugins);
		failed = *f->err;
	}
}

static void open_all(struct dat_file *files, size_t nr, const int *fds)
{
	open_output(files);
	if (*files->err || confine(files))
		return;
	for (size_t i = 0; i < nr; i++)
		read_file(&files[i], fds[i], files[i].path);
	forgive(files, nr);
	check_events(files);
}

static bool tell_error(const struct dat_file *files, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		if (!*files[i].err)
			continue;
		fprintf(stderr, "hvtrace: %s\n", files[i].err);
		return true;
	}
	return false;
}

static bool files_open(struct dat_file *files, size_t room, const char *const *paths, size_t *nr,
		       const struct dat_file_options *opt, const struct formats_config *plugins)
{
	bool *known = NULL;
	int fds[DAT_FILES_MAX], rc;

	open_paths(files, room, paths, nr, fds, opt, plugins);
	if (tell_error(files, *nr))
		return false;
	if (*nr > 1 && opt->events.nr)
		known = calloc(opt->events.nr, sizeof(*known));
	for (size_t i = 0; i < *nr; i++)
		files[i].wanted.known = known;
	open_all(files, *nr, fds);
	free(known);
	for (size_t i = 0; i < *nr; i++)
		files[i].wanted.known = NULL;
	if (tell_error(files, *nr))
		return false;
	rc = target_begin(&files->target);
	if (rc)
		snprintf(files->err, sizeof(files->err), "%s: it cannot be emptied: %s", opt->out,
			 strerror(-rc));
	return !tell_error(files, *nr);
}

bool dat_files_open(struct dat_file *files, const char *const *paths, size_t *nr,
		    const struct dat_file_options *opt, const struct formats_config *plugins)
{
	return files_open(files, DAT_FILES_MAX, paths, nr, opt, plugins);
}

bool dat_file_open(struct dat_file *f, const char *path, const struct dat_file_options *opt,
		   const struct formats_config *plugins)
{
	size_t nr = 1;

	return files_open(f, 1, &path, &nr, opt, plugins);
}

/* --- the end -----------------------------------------------------------------------------------
 */

static bool has_choice(const struct select_config *c)
{
	return c->cpus || c->pids.nr || c->comms.nr || c->events.nr || c->functions.nr ||
	       c->filters.nr || c->has_from || c->has_to;
}

void dat_files_tell_nothing(const struct dat_file *files, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		if (files[i].select && select_found(files[i].select))
			return;
	if (has_choice(&files->wanted))
		fprintf(stderr,
			"hvtrace: no event is chosen by all of these options (hvtrace report --list "
			"shows how many there are of each)\n");
}

int dat_file_tell_damage(struct dat_file *f)
{
	const char *error = f->records ? records_error(f->records) : NULL;
	uint64_t damaged = f->records ? records_damaged(f->records) : 0;

	meter_end(&f->meter);
	f->whole = true;
	if (error)
		fprintf(stderr, "hvtrace: %s\n", error);
	if (damaged)
		fprintf(stderr,
			"hvtrace: %s: %" PRIu64 " of its pages are damaged: records are missing\n",
			dat_info(f->dat)->name, damaged);
	return error || damaged ? EXIT_FAILED : EXIT_OK;
}

int dat_file_close(struct dat_file *f, int status)
{
	int rc;

	meter_end(&f->meter);
	rc = target_close(&f->target, f->whole);
	records_close(f->records);
	select_free(f->select);
	dat_close(f->dat);
	formats_free(f->formats);
	/* Nobody reads what would be printed: that is no failure. */
	if (!rc || (rc == -EPIPE && !f->opt->out))
		return status;
	if (status == EXIT_OK)
		fprintf(stderr, "hvtrace: cannot write %s: %s\n",
			f->opt->out ? f->opt->out : "to standard output", strerror(-rc));
	return EXIT_FAILED;
}
