// SPDX-License-Identifier: GPL-2.0-or-later
/* fuzz-event-filter.c - whatever is written to an event's filter, on whatever record. */
#include <stdlib.h>

#include "../unit/made-events.h"
#include "tracer/events/filter/filter.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int read_string(void *arg, uint64_t addr, bool user, char *buf, size_t size)
{
	(void)arg;
	if (addr & 1)
		return -1;
	memset(buf, user ? 'u' : 'k', size - 1);
	buf[size - 1] = '\0';
	return 0;
}

static void look(const struct guestsym_event *event, const char *text, const struct event_data *rec)
{
	const struct event_format format = made_format(event);
	struct event_filter_error err;
	struct event_filter *filter;
	struct text out = {0};
	int ret = event_filter_new(&format, &made_kernel, text, &filter, &err);

	if ((ret != 0) != (err.what != NULL) || (ret && event_filter_is_set(filter)))
		abort();
	event_filter_match(filter, rec);
	event_filter_print(filter, &out);
	text_free(&out);
	event_filter_free(filter);
}

/* The first byte says how long the record is, which comes next; the rest is the text. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct event_data rec = {.string = read_string, .comm = "comm", .cpu = 1};
	char *text;

	if (!size)
		return 0;
	rec.len = data[0] < size ? data[0] : size - 1;
	rec.record = data + 1;
	text = strndup((const char *)data + 1 + rec.len, size - 1 - rec.len);
	if (text) {
		look(&made_any, text, &rec);
		look(&made_switch, text, &rec);
	}
	free(text);
	return 0;
}
