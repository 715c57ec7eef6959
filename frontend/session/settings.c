// SPDX-License-Identifier: GPL-2.0-or-later
/* settings.c - what --set asks for: files of the trace that are written to before it begins. */
#include "frontend/session/settings.h"
#include "frontend/session/session.h"
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

int session_write_settings(struct session *s)
{
	for (size_t i = 0; i < s->opt->settings.nr; i++) {
		struct setting setting;
		int rc;

		setting_parse(s->opt->settings.values[i], &setting);
		rc = setting.file
			     ? setting_write(s->view, setting.file, setting.value, setting.append)
			     : -ENOMEM;
		free(setting.file);
		if (!rc)
			continue;
		snprintf(s->err, sizeof(s->err), "--set %s: %s", s->opt->settings.values[i],
			 setting_error(rc));
		return -1;
	}
	return 0;
}
