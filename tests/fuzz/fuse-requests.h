/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fuse-requests.h - what the kernel asks of a mount, as an input of a fuzz target says: names,
 * files that are opened, read, written, waited for and closed, instances that come and go; and
 * calls of the made-up guest's functions meanwhile. Each is answered once.
 */
#ifndef HVTRACE_TESTS_FUSE_REQUESTS_H
#define HVTRACE_TESTS_FUSE_REQUESTS_H

#include <fcntl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "frontend/mount/requests.h"
#include "frontend/tracefs/view.h"
#include "tests/fuzz/fuse-replies.h"
#include "tests/fuzz/fuse-words.h"
#include "tests/fuzz/input.h"
#include "tests/unit/trace-guest.h"
#include "tracer/tracer.h"

enum {
	PATHS_MAX = 2048,
	PATH_ROOM = 160,
	IDS = 32,
	HANDLES = 16,
	WAITS_MAX = 3, /* each takes WAIT_TICK_MS */
};

struct opened {
	struct fuse_file_info fi;
	fuse_ino_t ino;
	bool dir, buffer_size;
	struct fuse_req *waits; /* a read that is not answered yet */
};

/* A mount of a trace, and what an input has of it. */
static struct {
	struct trace *t;
	struct server server;
	struct input in;
	fuse_ino_t id[IDS];
	bool size_file[IDS]; /* it sets how much memory buffers have */
	unsigned int nr_ids;
	struct opened *handle[HANDLES];
	unsigned int waits;
} now;

static char paths[PATHS_MAX][PATH_ROOM]; /* all files and directories of the tree */
static unsigned int nr_paths;

static void remember(fuse_ino_t id, bool size_file)
{
	now.id[now.nr_ids % IDS] = id;
	now.size_file[now.nr_ids++ % IDS] = size_file;
}

static unsigned int some_id(void)
{
	return input_byte(&now.in) % (now.nr_ids < IDS ? now.nr_ids : IDS);
}

static struct opened **some_handle(void)
{
	return &now.handle[input_byte(&now.in) % HANDLES];
}

static struct fuse_req *request(void)
{
	struct fuse_req *req = calloc(1, sizeof(*req));

	if (!req)
		abort();
	req->server = &now.server;
	requests++;
	return req;
}

static void request_end(struct fuse_req *req)
{
	if (req->answers != 1)
		abort();
	requests--;
	free(req);
}

static fuse_ino_t lookup(fuse_ino_t dir, const char *name)
{
	struct fuse_req *req = request();
	fuse_ino_t ino;

	server_ops.lookup(req, dir, name);
	ino = req->err ? 0 : req->ino;
	request_end(req);
	return ino;
}

static void walk(void)
{
	const char *path = paths[input_u16(&now.in) % nr_paths], *end;
	fuse_ino_t ino = VIEW_ROOT;
	char name[256];

	/* Below an instance, or at the top. */
	if (input_byte(&now.in) & 1)
		ino = now.id[some_id()];
	for (; ino; path = end + 1) {
		end = strchrnul(path, '/');
		snprintf(name, sizeof(name), "%.*s", (int)(end - path), path);
		ino = lookup(ino, name);
		if (!*end)
			break;
	}
	if (ino)
		remember(ino, strstr(path, "_size"));
}

static void look_for_any_name(void)
{
	char name[256];
	fuse_ino_t ino;

	some_name(&now.in, name, sizeof(name));
	ino = lookup(now.id[some_id()], name);
	if (ino)
		remember(ino, strstr(name, "_size"));
}

static void open_one(bool dir)
{
	static const int flags[] = {O_RDONLY,
				    O_WRONLY,
				    O_RDWR,
				    O_WRONLY | O_TRUNC,
				    O_WRONLY | O_APPEND,
				    O_RDWR | O_TRUNC,
				    O_RDONLY | O_NONBLOCK,
				    O_RDONLY | O_DIRECT};
	struct opened **to = some_handle(), *h;
	struct fuse_req *req;
	unsigned int id = some_id();

	if (*to)
		return;
	h = calloc(1, sizeof(*h));
	req = request();
	if (!h)
		abort();
	h->ino = now.id[id];
	h->dir = dir;
	h->buffer_size = now.size_file[id];
	h->fi.flags = flags[input_byte(&now.in) % 8];
	req->lost = input_byte(&now.in) > 250;
	if (dir)
		server_ops.opendir(req, h->ino, &h->fi);
	else
		server_ops.open(req, h->ino, &h->fi);
	if (req->fh)
		*to = h;
	else
		free(h);
	request_end(req);
}

/* The kernel keeps a file open while something is asked of it. */
static bool may_ask(struct opened *h)
{
	if (h && h->waits && h->waits->answers) {
		request_end(h->waits);
		h->waits = NULL;
	}
	return h && !h->waits;
}

static void close_one(struct opened **at)
{
	struct fuse_req *req;

	if (!may_ask(*at))
		return;
	req = request();
	if ((*at)->dir)
		server_ops.releasedir(req, (*at)->ino, &(*at)->fi);
	else
		server_ops.release(req, (*at)->ino, &(*at)->fi);
	request_end(req);
	free(*at);
	*at = NULL;
}

static off_t some_offset(void)
{
	uint8_t kind = input_byte(&now.in);

	if (kind < 128)
		return kind;
	return kind < 250 ? input_u16(&now.in) : INT64_MAX - (kind - 250);
}

static void read_one(void)
{
	struct opened *h = *some_handle();
	size_t size = (size_t)input_u16(&now.in) * (input_byte(&now.in) < 240 ? 1 : 2);
	off_t off = some_offset();
	struct fuse_req *req;

	if (!may_ask(h))
		return;
	req = request();
	if (h->dir) {
		server_ops.readdir(req, h->ino, size, off, &h->fi);
	} else {
		/* One that waits alone is sent away after its first look. */
		req->interrupted = !(input_byte(&now.in) & 1);
		atomic_store(&now.server.reads, req->interrupted ? 0 : READS_WITH_THREAD);
		if (++now.waits > WAITS_MAX)
			h->fi.flags |= O_NONBLOCK;
		server_ops.read(req, h->ino, size, off, &h->fi);
	}
	if (req->len > size)
		abort();
	if (!req->answers && h->dir)
		abort();
	h->waits = req;
	may_ask(h);
}

static void write_one(void)
{
	struct opened *h = *some_handle();
	char text[1024];
	size_t len = some_text(&now.in, text, sizeof(text));
	off_t off = some_offset();
	struct fuse_req *req;

	if (!may_ask(h) || h->dir || !len)
		return;
	/* Sizes may be as large as memory. */
	if (h->buffer_size && len > 3)
		len = 3;
	req = request();
	server_ops.write(req, h->ino, text, len, off, &h->fi);
	if (req->len > len)
		abort();
	request_end(req);
}

static void poll_one(void)
{
	struct opened *h = *some_handle();
	struct fuse_pollhandle *ph = NULL;
	struct fuse_req *req;

	if (!h || h->dir)
		return;
	if (input_byte(&now.in) & 1) {
		ph = calloc(1, sizeof(*ph));
		poll_handles++;
	}
	req = request();
	server_ops.poll(req, h->ino, &h->fi, ph);
	request_end(req);
}

static void change_attributes(void)
{
	struct fuse_req *req = request();
	struct stat st = {
		.st_mode = input_u16(&now.in), .st_uid = input_u16(&now.in), .st_size = 3};
	fuse_ino_t ino = now.id[some_id()];

	server_ops.setattr(req, ino, &st, input_byte(&now.in), NULL);
	request_end(req);
	req = request();
	server_ops.getattr(req, ino, NULL);
	request_end(req);
}

static void change_names(uint8_t how)
{
	struct fuse_req *req = request();
	fuse_ino_t dir = now.id[some_id()];
	char name[256];

	some_name(&now.in, name, sizeof(name));
	if (how & 8)
		dir = lookup(VIEW_ROOT, "instances");
	if (how & 1)
		server_ops.mkdir(req, dir, name, 0755);
	else if (how & 2)
		server_ops.rmdir(req, dir, name);
	else if (how & 4)
		server_ops.unlink(req, dir, name);
	else
		server_ops.create(req, dir, name, 0644, NULL);
	if (how & 1 && !req->err)
		remember(req->ino, false);
	request_end(req);
}

static void act(void)
{
	uint8_t op = input_byte(&now.in);

	switch (op & 15) {
	case 0:
	case 1:
	case 2:
		walk();
		break;
	case 3:
		look_for_any_name();
		break;
	case 4:
	case 5:
		open_one(op & 16);
		break;
	case 6:
		close_one(some_handle());
		break;
	case 7:
	case 8:
		read_one();
		break;
	case 9:
	case 10:
	case 11:
		write_one();
		break;
	case 12:
		poll_one();
		break;
	case 13:
		change_attributes();
		break;
	case 14:
		change_names(op >> 4);
		break;
	default:
		guest_calls(now.t, op & 16 ? FN_ALPHA : FN_BETA, FAKE_VA(FN_BETA) + 0x10);
	}
}

#endif
