// SPDX-License-Identifier: GPL-2.0-or-later
/* test-journal-stream.c - a journal that comes in pieces is handed on whole, and nothing else is.
 */
#include "tests/unit/made-journal.h"

#include <errno.h>
#include <signal.h>

#include "frontend/dat/bytes.h"
#include "frontend/dat/journal-stream.h"

#define NR_RECORDS 6

/* What has come out. */
struct out {
	struct text bytes;
	size_t records;
	int fail; /* what the last one has for an answer */
};

static int put(void *arg, const struct journal_record *r, const void *bytes, size_t len)
{
	struct out *out = arg;

	assert_true(!r == !out->bytes.len);
	if (r)
		assert_int_equal(len, 32 + r->stored);
	text_add(&out->bytes, bytes, len);
	out->records += r != NULL;
	return out->records == NR_RECORDS ? out->fail : 0;
}

/* Bytes of one. */
static struct text made(bool zstd)
{
	int fd = made_file();
	struct journal *j = made_journal(fd, 7, zstd, 2);
	struct text t = {0};
	char *to;

	made_put(j, JOURNAL_SECTION, DAT_OPTION_HEADER_INFO, 0, "header", 6);
	made_put(j, JOURNAL_BUFFER, 0, 0, "\0global", 8);
	made_put_pages(j, 0, 1, 'a', 2);
	made_put(j, JOURNAL_BUFFER, 1, 0, "x\0global", 9);
	made_put_pages(j, 1, 0, 'c', 3);
	made_put(j, JOURNAL_OPTION, DAT_OPTION_CPUSTAT, 1, "", 0);
	to = text_begin(&t, journal_size(j));
	assert_int_equal(bytes_read(fd, 0, to, journal_size(j)), 0);
	text_end(&t, to + journal_size(j));
	journal_free(j);
	close(fd);
	return t;
}

static int add(struct journal_stream *s, const struct text *t, size_t piece)
{
	int rc = 0;

	for (size_t at = 0; at < t->len && !rc; at += piece)
		rc = journal_stream_add(s, t->buf + at, piece < t->len - at ? piece : t->len - at);
	return rc;
}

static void comes_out(void **state)
{
	static const size_t pieces[] = {1, 7, 33, 4096, 1 << 20};

	(void)state;
	for (size_t i = 0; i < 2 * sizeof(pieces) / sizeof(pieces[0]); i++) {
		struct text t = made(i & 1);
		struct out out = {.records = 0};
		struct journal_stream s = {.put = put, .arg = &out};

		assert_false(journal_stream_is_whole(&s));
		assert_int_equal(add(&s, &t, pieces[i / 2]), 0);
		assert_true(journal_stream_is_whole(&s));
		assert_int_equal(out.records, NR_RECORDS);
		assert_int_equal(out.bytes.len, t.len);
		assert_memory_equal(out.bytes.buf, t.buf, t.len);
		assert_int_equal(journal_stream_add(&s, "x", 1), 0);
		assert_false(journal_stream_is_whole(&s));
		journal_stream_free(&s);
		text_free(&out.bytes);
		text_free(&t);
	}
}

/* Whichever byte of it is another: what comes out is what was put before, and then it ends. */
static void damaged(void **state)
{
	struct text t = made(true);

	(void)state;
	for (size_t at = 0; at < t.len; at++) {
		struct out out = {.records = 0};
		struct journal_stream s = {.put = put, .arg = &out};
		bool is_filling = at >= sizeof(JOURNAL_MAGIC) - 1 && at < 112;
		int rc;

		t.buf[at] ^= 0x10;
		rc = add(&s, &t, 64);
		t.buf[at] ^= 0x10;
		/* Of the head not all matters, nor does what is not whole yet. */
		if (at >= 128) {
			assert_true(rc == -EBADMSG || !journal_stream_is_whole(&s));
			assert_true(out.bytes.len <= at);
			assert_memory_equal(out.bytes.buf, t.buf, out.bytes.len);
		} else if (!is_filling && (at < 120 || at > 124)) {
			assert_int_equal(rc, -EBADMSG);
		}
		journal_stream_free(&s);
		text_free(&out.bytes);
	}
	text_free(&t);
}

/* Whole records that no recorder writes. */
static void senseless(void **state)
{
	static const struct {
		enum journal_kind kind;
		uint32_t a, b;
		size_t len;
	} bad[] = {
		{JOURNAL_PAGES, 1, 0, DAT_PAGE_SIZE},	  /* no such buffer */
		{JOURNAL_PAGES, 0, 2, DAT_PAGE_SIZE},	  /* vCPU */
		{JOURNAL_PAGES, 0, 0, DAT_PAGE_SIZE - 1}, /* part of a page */
		{JOURNAL_PAGES, 0, 0, 0},
		{JOURNAL_BUFFER, 2, 0, 8}, /* the one before is not there */
		{JOURNAL_SECTION, 0, 0, 8},
		{JOURNAL_OPTION, DAT_OPTION_BUFFER_TEXT + 1, 0, 8},
	};
	static const uint8_t data[DAT_PAGE_SIZE];

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		int fd = made_file();
		struct journal *j = made_journal(fd, 7, false, 2);
		struct out out = {.records = 0};
		struct journal_stream s = {.put = put, .arg = &out};
		uint8_t bytes[2 * DAT_PAGE_SIZE];

		made_put(j, JOURNAL_BUFFER, 0, 0, "\0global", 8);
		made_put(j, bad[i].kind, bad[i].a, bad[i].b, data, bad[i].len);
		assert_int_equal(bytes_read(fd, 0, bytes, journal_size(j)), 0);
		assert_int_equal(journal_stream_add(&s, bytes, journal_size(j)), -EBADMSG);
		assert_int_equal(out.records, 1);
		journal_free(j);
		journal_stream_free(&s);
		text_free(&out.bytes);
		close(fd);
	}
}

static void put_fails(void **state)
{
	struct text t = made(false);
	struct out out = {.fail = -ENOSPC};
	struct journal_stream s = {.put = put, .arg = &out};

	(void)state;
	assert_int_equal(journal_stream_add(&s, t.buf, t.len), -ENOSPC);
	journal_stream_free(&s);
	text_free(&out.bytes);
	text_free(&t);
}

/* Into a pipe, whose reader goes. */
static void piped(void **state)
{
	const struct journal_shape shape = {7, false, 2};
	struct journal_stream s;
	struct out out = {.records = 0};
	struct journal *j;
	uint8_t bytes[4096];
	ssize_t len;
	int fds[2];

	(void)state;
	signal(SIGPIPE, SIG_IGN);
	assert_int_equal(pipe(fds), 0);
	j = journal_new_stream(fds[1], &shape);
	assert_non_null(j);
	assert_int_equal(journal_begin(j), 0);
	made_put(j, JOURNAL_BUFFER, 0, 0, "\0global", 8);
	len = read(fds[0], bytes, sizeof(bytes));
	assert_int_equal(len, journal_size(j));
	s = (struct journal_stream){.put = put, .arg = &out};
	assert_int_equal(journal_stream_add(&s, bytes, (size_t)len), 0);
	assert_int_equal(out.records, 1);
	close(fds[0]);
	assert_int_equal(journal_put(j, JOURNAL_BUFFER, 0, 0, "\0global", 8), -EPIPE);
	assert_int_equal(journal_size(j), len);
	close(fds[1]);
	journal_free(j);
	journal_stream_free(&s);
	text_free(&out.bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(comes_out), cmocka_unit_test(damaged), cmocka_unit_test(senseless),
		cmocka_unit_test(put_fails), cmocka_unit_test(piped),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
