// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test-blk.c - what the tracer blk makes of records, which are the test's, and how often it looks
 * at the guest's list of block devices, which is the test's, too.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/unit/tramp-guest.h"
#include "tracer/core/lock.h"
#include "tracer/instance/instance.h"
#include "tracer/instance/view.h"
#include "tracer/tracers/blk-select.h"
#include "tracer/tracers/tracers.h"

#define DEV(major, minor) ((major) << DISK_MINOR_BITS | (minor))

enum { PID = 7, MANY = 1000 };

static struct trace *t;
static struct instance *top;
static const struct tracer_ops *tracer_before;
static struct blk_record now; /* what the event that is collected says */
static struct disk list[4];   /* the guest's */
static size_t nr_list;
static int list_error;
static unsigned int readings;
static struct event_stack stack;

/* --- in place of others (tests/build.mk) ----------------------------------------------------- */

int __wrap_blk_records_init(struct blk_records *b, const struct guestsym_event_list *events,
			    const uint32_t *which, bool first);
void __wrap_blk_records_exit(struct blk_records *b);
void __wrap_blk_records_forget(struct blk_records *b);
bool __wrap_blk_records_read(struct blk_records *b, enum blk_record_event which,
			     const struct event_data *data, struct blk_record *to);
int __wrap_disks_read(struct guest_kernel *g, const struct guestsym *gs, struct disks *to);

int __wrap_blk_records_init(struct blk_records *b, const struct guestsym_event_list *events,
			    const uint32_t *which, bool first)
{
	(void)b, (void)events, (void)which, (void)first;
	return 0;
}

void __wrap_blk_records_exit(struct blk_records *b)
{
	(void)b;
}

void __wrap_blk_records_forget(struct blk_records *b)
{
	(void)b;
}

bool __wrap_blk_records_read(struct blk_records *b, enum blk_record_event which,
			     const struct event_data *data, struct blk_record *to)
{
	(void)b, (void)which, (void)data;
	*to = now;
	return true;
}

int __wrap_disks_read(struct guest_kernel *g, const struct guestsym *gs, struct disks *to)
{
	(void)g, (void)gs;
	readings++;
	if (list_error)
		return list_error;
	to->n = nr_list;
	to->v = calloc(nr_list + 1, sizeof(*to->v));
	assert_non_null(to->v);
	memcpy(to->v, list, nr_list * sizeof(*to->v));
	return 0;
}

/* --- what the guest does --------------------------------------------------------------------- */

static void happens(enum blk_record_event which, uint32_t action, uint32_t device)
{
	const struct trace_entry e = {.pid = PID};
	struct event_view v;

	now = (struct blk_record){.action = action, .device = device, .comm = "seven"};
	event_view_init(&v, top, 0, &e, sizeof(e), 1000, stack.n ? &stack : NULL);
	blk_tracer_ops.event(top, which, &v);
}

/* What is in the ring of vCPU 0; how many. */
static unsigned int entries(struct trace_blk_entry *to, unsigned int max)
{
	struct ring_cursor *c = ring_look(top->ring[0]);
	struct ring_event ev;
	unsigned int n = 0;

	assert_non_null(c);
	while (n < max && ring_next(c, &ev)) {
		assert_true(ev.len >= sizeof(*to));
		memcpy(&to[n++], ev.data, sizeof(*to));
	}
	ring_cursor_free(c);
	return n;
}

static void has(uint32_t device)
{
	struct trace_blk_entry e[2 * MANY];
	unsigned int n = entries(e, 2 * MANY);

	assert_true(n > 0);
	assert_int_equal(e[n - 1].device, device);
}

/* Who unplugs: __blk_flush_plug(), below one of the others. */
static const char *const plugged[] = {"__blk_flush_plug", "blk_finish_plug", "io_schedule_prepare",
				      "schedule"};
#define PLUGGED(i) FAKE_VA(0x30000 + (i)*0x1000)

static int set_up(void **state)
{
	(void)state;
	tramp_kernel_make();
	for (size_t i = 0; i < sizeof(plugged) / sizeof(plugged[0]); i++)
		fake_symbol(plugged[i], PLUGGED(i), 'T');
	t = tramp_started((struct trace_config){0});
	top = t->instances;
	tracer_before = top->tracer;
	list[0] = (struct disk){DEV(254U, 0U), DEV(254U, 0U), "vda"};
	list[1] = (struct disk){DEV(259U, 1U), DEV(254U, 0U), "vda"};
	nr_list = 2;
	list_error = 0;
	readings = 0;
	stack.n = 0;
	assert_int_equal(blk_tracer_ops.init(top, &top->tracer_data, NULL), 0);
	trace_writers_stop(t); /* the collector is this test */
	top->tracer = &blk_tracer_ops;
	blk_tracer_ops.start(top);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	blk_tracer_ops.exit(top->tracer_data);
	top->tracer = tracer_before;
	top->tracer_data = NULL;
	trace_writers_go(t);
	tramp_end(t);
	free(fake.ram);
	return 0;
}

/* --- tests ----------------------------------------------------------------------------------- */

static void an_entry_is_the_kernels(void **state)
{
	struct trace_blk_entry e;
	char comm[COMM_LEN];

	(void)state;
	happens(BLK_BIO_QUEUE, BLK_TA_QUEUE, DEV(254U, 0U));
	assert_int_equal(entries(&e, 1), 1);
	assert_int_equal(e.ent.type, TRACE_BLK);
	assert_int_equal(e.ent.flags, TRACE_FLAG_IRQS_OFF); /* as tracing_gen_ctx_flags(0) has it */
	assert_int_equal(e.ent.pid, PID);
	assert_int_equal(e.pid, PID);
	assert_int_equal(e.action, BLK_TA_QUEUE);
	comms_find(t->comms, PID, comm);
	assert_string_equal(comm, "seven");
}

static void a_partition_is_its_disk(void **state)
{
	(void)state;
	happens(BLK_BIO_QUEUE, BLK_TA_QUEUE, DEV(259U, 1U));
	has(DEV(254U, 0U));
	happens(BLK_BIO_QUEUE, BLK_TA_QUEUE, DEV(254U, 0U));
	has(DEV(254U, 0U));
	assert_int_equal(readings, 1);
}

static void a_device_that_comes_is_looked_for(void **state)
{
	(void)state;
	happens(BLK_BIO_QUEUE, BLK_TA_QUEUE, DEV(254U, 0U));
	list[nr_list++] = (struct disk){DEV(259U, 2U), DEV(254U, 0U), "vda"};
	happens(BLK_BIO_QUEUE, BLK_TA_QUEUE, DEV(259U, 2U));
	has(DEV(254U, 0U));
	assert_int_equal(readings, 2);
}

/* A guest may say any numbers, without end. */
static void what_is_unknown_is_looked_for_once(void **state)
{
	(void)state;
	for (unsigned int k = 0; k < 10; k++)
		happens(BLK_BIO_QUEUE, BLK_TA_QUEUE, DEV(7U, 7U));
	has(DEV(7U, 7U));
	assert_int_equal(readings, 1);
	for (unsigned int k = 0; k < MANY; k++)
		happens(BLK_BIO_QUEUE, BLK_TA_QUEUE, DEV(8U, k));
	assert_int_equal(readings, 64);
	blk_tracer_ops.start(top);
	happens(BLK_BIO_QUEUE, BLK_TA_QUEUE, DEV(259U, 1U));
	has(DEV(254U, 0U));
	assert_int_equal(readings, 65);
}

/* A kernel that boots has no list yet: that is no word about what is on it. */
static void a_list_that_is_not_there_is_asked_for_again(void **state)
{
	(void)state;
	list_error = -ENODATA;
	happens(BLK_BIO_QUEUE, BLK_TA_QUEUE, DEV(259U, 1U));
	has(DEV(259U, 1U));
	list_error = 0;
	happens(BLK_BIO_QUEUE, BLK_TA_QUEUE, DEV(259U, 1U));
	has(DEV(254U, 0U));
}

static void disks_are_selected_by_what_they_are(void **state)
{
	struct trace_blk_entry e[4];

	(void)state;
	t->blk->n = 1;
	t->blk->v[0].device = DEV(254U, 0U);
	happens(BLK_BIO_QUEUE, BLK_TA_QUEUE, DEV(43U, 0U));
	happens(BLK_BIO_QUEUE, BLK_TA_QUEUE, DEV(259U, 1U));
	assert_int_equal(entries(e, 4), 1);
	assert_int_equal(e[0].device, DEV(254U, 0U));
}

static uint32_t unplugged_below(size_t function)
{
	struct trace_blk_entry e[4] = {0};
	unsigned int n;

	/* The probe itself, and where two functions go on; the last instruction may be the call. */
	stack = (struct event_stack){.n = 3,
				     .ip = {0, PLUGGED(0) + 0x40, PLUGGED(function) + 0x100}};
	happens(BLK_UNPLUG, BLK_TA_UNPLUG_IO, DEV(254U, 0U));
	n = entries(e, 4);
	assert_in_range(n, 1, 4);
	return e[n - 1].action;
}

static void the_scheduler_is_seen(void **state)
{
	(void)state;
	assert_int_equal(unplugged_below(1), BLK_TA_UNPLUG_IO);
	assert_int_equal(unplugged_below(2), BLK_TA_UNPLUG_TIMER);
	assert_int_equal(unplugged_below(3), BLK_TA_UNPLUG_TIMER);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(an_entry_is_the_kernels),
		TEST(a_partition_is_its_disk),
		TEST(a_device_that_comes_is_looked_for),
		TEST(what_is_unknown_is_looked_for_once),
		TEST(a_list_that_is_not_there_is_asked_for_again),
		TEST(disks_are_selected_by_what_they_are),
		TEST(the_scheduler_is_seen),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
