// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * fuzz-exec.c - what a guest says of the command that it runs: bytes as they are when the first one
 * is odd, else as frames behind a hello, so that more of them get past their heads.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "frontend/exec/stream.h"
#include "tests/fuzz/input.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What was told, however the bytes were cut into pieces; and what must not be. */
struct told {
	unsigned int hellos, ups, tasks, ends, fails;
	uint64_t sum;
};

static void add(struct told *t, uint64_t value)
{
	if (t->ends || t->fails > 1)
		abort(); /* nothing comes behind its end */
	t->sum = t->sum * 31 + value;
}

static void on_hello(void *arg)
{
	struct told *t = arg;

	add(t, 1);
	if (t->hellos++)
		abort();
}

static void on_waits(void *arg, char what)
{
	struct told *t = arg;

	add(t, (uint8_t)what);
	if (!t->hellos || t->ups)
		abort();
}

static void on_up(void *arg)
{
	struct told *t = arg;

	add(t, 2);
	if (!t->hellos || t->ups++)
		abort();
}

static void on_task(void *arg, uint32_t pid)
{
	struct told *t = arg;

	add(t, pid);
	if (!t->ups || t->tasks++ || !pid || pid > INT32_MAX)
		abort();
}

static void on_output(void *arg, bool error, const char *bytes, size_t len)
{
	struct told *t = arg;

	if (!t->tasks || !len)
		abort();
	for (size_t i = 0; i < len; i++)
		add(t, (uint64_t)(uint8_t)bytes[i] << error);
}

static void on_end(void *arg, uint32_t status)
{
	struct told *t = arg;

	add(t, status);
	if (!t->tasks || (!WIFEXITED(status) && !WIFSIGNALED(status)))
		abort();
	t->ends++;
}

static void on_fail(void *arg, const char *why)
{
	struct told *t = arg;

	if (!t->hellos || t->fails++)
		abort();
	add(t, strlen(why));
	for (; *why; why++)
		if (*why < ' ' || *why > '~')
			abort();
}

static struct told feed(const char *bytes, size_t len, size_t piece)
{
	static const struct stream_ops ops = {on_hello,	 on_waits, on_up,  on_task,
					      on_output, on_end,   on_fail};
	struct told told = {0};
	struct stream s;

	stream_init(&s, &ops, &told);
	for (size_t at = 0, n; at < len; at += n) {
		n = piece < len - at ? piece : len - at;
		stream_feed(&s, bytes + at, n);
	}
	return told;
}

static bool same(const struct told *a, const struct told *b)
{
	return a->hellos == b->hellos && a->ups == b->ups && a->tasks == b->tasks &&
	       a->ends == b->ends && a->fails == b->fails && a->sum == b->sum;
}

/* As a guest would: each in its time, now and then with a length of its own. */
static size_t make(struct input *in, char *bytes, size_t room)
{
	static const char kinds[] = {EXEC_WAITS, EXEC_UP,  EXEC_PID, EXEC_OUT,
				     EXEC_ERR,	 EXEC_END, EXEC_FAIL};
	size_t len = sizeof(EXEC_HELLO) - 1;

	memcpy(bytes, EXEC_HELLO, len);
	while (in->size && len + EXEC_HEAD + 16 < room) {
		uint8_t byte = input_byte(in);
		size_t n = byte >> 4;

		bytes[len++] = kinds[byte % sizeof(kinds)];
		bytes[len++] = (char)n;
		bytes[len++] = 0;
		while (n--)
			bytes[len++] = (char)input_byte(in);
	}
	return len;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = {data, size};
	size_t room = 16 * size + 64, len, piece = 1 + input_byte(&in) % 16;
	char *bytes = malloc(room), *own;
	struct told whole, pieces;

	if (!bytes)
		return 0;
	if (size && data[0] & 1) {
		len = in.size;
		memcpy(bytes, in.data, len);
	} else {
		len = make(&in, bytes, room);
	}
	/* Of its own length, so that reading on is seen. */
	own = malloc(len ? len : 1);
	if (own) {
		memcpy(own, bytes, len);
		whole = feed(own, len, len);
		pieces = feed(own, len, piece);
		if (!same(&whole, &pieces))
			abort();
	}
	free(own);
	free(bytes);
	return 0;
}
