// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test-event-select.c - words of set_event: what a 6.1 kernel was seen to make of them, with all
 * its events (tests/data/tracefs-6.1/set_event.txt); modules; the order in instances.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <errno.h>

#include "tracer/events/select.h"
#include "tracer/lib/text.h"
#include "tracer/lib/word.h"

#define DATA "tests/data/tracefs-6.1/"

enum { EVENTS_ROOM = 2048 };

/* All events of a kernel, and which of them are on. */
struct world {
	struct guestsym_event ev[EVENTS_ROOM];
	char name[EVENTS_ROOM][96];
	bool on[EVENTS_ROOM];
	struct guestsym_event_list list;
	uint32_t which[EVENTS_ROOM];
};

static FILE *data_open(const char *path)
{
	FILE *f = fopen(path, "re");

	if (!f)
		fail_msg("cannot open %s", path);
	return f;
}

static void add_event(struct world *w, const char *line)
{
	char *name = w->name[w->list.n], *colon;
	struct guestsym_event *ev = &w->ev[w->list.n++];

	assert_true(w->list.n < EVENTS_ROOM);
	snprintf(name, sizeof(w->name[0]), "%s", line);
	name[strcspn(name, "\n")] = '\0';
	colon = strchr(name, ':');
	assert_non_null(colon);
	*colon = '\0';
	*ev = (struct guestsym_event){
		.system = name, .name = colon + 1, .flags = GUESTSYM_EVENT_FL_REG};
}

static int set_up(void **state)
{
	FILE *f = data_open(DATA "available_events");
	struct world *w = calloc(1, sizeof(*w));
	char line[96];

	assert_non_null(w);
	while (fgets(line, sizeof(line), f))
		add_event(w, line);
	fclose(f);
	w->list.v = w->ev;
	assert_int_equal(w->list.n, 1372);
	*state = w;
	return 0;
}

static int tear_down(void **state)
{
	free(*state);
	return 0;
}

static ssize_t selects(struct world *w, bool modules, const char *word)
{
	struct event_selection sel = {.which = w->which};
	int rc = event_select(&w->list, modules, word, &sel);

	for (size_t k = 0; k < sel.n && !rc; k++)
		w->on[sel.which[k]] = sel.on;
	return rc ? rc : (ssize_t)sel.n;
}

/* --- as the kernel -------------------------------------------------------------------------- */

/* One write(2): bytes or -errno, as instance_write_set_event() has it. */
static ssize_t put(struct world *w, const char *text)
{
	struct word word;
	ssize_t taken = 0, rc = 0;

	if (!*text)
		return 0;
	assert_int_equal(word_init(&word, EVENT_SELECT_MAX), 0);
	taken = word_take(&word, true, text, strlen(text));
	if (taken >= 0 && word_loaded(&word))
		rc = selects(w, false, word.text);
	word_free(&word);
	return rc < 0 ? rc : taken;
}

/*
 * "N lines: " and the first three of them. The kernel's sched_switch was on behind the back of
 * set_event, which lists it all the same.
 */
static void list_on(const struct world *w, char *line, size_t room)
{
	struct text first = {0};
	unsigned int n = 0;

	for (size_t i = 0; i < w->list.n; i++) {
		const struct guestsym_event *ev = &w->ev[i];

		if (!w->on[i] && strcmp(ev->name, "sched_switch") != 0)
			continue;
		if (n++ < 3)
			text_printf(&first, "%s:%s ", ev->system, ev->name);
	}
	text_putc(&first, '\0');
	snprintf(line, room, "   -> %u lines: %s\n", n, first.buf);
	text_free(&first);
}

/* set_event [FLAGS] write("TEXT", LENGTH) = RESULT, and what is on then. */
static void replay(struct world *w, char *write, const char *then)
{
	char *text = strstr(write, "write(\""), *end = strstr(write, "\", "), now[512];
	const char *result = strstr(write, ") = ");
	ssize_t got;

	assert_non_null(text);
	assert_non_null(end);
	assert_non_null(result);
	if (strstr(write, "O_TRUNC"))
		memset(w->on, 0, sizeof(w->on));
	*end = '\0';
	got = put(w, text + strlen("write(\""));
	if (got < 0)
		assert_int_equal(strncmp(result + 4, "-1 EINVAL ", 10) ? 0 : -EINVAL, got);
	else
		assert_int_equal(got, strtol(result + 4, NULL, 10));
	list_on(w, now, sizeof(now));
	if (strcmp(now, then) != 0)
		fail_msg("%s: is on now: %snot %s", text, now, then);
}

static void test_as_the_kernel(void **state)
{
	FILE *f = data_open(DATA "set_event.txt");
	char write[512], then[512];
	unsigned int rows = 0;

	while (fgets(write, sizeof(write), f) && fgets(then, sizeof(then), f)) {
		replay(*state, write, then);
		rows++;
	}
	fclose(f);
	assert_int_equal(rows, 16);
}

/* --- the rest ------------------------------------------------------------------------------- */

static void test_parts(void **state)
{
	struct world *w = *state;
	char longest[EVENT_SELECT_MAX + 1];

	assert_int_equal(selects(w, false, ":sched_switch"), 1);
	assert_int_equal(selects(w, false, "*:sched_switch"), 1);
	assert_int_equal(selects(w, false, ":"), 1372);
	assert_int_equal(selects(w, false, "*:"), 1372);
	assert_int_equal(selects(w, false, "*"), -EINVAL);
	assert_int_equal(selects(w, false, ""), -EINVAL);
	assert_int_equal(selects(w, false, "!"), -EINVAL);
	assert_int_equal(selects(w, false, "!!sched"), -EINVAL);
	assert_int_equal(selects(w, false, "sched:sched_switch:x"), -EINVAL);
	/* A system and an event of one name. */
	w->ev[0].name = "sched";
	assert_int_equal(selects(w, false, "sched"), 28);
	/* Those of the tracers themselves cannot be enabled. */
	w->ev[1].flags |= GUESTSYM_EVENT_FL_IGNORE_ENABLE;
	w->ev[2].flags = 0;
	assert_int_equal(selects(w, false, "*:*"), 1370);
	memset(longest, 'x', sizeof(longest) - 1);
	longest[sizeof(longest) - 1] = '\0';
	assert_int_equal(selects(w, false, longest), -EINVAL);
}

static void test_modules(void **state)
{
	struct world *w = *state;

	w->ev[0].module = "virtio_net";
	w->ev[1].module = "xfs";
	w->ev[2].module = "xfs";
	assert_int_equal(selects(w, true, ":mod:xfs"), 2);
	assert_int_equal(selects(w, true, "*:mod:xfs"), 2);
	assert_int_equal(selects(w, true, "*:*:mod:xfs"), 2);
	assert_int_equal(selects(w, true, "initcall:mod:xfs"), 2);
	assert_int_equal(selects(w, true, "initcall_level:mod:xfs"), 1);
	assert_true(w->on[1] && w->on[2] && !w->on[0]);
	assert_int_equal(selects(w, true, "!initcall:initcall_level:mod:xfs"), 1);
	assert_true(w->on[1] && !w->on[2]);
	assert_int_equal(selects(w, true, "sched:mod:xfs"), -EINVAL);
	assert_int_equal(selects(w, true, "*:mod:ext4"), -EINVAL);
	/* Older kernels take it for a name. */
	assert_int_equal(selects(w, false, ":mod:xfs"), -EINVAL);
	assert_int_equal(selects(w, false, "*:mod:xfs"), -EINVAL);
}

/* What a module brings goes to the front, and an instance that is made then gets all backwards. */
static void test_order(void **state)
{
	static const uint32_t in_instance[] = {2, 3, 1, 0};
	struct world *w = *state;

	w->list.n = 4;
	for (size_t n = 0; n < 4; n++) {
		assert_int_equal(event_in_order(&w->list, true, n), n);
		assert_int_equal(event_in_order(&w->list, false, n), n);
	}
	w->ev[0].module = "xfs";
	w->ev[1].flags |= GUESTSYM_EVENT_FL_DYNAMIC;
	for (size_t n = 0; n < 4; n++) {
		assert_int_equal(event_in_order(&w->list, true, n), n);
		assert_int_equal(event_in_order(&w->list, false, n), in_instance[n]);
	}
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		TEST(test_as_the_kernel),
		TEST(test_parts),
		TEST(test_modules),
		TEST(test_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
