// SPDX-License-Identifier: GPL-2.0-or-later
/* test-blk-select.c - which requests the tracer blk records, and the files that say so. */
#include "tests/unit/tracefs-world.h"

#include <errno.h>

#include "tracer/tracers/blk-select.h"

#define DEV(major, minor) ((major) << DISK_MINOR_BITS | (minor))

/* As act_log_check() has it. */
static void kinds_places_and_tasks_select(void **state)
{
	struct blk_select *s = blk_select_new();
	struct blk_record r = {.action = BLK_TA_QUEUE | BLK_TC_ACT(BLK_TC_READ), .sector = 80};

	(void)state;
	assert_non_null(s);
	assert_true(blk_selected(s, &r, 7));
	s->limit[BLK_ACT_MASK] = BLK_TC_COMPLETE | BLK_TC_WRITE;
	assert_false(blk_selected(s, &r, 7));
	s->limit[BLK_ACT_MASK] = BLK_TC_COMPLETE | BLK_TC_READ;
	assert_true(blk_selected(s, &r, 7));
	s->limit[BLK_START_LBA] = 81;
	assert_false(blk_selected(s, &r, 7));
	s->limit[BLK_START_LBA] = 80;
	s->limit[BLK_END_LBA] = 80;
	assert_true(blk_selected(s, &r, 7));
	s->limit[BLK_START_LBA] = 0;
	s->limit[BLK_END_LBA] = 79;
	assert_false(blk_selected(s, &r, 7));
	r.sector = 0; /* what has no place is anywhere */
	assert_true(blk_selected(s, &r, 7));
	s->limit[BLK_PID] = 8;
	assert_false(blk_selected(s, &r, 7));
	assert_true(blk_selected(s, &r, 8));
	blk_select_free(s);
}

static void the_highest_kind_selects(void **state)
{
	struct blk_select *s = blk_select_new();
	struct blk_record r = {.action = BLK_TA_QUEUE | BLK_TC_ACT((uint32_t)BLK_TC_FUA)};

	(void)state;
	assert_non_null(s);
	s->limit[BLK_ACT_MASK] = BLK_TC_FUA;
	assert_true(blk_selected(s, &r, 7));
	s->limit[BLK_ACT_MASK] = 0;
	assert_false(blk_selected(s, &r, 7));
	blk_select_free(s);
}

static void devices_select(void **state)
{
	struct blk_select *s = blk_select_new();
	struct blk_record r = {.action = BLK_TA_QUEUE, .device = DEV(8U, 16U)};

	(void)state;
	assert_non_null(s);
	s->n = 1;
	s->v[0].device = DEV(8U, 0U);
	assert_false(blk_selected(s, &r, 7));
	s->n = 2;
	s->v[1].device = DEV(8U, 16U);
	assert_true(blk_selected(s, &r, 7));
	blk_select_free(s);
}

/* --- the files ------------------------------------------------------------------------------- */

#define ALL                                                                                        \
	"read,write,flush,sync,queue,requeue,issue,complete,fs,pc,notify,ahead,meta,discard,drv_data,fua\n"

static void kinds_are_written_as_in_sysfs(void **state)
{
	struct world *w = *state;
	const char *path = "hvtrace/blk/act_mask";

	expect(w, path, ALL);
	assert_int_equal(put(w, path, 0, " issue,,Complete\n"), 17);
	expect(w, path, "issue,complete\n");
	assert_int_equal(put(w, path, 0, "issue,nosuch"), -EINVAL);
	assert_int_equal(put(w, path, 0, "-1"), -EINVAL);
	expect(w, path, "issue,complete\n");
	assert_int_equal(put(w, path, 0, "0x8001"), 6);
	expect(w, path, "read,fua\n");
	assert_int_equal(put(w, path, 0, "65535\n"), 6);
	expect(w, path, ALL);
	assert_int_equal(put(w, path, 0, "\n"), 1);
	expect(w, path, "\n");
}

static void numbers_are_limits(void **state)
{
	struct world *w = *state;

	expect(w, "hvtrace/blk/pid", "0\n");
	expect(w, "hvtrace/blk/start_lba", "0\n");
	expect(w, "hvtrace/blk/end_lba", "18446744073709551615\n");
	assert_int_equal(put(w, "hvtrace/blk/end_lba", 0, "2048"), 4);
	expect(w, "hvtrace/blk/end_lba", "2048\n");
	expect(w, "hvtrace/blk/start_lba", "0\n");
	assert_int_equal(put(w, "hvtrace/blk/pid", 0, "2147483648"), -EINVAL);
	assert_int_equal(put(w, "hvtrace/blk/pid", 0, "7"), 1);
	expect(w, "hvtrace/blk/pid", "7\n");
}

/* This guest does not tell which it has: by their numbers all may be there. */
static void devices_are_named_or_numbered(void **state)
{
	struct world *w = *state;
	const char *path = "hvtrace/blk/devices";

	expect(w, path, "all\n");
	assert_int_equal(put(w, path, 0, "vda\n"), -ENODEV);
	assert_int_equal(put(w, path, 0, "254,0 8,16\n"), 11);
	expect(w, path, "254,0 8,16\n");
	assert_int_equal(put(w, path, 0, "254,x"), -ENODEV);
	assert_int_equal(put(w, path, 0, "254,0,1"), -ENODEV);
	assert_int_equal(put(w, path, 0, "4096,0"), -ENODEV);
	assert_int_equal(put(w, path, 0, "1,1048576"), -ENODEV);
	expect(w, path, "254,0 8,16\n");
	assert_int_equal(put(w, path, 0, "4095,1048575"), 12);
	expect(w, path, "4095,1048575\n");
	assert_int_equal(put(w, path, 0, "all\n"), 4);
	expect(w, path, "all\n");
}

static void there_is_room_for_so_many(void **state)
{
	struct world *w = *state;
	char text[8 * (BLK_DEVICES_MAX + 1) + 1] = "";

	for (unsigned int n = 0; n < BLK_DEVICES_MAX; n++)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "8,%u ", n);
	assert_int_equal(put(w, "hvtrace/blk/devices", 0, text), strlen(text));
	strcat(text, "8,999");
	assert_int_equal(put(w, "hvtrace/blk/devices", 0, text), -E2BIG);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(kinds_places_and_tasks_select),
		cmocka_unit_test(the_highest_kind_selects),
		cmocka_unit_test(devices_select),
		TEST(kinds_are_written_as_in_sysfs),
		TEST(numbers_are_limits),
		TEST(devices_are_named_or_numbered),
		TEST(there_is_room_for_so_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
