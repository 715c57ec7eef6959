// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test-ring-page.c - the page format against pages that Linux 6.1 gave: what we read of them is
 * what the kernel printed, and the same events written by us make the same bytes.
 */
#include "tests/unit/data-file.h"
#include "tests/unit/ring-check.h"

#include <errno.h>
#include <string.h>

#include "tracer/ring/entry.h"

struct capture {
	const char *name;
	uint64_t lost; /* before its first event */
	bool rewrite;  /* no absolute time stamps, which our writer does not use */
	bool full;     /* read with splice */
};

static const struct capture captures[] = {
	{"function-events", 0, true, false},	    {"splice-function-events", 0, true, true},
	{"time-extend-and-marker", 0, true, false}, {"overflow-lost-events", 2269, true, false},
	{"sched-events", 0, true, false},	    {"absolute-timestamps", 0, false, false},
};

#define NR_CAPTURES (sizeof(captures) / sizeof(captures[0]))

static char *capture_file(const struct capture *c, const char *suffix, size_t *len)
{
	char name[128];

	snprintf(name, sizeof(name), "%s%s", c->name, suffix);
	return data_file(name, len);
}

/* The first line of a trace file behind its header. */
static const char *skip_header(const char *text)
{
	while (*text == '#')
		text = strchr(text, '\n') + 1;
	return text;
}

/*
 * A line of the raw option: "pid cpu nanoseconds …". Lines of other CPUs are left out: the files
 * are of one CPU. Lines about lost events have no number in front.
 */
static void expect_line(const char **line, const struct ring_event *ev)
{
	const struct trace_entry *ent = ev->data;
	unsigned long long ns;
	int pid, cpu;

	assert_int_equal(sscanf(*line, "%d %d %llu ", &pid, &cpu, &ns), 3);
	assert_int_equal(ent->pid, pid);
	assert_int_equal(ev->ts, ns);
	*line = strchr(*line, '\n') + 1;
}

static void check_read(const struct capture *c)
{
	size_t len;
	char *pages = capture_file(c, ".bin", &len);
	char *text = capture_file(c, ".raw-option.txt", NULL);
	const char *line = skip_header(text);

	for (size_t at = 0; at < len; at += RING_PAGE_SIZE) {
		struct ring_walk w;
		struct ring_event ev;
		uint64_t lost;
		int ret;

		assert_int_equal(ring_walk_page(&w, pages + at, &lost), 0);
		assert_int_equal(lost, at ? 0 : c->lost);
		while ((ret = ring_walk_next(&w, &ev)) > 0)
			expect_line(&line, &ev);
		assert_int_equal(ret, 0);
	}
	/* splice(2) leaves the page that the writer is on. */
	assert_int_equal(*line != '\0', c->full);
	free(text);
	free(pages);
}

static void test_read_kernel_pages(void **state)
{
	(void)state;
	for (size_t i = 0; i < NR_CAPTURES; i++)
		check_read(&captures[i]);
}

static void write_page(struct ring *r, const void *page)
{
	struct ring_walk w;
	struct ring_event ev;
	uint64_t lost;

	assert_int_equal(ring_walk_page(&w, page, &lost), 0);
	while (ring_walk_next(&w, &ev) > 0) {
		void *data = ring_reserve(r, ev.len, ev.ts);

		assert_non_null(data);
		memcpy(data, ev.data, ev.len);
		ring_commit(r);
	}
}

/* nr events, the last one at the end of a page. */
static void write_others(struct ring *r, uint64_t nr)
{
	for (uint64_t i = 1; i <= nr; i++) {
		assert_non_null(ring_reserve(r, i < nr ? 4 : RING_MAX_DATA, 1));
		ring_commit(r);
	}
}

/* The buffer has as many pages as were captured, so what was lost before them is overwritten. */
static void check_rewrite(const struct capture *c)
{
	uint8_t page[RING_PAGE_SIZE];
	struct ring *r;
	size_t len;
	char *pages = capture_file(c, ".bin", &len);

	r = ring_new(len / RING_PAGE_SIZE * RING_PAGE_DATA);
	assert_non_null(r);
	write_others(r, c->lost);
	for (size_t at = 0; at < len; at += RING_PAGE_SIZE)
		write_page(r, pages + at);
	if (c->full) /* the writer goes on to the next page */
		write_others(r, 1);
	for (size_t at = 0; at < len; at += RING_PAGE_SIZE) {
		assert_true(ring_read_page(r, page, sizeof(page), c->full) > 0);
		assert_memory_equal(page, pages + at, sizeof(page));
	}
	assert_int_equal(ring_read_page(r, page, sizeof(page), true), -EAGAIN);
	free(pages);
	ring_free(r);
}

static void test_write_kernel_pages(void **state)
{
	(void)state;
	for (size_t i = 0; i < NR_CAPTURES; i++) {
		if (captures[i].rewrite)
			check_rewrite(&captures[i]);
	}
}

/* Reads that are shorter than what a page holds: of 1000 bytes each, until the capture ends. */
static void test_short_reads(void **state)
{
	struct ring *r = ring_new(0);
	uint8_t page[RING_PAGE_SIZE];
	size_t len;
	char *pages = data_file("partial-reads-1000.bin", &len);

	(void)state;
	for (size_t at = 0; at < len; at += RING_PAGE_SIZE)
		write_page(r, pages + at);
	for (size_t at = 0; at < len; at += RING_PAGE_SIZE) {
		assert_true(ring_read_page(r, page, 1000, false) > 0);
		assert_memory_equal(page, pages + at,
				    len - at < sizeof(page) ? len - at : sizeof(page));
	}
	free(pages);
	ring_free(r);
}

/* Lost events behind which there is no room for their number: only the top bit tells. */
static void test_lost_unknown(void **state)
{
	struct ring *r = ring_new(0);
	uint8_t page[RING_PAGE_SIZE];
	uint64_t commit, lost;
	struct ring_walk w;

	(void)state;
	for (uint64_t i = 0; i < 3; i++) {
		assert_non_null(ring_reserve(r, RING_MAX_DATA - 4, i));
		ring_commit(r);
	}
	assert_int_equal(ring_read_page(r, page, sizeof(page), true), RING_PAGE_DATA - 4);
	memcpy(&commit, page + 8, sizeof(commit));
	assert_true(commit == UINT64_C(0xffffffff80000fec));
	assert_int_equal(ring_walk_page(&w, page, &lost), 0);
	assert_true(lost == RING_LOST_UNKNOWN);
	ring_free(r);
}

/* Pages of other sizes than ours are walked up to their end, and no further. */
static void test_other_sizes(void **state)
{
	static const size_t sizes[] = {RING_PAGE_SIZE / 2, RING_PAGE_SIZE, 16 * RING_PAGE_SIZE};
	static uint8_t page[16 * RING_PAGE_SIZE];
	struct ring_event ev;
	struct ring_walk w;
	uint64_t ts = 5, lost = 7;

	(void)state;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		uint64_t commit = sizes[i] - RING_PAGE_HDR;
		size_t nr = 0;

		memcpy(page, &ts, sizeof(ts));
		memcpy(page + 8, &commit, sizeof(commit));
		for (size_t at = RING_PAGE_HDR; at < sizes[i]; at += 16)
			ring_put_word(page + at, 3, 1);
		assert_int_equal(ring_walk_subbuf(&w, page, sizes[i], &lost), 0);
		assert_int_equal(lost, 0);
		for (; ring_walk_next(&w, &ev) == 1; nr++)
			assert_int_equal(ev.ts, ts + nr + 1);
		assert_int_equal(nr, commit / 16);
		/* It says that there is more than it has. */
		assert_int_equal(ring_walk_subbuf(&w, page, sizes[i] - 4, &lost), -EINVAL);
		assert_int_equal(ring_walk_next(&w, &ev), 0);
		/* The number of those lost would be behind its end. */
		commit |= RING_MISSED_EVENTS | RING_MISSED_STORED;
		memcpy(page + 8, &commit, sizeof(commit));
		assert_int_equal(ring_walk_subbuf(&w, page, sizes[i], &lost), -EINVAL);
		assert_int_equal(ring_walk_next(&w, &ev), 0);
	}
	for (size_t size = 0; size < RING_PAGE_HDR; size++)
		assert_int_equal(ring_walk_subbuf(&w, page, size, &lost), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_read_kernel_pages), cmocka_unit_test(test_write_kernel_pages),
		cmocka_unit_test(test_short_reads),	  cmocka_unit_test(test_lost_unknown),
		cmocka_unit_test(test_other_sizes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
