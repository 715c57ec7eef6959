// SPDX-License-Identifier: GPL-2.0-or-later
/* func-filter.c - see func-filter.h */
#include "tracer/filter/func-filter.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "tracer/filter/internal.h"
#include "tracer/lib/word.h"

/* FTRACE_BUFF_MAX: KSYM_SYMBOL_LEN + 4 of a 64-bit kernel. */
#define WORD_SIZE 670

struct func_file {
	struct func_filter *f;
	enum func_file_kind kind;
	bool writes;
	bool started; /* something has been taken: its position is not 0 */
	struct func_set *set;
	struct word word;
};

struct func_filter *func_filter_new(const struct func_owner *owner, struct funcs *funcs)
{
	struct func_filter *f = calloc(1, sizeof(*f));

	if (!f)
		return NULL;
	f->actions = func_actions_new();
	if (!f->actions) {
		free(f);
		return NULL;
	}
	f->owner = owner;
	f->funcs = funcs_get(funcs);
	pthread_mutex_init(&f->lock, NULL);
	return f;
}

void func_filter_free(struct func_filter *f)
{
	if (!f)
		return;
	func_actions_free(f);
	func_waits_clear(f, FUNC_FILTER);
	func_waits_clear(f, FUNC_NOTRACE);
	for (int i = 0; i < FUNC_FILE_KINDS; i++)
		func_set_free(f->set[i]);
	funcs_put(f->funcs);
	pthread_mutex_destroy(&f->lock);
	free(f);
}

int func_filter_apply_locked(struct func_filter *f)
{
	struct func_set *commands = func_actions_set(f);
	struct func_selection sel = {.funcs = f->funcs, .commands = commands};
	int err;

	if (!commands)
		return -ENOMEM;
	for (int i = 0; i < FUNC_FILE_KINDS; i++)
		sel.set[i] = f->set[i];
	func_actions_say(f, &sel);
	err = f->owner->apply(f->owner->arg, &sel);
	func_set_free(commands);
	return err;
}

int func_filter_apply(struct func_filter *f)
{
	int err;

	pthread_mutex_lock(&f->lock);
	err = func_filter_apply_locked(f);
	pthread_mutex_unlock(&f->lock);
	return err;
}

/* Have *set be of the list of now. 0 or -ENOMEM. */
static int set_update(struct func_set **set, struct funcs *funcs)
{
	struct func_set *new;

	if (!*set || (*set)->funcs == funcs)
		return 0;
	new = func_set_copy(*set, funcs);
	if (!new)
		return -ENOMEM;
	func_set_free(*set);
	*set = new;
	return 0;
}

/* All sets, or none. */
static int sets_update(struct func_filter *f, struct funcs *funcs)
{
	struct func_set *set[FUNC_FILE_KINDS] = {0};

	for (int i = 0; i < FUNC_FILE_KINDS; i++) {
		set[i] = f->set[i] ? func_set_copy(f->set[i], funcs) : NULL;
		if (f->set[i] && !set[i]) {
			while (i--)
				func_set_free(set[i]);
			return -ENOMEM;
		}
	}
	for (int i = 0; i < FUNC_FILE_KINDS; i++) {
		func_set_free(f->set[i]);
		f->set[i] = set[i];
	}
	return 0;
}

int func_filter_update(struct func_filter *f, struct funcs *funcs)
{
	int err;

	pthread_mutex_lock(&f->lock);
	err = sets_update(f, funcs);
	if (!err) {
		struct funcs *old = f->funcs;

		f->funcs = funcs_get(funcs);
		func_actions_update(f, old);
		funcs_put(old);
		func_waits_settle(f);
		err = func_filter_apply_locked(f);
	}
	pthread_mutex_unlock(&f->lock);
	return err;
}

/* --- open files --------------------------------------------------------------------------- */

static bool has_waits(enum func_file_kind kind)
{
	return kind <= FUNC_NOTRACE;
}

/* f->lock is held. */
static struct func_set *file_set(struct func_filter *f, enum func_file_kind kind, bool empty)
{
	if (!empty)
		return func_set_copy(f->set[kind], f->funcs);
	if (has_waits(kind))
		func_waits_clear(f, kind);
	return func_set_new(f->funcs);
}

int func_file_open(struct func_filter *f, enum func_file_kind kind, int flags,
		   struct func_file **filep)
{
	struct func_file *file = calloc(1, sizeof(*file));

	if (!file || word_init(&file->word, WORD_SIZE)) {
		free(file);
		return -ENOMEM;
	}
	file->f = f;
	file->kind = kind;
	file->writes = (flags & O_ACCMODE) != O_RDONLY;
	pthread_mutex_lock(&f->lock);
	file->set = file_set(f, kind, file->writes && flags & O_TRUNC);
	pthread_mutex_unlock(&f->lock);
	if (!file->set) {
		word_free(&file->word);
		free(file);
		return -ENOMEM;
	}
	*filep = file;
	return 0;
}

static int filter_word(struct func_file *file, char *text)
{
	struct func_word w = {.kind = file->kind};

	w.func = strsep(&text, ":");
	if (!text)
		return func_set_match(file->set, w.func, NULL) ? 0 : -EINVAL;
	w.command = strsep(&text, ":");
	w.param = text;
	if (!strcmp(w.command, "mod"))
		return func_mod_write(file->f, file->set, &w);
	return func_request_write(file->f, &w);
}

/* f->lock is held. */
static int file_word(struct func_file *file)
{
	int err = set_update(&file->set, file->f->funcs);

	if (!err && file->kind >= FUNC_GRAPH)
		err = func_set_match_graph(file->set, file->word.text) ? 0 : -EINVAL;
	else if (!err)
		err = filter_word(file, file->word.text);
	word_clear(&file->word);
	return err;
}

ssize_t func_file_write(struct func_file *file, const char *text, size_t len)
{
	ssize_t done;
	int err = 0;

	if (!len)
		return 0;
	done = word_take(&file->word, !file->started, text, len);
	if (done < 0)
		return done;
	if (word_loaded(&file->word) && !file->word.open) {
		pthread_mutex_lock(&file->f->lock);
		err = file_word(file);
		pthread_mutex_unlock(&file->f->lock);
	}
	if (err)
		return err;
	file->started = true;
	return done;
}

bool func_file_mentions(const struct func_file *file, const char *text, size_t len,
			const char *what)
{
	struct text all = {0};
	bool mentions;

	if (word_loaded(&file->word))
		text_add(&all, file->word.text, file->word.len);
	text_add(&all, text, len);
	mentions = all.len && memmem(all.buf, all.len, what, strlen(what));
	text_free(&all);
	return mentions;
}

void func_file_rewind(struct func_file *file)
{
	file->started = false;
}

static void print_functions(const struct func_file *file, struct text *out)
{
	/* Whoever reads the graph files sees what is in effect. */
	const struct func_set *set =
		file->kind >= FUNC_GRAPH ? file->f->set[file->kind] : file->set;
	bool no = file->kind == FUNC_NOTRACE || file->kind == FUNC_GRAPH_NOTRACE;

	if (func_set_empty(set)) {
		text_puts(out, no ? "#### no functions disabled ####\n"
				  : "#### all functions enabled ####\n");
		return;
	}
	for (uint32_t i = func_set_next(set, 0); i != FUNC_NONE; i = func_set_next(set, i + 1)) {
		func_print(&set->funcs->v[i], out);
		text_putc(out, '\n');
	}
}

void func_file_print(struct func_file *file, struct text *out)
{
	pthread_mutex_lock(&file->f->lock);
	if (set_update(&file->set, file->f->funcs))
		out->failed = true;
	print_functions(file, out);
	if (has_waits(file->kind))
		func_waits_print(file->f, file->kind, out);
	if (file->kind == FUNC_FILTER)
		func_actions_print(file->f, out);
	pthread_mutex_unlock(&file->f->lock);
}

/* The file's set is the filter's from now on. f->lock is held. */
static void file_apply(struct func_file *file)
{
	struct func_filter *f = file->f;

	if (set_update(&file->set, f->funcs))
		return;
	if (file->kind == FUNC_FILTER)
		file->set->waits = f->waits[FUNC_FILTER];
	func_set_free(f->set[file->kind]);
	if (func_set_empty(file->set)) {
		func_set_free(file->set);
		file->set = NULL;
	}
	f->set[file->kind] = file->set;
	file->set = NULL;
	func_filter_apply_locked(f);
}

void func_file_close(struct func_file *file)
{
	struct func_filter *f = file->f;

	pthread_mutex_lock(&f->lock);
	if (word_loaded(&file->word))
		file_word(file);
	if (file->writes)
		file_apply(file);
	pthread_mutex_unlock(&f->lock);
	func_set_free(file->set);
	word_free(&file->word);
	free(file);
}
