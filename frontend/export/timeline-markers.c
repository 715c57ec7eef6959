// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * timeline-markers.c - slices and counters that programs write to trace_marker, as Android's atrace
 * has them: "B|TGID|NAME", "E|TGID" or "E", "C|TGID|NAME|VALUE".
 */
#include "frontend/export/timeline-local.h"

#include "frontend/decode/fields.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { MARKER_LEN = 1024, NESTED_MAX = 1024 };

/* "TGID|", or a tgid at the end. False: it is none. */
static bool read_tgid(const char **at, int32_t *tgid)
{
	char *end;
	long n;

	if (!isdigit((unsigned char)**at))
		return false;
	errno = 0;
	n = strtol(*at, &end, 10);
	if (errno || n > INT32_MAX || (*end && *end != '|'))
		return false;
	*tgid = (int32_t)n;
	*at = *end ? end + 1 : end;
	return true;
}

static bool begin(struct timeline *t, struct task *task, const char *at)
{
	int32_t tgid;

	if (!read_tgid(&at, &tgid))
		return false;
	if (tgid && task->tgid != tgid && task->pid) {
		task->tgid = tgid;
		timeline_tell(t, task);
	}
	if (task->markers.open == NESTED_MAX)
		t->x->result.left_out++;
	else
		timeline_begin(t, &task->markers, names_text(t->names, at, strlen(at)));
	return true;
}

static bool end(struct timeline *t, struct task *task, const char *at)
{
	int32_t tgid;

	if (*at && !read_tgid(&at, &tgid))
		return false;
	if (task->markers.open)
		timeline_close(t, &task->markers, 0);
	else
		t->x->result.unbegun++;
	return true;
}

/* --- counters ----------------------------------------------------------------------------------
 */

static struct track **counter_slot(struct timeline *t, uint64_t id)
{
	size_t i = (size_t)(id >> 20) % COUNTERS;

	while (t->counters[i] && t->counters[i]->id != id)
		i = (i + 1) % COUNTERS;
	return &t->counters[i];
}

/* They are told again once they come again. */
static void forget_counters(struct timeline *t)
{
	for (size_t i = 0; i < COUNTERS; i++) {
		free(t->counters[i]);
		t->counters[i] = NULL;
	}
	t->nr_counters = 0;
}

/* NULL: no memory. */
static struct track *counter_of(struct timeline *t, int32_t tgid, uint32_t name)
{
	uint64_t of = ((uint64_t)(uint32_t)tgid << 32 | name) * UINT64_C(0x9e3779b97f4a7c15);
	uint64_t id = (of & ~UINT64_C(7)) | UINT64_C(1) << 63 | TRACK_COUNTER;
	struct track **slot, *track;

	if (t->nr_counters == COUNTERS / 2)
		forget_counters(t);
	slot = counter_slot(t, id);
	track = *slot;
	if (track)
		return track;
	track = calloc(1, sizeof(*track));
	if (!track) {
		t->x->failed = true;
		return NULL;
	}
	*track = (struct track){.kind = TRACK_COUNTER, .id = id, .name = name, .tgid = tgid};
	*slot = track;
	t->nr_counters++;
	return track;
}

static bool count(struct timeline *t, const char *at)
{
	const char *bar;
	struct track *track;
	int32_t tgid;
	int64_t value;
	char *stop;

	if (!read_tgid(&at, &tgid))
		return false;
	bar = strrchr(at, '|');
	if (!bar || bar == at)
		return false;
	errno = 0;
	value = strtoll(bar + 1, &stop, 10);
	if (stop == bar + 1 || *stop || errno)
		return false;
	track = counter_of(t, tgid, names_text(t->names, at, (size_t)(bar - at)));
	if (track && t->ops->counter)
		t->ops->counter(t->arg, track, t->now, value);
	return true;
}

static bool on_print(struct timeline *t, const struct timeline_row *row,
		     const struct tep_format_field *const *field, const struct decode_event *ev)
{
	struct field_bytes text = field[0] ? fields_text(field[0], ev) : (struct field_bytes){0};
	char line[MARKER_LEN + 1];
	struct task *task;

	(void)row;
	while (text.len && (text.at[text.len - 1] == '\n' || text.at[text.len - 1] == '\r'))
		text.len--;
	if (!text.len || text.len > MARKER_LEN || !strchr("BEC", text.at[0]) ||
	    (text.len > 1 && text.at[1] != '|'))
		return false;
	memcpy(line, text.at, text.len);
	line[text.len] = '\0';
	if (*line == 'C')
		return count(t, text.len > 1 ? line + 2 : "");
	task = timeline_task(t, ev, ev->pid);
	if (!task)
		return false;
	return *line == 'B' ? begin(t, task, text.len > 1 ? line + 2 : "")
			    : end(t, task, text.len > 1 ? line + 2 : "");
}

const struct timeline_row timeline_marker_rows[] = {
	{"ftrace", "print", {"buf"}, on_print},
	{NULL, NULL, {NULL}, NULL},
};
