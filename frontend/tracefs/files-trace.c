// SPDX-License-Identifier: GPL-2.0-or-later
/* files-trace.c - the events themselves: trace, trace_pipe and the binary pages. */
#include "frontend/tracefs/internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* --- trace -------------------------------------------------------------------------------- */

struct trace_file {
	struct instance_reader *reader;
	bool pauses; /* recording, while it is open */
};

static int open_trace(struct open_file *f)
{
	struct trace_file *tf;

	if (opened_to_truncate(f))
		instance_clear(f->instance, f->vcpu);
	if (!opened_to_read(f))
		return 0;
	trace_catch_up(f->trace);
	tf = calloc(1, sizeof(*tf));
	if (tf)
		tf->reader = instance_read_open(f->instance, f->vcpu, false);
	if (!tf || !tf->reader) {
		free(tf);
		return -ENOMEM;
	}
	tf->pauses = instance_options(f->instance) & OUTPUT_PAUSE_ON_TRACE;
	if (tf->pauses)
		recording_pause(f);
	f->data = tf;
	return 0;
}

static void release_trace(struct open_file *f)
{
	struct trace_file *tf = f->data;

	if (!tf)
		return;
	instance_read_close(tf->reader);
	if (tf->pauses)
		recording_resume(f);
	free(tf);
}

static ssize_t read_trace(struct open_file *f, char *buf, size_t len, off_t off)
{
	return instance_read(((struct trace_file *)f->data)->reader, buf, len, off);
}

static ssize_t write_trace(struct open_file *f, const char *text, size_t len, off_t off)
{
	(void)f;
	(void)text;
	(void)off;
	return (ssize_t)len;
}

/* --- trace_pipe --------------------------------------------------------------------------- */

struct pipe_file {
	struct instance_reader *reader;
	_Atomic bool some; /* something was read: it ends when recording is switched off */
};

/* One reader for each vCPU, or one for all. */
static uint64_t pipe_bits(const struct open_file *f)
{
	return f->vcpu == ALL_VCPUS ? UINT64_MAX : UINT64_C(1) << (f->vcpu & 63);
}

static int claim_pipe(struct open_file *f)
{
	uint64_t bits = pipe_bits(f);
	int rc = 0;

	view_lock(f->view);
	if (f->dir->pipes & bits)
		rc = -EBUSY;
	else
		f->dir->pipes |= bits;
	f->dir->busy += !rc;
	view_unlock(f->view);
	return rc;
}

static void disclaim_pipe(struct open_file *f)
{
	view_lock(f->view);
	f->dir->pipes &= ~pipe_bits(f);
	f->dir->busy--;
	view_unlock(f->view);
}

static int open_pipe(struct open_file *f)
{
	struct pipe_file *p;
	int rc = claim_pipe(f);

	if (rc)
		return rc;
	p = calloc(1, sizeof(*p));
	if (p)
		p->reader = instance_read_open(f->instance, f->vcpu, true);
	if (!p || !p->reader) {
		free(p);
		disclaim_pipe(f);
		return -ENOMEM;
	}
	f->data = p;
	return 0;
}

static void release_pipe(struct open_file *f)
{
	struct pipe_file *p = f->data;

	instance_read_close(p->reader);
	free(p);
	disclaim_pipe(f);
}

static bool pipe_has_ended(struct open_file *f)
{
	struct pipe_file *p = f->data;

	return p->some && !recording_is_on(f);
}

static ssize_t read_pipe(struct open_file *f, char *buf, size_t len, off_t off)
{
	struct pipe_file *p = f->data;
	/*
	 * Asked before: what was recorded until then is read. Who does not wait never gets to the
	 * end (tracing_wait_pipe): programs that ask again until there is an error rely on it.
	 */
	bool ended = !f->nonblock && pipe_has_ended(f);
	ssize_t n = instance_read(p->reader, buf, len, off);

	if (n > 0)
		p->some = true;
	return n || ended || !len ? n : -EAGAIN;
}

static bool wait_pipe(struct open_file *f, int timeout_ms)
{
	return pipe_has_ended(f) || instance_wait(f->instance, f->vcpu, timeout_ms) ||
	       pipe_has_ended(f);
}

/* In the mode called block everything can always be read. */
static bool always_readable(const struct open_file *f)
{
	return instance_options(f->instance) & OUTPUT_BLOCK;
}

static bool poll_pipe(struct open_file *f, int timeout_ms)
{
	return always_readable(f) || pipe_has_ended(f) ||
	       instance_wait_full(f->instance, f->vcpu, timeout_ms) || pipe_has_ended(f);
}

/* --- pages -------------------------------------------------------------------------------- */

#define PAGE_BYTES 4096

/* A page that is read in smaller pieces than it has. */
struct raw_file {
	size_t at, len;
	char page[PAGE_BYTES];
};

static int open_raw(struct open_file *f)
{
	f->data = calloc(1, sizeof(struct raw_file));
	if (!f->data)
		return -ENOMEM;
	view_lock(f->view);
	f->dir->busy++;
	view_unlock(f->view);
	return 0;
}

static void release_raw(struct open_file *f)
{
	free(f->data);
	view_lock(f->view);
	f->dir->busy--;
	view_unlock(f->view);
}

typedef int (*page_reader)(struct instance *i, unsigned int vcpu, void *page, size_t len);

/* A page is always read as a whole, however much of it holds events. */
static int next_page(struct open_file *f, page_reader next, char *page)
{
	int n = next(f->instance, (unsigned int)f->vcpu, page, PAGE_BYTES);

	return n < 0 ? n : PAGE_BYTES;
}

static ssize_t read_pages(struct open_file *f, char *buf, size_t len, page_reader next)
{
	struct raw_file *raw = f->data;

	if (!len)
		return 0;
	if (raw->at == raw->len) {
		/* Right to where it is wanted if it fits there. */
		bool fits = len >= PAGE_BYTES;
		int n = next_page(f, next, fits ? buf : raw->page);

		if (n < 0 || fits)
			return n;
		raw->at = 0;
		raw->len = PAGE_BYTES;
	}
	if (len > raw->len - raw->at)
		len = raw->len - raw->at;
	memcpy(buf, raw->page + raw->at, len);
	raw->at += len;
	return (ssize_t)len;
}

static ssize_t read_raw(struct open_file *f, char *buf, size_t len, off_t off)
{
	(void)off;
	return read_pages(f, buf, len, instance_read_raw);
}

static bool wait_raw(struct open_file *f, int timeout_ms)
{
	return instance_wait(f->instance, f->vcpu, timeout_ms);
}

static bool poll_raw(struct open_file *f, int timeout_ms)
{
	return always_readable(f) || instance_wait_full(f->instance, f->vcpu, timeout_ms);
}

/* As snapshot_raw_open() (kernel/trace/trace.c, 6.1). */
static int open_snapshot_raw(struct open_file *f)
{
	return instance_lends_snapshot(f->instance) ? -EBUSY : open_raw(f);
}

static ssize_t read_snapshot_raw(struct open_file *f, char *buf, size_t len, off_t off)
{
	(void)off;
	if (instance_lends_snapshot(f->instance))
		return -EBUSY;
	return read_pages(f, buf, len, instance_snapshot_read_raw);
}

static const struct tracefs_file files[] = {
	{.path = "trace",
	 .what = "as text; reading takes nothing away; > empties it",
	 .mode = 0640,
	 .open = open_trace,
	 .release = release_trace,
	 .read = read_trace,
	 .write = write_trace},
	{.path = "trace_pipe",
	 .what = "as text, each event once; waits for more",
	 .mode = 0440,
	 .flags = TRACEFS_STREAM,
	 .open = open_pipe,
	 .release = release_pipe,
	 .read = read_pipe,
	 .wait = wait_pipe,
	 .poll = poll_pipe},
	{.path = "per_cpu/cpu%d/trace",
	 .what = "the same of one vCPU",
	 .mode = 0640,
	 .open = open_trace,
	 .release = release_trace,
	 .read = read_trace,
	 .write = write_trace},
	{.path = "per_cpu/cpu%d/trace_pipe",
	 .what = "likewise",
	 .mode = 0440,
	 .flags = TRACEFS_STREAM,
	 .open = open_pipe,
	 .release = release_pipe,
	 .read = read_pipe,
	 .wait = wait_pipe,
	 .poll = poll_pipe},
	{.path = "per_cpu/cpu%d/trace_pipe_raw",
	 .what = "pages, as events/header_page describes them",
	 .mode = 0440,
	 .flags = TRACEFS_STREAM,
	 .open = open_raw,
	 .release = release_raw,
	 .read = read_raw,
	 .wait = wait_raw,
	 .poll = poll_raw},
	{.path = "per_cpu/cpu%d/snapshot_raw",
	 .what = "likewise, of its snapshot",
	 .mode = 0440,
	 .flags = TRACEFS_STREAM,
	 .open = open_snapshot_raw,
	 .release = release_raw,
	 .read = read_snapshot_raw},
};

const struct tracefs_table tracefs_trace_files = TRACEFS_TABLE("What was recorded", files);
