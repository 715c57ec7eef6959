// SPDX-License-Identifier: GPL-2.0-or-later
/* stream.c - see stream.h */
#include "frontend/exec/stream.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

void stream_init(struct stream *s, const struct stream_ops *ops, void *arg)
{
	*s = (struct stream){.ops = ops, .arg = arg};
}

static void over(struct stream *s, const char *why)
{
	s->state = STREAM_OVER;
	s->ops->fail(s->arg, why);
}

static void no_sense(struct stream *s)
{
	over(s, "what it says makes no sense");
}

/* --- hello ----------------------------------------------------------------------------------- */

/* Of the first byte of the hello there is but one more, its last. */
static void noise(struct stream *s, char byte)
{
	static const char hello[] = EXEC_HELLO;

	if (byte != hello[s->matched])
		s->matched = 0;
	if (byte == hello[s->matched])
		s->matched++;
	if (s->matched < sizeof(hello) - 1)
		return;
	s->state = STREAM_WAITS;
	s->ops->hello(s->arg);
}

/* --- frames ---------------------------------------------------------------------------------- */

struct frame_kind {
	char what;
	enum stream_state from, to; /* when it may come */
	size_t min, max;
	void (*handle)(struct stream *s); /* all of it is in s->text */
};

static uint32_t number(const struct stream *s)
{
	uint32_t n = 0;

	for (unsigned int i = 0; i < 4; i++)
		n |= (uint32_t)(uint8_t)s->text[i] << 8 * i;
	return n;
}

static void handle_waits(struct stream *s)
{
	s->ops->waits(s->arg, s->text[0]);
}

static void handle_up(struct stream *s)
{
	s->state = STREAM_UP;
	s->ops->up(s->arg);
}

static void handle_pid(struct stream *s)
{
	uint32_t pid = number(s);

	if (!pid || pid > INT32_MAX) {
		no_sense(s);
		return;
	}
	s->state = STREAM_TASK;
	s->ops->task(s->arg, pid);
}

static void handle_end(struct stream *s)
{
	uint32_t status = number(s);

	if (status > 0xffff || (!WIFEXITED(status) && !WIFSIGNALED(status))) {
		no_sense(s);
		return;
	}
	s->state = STREAM_OVER;
	s->ops->end(s->arg, status);
}

static void handle_fail(struct stream *s)
{
	for (size_t i = 0; i < s->text_len; i++)
		if (!isascii(s->text[i]) || !isprint(s->text[i]))
			s->text[i] = '?';
	over(s, s->text);
}

/* Those without a function are output, which is passed on as it comes. */
static const struct frame_kind kinds[] = {
	{EXEC_WAITS, STREAM_WAITS, STREAM_WAITS, 1, 1, handle_waits},
	{EXEC_UP, STREAM_WAITS, STREAM_WAITS, 0, 0, handle_up},
	{EXEC_PID, STREAM_UP, STREAM_UP, 4, 4, handle_pid},
	{EXEC_OUT, STREAM_TASK, STREAM_TASK, 1, EXEC_DATA_MAX, NULL},
	{EXEC_ERR, STREAM_TASK, STREAM_TASK, 1, EXEC_DATA_MAX, NULL},
	{EXEC_END, STREAM_TASK, STREAM_TASK, 4, 4, handle_end},
	{EXEC_FAIL, STREAM_WAITS, STREAM_TASK, 0, STREAM_TEXT_MAX, handle_fail},
};

static const struct frame_kind *kind_of(const struct stream *s)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if ((uint8_t)kinds[i].what == s->head[0])
			return &kinds[i];
	return NULL;
}

static void frame_end(struct stream *s, const struct frame_kind *kind)
{
	s->head_len = 0;
	s->text[s->text_len] = '\0';
	if (kind->handle)
		kind->handle(s);
}

static void head_byte(struct stream *s, char byte)
{
	const struct frame_kind *kind;

	s->head[s->head_len++] = (uint8_t)byte;
	if (s->head_len < EXEC_HEAD)
		return;
	s->left = (size_t)s->head[1] | (size_t)s->head[2] << 8;
	s->text_len = 0;
	kind = kind_of(s);
	if (!kind || s->state < kind->from || s->state > kind->to || s->left < kind->min ||
	    s->left > kind->max)
		no_sense(s);
	else if (!s->left)
		frame_end(s, kind);
}

static size_t frame_bytes(struct stream *s, const char *bytes, size_t len)
{
	const struct frame_kind *kind = kind_of(s);
	size_t n = len < s->left ? len : s->left;

	if (kind->handle) {
		memcpy(s->text + s->text_len, bytes, n);
		s->text_len += n;
	} else {
		s->ops->output(s->arg, kind->what == EXEC_ERR, bytes, n);
	}
	s->left -= n;
	if (!s->left)
		frame_end(s, kind);
	return n;
}

void stream_feed(struct stream *s, const char *bytes, size_t len)
{
	size_t at = 0;

	while (at < len && s->state != STREAM_OVER) {
		if (s->state == STREAM_NOISE)
			noise(s, bytes[at++]);
		else if (s->head_len < EXEC_HEAD)
			head_byte(s, bytes[at++]);
		else
			at += frame_bytes(s, bytes + at, len - at);
	}
}

/* --- to the guest ---------------------------------------------------------------------------- */

static char *frame_new(char what, size_t data, size_t *len)
{
	char *frame = malloc(EXEC_HEAD + data);

	if (!frame)
		return NULL;
	frame[0] = what;
	frame[1] = (char)(data & 0xff);
	frame[2] = (char)(data >> 8);
	*len = EXEC_HEAD + data;
	return frame;
}

char *stream_command(const char *command, uint8_t flags, size_t *len)
{
	size_t n = strnlen(command, STREAM_COMMAND_MAX + 1);
	char *frame = n <= STREAM_COMMAND_MAX ? frame_new(EXEC_COMMAND, n + 1, len) : NULL;

	if (!frame)
		return NULL;
	frame[EXEC_HEAD] = (char)flags;
	memcpy(frame + EXEC_HEAD + 1, command, n);
	return frame;
}

char *stream_go(size_t *len)
{
	return frame_new(EXEC_GO, 0, len);
}
