// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * crowd.c - 64 processes that open, read, write and poll all files of a mounted trace, make and
 * remove instances, and are killed, one every now and then. What they read has to make sense: whole
 * lines, known errors, files that never change, and marks that say what they have to be.
 *
 * usage: crowd DIR SECONDS
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <ftw.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
	PROCESSES = 64,
	WAITING = 4,	       /* of these, for what may never come; they are killed in the end */
	PATIENCE_SECONDS = 60, /* for the others to end */
	FILES_MAX = 1024,
	PATH_ROOM = 192,
	READ_AT_MOST = 1 << 20, /* of one file at a time */
	PAGE_BYTES = 4096,
	MARK_MAX = 900,
};

struct file {
	char path[PATH_ROOM];
	mode_t mode;
	_Atomic uint64_t digest; /* of a file that does not change; 0: not read yet */
};

/* Of all processes. */
struct shared {
	_Atomic bool end;
	_Atomic uint64_t reads, bytes, lines, pages, marks, writes, busy;
	unsigned int nr_files;
	struct file files[FILES_MAX];
};

struct member {
	struct shared *shared;
	const char *dir;
	uint64_t random;
	unsigned int number, marked;
};

/* NOLINTBEGIN(cert-err34-c): a number that is too large is not the one that was written */
/* --- what is wrong ------------------------------------------------------------------------ */

__attribute__((format(printf, 2, 3), noreturn)) static void wrong(const char *path,
								  const char *format, ...)
{
	va_list args;

	fprintf(stderr, "# %s: ", path);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
	_exit(1);
}

/* What the kernel would say too, to some of what is done here; EBADF to a mark while it is off. */
static void check_error(struct member *m, const char *path, const char *what)
{
	static const int known[] = {EBUSY,  EINVAL, EAGAIN, ENOENT, EEXIST, ENODEV,
				    ENOMEM, EINTR,  EPERM,  ERANGE, EBADF};

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		if (errno != known[i])
			continue;
		atomic_fetch_add(&m->shared->busy, errno == EBUSY);
		return;
	}
	wrong(path, "%s: %s", what, strerror(errno));
}

/* --- chance ------------------------------------------------------------------------------- */

static uint64_t chance(struct member *m, uint64_t below)
{
	m->random = m->random * UINT64_C(6364136223846793005) + 1442695040888963407;
	return (m->random >> 33) % below;
}

/* --- marks: text that says what it has to be ---------------------------------------------- */

static char mark_letter(unsigned int who, unsigned int n, unsigned int i)
{
	return (char)('a' + (who + n * 7 + i) % 26);
}

static size_t make_mark(char *to, unsigned int who, unsigned int n)
{
	unsigned int len = 1 + n * 37 % MARK_MAX; /* it ends with a letter, not a blank */
	size_t at = (size_t)sprintf(to, "crowd %u %u %u ", who, n, len);

	for (unsigned int i = 0; i < len; i++)
		to[at++] = mark_letter(who, n, i);
	to[at++] = '\n';
	return at;
}

/* Text from "crowd" on, without its line end. */
static void check_mark(struct member *m, const char *path, const char *text, size_t textlen)
{
	unsigned int who, n, len;
	int at = 0;

	if (sscanf(text, "crowd %u %u %u %n", &who, &n, &len, &at) != 3 || !at)
		wrong(path, "not a mark: '%.*s'", (int)textlen, text);
	if (textlen != (size_t)at + len)
		wrong(path, "a mark of %zu letters, not %u: '%.*s'", textlen - (size_t)at, len,
		      (int)textlen, text);
	for (unsigned int i = 0; i < len; i++)
		if (text[(size_t)at + i] != mark_letter(who, n, i))
			wrong(path, "letter %u of a mark: '%.*s'", i, (int)textlen, text);
	atomic_fetch_add(&m->shared->marks, 1);
}

/* --- lines -------------------------------------------------------------------------------- */

typedef bool (*line_check)(struct member *m, const char *path, const char *line);

static bool is_switch(struct member *m, const char *path, const char *line)
{
	(void)m;
	(void)path;
	return !strcmp(line, "0") || !strcmp(line, "1");
}

static bool is_size(struct member *m, const char *path, const char *line)
{
	(void)m;
	(void)path;
	return !strcmp(line, "X") || (*line && strspn(line, "0123456789") == strlen(line));
}

static bool is_function(struct member *m, const char *path, const char *line)
{
	(void)m;
	(void)path;
	return *line == '#' || (*line && !strpbrk(line, "\t\r"));
}

/* Behind "task-pid [cpu] flags time: ". */
static const char *behind_head(const char *line)
{
	const char *cpu = strstr(line, " [");
	unsigned int number, seconds, micros;
	char flags[8];
	int at = 0;

	if (!cpu ||
	    sscanf(cpu, " [%3u] %7s %u.%6u: %n", &number, flags, &seconds, &micros, &at) != 4)
		return NULL;
	return at && number < 64 && strlen(flags) == 5 ? cpu + at : NULL;
}

/* As function_graph has it: " CPU) DURATION | CALL", a comment, or another task from here on. */
static bool is_graph(struct member *m, const char *path, const char *line)
{
	const char *bar = strchr(line, '|'), *comment = strstr(line, "/* crowd "), *end;

	if (!strncmp(line, " ------", 7))
		return true;
	if (line[strspn(line, " 0123456789")] != ')')
		return false;
	end = comment ? strstr(comment, " */") : NULL;
	if (end)
		check_mark(m, path, comment + 3, (size_t)(end - comment - 3));
	return bar ? !comment || end : strstr(line, " => ") != NULL;
}

static bool is_event(struct member *m, const char *path, const char *line)
{
	const char *what;

	if (is_graph(m, path, line))
		return true;
	if (*line == '#' || !strncmp(line, "CPU:", 4) || !strncmp(line, " => ", 4))
		return true;
	what = behind_head(line);
	if (!what)
		return false;
	if (strncmp(what, "tracing_mark_write", 18))
		return *what && what[strspn(what, " ")];
	what = strstr(what, ": ");
	if (what && !strncmp(what + 2, "crowd ", 6))
		check_mark(m, path, what + 2, strlen(what + 2));
	return what;
}

static bool is_text(struct member *m, const char *path, const char *line)
{
	(void)m;
	(void)path;
	for (; *line; line++)
		if ((*line < ' ' && *line != '\t') || *line > '~')
			return false;
	return true;
}

static const struct {
	const char *glob;
	line_check check;
	bool constant;
} kinds[] = {
	{"options/*", is_switch, false},
	{"tracing_on", is_switch, false},
	{"tracing_enabled", is_switch, false},
	{"buffer_*", is_size, false},
	{"per_cpu/*/buffer_size_kb", is_size, false},
	{"trace", is_event, false},
	{"per_cpu/*/trace", is_event, false},
	{"trace_pipe", is_event, false},
	{"per_cpu/*/trace_pipe", is_event, false},
	{"snapshot", is_event, false},
	{"per_cpu/*/snapshot", is_event, false},
	{"set_ftrace_filter", is_function, false},
	{"README", is_text, true},
	{"available_*", is_text, true},
	{"events/*", is_text, true},
	{"hvtrace/machine", is_text, true},
	{"*", is_text, false},
};

static unsigned int kind_of(const char *path)
{
	unsigned int i = 0;

	while (fnmatch(kinds[i].glob, path, 0))
		i++;
	return i;
}

/* All whole lines of a text; what is left of the last one goes to its front. */
static size_t check_lines(struct member *m, const char *path, line_check check, char *text,
			  size_t len)
{
	char *line = text, *end;

	while ((end = memchr(line, '\n', len - (size_t)(line - text)))) {
		*end = '\0';
		if (strlen(line) != (size_t)(end - line))
			wrong(path, "a NUL behind '%s'", line);
		if (!is_text(m, path, line) || !check(m, path, line))
			wrong(path, "not what it has: '%s'", line);
		atomic_fetch_add(&m->shared->lines, 1);
		line = end + 1;
	}
	len -= (size_t)(line - text);
	memmove(text, line, len);
	return len;
}

/* NOLINTEND(cert-err34-c) */
/* --- pages -------------------------------------------------------------------------------- */

static uint32_t u32_at(const char *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

/* The entry at an offset: its length, and where its data is. 0: there are no more. */
static size_t entry_at(const char *p, const char **data, size_t *len)
{
	uint32_t head = u32_at(p), type = head & 31;

	*data = NULL;
	*len = 0;
	if (type == 29)
		return head >> 5 ? 4 + u32_at(p + 4) : 0;
	if (type >= 30)
		return 8;
	*data = p + (type ? 4 : 8);
	*len = type ? 4 * type : u32_at(p + 4) - 4;
	return type ? 4 + 4 * type : 4 + u32_at(p + 4);
}

static void check_entry(struct member *m, const char *path, const char *data, size_t len)
{
	enum { TRACE_PRINT = 5, TYPES = 32, PRINT_TEXT = 16 };
	uint16_t type;

	memcpy(&type, data, sizeof(type));
	if (len < 8 || !type || type > TYPES)
		wrong(path, "an entry of type %u, %zu bytes", type, len);
	if (type != TRACE_PRINT)
		return;
	if (len < PRINT_TEXT || !memchr(data + PRINT_TEXT, '\0', len - PRINT_TEXT))
		wrong(path, "text without an end, %zu bytes", len);
	data += PRINT_TEXT;
	if (!strncmp(data, "crowd ", 6))
		check_mark(m, path, data, strcspn(data, "\n"));
}

static void check_page(struct member *m, const char *path, const char *page)
{
	const char *data, *start = page + 16;
	size_t commit = u32_at(page + 8) & 0xfffff, at = 0, len, step;

	if (commit > PAGE_BYTES - 16)
		wrong(path, "a page of %zu bytes", commit);
	while (at + 4 <= commit) {
		step = entry_at(start + at, &data, &len);
		if (!step)
			break;
		if (step % 4 || at + step > commit)
			wrong(path, "an entry of %zu bytes at %zu of %zu", step, at, commit);
		if (data)
			check_entry(m, path, data, len);
		at += step;
	}
	if (at > commit)
		wrong(path, "entries up to %zu of %zu", at, commit);
	atomic_fetch_add(&m->shared->pages, 1);
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
		kept = check_lines(m, f->path, kinds[kind].check, text, kept + n);
		if (kept > 2 * PAGE_BYTES)
			wrong(f->path, "a line of %zu bytes", kept);
	}
	if (whole && kept && kinds[kind].check != is_event)
		wrong(f->path, "its last line does not end: '%.*s'", (int)kept, text);
	if (whole && kinds[kind].constant)
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

/* --- the crowd ---------------------------------------------------------------------------- */

static void (*const doings[])(struct member *m) = {
	read_any, read_any, read_any, read_any, write_any,	write_any,
	mark,	  mark,	    poll_any, list_any, go_to_instance,
};

static void take_part(struct member *m)
{
	while (!atomic_load(&m->shared->end))
		doings[chance(m, sizeof(doings) / sizeof(doings[0]))](m);
	_exit(0);
}

/* Until it is killed. */
static void wait_for_more(struct member *m)
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

static pid_t start_member(struct shared *shared, const char *dir, unsigned int place,
			  unsigned int number)
{
	struct member m = {
		.shared = shared,
		.dir = dir,
		.random = number * UINT64_C(0x9e3779b97f4a7c15),
		.number = number,
	};
	pid_t pid = fork();

	if (pid)
		return pid;
	if (place < WAITING)
		wait_for_more(&m);
	take_part(&m);
	_exit(1);
}

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

/* The exit status is that of one who ended by itself: nobody does before the end unless it is
 * wrong. */
static bool ended_well(pid_t pid, int flags, bool *gone)
{
	int status = 0;

	*gone = waitpid(pid, &status, flags) == pid;
	return !*gone || WIFSIGNALED(status) || WEXITSTATUS(status) == 0;
}

static bool kill_member(pid_t pid)
{
	bool gone;

	kill(pid, SIGKILL);
	return ended_well(pid, 0, &gone);
}

/* For a time, with one killed and replaced ten times a second. False: something is wrong. */
static bool run(struct shared *shared, const char *dir, double seconds, pid_t pids[PROCESSES],
		unsigned int *started)
{
	double end = now() + seconds;
	bool gone;

	for (unsigned int i = 0; i < PROCESSES; i++)
		pids[i] = start_member(shared, dir, i, ++*started);
	while (now() < end) {
		unsigned int victim = *started * 7 % PROCESSES;

		poll(NULL, 0, 100);
		for (unsigned int i = 0; i < PROCESSES; i++) {
			if (ended_well(pids[i], WNOHANG, &gone) && !gone)
				continue;
			pids[i] = 0;
			return false;
		}
		if (!kill_member(pids[victim]))
			return false;
		pids[victim] = start_member(shared, dir, victim, ++*started);
	}
	return true;
}

/* False: some were wrong, or do not come to an end. */
static bool wait_for_all(pid_t pids[PROCESSES])
{
	double end = now() + PATIENCE_SECONDS;
	unsigned int left = PROCESSES;
	bool well = true;

	for (unsigned int i = 0; i < WAITING; i++)
		if (pids[i])
			kill(pids[i], SIGKILL);
	while (left && now() < end) {
		left = 0;
		poll(NULL, 0, 20);
		for (unsigned int i = 0; i < PROCESSES; i++) {
			bool gone = false;

			if (pids[i] && !ended_well(pids[i], WNOHANG, &gone))
				well = false;
			if (gone)
				pids[i] = 0;
			left += pids[i] != 0;
		}
	}
	for (unsigned int i = 0; i < PROCESSES; i++)
		if (pids[i])
			kill(pids[i], SIGKILL);
	if (left)
		printf("# %u of %d do not come to an end\n", left, PROCESSES);
	return well && !left;
}

static struct shared *walked; /* nftw() passes nothing on */
static size_t walked_prefix;

static int add_file(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	struct file *f = &walked->files[walked->nr_files];

	(void)ftw;
	if (type != FTW_F || walked->nr_files == FILES_MAX)
		return 0;
	if (snprintf(f->path, sizeof(f->path), "%s", path + walked_prefix) >= (int)sizeof(f->path))
		return 0;
	f->mode = st->st_mode;
	walked->nr_files++;
	return 0;
}

int main(int argc, char **argv)
{
	struct shared *shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
				     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	double seconds = argc == 3 ? strtod(argv[2], NULL) : 0;
	pid_t pids[PROCESSES] = {0};
	unsigned int started = 0;
	bool well;

	if (seconds <= 0 || shared == MAP_FAILED) {
		fprintf(stderr, "usage: crowd DIR SECONDS\n");
		return 2;
	}
	walked = shared;
	walked_prefix = strlen(argv[1]) + 1;
	if (nftw(argv[1], add_file, 16, FTW_PHYS) || shared->nr_files < 100) {
		fprintf(stderr, "crowd: %s holds no trace\n", argv[1]);
		return 2;
	}
	well = run(shared, argv[1], seconds, pids, &started);
	atomic_store(&shared->end, true);
	well = wait_for_all(pids) && well;
	printf("# %u files, %u processes, %u killed: %" PRIu64 " reads, %" PRIu64 " MB, %" PRIu64
	       " lines, %" PRIu64 " pages, %" PRIu64 " marks, %" PRIu64 " writes, %" PRIu64
	       " busy\n",
	       shared->nr_files, PROCESSES, started - PROCESSES, shared->reads, shared->bytes >> 20,
	       shared->lines, shared->pages, shared->marks, shared->writes, shared->busy);
	return !well;
}
