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
#include <fcntl.h>
#include <stdio.h>

#include "frontend/mount/requests.h"
#include "frontend/tracefs/view.h"
#include "tests/fuzz/fuse-replies.h"
#include "tests/fuzz/held.h"
#include "tests/fuzz/input.h"
#include "tests/unit/made-events.h"
#include "tests/unit/trace-guest.h"
#include "tracer/tracer.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum {
	PATHS_MAX = 2048,
	PATH_ROOM = 160,
	IDS = 32,
	HANDLES = 16,
	WAITS_MAX = 3, /* each takes WAIT_TICK_MS */
	ROUNDS = 4,
	SETTLED = 1, /* the round after which nothing grows */
};

static struct cost input_ms = {"milliseconds of an input", 2000, 0};
static struct cost grown = {"bytes that are held for doing it again", 8192, 0};
static struct cost kept = {"bytes that are held for ever", UINT64_MAX, 0};
/* This one, the one that waits for all, and that of the tracer hwlat. */
static struct cost threads = {"threads", 3, 0};

/* --- what there is --------------------------------------------------------------------------- */

struct opened {
	struct fuse_file_info fi;
	fuse_ino_t ino;
	bool dir, buffer_size;
	struct fuse_req *waits; /* a read that is not answered yet */
};

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

/* What is written to files, each with ";;" behind it. */
static const char words[] =
	"0;;1;;2;;nop;;function;;function_graph;;wakeup;;irqsoff;;preemptirqsoff;;blk;;"
	"hwlat;;alpha;;beta;;a*;;*;;!alpha;;:mod:*;;alpha:traceoff:2;;beta:stacktrace;;"
	"alpha:snapshot;;!alpha:traceoff;;sched:*;;*:*;;!*:*;;sched_switch;;kmem;;"
	"prev_pid == 1;;prev_comm ~ \"a*\" && next_prio > 3;;none;;global;;local;;x86-tsc;;"
	"mono;;nooverwrite;;overwrite;;noprint-parent;;sym-offset;;verbose;;stacktrace;;"
	"latency-format;;p:one alpha;;p:two beta+3 %ax;;r:three alpha $retval;;-:one;;"
	"hist:keys=prev_pid;;hist:keys=next_comm:vals=prev_prio;;!hist:keys=prev_pid;;"
	"traceoff:3 if prev_pid == 0;;enable_event:kmem:kmalloc;;"
	"e:four sched/sched_switch;;s:five u64 a; char b[16];;five u64 a; int b;;3;;f;;"
	"ffff;;-1;;16;;128;;999;;text for the trace;;a;;b;;c;;";

enum { NR_WORDS = 63 };

static struct guestsym_event events[2];
static const struct guestsym_event_list list = {
	.common = made_common,
	.nr_common = sizeof(made_common) / sizeof(made_common[0]),
	.v = events,
	.n = 2,
};

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

/* Number n of them: its length. */
static size_t word(unsigned int n, const char **text)
{
	for (*text = words; n--;)
		*text = strstr(*text, ";;") + 2;
	return (size_t)(strstr(*text, ";;") - *text);
}

/* Words, and bytes as they are, up to a byte that says which comes next. */
static size_t some_text(char *to, size_t room)
{
	size_t len = 0, n_word;
	const char *text;

	for (unsigned int n = input_byte(&now.in) % 4; n <= 4; n++) {
		uint8_t kind = input_byte(&now.in);

		if (kind < NR_WORDS && room - len > (n_word = word(kind, &text))) {
			memcpy(to + len, text, n_word);
			len += n_word;
		} else {
			for (kind &= 15; kind && len + 1 < room; kind--)
				to[len++] = (char)input_byte(&now.in);
		}
		if (len + 1 < room && n < 4)
			to[len++] = " \n,;"[input_byte(&now.in) % 4];
	}
	return len;
}

static void some_name(char *to, size_t room)
{
	uint8_t kind = input_byte(&now.in);

	if (kind < 200) {
		snprintf(to, room, "%c", 'a' + kind % 5);
	} else {
		to[some_text(to, room - 1)] = '\0';
		to[strcspn(to, "/")] = '\0';
		if (!to[0])
			snprintf(to, room, "a");
	}
}

/* --- requests -------------------------------------------------------------------------------- */

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

	some_name(name, sizeof(name));
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
	size_t len = some_text(text, sizeof(text));
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

	some_name(name, sizeof(name));
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
