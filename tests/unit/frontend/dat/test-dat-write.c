// SPDX-License-Identifier: GPL-2.0-or-later
/* test-dat-write.c - the trace.dat that is made of a journal: where things lie, and what is
 * refused. */
#include "tests/unit/made-journal.h"

#include <errno.h>
#include <zstd.h>

#include "frontend/dat/bytes.h"
#include "frontend/dat/dat-write.h"

static void put_frame(struct journal *j)
{
	made_put(j, JOURNAL_SECTION, DAT_OPTION_HEADER_INFO, 0, "old", 3);
	made_put(j, JOURNAL_BUFFER, 0, 0, "\0local", 7);
}

/* Two vCPUs by turns, the second buffer later, and a section that comes anew. */
static void put_all(struct journal *j)
{
	put_frame(j);
	made_put_pages(j, 0, 0, 1, 2);
	made_put_pages(j, 0, 1, 10, 1);
	made_put(j, JOURNAL_BUFFER, 1, 0, "two\0mono", 9);
	made_put_pages(j, 1, 1, 20, 3);
	made_put_pages(j, 0, 0, 3, 1);
	made_put(j, JOURNAL_SECTION, DAT_OPTION_HEADER_INFO, 0, "newer", 5);
	made_put(j, JOURNAL_OPTION, DAT_OPTION_UNAME, 0, "first", 6);
	made_put(j, JOURNAL_OPTION, DAT_OPTION_UNAME, 0, "guest", 6);
}

struct made {
	uint8_t data[256 << 10];
	size_t len;
	struct dat_written written;
};

static void make(struct made *m, unsigned int version, bool zstd)
{
	int in = made_file(), out = made_file();
	struct journal *j = made_journal(in, version, zstd, 2);

	put_all(j);
	journal_free(j);
	/* Room that was set aside. */
	assert_int_equal(ftruncate(out, 1 << 20), 0);
	assert_int_equal(dat_write(in, false, out, NULL, NULL, &m->written), 0);
	m->len = (size_t)lseek(out, 0, SEEK_END);
	assert_true(m->len <= sizeof(m->data));
	assert_int_equal(m->written.size, m->len);
	assert_int_equal(m->written.bytes, 7 * DAT_PAGE_SIZE);
	assert_int_equal(bytes_read(out, 0, m->data, m->len), 0);
	close(in);
	close(out);
}

static uint64_t get64(const uint8_t *at)
{
	return bytes_get32(at) | (uint64_t)bytes_get32(at + 4) << 32;
}

/* Pages as put_all() has made them. */
static void assert_pages(const uint8_t *pages, unsigned int first, size_t nr)
{
	for (size_t i = 0; i < nr * DAT_PAGE_SIZE; i++)
		assert_int_equal(pages[i], first + i / DAT_PAGE_SIZE);
}

static const uint8_t *find(const struct made *m, const void *what, size_t len)
{
	const uint8_t *at = memmem(m->data, m->len, what, len);

	assert_non_null(at);
	return at;
}

static void version_6(void **state)
{
	static struct made m;
	const uint8_t *fly, *option;

	(void)state;
	make(&m, 6, false);
	assert_memory_equal(m.data, DAT_MAGIC "6\0\0\10", 14);
	assert_memory_equal(m.data + 18, "newer", 5);
	find(&m, "guest", 6);
	assert_null(memmem(m.data, m.len, "first", 5));
	fly = find(&m, "flyrecord", 10) + 10;
	assert_int_equal(get64(fly) % DAT_PAGE_SIZE, 0);
	assert_int_equal(get64(fly + 8), 3 * DAT_PAGE_SIZE);
	assert_pages(m.data + get64(fly), 1, 3);
	assert_int_equal(get64(fly + 24), DAT_PAGE_SIZE);
	assert_pages(m.data + get64(fly + 16), 10, 1);
	option = find(&m, "two", 4) - 8;
	fly = m.data + get64(option);
	assert_memory_equal(fly, "flyrecord", 10);
	assert_int_equal(get64(fly + 10 + 8), 0);
	assert_int_equal(get64(fly + 10 + 24), 3 * DAT_PAGE_SIZE);
	assert_pages(m.data + get64(fly + 10 + 16), 20, 3);
}

/* The data of option `id`, the nth. */
static const uint8_t *option_of(const struct made *m, unsigned int id, unsigned int nth)
{
	const char *name = (const char *)m->data + 18;
	const uint8_t *where = (const uint8_t *)name + strlen(name) + 1, *at;

	where += strlen((const char *)where) + 1;
	at = m->data + get64(where) + DAT_SECTION_HEAD;
	for (;;) {
		unsigned int is = bytes_get32(at) & 0xffff;

		if (is == id && !nth--)
			return at + 6;
		assert_int_not_equal(is, DAT_OPTION_DONE);
		at += 6 + bytes_get32(at + 2);
	}
}

static void assert_chunks(const uint8_t *at, unsigned int first, const size_t *pages, size_t nr)
{
	uint8_t unpacked[4 * DAT_PAGE_SIZE];

	assert_int_equal(bytes_get32(at), nr);
	at += 4;
	for (size_t i = 0; i < nr; i++) {
		size_t packed = bytes_get32(at), size = bytes_get32(at + 4);

		assert_int_equal(size, pages[i] * DAT_PAGE_SIZE);
		assert_int_equal(ZSTD_decompress(unpacked, sizeof(unpacked), at + 8, packed), size);
		assert_pages(unpacked, first, pages[i]);
		first += (unsigned int)pages[i];
		at += 8 + packed;
	}
}

static void version_7(void **state)
{
	static const size_t two_and_one[] = {2, 1}, three[] = {3};
	static struct made m;
	const uint8_t *cpus;

	(void)state;
	make(&m, 7, true);
	assert_memory_equal(m.data, DAT_MAGIC "7\0\0\10", 14);
	assert_string_equal((const char *)m.data + 18, "zstd");
	assert_string_equal((const char *)option_of(&m, DAT_OPTION_UNAME, 0), "guest");
	assert_int_equal(m.data[get64(option_of(&m, DAT_OPTION_HEADER_INFO, 0))],
			 DAT_OPTION_HEADER_INFO);
	cpus = option_of(&m, DAT_OPTION_BUFFER, 0) + 8;
	assert_memory_equal(cpus, "\0local", 7);
	assert_int_equal(bytes_get32(cpus + 7), DAT_PAGE_SIZE);
	assert_int_equal(bytes_get32(cpus + 11), 2);
	assert_chunks(m.data + get64(cpus + 19), 1, two_and_one, 2);
	cpus = option_of(&m, DAT_OPTION_BUFFER, 1) + 8;
	assert_memory_equal(cpus, "two\0mono", 9);
	assert_int_equal(get64(cpus + 17 + 12), 0); /* vCPU 0 has none */
	assert_int_equal(bytes_get32(cpus + 17 + 20), 1);
	assert_chunks(m.data + get64(cpus + 17 + 24), 20, three, 1);
}

static void version_7_plain(void **state)
{
	static struct made m;
	const uint8_t *cpus;

	(void)state;
	make(&m, 7, false);
	assert_string_equal((const char *)m.data + 18, "none");
	cpus = option_of(&m, DAT_OPTION_BUFFER, 0) + 15 + 8;
	assert_int_equal(get64(cpus + 4 + 8), 3 * DAT_PAGE_SIZE);
	assert_pages(m.data + get64(cpus + 4), 1, 3);
}

/* Whoever reads it as it is says so, too. */
static bool can_be_read(int fd)
{
	char err[256];
	struct dat *d = dat_open_fd(dup(fd), "made", err, sizeof(err));

	if (!d)
		assert_int_equal(strncmp(err, "made: ", 6), 0);
	dat_close(d);
	return d != NULL;
}

/* Each journal with something that no recorder writes. */
static int write_with(void (*put)(struct journal *j), bool frame)
{
	int in = made_file(), out = made_file(), rc;
	struct journal *j = made_journal(in, 7, true, 2);
	struct dat_written written;

	if (frame)
		put_frame(j);
	put(j);
	journal_free(j);
	rc = dat_write(in, true, out, NULL, NULL, &written);
	if (rc)
		assert_false(can_be_read(in));
	close(in);
	close(out);
	return rc;
}

static void nothing(struct journal *j)
{
	(void)j;
}

static void pages_of_no_buffer(struct journal *j)
{
	made_put_pages(j, 1, 0, 0, 1);
}

static void pages_of_no_vcpu(struct journal *j)
{
	made_put_pages(j, 0, 2, 0, 1);
}

static void half_a_page(struct journal *j)
{
	made_put(j, JOURNAL_PAGES, 0, 0, "half", 4);
}

static void no_pages(struct journal *j)
{
	made_put(j, JOURNAL_PAGES, 0, 0, "", 0);
}

static void buffer_out_of_turn(struct journal *j)
{
	made_put(j, JOURNAL_BUFFER, 2, 0, "x\0local", 8);
}

static void name_without_end(struct journal *j)
{
	made_put(j, JOURNAL_BUFFER, 1, 0, "x\0local", 7);
}

static void one_name(struct journal *j)
{
	made_put(j, JOURNAL_BUFFER, 1, 0, "x", 2);
}

static void three_names(struct journal *j)
{
	made_put(j, JOURNAL_BUFFER, 1, 0, "x\0y\0z", 6);
}

static void unknown_section(struct journal *j)
{
	made_put(j, JOURNAL_SECTION, DAT_OPTION_BUFFER, 0, "x", 1);
}

static void unknown_option(struct journal *j)
{
	made_put(j, JOURNAL_OPTION, DAT_OPTION_BUFFER_TEXT + 1, 0, "x", 1);
}

static void refused(void **state)
{
	static void (*const bad[])(struct journal * j) = {
		pages_of_no_buffer, pages_of_no_vcpu, half_a_page, no_pages,
		buffer_out_of_turn, name_without_end, one_name,	   three_names,
		unknown_section,    unknown_option,
	};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(write_with(bad[i], true), -EBADMSG);
	assert_int_equal(write_with(nothing, true), 0);
	assert_int_equal(write_with(nothing, false), -ENODATA);
}

static void percent(void *arg, unsigned int is)
{
	unsigned int *last = arg;

	assert_true(is >= *last && is <= 100);
	*last = is;
}

/* Killed in mid-write: the rest is a trace.dat, and how much is lost is told. */
static void torn(void **state)
{
	int in = made_file(), out = made_file();
	struct journal *j = made_journal(in, 7, true, 2);
	struct dat_written written;
	unsigned int last = 0;
	off_t end;

	(void)state;
	put_all(j);
	journal_free(j);
	end = lseek(in, 0, SEEK_END);
	assert_int_equal(pwrite(in, "HVJ1 and no more", 16, end), 16);
	assert_int_equal(dat_write(in, true, out, percent, &last, &written), 0);
	assert_int_equal(written.torn, 16);
	assert_int_equal(written.bytes, 7 * DAT_PAGE_SIZE);
	assert_int_equal(last, 100);
	close(in);
	close(out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(version_6),
		cmocka_unit_test(version_7),
		cmocka_unit_test(version_7_plain),
		cmocka_unit_test(refused),
		cmocka_unit_test(torn),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
