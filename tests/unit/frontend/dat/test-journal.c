// SPDX-License-Identifier: GPL-2.0-or-later
/* test-journal.c - what is put into a journal comes out of it, wherever its writer was killed. */
#include "tests/unit/made-journal.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "frontend/dat/bytes.h"
#include "tracer/tracer.h"

struct put {
	enum journal_kind kind;
	uint32_t a, b;
	const char *data;
	size_t len;
};

static const struct put made[] = {
	{JOURNAL_SECTION, DAT_OPTION_HEADER_INFO, 0, "header", 6},
	{JOURNAL_BUFFER, 0, 0, "\0global", 8},
	{JOURNAL_OPTION, DAT_OPTION_CPUSTAT, 3, "", 0},
	{JOURNAL_OPTION, DAT_OPTION_VERSION, 0,
	 "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", 53},
};

#define NR_PUTS (sizeof(made) / sizeof(made[0]))

/* Sizes before each of them, and behind the last. */
static void put_all(int fd, bool zstd, uint64_t size[NR_PUTS + 1])
{
	struct journal *j = made_journal(fd, 7, zstd, 4);

	for (size_t i = 0; i < NR_PUTS; i++) {
		size[i] = journal_size(j);
		made_put(j, made[i].kind, made[i].a, made[i].b, made[i].data, made[i].len);
	}
	size[NR_PUTS] = journal_size(j);
	journal_free(j);
}

static void assert_is(const struct journal_walk *w, const struct journal_record *r,
		      const struct put *p)
{
	struct text data = {0};

	assert_int_equal(r->kind, p->kind);
	assert_int_equal(r->a, p->a);
	assert_int_equal(r->b, p->b);
	assert_int_equal(journal_read(w, r, &data), 0);
	assert_int_equal(data.len, p->len);
	assert_memory_equal(data.len ? data.buf : "", p->data, p->len);
	text_free(&data);
}

/* How many of them there are; they are as they were put. */
static size_t walk_all(int fd, struct journal_walk *w)
{
	struct journal_record r;
	size_t n = 0;

	assert_int_equal(journal_walk_begin(w, fd, true), 0);
	while (journal_walk_next(w, &r) == 1) {
		assert_true(n < NR_PUTS);
		assert_is(w, &r, &made[n++]);
	}
	return n;
}

static void comes_out(void **state)
{
	(void)state;
	for (int zstd = 0; zstd < 2; zstd++) {
		uint64_t size[NR_PUTS + 1];
		struct journal_walk w;
		int fd = made_file();

		put_all(fd, zstd, size);
		assert_int_equal(walk_all(fd, &w), NR_PUTS);
		assert_int_equal(w.torn, 0);
		assert_int_equal(w.shape.version, 7);
		assert_int_equal(w.shape.zstd, zstd);
		assert_int_equal(w.shape.vcpus, 4);
		close(fd);
	}
}

/* Killed at each byte: what was whole by then is there, and what was not is counted. */
static void torn(void **state)
{
	uint64_t size[NR_PUTS + 1];
	int fd = made_file();

	(void)state;
	put_all(fd, true, size);
	for (uint64_t end = size[NR_PUTS]; end >= size[0]; end--) {
		struct journal_walk w;
		size_t whole = 0;

		while (whole < NR_PUTS && size[whole + 1] <= end)
			whole++;
		assert_int_equal(ftruncate(fd, (off_t)end), 0);
		assert_int_equal(walk_all(fd, &w), whole);
		assert_int_equal(w.torn, end - size[whole]);
	}
	close(fd);
}

/* Whatever is wrong, nothing comes out that was not put, and nothing behind it. */
static void damaged(void **state)
{
	uint64_t size[NR_PUTS + 1];
	int fd = made_file();

	(void)state;
	put_all(fd, true, size);
	for (uint64_t at = size[0]; at < size[NR_PUTS]; at++) {
		struct journal_walk w;
		uint8_t was, is;
		size_t whole = 0;

		while (size[whole + 1] <= at)
			whole++;
		assert_int_equal(bytes_read(fd, at, &was, 1), 0);
		is = was ^ 0x40;
		assert_int_equal(bytes_write(fd, at, &is, 1), 0);
		assert_int_equal(walk_all(fd, &w), whole);
		assert_int_equal(bytes_write(fd, at, &was, 1), 0);
	}
	close(fd);
}

static void not_one(void **state)
{
	struct journal_walk w;
	uint8_t head[128];
	int fd = made_file();
	struct journal *j = made_journal(fd, 6, false, 2);

	(void)state;
	journal_free(j);
	assert_int_equal(journal_walk_begin(&w, fd, false), 0);
	assert_int_equal(bytes_read(fd, 0, head, sizeof(head)), 0);
	assert_true(journal_is_one(head, sizeof(head)));
	/* The magic, the form, the version, what is packed, the vCPUs */
	for (int at = 0; at < 128; at += at ? 4 : 112) {
		uint8_t was = head[at], is = at == 120 ? 1 : at == 124 ? 0 : 0x80;

		assert_int_equal(bytes_write(fd, (uint64_t)at, &is, 1), 0);
		assert_int_equal(journal_walk_begin(&w, fd, false), -EINVAL);
		assert_int_equal(bytes_write(fd, (uint64_t)at, &was, 1), 0);
	}
	assert_int_equal(ftruncate(fd, 127), 0);
	assert_int_equal(journal_walk_begin(&w, fd, false), -EINVAL);
	close(fd);
}

/* What does not fit is not there at all, and what comes later is. */
static void no_room(void **state)
{
	static uint8_t much[1 << 20];
	struct rlimit was, less;
	struct journal_walk w;
	struct journal_record r;
	int fd = made_file();
	struct journal *j = made_journal(fd, 7, false, 2);
	uint64_t size = journal_size(j);

	(void)state;
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &was), 0);
	less = was;
	less.rlim_cur = 64 << 10;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &less), 0);
	assert_int_equal(journal_put(j, JOURNAL_OPTION, 1, 0, much, sizeof(much)), -EFBIG);
	assert_int_equal(lseek(fd, 0, SEEK_END), size);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &was), 0);
	made_put(j, JOURNAL_OPTION, DAT_OPTION_VERSION, 0, "x", 1);
	assert_int_equal(journal_walk_begin(&w, fd, true), 0);
	assert_int_equal(journal_walk_next(&w, &r), 1);
	assert_int_equal(r.a, DAT_OPTION_VERSION);
	journal_free(j);
	close(fd);
}

/* As soon as there are pages' formats and a buffer; nothing that is behind that is looked at. */
static void has_begun(void **state)
{
	uint64_t size[NR_PUTS + 1];
	int fd = made_file();

	(void)state;
	assert_false(dat_has_begun(fd));
	put_all(fd, true, size);
	assert_true(dat_has_begun(fd));
	for (size_t i = NR_PUTS; i--;) {
		assert_int_equal(ftruncate(fd, (off_t)size[i + 1] - 1), 0);
		assert_int_equal(dat_has_begun(fd), i >= 2);
	}
	assert_int_equal(ftruncate(fd, (off_t)size[0] - 1), 0);
	assert_false(dat_has_begun(fd));
	assert_int_equal(ftruncate(fd, 3), 0);
	assert_false(dat_has_begun(fd));
	close(fd);
	fd = made_file();
	assert_int_equal(pwrite(fd, DAT_MAGIC "7", DAT_MAGIC_LEN + 2, 0), DAT_MAGIC_LEN + 2);
	assert_true(dat_has_begun(fd));
	close(fd);
}

/* What is longer than a record has room for, and short behind that. */
static void section_in_parts(void **state)
{
	const size_t len = JOURNAL_DATA_MAX + 3;
	struct journal_section s = {.nr = 0};
	struct journal_walk w;
	struct journal_record r;
	struct text out = {0};
	int fd = made_file();
	struct journal *j = made_journal(fd, 7, true, 4);
	uint8_t *data = calloc(1, len);

	(void)state;
	memcpy(data + JOURNAL_DATA_MAX, "end", 3);
	assert_int_equal(journal_put_section(j, DAT_OPTION_KALLSYMS, data, len), 0);
	assert_int_equal(journal_put_section(j, DAT_OPTION_KALLSYMS, data, SIZE_MAX), -E2BIG);
	assert_int_equal(journal_walk_begin(&w, fd, true), 0);
	for (uint32_t part = 0; part < 2; part++) {
		assert_int_equal(journal_walk_next(&w, &r), 1);
		assert_int_equal(r.b, part);
		assert_true(journal_section_add(&s, &r));
	}
	assert_int_equal(journal_walk_next(&w, &r), 0);
	assert_int_equal(s.size, len);
	assert_int_equal(journal_section_read(&w, &s, &out), 0);
	assert_int_equal(out.len, len);
	assert_memory_equal(out.buf, data, len);
	out.len = 0;
	assert_int_equal(journal_put_section(j, DAT_OPTION_KALLSYMS, "short", 5), 0);
	assert_int_equal(journal_walk_begin(&w, fd, true), 0);
	while (journal_walk_next(&w, &r) > 0)
		assert_true(journal_section_add(&s, &r));
	assert_int_equal(journal_section_read(&w, &s, &out), 0);
	assert_int_equal(out.len, 5);
	text_free(&out);
	free(data);
	journal_free(j);
	close(fd);
}

/* Parts of which one is missing, or that are more than there may be. */
static void parts_that_lie(void **state)
{
	struct journal_record r = {.kind = JOURNAL_SECTION, .size = 1, .b = 1};
	struct journal_section s = {.nr = 0};

	(void)state;
	assert_false(journal_section_add(&s, &r));
	for (r.b = 0; r.b < JOURNAL_PARTS_MAX; r.b++)
		assert_true(journal_section_add(&s, &r));
	assert_false(journal_section_add(&s, &r));
	r.b = 0;
	assert_true(journal_section_add(&s, &r));
	assert_int_equal(s.size, 1);
	r.b = 2;
	assert_false(journal_section_add(&s, &r));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(comes_out),	    cmocka_unit_test(torn),
		cmocka_unit_test(damaged),	    cmocka_unit_test(not_one),
		cmocka_unit_test(no_room),	    cmocka_unit_test(has_begun),
		cmocka_unit_test(section_in_parts), cmocka_unit_test(parts_that_lie),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
