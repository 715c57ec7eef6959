// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test-tracefs.c - the files of a trace without a mount: that there are those of a real kernel,
 * with its modes, texts and errors (tests/data/tracefs-6.1); how names are found, and what files
 * read.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit/tracefs-golden.h"
#include "tests/unit/tracefs-world.h"
#include "tracer/control/files.h"
#include "tracer/instance/instance.h"
#include "tracer/tracers/tracers.h"

/* --- what the kernel's has and says ------------------------------------------------------- */

struct listing {
	struct world *w;
	const char *prefix;
};

static void check_listed(void *arg, const char *path, mode_t mode)
{
	const struct listing *l = arg;
	struct view_attr attr;
	char whole[512];
	view_id id;
	int rc;

	snprintf(whole, sizeof(whole), "%s%s", l->prefix, path);
	rc = view_find(l->w->view, whole, &id);
	if (!mode) {
		if (rc != -ENOENT)
			fail_msg("%s is offered now: take it off the list of what is not", path);
		return;
	}
	if (rc)
		fail_msg("there is no %s", whole);
	assert_int_equal(view_attr(l->w->view, id, &attr), 0);
	if (attr.mode != mode)
		fail_msg("%s has mode %o, not %o", path, attr.mode, mode);
	assert_int_equal(attr.uid, geteuid());
	assert_int_equal(attr.gid, getegid());
}

static void test_listing(void **state)
{
	struct listing l = {*state, ""};

	golden_each_listed("tree.txt", check_listed, &l);
}

static void test_instance_listing(void **state)
{
	struct listing l = {*state, "instances/foo/"};
	view_id dir = 0, id;

	assert_int_equal(view_find(l.w->view, "trace/", &dir), -ENOTDIR);
	assert_int_equal(view_find(l.w->view, "instances/", &dir), 0);
	assert_int_equal(view_find(l.w->view, "instances", &dir), 0);
	assert_int_equal(view_mkdir(l.w->view, dir, "foo", &id), 0);
	golden_each_listed("tree-instance.txt", check_listed, &l);
}

/* Debian's kernel cannot swap one CPU's buffer, and says so. */
static void check_text(void *arg, const char *path, const char *text)
{
	if (strcmp(path, "per_cpu/cpu0/snapshot") != 0)
		expect(arg, path, text);
}

static void test_defaults(void **state)
{
	assert_true(golden_each_text("", check_text, *state) > 60);
}

static void check_write(void *arg, const struct golden_write *w)
{
	golden_check_write(w, put_bytes(arg, w->path, golden_flags(w), w->text, w->len));
}

static void test_writes(void **state)
{
	assert_true(golden_each_write(check_write, *state) > 130);
}

/* --- names -------------------------------------------------------------------------------- */

static void test_names(void **state)
{
	struct world *w = *state;
	view_id id, same;
	struct view_attr attr;

	assert_int_equal(view_find(w->view, "per_cpu/cpu1/trace_pipe_raw", &id), 0);
	assert_int_equal(view_attr(w->view, id, &attr), 0);
	assert_int_equal(attr.mode, S_IFREG | 0440);
	assert_int_equal(view_find(w->view, "per_cpu/cpu1/trace_pipe_raw", &same), 0);
	assert_true(id == same);
	assert_int_equal(view_find(w->view, "per_cpu/cpu0/trace_pipe_raw", &same), 0);
	assert_true(id != same);
	assert_int_equal(view_find(w->view, "per_cpu/cpu2", &id), -ENOENT);
	assert_int_equal(view_find(w->view, "per_cpu/cpu%d", &id), -ENOENT);
	assert_int_equal(view_find(w->view, "options/%s", &id), -ENOENT);
	assert_int_equal(view_find(w->view, "trace/x", &id), -ENOTDIR);
	assert_int_equal(view_find(w->view, "instances/x", &id), -ENOENT);
	assert_int_equal(view_find(w->view, "options/overwrite", &id), 0);
	assert_int_equal(view_attr(w->view, UINT64_MAX, &attr), -ENOENT);
	assert_int_equal(view_attr(w->view, 0, &attr), -ENOENT);
}

/* All that is listed can be found by its name, and the other way round nothing is listed twice. */
static unsigned int walk(struct world *w, view_id dir)
{
	struct view_entry *entries;
	ssize_t nr = view_list(w->view, dir, &entries);
	unsigned int files = 0;

	assert_true(nr >= 0);
	for (ssize_t i = 0; i < nr; i++) {
		view_id id;

		assert_int_equal(view_lookup(w->view, dir, entries[i].name, &id), 0);
		assert_true(id == entries[i].id);
		files += S_ISDIR(entries[i].mode) ? walk(w, id) : 1;
	}
	free(entries);
	return files;
}

static void test_lists(void **state)
{
	struct world *w = *state;
	unsigned int files = walk(w, VIEW_ROOT), more;
	view_id dir = 0, id;

	assert_int_equal(view_find(w->view, "instances", &dir), 0);
	assert_int_equal(view_mkdir(w->view, dir, "foo", &id), 0);
	more = walk(w, VIEW_ROOT) - files;
	assert_true(more > 20 && more < files);
	assert_int_equal(view_rmdir(w->view, dir, "foo"), 0);
	assert_int_equal(walk(w, VIEW_ROOT), files);
}

static void test_instances(void **state)
{
	struct world *w = *state;
	struct open_file *f = NULL;
	view_id dir = 0, first = 0, second = 0, id;
	struct view_attr attr;

	assert_int_equal(view_find(w->view, "instances", &dir), 0);
	assert_int_equal(view_mkdir(w->view, dir, "foo", &first), 0);
	assert_int_equal(view_mkdir(w->view, dir, "foo", &id), -EEXIST);
	assert_int_equal(view_mkdir(w->view, first, "bar", &id), -EPERM);
	assert_int_equal(view_mkdir(w->view, VIEW_ROOT, "bar", &id), -EPERM);
	assert_int_equal(view_rmdir(w->view, VIEW_ROOT, "instances"), -EPERM);
	assert_int_equal(view_rmdir(w->view, dir, "bar"), -ENOENT);
	assert_int_equal(view_find(w->view, "instances/foo/README", &id), -ENOENT);
	assert_int_equal(view_find(w->view, "instances/foo/instances", &id), -ENOENT);
	assert_int_equal(view_find(w->view, "instances/foo/options/record-cmd", &id), -ENOENT);
	assert_int_equal(view_find(w->view, "instances/foo/options/overwrite", &id), 0);

	assert_int_equal(put(w, "instances/foo/tracing_on", O_TRUNC, "0"), 1);
	expect(w, "instances/foo/tracing_on", "0\n");
	expect(w, "tracing_on", "1\n");

	assert_int_equal(open_path(w, "instances/foo/trace", O_RDONLY, &f), 0);
	assert_int_equal(view_rmdir(w->view, dir, "foo"), -EBUSY);
	view_close(w->view, f);
	assert_int_equal(view_rmdir(w->view, dir, "foo"), 0);
	assert_int_equal(view_attr(w->view, first, &attr), -ENOENT);
	assert_int_equal(view_mkdir(w->view, dir, "foo", &second), 0);
	assert_true(first != second);
	expect(w, "instances/foo/tracing_on", "1\n");
}

/* --- what files do ------------------------------------------------------------------------ */

static void test_text_stays(void **state)
{
	struct world *w = *state;
	struct open_file *f = NULL;
	char c[2];

	assert_int_equal(open_path(w, "current_tracer", O_RDONLY, &f), 0);
	assert_int_equal(view_read(f, c, 1, 0), 1);
	assert_int_equal(put(w, "current_tracer", 0, "function"), 8);
	assert_int_equal(view_read(f, c, 2, 1), 2);
	assert_memory_equal(c, "op", 2);
	assert_int_equal(view_read(f, c, 1, 0), 1);
	assert_memory_equal(c, "f", 1);
	view_close(w->view, f);
}

static void test_buffer_size(void **state)
{
	struct world *w = *state;

	assert_int_equal(put(w, "per_cpu/cpu1/buffer_size_kb", 0, "500\n"), 4);
	expect(w, "per_cpu/cpu1/buffer_size_kb", "502\n");
	expect(w, "buffer_size_kb", "X\n");
	assert_int_equal(put(w, "buffer_size_kb", 0, "64"), 2);
	expect(w, "buffer_size_kb", "67\n");
	expect(w, "buffer_total_size_kb", "134\n");
	assert_int_equal(put(w, "buffer_size_kb", 0, "0"), -EINVAL);
	assert_int_equal(put(w, "per_cpu/cpu0/buffer_size_kb", 0, "1000000000000"), -ENOMEM);
	expect(w, "buffer_size_kb", "67\n");
}

static void test_free_buffer(void **state)
{
	struct world *w = *state;

	assert_int_equal(put(w, "free_buffer", 0, "x"), 1);
	expect(w, "buffer_size_kb", "7\n");
	expect(w, "tracing_on", "1\n");
	assert_int_equal(put(w, "trace_options", 0, "disable_on_free"), 15);
	assert_int_equal(put(w, "free_buffer", 0, "x"), 1);
	expect(w, "tracing_on", "0\n");
}

static void test_pipe(void **state)
{
	struct world *w = *state;
	struct open_file *all = NULL, *one = NULL, *other = NULL;
	char buf[4096];

	assert_int_equal(open_path(w, "trace_pipe", O_RDONLY, &all), 0);
	assert_int_equal(open_path(w, "trace_pipe", O_RDONLY, &one), -EBUSY);
	assert_int_equal(open_path(w, "per_cpu/cpu0/trace_pipe", O_RDONLY, &one), -EBUSY);
	assert_int_equal(put(w, "current_tracer", 0, "function"), -EBUSY);
	assert_int_equal(put(w, "current_tracer", 0, "nop"), 3);
	assert_int_equal(view_read(all, buf, sizeof(buf), 0), -EAGAIN);
	assert_false(view_wait(all, 0));
	/* Nothing was read yet: it goes on waiting although nothing is recorded. */
	assert_int_equal(put(w, "tracing_on", 0, "0"), 1);
	assert_int_equal(view_read(all, buf, sizeof(buf), 0), -EAGAIN);
	assert_int_equal(put(w, "trace_marker", 0, "one"), -EBADF);
	assert_int_equal(put(w, "tracing_on", 0, "1"), 1);
	assert_int_equal(put(w, "trace_marker", 0, "one"), 3);
	assert_true(view_wait(all, 0));
	assert_true(view_read(all, buf, sizeof(buf), 0) > 0);
	assert_non_null(strstr(buf, "one\n"));
	assert_int_equal(view_read(all, buf, sizeof(buf), 0), -EAGAIN);
	assert_int_equal(put(w, "tracing_on", 0, "0"), 1);
	assert_true(view_wait(all, 0));
	assert_int_equal(view_read(all, buf, sizeof(buf), 0), 0);
	view_close(w->view, all);

	assert_int_equal(open_path(w, "per_cpu/cpu0/trace_pipe", O_RDONLY, &one), 0);
	assert_int_equal(open_path(w, "per_cpu/cpu1/trace_pipe", O_RDONLY, &other), 0);
	assert_int_equal(open_path(w, "per_cpu/cpu1/trace_pipe", O_RDONLY, &all), -EBUSY);
	view_close(w->view, one);
	view_close(w->view, other);
	assert_int_equal(put(w, "current_tracer", 0, "function"), 8);
}

static void test_raw(void **state)
{
	struct world *w = *state;
	struct open_file *f = NULL;
	char whole[4096], parts[4096];

	for (int i = 0; i < 2; i++)
		assert_int_equal(put(w, "trace_marker", 0, "same"), 4);
	assert_int_equal(open_path(w, "per_cpu/cpu0/trace_pipe_raw", O_RDONLY, &f), 0);
	assert_int_equal(put(w, "current_tracer", 0, "function"), -EBUSY);
	assert_int_equal(view_read(f, whole, sizeof(whole), 0), 4096);
	assert_int_equal(view_read(f, whole, sizeof(whole), 0), -EAGAIN);
	assert_int_equal(put(w, "trace_marker", 0, "again"), 5);
	for (int i = 0; i < 4; i++)
		assert_int_equal(view_read(f, parts + 1000 * i, 1000, 0), 1000);
	assert_int_equal(view_read(f, parts + 4000, 1000, 0), 96);
	assert_int_equal(view_read(f, parts, 1000, 0), -EAGAIN);
	assert_non_null(memmem(parts, sizeof(parts), "again", 5));
	view_close(w->view, f);
}

static void test_snapshot(void **state)
{
	struct world *w = *state;
	char buf[4096];

	assert_non_null(strstr(get(w, "snapshot", buf, sizeof(buf)), "Snapshot is freed"));
	assert_int_equal(put(w, "trace_marker", 0, "kept"), 4);
	assert_int_equal(put(w, "snapshot", 0, "1"), 1);
	assert_non_null(strstr(get(w, "snapshot", buf, sizeof(buf)), "kept\n"));
	assert_null(strstr(get(w, "trace", buf, sizeof(buf)), "kept\n"));
	/* What was the snapshot's is recorded into again, with what it had. */
	assert_int_equal(put(w, "trace_marker", 0, "newer"), 5);
	assert_int_equal(put(w, "snapshot", 0, "1"), 1);
	assert_non_null(strstr(get(w, "snapshot", buf, sizeof(buf)), "newer\n"));
	assert_non_null(strstr(get(w, "trace", buf, sizeof(buf)), "kept\n"));
	assert_int_equal(put(w, "snapshot", 0, "1"), 1);
	assert_int_equal(put(w, "per_cpu/cpu0/snapshot", 0, "0"), -EINVAL);
	assert_int_equal(put(w, "per_cpu/cpu1/snapshot", 0, "1"), 1);
	assert_non_null(strstr(get(w, "snapshot", buf, sizeof(buf)), "kept\n"));
	assert_int_equal(put(w, "per_cpu/cpu0/snapshot", 0, "1"), 1);
	assert_non_null(strstr(get(w, "snapshot", buf, sizeof(buf)), "newer\n"));
	assert_int_equal(put(w, "per_cpu/cpu0/snapshot", 0, "1"), 1);
	assert_int_equal(put(w, "per_cpu/cpu1/snapshot", 0, "2"), 1);
	assert_non_null(strstr(get(w, "snapshot", buf, sizeof(buf)), "kept\n"));
	/* Times of another clock mean nothing. */
	assert_int_equal(put(w, "trace_clock", 0, "local"), 5);
	assert_non_null(strstr(get(w, "snapshot", buf, sizeof(buf)), "Snapshot is allocated"));
	assert_int_equal(put(w, "trace_clock", 0, "global"), 6);
	assert_int_equal(put(w, "trace_marker", 0, "again"), 5);
	assert_int_equal(put(w, "snapshot", 0, "1"), 1);
	assert_non_null(strstr(get(w, "snapshot", buf, sizeof(buf)), "again\n"));
	assert_int_equal(put(w, "snapshot", 0, "2"), 1);
	assert_non_null(strstr(get(w, "snapshot", buf, sizeof(buf)), "Snapshot is allocated"));
	assert_int_equal(put(w, "snapshot", 0, "0"), 1);
	assert_non_null(strstr(get(w, "snapshot", buf, sizeof(buf)), "Snapshot is freed"));
}

/* The buffer that the snapshot changes places with is used as the option says: full, and no more.
 */
static void test_snapshot_keeps_the_first(void **state)
{
	static const char *const files[] = {"snapshot", "per_cpu/cpu0/snapshot"};
	static char buf[1 << 16];
	struct world *w = *state;

	assert_int_equal(put(w, "buffer_size_kb", 0, "8"), 1);
	assert_int_equal(put(w, "options/overwrite", 0, "0"), 1);
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		assert_int_equal(put(w, files[i], 0, "1"), 1);
		assert_int_equal(put(w, "trace", O_TRUNC, ""), 0);
		assert_int_equal(put(w, "trace_marker", 0, "the first"), 9);
		for (int n = 0; n < 1000; n++)
			assert_int_equal(put(w, "trace_marker", 0, "another one"), 11);
		assert_non_null(strstr(get(w, "trace", buf, sizeof(buf)), ": the first\n"));
	}
	/* And the one that was taken when the option was another. */
	assert_int_equal(put(w, "options/overwrite", 0, "1"), 1);
	assert_int_equal(put(w, "snapshot", 0, "1"), 1);
	assert_int_equal(put(w, "trace", O_TRUNC, ""), 0);
	assert_int_equal(put(w, "trace_marker", 0, "the first"), 9);
	for (int n = 0; n < 1000; n++)
		assert_int_equal(put(w, "trace_marker", 0, "another one"), 11);
	assert_null(strstr(get(w, "trace", buf, sizeof(buf)), ": the first\n"));
}

/* The pages of the snapshot, of one vCPU; each is given once. */
static void test_snapshot_raw(void **state)
{
	struct world *w = *state;
	struct open_file *f = NULL;
	char page[4096], again[4096], buf[4096];

	assert_int_equal(open_path(w, "per_cpu/cpu0/snapshot_raw", O_RDONLY, &f), 0);
	assert_int_equal(view_read(f, page, sizeof(page), 0), -EAGAIN);
	assert_int_equal(put(w, "trace_marker", 0, "taken"), 5);
	assert_int_equal(put(w, "snapshot", 0, "1"), 1);
	assert_int_equal(put(w, "trace_marker", 0, "later"), 5);
	assert_int_equal(view_read(f, page, sizeof(page), 0), 4096);
	assert_non_null(memmem(page, sizeof(page), "taken", 5));
	assert_null(memmem(page, sizeof(page), "later", 5));
	assert_int_equal(view_read(f, again, sizeof(again), 0), -EAGAIN);
	view_close(w->view, f);
	assert_non_null(strstr(get(w, "snapshot", buf, sizeof(buf)), "Snapshot is allocated"));
	/* What was in the buffer meanwhile. */
	assert_int_equal(put(w, "snapshot", 0, "1"), 1);
	assert_int_equal(open_path(w, "per_cpu/cpu0/snapshot_raw", O_RDONLY, &f), 0);
	assert_int_equal(view_read(f, again, sizeof(again), 0), 4096);
	assert_non_null(memmem(again, sizeof(again), "later", 5));
	view_close(w->view, f);
	assert_int_equal(open_path(w, "per_cpu/cpu1/snapshot_raw", O_RDONLY, &f), 0);
	assert_int_equal(view_read(f, again, sizeof(again), 0), -EAGAIN);
	view_close(w->view, f);
}

/* A tracer of latencies keeps its own trace where it would be. */
static void test_lent_snapshot(void **state)
{
	struct world *w = *state;
	struct instance *top = trace_top(w->trace);
	static const struct tracer_ops latencies = {.name = "latencies", .max = true};
	struct open_file *f = NULL;
	char buf[64];

	assert_int_equal(put(w, "snapshot", 0, "1"), 1);
	assert_int_equal(open_path(w, "snapshot", O_RDONLY, &f), 0);
	top->tracer = &latencies;
	assert_int_equal(view_read(f, buf, sizeof(buf), 0), -EBUSY);
	view_close(w->view, f);
	for (int digit = '0'; digit <= '2'; digit++) {
		const char value = (char)digit;

		assert_int_equal(put_bytes(w, "snapshot", O_WRONLY, &value, 1), -EBUSY);
		assert_int_equal(put_bytes(w, "per_cpu/cpu1/snapshot", O_WRONLY, &value, 1),
				 -EBUSY);
	}
	assert_int_equal(open_path(w, "per_cpu/cpu0/snapshot_raw", O_RDONLY, &f), -EBUSY);
	top->tracer = &nop_tracer_ops;
	assert_non_null(strstr(get(w, "snapshot", buf, sizeof(buf)), "# tracer: nop"));
}

/* latency-format counts from when the buffers were last cleared. */
static void test_time_start(void **state)
{
	struct world *w = *state;
	char buf[4096];

	assert_int_equal(put(w, "options/latency-format", 0, "1"), 1);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(put(w, "trace_clock", 0, "counter"), 7);
		assert_int_equal(put(w, "trace_marker", 0, "first"), 5);
		assert_non_null(strstr(get(w, "trace", buf, sizeof(buf)),
				       "    1: tracing_mark_write: first"));
		assert_int_equal(put(w, "trace_marker", 0, "second"), 6);
		assert_non_null(strstr(get(w, "trace", buf, sizeof(buf)),
				       "    2: tracing_mark_write: second"));
		assert_int_equal(put(w, "trace", O_TRUNC, ""), 0);
		assert_int_equal(put(w, "trace_marker", 0, "third"), 5);
		assert_non_null(strstr(get(w, "trace", buf, sizeof(buf)),
				       "    1: tracing_mark_write: third"));
	}
}

static void test_pause_on_trace(void **state)
{
	struct world *w = *state;
	struct open_file *first = NULL, *second = NULL;
	char buf[4096];

	assert_int_equal(put(w, "options/pause-on-trace", 0, "1"), 1);
	assert_int_equal(open_path(w, "trace", O_RDONLY, &first), 0);
	assert_int_equal(open_path(w, "per_cpu/cpu0/trace", O_RDONLY, &second), 0);
	assert_int_equal(put(w, "trace_marker", 0, "no"), -EBADF);
	expect(w, "tracing_on", "1\n");
	view_close(w->view, first);
	assert_int_equal(put(w, "trace_marker", 0, "no"), -EBADF);
	view_close(w->view, second);
	assert_int_equal(put(w, "trace_marker", 0, "yes"), 3);
	assert_non_null(strstr(get(w, "trace", buf, sizeof(buf)), "yes\n"));
	/* What is written meanwhile counts afterwards. */
	assert_int_equal(open_path(w, "trace", O_RDONLY, &first), 0);
	assert_int_equal(put(w, "tracing_on", 0, "0"), 1);
	view_close(w->view, first);
	expect(w, "tracing_on", "0\n");
}

static void test_truncate(void **state)
{
	struct world *w = *state;
	char buf[4096];

	assert_int_equal(put(w, "trace_marker", 0, "some"), 4);
	assert_int_equal(put(w, "per_cpu/cpu1/trace", O_TRUNC, "x"), 1);
	assert_int_equal(put(w, "trace", O_APPEND, "x"), 1);
	assert_non_null(strstr(get(w, "trace", buf, sizeof(buf)), "some\n"));
	assert_int_equal(put(w, "trace", O_TRUNC, "x"), 1);
	assert_null(strstr(get(w, "trace", buf, sizeof(buf)), "some\n"));
}

static void test_options(void **state)
{
	struct world *w = *state;
	char buf[4096];

	assert_int_equal(put(w, "trace_options", 0, " sym-addr\n"), 10);
	expect(w, "options/sym-addr", "1\n");
	assert_int_equal(put(w, "options/sym-addr", 0, "0\n"), 2);
	assert_non_null(strstr(get(w, "trace_options", buf, sizeof(buf)), "\nnosym-addr\n"));
	assert_int_equal(put(w, "options/sym-addr", 0, "0"), 1);
	assert_int_equal(put(w, "trace_options", 0, "func_stack_trace"), -EINVAL);
	assert_int_equal(put(w, "current_tracer", 0, "function"), 8);
	golden_one_text(GOLDEN_DATA "/trace_options.function", "trace_options", check_text, w);
	assert_int_equal(put(w, "trace_options", 0, "func_stack_trace"), 16);
	expect(w, "options/func_stack_trace", "1\n");
}

static void test_filter(void **state)
{
	struct world *w = *state;
	struct open_file *f = NULL;

	assert_int_equal(put(w, "set_ftrace_filter", O_TRUNC, "vfs_*\n"), 6);
	expect(w, "set_ftrace_filter", "vfs_read\nvfs_write\nvfs_open\n");
	assert_int_equal(put(w, "set_ftrace_filter", O_APPEND, "!vfs_read\n"), 10);
	expect(w, "set_ftrace_filter", "vfs_write\nvfs_open\n");
	assert_int_equal(open_path(w, "set_ftrace_filter", O_WRONLY | O_TRUNC, &f), 0);
	expect(w, "set_ftrace_filter", "vfs_write\nvfs_open\n");
	view_close(w->view, f);
	expect(w, "set_ftrace_filter", "#### all functions enabled ####\n");
}

static void test_graph_filter(void **state)
{
	struct world *w = *state;
	struct open_file *f = NULL;

	assert_int_equal(put(w, "set_graph_function", O_TRUNC, "vfs_*\n"), 6);
	assert_int_equal(put(w, "set_graph_function", O_APPEND, "!vfs_read\n"), 10);
	expect(w, "set_graph_function", "vfs_write\nvfs_open\n");
	/* It was not in there. */
	assert_int_equal(put(w, "set_graph_function", O_APPEND, "!vfs_read\n"), -EINVAL);
	/* A number is no place in the list of functions here. */
	assert_int_equal(put(w, "set_graph_function", O_APPEND, "2\n"), -EINVAL);
	assert_int_equal(put(w, "set_graph_notrace", O_TRUNC, "*read\n"), 6);
	expect(w, "set_graph_notrace", "vfs_read\nksys_read\n");
	assert_int_equal(open_path(w, "set_graph_function", O_WRONLY | O_TRUNC, &f), 0);
	expect(w, "set_graph_function", "vfs_write\nvfs_open\n");
	view_close(w->view, f);
	expect(w, "set_graph_function", "#### all functions enabled ####\n");
	assert_int_equal(put(w, "set_graph_notrace", O_TRUNC, "\n"), 1);
	expect(w, "set_graph_notrace", "#### no functions disabled ####\n");
}

/* Everywhere, but named in trace_options only while the tracer is the present one. */
static void test_graph_options(void **state)
{
	static const char own[] = "\nnostacktrace\nnofuncgraph-overrun\nfuncgraph-cpu\n"
				  "funcgraph-overhead\nnofuncgraph-proc\nfuncgraph-duration\n"
				  "nofuncgraph-abstime\nfuncgraph-irqs\nfuncgraph-tail\n"
				  "sleep-time\ngraph-time\n";
	struct world *w = *state;
	char buf[4096];

	assert_int_equal(put(w, "trace_options", 0, "nofuncgraph-cpu"), -EINVAL);
	assert_int_equal(put(w, "options/funcgraph-tail", 0, "1"), 1);
	assert_int_equal(put(w, "options/funcgraph-tail", 0, "2"), -EINVAL);
	assert_int_equal(put(w, "current_tracer", 0, "function_graph"), 14);
	get(w, "trace_options", buf, sizeof(buf));
	assert_string_equal(strstr(buf, "\nnostacktrace\n"), own);
	assert_int_equal(put(w, "trace_options", 0, "nofuncgraph-cpu"), 15);
	expect(w, "options/funcgraph-cpu", "0\n");
	expect(w, "trace",
	       "# tracer: function_graph\n#\n"
	       "#  DURATION                  FUNCTION CALLS\n"
	       "#   |   |                     |   |   |   |\n");
}

/* Calls are followed once: instances do not have it. */
static void test_graph_in_instance(void **state)
{
	struct world *w = *state;
	view_id dir = 0, id;

	assert_int_equal(view_find(w->view, "instances", &dir), 0);
	assert_int_equal(view_mkdir(w->view, dir, "foo", &id), 0);
	expect(w, "available_tracers",
	       "hwlat function_graph wakeup_dl wakeup_rt wakeup irqsoff function sched_switch nop\n");
	expect(w, "instances/foo/available_tracers", "hwlat function sched_switch nop\n");
	assert_int_equal(put(w, "instances/foo/current_tracer", 0, "function_graph"), -EINVAL);
	assert_int_equal(view_find(w->view, "instances/foo/options/funcgraph-cpu", &id), -ENOENT);
	assert_int_equal(view_find(w->view, "instances/foo/options/sleep-time", &id), -ENOENT);
	assert_int_equal(view_find(w->view, "instances/foo/options/func_stack_trace", &id), 0);
	assert_int_equal(view_find(w->view, "instances/foo/max_graph_depth", &id), -ENOENT);
	assert_int_equal(view_find(w->view, "options/sleep-time", &id), 0);
}

static void expect_tracer(struct world *w, const char *name, bool there)
{
	char buf[256];

	assert_true(!strstr(get(w, "available_tracers", buf, sizeof(buf)), name) == !there);
	if (!there)
		assert_int_equal(put(w, "current_tracer", 0, name), -EOPNOTSUPP);
}

/* What a kernel that was built without it cannot tell is not offered. */
static void test_preempt_count(void **state)
{
	static const struct guestsym_preempt_site irq[] = {{0x1000, 0x10000, 11},
							   {0x2000, -0x10000, 11}},
						  own[] = {{FAKE_VA(0x5010), 1, 7},
							   {FAKE_VA(0x5020), -1, 7}},
						  both[] = {{FAKE_VA(0x6004), 1, 7},
							    {FAKE_VA(0x6104), -1, 7}};
	struct world *w = *state;

	expect_tracer(w, "preemptoff", false);
	fake.preempt_sites = irq;
	fake.npreempt_sites = 2;
	expect_tracer(w, "preemptirqsoff", false);
	/* It counts itself, in any kernel. */
	fake_symbol("cpu_stopper_thread", FAKE_VA(0x5000), 't');
	fake_symbol("_raw_spin_lock", FAKE_VA(0x6000), 'T');
	fake_symbol("_raw_spin_unlock", FAKE_VA(0x6100), 'T');
	fake.preempt_sites = own;
	expect_tracer(w, "preemptoff", false);
	fake.preempt_sites = both;
	expect_tracer(w, "preemptirqsoff", true);
	expect_tracer(w, "preemptoff", true);
	/* It calls a function for that. */
	fake.npreempt_sites = 0;
	fake_symbol("preempt_count_add", FAKE_TEXT, 'T');
	expect_tracer(w, "preemptoff", true);
}

static void test_graph_depth(void **state)
{
	struct world *w = *state;

	assert_int_equal(put(w, "max_graph_depth", O_TRUNC, "12\n"), 3);
	expect(w, "max_graph_depth", "12\n");
	assert_int_equal(trace_graph_depth(w->trace), 12);
	/* The kernel keeps 32 bits, and prints them as signed. */
	assert_int_equal(put(w, "max_graph_depth", O_TRUNC, "4294967295"), 10);
	expect(w, "max_graph_depth", "-1\n");
	assert_int_equal(put(w, "max_graph_depth", O_TRUNC, "99999999999999999999"), -ERANGE);
	expect(w, "max_graph_depth", "-1\n");
}

static void test_ours(void **state)
{
	struct world *w = *state;
	char buf[4096];

	expect(w, "hvtrace/machine", "machine: a made-up one\nvcpus: 2\n");
	assert_non_null(strstr(get(w, "hvtrace/engine", buf, sizeof(buf)), "engine: trap\n"));
	assert_non_null(strstr(get(w, "hvtrace/guest", buf, sizeof(buf)), "\nstate: "));
	assert_non_null(
		strstr(get(w, "hvtrace/overhead", buf, sizeof(buf)), "\nCPU time of hvtrace: "));
	assert_string_equal(get(w, "hvtrace/standstill", buf, sizeof(buf)),
			    "stood: 0 times\ntotal: 0.000 ms\nlongest: 0.000 ms\ntimes:\n");
	assert_non_null(strstr(get(w, "hvtrace/losses", buf, sizeof(buf)), "lost: 0\n"));
}

/* Whoever has files open of a guest that reboots comes to their end, and finds the next boot's. */
static void test_next_trace(void **state)
{
	struct open_file *pipe = NULL, *filter = NULL, *of_instance = NULL;
	struct world *w = *state;
	struct trace *next;
	char err[256] = "", buf[256];
	view_id dir, id;

	view_may_follow(w->view);
	assert_int_equal(view_find(w->view, "current_tracer", &id), 0);
	assert_false(view_stays(w->view, id));
	assert_int_equal(view_find(w->view, "instances", &dir), 0);
	assert_int_equal(view_mkdir(w->view, dir, "foo", &id), 0);
	assert_int_equal(open_path(w, "trace_pipe", O_RDONLY, &pipe), 0);
	assert_int_equal(open_path(w, "tracing_on", O_RDWR, &filter), 0);
	assert_int_equal(open_path(w, "instances/foo/trace", O_RDONLY, &of_instance), 0);
	assert_int_equal(view_read(pipe, buf, sizeof(buf), 0), -EAGAIN);
	assert_int_equal(put(w, "tracing_on", 0, "0"), 1);

	view_follow(w->view, NULL);
	assert_int_equal(view_find(w->view, "tracing_on", &id), -ENODEV);
	assert_int_equal(view_mkdir(w->view, dir, "bar", &id), -ENODEV);
	assert_true(view_wait(pipe, 0) && view_poll(pipe, 0));
	assert_int_equal(view_read(pipe, buf, sizeof(buf), 0), 0);
	assert_int_equal(view_read(of_instance, buf, sizeof(buf), 0), 0);
	assert_int_equal(view_write(filter, "1", 1, 0), -ENODEV);
	view_close(w->view, of_instance);
	trace_free(w->trace);
	w->trace = NULL;

	next = tracefs_trace_new(err, sizeof(err));
	assert_non_null(next);
	view_follow(w->view, next);
	w->trace = next;
	expect(w, "tracing_on", "1\n");
	assert_int_equal(view_find(w->view, "instances/foo", &id), -ENOENT);
	assert_int_equal(view_read(pipe, buf, sizeof(buf), 0), 0);
	view_close(w->view, pipe);
	/* The one that is still open is closed with the view. */
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		TEST(test_listing),
		TEST(test_instance_listing),
		TEST(test_defaults),
		TEST(test_writes),
		TEST(test_names),
		TEST(test_lists),
		TEST(test_instances),
		TEST(test_text_stays),
		TEST(test_buffer_size),
		TEST(test_free_buffer),
		TEST(test_pipe),
		TEST(test_raw),
		TEST(test_snapshot),
		TEST(test_snapshot_keeps_the_first),
		TEST(test_snapshot_raw),
		TEST(test_lent_snapshot),
		TEST(test_time_start),
		TEST(test_pause_on_trace),
		TEST(test_truncate),
		TEST(test_options),
		TEST(test_filter),
		TEST(test_graph_filter),
		TEST(test_graph_depth),
		TEST(test_graph_options),
		TEST(test_graph_in_instance),
		TEST(test_preempt_count),
		TEST(test_ours),
		TEST(test_next_trace),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
