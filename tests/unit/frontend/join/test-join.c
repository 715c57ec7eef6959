// SPDX-License-Identifier: GPL-2.0-or-later
/* test-join.c - files of two guests as one: formats, addresses, names, and what is refused. */
#include "tests/unit/join-world.h"

#include <fcntl.h>
#include <inttypes.h>

/* All lines of a file; free() them. */
static char *lines_of(struct dat *d)
{
	const struct print_config cfg = {0};
	struct decode_world w = decode_world_of(d);
	char *text = decode_world_text(&w, &cfg);

	decode_world_end(&w);
	return text;
}

static struct dat *part_of(const struct joined *j, size_t i)
{
	struct dat *d = join_opened_again(j->fd);

	dat_choose_part(d, i);
	return d;
}

static void assert_part(const struct joined *j, size_t i, int fd)
{
	char *own = lines_of(join_opened_again(fd)), *part = lines_of(part_of(j, i));

	assert_string_equal(part, own);
	free(own);
	free(part);
	close(fd);
}

/* As each guest's own file. */
static void test_parts(void **state)
{
	struct joined j = join_both();
	struct dat *d = join_opened_again(j.fd);

	(void)state;
	assert_int_equal(dat_parts_claimed(j.fd), 2);
	assert_int_equal(dat_nr_parts(d), 2);
	assert_string_equal(dat_part(d, 0), "web");
	assert_string_equal(dat_part(d, 1), "db");
	assert_int_equal(dat_nr_buffers(d), 4);
	assert_string_equal(dat_buffer(d, 0)->name, "");
	assert_string_equal(dat_buffer(d, 1)->name, "web");
	assert_string_equal(dat_buffer(d, 2)->name, "web:one");
	assert_string_equal(dat_buffer(d, 3)->name, "db");
	assert_int_equal(j.result.events, 18);
	assert_int_equal(j.result.left_out + j.result.damaged + j.result.late, 0);
	dat_close(d);
	assert_part(&j, 0, join_web());
	d = part_of(&j, 0);
	assert_int_equal(dat_nr_buffers(d), 2);
	assert_string_equal(dat_buffer(d, 1)->name, "one");
	assert_string_equal(dat_title(d), "web");
	dat_close(d);
	d = part_of(&j, 1);
	assert_int_equal(dat_info(d)->cpus, 1);
	assert_int_equal(dat_buffer(d, 0)->cpus, 1);
	assert_string_equal(dat_info(d)->uname, "Linux db 6.12 x86_64");
	dat_close(d);
	close(j.fd);
}

/* What readers make of the whole file that know of no guests. */
static void test_whole(void **state)
{
	static const char *const expected[] = {
		"<...>-2     [000]     1.000000: function:             db_read <-- db_write\n",
		"     db:            <...>-2     [000]     1.000001: kernel_stack:         \t=> db_write\n",
		"     db:            <...>-2     [000]     1.000002: sched_switch:         nginx goes, 9 comes\n",
		"     db:            <...>-9     [000]     1.000003: irq_handler_entry:    irq=14 name=timer\n",
		" what=db_write+0x0 number=-1879048192 stack=db_read+0x0\n",
		"1.000005: function:             [unknown] <-- ",
		"     db: CPU:0 [3 EVENTS DROPPED]\n",
		"    web:             init-1     [000]     1.000000: function:             vfs_read <-- ext4_open\n",
		"<...>-2     [001]     1.000002: sched_switch:         prev_comm=kthreadd",
		"web:one: CPU:1 [EVENTS DROPPED]\n",
	};
	struct joined j = join_both();
	char *text = lines_of(join_opened_again(j.fd));

	(void)state;
	for (size_t i = 0; i < sizeof(expected) / sizeof(*expected); i++)
		if (!strstr(text, expected[i]))
			fail_msg("no %s in\n%s", expected[i], text);
	free(text);
	close(j.fd);
}

static unsigned int formats_of(const struct dat *d, const char *name)
{
	unsigned int nr = 0;

	for (size_t i = 0; i < dat_info(d)->nr_formats; i++)
		nr += strncmp(dat_info(d)->formats[i].text.text, name, strlen(name)) == 0;
	return nr;
}

static void test_formats(void **state)
{
	struct joined j = join_both();
	struct dat *d = join_opened_again(j.fd);

	(void)state;
	assert_int_equal(dat_info(d)->nr_formats, 9);
	assert_int_equal(formats_of(d, "name: function\nID: 1\n"), 1);
	assert_int_equal(formats_of(d, "name: irq_handler_entry\nID: 301\n"), 1);
	assert_int_equal(formats_of(d, "name: sched_switch\nID: 300\n"), 1);
	assert_int_equal(formats_of(d, "name: sched_switch\nID: 400\n"), 1);
	dat_close(d);
	d = part_of(&j, 1);
	assert_int_equal(dat_info(d)->nr_formats, 5);
	assert_int_equal(formats_of(d, "name: sched_switch\n"), 1);
	dat_close(d);
	close(j.fd);
}

/* Two kernels may have one number for two events. */
static void test_number_taken(void **state)
{
	struct dat_format formats[sizeof(join_db_formats) / sizeof(*join_db_formats)];
	struct made_dat_spec s;
	struct joined j;
	char *text;

	(void)state;
	memcpy(formats, join_db_formats, sizeof(formats));
	formats[4].text.text = "name: other\nID: 301\n" MADE_COMMON "\nprint fmt: \"other\"\n";
	join_db_spec(&s);
	s.formats = formats;
	j = join_two(join_web(), join_file_of(&s), true);
	assert_int_equal(j.rc, 0);
	text = lines_of(join_opened_again(j.fd));
	assert_non_null(strstr(text, "irq_handler_entry:    irq=14 name=timer\n"));
	assert_null(strstr(text, "other"));
	free(text);
	close(j.fd);
}

/* Guests of one kernel, where KASLR has not moved it. */
static void test_same_place(void **state)
{
	struct joined j = join_two(join_web(), join_web(), true);
	struct dat *d;

	(void)state;
	assert_int_equal(j.rc, 0);
	d = join_opened_again(j.fd);
	/* They say the same of themselves, so they are called as their files are. */
	assert_string_equal(dat_part(d, 0), "a");
	assert_string_equal(dat_part(d, 1), "b");
	assert_int_equal(dat_info(d)->kallsyms.len, strlen(made_trace_kallsyms));
	assert_int_equal(dat_info(d)->nr_formats, 7);
	dat_close(d);
	assert_part(&j, 0, join_web());
	assert_part(&j, 1, join_web());
	close(j.fd);
}

/* 1 is init in both; 2 is another task in each, and the names of 9 and 44 nobody has. */
static void test_tasks(void **state)
{
	struct joined j = join_both();
	struct dat *d = join_opened_again(j.fd);

	(void)state;
	assert_string_equal(dat_info(d)->cmdlines.text, "1 init\n33 kworker/0:1 H\n");
	dat_close(d);
	d = part_of(&j, 1);
	assert_string_equal(dat_info(d)->cmdlines.text, "1 init\n2 nginx\n");
	dat_close(d);
	close(j.fd);
}

/* One that comes up in a guest which has no name for it gets none from another one. */
static void test_unnamed_task(void **state)
{
	struct made_dat_spec s;
	struct joined j;
	struct dat *d;

	(void)state;
	join_web_spec(&s);
	s.cmdlines = "9 bash\n1 init\n";
	j = join_two(join_file_of(&s), join_db(), true);
	assert_int_equal(j.rc, 0);
	d = join_opened_again(j.fd);
	assert_string_equal(dat_info(d)->cmdlines.text, "1 init\n");
	dat_close(d);
	close(j.fd);
}

static void test_statistics(void **state)
{
	static const char *const expected[] = {
		"\nBuffer: web\n\nCPU: 0\nentries: 0\n",
		"CPU: 1\nentries: 5\n",
		"\nBuffer: web:one\n\nCPU: 0\nentries: 7\n",
		"\nBuffer: db\n\nCPU: 0\nentries: 3\n",
	};
	struct joined j = join_both();
	struct dat *d = join_opened_again(j.fd);
	struct dat_text o;

	(void)state;
	for (size_t i = 0; i < 4; i++) {
		assert_true(dat_option(d, DAT_OPTION_CPUSTAT, i, &o));
		assert_string_equal(o.text, expected[i]);
	}
	assert_false(dat_option(d, DAT_OPTION_CPUSTAT, 4, &o));
	dat_close(d);
	d = part_of(&j, 1);
	assert_true(dat_option(d, DAT_OPTION_CPUSTAT, 0, &o));
	assert_string_equal(o.text, expected[3]);
	assert_false(dat_option(d, DAT_OPTION_CPUSTAT, 1, &o));
	dat_close(d);
	close(j.fd);
}

static void assert_refused(struct joined j, const char *why)
{
	assert_int_not_equal(j.rc, 0);
	if (!strstr(j.err, why))
		fail_msg("%s", j.err);
	close(j.fd);
}

static void test_refused(void **state)
{
	struct joined j = join_both();
	uint8_t byte = 'x';
	const struct made_dat none = {&byte, 1, 1};

	(void)state;
	assert_refused(join_two(join_web(), join_db(), false),
		       "/tmp/a.dat: its times are not of the same clock as the others'");
	assert_refused(join_two(join_db(), dup(j.fd), true),
		       "/tmp/b.dat: it has several guests already");
	assert_refused(join_two(join_db(), made_file(&none, 1), true),
		       "/tmp/b.dat: it is no trace.dat file");
	close(j.fd);
}

/* So many bytes of symbols, the first of which is at such an address. */
static char *many_symbols(size_t size, uint64_t addr)
{
	char *text = malloc(size + 256), *at = text;

	assert_non_null(text);
	for (; at < text + size; addr += 16)
		at += sprintf(at, "%016" PRIx64 " T a_symbol_%0200" PRIx64 "\n", addr, addr);
	return text;
}

/* More than one record of a journal has room for, as those of many guests are. */
static void test_many_symbols(void **state)
{
	char *of_web = many_symbols(40 << 20, UINT64_C(0xffffffff81000000)),
	     *of_db = many_symbols(40 << 20, UINT64_C(0xffffffff92000000));
	struct made_dat_spec web, db;
	struct joined j;
	struct dat *d;

	(void)state;
	join_web_spec(&web);
	join_db_spec(&db);
	web.kallsyms = of_web;
	db.kallsyms = of_db;
	j = join_two(join_file_of(&web), join_file_of(&db), true);
	assert_string_equal(j.err, "");
	assert_int_equal(j.rc, 0);
	d = part_of(&j, 0);
	assert_string_equal(dat_info(d)->kallsyms.text, of_web);
	dat_close(d);
	d = part_of(&j, 1);
	assert_int_equal(dat_info(d)->kallsyms.len, strlen(of_db));
	dat_close(d);
	close(j.fd);
	free(of_web);
	free(of_db);
}

/* None of them is looked at. */
static void test_too_many(void **state)
{
	const char *paths[JOIN_FILES_MAX + 1];
	int in[JOIN_FILES_MAX + 1];
	const struct join_options opt = {
		.out = "out.dat", .paths = paths, .nr = JOIN_FILES_MAX + 1};
	const struct join_fds fds = {in, -1, -1};
	static const char why[] =
		"out.dat: 65 files cannot be joined: it takes one, and 64 at most";
	char err[256];

	(void)state;
	for (size_t i = 0; i < JOIN_FILES_MAX + 1; i++) {
		paths[i] = "/nonexistent/a.dat";
		in[i] = -1;
	}
	assert_int_not_equal(join_files(&opt, err, sizeof(err)), 0);
	assert_string_equal(err, why);
	assert_int_not_equal(join_opened(&opt, &fds, err, sizeof(err)), 0);
	assert_string_equal(err, why);
}

/* Standard input stays open, though no output was. */
static void test_no_input(void **state)
{
	static const char *const paths[] = {"/nonexistent/a.dat"};
	const struct join_options opt = {.out = "out.dat", .paths = paths, .nr = 1};
	int before = dup(STDIN_FILENO), null = open("/dev/null", O_RDONLY | O_CLOEXEC);
	char err[256];

	(void)state;
	dup2(null, STDIN_FILENO);
	assert_int_not_equal(join_files(&opt, err, sizeof(err)), 0);
	assert_non_null(strstr(err, "/nonexistent/a.dat: "));
	assert_int_not_equal(fcntl(STDIN_FILENO, F_GETFD), -1);
	dup2(before, STDIN_FILENO);
	close(before);
	close(null);
}

/* A description that is cut off or changed is refused, or is of no guests: never believed. */
static void test_hostile_parts(void **state)
{
	struct joined j = join_both();
	off_t size = lseek(j.fd, 0, SEEK_END);
	uint8_t *bytes = malloc((size_t)size);
	size_t from = (size_t)size - 400;

	(void)state;
	assert_int_equal(pread(j.fd, bytes, (size_t)size, 0), size);
	for (size_t at = from; at < (size_t)size; at++) {
		for (unsigned int bit = 0; bit < 8; bit += 7) {
			struct made_dat m = {bytes, (size_t)size, (size_t)size};
			char err[256];
			struct dat *d;

			bytes[at] ^= (uint8_t)(1U << bit);
			d = dat_open_fd(made_file(&m, m.len), "made", err, sizeof(err));
			assert_true(d || !strncmp(err, "made: ", 6));
			for (size_t i = 0; d && i < dat_nr_parts(d); i++)
				assert_non_null(dat_part(d, i));
			if (d && dat_nr_parts(d))
				dat_choose_part(d, dat_nr_parts(d) - 1);
			dat_close(d);
			bytes[at] ^= (uint8_t)(1U << bit);
		}
	}
	free(bytes);
	close(j.fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parts),	     cmocka_unit_test(test_whole),
		cmocka_unit_test(test_formats),	     cmocka_unit_test(test_number_taken),
		cmocka_unit_test(test_same_place),   cmocka_unit_test(test_tasks),
		cmocka_unit_test(test_unnamed_task), cmocka_unit_test(test_statistics),
		cmocka_unit_test(test_refused),	     cmocka_unit_test(test_hostile_parts),
		cmocka_unit_test(test_many_symbols), cmocka_unit_test(test_too_many),
		cmocka_unit_test(test_no_input),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
