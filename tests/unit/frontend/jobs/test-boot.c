// SPDX-License-Identifier: GPL-2.0-or-later
/* test-boot.c - initcalls, their levels, and what comes before and behind them. */
#include "tests/unit/jobs-world.h"

static const struct job_config cfg;

static struct job_result boot_of(struct story *s)
{
	struct job_result r = story_read(s, &job_boot, &cfg);

	assert_non_null(r.boot);
	return r;
}

static void a_boot(struct story *s)
{
	*s = (struct story){0};
	story_init(s, 1000, STORY_START, 1, 0);
	story_init(s, 2000, STORY_FINISH, 1, 0);
	story_text(s, 3000, STORY_LEVEL, 1, "core");
	story_init(s, 3100, STORY_START, 2, 0);
	story_init(s, 8100, STORY_FINISH, 2, -19);
	story_text(s, 9000, STORY_LEVEL, 1, "late");
	story_init(s, 9100, STORY_START, 3, 0);
	story_init(s, 9300, STORY_FINISH, 3, 0);
	story_text(s, 9500, STORY_EXEC, 44, "/sbin/modprobe");
	story_text(s, 10000, STORY_EXEC, 1, "/init");
	story_text(s, 10100, STORY_EXEC, 1, "/sbin/init");
	story_init(s, 20000, STORY_START, 4, 0);
}

static void test_levels(void **state)
{
	static struct story s;
	struct job_result r;
	const struct boot *b;

	(void)state;
	a_boot(&s);
	r = boot_of(&s);
	b = r.boot;
	assert_int_equal(b->nr_levels, 4);
	assert_string_equal(b->level[0].name, "early");
	assert_string_equal(b->level[1].name, "core");
	assert_int_equal(b->level[1].from, MADE_T0 + 3000);
	assert_int_equal(b->level[1].to, MADE_T0 + 9000);
	assert_int_equal(b->level[1].calls, 1);
	assert_string_equal(b->level[3].name, "modules");
	assert_int_equal(b->nr_calls, 4);
	assert_string_equal(b->call[1].name, "vfs_write");
	assert_int_equal(b->call[1].ret, -19);
	assert_int_equal(b->call[1].to - b->call[1].from, 5000);
	assert_false(b->call[3].ended);
	assert_string_equal(b->program, "/init");
	assert_int_equal(b->user, MADE_T0 + 10000);
	job_result_free(&r);
}

static void test_text(void **state)
{
	static struct story s;
	const struct boot_view view = {.rows = 2};
	struct text out = {0};
	struct job_result r;

	(void)state;
	a_boot(&s);
	r = boot_of(&s);
	boot_render_text(r.boot, &view, &out);
	text_putc(&out, '\0');
	assert_string_equal(
		out.buf,
		"# boot: 4 initcalls, 6.20 us in all; the first program, /init began at 1.00 s\n"
		"           FROM       TOOK  INITCALLS  PHASE\n"
		"       0.000000     1.00 s             before initcalls\n"
		"       1.000001    2.00 us          1  early\n"
		"       1.000003    6.00 us          1  core\n"
		"       1.000009   11.00 us          1  late\n"
		"       1.000020       0 ns          1  modules\n"
		"\n"
		"           FROM       TOOK  CPU  RETURN  LEVEL     SLOWEST INITCALLS\n"
		"       1.000003    5.00 us    0     -19  core      vfs_write\n"
		"       1.000001    1.00 us    0       0  early     vfs_read\n");
	text_free(&out);
	job_result_free(&r);
}

static void test_sorted(void **state)
{
	static struct story s;
	const struct boot_view view = {.rows = 3, .sort = BOOT_FROM};
	struct job_result r;
	uint32_t idx[3];

	(void)state;
	a_boot(&s);
	r = boot_of(&s);
	assert_int_equal(boot_slowest(r.boot, &view, idx), 3);
	assert_int_equal(idx[0], 0);
	assert_int_equal(idx[1], 1);
	assert_int_equal(idx[2], 2);
	job_result_free(&r);
}

static void test_svg(void **state)
{
	static struct story s;
	const struct boot_view view = {.rows = 2, .title = "a <boot>"};
	struct text out = {0};
	struct job_result r;

	(void)state;
	a_boot(&s);
	r = boot_of(&s);
	boot_render_svg(r.boot, &view, &out);
	text_putc(&out, '\0');
	assert_non_null(strstr(out.buf, ">a &lt;boot&gt;</text>"));
	assert_non_null(strstr(out.buf, "<title>vfs_write: 5.00 us, at 1.00 s, core, returned -19, "
					"task 1 on CPU 0</title>"));
	assert_string_equal(out.buf + out.len - 8, "</svg>\n");
	text_free(&out);
	job_result_free(&r);
}

static void test_json(void **state)
{
	static struct story s;
	const struct boot_view view = {.rows = 1};
	struct job_result r;
	char *text;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	(void)state;
	s = (struct story){0};
	story_init(&s, 1000, STORY_START, 1, 0);
	story_init(&s, 1100, STORY_FINISH, 2, 0); /* of another one */
	story_init(&s, 2000, STORY_FINISH, 1, 0);
	r = boot_of(&s);
	assert_int_equal(r.unbegun, 1);
	boot_json(r.boot, &view, out);
	fclose(out);
	assert_string_equal(
		text, "{\n  \"initcalls\": 1,\n  \"until_ns\": 1000002000,\n  \"phases\": [\n"
		      "    {\"name\": \"before initcalls\", \"from_ns\": 0, \"to_ns\": 1000001000, "
		      "\"initcalls\": 0},\n"
		      "    {\"name\": \"early\", \"from_ns\": 1000001000, \"to_ns\": 1000002000, "
		      "\"initcalls\": 1}\n  ],\n"
		      "  \"slowest\": [\n"
		      "    {\"name\": \"vfs_read\", \"level\": \"early\", \"from_ns\": 1000001000, "
		      "\"ns\": 1000, \"pid\": 1, \"cpu\": 0, \"return\": 0}\n  ]\n}\n");
	free(text);
	job_result_free(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_levels), cmocka_unit_test(test_text),
		cmocka_unit_test(test_sorted), cmocka_unit_test(test_svg),
		cmocka_unit_test(test_json),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
