/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tracefs-world.h - the files of a trace of a made-up guest, without a mount. */
#ifndef HVTRACE_TESTS_TRACEFS_WORLD_H
#define HVTRACE_TESTS_TRACEFS_WORLD_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>

#include "frontend/tracefs/internal.h"
#include "tests/unit/tracefs-trace.h"
#include "tracer/tracer.h"

struct world {
	struct trace *trace;
	struct view *view;
};

static inline int set_up(void **state)
{
	struct world *w = calloc(1, sizeof(*w));
	char err[256] = "";

	assert_non_null(w);
	tracefs_guest_new();
	w->trace = tracefs_trace_new(err, sizeof(err));
	if (!w->trace)
		fail_msg("%s", err);
	w->view = view_new(w->trace, "a made-up one");
	assert_non_null(w->view);
	*state = w;
	return 0;
}

static inline int tear_down(void **state)
{
	struct world *w = *state;

	view_free(w->view);
	trace_free(w->trace);
	tracefs_guest_free();
	free(w);
	return 0;
}

static inline int open_path(struct world *w, const char *path, int flags, struct open_file **f)
{
	view_id id;
	int rc = view_find(w->view, path, &id);

	return rc ? rc : view_open(w->view, id, flags, f);
}

static inline ssize_t put_bytes(struct world *w, const char *path, int flags, const char *text,
				size_t len)
{
	struct open_file *f = NULL;
	ssize_t n = open_path(w, path, O_WRONLY | flags, &f);

	if (n)
		return n;
	n = view_write(f, text, len, 0);
	view_close(w->view, f);
	return n;
}

static inline ssize_t put(struct world *w, const char *path, int flags, const char *text)
{
	return put_bytes(w, path, flags, text, strlen(text));
}

/* What a file reads, in buf. */
static inline const char *get(struct world *w, const char *path, char *buf, size_t room)
{
	struct open_file *f = NULL;
	size_t len = 0;
	ssize_t n;

	assert_int_equal(open_path(w, path, O_RDONLY, &f), 0);
	while ((n = view_read(f, buf + len, room - 1 - len, (off_t)len)) > 0)
		len += (size_t)n;
	view_close(w->view, f);
	assert_true(n == 0 || n == -EAGAIN);
	buf[len] = '\0';
	return buf;
}

static inline void expect(struct world *w, const char *path, const char *want)
{
	char buf[16384];

	assert_string_equal(get(w, path, buf, sizeof(buf)), want);
}

#endif
