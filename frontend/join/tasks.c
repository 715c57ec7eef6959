// SPDX-License-Identifier: GPL-2.0-or-later
/* tasks.c - see tasks.h */
#include "frontend/join/tasks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* len 0: it has none there. */
struct join_names {
	uint32_t pid, guest;
	size_t at, len; /* in the guest's text */
};

int join_tasks_init(struct join_tasks *t)
{
	t->seen = calloc(1, JOIN_PIDS / 8);
	return t->seen ? 0 : -ENOMEM;
}

void join_tasks_exit(struct join_tasks *t)
{
	for (size_t i = 0; i < DAT_PARTS_MAX; i++)
		text_free(&t->text[i]);
	free(t->seen);
	free(t->names);
}

void join_tasks_see(struct join_tasks *t, int pid)
{
	if (pid > 0 && (uint32_t)pid < JOIN_PIDS)
		t->seen[pid / 8] |= (uint8_t)(1U << pid % 8);
}

/* --- of one guest ------------------------------------------------------------------------------
 */

static int add(struct join_tasks *t, const struct join_names *name)
{
	struct join_names *more;

	if (t->nr == t->room) {
		more = reallocarray(t->names, t->room ? 2 * t->room : 1024, sizeof(*more));
		if (!more)
			return -ENOMEM;
		t->names = more;
		t->room = t->room ? 2 * t->room : 1024;
	}
	t->names[t->nr++] = *name;
	return 0;
}

/* "1 init" */
static int add_line(struct join_tasks *t, size_t guest, const char *line, size_t len)
{
	const char *text = t->text[guest].buf;
	char *end;
	unsigned long pid = strtoul(line, &end, 10);
	size_t digits = (size_t)(end - line);

	if (!digits || digits >= len || *end != ' ' || !pid || pid >= JOIN_PIDS)
		return 0;
	/* What has a name is not one of those that are seen and have none. */
	t->seen[pid / 8] &= (uint8_t) ~(1U << pid % 8);
	return add(t, &(struct join_names){
			      .pid = (uint32_t)pid,
			      .guest = (uint32_t)guest,
			      .at = (size_t)(end + 1 - text),
			      .len = len - digits - 1,
		      });
}

static int add_lines(struct join_tasks *t, size_t guest)
{
	const char *at = t->text[guest].buf, *end = at ? strchr(at, '\0') : NULL;
	int rc = 0;

	while (at < end && !rc) {
		size_t len = strcspn(at, "\n");

		rc = add_line(t, guest, at, len);
		at += len + (at[len] == '\n');
	}
	return rc;
}

static int add_unnamed(struct join_tasks *t, size_t guest)
{
	int rc = 0;

	for (uint32_t pid = 1; pid < JOIN_PIDS && !rc; pid++) {
		if (pid % 8 == 0 && !t->seen[pid / 8])
			pid += 7;
		else if (t->seen[pid / 8] & 1U << pid % 8)
			rc = add(t, &(struct join_names){.pid = pid, .guest = (uint32_t)guest});
	}
	memset(t->seen, 0, JOIN_PIDS / 8);
	return rc;
}

int join_tasks_end(struct join_tasks *t, size_t i, const struct dat_text *cmdlines)
{
	int rc;

	if (cmdlines->text)
		text_add(&t->text[i], cmdlines->text, strnlen(cmdlines->text, cmdlines->len));
	text_putc(&t->text[i], '\0');
	rc = t->text[i].failed ? -ENOMEM : add_lines(t, i);
	return rc ? rc : add_unnamed(t, i);
}

/* --- of all ------------------------------------------------------------------------------------
 */

static int by_pid(const void *a, const void *b)
{
	const struct join_names *x = a, *y = b;

	if (x->pid != y->pid)
		return (x->pid > y->pid) - (x->pid < y->pid);
	return (x->guest > y->guest) - (x->guest < y->guest);
}

static bool is_same(const struct join_tasks *t, const struct join_names *a,
		    const struct join_names *b)
{
	return a->len == b->len &&
	       !memcmp(t->text[a->guest].buf + a->at, t->text[b->guest].buf + b->at, a->len);
}

void join_tasks_write(struct join_tasks *t, struct text *to)
{
	if (t->nr)
		qsort(t->names, t->nr, sizeof(*t->names), by_pid);
	for (size_t i = 0, next; i < t->nr; i = next) {
		const struct join_names *n = &t->names[i];
		bool agreed = n->len;

		for (next = i + 1; next < t->nr && t->names[next].pid == n->pid; next++)
			agreed = agreed && is_same(t, n, &t->names[next]);
		if (agreed)
			text_printf(to, "%u %.*s\n", n->pid, (int)n->len,
				    t->text[n->guest].buf + n->at);
	}
}
