// SPDX-License-Identifier: GPL-2.0-or-later
/* export-dat.c - see export-dat.h */
#include "frontend/cmd/export-dat.h"

#include "frontend/lib/exit.h"

#include <inttypes.h>
#include <string.h>

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
		{r->unbegun, "slices have no begin in the trace, and are left out"},
		{r->unended, "slices have no end in the trace, and end with what is around them"},
		{r->late, "events have times that go back, which were put right"},
		{r->left_out, "events are left out: they make no sense, or there are too many"},
	};

	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
		if (all[i].nr)
			fprintf(stderr, "hvtrace: %s: %" PRIu64 " %s\n", path, all[i].nr,
				all[i].what);
}

static int export_all(const struct export_format *format, const struct dat_file *f,
		      const char *path)
{
	const struct export_input in = {f->dat, f->formats, f->records};
	struct export_result result;
	int rc = export_write(format, &in, f->out, &result);

	if (rc) {
		fprintf(stderr, "hvtrace: %s: %s\n", path, strerror(-rc));
		return EXIT_FAILED;
	}
	tell(&result, path);
	return dat_file_tell_damage(f);
}

int export_dat(const struct export_format *format, const struct dat_file_options *opt,
	       const char *path)
{
	const struct formats_config no_plugins = {.no_plugins = true};
	struct dat_file f;
	int status = EXIT_FAILED;

	if (dat_file_open(&f, path, opt, &no_plugins))
		status = export_all(format, &f, path);
	return dat_file_close(&f, status);
}
