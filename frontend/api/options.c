// SPDX-License-Identifier: GPL-2.0-or-later
/* options.c - hvtrace_set(): options by their names. */
#include "frontend/api/local.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "frontend/session/settings.h"

enum kind { STRING, LIST, NUMBER, FLAG };

struct row {
	const char *name;
	enum kind kind;
	size_t at;	   /* in struct hvtrace */
	uint64_t min, max; /* of numbers, as they are given; and what one of them is: */
	uint64_t unit;
	/* Optional: what it may be, NULL past the last; or whether that makes sense. */
	const char *(*choice)(unsigned int i);
	bool (*is_one)(const char *value);
};

#define AT(member) offsetof(struct hvtrace, member)
#define TEXT(n, to, ...)                                                                           \
	{                                                                                          \
		.name = n, .kind = STRING, .at = AT(to), __VA_ARGS__                               \
	}
#define TEXTS(n, to, ...)                                                                          \
	{                                                                                          \
		.name = n, .kind = LIST, .at = AT(to), __VA_ARGS__                                 \
	}
#define COUNT(n, to, from, up_to, of)                                                              \
	{                                                                                          \
		.name = (n), .kind = NUMBER, .at = AT(to), .min = (from), .max = (up_to),          \
		.unit = (of)                                                                       \
	}

static const struct row rows[] = {
	TEXT("kernel", target.kernel),
	TEXT("connect", target.connect),
	TEXT("tracer", options.tracer),
	TEXT("clock", options.clock),
	TEXT("engine", options.engine, .choice = session_engine_name),
	TEXT("on-panic", options.on_panic, .choice = session_panic_action_name),
	TEXT("from", options.from),
	TEXT("until", options.until),
	TEXTS("filter", options.filter),
	TEXTS("notrace", options.notrace),
	TEXTS("event", options.events),
	TEXTS("pid", options.pids),
	TEXTS("set", options.settings, .is_one = setting_is_one),
	{.name = "lossless", .kind = FLAG, .at = AT(options.lossless), .max = 1},
	COUNT("buffer-kb", options.buffer_bytes, 8, UINT64_C(1) << 30, 1 << 10),
	COUNT("window-mb", options.window_bytes, TRACE_WINDOW_MIN >> 20, TRACE_WINDOW_MAX >> 20,
	      1 << 20),
	COUNT("max-standstill-ms", target.stand_ms, 1, UINT64_C(1) << 32, 1),
	COUNT("max-events", options.max_events, 1, UINT64_MAX >> 1, 1),
	COUNT("min-us", options.min_us, 1, UINT64_C(1) << 40, 1),
	COUNT("max-us", options.max_us, 1, UINT64_C(1) << 40, 1),
};

static const struct row *find(const char *name)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (!strcmp(rows[i].name, name))
			return &rows[i];
	return NULL;
}

/* A copy of the handle's. NULL: no memory. */
static char *keep(struct hvtrace *h, const char *value)
{
	char **more = realloc(h->texts.text, (h->texts.nr + 1) * sizeof(*more));
	char *copy;

	if (!more)
		return NULL;
	h->texts.text = more;
	copy = strdup(value);
	if (copy)
		more[h->texts.nr++] = copy;
	return copy;
}

static int add(struct option_list *list, const char *value)
{
	const char **more = realloc(list->values, (list->nr + 1) * sizeof(*more));

	if (!more)
		return -ENOMEM;
	list->values = more;
	more[list->nr++] = value;
	return 0;
}

static int set_text(struct hvtrace *h, const struct row *row, const char *value)
{
	void *to = (char *)h + row->at;
	const char *copy = keep(h, value);

	if (!copy)
		return -ENOMEM;
	if (row->kind == LIST)
		return add(to, copy);
	*(const char **)to = copy;
	return 0;
}

static bool read_number(const struct row *row, const char *value, uint64_t *n)
{
	char *end;

	errno = 0;
	*n = strtoull(value, &end, 10);
	return *value >= '0' && *value <= '9' && !*end && !errno && *n >= row->min &&
	       *n <= row->max;
}

static int set_number(struct hvtrace *h, const struct row *row, const char *value)
{
	void *to = (char *)h + row->at;
	uint64_t n;

	if (!read_number(row, value, &n)) {
		snprintf(h->err, sizeof(h->err),
			 "%s: a number from %" PRIu64 " to %" PRIu64 " is wanted, and not %s",
			 row->name, row->min, row->max, value);
		return -EINVAL;
	}
	if (row->kind == FLAG)
		*(bool *)to = n;
	else
		*(uint64_t *)to = n * row->unit;
	return 0;
}

static bool makes_sense(const struct row *row, const char *value)
{
	const char *choice;

	if (row->is_one)
		return row->is_one(value);
	for (unsigned int i = 0; row->choice && (choice = row->choice(i)); i++)
		if (!strcmp(choice, value))
			return true;
	return !row->choice;
}

int hvtrace_set(struct hvtrace *h, const char *option, const char *value)
{
	const struct row *row = find(option);
	int rc;

	if (!row) {
		snprintf(h->err, sizeof(h->err), "there is no option %s", option);
		return -ENOENT;
	}
	if (h->attached) {
		snprintf(h->err, sizeof(h->err), "%s: the guest is attached to already", option);
		return -EBUSY;
	}
	if (!makes_sense(row, value)) {
		snprintf(h->err, sizeof(h->err), "%s: not what it takes: %s", option, value);
		return -EINVAL;
	}
	rc = row->kind == STRING || row->kind == LIST ? set_text(h, row, value)
						      : set_number(h, row, value);
	if (rc == -ENOMEM)
		snprintf(h->err, sizeof(h->err), "no memory");
	return rc;
}

void api_options_free(struct hvtrace *h)
{
	session_options_free(&h->options);
	for (size_t i = 0; i < h->texts.nr; i++)
		free(h->texts.text[i]);
	free(h->texts.text);
}
