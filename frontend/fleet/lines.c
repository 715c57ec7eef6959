// SPDX-License-Identifier: GPL-2.0-or-later
/* lines.c - see lines.h. A binary heap: of lines with the same time the one that came first. */
#include "frontend/fleet/lines.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define WORDS 2 /* behind the bracket: flags, and the time */

struct line {
	uint64_t time, nr;
	int64_t came_ms;
	unsigned int guest;
	char *text;
	size_t len;
};

struct lines {
	bool timed;
	uint64_t came;		/* lines by now */
	size_t nr, room, bytes; /* of text that waits */
	struct line *heap;
	uint64_t *last; /* the time of each guest's line before */
	unsigned int guests;
};

struct lines *lines_new(bool timed)
{
	struct lines *l = calloc(1, sizeof(*l));

	if (l)
		l->timed = timed;
	return l;
}

void lines_free(struct lines *l)
{
	if (!l)
		return;
	for (size_t i = 0; i < l->nr; i++)
		free(l->heap[i].text);
	free(l->heap);
	free(l->last);
	free(l);
}

/* --- times --------------------------------------------------------------------------------------
 */

static size_t digits(const char *at, size_t len, uint64_t *value)
{
	size_t n = 0;

	while (n < len && n < 19 && isdigit((unsigned char)at[n]))
		*value = *value * 10 + (uint64_t)(at[n++] - '0');
	return n;
}

/* "12.345678:" or "12345678:" up to a blank. */
static bool read_time(const char *at, size_t len, uint64_t *time)
{
	uint64_t whole = 0, part = 0;
	size_t n = digits(at, len, &whole), m;

	if (!n || n == len)
		return false;
	if (at[n] == '.') {
		m = digits(at + n + 1, len - n - 1, &part);
		if (m != 6 || whole > UINT64_MAX / 1000000000 - 1)
			return false;
		whole = whole * 1000000000 + part * 1000;
		n += 1 + m;
	}
	*time = whole;
	return n + 1 < len && at[n] == ':' && at[n + 1] == ' ';
}

/* In one of the next words: there are flags before it, or none. */
static bool find_time(const char *at, const char *end, uint64_t *time)
{
	for (unsigned int word = 0; word < WORDS && at; word++) {
		while (at < end && *at == ' ')
			at++;
		if (read_time(at, (size_t)(end - at), time))
			return true;
		at = memchr(at, ' ', (size_t)(end - at));
	}
	return false;
}

/* Behind the vCPU's number in brackets. A task's name may have brackets, too. */
bool lines_time(const char *line, size_t len, uint64_t *time)
{
	const char *end = line + len, *at = line;

	while ((at = memchr(at, ']', (size_t)(end - at))))
		if (find_time(++at, end, time))
			return true;
	return false;
}

/* --- the heap -----------------------------------------------------------------------------------
 */

static bool is_before(const struct line *a, const struct line *b)
{
	return a->time != b->time ? a->time < b->time : a->nr < b->nr;
}

static void swap(struct line *a, struct line *b)
{
	struct line c = *a;

	*a = *b;
	*b = c;
}

static void sift_up(struct line *heap, size_t i)
{
	for (; i && is_before(&heap[i], &heap[(i - 1) / 2]); i = (i - 1) / 2)
		swap(&heap[i], &heap[(i - 1) / 2]);
}

static void sift_down(struct line *heap, size_t nr)
{
	size_t i = 0, least;

	for (;; i = least) {
		least = i;
		for (size_t k = 2 * i + 1; k <= 2 * i + 2 && k < nr; k++)
			if (is_before(&heap[k], &heap[least]))
				least = k;
		if (least == i)
			return;
		swap(&heap[i], &heap[least]);
	}
}

static int make_room(struct lines *l, unsigned int guest)
{
	void *more;

	if (guest >= l->guests) {
		more = reallocarray(l->last, (size_t)guest + 1, sizeof(*l->last));
		if (!more)
			return -ENOMEM;
		l->last = more;
		while (l->guests <= guest)
			l->last[l->guests++] = 0;
	}
	if (l->nr < l->room)
		return 0;
	more = reallocarray(l->heap, l->room ? 2 * l->room : 64, sizeof(*l->heap));
	if (!more)
		return -ENOMEM;
	l->heap = more;
	l->room = l->room ? 2 * l->room : 64;
	return 0;
}

int lines_put(struct lines *l, unsigned int guest, const char *line, size_t len, int64_t now_ms)
{
	struct line *to;
	uint64_t time;

	if (make_room(l, guest))
		return -ENOMEM;
	to = &l->heap[l->nr];
	*to = (struct line){.nr = l->came, .came_ms = now_ms, .guest = guest, .len = len};
	to->text = strndup(line, len);
	if (!to->text)
		return -ENOMEM;
	if (l->timed && lines_time(line, len, &time))
		l->last[guest] = time;
	to->time = l->timed ? l->last[guest] : 0;
	l->came++;
	l->bytes += len;
	sift_up(l->heap, l->nr++);
	return 0;
}

static bool is_full(const struct lines *l)
{
	return l->nr >= LINES_MAX || l->bytes >= LINES_BYTES_MAX;
}

char *lines_take(struct lines *l, unsigned int *guest, int64_t now_ms, bool all)
{
	struct line first;

	if (!l->nr)
		return NULL;
	first = l->heap[0];
	if (l->timed && !all && !is_full(l) && now_ms - first.came_ms < LINES_WAIT_MS)
		return NULL;
	l->bytes -= first.len;
	l->heap[0] = l->heap[--l->nr];
	sift_down(l->heap, l->nr);
	*guest = first.guest;
	return first.text;
}
