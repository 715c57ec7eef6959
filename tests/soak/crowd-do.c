// SPDX-License-Identifier: GPL-2.0-or-later
/* crowd-do.c - what each of the crowd does with the files of a trace. */
#include "tests/soak/crowd.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { READ_AT_MOST = 1 << 20 }; /* bytes, of one file at a time */

/* --- chance ------------------------------------------------------------------------------- */

uint64_t chance(struct member *m, uint64_t below)
{
	m->random = m->random * UINT64_C(6364136223846793005) + 1442695040888963407;
	return (m->random >> 33) % below;
}

/* --- reading ------------------------------------------------------------------------------ */

static int open_file(struct member *m, const char *path, int flags)
{
	char whole[4 * PATH_ROOM];
	int fd;

	snprintf(whole, sizeof(whole), "%s/%s", m->dir, path);
	fd = open(whole, flags | O_CLOEXEC);
	if (fd < 0)
		check_error(m, path, "open");
	return fd;
}

static bool read_some(struct member *m, const char *path, int fd, char *to, size_t room,
		      size_t *len)
{
	ssize_t n = read(fd, to, room);

	*len = n > 0 ? (size_t)n : 0;
	if (n < 0)
		check_error(m, path, "read");
	atomic_fetch_add(&m->shared->reads, 1);
	atomic_fetch_add(&m->shared->bytes, *len);
	return n > 0;
}

static uint64_t digest(uint64_t so_far, const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++)
		so_far = (so_far ^ (unsigned char)text[i]) * UINT64_C(1099511628211);
	return so_far;
}

static void check_digest(struct file *f, uint64_t sum)
{
	uint64_t before = 0;

	if (!atomic_compare_exchange_strong(&f->digest, &before, sum) && before != sum)
		wrong(f->path, "it is another text than before");
}

/* In pieces of any size, by lines. */
static void read_lines(struct member *m, struct file *f, int fd)
{
	static char text[65536 + 4 * PAGE_BYTES];
	unsigned int kind = kind_of(f->path);
	size_t kept = 0, n, all = 0;
	uint64_t sum = UINT64_C(14695981039346656037);
	bool whole = false;

	while (all < READ_AT_MOST) {
		size_t room = 1 + chance(m, chance(m, 2) ? 65536 : 4096);

		if (!read_some(m, f->path, fd, text + kept, room, &n)) {
			whole = true;
			break;
		}
		sum = digest(sum, text + kept, n);
		all += n;
		kept = check_lines(m, f->path, kind, text, kept + n);
		if (kept > 2 * PAGE_BYTES)
			wrong(f->path, "a line of %zu bytes", kept);
	}
	if (whole && kept && !kind_is_event(kind))
		wrong(f->path, "its last line does not end: '%.*s'", (int)kept, text);
	if (whole && kind_is_constant(kind))
		check_digest(f, sum);
}

static void read_pages(struct member *m, const char *path, int fd)
{
	char page[PAGE_BYTES];
	size_t len;

	for (int i = 0; i < 64 && read_some(m, path, fd, page, sizeof(page), &len); i++) {
		if (len != sizeof(page))
			wrong(path, "%zu bytes of a page", len);
		check_page(m, path, page);
	}
}

static void read_bytes(struct member *m, const char *path, int fd)
{
	static char text[65536];
	size_t len, all = 0;

	while (all < READ_AT_MOST && read_some(m, path, fd, text, sizeof(text), &len))
		all += len;
}

static bool is_raw(const char *path)
{
	return strstr(path, "_raw");
}

static void read_file(struct member *m, struct file *f)
{
	int fd = open_file(m, f->path, O_RDONLY | O_NONBLOCK);

	if (fd < 0)
		return;
	if (is_raw(f->path))
		read_pages(m, f->path, fd);
	else
		read_lines(m, f, fd);
	close(fd);
}

static void read_any(struct member *m)
{
	struct file *f = &m->shared->files[chance(m, m->shared->nr_files)];

	if (f->mode & 0400)
		read_file(m, f);
}

static void poll_any(struct member *m)
{
	static const char *const paths[] = {"trace_pipe", "per_cpu/cpu0/trace_pipe_raw",
					    "per_cpu/cpu1/trace_pipe",
					    "per_cpu/cpu1/trace_pipe_raw"};
	struct file f = {.mode = 0400};
	struct pollfd p = {.events = POLLIN};

	snprintf(f.path, sizeof(f.path), "%s", paths[chance(m, 4)]);
	p.fd = open_file(m, f.path, O_RDONLY | O_NONBLOCK);
	if (p.fd < 0)
		return;
	if (poll(&p, 1, (int)chance(m, 50)) > 0 && is_raw(f.path))
		read_pages(m, f.path, p.fd);
	else if (p.revents)
		read_lines(m, &f, p.fd);
	close(p.fd);
}

static void list_any(struct member *m)
{
	static const char *const paths[] = {".", "options", "per_cpu/cpu0", "instances",
					    "events/ftrace"};
	char whole[4 * PATH_ROOM];
	const char *path = paths[chance(m, 5)];
	unsigned int n = 0;
	DIR *dir;

	snprintf(whole, sizeof(whole), "%s/%s", m->dir, path);
	dir = opendir(whole);
	if (!dir)
		wrong(path, "opendir: %s", strerror(errno));
	while (readdir(dir))
		n++;
	closedir(dir);
	if (n < 2)
		wrong(path, "%u names", n);
}

/* --- writing ------------------------------------------------------------------------------ */

struct written {
	const char *path, *text;
};

static const struct written at_the_top[] = {
	{"tracing_on", "1"},
	{"tracing_on", "1\n"},
	{"tracing_on", "0"},
	{"tracing_enabled", "1"},
	{"options/sym-addr", "1"},
	{"options/sym-addr", "0"},
	{"options/sym-offset", "1"},
	{"options/sym-offset", "0"},
	{"options/overwrite", "0"},
	{"options/overwrite", "1"},
	{"options/annotate", "0"},
	{"options/annotate", "1"},
	{"options/print-parent", "0"},
	{"options/print-parent", "1"},
	{"options/pause-on-trace", "1"},
	{"options/pause-on-trace", "0"},
	{"options/markers", "1"},
	{"options/overwrite", "2"},
	{"trace_options", "nosym-addr"},
	{"trace_options", "nonsense"},
	{"buffer_size_kb", "1408"},
	{"buffer_size_kb", "100"},
	{"buffer_size_kb", "nonsense"},
	{"per_cpu/cpu1/buffer_size_kb", "50"},
	{"buffer_percent", "0"},
	{"buffer_percent", "50"},
	{"free_buffer", "x"},
	{"snapshot", "1"},
	{"snapshot", "2"},
	{"snapshot", "0"},
	{"per_cpu/cpu0/snapshot", "2"},
	{"trace", ""},
	{"per_cpu/cpu0/trace", ""},
	{"error_log", ""},
	{"set_ftrace_filter", "vfs_*\n"},
	{"set_ftrace_filter", "*getname*\n"},
	{"set_ftrace_filter", "no_such_function\n"},
	{"set_ftrace_filter", "vfs_statx:traceoff:2\n"},
	{"set_ftrace_filter", "!vfs_statx:traceoff:2\n"},
	{"set_ftrace_notrace", "vfs_read\n"},
	{"set_ftrace_notrace", ""},
	{"set_ftrace_pid", "1 2 3\n"},
	{"set_ftrace_pid", ""},
	{"set_ftrace_notrace_pid", "1\n"},
	{"set_ftrace_notrace_pid", ""},
	{"current_tracer", "function"},
	{"current_tracer", "function_graph"},
	{"current_tracer", "nop"},
	{"current_tracer", "nonsense"},
	{"trace_clock", "local"},
	{"trace_clock", "global"},
	{"tracing_cpumask", "3"},
	{"tracing_cpumask", "1"},
	{"saved_cmdlines_size", "100"},
	{"trace_marker_raw", "raw data"},
};

/* Where anything may be printed in any way. */
static const struct written in_instances[] = {
	{"current_tracer", "function_graph"},
	{"current_tracer", "function"},
	{"current_tracer", "nop"},
	{"options/raw", "1"},
	{"options/hex", "1"},
	{"options/bin", "1"},
	{"options/verbose", "1"},
	{"options/raw", "0"},
	{"options/bin", "0"},
	{"options/hex", "0"},
	{"options/latency-format", "1"},
	{"options/irq-info", "0"},
	{"options/context-info", "0"},
	{"options/record-tgid", "1"},
	{"trace_marker", "text in an instance"},
	{"trace_marker_raw", "12345"},
	{"buffer_size_kb", "8"},
	{"buffer_size_kb", "800"},
	{"set_ftrace_filter", "vfs_*"},
	{"set_ftrace_filter", ""},
	{"set_ftrace_pid", "1"},
	{"snapshot", "1"},
	{"snapshot", "0"},
	{"trace", ""},
	{"tracing_on", "0"},
	{"tracing_on", "1"},
	{"trace_clock", "counter"},
};

static void write_text(struct member *m, const char *path, const char *text, size_t len)
{
	/* The shell's `>`, and now and then `>>`. */
	int fd = open_file(m, path, O_WRONLY | (chance(m, 4) ? O_TRUNC : O_APPEND));

	if (fd < 0)
		return;
	if (len && write(fd, text, len) < 0)
		check_error(m, path, "write");
	atomic_fetch_add(&m->shared->writes, 1);
	close(fd);
}

static void write_any(struct member *m)
{
	const struct written *w =
		&at_the_top[chance(m, sizeof(at_the_top) / sizeof(at_the_top[0]))];

	write_text(m, w->path, w->text, strlen(w->text));
}

static void mark(struct member *m)
{
	char text[MARK_MAX + 64];

	write_text(m, "trace_marker", text, make_mark(text, m->number, m->marked++));
}

/* --- instances ---------------------------------------------------------------------------- */

static void visit_instance(struct member *m, const char *name)
{
	const struct written *w =
		&in_instances[chance(m, sizeof(in_instances) / sizeof(in_instances[0]))];
	const struct file *f = &m->shared->files[chance(m, m->shared->nr_files)];
	char path[2 * PATH_ROOM];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", name, w->path);
	write_text(m, path, w->text, strlen(w->text));
	snprintf(path, sizeof(path), "%s/%s", name, f->path);
	fd = f->mode & 0400 ? open_file(m, path, O_RDONLY | O_NONBLOCK) : -1;
	if (fd < 0)
		return;
	read_bytes(m, path, fd);
	close(fd);
}

static void go_to_instance(struct member *m)
{
	char name[32], whole[4 * PATH_ROOM];

	snprintf(name, sizeof(name), "instances/crowd%d", (int)chance(m, 4));
	snprintf(whole, sizeof(whole), "%s/%s", m->dir, name);
	if (chance(m, 8)) {
		visit_instance(m, name);
	} else if (mkdir(whole, 0755)) {
		check_error(m, name, "mkdir");
		if (rmdir(whole))
			check_error(m, name, "rmdir");
	}
}

/* --- any of it ---------------------------------------------------------------------------- */

static void (*const doings[])(struct member *m) = {
	read_any, read_any, read_any, read_any, write_any,	write_any,
	mark,	  mark,	    poll_any, list_any, go_to_instance,
};

void do_something(struct member *m)
{
	doings[chance(m, sizeof(doings) / sizeof(doings[0]))](m);
}

void wait_for_more(struct member *m)
{
	struct file f = {.mode = 0400};

	for (;;) {
		int fd;

		snprintf(f.path, sizeof(f.path),
			 m->number % 2 ? "trace_pipe" : "per_cpu/cpu0/trace_pipe_raw");
		fd = open_file(m, f.path, O_RDONLY);
		if (fd < 0) {
			poll(NULL, 0, 10); /* another one has it */
			continue;
		}
		if (is_raw(f.path))
			read_pages(m, f.path, fd);
		else
			read_lines(m, &f, fd);
		close(fd);
	}
}
