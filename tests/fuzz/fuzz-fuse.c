// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * fuzz-fuse.c - what the kernel may ask of a mount, for any user who is let in: names, files that
 * are opened, read, written and waited for in any order, closed in another one, instances that come
 * and go meanwhile; of a trace of a made-up guest that runs on. Each request is answered once, none
 * costs a thread of its own, and when all is closed nothing is held that was not before.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include <dirent.h>
#include <stdio.h>
#include <sys/stat.h>

#include "frontend/mount/requests.h"
#include "frontend/tracefs/view.h"
#include "tests/fuzz/fuse-replies.h"
#include "tests/fuzz/fuse-requests.h"
#include "tests/fuzz/held.h"
#include "tests/fuzz/input.h"
#include "tests/unit/made-events.h"
#include "tests/unit/trace-guest.h"
#include "tracer/tracer.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum {
	ROUNDS = 4,
	SETTLED = 1, /* the round after which nothing grows */
};

/* One of a kilobyte takes 1000 where page faults are dear, and twice that where others compute
 * beside it. */
static struct cost input_ms = {"milliseconds of an input", 4000, 0};
static struct cost grown = {"bytes that are held for doing it again", 8192, 0};
static struct cost kept = {"bytes that are held for ever", UINT64_MAX, 0};
/* This one, the one that waits for all, and that of the tracer hwlat. */
static struct cost threads = {"threads", 3, 0};

static struct guestsym_event events[2];
static const struct guestsym_event_list list = {
	.common = made_common,
	.nr_common = sizeof(made_common) / sizeof(made_common[0]),
	.v = events,
	.n = 2,
};

/* --- inputs ---------------------------------------------------------------------------------- */

static unsigned int count_threads(void)
{
	DIR *dir = opendir("/proc/self/task");
	unsigned int n = 0;

	if (!dir)
		abort();
	while (readdir(dir))
		n++;
	closedir(dir);
	return n - 2;
}

static void start(void)
{
	static const struct trace_config cfg = {
		.tracer = "function",
		.vcpus = 2,
		.buffer_bytes = 16 << 10,
		.engine = TRACE_ENGINE_TRAP,
		.control = true,
	};
	char err[256] = "";

	guest_set_up(NULL);
	fake_symbol("tracing_mark_write", FAKE_VA(0x3000), 't');
	fake.events = &list;
	now.t = trace_new(&cfg, err, sizeof(err));
	if (!now.t || trace_attach(now.t, (struct machine *)&fake, err, sizeof(err)))
		abort();
	server_init(&now.server, view_new(now.t, "a made-up one"));
	if (!now.server.view)
		abort();
}

static void close_all(void)
{
	char name[2] = "a";

	for (unsigned int i = 0; i < HANDLES; i++)
		close_one(&now.handle[i]);
	for (; name[0] <= 'e'; name[0]++) {
		struct fuse_req *req = request();

		server_ops.rmdir(req, lookup(VIEW_ROOT, "instances"), name);
		request_end(req);
	}
}

/* Whoever still waits is answered then. */
static void stop(void)
{
	struct view *view = now.server.view;

	server_exit(&now.server);
	for (unsigned int i = 0; i < HANDLES; i++) {
		if (now.handle[i] && !may_ask(now.handle[i]))
			abort();
		free(now.handle[i]);
		now.handle[i] = NULL;
	}
	if (requests || poll_handles)
		abort();
	view_free(view);
	trace_detach(now.t);
	trace_free(now.t);
	guest_tear_down(NULL);
	now.server = (struct server){0};
}

static void rounds(const uint8_t *data, size_t size)
{
	size_t settled = 0;

	now.waits = 0;
	for (unsigned int i = 0; i < ROUNDS; i++) {
		now.nr_ids = 0;
		remember(VIEW_ROOT, false);
		now.in = (struct input){data, size};
		while (now.in.size)
			act();
		cost_is(&threads, count_threads());
		close_all();
		if (i == SETTLED)
			settled = held_bytes();
	}
	if (held_bytes() > settled)
		cost_is(&grown, held_bytes() - settled);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t before = held_bytes();
	int64_t ms = held_cpu_ms();

	if (!size)
		return 0;
	start();
	rounds(data, size);
	stop();
	if (held_bytes() > before)
		cost_is(&kept, held_bytes() - before);
	cost_is(&input_ms, (uint64_t)(held_cpu_ms() - ms));
	return 0;
}

static void list_paths(struct view *view, view_id dir, const char *path)
{
	struct view_entry *entries;
	ssize_t nr = view_list(view, dir, &entries);

	for (ssize_t i = 0; i < nr && nr_paths < PATHS_MAX; i++) {
		char *to = paths[nr_paths];

		if (snprintf(to, PATH_ROOM, "%s%s%s", path, *path ? "/" : "", entries[i].name) >=
		    PATH_ROOM)
			continue;
		nr_paths++;
		if (S_ISDIR(entries[i].mode))
			list_paths(view, entries[i].id, to);
	}
	if (nr >= 0)
		free(entries);
}

/* What is made at first use is made here. */
int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	static const uint8_t one[] = {3, 0, 0, 15};

	(void)argc;
	(void)argv;
	events[0] = made_switch;
	events[1] = made_kmalloc;
	for (unsigned int i = 0; i < 2; i++) {
		events[i].id = (uint16_t)(300 + i);
		events[i].flags = GUESTSYM_EVENT_FL_REG;
		events[i].source = GUESTSYM_EVENT_PROBE;
		events[i].tracepoint = FAKE_VA(0x8000);
		events[i].probe = FAKE_VA(0x9000);
	}
	start();
	list_paths(now.server.view, VIEW_ROOT, "");
	stop();
	held_have_had_threads();
	LLVMFuzzerTestOneInput(one, sizeof(one));
	kept.limit = 0;
	return 0;
}
