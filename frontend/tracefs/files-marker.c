// SPDX-License-Identifier: GPL-2.0-or-later
/* files-marker.c - events that whoever writes makes: trace_marker and trace_marker_raw. */
#include "frontend/tracefs/internal.h"

#include <errno.h>

#define MARK_MAX     1024	/* TRACE_BUF_SIZE */
#define MARK_RAW_MAX (1024 * 3) /* RAW_DATA_MAX_SIZE */

static bool takes_marks(const struct open_file *f)
{
	return instance_options(f->instance) & OUTPUT_MARKERS;
}

static ssize_t write_mark(struct open_file *f, const char *text, size_t len, off_t off)
{
	int rc;

	(void)off;
	if (!takes_marks(f))
		return -EINVAL;
	if (len > MARK_MAX)
		len = MARK_MAX;
	rc = instance_mark(f->instance, text, len);
	return rc < 0 ? rc : (ssize_t)len;
}

static ssize_t write_mark_raw(struct open_file *f, const char *text, size_t len, off_t off)
{
	int rc;

	(void)off;
	if (!takes_marks(f) || len < sizeof(uint32_t) || len > MARK_RAW_MAX)
		return -EINVAL;
	if (len > MARK_MAX)
		len = MARK_MAX;
	rc = instance_mark_raw(f->instance, text, len);
	return rc < 0 ? rc : (ssize_t)len;
}

static const struct tracefs_file files[] = {
	{.path = "trace_marker",
	 .what = "what is written goes into the trace",
	 .mode = 0220,
	 .flags = TRACEFS_STREAM,
	 .write = write_mark},
	{.path = "trace_marker_raw",
	 .what = "likewise, as binary data that begins with a number of 4 bytes",
	 .mode = 0220,
	 .flags = TRACEFS_STREAM,
	 .write = write_mark_raw},
};

const struct tracefs_table tracefs_marker_files = TRACEFS_TABLE("What the host writes", files);
