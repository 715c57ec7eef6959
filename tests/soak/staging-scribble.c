// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * staging-scribble.c - a guest that makes 24 MB of records a second on one vCPU while another
 * writes anything into all control blocks, as fast as it can. What traces it has to live through
 * that, in bounded memory and with few lines, has to go on collecting, and to let go within a
 * second while it goes on. The guest is a made-up one; the collector is the real one. SOAK_SECONDS
 * is how long (default: 600).
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>
#include <cmocka.h>

#include "tests/unit/tramp-guest.h"
#include "tracer/lib/host-time.h"
#include "tracer/tracer.h"

#define RECORDS_PER_MS 750 /* 24 MB a second */
#define WARM_UP_S      5
#define MEMORY_MORE    (UINT64_C(32) << 20) /* than after the warm-up */
#define LINES_PER_S    100
#define DETACH_MS      1000

static struct trace *t;
static atomic_bool stop;
static _Atomic uint64_t made, scribbled, lines;

static void message(void *arg, const char *text)
{
	(void)arg;
	(void)text;
	lines++;
}

static int64_t soak_seconds(void)
{
	const char *s = getenv("SOAK_SECONDS");
	long n = s ? strtol(s, NULL, 10) : 600;

	return n > 0 ? n : 600;
}

static uint64_t memory_now(void)
{
	FILE *f = fopen("/proc/self/statm", "r");
	char line[128], *resident; /* the second number */

	assert_non_null(f);
	assert_non_null(fgets(line, sizeof(line), f));
	fclose(f);
	strtoull(line, &resident, 10);
	return strtoull(resident, NULL, 10) * (uint64_t)sysconf(_SC_PAGESIZE);
}

/* One stretch of well-formed records, and the head behind it, whatever the head has become. */
static void make(uint64_t *head, uint64_t n, uint32_t ring_size)
{
	static struct payload_record r[RECORDS_PER_MS];
	uint64_t length = ring_size / sizeof(r[0]), at = *head & (length - 1);

	n = n < length - at ? n : length - at;
	for (uint64_t i = 0; i < n; i++)
		r[i] = (struct payload_record){.tsc = 1000 + *head + i,
					       .ip = (uint32_t)FAKE_VA(FN_ALPHA),
					       .parent = (uint32_t)FAKE_VA(FN_START_KERNEL + 0x10),
					       .task = 7,
					       .state = (uint32_t)PAYLOAD_FUNCTION
							<< STATE_TYPE_SHIFT,
					       .seq = (uint32_t)(*head + i)};
	machine_write(NULL, FAKE_WINDOW + WINDOW_RINGS + at * sizeof(r[0]), r, n * sizeof(r[0]));
	*head += n;
	machine_write(NULL, FAKE_WINDOW + ctl_off(0, CTL_HEAD), head, sizeof(*head));
	made += n;
}

static void *maker(void *arg)
{
	uint32_t ring_size = *(uint32_t *)arg;
	uint64_t head = ring_size / PAYLOAD_RECORD_SIZE, n = 0;
	int64_t start = host_ms();

	while (!stop) {
		uint64_t due = (uint64_t)(host_ms() - start) * RECORDS_PER_MS;

		if (n < due)
			n += RECORDS_PER_MS, make(&head, RECORDS_PER_MS, ring_size);
		else
			usleep(500);
	}
	return NULL;
}

/* What words it writes: any, and those that stand for something. */
static uint64_t next_word(uint64_t *seed)
{
	static const uint64_t words[] = {
		0, 1, 2, 3, 4, 5, 4096, UINT64_MAX, UINT64_C(1) << 62, FAKE_VA(FN_ALPHA)};
	uint64_t x = *seed;

	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	*seed = x;
	return x >> 60 < sizeof(words) / sizeof(words[0]) ? words[x >> 60] : x;
}

static void *scribbler(void *arg)
{
	uint64_t seed = UINT64_C(0x9e3779b97f4a7c15);

	(void)arg;
	while (!stop) {
		uint64_t word = next_word(&seed);
		uint64_t off = next_word(&seed) % (TRAMP_CPUS * CTL_SIZE / 4) * 4;
		size_t len = off + 8 <= TRAMP_CPUS * CTL_SIZE ? 8 : 4;

		machine_write(NULL, FAKE_WINDOW + WINDOW_CTL + off, &word, len);
		scribbled++;
	}
	return NULL;
}

static uint64_t staged(void)
{
	struct trace_status st;

	trace_get_status(t, &st);
	return st.staged;
}

/* Each five seconds something has been collected, and there is not more memory than before. */
static void watch(int64_t seconds)
{
	uint64_t warm = 0, most = 0, last = 0;

	for (int64_t s = 0; s < seconds; s += WARM_UP_S) {
		uint64_t now, n;

		sleep(WARM_UP_S);
		n = staged();
		assert_true(n > last);
		last = n;
		now = memory_now();
		if (!warm)
			warm = now;
		most = now > most ? now : most;
		assert_true(now <= warm + MEMORY_MORE);
	}
	printf("# %" PRId64 " s: %" PRIu64 " records made, %" PRIu64 " collected, %" PRIu64
	       " words scribbled, %" PRIu64 " lines; %" PRIu64 " KiB at the beginning, %" PRIu64
	       " KiB at most\n",
	       seconds, made, last, scribbled, lines, warm >> 10, most >> 10);
}

static void it_lives_through_a_guest_that_scribbles(void **state)
{
	int64_t seconds = soak_seconds(), before;
	pthread_t make_thread, scribble_thread;
	uint32_t ring_size;

	(void)state;
	tramp_kernel_make();
	t = tramp_started((struct trace_config){.message = message});
	ring_size = tramp_ring_size();
	assert_int_equal(pthread_create(&make_thread, NULL, maker, &ring_size), 0);
	assert_int_equal(pthread_create(&scribble_thread, NULL, scribbler, NULL), 0);
	watch(seconds);
	before = host_ms();
	assert_int_equal(trace_detach(t), 0);
	before = host_ms() - before;
	printf("# detach: %" PRId64 " ms\n", before);
	assert_in_range(before, 0, DETACH_MS);
	assert_in_range(lines, 0, LINES_PER_S * (uint64_t)(seconds + 1));
	stop = true;
	pthread_join(make_thread, NULL);
	pthread_join(scribble_thread, NULL);
	assert_int_equal(fake.paused, 0);
	assert_int_equal(tramp_target(FN_ALPHA), 0);
	trace_free(t);
	free(fake.ram);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_lives_through_a_guest_that_scribbles),
	};

	return cmocka_run_group_tests_name("staging-scribble", tests, NULL, NULL);
}
