// SPDX-License-Identifier: GPL-2.0-or-later
/* test-dat-shift.c - TIME_SHIFT: times become the host's as libtracecmd 3.1 has it, or are refused.
 */
#include "tests/unit/made-dat.h"

enum { VCPUS = 2, SAMPLES = 4 };

struct sample {
	uint64_t time;
	int64_t offset;
	uint64_t scaling, fraction;
};

struct vcpu_samples {
	uint32_t nr;
	struct sample sample[SAMPLES];
};

struct shift {
	uint32_t flags, nr;
	struct vcpu_samples vcpu[VCPUS];
	bool fractions;
};

static void add_column(struct made_dat *m, const struct vcpu_samples *v, size_t field)
{
	for (uint32_t i = 0; i < v->nr; i++)
		made_add(m, (const uint8_t *)&v->sample[i] + field * sizeof(uint64_t),
			 sizeof(uint64_t));
}

static struct made_dat option_of(const struct shift *s)
{
	const uint64_t peer = 42;
	struct made_dat m = {0};

	made_add(&m, &peer, sizeof(peer));
	made_add(&m, &s->flags, sizeof(s->flags));
	made_add(&m, &s->nr, sizeof(s->nr));
	for (uint32_t i = 0; i < s->nr; i++) {
		made_add(&m, &s->vcpu[i].nr, sizeof(s->vcpu[i].nr));
		for (size_t field = 0; field < 3; field++)
			add_column(&m, &s->vcpu[i], field);
	}
	for (uint32_t i = 0; s->fractions && i < s->nr; i++)
		add_column(&m, &s->vcpu[i], 3);
	return m;
}

/* A file that has the first len bytes of it. */
static struct dat *open_with(const struct made_dat *m, size_t len, char *err, size_t errlen)
{
	const struct made_option options[] = {{DAT_OPTION_TIME_SHIFT, m->bytes, len}, {0, NULL, 0}};
	static const struct made_vcpu none = {0, "", 0};
	const struct made_buffer buffers[] = {{"", "x86-tsc", &none, 1}, {NULL, NULL, NULL, 0}};
	const struct made_dat_spec spec = {
		.version = 7, .options = options, .buffers = buffers, .cpus = 1};
	struct made_dat file = made_dat(&spec);
	int fd = made_file(&file, file.len);

	free(file.bytes);
	return dat_open_fd(fd, "made", err, errlen);
}

static struct dat *open_shift(const struct shift *s)
{
	struct made_dat m = option_of(s);
	char err[256];
	struct dat *d = open_with(&m, m.len, err, sizeof(err));

	free(m.bytes);
	if (!d)
		fail_msg("%s", err);
	assert_non_null(dat_info(d)->shift);
	return d;
}

static void check(const struct shift *s, const uint64_t (*times)[2], size_t nr)
{
	struct dat *d = open_shift(s);

	for (size_t i = 0; i < nr; i++)
		assert_int_equal(dat_time(dat_info(d), 0, times[i][0]), times[i][1]);
	dat_close(d);
}

#define CHECK(s, ...)                                                                              \
	do {                                                                                       \
		const uint64_t times[][2] = {__VA_ARGS__};                                         \
		check(s, times, sizeof(times) / sizeof(*times));                                   \
	} while (0)

static void test_one(void **state)
{
	const struct shift s = {.nr = 1, .vcpu = {{1, {{5000, -1000, 7, 3}}}}, .fractions = true};
	struct dat *d = open_shift(&s);

	(void)state;
	/* Of its scaling nothing. */
	CHECK(&s, {1000, 0}, {9000, 8000});
	/* A vCPU that it says nothing of. */
	assert_int_equal(dat_time(dat_info(d), 1, 1000), 1000);
	assert_int_equal(dat_time(dat_info(d), 4000000000, 1000), 1000);
	dat_close(d);
}

static void test_scaled(void **state)
{
	const struct shift s = {
		.nr = 1,
		.vcpu = {{2, {{0, 100, 3, 1}, {1, 9999, 5, 1}}}},
		.fractions = true,
	};
	struct shift large = s, none = s;

	(void)state;
	CHECK(&s, {1000, 1600}, {0, 100});
	/* More than 64 bits on the way. */
	large.vcpu[0].sample[0] = (struct sample){0, 0, UINT64_C(1) << 40, 40};
	CHECK(&large, {UINT64_C(1) << 50, UINT64_C(1) << 50});
	none.fractions = false;
	CHECK(&none, {1000, 3100});
	large.vcpu[0].sample[0].fraction = UINT64_MAX;
	CHECK(&large, {1000, 0});
}

static void test_segments(void **state)
{
	/* Not in their order, and two of the same time. */
	const struct shift s = {
		.nr = 1,
		.vcpu = {{4,
			  {{3000, 30, 1, 0},
			   {1000, 10, 1, 0},
			   {2000, 20, 1, 0},
			   {2000, 20, 1, 0}}}},
	};
	struct shift line = s;

	(void)state;
	CHECK(&s, {500, 510}, {1000, 1010}, {1999, 2009}, {2000, 2020}, {2999, 3019}, {9000, 9020});
	line.flags = 1;
	CHECK(&line, {1000, 1010}, {1500, 1515}, {2500, 2525}, {4000, 4040}, {0, 1});
}

/* Numbers that fit into nothing are no reason to end. */
static void test_extremes(void **state)
{
	const struct shift s = {
		.flags = 1,
		.nr = 1,
		.vcpu = {{2, {{0, INT64_MIN, UINT64_MAX, 0}, {UINT64_MAX, INT64_MAX, 1, 0}}}},
	};
	struct dat *d = open_shift(&s);
	const struct shift none = {.nr = 0};
	const struct shift empty = {.nr = 2, .vcpu = {{0, {{0}}}, {0, {{0}}}}};

	(void)state;
	for (unsigned int bit = 0; bit < 64; bit++)
		dat_time(dat_info(d), 0, UINT64_MAX >> bit);
	dat_close(d);
	CHECK(&none, {1000, 1000});
	CHECK(&empty, {1000, 1000});
}

static void test_too_short(void **state)
{
	const struct shift s = {
		.nr = 2,
		.vcpu = {{2, {{1, 2, 1, 0}, {3, 4, 1, 0}}}, {1, {{5, 6, 1, 0}}}},
		.fractions = true,
	};
	struct made_dat m = option_of(&s);
	const size_t whole = m.len, fractions = 3 * sizeof(uint64_t);
	const uint32_t many = UINT32_MAX;

	(void)state;
	for (size_t len = 0; len <= whole; len++) {
		char err[256] = "";
		struct dat *d = open_with(&m, len, err, sizeof(err));

		/* What has no place for its head is none; fractions may be missing altogether. */
		assert_int_equal(d != NULL, len < 16 || len == whole || len == whole - fractions);
		assert_true(d || strstr(err, "TIME_SHIFT is too short"));
		dat_close(d);
	}
	for (size_t at = 12; at <= 16; at += 4) {
		struct made_dat more = option_of(&s);
		char err[256] = "";

		memcpy(more.bytes + at, &many, sizeof(many));
		assert_null(open_with(&more, more.len, err, sizeof(err)));
		free(more.bytes);
	}
	free(m.bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one),	  cmocka_unit_test(test_scaled),
		cmocka_unit_test(test_segments),  cmocka_unit_test(test_extremes),
		cmocka_unit_test(test_too_short),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
