// SPDX-License-Identifier: GPL-2.0-or-later
/* candidates-trace.c - what is in a trace: a trace.dat file, or one under way. */
#include "frontend/cmd/candidates.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "frontend/cmd/source-dat.h"
#include "frontend/control/client.h"
#include "frontend/dat/dat.h"
#include "frontend/sandbox/sandbox.h"
#include "frontend/session/connect.h"
#include "frontend/session/suggest.h"
#include "guestsym/guestsym.h"

/* What is read of a file at most. */
#define FILE_MEMORY_MAX (UINT64_C(1) << 30)

static const char *guest_of(const struct candidates *c)
{
	return candidates_value(c, "-g", "--guest");
}

/* A trace.dat file among them; NULL: there is none. */
static const char *dat_of(const struct candidates *c)
{
	for (int i = 1; i < c->nr_words; i++)
		if (*c->words[i] != '-' && source_dat_is_one(c->words[i]))
			return c->words[i];
	return NULL;
}

/* --- of a trace.dat file ------------------------------------------------------------------- */

/* It may be anybody's; who reads it can do nothing else then. */
static void of_dat(struct candidates *c, const char *path,
		   void (*offer_all)(struct candidates *c, const struct dat *dat))
{
	struct dat *dat = NULL;
	struct stat st;
	char err[512];
	int fd = guestsym_open_regular(path, &st);

	if (fd >= 0 && !sandbox_enter(FILE_MEMORY_MAX, err, sizeof(err)))
		dat = dat_open_fd(fd, path, err, sizeof(err));
	if (dat)
		offer_all(c, dat);
	dat_close(dat);
}

/* "name: sched_switch\n..." */
static void offer_formats(struct candidates *c, const struct dat *dat)
{
	const struct dat_info *info = dat_info(dat);

	for (size_t i = 0; i < info->nr_formats; i++) {
		const char *text = info->formats[i].text.text;
		char name[256];

		if (strncmp(text, "name: ", 6) != 0)
			continue;
		snprintf(name, sizeof(name), "%.*s", (int)strcspn(text + 6, "\n"), text + 6);
		candidates_offer_event(c, info->formats[i].system, name);
	}
}

/* Lines of "ffffffff81000000 T name\t[module]". */
static void offer_symbols(struct candidates *c, const struct dat *dat)
{
	const char *line = dat_info(dat)->kallsyms.text;
	char name[512];

	for (size_t len; line && *line; line += len + (line[len] == '\n')) {
		const char *blank;

		len = strcspn(line, "\n");
		blank = memchr(line, ' ', len);
		if (!blank || line + len - blank < 4 || !strchr("tT", blank[1]) || blank[2] != ' ')
			continue;
		blank += 3;
		snprintf(name, sizeof(name), "%.*s", (int)strcspn(blank, " \t\n"), blank);
		candidates_offer(c, name);
	}
}

static void offer_buffers(struct candidates *c, const struct dat *dat)
{
	for (size_t i = 0; i < dat_nr_buffers(dat); i++)
		candidates_offer(c, dat_buffer(dat, i)->name);
}

void candidates_recorded_events(struct candidates *c)
{
	const char *dat = dat_of(c);

	if (dat)
		of_dat(c, dat, offer_formats);
}

void candidates_recorded_functions(struct candidates *c)
{
	const char *dat = dat_of(c);

	if (dat)
		of_dat(c, dat, offer_symbols);
}

void candidates_buffers(struct candidates *c)
{
	const char *dat = dat_of(c);

	if (dat)
		of_dat(c, dat, offer_buffers);
}

/* --- of a trace under way ------------------------------------------------------------------ */

/* A file of it, or a directory, as one text. False: there is none. */
static bool read_trace(const struct candidates *c, const char *path, struct text *to)
{
	struct control_client *client = connect_to_trace(guest_of(c), -1);
	bool ok = client && !control_read_all(client, path, to);

	control_client_free(client);
	return ok;
}

/* The words of a file of a trace; brackets are around the one that is chosen. */
static void offer_words(struct candidates *c, const char *path)
{
	struct text all = {0};
	char *word;

	if (read_trace(c, path, &all)) {
		for (char *rest = all.buf; (word = strsep(&rest, " \n"));) {
			word += strspn(word, "[(");
			word[strcspn(word, "])")] = '\0';
			candidates_offer(c, word);
		}
	}
	text_free(&all);
}

void candidates_traced_functions(struct candidates *c)
{
	const char *dat = dat_of(c);

	if (dat)
		of_dat(c, dat, offer_symbols);
	else
		offer_words(c, "available_filter_functions");
}

void candidates_instances(struct candidates *c)
{
	struct text all = {0};
	char *name;

	if (dat_of(c)) {
		candidates_buffers(c);
		return;
	}
	if (read_trace(c, "instances", &all)) {
		for (char *rest = all.buf; (name = strsep(&rest, "\n"));) {
			name[strcspn(name, "/")] = '\0';
			candidates_offer(c, name);
		}
	}
	text_free(&all);
}

/* Of the directory that is typed already; directories have a slash behind them. */
void candidates_trace_files(struct candidates *c)
{
	const char *slash = strrchr(c->begun, '/');
	int len = slash ? (int)(slash - c->begun) + 1 : 0;
	struct text all = {0};
	char dir[512], path[1024], *name;

	snprintf(dir, sizeof(dir), "%.*s", len ? len - 1 : 1, len ? c->begun : ".");
	if (read_trace(c, dir, &all)) {
		for (char *rest = all.buf; (name = strsep(&rest, "\n"));) {
			snprintf(path, sizeof(path), "%.*s%s", len, c->begun, name);
			if (*name)
				candidates_offer(c, path);
		}
	}
	text_free(&all);
}

/* FILE of hvtrace set; NULL: it is not typed yet. */
static const char *file_to_set(const struct candidates *c)
{
	for (int i = 1; i < c->nr_words; i++) {
		if (!strcmp(c->words[i], "-g") || !strcmp(c->words[i], "--guest"))
			i++;
		else if (*c->words[i] != '-')
			return c->words[i];
	}
	return NULL;
}

void candidates_trace_settings(struct candidates *c)
{
	const char *file = file_to_set(c), *list = file ? suggest_list(file) : NULL;

	if (!file)
		candidates_trace_files(c);
	else if (list)
		offer_words(c, list);
}
