// SPDX-License-Identifier: GPL-2.0-or-later
/* test-critical.c - which record of an end belongs to which of a beginning. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tracer/payload/critical.h"

static struct payload_record record(unsigned int type, uint32_t seq, uint64_t tsc)
{
	return (struct payload_record){
		.tsc = tsc,
		.ip = 0x81000000 + seq,
		.state = (uint32_t)type << STATE_TYPE_SHIFT,
		.seq = seq,
	};
}

/* Ticks of the window that ends with this; 0: none does. */
static uint64_t step(struct critical *c, unsigned int type, uint32_t seq, uint64_t tsc)
{
	const struct payload_record r = record(type, seq, tsc);
	struct critical_window w;

	if (!critical_step(c, &r, &w))
		return 0;
	assert_int_equal(w.off.seq + 1, w.on.seq);
	assert_int_equal(w.on.seq, seq);
	return critical_ticks(&w);
}

static void a_window_is_two_records(void **state)
{
	struct critical c = {.open = false};

	(void)state;
	assert_int_equal(step(&c, PAYLOAD_IRQS_OFF, 7, 1000), 0);
	assert_int_equal(step(&c, PAYLOAD_IRQS_ON, 8, 1500), 500);
	assert_int_equal(step(&c, PAYLOAD_IRQS_ON, 9, 1600), 0);
	assert_int_equal(step(&c, PAYLOAD_PREEMPT_OFF, UINT32_MAX, 2000), 0);
	assert_int_equal(step(&c, PAYLOAD_PREEMPT_ON, 0, 2100), 100);
}

/* What begins with one kind may end with the other. */
static void kinds_mix(void **state)
{
	struct critical c = {.open = false};

	(void)state;
	assert_int_equal(step(&c, PAYLOAD_IRQS_OFF, 1, 1000), 0);
	assert_int_equal(step(&c, PAYLOAD_PREEMPT_ON, 2, 1100), 100);
	assert_int_equal(step(&c, PAYLOAD_PREEMPT_OFF, 3, 1000), 0);
	assert_int_equal(step(&c, PAYLOAD_IRQS_ON, 4, 1300), 300);
}

static void other_records_do_not_count(void **state)
{
	struct critical c = {.open = false};

	(void)state;
	assert_int_equal(step(&c, PAYLOAD_IRQS_OFF, 1, 1000), 0);
	assert_int_equal(step(&c, PAYLOAD_FUNCTION, 3, 1050), 0);
	assert_int_equal(step(&c, PAYLOAD_IRQS_ON, 2, 1100), 100);
}

static void no_end_without_its_beginning(void **state)
{
	struct critical c = {.open = false};

	(void)state;
	assert_int_equal(step(&c, PAYLOAD_IRQS_ON, 1, 1000), 0);
	assert_int_equal(step(&c, PAYLOAD_IRQS_OFF, 2, 1000), 0);
	critical_lost(&c);
	assert_int_equal(step(&c, PAYLOAD_IRQS_ON, 3, 1100), 0);
	/* The end of the one and the beginning of the other have been lost. */
	assert_int_equal(step(&c, PAYLOAD_IRQS_OFF, 10, 1000), 0);
	assert_int_equal(step(&c, PAYLOAD_IRQS_ON, 13, 1100), 0);
	assert_int_equal(step(&c, PAYLOAD_IRQS_OFF, 14, 2000), 0);
	assert_int_equal(step(&c, PAYLOAD_IRQS_OFF, 16, 3000), 0);
	assert_int_equal(step(&c, PAYLOAD_IRQS_ON, 17, 3001), 1);
}

static void no_window_ends_before_it_begins(void **state)
{
	struct critical c = {.open = false};
	const struct payload_record off = record(PAYLOAD_IRQS_OFF, 1, UINT64_MAX);
	const struct payload_record on = record(PAYLOAD_IRQS_ON, 2, 5);
	struct critical_window w;

	(void)state;
	assert_false(critical_step(&c, &off, &w));
	assert_true(critical_step(&c, &on, &w));
	assert_int_equal(critical_ticks(&w), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_window_is_two_records),
		cmocka_unit_test(kinds_mix),
		cmocka_unit_test(other_records_do_not_count),
		cmocka_unit_test(no_end_without_its_beginning),
		cmocka_unit_test(no_window_ends_before_it_begins),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
