// SPDX-License-Identifier: GPL-2.0-or-later
/* export-dat.c - see export-dat.h */
#include "frontend/cmd/export-dat.h"

#include "frontend/cmd/crash-line.h"
#include "frontend/lib/exit.h"

#include <errno.h>
#include <inttypes.h>
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

/* Of several the guest's, and its host's: whichever came first. */
static bool choose(const struct dat_file *files, size_t nr, struct export_input *in)
{
	const struct dat_file *guest = files, *host = NULL;

	if (nr == 2 && export_is_host(files[1].dat, files[0].dat)) {
		host = &files[1];
	} else if (nr == 2 && export_is_host(files[0].dat, files[1].dat)) {
		guest = &files[1];
		host = &files[0];
	} else if (nr == 2) {
		fprintf(stderr,
			"hvtrace: %s and %s are not of a guest and its host at one time: export them "
			"one by one\n",
			dat_info(files[0].dat)->name, dat_info(files[1].dat)->name);
		return false;
	}
	*in = (struct export_input){
		.dat = guest->dat,
		.formats = guest->formats,
		.records = guest->records,
		.folder = files->target.inner,
	};
	if (host)
		in->host = (struct export_file){host->dat, host->formats, host->records};
	if (guest->records)
		return true;
	fprintf(stderr, "hvtrace: %s has nothing of what is wanted\n", dat_info(guest->dat)->name);
	return false;
}

static int export_all(const struct export_format *format, struct dat_file *files, size_t nr)
{
	struct export_result result;
	struct export_input in;
	int rc, status = EXIT_OK;

	if (!choose(files, nr, &in))
		return EXIT_FAILED;
	if (in.host.dat && !export_takes_host(format))
		fprintf(stderr,
			"hvtrace: %s is left out: a host's events have no place in this format\n",
			dat_info(in.host.dat)->name);
	rc = export_write(format, &in, files->out, &result);
	for (size_t i = 0; i < nr; i++)
		meter_end(&files[i].meter);
	if (rc) {
		fprintf(stderr, "hvtrace: %s: %s\n", dat_info(in.dat)->name,
			rc == -EIO ? LIBRARY_FAILED : strerror(-rc));
		return EXIT_FAILED;
	}
	tell(&result, dat_info(in.dat)->name);
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
	struct dat_file files[EXPORT_DAT_FILES];
	int status = EXIT_FAILED;

	if (dat_files_open(files, paths, nr, opt, &no_plugins)) {
		if (opt->folder)
			expect_library(paths[0]);
		status = export_all(format, files, nr);
	}
	for (size_t i = 0; i < nr; i++)
		status = dat_file_close(&files[i], status);
	return status;
}
