// SPDX-License-Identifier: GPL-2.0-or-later
/* test-dat-hostile.c - trace.dat files that are cut off or lie are refused with one line, or read.
 */
#include "tests/unit/made-dat.h"

#include <errno.h>

static uint8_t pages[3 * RING_PAGE_SIZE];

static const struct made_vcpu vcpus[] = {{0, pages, sizeof(pages)}, {1, pages, RING_PAGE_SIZE}};
static const struct made_buffer buffers[] = {
	{"", "global", vcpus, 2},
	{"one", "global", vcpus, 2},
	{NULL, NULL, NULL, 0},
};
static const struct dat_format formats[] = {
	{"ftrace", {"name: function\n", 0}},
	{"sched", {"name: sched_switch\n", 0}},
	{NULL, {NULL, 0}},
};
static const struct made_option options[] = {
	{DAT_OPTION_UNAME, "Linux made", 11},
	{DAT_OPTION_DATE, "0x7fffffffffffffff", 19},
	{DAT_OPTION_OFFSET, "9223372036854775807", 20},
	{0, NULL, 0},
};
static const struct made_dat_spec specs[] = {
	{.version = 6},
	{.version = 7},
	{.version = 7, .compression = "zlib", .chunk = RING_PAGE_SIZE},
	{.version = 7, .compression = "zstd", .chunk = RING_PAGE_SIZE},
};

#define NR_SPECS (sizeof(specs) / sizeof(*specs))

static struct made_dat made(size_t i)
{
	struct made_dat_spec s = specs[i];

	s.cpus = 2;
	s.kallsyms = "ffffffff81000000 T _stext\n";
	s.formats = formats;
	s.options = options;
	s.buffers = buffers;
	return made_dat(&s);
}

/* Whatever is in it. */
static void read_all(struct dat *d)
{
	for (size_t b = 0; b < dat_nr_buffers(d); b++) {
		const struct dat_buffer *buffer = dat_buffer(d, b);

		for (unsigned int v = 0; v < buffer->nr_vcpus; v++) {
			struct dat_pages *p = dat_pages_open(d, buffer, &buffer->vcpus[v]);
			const void *page;
			size_t size;
			int rc;

			assert_non_null(p);
			while ((rc = dat_pages_next(p, &page, &size)) == 1)
				assert_true(size && size <= buffer->page_size);
			if (rc)
				assert_non_null(strchr(dat_pages_error(p), ':'));
			dat_pages_close(p);
		}
	}
}

/* A line about it, which is not more than one. */
static void check_line(const char *err)
{
	assert_true(!strncmp(err, "made: ", 6));
	assert_true(err[6] && !strchr(err, '\n'));
}

/* It is refused with a line, or what it has can be read. */
static bool try(const struct made_dat *m, size_t len)
{
	char err[256] = "untouched";
	struct dat *d = dat_open_fd(made_file(m, len), "made", err, sizeof(err));

	if (!d) {
		check_line(err);
		return false;
	}
	read_all(d);
	dat_close(d);
	return true;
}

/* The message that it is refused with. */
static void check_refused(const struct made_dat *m, size_t len, const char *why)
{
	char err[256] = "untouched";
	struct dat *d = dat_open_fd(made_file(m, len), "made", err, sizeof(err));

	assert_null(d);
	check_line(err);
	if (!strstr(err, why))
		fail_msg("\"%s\" instead of \"%s\"", err, why);
}

static void test_cut_off(void **state)
{
	(void)state;
	for (size_t i = 0; i < NR_SPECS; i++) {
		struct made_dat m = made(i);

		assert_true(try(&m, m.len));
		for (size_t len = 0; len < m.len; len += len < 2048 || m.len - len < 2048 ? 5 : 97)
			assert_false(try(&m, len));
		free(m.bytes);
	}
}

/* Each byte of what is not a page, once with all bits set, once with one other. */
static void test_each_byte(void **state)
{
	(void)state;
	for (size_t i = 0; i < NR_SPECS; i++) {
		struct made_dat m = made(i);

		for (size_t at = 0; at < m.len; at += at < 3000 || m.len - at < 1024 ? 3 : 61) {
			uint8_t was = m.bytes[at];

			m.bytes[at] = 0xff;
			try(&m, m.len);
			m.bytes[at] = (uint8_t)(was ^ (1 << at % 8));
			try(&m, m.len);
			m.bytes[at] = was;
		}
		free(m.bytes);
	}
}

static void test_head(void **state)
{
	struct made_dat m = made(0);

	(void)state;
	check_refused(&m, 5, "it is no trace.dat file");
	m.bytes[1]++;
	check_refused(&m, m.len, "it is no trace.dat file");
	m.bytes[1]--;
	m.bytes[10] = '8';
	check_refused(&m, m.len, "version 8; hvtrace reads 6 and 7");
	m.bytes[10] = 'x';
	check_refused(&m, m.len, "its version is no number");
	m.bytes[10] = '6';
	m.bytes[12] = 1;
	check_refused(&m, m.len, "big-endian");
	m.bytes[12] = 0;
	m.bytes[13] = 4;
	check_refused(&m, m.len, "its long has 4 bytes");
	m.bytes[13] = 8;
	m.bytes[15] = 0;
	check_refused(&m, m.len, "its pages have 0 bytes");
	m.bytes[15] = 0x10;
	m.bytes[14] = 1;
	check_refused(&m, m.len, "its pages have 4097 bytes");
	free(m.bytes);
}

static size_t find(const struct made_dat *m, const void *what, size_t len)
{
	uint8_t *at = memmem(m->bytes, m->len, what, len);

	assert_non_null(at);
	return (size_t)(at - m->bytes);
}

/* Texts of gigabytes: by a length that is a lie, and by one that is not. */
static void test_sizes(void **state)
{
	struct made_dat m = made(0);
	size_t at = find(&m, "header_page", 12) + 12;
	char err[256];
	int fd;

	(void)state;
	made_set_u64(&m, at, UINT64_C(1) << 40);
	check_refused(&m, m.len, "its header information ends too early");
	made_set_u64(&m, at, UINT64_MAX);
	check_refused(&m, m.len, "its header information ends too early");
	made_set_u64(&m, at, DAT_METADATA_MAX + 1);
	fd = made_file(&m, m.len);
	assert_int_equal(ftruncate(fd, 1 << 30), 0);
	assert_null(dat_open_fd(fd, "made", err, sizeof(err)));
	assert_non_null(strstr(err, "takes more than 256 MB"));
	free(m.bytes);
}

static void test_counts(void **state)
{
	struct made_dat m = made(0);
	size_t at = find(&m, "options  ", 10) - 4;

	(void)state;
	memset(m.bytes + at, 0xff, 4);
	check_refused(&m, m.len, "machine of 4294967295 CPUs");
	memset(m.bytes + at, 0, 4);
	check_refused(&m, m.len, "machine of 0 CPUs");
	free(m.bytes);
}

static void test_latency(void **state)
{
	struct made_dat m = made(0);

	(void)state;
	memcpy(m.bytes + find(&m, "flyrecord", 10), "latency  ", 10);
	check_refused(&m, m.len, "no records");
	free(m.bytes);
}

/* Options that lead back to themselves. */
static void test_endless_options(void **state)
{
	struct made_dat m = made(1);
	uint64_t at;

	(void)state;
	memcpy(&at, m.bytes + find(&m, "none", 5) + 6, sizeof(at));
	made_set_u64(&m, m.len - 8, at);
	check_refused(&m, m.len, "its options do not end");
	made_set_u64(&m, m.len - 8, UINT64_MAX);
	check_refused(&m, m.len, "behind its end");
	free(m.bytes);
}

static void test_compression(void **state)
{
	struct made_dat m = made(3);
	size_t name = find(&m, "zstd", 5);

	(void)state;
	memcpy(m.bytes + name, "lzma", 4);
	check_refused(&m, m.len, "compressed with lzma");
	memcpy(m.bytes + name, "a\nb\x1b", 4);
	check_refused(&m, m.len, "compressed with a?b?;");
	memcpy(m.bytes + name, "none", 4);
	check_refused(&m, m.len, "says that nothing is");
	memcpy(m.bytes + name, "zlib", 4);
	check_refused(&m, m.len, "no zlib data");
	free(m.bytes);
}

/* A chunk that says it is larger, smaller, or too large. */
static void test_chunks(void **state)
{
	static const uint8_t magic[] = {0x28, 0xb5, 0x2f, 0xfd}; /* of zstd */
	struct made_dat m = made(3);
	uint32_t sizes[] = {RING_PAGE_SIZE - 1, RING_PAGE_SIZE + 1, 0};
	const struct dat_buffer *b;
	struct dat_pages *p;
	const void *page;
	struct dat *d;
	char err[256];
	size_t at, size;

	(void)state;
	/* Of the first vCPU, which is the one with three chunks. */
	for (at = find(&m, "\3\0\0\0", 4); memcmp(m.bytes + at + 12, magic, 4) != 0;)
		at += 1 +
		      (size_t)((uint8_t *)memmem(m.bytes + at + 1, m.len - at - 1, "\3\0\0\0", 4) -
			       (m.bytes + at + 1));
	for (size_t i = 0; i < 3; i++) {
		memcpy(m.bytes + at + 8, &sizes[i], 4);
		d = dat_open_fd(made_file(&m, m.len), "made", err, sizeof(err));
		assert_non_null(d);
		b = dat_buffer(d, 0);
		p = dat_pages_open(d, b, &b->vcpus[0]);
		if (sizes[i]) {
			assert_int_equal(dat_pages_next(p, &page, &size), -EINVAL);
			assert_string_equal(dat_pages_error(p),
					    "made: CPU 0: a chunk of its records is no zstd data");
			assert_int_equal(dat_pages_next(p, &page, &size), -EINVAL);
		} else {
			/* What is in none is left out. */
			assert_int_equal(dat_pages_next(p, &page, &size), 1);
		}
		dat_pages_close(p);
		dat_close(d);
	}
	memset(m.bytes + at + 8, 0xff, 4);
	check_refused(&m, m.len, "chunk of 4294967295 bytes");
	free(m.bytes);
}

/* Behind their backs: no signal, but an error. */
static void test_shrinks(void **state)
{
	struct made_dat m = made(0);
	char err[256];
	int fd = made_file(&m, m.len), writer = dup(fd);
	struct dat *d = dat_open_fd(fd, "made", err, sizeof(err));
	const struct dat_buffer *b = dat_buffer(d, 0);
	struct dat_pages *p = dat_pages_open(d, b, &b->vcpus[0]);
	const void *page;
	size_t size;

	(void)state;
	assert_int_equal(ftruncate(writer, 4096), 0);
	assert_int_equal(dat_pages_next(p, &page, &size), -ESTALE);
	assert_string_equal(dat_pages_error(p), "made: CPU 0: its records cannot be read: "
						"the file has shrunk");
	dat_pages_close(p);
	dat_close(d);
	close(writer);
	free(m.bytes);
}

static void test_no_file(void **state)
{
	char err[256];

	(void)state;
	assert_null(dat_open("/nowhere/made.dat", err, sizeof(err)));
	assert_string_equal(err, "/nowhere/made.dat: No such file or directory");
	assert_null(dat_open("/dev/null", err, sizeof(err)));
	assert_string_equal(err, "/dev/null: it is not a regular file");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cut_off),
		cmocka_unit_test(test_each_byte),
		cmocka_unit_test(test_head),
		cmocka_unit_test(test_sizes),
		cmocka_unit_test(test_counts),
		cmocka_unit_test(test_latency),
		cmocka_unit_test(test_endless_options),
		cmocka_unit_test(test_compression),
		cmocka_unit_test(test_chunks),
		cmocka_unit_test(test_shrinks),
		cmocka_unit_test(test_no_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
