// SPDX-License-Identifier: GPL-2.0-or-later
/* test-segments.c - a recording that is cut into files: what is in each of them. */
#include "tests/unit/made-journal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "frontend/dat/bytes.h"
#include "frontend/record/segments.h"
#include "tracer/tracer.h"

#define FILES_MAX 8

/* Files are told of by another thread, which has ended, or waits, when they are looked at here. */
struct place {
	char dir[64], err[512];
	unsigned int named, done;
	int name_rc;
	bool nowhere;
	struct record_result result[FILES_MAX];
	struct segments *s;
};

static int name_file(void *arg, char path[RECORD_PATH_MAX])
{
	struct place *p = arg;

	snprintf(path, RECORD_PATH_MAX, "%s/%s%u.dat", p->dir, p->nowhere ? "nowhere/" : "",
		 p->named++);
	return p->name_rc;
}

static void note_file(void *arg, const char *path, const struct record_result *result, int rc)
{
	struct place *p = arg;
	char expected[128];

	snprintf(expected, sizeof(expected), "%s/%u.dat", p->dir, p->done);
	assert_string_equal(path, expected);
	assert_int_equal(rc, 0);
	assert_true(p->done < FILES_MAX);
	p->result[p->done++] = *result;
}

static void begin(struct place *p)
{
	const struct segments_config cfg = {
		.ms = 1000, .name = name_file, .done = note_file, .arg = p};

	*p = (struct place){.dir = "/tmp/test-segments-XXXXXX"};
	assert_non_null(mkdtemp(p->dir));
	p->s = segments_new(&cfg);
	assert_non_null(p->s);
}

static void end(struct place *p)
{
	char path[128];

	segments_free(p->s);
	for (unsigned int i = 0; i < p->named; i++) {
		snprintf(path, sizeof(path), "%s/%u.dat", p->dir, i);
		unlink(path);
	}
	assert_int_equal(rmdir(p->dir), 0);
}

static int add(struct place *p, const struct text *t, size_t from, size_t to, int64_t now_ms)
{
	return segments_add(p->s, t->buf + from, to - from, now_ms, p->err, sizeof(p->err));
}

/* A journal that is not packed, and where its records end. */
struct made {
	struct text bytes;
	size_t ends[16];
	unsigned int nr;
};

static void note_end(struct made *m, const struct journal *j)
{
	m->ends[m->nr++] = journal_size(j);
}

static struct made make(void)
{
	struct made m = {0};
	int fd = made_file();
	struct journal *j = made_journal(fd, 6, false, 2);
	char *to;

	made_put(j, JOURNAL_SECTION, DAT_OPTION_HEADER_INFO, 0, "first words", 11);
	made_put(j, JOURNAL_BUFFER, 0, 0, "\0global", 8);
	note_end(&m, j);
	made_put_pages(j, 0, 1, 'a', 3);
	note_end(&m, j);
	made_put(j, JOURNAL_SECTION, DAT_OPTION_HEADER_INFO, 0, "other words", 11);
	note_end(&m, j);
	made_put_pages(j, 0, 0, 'k', 2);
	note_end(&m, j);
	made_put_pages(j, 0, 1, 's', 1);
	note_end(&m, j);
	to = text_begin(&m.bytes, journal_size(j));
	assert_int_equal(bytes_read(fd, 0, to, journal_size(j)), 0);
	text_end(&m.bytes, to + journal_size(j));
	journal_free(j);
	close(fd);
	return m;
}

static bool file_has(const struct place *p, unsigned int nr, const void *what, size_t len)
{
	static char bytes[1 << 20];
	char path[128];
	size_t size;
	FILE *f;

	snprintf(path, sizeof(path), "%s/%u.dat", p->dir, nr);
	f = fopen(path, "r");
	assert_non_null(f);
	size = fread(bytes, 1, sizeof(bytes), f);
	assert_true(size && size < sizeof(bytes));
	fclose(f);
	return memmem(bytes, size, what, len);
}

static void is_cut(void **state)
{
	struct made m = make();
	struct place p;

	(void)state;
	begin(&p);
	assert_int_equal(add(&p, &m.bytes, 0, m.ends[1], 5000), 0);
	/* It is time, and no page has come since. */
	assert_int_equal(add(&p, &m.bytes, m.ends[1], m.ends[2], 6000), 0);
	assert_int_equal(p.named, 1);
	assert_int_equal(add(&p, &m.bytes, m.ends[2], m.ends[3], 6001), 0);
	assert_int_equal(p.named, 2);
	assert_int_equal(add(&p, &m.bytes, m.ends[3], m.ends[4], 7000), 0);
	assert_int_equal(p.named, 2);
	assert_int_equal(segments_finish(p.s), 0);
	assert_int_equal(p.done, 2);
	assert_int_equal(p.result[0].bytes, 3 * DAT_PAGE_SIZE);
	assert_int_equal(p.result[1].bytes, 3 * DAT_PAGE_SIZE);
	/* Each says what held by its end. */
	assert_false(file_has(&p, 0, "first words", 11));
	assert_true(file_has(&p, 0, "other words", 11));
	assert_true(file_has(&p, 1, "other words", 11));
	assert_true(file_has(&p, 0, "cccccccc", 8));
	assert_false(file_has(&p, 0, "kkkkkkkk", 8));
	assert_true(file_has(&p, 1, "kkkkkkkk", 8));
	assert_true(file_has(&p, 1, "ssssssss", 8));
	assert_false(file_has(&p, 1, "cccccccc", 8));
	end(&p);
	text_free(&m.bytes);
}

/* It may come in any pieces. */
static void comes_byte_by_byte(void **state)
{
	struct made m = make();
	struct place p;

	(void)state;
	begin(&p);
	for (size_t i = 0; i < m.bytes.len; i++)
		assert_int_equal(add(&p, &m.bytes, i, i + 1, (int64_t)i), 0);
	assert_int_equal(segments_finish(p.s), 0);
	assert_int_equal(p.done, p.named);
	assert_true(p.done > 1);
	assert_int_equal(p.result[0].bytes, 3 * DAT_PAGE_SIZE);
	end(&p);
	text_free(&m.bytes);
}

/* Who writes was killed: what is whole is kept. */
static void is_torn(void **state)
{
	struct made m = make();
	struct place p;

	(void)state;
	begin(&p);
	assert_int_equal(add(&p, &m.bytes, 0, m.ends[3] - 7, 0), 0);
	assert_int_equal(segments_finish(p.s), 0);
	assert_int_equal(p.done, 1);
	assert_int_equal(p.result[0].bytes, 3 * DAT_PAGE_SIZE);
	end(&p);
	text_free(&m.bytes);
}

static void is_no_recording(void **state)
{
	struct made m = make();
	struct place p;

	(void)state;
	begin(&p);
	assert_int_equal(add(&p, &m.bytes, 0, m.ends[1], 0), 0);
	m.bytes.buf[m.ends[3] - 9] ^= 1; /* in a page: its sum tells */
	assert_int_equal(add(&p, &m.bytes, m.ends[1], m.ends[3], 1), -EBADMSG);
	assert_string_equal(p.err, "what is recorded makes no sense");
	assert_int_equal(add(&p, &m.bytes, m.ends[3], m.ends[4], 2), -EBADMSG);
	/* What came before is kept. */
	assert_int_equal(segments_finish(p.s), -EBADMSG);
	assert_int_equal(p.done, 1);
	assert_int_equal(p.result[0].bytes, 3 * DAT_PAGE_SIZE);
	end(&p);
	text_free(&m.bytes);
}

static void has_no_place(void **state)
{
	struct made m = make();
	struct place p;

	(void)state;
	begin(&p);
	p.name_rc = -ENAMETOOLONG;
	assert_int_equal(add(&p, &m.bytes, 0, m.bytes.len, 0), -ENAMETOOLONG);
	assert_non_null(strstr(p.err, "File name too long"));
	segments_free(p.s);
	p.s = NULL;
	assert_int_equal(rmdir(p.dir), 0);
	begin(&p);
	assert_int_equal(add(&p, &m.bytes, 0, m.ends[1], 0), 0);
	p.nowhere = true;
	assert_int_equal(add(&p, &m.bytes, m.ends[1], m.ends[3], 1000), -EIO);
	assert_non_null(strstr(p.err, "/nowhere/1.dat"));
	end(&p);
	text_free(&m.bytes);
}

static void is_empty(void **state)
{
	struct place p;

	(void)state;
	begin(&p);
	assert_int_equal(segments_finish(p.s), 0);
	assert_int_equal(p.named, 0);
	end(&p);
}

/* --- names --------------------------------------------------------------------------------------
 */

static void make_file(const char *dir, const char *name)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	close(open(path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600));
}

static void remove_file(const char *dir, const char *name)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	assert_int_equal(unlink(path), 0);
}

static void assert_named(struct segments_names *n, const char *dir, time_t now, const char *name)
{
	char output[128], path[RECORD_PATH_MAX];

	snprintf(output, sizeof(output), "%s/a.dat", dir);
	assert_int_equal(segments_name(n, output, now, path), 0);
	assert_memory_equal(path, dir, strlen(dir));
	assert_string_equal(path + strlen(dir) + 1, name);
}

/* Neither what another recording has left nor what this one has is named again. */
static void is_named(void **state)
{
	enum { NOW = 1796132920 };
	struct segments_names n = {.nr = 0}, again = {.nr = 0};
	char dir[] = "/tmp/test-segments-XXXXXX";

	(void)state;
	assert_non_null(mkdtemp(dir));
	assert_named(&n, dir, NOW, "a.20261201T134840Z.dat");
	assert_named(&n, dir, NOW, "a.20261201T134840Z.2.dat");
	assert_named(&n, dir, NOW + 1, "a.20261201T134841Z.dat");
	make_file(dir, "a.20261201T134840Z.dat");
	make_file(dir, "a.20261201T134840Z.2.dat.part");
	assert_named(&n, dir, NOW, "a.20261201T134840Z.3.dat"); /* the clock was set back */
	assert_named(&again, dir, NOW, "a.20261201T134840Z.3.dat");
	assert_named(&again, dir, NOW + 2, "a.20261201T134842Z.dat");
	remove_file(dir, "a.20261201T134840Z.dat");
	remove_file(dir, "a.20261201T134840Z.2.dat.part");
	assert_int_equal(rmdir(dir), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(is_cut),	cmocka_unit_test(comes_byte_by_byte),
		cmocka_unit_test(is_torn),	cmocka_unit_test(is_no_recording),
		cmocka_unit_test(has_no_place), cmocka_unit_test(is_empty),
		cmocka_unit_test(is_named),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
