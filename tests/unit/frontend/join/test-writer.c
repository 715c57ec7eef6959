// SPDX-License-Identifier: GPL-2.0-or-later
/* test-writer.c - records in pages of a journal: times, losses, and where a page ends. */
#include "tests/unit/made-journal.h"

#include <stdlib.h>

#include "frontend/join/writer.h"
#include "tracer/tracer.h"

struct world {
	int fd;
	struct journal *journal;
	struct writer *writer;
};

static struct world world_begin(void)
{
	struct world w = {.fd = made_file(), .writer = malloc(sizeof(*w.writer))};

	assert_non_null(w.writer);
	memset(w.writer, 0xa5, sizeof(*w.writer));
	w.journal = made_journal(w.fd, 7, true, 2);
	writer_begin(w.writer, w.journal, 3, 1);
	return w;
}

static void put(struct world *w, uint64_t time, uint32_t what, size_t len)
{
	int rc;
	uint8_t *at = writer_put(w->writer, time, len, &rc);

	assert_int_equal(rc, 0);
	assert_non_null(at);
	memset(at, 0, len);
	memcpy(at, &what, sizeof(what));
}

/* All pages that are there, of which text tells: "lost" and each record's time, number and length.
 */
static char *text_of(struct world *w)
{
	struct journal_walk walk;
	struct journal_record r;
	struct text pages = {0};
	size_t len;
	char *text;
	FILE *out = open_memstream(&text, &len);

	assert_int_equal(writer_end(w->writer), 0);
	assert_int_equal(journal_walk_begin(&walk, w->fd, true), 0);
	while (journal_walk_next(&walk, &r) == 1) {
		assert_int_equal(r.kind, JOURNAL_PAGES);
		assert_int_equal(r.a, 3);
		assert_int_equal(r.b, 1);
		assert_int_equal(journal_read(&walk, &r, &pages), 0);
	}
	for (size_t at = 0; at < pages.len; at += DAT_PAGE_SIZE) {
		struct ring_walk page;
		struct ring_event ev;
		uint64_t lost;

		assert_int_equal(ring_walk_page(&page, pages.buf + at, &lost), 0);
		fprintf(out, "page %lld:", (long long)lost);
		while (ring_walk_next(&page, &ev) == 1)
			fprintf(out, " %llu=%u,%zu", (unsigned long long)ev.ts,
				*(const uint32_t *)ev.data, (size_t)ev.len);
		putc('\n', out);
	}
	fclose(out);
	text_free(&pages);
	journal_free(w->journal);
	free(w->writer);
	close(w->fd);
	return text;
}

static void assert_text(struct world *w, const char *expected)
{
	char *text = text_of(w);

	assert_string_equal(text, expected);
	free(text);
}

/* 27 bits, 59 bits, and more, which needs another page. */
static void test_times(void **state)
{
	struct world w = world_begin();

	(void)state;
	put(&w, 5, 1, 8);
	put(&w, 5, 2, 16);
	put(&w, 5 + (1 << 27), 3, 16);
	put(&w, UINT64_C(1) << 58, 4, 200);
	put(&w, UINT64_C(3) << 60, 5, 16);
	put(&w, 7, 6, 16);
	assert_int_equal(w.writer->late, 1);
	assert_text(&w, "page 0: 5=1,12 5=2,16 134217733=3,16 288230376151711744=4,200\n"
			"page 0: 3458764513820540928=5,16 3458764513820540928=6,16\n");
}

static void test_lost(void **state)
{
	struct world w = world_begin();

	(void)state;
	writer_lost(w.writer, 2);
	writer_lost(w.writer, 3);
	put(&w, 1, 1, 16);
	put(&w, 2, 2, 16);
	writer_lost(w.writer, RING_LOST_UNKNOWN);
	writer_lost(w.writer, 1);
	put(&w, 3, 3, 16);
	assert_text(&w, "page 5: 1=1,16 2=2,16\npage -1: 3=3,16\n");
}

/* Four of these fill a page; more pages than are put at once. */
static void test_many(void **state)
{
	struct world w = world_begin();
	unsigned int pages = 0;
	char *text;

	(void)state;
	assert_true(writer_has_room(RING_MAX_DATA));
	assert_false(writer_has_room(RING_MAX_DATA + 1));
	assert_false(writer_has_room(SIZE_MAX));
	for (uint32_t i = 0; i < 4 * (WRITER_PAGES + 6); i++)
		put(&w, i, i, 1000);
	put(&w, 9999, 9999, RING_MAX_DATA);
	text = text_of(&w);
	for (const char *at = text; (at = strstr(at, "page 0:")); at++)
		pages++;
	assert_int_equal(pages, WRITER_PAGES + 7);
	assert_non_null(
		strstr(text, "page 0: 276=276,1000 277=277,1000 278=278,1000 279=279,1000\n"));
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_times),
		cmocka_unit_test(test_lost),
		cmocka_unit_test(test_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
