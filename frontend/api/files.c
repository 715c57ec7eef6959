// SPDX-License-Identifier: GPL-2.0-or-later
/* files.c - files of the trace of a handle, read and written. */
#include "frontend/api/local.h"

#include <errno.h>

#include "frontend/session/settings.h"
#include "frontend/tracefs/view.h"

static int say(struct hvtrace *h, const char *file, int rc)
{
	if (rc)
		snprintf(h->err, sizeof(h->err), "%s: %s", file,
			 rc == -ESPIPE ? "hvtrace_next() reads what is recorded"
				       : setting_error(rc));
	return rc;
}

static int write_file(struct hvtrace *h, const char *file, const char *text, bool append)
{
	struct view *v = h->a.s.view;

	return say(h, file, v ? setting_write(v, file, text, append) : -ENOTCONN);
}

int hvtrace_write(struct hvtrace *h, const char *file, const char *text)
{
	return write_file(h, file, text, false);
}

int hvtrace_append(struct hvtrace *h, const char *file, const char *text)
{
	return write_file(h, file, text, true);
}

int hvtrace_start(struct hvtrace *h)
{
	return hvtrace_write(h, "tracing_on", "1");
}

int hvtrace_stop(struct hvtrace *h)
{
	return hvtrace_write(h, "tracing_on", "0");
}

int hvtrace_read(struct hvtrace *h, const char *file, char **text)
{
	struct view *v = h->a.s.view;
	struct text all = {0};
	view_id id;
	int rc = v ? view_find(v, file, &id) : -ENOTCONN;

	*text = NULL;
	if (!rc)
		rc = view_read_all(v, id, &all);
	text_putc(&all, '\0');
	if (!rc && all.failed)
		rc = -ENOMEM;
	if (rc)
		text_free(&all);
	else
		*text = all.buf;
	return say(h, file, rc);
}
