// SPDX-License-Identifier: GPL-2.0-or-later
/* job.c - see job.h */
#include "frontend/cmd/job.h"

#include "frontend/cmd/command.h"
#include "frontend/cmd/source-dat.h"
#include "frontend/lib/output.h"
#include "frontend/report/render.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { EVENTS_MAX = 8 };

/* One job, from its options to its answer. */
struct doing {
	const struct job_command *what;
	const struct job_options *opt;
	enum latency_sort sort;
	int32_t *pids;
	bool blocks; /* the terminal shows Unicode */
	FILE *svg;
};

/* --- a guest that is traced for that -----------------------------------------------------------
 */

/* With stacks the vCPU waits for the host at each event. */
static int trace_guest(const void *arg, const char *path)
{
	const struct doing *d = arg;
	struct attach_options live = d->opt->live;
	const char *events[EVENTS_MAX], *settings[] = {"options/stacktrace=1"};

	for (size_t i = 0; i < EVENTS_MAX && d->what->events[i]; i++) {
		events[i] = d->what->events[i];
		live.session.events.nr++;
	}
	live.session.events.values = events;
	live.session.settings = (struct option_list){settings, d->opt->stacks};
	live.session.tracer = "nop";
	live.session.output = path;
	live.session.record = true;
	live.session.unheard = !d->opt->keep;
	live.session.no_mount = true;
	live.session.no_sandbox = d->opt->file.no_sandbox;
	if (!live.session.limit_ms)
		live.session.limit_ms = 5000;
	return attach_guest(&live);
}

/* --- the answer ----------------------------------------------------------------------------------
 */

void job_put_text(const struct text *text, FILE *out)
{
	if (text->failed)
		fprintf(stderr, "hvtrace: out of memory\n");
	else
		fwrite(text->buf, 1, text->len, out);
}

static void put_folded(const struct calltree *stacks, FILE *out)
{
	struct text text = {0};

	render_folded(stacks, WEIGHT_TIME, &text);
	job_put_text(&text, out);
	text_free(&text);
}

static void put_picture(const struct doing *d, const struct job_result *r)
{
	const struct render_flame how = {WEIGHT_TIME, d->what->title, 1200};
	struct text text = {0};

	if (r->stacks)
		render_flame(r->stacks, &how, &text);
	else
		render_latency_svg(&r->report, d->opt->rows, d->what->title, &text);
	job_put_text(&text, d->svg);
	text_free(&text);
}

static void put_table(const struct doing *d, const struct job_result *r, FILE *out)
{
	const struct latency_view view = {
		.rows = d->opt->rows, .blocks = d->blocks, .stacks = d->opt->stacks};
	struct text text = {0};

	render_latency(&r->report, &view, &text);
	job_render_worst(r, &text);
	job_put_text(&text, out);
	text_free(&text);
}

static int put_answer(const struct doing *d, struct job_result *r, FILE *out)
{
	latency_report_sort(&r->report, d->sort);
	if (d->what->put) {
		d->what->put(d->opt, r, out, d->svg);
		return EXIT_OK;
	}
	if (d->svg)
		put_picture(d, r);
	if (d->opt->folded && !r->stacks) {
		fprintf(stderr, "hvtrace: the trace has no stacks: --stack records them\n");
		return EXIT_FAILED;
	}
	if (d->opt->folded)
		put_folded(r->stacks, out);
	else if (d->opt->json)
		job_json(r, d->opt->rows, out);
	else
		put_table(d, r, out);
	return EXIT_OK;
}

static void tell(const struct job_result *r, const char *path)
{
	const struct {
		uint64_t nr;
		const char *what;
	} all[] = {
		{r->report.gaps, "times records were lost: what was under way then is left out"},
		{r->late, "events have times that go back, which were put right"},
		{r->left_out, "beginnings were forgotten: there are too many tasks"},
	};

	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
		if (all[i].nr)
			fprintf(stderr, "hvtrace: %s: %" PRIu64 " %s\n", path, all[i].nr,
				all[i].what);
}

/* From the first record on. NULL: no memory. */
static struct records *again(struct dat_file *f)
{
	records_close(f->records);
	f->records = records_open(f->dat, f->buffer);
	if (f->records)
		records_select(f->records, select_wants, f->select);
	return f->records;
}

/* What a file of its kind has first; else what it may have, too. 0 or -ENOMEM. */
static int read_records(const struct doing *d, struct dat_file *f, struct job_result *r)
{
	const struct job_config cfg = {
		.by = d->opt->by,
		.kind = d->opt->kind,
		.pids = d->pids,
		.nr_pids = d->opt->pids.nr,
		.worst = d->opt->worst,
	};
	struct job_input in = {f->dat, f->formats, f->records};
	int rc = job_read(d->what->job, &in, &cfg, r);

	if (rc || r->report.nr || !d->what->other)
		return rc;
	job_result_free(r);
	in.records = again(f);
	if (in.records)
		return job_read(d->what->other, &in, &cfg, r);
	*r = (struct job_result){0};
	return -ENOMEM;
}

static int read_open(const struct doing *d, struct dat_file *f, const char *path)
{
	struct job_result r;
	int status = EXIT_FAILED, damage;

	if (read_records(d, f, &r))
		fprintf(stderr, "hvtrace: out of memory\n");
	else if (!r.events)
		fprintf(stderr, "hvtrace: %s has none of the events that this needs: %s\n", path,
			job_needs(d->what->job));
	else if (!r.report.nr && !d->what->put)
		fprintf(stderr,
			"hvtrace: %s: nothing that is asked for has both begun and ended in it\n",
			path);
	else
		status = put_answer(d, &r, f->out);
	tell(&r, path);
	job_result_free(&r);
	damage = dat_file_tell_damage(f);
	/* Else there is nothing that could take the place of what was there. */
	f->whole = status == EXIT_OK;
	return damage == EXIT_OK ? status : EXIT_FAILED;
}

static int read_file(struct doing *d, struct recording *rec)
{
	const struct formats_config no_plugins = {.no_plugins = true};
	struct dat_file_options file = d->opt->file;
	struct dat_file f;
	int status = EXIT_FAILED;

	file.temporary = rec->temporary;
	file.top = true;
	d->blocks = output_is_utf8();
	output_paint(d->opt->json || d->opt->folded ? PAINT_NOTHING : PAINT_WINDOWS);
	d->svg = d->opt->svg ? output_open(d->opt->svg, NULL) : NULL;
	if (d->opt->svg && !d->svg) {
		fprintf(stderr, "hvtrace: cannot write %s: %s\n", d->opt->svg, strerror(errno));
		recording_discard(rec);
		return EXIT_FAILED;
	}
	if (!dat_file_open(&f, rec->path, &file, &no_plugins))
		;
	else if (!dat_counts_ns(dat_info(f.dat)))
		fprintf(stderr, "hvtrace: %s: its clock, %s, does not count nanoseconds\n",
			rec->path, dat_info(f.dat)->clock);
	else
		status = read_open(d, &f, rec->temporary ? "the trace" : rec->path);
	if (d->svg && (ferror(d->svg) | fclose(d->svg))) {
		fprintf(stderr, "hvtrace: cannot write %s: %s\n", d->opt->svg, strerror(errno));
		status = EXIT_FAILED;
	}
	return dat_file_close(&f, status);
}

/* --- options ------------------------------------------------------------------------------------
 */

bool job_is_file(const char *operand)
{
	size_t len = strlen(operand);

	/* The stub of a QEMU may have a path in its name. */
	if (!strncmp(operand, "gdb:", 4))
		return false;
	return strchr(operand, '/') || (len > 4 && !strcmp(operand + len - 4, ".dat")) ||
	       source_dat_is_one(operand);
}

/* NULL with a line on stderr. */
static int32_t *pids_of(const struct option_list *list)
{
	int32_t *pids = calloc(list->nr + 1, sizeof(*pids));
	char *end;

	if (!pids)
		fprintf(stderr, "hvtrace: out of memory\n");
	for (size_t i = 0; pids && i < list->nr; i++) {
		unsigned long n = strtoul(list->values[i], &end, 10);

		if (end == list->values[i] || *end || n > INT32_MAX) {
			fprintf(stderr, "hvtrace: --pid %s: not the number of a task\n",
				list->values[i]);
			free(pids);
			return NULL;
		}
		pids[i] = (int32_t)n;
	}
	return pids;
}

/* One line says what is wrong. */
static bool check(struct doing *d, bool is_file)
{
	const struct job_options *opt = d->opt;

	latency_sort_parse(opt->sort, &d->sort);
	if (is_file && (opt->live.session.limit_ms || opt->keep || opt->live.target.kernel ||
			opt->live.session.window_bytes || opt->live.session.buffer_bytes ||
			opt->live.session.lossless))
		fprintf(stderr,
			"hvtrace: --for, --window, --keep, --kernel, --window-memory, --lossless and "
			"--buffer-kb are for a DOMAIN, not for a FILE (hvtrace %s --help)\n",
			d->what->name);
	else if (opt->folded && opt->json)
		fprintf(stderr, "hvtrace: --folded and --json do not go together\n");
	else if (!is_file && (opt->file.from || opt->file.until || opt->file.buffer))
		fprintf(stderr,
			"hvtrace: --from, --until and --buffer are for a FILE, not for a DOMAIN "
			"(hvtrace %s --help)\n",
			d->what->name);
	else
		return true;
	return false;
}

static int job(struct doing *d, struct job_options *opt, const char *operand)
{
	bool is_file = job_is_file(operand);
	struct recording rec = {.path = operand};
	int status, traced = EXIT_OK;

	if (!check(d, is_file))
		return EXIT_USAGE;
	d->pids = pids_of(&opt->pids);
	if (!d->pids)
		return EXIT_USAGE;
	if (!is_file) {
		opt->live.target.name = operand;
		traced = recording_make(&rec, opt->keep, trace_guest, d);
	}
	status = rec.path ? read_file(d, &rec) : EXIT_FAILED;
	free(d->pids);
	return traced ? traced : status;
}

int job_answer(const struct job_command *what, const struct job_options *opt, struct recording *rec)
{
	struct doing d = {.what = what, .opt = opt, .sort = LATENCY_TOTAL};

	/* boot has keys of its own. */
	if (!what->put)
		latency_sort_parse(opt->sort, &d.sort);
	return read_file(&d, rec);
}

static void options_free(struct job_options *opt)
{
	option_list_free(&opt->pids);
	dat_file_options_free(&opt->file);
}

int job_main(const struct job_command *what, struct job_options *opt, int argc, char **argv)
{
	struct doing d = {.what = what, .opt = opt};
	int first = options_parse(argc, argv, what->rows, what->usage), status = EXIT_USAGE;

	opt->stacks |= opt->folded || (opt->svg && what->stacks);
	if (first == OPTIONS_HELP)
		status = EXIT_OK;
	else if (first >= 0 && argc - first != 1)
		fprintf(stderr,
			"hvtrace: %s takes one domain, or one trace.dat file (hvtrace %s --help)\n",
			what->name, what->name);
	else if (first >= 0)
		status = job(&d, opt, argv[first]);
	options_free(opt);
	return status;
}
