// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * fuzz-fleet.c - what strangers write that chooses guests and orders what they say: the XML of a
 * domain with labels in its metadata, and lines of several traces.
 *
 * An input is a key, a value and XML, each up to a zero; what is behind is lines, of guests in
 * turn.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "frontend/fleet/lines.h"
#include "tests/fuzz/input.h"
#include "vmm/qemu/text/label.h"

#define GUESTS 3

/* In memory of its own, so that what is read behind its end is seen. */
static char *take_text(struct input *in)
{
	size_t len = strnlen((const char *)in->data, in->size);
	char *text = malloc(len + 1);

	for (size_t i = 0; i <= len; i++)
		text[i] = (char)input_byte(in);
	text[len] = '\0';
	return text;
}

static void look_for_label(struct input *in)
{
	char *key = take_text(in), *value = take_text(in), *xml = take_text(in);
	char *metadata = label_metadata(xml);

	assert(strlen(metadata) <= strlen(xml));
	label_is(metadata, key, value);
	label_is(xml, key, value);
	free(metadata);
	free(key);
	free(value);
	free(xml);
}

static void put_lines(struct lines *l, const struct input *in)
{
	const char *at = (const char *)in->data, *end = at + in->size;

	for (unsigned int i = 0; at < end; i++) {
		const char *newline = memchr(at, '\n', (size_t)(end - at));
		size_t len = (size_t)((newline ? newline : end) - at);
		char *line = malloc(len + !len);

		memcpy(line, at, len);
		assert(!lines_put(l, i % GUESTS, line, len, i));
		free(line);
		at += len + 1;
	}
}

/* All of them, and those that tell times in the order of these. */
static void take_lines(struct lines *l, bool ordered)
{
	uint64_t last = 0, time;
	unsigned int guest;
	char *line;

	while ((line = lines_take(l, &guest, 0, true))) {
		assert(guest < GUESTS);
		if (ordered && lines_time(line, strlen(line), &time)) {
			assert(time >= last);
			last = time;
		}
		free(line);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = {data, size};

	look_for_label(&in);
	for (int timed = 0; timed < 2; timed++) {
		struct lines *l = lines_new(timed);

		put_lines(l, &in);
		take_lines(l, timed && (!in.size || !memchr(in.data, 0, in.size)));
		lines_free(l);
	}
	return 0;
}
