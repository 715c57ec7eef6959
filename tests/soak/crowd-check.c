// SPDX-License-Identifier: GPL-2.0-or-later
/* crowd-check.c - what is read from the files of a trace has to make sense. */
#include "tests/soak/crowd.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* NOLINTBEGIN(cert-err34-c): a number that is too large is not the one that was written */
/* --- what is wrong ------------------------------------------------------------------------ */

void wrong(const char *path, const char *format, ...)
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
void check_error(struct member *m, const char *path, const char *what)
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

/* --- marks: text that says what it has to be ---------------------------------------------- */

static char mark_letter(unsigned int who, unsigned int n, unsigned int i)
{
	return (char)('a' + (who + n * 7 + i) % 26);
}

size_t make_mark(char *to, unsigned int who, unsigned int n)
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

unsigned int kind_of(const char *path)
{
	unsigned int i = 0;

	while (fnmatch(kinds[i].glob, path, 0))
		i++;
	return i;
}

bool kind_is_constant(unsigned int kind)
{
	return kinds[kind].constant;
}

bool kind_is_event(unsigned int kind)
{
	return kinds[kind].check == is_event;
}

size_t check_lines(struct member *m, const char *path, unsigned int kind, char *text, size_t len)
{
	char *line = text, *end;

	while ((end = memchr(line, '\n', len - (size_t)(line - text)))) {
		*end = '\0';
		if (strlen(line) != (size_t)(end - line))
			wrong(path, "a NUL behind '%s'", line);
		if (!is_text(m, path, line) || !kinds[kind].check(m, path, line))
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

void check_page(struct member *m, const char *path, const char *page)
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
