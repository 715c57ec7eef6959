// SPDX-License-Identifier: GPL-2.0-or-later
/* view-text.c - a file of a trace as a whole. */
#include "frontend/tracefs/view.h"

#include <errno.h>
#include <fcntl.h>

#include "tracer/tracer.h"

static int read_all(struct open_file *f, struct text *to)
{
	ssize_t n;
	off_t at = 0;

	do {
		char *room = text_begin(to, 4096);

		if (!room)
			return -ENOMEM;
		n = view_read(f, room, 4096, at);
		if (n > 0) {
			text_end(to, room + n);
			at += n;
		}
	} while (n > 0);
	return (int)n;
}

int view_read_all(struct view *v, view_id id, struct text *to)
{
	struct open_file *f;
	int rc = view_open(v, id, O_RDONLY, &f);

	if (rc)
		return rc;
	rc = view_is_stream(f) ? -ESPIPE : read_all(f, to);
	view_close(v, f);
	return rc;
}
