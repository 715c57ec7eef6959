// SPDX-License-Identifier: GPL-2.0-or-later
/* options.c - what the options of a command that traces ask for, as far as they name
 * things. */
#include "frontend/session/event-category.h"
#include "frontend/session/session.h"
#include "frontend/session/settings.h"
#include "frontend/session/summary-out.h"

#include <dirent.h>
#include <string.h>
#include <sys/stat.h>

static const char *const engines[] = {
	[TRACE_ENGINE_AUTO] = "auto",
	[TRACE_ENGINE_TRAP] = "trap",
	[TRACE_ENGINE_TRAMPOLINE] = "trampoline",
};

const char *session_engine_name(unsigned int i)
{
	return i < sizeof(engines) / sizeof(engines[0]) ? engines[i] : NULL;
}

static const char *const panic_actions[] = {
	[TRACE_ON_PANIC_IGNORE] = "ignore",
	[TRACE_ON_PANIC_STOP] = "stop",
	[TRACE_ON_PANIC_DUMP] = "dump",
	[TRACE_ON_PANIC_SNAPSHOT] = "snapshot",
};

const char *session_panic_action_name(unsigned int i)
{
	return i < sizeof(panic_actions) / sizeof(panic_actions[0]) ? panic_actions[i] : NULL;
}

/* In the order of the alphabet: there are too many to be looked through. */
const char *session_tracer_name(unsigned int i)
{
	const char *name, *other;

	for (unsigned int n = 0; (name = trace_tracer_name(n, NULL)); n++) {
		unsigned int before = 0;

		for (unsigned int k = 0; (other = trace_tracer_name(k, NULL)); k++)
			before += strcmp(other, name) < 0;
		if (before == i)
			return name;
	}
	return NULL;
}

const char *session_clock_name(unsigned int i)
{
	return trace_clock_name(i, NULL);
}

const char *session_form_name(unsigned int i)
{
	return trace_form_name(i, NULL, NULL);
}

static const char *const file_versions[] = {"7", "6", NULL};

const char *session_file_version_name(unsigned int i)
{
	return file_versions[i];
}

static const char *const compressions[] = {"zstd", "none", NULL};

const char *session_compression_name(unsigned int i)
{
	return compressions[i];
}

bool session_options_record(const struct session_options *opt)
{
	size_t len = strlen(opt->output);

	return opt->record || (len >= 4 && !strcmp(opt->output + len - 4, ".dat"));
}

bool session_options_stream(const struct session_options *opt)
{
	return opt->record && !strcmp(opt->output, "-");
}

unsigned int session_options_version(const struct session_options *opt)
{
	return opt->file_version && !strcmp(opt->file_version, "6") ? 6 : 7;
}

bool session_options_zstd(const struct session_options *opt)
{
	return session_options_version(opt) == 7 &&
	       (!opt->compression || !strcmp(opt->compression, "zstd"));
}

/* Events alone are wanted without functions, unless something else asks for these. */
const char *session_options_tracer(const struct session_options *opt)
{
	bool functions = !opt->events.nr || opt->filter.nr || opt->notrace.nr;

	return opt->tracer ? opt->tracer : functions ? "function" : "nop";
}

enum trace_engine session_options_engine(const struct session_options *opt)
{
	unsigned int i = TRACE_ENGINE_AUTO;

	while (session_engine_name(i + 1) && strcmp(session_engine_name(i), opt->engine))
		i++;
	return (enum trace_engine)i;
}

enum trace_on_panic session_options_on_panic(const struct session_options *opt, bool running)
{
	unsigned int i = TRACE_ON_PANIC_IGNORE;

	/* A guest that hangs in panic() has no more to show; one of ours goes on to its end. */
	if (!opt->on_panic)
		return running ? TRACE_ON_PANIC_STOP : TRACE_ON_PANIC_IGNORE;
	while (session_panic_action_name(i + 1) &&
	       strcmp(session_panic_action_name(i), opt->on_panic) != 0)
		i++;
	return (enum trace_on_panic)i;
}

/* The tracer records what the form prints. */
static bool form_fits(const struct session_options *opt)
{
	const char *form, *tracer;

	if (session_options_record(opt) && strcmp(opt->format, "trace") != 0) {
		fprintf(stderr,
			"hvtrace: --format %s: %s is recorded, not printed: hvtrace report and "
			"hvtrace export read it\n",
			opt->format, opt->output);
		return false;
	}
	for (unsigned int i = 0; (form = trace_form_name(i, NULL, &tracer)); i++) {
		if (strcmp(form, opt->format) || !tracer ||
		    !strcmp(tracer, session_options_tracer(opt)))
			continue;
		fprintf(stderr, "hvtrace: --format %s: it is for the tracer %s (-t %s)\n", form,
			tracer, tracer);
		return false;
	}
	return true;
}

/* What a recording is like is asked for of one. */
static bool recording_fits(const struct session_options *opt)
{
	const char *value = opt->file_version ? opt->file_version : opt->compression;

	if (value && !session_options_record(opt))
		fprintf(stderr,
			"hvtrace: --%s %s: it is for a trace that is recorded (-o FILE.dat)\n",
			opt->file_version ? "file-version" : "compression", value);
	else if (opt->compression && strcmp(opt->compression, "none") != 0 &&
		 session_options_version(opt) == 6)
		fprintf(stderr, "hvtrace: --compression %s: files of version 6 have none\n",
			opt->compression);
	else
		return true;
	return false;
}

/* Events are of a kernel that is not known yet, but categories are not. */
static bool categories_exist(const struct option_list *events)
{
	for (size_t i = 0; i < events->nr; i++) {
		const char *text = events->values[i];

		if (!event_category_is_named(text) || event_category_find(text))
			continue;
		if (strchr(text, ':'))
			fprintf(stderr,
				"hvtrace: -e %s: a category takes no filter, for its events have "
				"different fields; name them one by one\n",
				text);
		else
			event_category_complain("-e ", text);
		return false;
	}
	return true;
}

static bool settings_make_sense(const struct option_list *settings)
{
	for (size_t i = 0; i < settings->nr; i++) {
		if (setting_is_one(settings->values[i]))
			continue;
		fprintf(stderr,
			"hvtrace: --set %s: what to write to which file is given as FILE=VALUE\n",
			settings->values[i]);
		return false;
	}
	return true;
}

/* It does not hurt, but nobody sees what is there. */
static void warn_of_full_directory(const char *dir)
{
	DIR *d = dir ? opendir(dir) : NULL;
	const struct dirent *entry = NULL;
	struct stat st, above;

	if (!d)
		return;
	/* Of what is mounted there something else is said. */
	while (!fstat(dirfd(d), &st) && !fstatat(dirfd(d), "..", &above, 0) &&
	       st.st_dev == above.st_dev && (entry = readdir(d)))
		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
			break;
	if (entry)
		fprintf(stderr,
			"hvtrace: warning: %s is not empty: what is in it is not seen while the "
			"files of the trace are there\n",
			dir);
	closedir(d);
}

static bool host_events_fit(const struct session_options *opt)
{
	if (!opt->host_events.nr)
		return true;
	if (session_options_stream(opt))
		fprintf(stderr,
			"hvtrace: --host-events: they are recorded to a file of their own, which "
			"nothing goes to with -o -\n");
	else if (opt->clock && strcmp(opt->clock, SESSION_HOST_CLOCK) != 0)
		fprintf(stderr,
			"hvtrace: --host-events: times of the host cannot be laid beside those of the "
			"clock %s: leave out -C, or use -C " SESSION_HOST_CLOCK "\n",
			opt->clock);
	else if (strcmp(opt->format, "trace") != 0)
		fprintf(stderr, "hvtrace: --host-events: not with --format %s\n", opt->format);
	else
		return true;
	return false;
}

static bool summary_fits(const struct session_options *opt)
{
	if (!summary_out_collides(opt))
		return true;
	fprintf(stderr,
		"hvtrace: --summary %s: that is where the trace goes: name another file, or one for "
		"the trace (-o)\n",
		opt->summary);
	return false;
}

bool session_options_check(const struct session_options *opt)
{
	return summary_fits(opt) && form_fits(opt) && recording_fits(opt) && host_events_fit(opt) &&
	       categories_exist(&opt->events) && settings_make_sense(&opt->settings);
}

void session_options_warn(const struct session_options *opt)
{
	warn_of_full_directory(opt->no_mount ? NULL : opt->mount_dir);
}

void session_options_free(struct session_options *opt)
{
	option_list_free(&opt->filter);
	option_list_free(&opt->notrace);
	option_list_free(&opt->pids);
	option_list_free(&opt->events);
	option_list_free(&opt->settings);
	option_list_free(&opt->host_events);
}
