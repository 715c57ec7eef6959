// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * fuzz-event-trigger.c - whatever is written to trigger files, with records between the writes.
 *
 * Each line is a write; its first byte says to which event, and how long the record is, made of the
 * line itself. One that begins with a tilde defines a synthetic event.
 */
#include <stdlib.h>

#include "../unit/trigger-owner.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static size_t take_stack(void *arg, uint64_t *ips, size_t max)
{
	(void)arg;
	for (size_t i = 0; i < max; i++)
		ips[i] = i + 1;
	return max;
}

static void read_all(struct trigger_owner *o, int event)
{
	free(owner_read(event_triggers_print, o, event));
	free(owner_read(event_triggers_print_hist, o, event));
}

static void one_line(struct trigger_owner *o, const uint8_t *line, size_t len)
{
	struct event_data rec = {.record = line, .stack = take_stack, .comm = "comm"};
	int event = line[0] % OWNER_EVENTS;
	char text[512];

	if (line[0] == '~') {
		snprintf(text, sizeof(text), "%.*s", (int)len - 1, (const char *)line + 1);
		owner_define(o, text);
		return;
	}
	if (event_triggers_write(o->event[event].triggers, (const char *)line + 1, len - 1) >
	    (ssize_t)len)
		abort();
	rec.len = len > 100 ? 100 : len;
	for (int i = 0; i < OWNER_EVENTS; i++)
		owner_hit(o, i, &rec);
	if (line[0] & 0x40)
		read_all(o, event);
	if (line[0] == 0x7f)
		event_triggers_truncate(o->event[event].triggers);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct trigger_owner o;

	owner_init(&o);
	o.ops.kernel.version = size & 1 ? EVENT_KERNEL(6, 12) : 0;
	while (size) {
		const uint8_t *end = memchr(data, '\n', size);
		size_t len = end ? (size_t)(end - data) : size;

		if (len)
			one_line(&o, data, len);
		data += end ? len + 1 : len;
		size -= end ? len + 1 : len;
	}
	for (int i = 0; i < OWNER_EVENTS; i++)
		read_all(&o, i);
	owner_exit(&o);
	return 0;
}
