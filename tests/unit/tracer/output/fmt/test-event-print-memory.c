// SPDX-License-Identifier: GPL-2.0-or-later
/* test-event-print-memory.c - print fmts and fields that would take all of the host's memory. */
#include "tests/unit/event-printing.h"
#include "tracer/lib/text.h"

#include <malloc.h>

enum {
	FMT_MAX = (1 << 18) - 1, /* as much as is read of a guest */
	ARGS = 200,
	FIRST_ID = 500,
	FIELDS = 4096,
	SLACK = 128 << 10, /* bytes; of much of it the allocator takes less than 1/32 itself */
};

static const struct guestsym_event_field value = {
	.name = "value", .type = "int", .offset = 8, .size = 4};

static size_t held(void)
{
	struct mallinfo2 info = mallinfo2();

	return info.uordblks + info.hblkhd;
}

/* ARGS sums of so many calls each, and behind them what looks like rows of these. */
static char *forged_fmt(unsigned int calls)
{
	struct text fmt = {0};

	text_putc(&fmt, '"');
	for (unsigned int i = 0; i < ARGS; i++)
		text_puts(&fmt, "%d");
	text_putc(&fmt, '"');
	for (unsigned int i = 0; i < ARGS; i++) {
		text_puts(&fmt, ",0");
		for (unsigned int k = 0; k < calls; k++)
			text_puts(&fmt, "+__print_flags(0,\"\")");
	}
	text_puts(&fmt, ",\"");
	while (fmt.len < FMT_MAX - 1)
		text_putc(&fmt, '{');
	text_puts(&fmt, "\"");
	text_putc(&fmt, '\0');
	return fmt.buf;
}

static struct guestsym_event forged_event(unsigned int nr, const char *print_fmt)
{
	return (struct guestsym_event){
		.system = "guest",
		.name = "event",
		.print_fmt = print_fmt,
		.fields = &value,
		.nr_fields = 1,
		.id = (uint16_t)(FIRST_ID + nr),
		.source = GUESTSYM_EVENT_PROBE,
	};
}

static void add(struct event_printer *p, const struct guestsym_event *ev)
{
	const struct guestsym_event_list list = {.v = ev, .n = 1};

	assert_int_equal(event_printer_add(p, &list), 0);
}

static void rows_that_are_not_there_take_no_memory(void **state)
{
	char *fmt = forged_fmt(5);
	struct guestsym_event ev = forged_event(0, fmt);
	struct event_printer *p = event_printer_new(&guest_names);
	size_t before;

	(void)state;
	add(p, &ev);
	before = held();
	assert_int_equal(event_printer_form(p, FIRST_ID)->kind, EVENT_FORMAT);
	assert_true(held() - before < EXPR_MEMORY_MAX);
	event_printer_free(p);
	free(fmt);
}

static void a_form_that_takes_too_much_is_given_back(void **state)
{
	char *fmt = forged_fmt(40);
	struct guestsym_event ev = forged_event(0, fmt);
	struct event_printer *p = event_printer_new(&guest_names);
	size_t before;

	(void)state;
	add(p, &ev);
	before = held();
	assert_int_equal(event_printer_form(p, FIRST_ID)->kind, EVENT_FIELDS);
	assert_true(held() < before + SLACK);
	event_printer_free(p);
	free(fmt);
}

static void all_forms_together_have_a_limit(void **state)
{
	char *fmt = forged_fmt(5);
	struct event_printer *p = event_printer_new(&guest_names);
	unsigned int events = 0;
	size_t before = held(), forms = 0;
	enum event_form_kind kind;

	(void)state;
	fmt[strlen(fmt) - 200000] = '\0'; /* the copy of it counts as well */
	do {
		struct guestsym_event ev = forged_event(events, fmt);
		size_t so_far;

		add(p, &ev);
		so_far = held();
		kind = event_printer_form(p, ev.id)->kind;
		forms += held() - so_far;
		assert_true(forms < EXPR_MEMORY_SHARED + EXPR_MEMORY_SHARED / 32);
		assert_true(++events < 500);
	} while (kind == EVENT_FORMAT);
	/* Those that there is little of still are. */
	for (unsigned int i = 0; i < 2; i++) {
		struct guestsym_event ev = forged_event(events + i, "\"%d\", REC->value");

		add(p, &ev);
		assert_true(event_printer_knows(p, ev.id, 12));
	}
	event_printer_free(p);
	assert_true(held() < before + SLACK);
	free(fmt);
}

/* As the events of one class share them, where they are read. */
static struct guestsym_event_field *many_fields(const char *type)
{
	struct guestsym_event_field *fields = calloc(FIELDS, sizeof(*fields));

	assert_non_null(fields);
	for (unsigned int i = 0; i < FIELDS; i++) {
		fields[i] = value;
		fields[i].type = type;
	}
	return fields;
}

static void all_events_together_have_a_limit(void **state)
{
	struct guestsym_event_field *fields = many_fields("int");
	struct event_printer *p = event_printer_new(&guest_names);
	size_t before = held();
	unsigned int known = 0;

	(void)state;
	for (unsigned int i = 0; i < 200; i++) {
		struct guestsym_event ev = forged_event(i, "");

		ev.fields = fields;
		ev.nr_fields = FIELDS;
		add(p, &ev);
		known += event_printer_knows(p, ev.id, 12);
	}
	assert_in_range(known, 10, 199);
	assert_true(held() - before < EXPR_MEMORY_SHARED + EXPR_MEMORY_SHARED / 32);
	event_printer_free(p);
	free(fields);
}

static void one_event_too_large_does_no_harm_to_others(void **state)
{
	char type[1024];
	struct guestsym_event ev[2] = {forged_event(0, ""), forged_event(1, "")};
	const struct guestsym_event_list list = {.v = ev, .n = 2};
	struct event_printer *p = event_printer_new(&guest_names);
	struct guestsym_event_field *fields;
	size_t before;

	(void)state;
	memset(type, 'x', sizeof(type) - 1);
	type[sizeof(type) - 1] = '\0';
	fields = many_fields(type);
	ev[0].fields = fields;
	ev[0].nr_fields = FIELDS;
	before = held();
	assert_int_equal(event_printer_add(p, &list), 0);
	assert_true(held() < before + SLACK);
	assert_false(event_printer_knows(p, ev[0].id, 12));
	assert_null(event_printer_form(p, ev[0].id));
	assert_true(event_printer_knows(p, ev[1].id, 12));
	event_printer_free(p);
	free(fields);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_that_are_not_there_take_no_memory),
		cmocka_unit_test(a_form_that_takes_too_much_is_given_back),
		cmocka_unit_test(all_forms_together_have_a_limit),
		cmocka_unit_test(all_events_together_have_a_limit),
		cmocka_unit_test(one_event_too_large_does_no_harm_to_others),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
