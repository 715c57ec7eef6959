// SPDX-License-Identifier: GPL-2.0-or-later
/* test-reader.c - what becomes of records: functions, durations, system calls, times; and who a
 * file is. */
#include "tests/unit/jobs-world.h"

#include <asm/unistd.h>

#include "frontend/ship/identity.h"
#include "frontend/ship/reader.h"
#include "frontend/ship/there.h"

#define WRITTEN 1700000000

struct scene {
	struct decode_world w;
	struct reader *reader;
	struct block_row row;
};

static struct scene scene(struct dat *d, bool fields)
{
	const struct reader_config cfg = {.fields = fields, .written = WRITTEN};
	struct scene s = {.w = decode_world_of(d)};

	s.reader = reader_new(s.w.d, s.w.f, s.w.r, &cfg);
	assert_non_null(s.reader);
	return s;
}

static void end(struct scene *s)
{
	assert_false(reader_next(s->reader, &s->row));
	assert_null(records_error(s->w.r));
	reader_free(s->reader);
	decode_world_end(&s->w);
}

static void check_text(const struct block_text *t, const char *want)
{
	assert_int_equal(t->len, strlen(want) + 1);
	assert_int_equal(t->bytes[0], strlen(want));
	assert_memory_equal(t->bytes + 1, want, strlen(want));
}

/* The next row. */
static const struct block_row *next(struct scene *s, const char *event, const char *function,
				    int64_t duration)
{
	assert_true(reader_next(s->reader, &s->row));
	check_text(s->row.event, event);
	check_text(s->row.function, function);
	assert_int_equal(s->row.duration, duration);
	return &s->row;
}

/* The next row of something that has taken so long. */
static void find(struct scene *s, int64_t duration)
{
	do
		assert_true(reader_next(s->reader, &s->row));
	while (s->row.duration != duration);
}

static void test_functions(void **state)
{
	struct scene s = scene(made_trace(), false);
	const struct block_row *row;

	(void)state;
	row = next(&s, "ftrace:function", "vfs_read", -1);
	assert_int_equal(row->nr, 0);
	assert_int_equal(row->time, MADE_T0);
	assert_int_equal(row->at, WRITTEN);
	assert_int_equal(row->pid, 1);
	assert_int_equal(row->call_nr, -1);
	assert_int_equal(row->info_len, 0);
	find(&s, 540);
	check_text(s.row.event, "ftrace:funcgraph_exit");
	check_text(s.row.function, "vfs_write");
	assert_int_equal(s.row.depth, 0);
	find(&s, 150200);
	check_text(s.row.function, "do_open");
	assert_int_equal(s.row.depth, 1);
	while (reader_next(s.reader, &s.row))
		;
	assert_true(reader_lost(s.reader) > 0);
	assert_int_equal(reader_lost(s.reader), 0);
	end(&s);
}

static void test_fields(void **state)
{
	struct scene s = scene(made_trace(), true);
	bool found = false;

	(void)state;
	while (reader_next(s.reader, &s.row))
		found |= s.row.info_len == strlen("irq=14 name=timer") &&
			 !memcmp(s.row.info, "irq=14 name=timer", s.row.info_len);
	assert_true(found);
	end(&s);
}

static void call(struct scene *s, const char *event, const char *name, int32_t nr, int64_t ret,
		 int64_t duration)
{
	const struct block_row *row = next(s, event, "", duration);

	check_text(row->call, name);
	assert_int_equal(row->call_nr, nr);
	assert_int_equal(row->ret, ret);
}

static void test_calls(void **state)
{
	static struct story story;
	struct scene s;

	(void)state;
	story_call(&story, 0, STORY_EXIT, 10, __NR_read, 1); /* has begun before */
	story_call(&story, 1000, STORY_ENTER, 10, __NR_read, 0);
	story_call(&story, 1100, STORY_ENTER, 20, __NR_read, 0);
	story_call(&story, 1400, STORY_EXIT, 10, __NR_read, 100);
	story_call(&story, 1600, STORY_EXIT, 20, __NR_read, -11);
	story_call(&story, 1700, STORY_EXIT, 20, __NR_read, -11); /* has ended before */
	story_call(&story, 2000, STORY_OPENAT, 10, __NR_openat, 0);
	story_call(&story, 2300, STORY_OPENAT_DONE, 10, __NR_openat, 3);
	/* Another task in the same place. */
	story_call(&story, 3000, STORY_ENTER, 10, 9999, 0);
	story_call(&story, 3100, STORY_ENTER, 10 + 65536, 9999, 0);
	story_call(&story, 3200, STORY_EXIT, 10, 9999, 0);
	story_call(&story, 3300, STORY_EXIT, 10 + 65536, 9999, 0);
	s = scene(story_open(&story), false);
	call(&s, "raw_syscalls:sys_exit", "read", __NR_read, 1, -1);
	call(&s, "raw_syscalls:sys_enter", "read", __NR_read, 0, -1);
	call(&s, "raw_syscalls:sys_enter", "read", __NR_read, 0, -1);
	call(&s, "raw_syscalls:sys_exit", "read", __NR_read, 100, 400);
	call(&s, "raw_syscalls:sys_exit", "read", __NR_read, -11, 500);
	call(&s, "raw_syscalls:sys_exit", "read", __NR_read, -11, -1);
	call(&s, "syscalls:sys_enter_openat", "openat", __NR_openat, 0, -1);
	call(&s, "syscalls:sys_exit_openat", "openat", __NR_openat, 3, 300);
	call(&s, "raw_syscalls:sys_enter", "syscall 9999", 9999, 0, -1);
	call(&s, "raw_syscalls:sys_enter", "syscall 9999", 9999, 0, -1);
	call(&s, "raw_syscalls:sys_exit", "syscall 9999", 9999, 0, -1);
	call(&s, "raw_syscalls:sys_exit", "syscall 9999", 9999, 0, 200);
	end(&s);
}

static void test_identity(void **state)
{
	struct dat *a = made_trace(), *b = made_trace();
	static struct story story;
	struct dat *c;

	(void)state;
	story_call(&story, 0, STORY_EXIT, 10, __NR_read, 1);
	c = story_open(&story);
	assert_true(identity_of(a, "host", "guest") == identity_of(b, "host", "guest"));
	assert_true(identity_of(a, "host", "guest") != identity_of(b, "host", "guest2"));
	assert_true(identity_of(a, "hostg", "uest") != identity_of(b, "host", "guest"));
	assert_true(identity_of(a, "host", "guest") != identity_of(c, "host", "guest"));
	dat_close(a);
	dat_close(b);
	dat_close(c);
}

static void test_there(void **state)
{
	const uint32_t answer[] = {100, 0, 100, 5, 100, 4000, 50, 7};
	const uint32_t lie[] = {100, UINT32_MAX};
	struct there t = {.bits = NULL};

	(void)state;
	assert_false(there_has(&t, 0));
	assert_true(there_add(&t, 100, answer, 6 * sizeof(*answer)));
	assert_int_equal(t.other_size, 0);
	assert_true(there_has(&t, 0) && there_has(&t, 5) && there_has(&t, 4000));
	assert_false(there_has(&t, 1) || there_has(&t, 4001) || there_has(&t, UINT32_MAX));
	assert_true(there_add(&t, 100, answer, sizeof(answer)));
	assert_int_equal(t.other_size, 50);
	assert_false(there_add(&t, 100, answer, 9));
	assert_false(there_add(&t, 100, lie, sizeof(lie)));
	there_clear(&t);
	assert_false(there_has(&t, 0));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_functions), cmocka_unit_test(test_fields),
		cmocka_unit_test(test_calls),	  cmocka_unit_test(test_identity),
		cmocka_unit_test(test_there),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
