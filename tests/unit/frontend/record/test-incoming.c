// SPDX-License-Identifier: GPL-2.0-or-later
/* test-incoming.c - a recording that another hvtrace makes: what is in the file here, and when. */
#include "tests/unit/made-journal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>

#include "frontend/dat/bytes.h"
#include "frontend/record/incoming.h"
#include "tracer/tracer.h"

static const struct record_watch nobody = {NULL, NULL};

struct place {
	char path[64], part[80], err[256];
	struct incoming *in;
};

static void open_one(struct place *p)
{
	static int nr;

	snprintf(p->path, sizeof(p->path), "/tmp/test-incoming-%d-%d.dat", (int)getpid(), nr++);
	snprintf(p->part, sizeof(p->part), "%s.part", p->path);
	p->in = incoming_open(p->path, p->err, sizeof(p->err));
	assert_non_null(p->in);
}

static off_t size_of(const char *path)
{
	struct stat st;

	return stat(path, &st) ? -1 : st.st_size;
}

/* Bytes of one with so many pages. */
static struct text made(size_t pages)
{
	int fd = made_file();
	struct journal *j = made_journal(fd, 7, true, 2);
	struct text t = {0};
	char *to;

	made_put(j, JOURNAL_SECTION, DAT_OPTION_HEADER_INFO, 0, "header", 6);
	made_put(j, JOURNAL_BUFFER, 0, 0, "\0global", 8);
	made_put_pages(j, 0, 1, 'a', pages);
	to = text_begin(&t, journal_size(j));
	assert_int_equal(bytes_read(fd, 0, to, journal_size(j)), 0);
	text_end(&t, to + journal_size(j));
	journal_free(j);
	close(fd);
	return t;
}

static void becomes_one(void **state)
{
	struct text t = made(3);
	struct record_result result;
	struct place p;

	(void)state;
	open_one(&p);
	assert_int_equal(size_of(p.path), 0);
	assert_null(incoming_open(p.path, p.err, sizeof(p.err)));
	assert_non_null(strstr(p.err, "another hvtrace records to it"));
	assert_int_equal(incoming_add(p.in, t.buf, t.len - 1), 0);
	/* What is whole of it is there. */
	assert_true(size_of(p.path) > 128 && size_of(p.path) < (off_t)t.len);
	assert_false(incoming_is_whole(p.in));
	assert_int_equal(incoming_add(p.in, t.buf + t.len - 1, 1), 0);
	assert_true(incoming_is_whole(p.in));
	assert_int_equal(size_of(p.path), t.len);
	assert_int_equal(incoming_finish(p.in, &nobody, &result), 0);
	assert_int_equal(result.bytes, 3 * DAT_PAGE_SIZE);
	assert_int_equal(result.lost, 0);
	assert_int_equal(result.size, size_of(p.part));
	assert_int_equal(record_place(p.path), 0);
	incoming_close(p.in);
	assert_int_equal(size_of(p.part), -1);
	assert_int_equal(size_of(p.path), result.size);
	unlink(p.path);
	text_free(&t);
}

/* The connection has broken: repair makes one of what is there. */
static void stays_journal(void **state)
{
	struct text t = made(3);
	struct record_repaired repaired;
	struct place p;

	(void)state;
	open_one(&p);
	assert_int_equal(incoming_add(p.in, t.buf, t.len), 0);
	assert_true(incoming_has_begun(p.in));
	incoming_close(p.in);
	assert_int_equal(size_of(p.path), t.len);
	assert_int_equal(record_repair(p.path, NULL, &nobody, &repaired, p.err, sizeof(p.err)), 0);
	assert_int_equal(repaired.bytes, 3 * DAT_PAGE_SIZE);
	assert_int_equal(repaired.torn, 0);
	unlink(p.path);
	text_free(&t);
}

/* Nothing of ours is left, and what was there before stays. */
static void nothing_came(void **state)
{
	struct record_result result;
	struct place p;
	FILE *f;

	(void)state;
	open_one(&p);
	assert_int_equal(incoming_finish(p.in, &nobody, &result), -ENODATA);
	incoming_close(p.in);
	assert_int_equal(size_of(p.path), -1);
	assert_int_equal(size_of(p.part), -1);
	f = fopen(p.path, "w");
	assert_non_null(f);
	fputs("mine", f);
	fclose(f);
	p.in = incoming_open(p.path, p.err, sizeof(p.err));
	assert_non_null(p.in);
	assert_int_equal(incoming_add(p.in, "GET / HTTP/1.0\r\n", 16), 0);
	assert_int_equal(incoming_add(p.in, (char[200]){0}, 200), -EBADMSG);
	assert_int_equal(incoming_add(p.in, "x", 1), -EBADMSG);
	assert_false(incoming_has_begun(p.in));
	incoming_close(p.in);
	assert_int_equal(size_of(p.path), 4);
	unlink(p.path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(becomes_one),
		cmocka_unit_test(stays_journal),
		cmocka_unit_test(nothing_came),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
