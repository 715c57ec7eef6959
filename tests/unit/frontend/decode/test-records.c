// SPDX-License-Identifier: GPL-2.0-or-later
/* test-records.c - records come in the order of their times, each once, with what was lost. */
#include "tests/unit/made-trace.h"

#include "frontend/decode/records.h"
#include "tests/seed.h"

enum { CPUS = 5, PAGES = 12, PER_PAGE = 40 };

/* What a record of these tests has: which it is. */
struct numbered {
	uint16_t type;
	uint16_t cpu;
	int32_t pid;
	uint32_t number;
	uint32_t buffer;
};

static struct made_page pages[2][CPUS][PAGES];
static struct made_vcpu vcpus[2][CPUS];

/* Each a little later than the one before, or at the same time. */
static void make_vcpu(unsigned int buffer, unsigned int cpu)
{
	uint64_t ts = 1000;
	uint32_t number = 0;

	for (size_t i = 0; i < PAGES; i++) {
		struct made_page *p = &pages[buffer][cpu][i];

		made_page_begin(p, ts);
		for (size_t n = 0; n < PER_PAGE; n++, number++) {
			const struct numbered r = {(uint16_t)(number % 3), (uint16_t)cpu,
						   (int32_t)(cpu * 100), number, buffer};

			ts += (uint64_t)(rand() % 4) * 10;
			made_page_event(p, ts, &r, sizeof(r));
		}
		made_page_end(p, i % 3 ? 0 : i + 1);
	}
}

/* Pages one behind the other, as a file has them. */
static uint8_t *bytes_of(unsigned int buffer, unsigned int cpu)
{
	uint8_t *bytes = malloc(PAGES * RING_PAGE_SIZE);

	assert_non_null(bytes);
	for (size_t i = 0; i < PAGES; i++)
		memcpy(bytes + i * RING_PAGE_SIZE, pages[buffer][cpu][i].bytes, RING_PAGE_SIZE);
	return bytes;
}

static struct dat *open_numbered(void)
{
	static const struct made_buffer buffers[] = {
		{"", "global", vcpus[0], CPUS},
		{"one", "global", vcpus[1], CPUS},
		{NULL, NULL, NULL, 0},
	};
	const struct made_dat_spec s = {
		.version = 7,
		.compression = "zstd",
		.chunk = RING_PAGE_SIZE,
		.cpus = CPUS,
		.buffers = buffers,
	};
	struct dat *d;

	for (unsigned int b = 0; b < 2; b++)
		for (unsigned int c = 0; c < CPUS; c++) {
			make_vcpu(b, c);
			vcpus[b][c] = (struct made_vcpu){c, bytes_of(b, c), PAGES * RING_PAGE_SIZE};
		}
	d = made_open(&s);
	for (unsigned int b = 0; b < 2; b++)
		for (unsigned int c = 0; c < CPUS; c++)
			free((void *)(uintptr_t)vcpus[b][c].pages);
	return d;
}

static struct numbered numbered(const struct decode_event *ev)
{
	struct numbered r;

	assert_true(ev->len >= sizeof(r));
	memcpy(&r, ev->data, sizeof(r));
	assert_int_equal(ev->id, r.type);
	assert_int_equal(ev->cpu, r.cpu);
	assert_int_equal(ev->pid, r.pid);
	assert_int_equal(ev->buffer, r.buffer);
	return r;
}

/* In front of which of its vCPU's records something is lost. */
static uint64_t lost_before(uint32_t number)
{
	uint32_t page = number / PER_PAGE;

	return number % PER_PAGE || page % 3 ? 0 : page + 1;
}

static void check_order(struct dat *d, size_t buffer, unsigned int nr_buffers)
{
	struct records *r = records_open(d, buffer);
	uint32_t next[2][CPUS] = {{0}};
	const struct decode_event *ev;
	struct decode_event before = {0};
	size_t nr = 0;

	assert_non_null(r);
	for (; (ev = records_next(r)); nr++) {
		struct numbered n = numbered(ev);

		assert_int_equal(n.number, next[n.buffer][n.cpu]++);
		assert_int_equal(ev->lost, lost_before(n.number));
		assert_true(ev->time >= before.time);
		/* Of the same time: first buffer first, then the vCPU with the lower number. */
		if (nr && ev->time == before.time && ev->buffer == before.buffer)
			assert_true(ev->cpu >= before.cpu);
		before = *ev;
	}
	assert_null(records_error(r));
	assert_int_equal(records_damaged(r), 0);
	assert_int_equal(nr, nr_buffers * CPUS * PAGES * PER_PAGE);
	assert_null(records_next(r));
	records_close(r);
}

static void test_order(void **state)
{
	struct dat *d = open_numbered();

	(void)state;
	check_order(d, RECORDS_ALL, 2);
	check_order(d, 0, 1);
	check_order(d, 1, 1);
	dat_close(d);
}

/* What is looked at ahead, and taken or not, changes neither order nor what is in hand. */
static void test_peek_and_take(void **state)
{
	struct dat *d = open_numbered();
	struct records *r = records_open(d, 0);
	const struct decode_event *ev;
	size_t nr = 0, taken = 0;

	(void)state;
	for (; (ev = records_next(r)); nr++) {
		struct numbered now = numbered(ev), then;
		const struct decode_event *next = records_peek(r);
		assert_memory_equal(&now, ev->data, sizeof(now));
		if (!next)
			continue;
		then = numbered(next);
		assert_true(next->time >= ev->time);
		if (rand() % 3)
			continue;
		records_take(r);
		taken++;
		assert_memory_equal(&now, ev->data, sizeof(now));
		next = records_peek(r);
		if (next)
			assert_true(numbered(next).cpu != then.cpu ||
				    numbered(next).number == then.number + 1);
		assert_memory_equal(&now, ev->data, sizeof(now));
	}
	assert_true(taken);
	assert_int_equal(nr + taken, CPUS * PAGES * PER_PAGE);
	records_close(r);
	dat_close(d);
}

static bool is_of_type_1(void *arg, const struct decode_event *ev)
{
	++*(size_t *)arg;
	return ev->id == 1;
}

static void test_select(void **state)
{
	struct dat *d = open_numbered();
	struct records *r = records_open(d, RECORDS_ALL);
	const struct decode_event *ev;
	size_t nr = 0, asked = 0;

	(void)state;
	records_select(r, is_of_type_1, &asked);
	for (; (ev = records_next(r)); nr++)
		assert_int_equal(numbered(ev).type, 1);
	assert_int_equal(nr, 2 * CPUS * PAGES * PER_PAGE / 3);
	assert_int_equal(asked, 2 * CPUS * PAGES * PER_PAGE);
	records_close(r);
	dat_close(d);
}

/* Of a page that is damaged what is in front of it is there, and what is behind it. */
static void test_damaged(void **state)
{
	static struct made_page some[3];
	static uint8_t bytes[3 * RING_PAGE_SIZE];
	static const struct made_vcpu vcpu = {0, bytes, sizeof(bytes)};
	static const struct made_buffer buffers[] = {{"", "local", &vcpu, 1},
						     {NULL, NULL, NULL, 0}};
	const struct made_dat_spec s = {.version = 6, .cpus = 1, .buffers = buffers};
	const struct numbered r = {1, 0, 0, 0, 0};
	const struct decode_event *ev;
	struct records *records;
	uint32_t padding = 0;
	struct dat *d;
	size_t nr = 0;

	(void)state;
	for (uint64_t i = 0; i < 3; i++) {
		made_page_begin(&some[i], 100 * i);
		for (uint64_t n = 0; n < 4; n++)
			made_page_event(&some[i], 100 * i + n, &r, sizeof(r));
		made_page_end(&some[i], i == 2 ? 3 : 0);
		if (i == 1)
			/* The third says that it is longer than the page. */
			memcpy(some[i].bytes + RING_PAGE_HDR + 2 * (sizeof(r) + 4), &padding, 4);
		memcpy(bytes + i * RING_PAGE_SIZE, some[i].bytes, RING_PAGE_SIZE);
	}
	memset(bytes + RING_PAGE_SIZE + RING_PAGE_HDR + 2 * (sizeof(r) + 4) + 4, 0xff, 4);
	d = made_open(&s);
	records = records_open(d, RECORDS_ALL);
	for (; (ev = records_next(records)); nr++)
		assert_int_equal(ev->lost, nr == 6 ? 3 : 0);
	assert_int_equal(nr, 4 + 2 + 4);
	assert_int_equal(records_damaged(records), 1);
	records_close(records);
	dat_close(d);
}

/* A chunk that is none ends it, with a line. */
static void test_error(void **state)
{
	static const uint8_t magic[] = {0x28, 0xb5, 0x2f, 0xfd};
	struct made_dat_spec s = {.version = 7, .compression = "zstd"};
	struct made_dat m;
	struct records *r;
	char err[256];
	struct dat *d;
	size_t at;

	(void)state;
	made_trace_spec(&s);
	m = made_dat(&s);
	/* The last one is of the buffer "one". */
	at = m.len - sizeof(magic);
	while (at && memcmp(m.bytes + at, magic, sizeof(magic)) != 0)
		at--;
	m.bytes[at] = 0;
	d = dat_open_fd(made_file(&m, m.len), "made", err, sizeof(err));
	assert_non_null(d);
	r = records_open(d, RECORDS_ALL);
	while (records_next(r))
		;
	assert_string_equal(records_error(r),
			    "made: CPU 1: a chunk of its records is no zstd data");
	records_close(r);
	dat_close(d);
	free(m.bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_order),  cmocka_unit_test(test_peek_and_take),
		cmocka_unit_test(test_select), cmocka_unit_test(test_damaged),
		cmocka_unit_test(test_error),
	};

	srand(test_seed());
	return cmocka_run_group_tests(tests, NULL, NULL);
}
