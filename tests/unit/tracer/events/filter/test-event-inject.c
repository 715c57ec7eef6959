// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test-event-inject.c - records made of what is written to `inject`: as
 * kernel/trace/trace_events_inject.c (6.12) makes them, and its errnos.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include <errno.h>

#include "tests/unit/made-events.h"
#include "tracer/events/filter/inject.h"

#include "tests/seed.h"

enum { ID = 314 };

static const struct event_inject_strings strings = {0x1111, 0x2222};

struct any_record {
	uint16_t type;
	uint8_t flags, preempt_count;
	int32_t pid;
	uint8_t u8;
	int8_t s8;
	uint16_t u16;
	int16_t s16;
	uint32_t name, label;
	uint64_t pointer, func;
	uint32_t cpus, target_cpu;
};

static struct event_injection in;

static int parse(const struct guestsym_event *made, const char *text)
{
	struct guestsym_event ev = *made;
	struct event_format format = made_format(&ev);

	ev.id = ID;
	memset(&in, 0xa5, sizeof(in));
	return event_inject_parse(&format, &strings, text, &in);
}

static struct any_record any(void)
{
	struct any_record r;

	assert_true(in.len >= sizeof(r) + 1);
	memcpy(&r, in.record, sizeof(r));
	return r;
}

/* A __data_loc of a string, which is so long with its end, and where it is. */
static void loc_is(uint32_t loc, size_t at, const char *want)
{
	assert_int_equal(loc >> 16, strlen(want) + 1);
	assert_int_equal(loc & 0xffff, at);
	assert_true(at + strlen(want) < in.len);
	assert_string_equal((const char *)in.record + at, want);
}

static void test_nothing(void **state)
{
	struct any_record r;

	(void)state;
	assert_int_equal(parse(&made_any, ""), 0);
	r = any();
	assert_int_equal(in.len, sizeof(r) + 1);
	assert_int_equal(r.type, ID);
	assert_int_equal(r.pid, 0);
	assert_int_equal(r.u16, 0);
	/* Strings are empty: without a length, at the one byte behind all fields. */
	assert_int_equal(r.name, sizeof(r));
	assert_int_equal(r.label, sizeof(r) - offsetof(struct any_record, label) - 4);
	assert_int_equal(in.record[sizeof(r)], 0);
	assert_int_equal(r.pointer, strings.empty);
}

static void test_numbers(void **state)
{
	struct any_record r;

	(void)state;
	assert_int_equal(parse(&made_any,
			       " u8 =0x1ff\ts8= -2 u16=010 s16=-0x10 target_cpu=4294967297 "
			       "cpus=3 common_pid=-7 common_flags=1 common_type=5"),
			 0);
	r = any();
	assert_int_equal(r.u8, 0xff);
	assert_int_equal(r.s8, -2);
	assert_int_equal(r.u16, 8);
	assert_int_equal(r.s16, -16);
	assert_int_equal(r.target_cpu, 1);
	assert_int_equal(r.cpus, 3);
	assert_int_equal(r.pid, -7);
	assert_int_equal(r.flags, 1);
	assert_int_equal(r.type, 5);
	/* What comes last counts. */
	assert_int_equal(parse(&made_any, "u8=1 u8=2"), 0);
	assert_int_equal(any().u8, 2);
}

static void test_strings(void **state)
{
	struct made_switch_record sw;
	struct any_record r;

	(void)state;
	assert_int_equal(parse(&made_any, "name=\"a b\"label='it''"), -EINVAL);
	/* Nothing need be between a quote and the next name, and backslashes stay. */
	assert_int_equal(parse(&made_any, "name=\"a \\\" b\"label='\"' pointer=\"x\" u8=1"), 0);
	r = any();
	assert_int_equal(in.len, sizeof(r) + 1 + strlen("a \\\" b") + 1 + strlen("\"") + 1);
	loc_is(r.name, sizeof(r) + 1, "a \\\" b");
	r.label += offsetof(struct any_record, label) + 4;
	loc_is(r.label, sizeof(r) + 1 + strlen("a \\\" b") + 1, "\"");
	assert_int_equal(r.pointer, strings.set);
	assert_int_equal(r.u8, 1);

	assert_int_equal(parse(&made_switch, "prev_comm='sh' next_comm=\"0123456789abcdefghi\""),
			 0);
	memcpy(&sw, in.record, sizeof(sw));
	assert_string_equal(sw.prev_comm, "sh");
	assert_string_equal(sw.next_comm, "0123456789abcde");
	assert_int_equal(sw.next_pid, 0);
}

static void test_errors(void **state)
{
	static const struct {
		const char *text;
		int error;
	} wrong[] = {
		{"=1", -EINVAL},
		{"'u8'=1", -EINVAL},
		{"nosuch=1", -ENOENT},
		{"nosuch", -ENOENT}, /* before anything else about it */
		{"u8", -EINVAL},
		{"u8 1", -EINVAL},
		{"u8=", -EINVAL},
		{"u8=x", -EINVAL},
		{"u8=+1", -EINVAL},
		{"u8=1z", -EINVAL},
		{"u8=1;", -EINVAL},
		{"u8=08", -EINVAL},
		{"u8=0x", -EINVAL},
		{"u8=-1", -EINVAL}, /* it has no sign */
		{"s8=-", -EINVAL},
		{"u8=1 nosuch=1", -ENOENT},
		{"target_cpu=18446744073709551616", -ERANGE},
		{"s8=9223372036854775808", -ERANGE},
		{"s8=-9223372036854775809", -ERANGE},
		{"u8='1'", -EINVAL},
		{"name=1", -EINVAL},
		{"name='a", -EINVAL},
		{"name='a\\'", -EINVAL},
		{"name=a", -EINVAL},
		{"func=1", -EINVAL},
		{"cpu=1", -EINVAL}, /* in no record */
		{"comm='sh'", -EINVAL},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		if (parse(&made_any, wrong[i].text) != wrong[i].error)
			fail_msg("%s: %d, not %d", wrong[i].text, parse(&made_any, wrong[i].text),
				 wrong[i].error);
	assert_int_equal(parse(&made_enter, "args=1"), -EINVAL); /* of 48 bytes */
	assert_int_equal(parse(&made_any, "target_cpu=18446744073709551615"), 0);
	assert_int_equal(parse(&made_any, "s8=-9223372036854775808"), 0);
}

/* 255 characters fit in a string, and as many strings as a ring buffer has room for. */
static void test_long(void **state)
{
	char text[8192], longest[EVENT_STRING_MAX + 1];
	size_t len = 0;
	int err = 0;

	(void)state;
	memset(longest, 'x', sizeof(longest));
	snprintf(text, sizeof(text), "name='%.*s'", EVENT_STRING_MAX - 1, longest);
	assert_int_equal(parse(&made_any, text), 0);
	snprintf(text, sizeof(text), "name='%.*s'", EVENT_STRING_MAX, longest);
	assert_int_equal(parse(&made_any, text), -EINVAL);
	while (!err && len < sizeof(text) - 2 * EVENT_STRING_MAX) {
		len += (size_t)snprintf(text + len, sizeof(text) - len, "name='%.*s'",
					EVENT_STRING_MAX - 1, longest);
		err = parse(&made_any, text);
	}
	assert_int_equal(err, -E2BIG);
	memset(text, '1', 1000);
	memcpy(text, "u8=", 3);
	text[1000] = '\0';
	assert_int_equal(parse(&made_any, text), -ERANGE);
}

/* Fields that a guest tells of may be anywhere: nothing is written past the record. */
static void test_hostile_fields(void **state)
{
	static const uint32_t numbers[] = {0,	 1,    4,     8,	4088,
					   4095, 4096, 65535, 1u << 31, UINT32_MAX};
	enum { NUMBERS = sizeof(numbers) / sizeof(numbers[0]) };
	struct guestsym_event_field field = {.type = "any", .name = "a"};
	struct guestsym_event ev = {.system = "s", .name = "e", .fields = &field, .nr_fields = 1};
	struct {
		struct event_injection in;
		uint8_t behind[64];
	} room;
	const struct event_format format = made_format(&ev);

	(void)state;
	srand(test_seed());
	for (unsigned int n = 0; n < 20000; n++) {
		static const char *const texts[] = {"", "a=1", "a='some text'", "a=-1 a='x'"};
		int err;

		field.offset = numbers[(size_t)rand() % NUMBERS];
		field.size = numbers[(size_t)rand() % NUMBERS];
		field.kind = (uint8_t)(rand() % (GUESTSYM_EVENT_CPUMASK + 1));
		field.is_signed = rand() % 2;
		memset(room.behind, 0x5a, sizeof(room.behind));
		err = event_inject_parse(&format, &strings, texts[rand() % 4], &room.in);
		assert_true(err || room.in.len <= sizeof(room.in.record));
		for (size_t i = 0; i < sizeof(room.behind); i++)
			assert_int_equal(room.behind[i], 0x5a);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nothing), cmocka_unit_test(test_numbers),
		cmocka_unit_test(test_strings), cmocka_unit_test(test_errors),
		cmocka_unit_test(test_long),	cmocka_unit_test(test_hostile_fields),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
