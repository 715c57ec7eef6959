/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * control-world.h - a made-up trace whose files are served over its socket, for tests of that. To
 * be included behind cmocka.h.
 */
#ifndef HVTRACE_TESTS_UNIT_CONTROL_WORLD_H
#define HVTRACE_TESTS_UNIT_CONTROL_WORLD_H

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "frontend/control/client.h"
#include "frontend/control/peer.h"
#include "frontend/control/server.h"
#include "frontend/control/wire.h"
#include "frontend/session/registry.h"
#include "frontend/tracefs/view.h"
#include "tests/unit/tracefs-trace.h"
#include "tracer/tracer.h"

/* For what has to happen. */
#define WAIT_SECONDS 120

struct control_world {
	char dir[64];
	struct trace *trace;
	struct view *view;
	struct control_server *server;
	struct control_saver saver; /* of a test; else there is none */
};

/* What the test has put into the world by then. */
static inline int control_save_as_told(void *arg, struct machine_save *save, char *err,
				       size_t errlen)
{
	const struct control_world *w = arg;

	if (w->saver.save)
		return w->saver.save(w->saver.arg, save, err, errlen);
	snprintf(err, errlen, "there is no guest\n");
	return -EOPNOTSUPP;
}

static inline int control_set_up(void **state)
{
	struct control_world *w = calloc(1, sizeof(*w));
	char err[256] = "";
	int listener;

	assert_non_null(w);
	tracefs_guest_new();
	w->trace = tracefs_trace_new(err, sizeof(err));
	if (!w->trace)
		fail_msg("%s", err);
	w->view = view_new(w->trace, "a made-up one");
	assert_non_null(w->view);
	snprintf(w->dir, sizeof(w->dir), "/tmp/test-control-%d-XXXXXX", getpid());
	assert_non_null(mkdtemp(w->dir));
	setenv("XDG_RUNTIME_DIR", w->dir, 1);
	listener = registry_listen();
	assert_true(listener >= 0);
	assert_int_equal(control_start(&w->server, w->view,
				       &(struct control_saver){control_save_as_told, w}, listener),
			 0);
	*state = w;
	return 0;
}

static inline int control_tear_down(void **state)
{
	struct control_world *w = *state;
	char own[80];

	control_stop(w->server); /* NULL: by the test itself */
	registry_remove(getpid());
	snprintf(own, sizeof(own), "%s/hvtrace", w->dir);
	assert_int_equal(rmdir(own), 0);
	assert_int_equal(rmdir(w->dir), 0);
	view_free(w->view);
	trace_free(w->trace);
	tracefs_guest_free();
	free(w);
	return 0;
}

static inline int control_connect(void)
{
	int fd = registry_connect(getpid());

	assert_true(fd >= 0);
	return fd;
}

static inline struct control_client *client(void)
{
	struct control_client *c = control_client_new(control_connect(), -1);

	assert_non_null(c);
	return c;
}

/* What is written, and with which errno that ends. */
static inline int put(const char *path, int flags, const char *text)
{
	struct control_client *c = client();
	ssize_t n = control_open(c, path, O_WRONLY | flags);

	if (n >= 0)
		n = control_write(c, text, strlen(text));
	if (n == (ssize_t)strlen(text))
		n = control_close(c);
	control_client_free(c);
	return (int)n;
}

/* A whole file; free() it. */
static inline char *slurp(const char *path)
{
	struct control_client *c = client();
	struct text text = {0};
	const char *data;
	ssize_t n = control_open(c, path, O_RDONLY);

	if (n < 0)
		fail_msg("open %s: %s", path, strerror((int)-n));
	while ((n = control_read(c, &data)) > 0)
		text_add(&text, data, (size_t)n);
	if (n < 0)
		fail_msg("read %s: %s", path, strerror((int)-n));
	text_putc(&text, '\0');
	assert_int_equal(control_close(c), 0);
	control_client_free(c);
	return text.buf;
}

static inline void expect(const char *path, const char *want)
{
	char *text = slurp(path);

	assert_string_equal(text, want);
	free(text);
}

/* --- a peer of the server, without a socket ------------------------------------------------- */

static inline bool at_once(void *arg)
{
	(void)arg;
	return true;
}

/* An answer's value. */
static inline int ask(struct peer *p, enum wire_op op, int value, const char *path)
{
	static struct wire_message m, answer;

	m.head = (struct wire_head){(uint32_t)strlen(path), WIRE_VERSION, (uint16_t)op, value};
	memcpy(m.data, path, m.head.len);
	peer_answer(p, &m, &answer);
	return answer.head.value;
}

#endif
