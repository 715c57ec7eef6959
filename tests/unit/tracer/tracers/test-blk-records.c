// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test-blk-records.c - what blktrace would say of what the events block:* record, whose formats are
 * a 6.1 kernel's.
 */
#include "tests/unit/event-formats.h"

#include <errno.h>

#include "tracer/events/events.h"
#include "tracer/tracers/blk-records.h"

struct fixture {
	struct formats *formats;
	uint32_t events[NR_BLK_RECORD_EVENTS];
	struct blk_records records;
	uint8_t bytes[256]; /* a record */
};

static uint32_t index_of(const struct formats *fs, const char *name)
{
	return (uint32_t)(formats_find(fs, name) - fs->event);
}

static int set_up(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	assert_non_null(f);
	f->formats = formats_load("formats-all.txt.gz");
	for (unsigned int k = 0; blk_record_events[k]; k++)
		f->events[k] = index_of(f->formats, strchr(blk_record_events[k], ':') + 1);
	assert_int_equal(blk_records_init(&f->records, &f->formats->list, f->events, false), 0);
	*state = f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	blk_records_exit(&f->records);
	formats_free(f->formats);
	free(f);
	return 0;
}

static void begin(struct fixture *f, int32_t pid)
{
	struct trace_entry ent = {.pid = pid};

	memset(f->bytes, 0, sizeof(f->bytes));
	memcpy(f->bytes, &ent, sizeof(ent));
}

static void put(struct fixture *f, enum blk_record_event which, const char *name, uint64_t value)
{
	const struct guestsym_event *ev = &f->formats->event[f->events[which]];

	for (size_t k = 0; k < ev->nr_fields; k++) {
		if (strcmp(ev->fields[k].name, name) != 0)
			continue;
		memcpy(f->bytes + ev->fields[k].offset, &value, ev->fields[k].size);
		return;
	}
	fail_msg("%s has no %s", ev->name, name);
}

static void put_rwbs(struct fixture *f, enum blk_record_event which, const char *rwbs)
{
	uint64_t value = 0;

	memcpy(&value, rwbs, strlen(rwbs));
	put(f, which, "rwbs", value);
}

static bool look(struct fixture *f, enum blk_record_event which, size_t len, struct blk_record *r)
{
	const struct event_data data = {.record = f->bytes, .len = len};

	return blk_records_read(&f->records, which, &data, r);
}

/* One of 4 KiB at sector 80 of 254,0, but for what rwbs says. */
static struct blk_record of(struct fixture *f, enum blk_record_event which, const char *rwbs)
{
	struct blk_record r;

	begin(f, 55);
	put(f, which, "dev", 254U << 20);
	put(f, which, "sector", 80);
	if (which != BLK_SPLIT)
		put(f, which, "nr_sector", 8);
	if (which <= BLK_RQ_MERGE)
		put(f, which, "bytes", 4096);
	put_rwbs(f, which, rwbs);
	assert_true(look(f, which, sizeof(f->bytes), &r));
	assert_int_equal(r.device, 254U << 20);
	assert_int_equal(r.sector, 80);
	return r;
}

static uint32_t act(uint32_t category)
{
	return BLK_TC_ACT(category);
}

static void actions_are_blktraces(void **state)
{
	static const struct {
		enum blk_record_event which;
		uint32_t action;
	} rows[] = {
		{BLK_RQ_INSERT, BLK_TA_INSERT},
		{BLK_RQ_ISSUE, BLK_TA_ISSUE},
		{BLK_RQ_MERGE, BLK_TA_BACKMERGE},
		{BLK_RQ_REQUEUE, BLK_TA_REQUEUE},
		{BLK_RQ_COMPLETE, BLK_TA_COMPLETE},
		{BLK_BIO_BOUNCE, BLK_TA_BOUNCE},
		{BLK_BIO_COMPLETE, BLK_TA_COMPLETE},
		{BLK_BIO_BACKMERGE, BLK_TA_BACKMERGE},
		{BLK_BIO_FRONTMERGE, BLK_TA_FRONTMERGE},
		{BLK_BIO_QUEUE, BLK_TA_QUEUE},
		{BLK_GETRQ, BLK_TA_GETRQ},
		{BLK_SPLIT, BLK_TA_SPLIT},
		{BLK_BIO_REMAP, BLK_TA_REMAP},
		{BLK_RQ_REMAP, BLK_TA_REMAP},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct blk_record r = of(*state, rows[i].which, "R");
		uint32_t fs = rows[i].which <= BLK_RQ_COMPLETE ? act(BLK_TC_FS) : 0;

		assert_int_equal(r.action, rows[i].action | act(BLK_TC_READ) | fs);
		if (rows[i].which != BLK_SPLIT)
			assert_int_equal(r.bytes, 4096);
	}
}

static void letters_are_categories(void **state)
{
	static const struct {
		const char *rwbs;
		uint32_t kind;
	} rows[] = {
		{"R", BLK_TC_READ},
		{"RA", BLK_TC_READ | BLK_TC_AHEAD},
		{"WS", BLK_TC_WRITE | BLK_TC_SYNC},
		{"WSM", BLK_TC_WRITE | BLK_TC_SYNC | BLK_TC_META},
		{"WFS", BLK_TC_WRITE | (uint32_t)BLK_TC_FUA | BLK_TC_SYNC},
		{"FWFSM",
		 BLK_TC_FLUSH | BLK_TC_WRITE | (uint32_t)BLK_TC_FUA | BLK_TC_SYNC | BLK_TC_META},
		{"D", BLK_TC_WRITE | BLK_TC_DISCARD},
		{"DES", BLK_TC_WRITE | BLK_TC_DISCARD | BLK_TC_SYNC},
		{"FF", BLK_TC_FLUSH | BLK_TC_READ}, /* of a flush, as the kernel makes it */
		{"F", BLK_TC_FLUSH | BLK_TC_READ},
		{"FS", BLK_TC_FLUSH | BLK_TC_READ | BLK_TC_SYNC},
		{"N", BLK_TC_WRITE}, /* of zeros */
		{"", BLK_TC_READ | BLK_TC_FLUSH},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_int_equal(of(*state, BLK_BIO_QUEUE, rows[i].rwbs).action,
				 BLK_TA_QUEUE | act(rows[i].kind));
}

/* All ones stand for no place, of commands to the device and of flushes. */
static void commands_have_no_place(void **state)
{
	struct fixture *f = *state;
	struct blk_record r;

	begin(f, 55);
	put(f, BLK_RQ_ISSUE, "bytes", 96);
	put_rwbs(f, BLK_RQ_ISSUE, "N");
	assert_true(look(f, BLK_RQ_ISSUE, sizeof(f->bytes), &r));
	assert_int_equal(r.action, BLK_TA_ISSUE | act(BLK_TC_READ | BLK_TC_PC));
	assert_int_equal(r.bytes, 96);
	begin(f, 55);
	put(f, BLK_RQ_COMPLETE, "sector", UINT64_MAX);
	put_rwbs(f, BLK_RQ_COMPLETE, "N");
	assert_true(look(f, BLK_RQ_COMPLETE, sizeof(f->bytes), &r));
	assert_int_equal(r.action, BLK_TA_COMPLETE | act(BLK_TC_READ | BLK_TC_PC));
	assert_int_equal(r.sector, 0);
	put_rwbs(f, BLK_RQ_COMPLETE, "FF");
	assert_true(look(f, BLK_RQ_COMPLETE, sizeof(f->bytes), &r));
	assert_int_equal(r.action, BLK_TA_COMPLETE | act(BLK_TC_READ | BLK_TC_FLUSH | BLK_TC_FS));
	assert_int_equal(r.sector, 0);
}

static void the_task_has_a_name(void **state)
{
	struct fixture *f = *state;
	struct blk_record r = of(f, BLK_BIO_QUEUE, "R");

	assert_string_equal(r.comm, "");
	memset(f->bytes + 36, 'x', COMM_LEN); /* behind rwbs; it need not be terminated */
	assert_true(look(f, BLK_BIO_QUEUE, sizeof(f->bytes), &r));
	assert_string_equal(r.comm, "xxxxxxxxxxxxxxx");
	assert_string_equal(of(f, BLK_RQ_COMPLETE, "R").comm, "");
}

static void errors_are_told(void **state)
{
	struct fixture *f = *state;
	struct blk_record r;

	of(f, BLK_RQ_COMPLETE, "R");
	put(f, BLK_RQ_COMPLETE, "error", (uint32_t)-EIO);
	assert_true(look(f, BLK_RQ_COMPLETE, sizeof(f->bytes), &r));
	assert_int_equal(r.error, 65536 - EIO);
}

static void what_follows_is_big_endian(void **state)
{
	struct fixture *f = *state;
	struct blk_record r;

	of(f, BLK_SPLIT, "W");
	put(f, BLK_SPLIT, "new_sector", 0x1234);
	assert_true(look(f, BLK_SPLIT, sizeof(f->bytes), &r));
	assert_int_equal(r.pdu_len, 8);
	assert_int_equal(r.pdu.number, __builtin_bswap64(0x1234));
	of(f, BLK_BIO_REMAP, "W");
	put(f, BLK_BIO_REMAP, "old_dev", 8U << 20 | 1);
	put(f, BLK_BIO_REMAP, "old_sector", 16);
	assert_true(look(f, BLK_BIO_REMAP, sizeof(f->bytes), &r));
	assert_int_equal(r.pdu_len, sizeof(r.pdu.remap));
	assert_int_equal(r.pdu.remap.device_from, __builtin_bswap32(8U << 20 | 1));
	assert_int_equal(r.pdu.remap.device_to, __builtin_bswap32(254U << 20));
	assert_int_equal(r.pdu.remap.sector_from, __builtin_bswap64(16));
}

/* --- plugs ----------------------------------------------------------------------------------- */

static bool plug(struct fixture *f, enum blk_record_event which, int32_t pid, struct blk_record *r)
{
	begin(f, pid);
	if (which == BLK_UNPLUG)
		put(f, which, "nr_rq", 3);
	return look(f, which, sizeof(f->bytes), r);
}

static void got_request(struct fixture *f, int32_t pid, uint32_t device)
{
	struct blk_record r;

	begin(f, pid);
	put(f, BLK_GETRQ, "dev", device);
	put_rwbs(f, BLK_GETRQ, "R");
	assert_true(look(f, BLK_GETRQ, sizeof(f->bytes), &r));
}

static void plugs_are_of_where_the_task_is(void **state)
{
	struct fixture *f = *state;
	struct blk_record r;

	assert_false(plug(f, BLK_PLUG, 7, &r));
	got_request(f, 7, 8U << 20);
	got_request(f, 9, 9U << 20);
	assert_true(plug(f, BLK_PLUG, 7, &r));
	assert_int_equal(r.device, 8U << 20);
	assert_int_equal(r.action, BLK_TA_PLUG | act(BLK_TC_READ));
	assert_int_equal(r.pdu_len, 0);
	assert_true(plug(f, BLK_UNPLUG, 9, &r));
	assert_int_equal(r.device, 9U << 20);
	assert_int_equal(r.action, BLK_TA_UNPLUG_IO | act(BLK_TC_READ));
	assert_int_equal(r.pdu.number, __builtin_bswap64(3));
	blk_record_by_scheduler(&r);
	assert_int_equal(r.action, BLK_TA_UNPLUG_TIMER | act(BLK_TC_READ));
	blk_records_forget(&f->records);
	assert_false(plug(f, BLK_UNPLUG, 9, &r));
}

/* However many tasks there have been, the latest ones are known, by any pid. */
static void as_many_tasks_as_there_are(void **state)
{
	struct fixture *f = *state;
	struct blk_record r;

	for (int32_t pid = 0; pid < 100000; pid++)
		got_request(f, pid, (uint32_t)pid);
	for (int32_t pid = 100000 - 4096; pid < 100000; pid++) {
		assert_true(plug(f, BLK_PLUG, pid, &r));
		assert_int_equal(r.device, pid);
	}
	assert_false(plug(f, BLK_PLUG, 100000 - 4097, &r));
	got_request(f, -1, 5);
	assert_true(plug(f, BLK_PLUG, -1, &r));
	assert_int_equal(r.device, 5);
}

/* --- what makes no sense --------------------------------------------------------------------- */

static void short_records_are_none(void **state)
{
	struct fixture *f = *state;
	struct blk_record r;

	of(f, BLK_BIO_QUEUE, "R");
	for (size_t len = 0; len < 28; len++) /* rwbs is from byte 28 on */
		assert_false(look(f, BLK_BIO_QUEUE, len, &r));
	for (size_t len = 0; len < sizeof(struct trace_entry); len++)
		assert_false(look(f, BLK_PLUG, len, &r));
}

static void fields_must_be_there(void **state)
{
	struct fixture *f = *state;
	struct guestsym_event *ev = &f->formats->event[f->events[BLK_UNPLUG]];
	struct blk_records other;

	ev->nr_fields = 0;
	assert_int_equal(blk_records_init(&other, &f->formats->list, f->events, false),
			 -EOPNOTSUPP);
	f->events[BLK_UNPLUG] = EVENT_NONE;
	assert_int_equal(blk_records_init(&other, &f->formats->list, f->events, false), 0);
	blk_records_exit(&other);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(actions_are_blktraces),
		TEST(letters_are_categories),
		TEST(commands_have_no_place),
		TEST(the_task_has_a_name),
		TEST(errors_are_told),
		TEST(what_follows_is_big_endian),
		TEST(plugs_are_of_where_the_task_is),
		TEST(as_many_tasks_as_there_are),
		TEST(short_records_are_none),
		TEST(fields_must_be_there),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
