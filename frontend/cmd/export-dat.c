// SPDX-License-Identifier: GPL-2.0-or-later
/* export-dat.c - see export-dat.h */
#include "frontend/cmd/export-dat.h"

#include "frontend/cmd/crash-line.h"
#include "frontend/join/join.h"
#include "frontend/lib/exit.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* It does not say why. */
#define LIBRARY_FAILED "libbabeltrace2 could not write it: is there no room left?"

bool export_dat_check(const struct export_format *format)
{
	const char *missing = export_missing(format);

	if (missing)
		fprintf(stderr, "hvtrace: %s\n", missing);
	return !missing;
}

/* What is not in it as it was in the file. */
static void tell(const struct export_result *r, const char *path)
{
	const struct {
		uint64_t nr;
		const char *what;
	} all[] = {
		{r->unbegun, "slices without a begin in the trace, left out"},
		{r->unended, "slices without an end in the trace, ended with what is around them"},
		{r->late, "events whose times go back, put right"},
		{r->left_out, "events left out, which make no sense or are too many"},
	};

	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
		if (all[i].nr)
			fprintf(stderr, "hvtrace: %s: %s: %" PRIu64 "\n", path, all[i].what,
				all[i].nr);
}

/* --- whose files they are ----------------------------------------------------------------------
 */

/* What is exported together. */
struct exporting {
	struct export_input in[DAT_FILES_MAX];
	char title[DAT_FILES_MAX][256];
	size_t nr;
	const struct dat_file *host;
};

/* Of some other one. */
static bool is_host(const struct dat_file *files, size_t nr, size_t i)
{
	for (size_t k = 0; k < nr; k++)
		if (k != i && export_is_host(files[i].dat, files[k].dat))
			return true;
	return false;
}

/* False: there are two. */
static bool find_host(struct exporting *e, const struct dat_file *files, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		if (!is_host(files, nr, i))
			continue;
		if (e->host) {
			fprintf(stderr,
				"hvtrace: %s and %s are both of a host: one can be exported\n",
				dat_title(e->host->dat), dat_title(files[i].dat));
			return false;
		}
		e->host = &files[i];
	}
	return true;
}

/* The guest's name, or that of its file. */
static void make_title(const struct dat *d, char *title, size_t size)
{
	const char *name = dat_title(d), *slash = strrchr(name, '/');
	size_t len;

	name = slash ? slash + 1 : name;
	len = strlen(name);
	if (len > 4 && !strcmp(name + len - 4, ".dat"))
		len -= 4;
	snprintf(title, size, "%.*s", (int)len, name);
}

static void add_guests(struct exporting *e, const struct dat_file *files, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		const struct dat_file *f = &files[i];
		struct export_input *in = &e->in[e->nr];

		if (f == e->host || !f->records)
			continue;
		make_title(f->dat, e->title[e->nr], sizeof(e->title[e->nr]));
		*in = (struct export_input){
			.dat = f->dat,
			.formats = f->formats,
			.records = f->records,
			.folder = files->target.inner,
			.title = e->title[e->nr],
			.machine = (unsigned int)e->nr + 1,
		};
		e->nr++;
		if (e->host && export_is_host(e->host->dat, f->dat))
			in->host = (struct export_file){e->host->dat, e->host->formats,
							e->host->records};
	}
	if (e->nr != 1)
		return;
	e->in->machine = 0;
	e->in->title = NULL;
}

static bool is_same(const struct dat *a, const struct dat *b)
{
	const struct dat_info *x = dat_info(a), *y = dat_info(b);

	return x->has_trace_id && y->has_trace_id && x->trace_id == y->trace_id;
}

/* One line says what does not go together. */
static bool go_together(const struct exporting *e, const struct export_format *format)
{
	const struct export_input *a = &e->in[0];

	for (size_t i = 1; i < e->nr; i++) {
		const struct export_input *b = &e->in[i];

		if (!export_takes_several(format)) {
			fprintf(stderr,
				"hvtrace: %s and %s are of two guests, for which the format has no place: "
				"export them one by one, or --to perfetto\n",
				dat_title(a->dat), dat_title(b->dat));
			return false;
		}
		if (is_same(a->dat, b->dat)) {
			fprintf(stderr, "hvtrace: %s and %s are one recording\n", dat_title(a->dat),
				dat_title(b->dat));
			return false;
		}
		/* Those of one file are of one clock. */
		if (!(dat_info(a->dat)->part && dat_info(b->dat)->part) &&
		    !join_is_one_axis(a->dat, b->dat)) {
			fprintf(stderr,
				"hvtrace: the times of %s and %s are not of one clock (hvtrace merge "
				"--own-times joins them as they are)\n",
				dat_title(a->dat), dat_title(b->dat));
			return false;
		}
	}
	return true;
}

static bool choose(struct exporting *e, const struct export_format *format,
		   const struct dat_file *files, size_t nr)
{
	if (!find_host(e, files, nr))
		return false;
	add_guests(e, files, nr);
	if (e->nr)
		return go_together(e, format);
	fprintf(stderr, "hvtrace: %s has nothing of what is wanted\n", dat_info(files->dat)->name);
	return false;
}

/* --- exporting ---------------------------------------------------------------------------------
 */

static int export_all(const struct export_format *format, struct exporting *e,
		      struct dat_file *files, size_t nr)
{
	const char *name = dat_info(e->in->dat)->name;
	struct export_result result;
	int rc, status = EXIT_OK;

	if (e->host && !export_takes_host(format))
		fprintf(stderr,
			"hvtrace: %s is left out: a host's events have no place in this format\n",
			dat_info(e->host->dat)->name);
	rc = export_write_several(format, e->in, e->nr, files->out, &result);
	for (size_t i = 0; i < nr; i++)
		meter_end(&files[i].meter);
	if (rc) {
		fprintf(stderr, "hvtrace: %s: %s\n", name,
			rc == -EIO ? LIBRARY_FAILED : strerror(-rc));
		return EXIT_FAILED;
	}
	tell(&result, name);
	dat_files_tell_nothing(files, nr);
	for (size_t i = 0; i < nr; i++)
		if (dat_file_tell_damage(&files[i]))
			status = EXIT_FAILED;
	return status;
}

/* It may end the process where it cannot write. */
static void expect_library(const char *path)
{
	char line[512];

	snprintf(line, sizeof(line), "hvtrace: %.256s: " LIBRARY_FAILED "\n", path);
	crash_line_set(line);
}

int export_dat(const struct export_format *format, const struct dat_file_options *opt,
	       const char *const *paths, size_t nr)
{
	const struct formats_config no_plugins = {.no_plugins = true};
	/* One of several guests becomes several. */
	struct dat_file *files = calloc(DAT_FILES_MAX, sizeof(*files));
	struct exporting *e = calloc(1, sizeof(*e));
	int status = EXIT_FAILED;

	if (!files || !e) {
		fprintf(stderr, "hvtrace: no memory\n");
		nr = 0;
	} else if (dat_files_open(files, paths, &nr, opt, &no_plugins)) {
		if (opt->folder)
			expect_library(paths[0]);
		if (choose(e, format, files, nr))
			status = export_all(format, e, files, nr);
	}
	for (size_t i = 0; i < nr; i++)
		status = dat_file_close(&files[i], status);
	free(files);
	free(e);
	return status;
}
