// SPDX-License-Identifier: GPL-2.0-or-later
/* settings.c - what --set asks for: files of the trace that are written to before it begins. */
#include "frontend/session/settings.h"
#include "frontend/session/session.h"
#include "frontend/session/suggest.h"
#include "frontend/tracefs/view.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* "FILE=VALUE", or "FILE+=VALUE", which adds to what is in the file. */
struct setting {
	char *file;
	const char *value;
	bool append;
};

bool setting_is_one(const char *text)
{
	size_t len = strcspn(text, "=");

	return text[len] && len > (len && text[len - 1] == '+');
}

/* setting->file to be freed by free(); NULL: no memory. */
static void setting_parse(const char *text, struct setting *setting)
{
	size_t len = strcspn(text, "=");

	setting->value = text + len + 1;
	setting->append = text[len - 1] == '+';
	setting->file = strndup(text, len - setting->append);
}

/* As `echo VALUE` does: what one write says is taken or refused as a whole. */
static int value_write(struct open_file *file, const char *value)
{
	size_t len = strlen(value) + 1, done = 0;
	char *line = malloc(len);
	ssize_t n = line ? 0 : -ENOMEM;

	if (line) {
		memcpy(line, value, len - 1);
		line[len - 1] = '\n';
	}
	while (n >= 0 && done < len) {
		n = view_write(file, line + done, len - done, (off_t)done);
		done += n > 0 ? (size_t)n : 0;
		n = n ? n : -EIO;
	}
	free(line);
	return n < 0 ? (int)n : 0;
}

int setting_write(struct view *v, const char *name, const char *value, bool append)
{
	struct open_file *file;
	struct view_attr attr;
	view_id id;
	int rc = view_find(v, name, &id);

	if (!rc)
		rc = view_attr(v, id, &attr);
	if (!rc && !S_ISDIR(attr.mode) && !(attr.mode & (S_IWUSR | S_IWGRP | S_IWOTH)))
		rc = -EACCES;
	if (!rc)
		rc = view_open(v, id, O_WRONLY | (append ? O_APPEND : O_TRUNC), &file);
	if (rc)
		return rc;
	rc = value_write(file, value);
	view_close(v, file); /* filters take effect now */
	return rc;
}

const char *setting_error(int rc)
{
	switch (rc) {
	case -ENOENT:
		return "the trace has no such file";
	case -EACCES:
		return "the file can only be read";
	default:
		return strerror(-rc);
	}
}

/* --- what was wrong ----------------------------------------------------------------------- */

static int read_names(struct view *v, view_id dir, struct text *to)
{
	struct view_entry *entries;
	ssize_t nr = view_list(v, dir, &entries);

	if (nr < 0)
		return (int)nr;
	for (ssize_t i = 0; i < nr; i++)
		text_printf(to, "%s\n", entries[i].name);
	free(entries);
	return 0;
}

static int reader_read(void *arg, const char *path, struct text *to)
{
	struct view *v = arg;
	struct view_attr attr;
	view_id id = VIEW_ROOT;
	int rc = strcmp(path, ".") ? view_find(v, path, &id) : 0;

	if (!rc)
		rc = view_attr(v, id, &attr);
	if (!rc)
		rc = S_ISDIR(attr.mode) ? read_names(v, id, to) : view_read_all(v, id, to);
	text_putc(to, '\0');
	return rc || !to->failed ? rc : -ENOMEM;
}

/* s->err: one line, or where the trace has noted more that, too. */
static void explain(struct session *s, const char *text, const struct setting *setting, int rc)
{
	const struct trace_reader reader = {reader_read, s->view, false};
	struct text why = {0};
	char hint[256] = "";
	bool noted;

	if (rc == -ENOENT)
		suggest_file(&reader, setting->file, hint, sizeof(hint));
	else if (rc != -EACCES)
		suggest_words(&reader, rc, setting->file, &setting->value, 1, &why);
	text_putc(&why, '\0');
	noted = !why.failed && strchr(why.buf, '\n');
	if (noted)
		why.buf[why.len - 2] = '\0'; /* its last line end */
	snprintf(s->err, sizeof(s->err), "--set %s: %s%s%s%s", text,
		 why.failed || noted || !*why.buf ? setting_error(rc) : why.buf, hint,
		 noted ? "\n" : "", noted ? why.buf : "");
	text_free(&why);
}

int session_write_settings(struct session *s)
{
	for (size_t i = 0; i < s->opt->settings.nr; i++) {
		const char *text = s->opt->settings.values[i];
		struct setting setting;
		int rc;

		setting_parse(text, &setting);
		rc = setting.file
			     ? setting_write(s->view, setting.file, setting.value, setting.append)
			     : -ENOMEM;
		if (rc && setting.file)
			explain(s, text, &setting, rc);
		else if (rc)
			snprintf(s->err, sizeof(s->err), "--set %s: %s", text, setting_error(rc));
		free(setting.file);
		if (rc)
			return -1;
	}
	return 0;
}
