// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * fuzz-control.c - what comes over the socket of a trace: bytes as they are, when the first one is
 * odd, else messages that are made of them, so that more of them get past the heads.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "frontend/control/peer.h"
#include "frontend/control/wire.h"
#include "tests/unit/tracefs-trace.h"
#include "tracer/tracer.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Both ends of a connection, and what goes over it. */
struct talk {
	struct wire ours, theirs;
	struct wire_message request, answer;
};

static bool at_once(void *arg)
{
	(void)arg;
	return true;
}

static void close_end(struct wire *w)
{
	if (w->fd >= 0)
		close(w->fd);
	w->fd = -1;
}

/* Sizes of buffers may be as large as memory. */
static bool is_size(const struct wire_message *m)
{
	return m->head.op == WIRE_OPEN && memmem(m->data, m->head.len, "buffer_", 7);
}

/* False: the other end would be refused. */
static bool serve_one(struct talk *t, struct peer *p)
{
	const struct wire_head *head = &t->answer.head;

	if (wire_receive(&t->ours, &t->request, 0))
		return false;
	if (is_size(&t->request))
		return true;
	peer_answer(p, &t->request, &t->answer);
	if (head->len > WIRE_DATA_MAX || head->value < -4095)
		abort();
	if (head->len && (head->op != WIRE_READ || head->len != (uint32_t)head->value))
		abort();
	if (head->op == WIRE_WRITE && head->value > (int32_t)t->request.head.len)
		abort();
	return true;
}

/* The next message: op, a number, a length, data. */
static size_t make_message(struct wire_message *m, const uint8_t *data, size_t size)
{
	static const char *const paths[] = {
		"trace",	  "trace_pipe",	       "set_ftrace_filter",   "instances/foo",
		"current_tracer", "options/overwrite", "instances/foo/trace", "per_cpu/cpu1/stats",
	};
	static const int flags[] = {O_RDONLY, O_WRONLY | O_TRUNC, O_WRONLY | O_APPEND, O_RDWR};
	size_t len = data[2];

	m->head = (struct wire_head){0, WIRE_VERSION, data[0] % 8, (int8_t)data[1]};
	if (m->head.op == WIRE_OPEN)
		m->head.value = flags[data[1] % 4];
	len = len < size - 3 ? len : size - 3;
	memcpy(m->data, data + 3, len);
	m->head.len = (uint32_t)len;
	if (data[2] < 8 && m->head.op != WIRE_WRITE) {
		m->head.len = (uint32_t)strlen(paths[data[2]]);
		memcpy(m->data, paths[data[2]], m->head.len);
		len = 0;
	}
	return 3 + len;
}

static void talk(struct talk *t, struct peer *p, const uint8_t *data, size_t size)
{
	if (*data & 1) {
		if (send(t->theirs.fd, data + 1, size - 1, 0) != (ssize_t)size - 1)
			abort();
		close_end(&t->theirs);
		while (serve_one(t, p))
			;
		return;
	}
	for (size_t at = 1; at + 3 <= size;) {
		at += make_message(&t->request, data + at, size - at);
		if (wire_send(&t->theirs, &t->request) || !serve_one(t, p))
			abort();
	}
}

static struct trace *new_trace(void)
{
	const struct trace_config cfg = {
		.vcpus = TRACEFS_VCPUS,
		.tracer = "nop",
		.buffer_bytes = 16 << 10,
		.engine = TRACE_ENGINE_TRAP,
	};
	char err[256];

	return trace_new(&cfg, err, sizeof(err));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct talk t;
	struct peer p = {.is_over = at_once};
	struct trace *trace;
	int ends[2];

	if (size < 2)
		return 0;
	tracefs_guest_new();
	trace = new_trace();
	p.view = trace ? view_new(trace, NULL) : NULL;
	p.may_all = *data & 2;
	if (!p.view || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends))
		abort();
	t.ours = (struct wire){ends[0], {-1, 0, 0}};
	t.theirs = (struct wire){ends[1], {-1, 0, 0}};
	talk(&t, &p, data, size);
	peer_exit(&p);
	close_end(&t.ours);
	close_end(&t.theirs);
	view_free(p.view);
	trace_free(trace);
	tracefs_guest_free();
	return 0;
}
