// SPDX-License-Identifier: GPL-2.0-or-later
/* test-event-hist.c - histograms: limits, names, errors; totals against an offline count. */
#include "tests/unit/trigger-owner.h"

#include "tests/seed.h"

/* --- single cases ----------------------------------------------------------------------------- */

static const struct {
	const char *text;
	int ret;
	const char *what;
	unsigned int pos;
} errors[] = {
	{"hist", -EINVAL, NULL, 0},
	{"hist:", -EINVAL, NULL, 0},
	{"hist:vals=bytes_req", -EINVAL, NULL, 0},
	{"hist:keys=bytes_req:nosuch", -EINVAL, NULL, 0},
	{"hist:keys=", -EINVAL, "Empty assignment", 5},
	{"hist:keys=nosuch", -EINVAL, "Couldn't find field", 10},
	{"hist:keys=comm", -EINVAL, "Couldn't find field", 10},
	{"hist:keys=bytes_req.nosuch", -EINVAL, "Invalid field modifier", 20},
	{"hist:keys=bytes_req.execname", -EINVAL, "Invalid field modifier", 20},
	{"hist:keys=bytes_req.buckets", -EINVAL, "Invalid field modifier", 0},
	{"hist:keys=bytes_req.buckets=0", -EINVAL, "Invalid field modifier", 28},
	{"hist:keys=bytes_req.percent", -EINVAL, "Invalid field modifier", 20},
	{"hist:keys=ptr:vals=bytes_req.log2", -EINVAL, "Invalid field modifier", 19},
	{"hist:keys=ptr:vals=hitcount.percent", -EINVAL, "Couldn't find field", 19},
	{"hist:keys=ptr,node,gfp_flags,call_site", -EINVAL, NULL, 0},
	{"hist:keys=ptr:vals=node,node,node", -EINVAL, NULL, 0},
	{"hist:keys=ptr:size=64", -EINVAL, NULL, 0},
	{"hist:keys=ptr:size=131073", -EINVAL, NULL, 0},
	{"hist:keys=ptr:size=0", -EINVAL, NULL, 0},
	{"hist:keys=ptr:sort=node", -EINVAL, "Sort field must be a key or a val", 19},
	{"hist:keys=ptr:sort=ptr.up", -EINVAL, "Invalid sort modifier", 23},
	{"hist:keys=ptr:sort=ptr,", -EINVAL, "Empty sort field", 14},
	{"hist:keys=ptr:sort=ptr,ptr,ptr", -EINVAL, "Too many sort fields (Max = 2)", 14},
	{"hist:keys=ptr:cont", -ENOENT, "Can't clear or continue a nonexistent hist trigger", 0},
	{"hist:keys=common_timestamp:clock=nosuch", -EINVAL, "Couldn't set trace_clock", 33},
	{"hist:keys=5x", -EINVAL, "Expecting numeric literal", 10},
	{"hist:keys=ptr:vals=node.sym-offset", -EINVAL, "Invalid field modifier", 0},
	{"hist:keys=stacktrace", -EINVAL, "Stack traces cannot be taken", 10},
	{"hist:keys=ptr if", -EINVAL, NULL, 0},
	{"hist:keys=ptr if nosuch == 1", -EINVAL, NULL, 0},
	{"hist:keys=ptr if (node == 1", -ENOENT, NULL, 0},
};

static void test_errors(void **state)
{
	struct text want = {0};

	(void)state;
	for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++) {
		struct trigger_owner o;
		ssize_t got;

		owner_init(&o);
		o.no_stacks = true;
		got = owner_write(&o, OWNER_KMALLOC, errors[i].text);
		if (got != errors[i].ret)
			fail_msg("'%s' gives %zd", errors[i].text, got);
		want.len = 0;
		if (errors[i].what)
			text_printf(&want,
				    "[    0.000000] hist:kmem:kmalloc: error: %s\n"
				    "  Command: %s\n%*s\n",
				    errors[i].what, errors[i].text, (int)errors[i].pos + 12, "^");
		text_putc(&want, '\0');
		owner_expect_log(&o, want.buf);
		assert_int_equal(o.event[OWNER_KMALLOC].soft_mode, 0);
		owner_exit(&o);
	}
	text_free(&want);
}

/* An array has no value; that is how the kernel puts it. */
static void test_array(void **state)
{
	struct trigger_owner o;

	(void)state;
	owner_init(&o);
	assert_int_equal(owner_write(&o, OWNER_ENTER, "hist:keys=args"), -ENOMEM);
	owner_exit(&o);
}

static void expect_form(const char *text, const char *want)
{
	struct trigger_owner o;

	owner_init(&o);
	assert_int_equal(owner_write(&o, OWNER_KMALLOC, text), strlen(text));
	owner_expect(&o, OWNER_KMALLOC, want);
	owner_exit(&o);
}

/* What was written, as it is read again. */
static void test_forms(void **state)
{
	(void)state;
	expect_form("hist:key=ptr:size=200",
		    "hist:keys=ptr:vals=hitcount:sort=hitcount:size=256 [active]\n");
	expect_form("hist keys=ptr.sym-offset,call_site.sym:val=bytes_req,hitcount  if node == 1",
		    "hist:keys=ptr.sym-offset,call_site.sym:vals=hitcount,bytes_req:sort=hitcount:"
		    "size=2048 if node == 1 [active]\n");
	expect_form("hist:keys=ptr:sort=ptr.descending,hitcount.ascending:pause",
		    "hist:keys=ptr:vals=hitcount:sort=ptr.descending,hitcount:size=2048 "
		    "[paused]\n");
	expect_form("hist:keys=kmem.kmalloc.ptr:values=node.hex,bytes_req.graph:name=x",
		    "hist:name=x:keys=ptr:vals=hitcount,node.hex,bytes_req.graph:sort=hitcount:"
		    "size=2048 [active]\n");
	expect_form("hist:keys=common_timestamp.usecs,common_cpu:clock=mono",
		    "hist:keys=common_timestamp.usecs,common_cpu:vals=hitcount:sort=hitcount:"
		    "size=2048:clock=mono [active]\n");
	expect_form("hist:keys=ptr.bucket=16",
		    "hist:keys=ptr.buckets=16:vals=hitcount:sort=hitcount:size=2048 [active]\n");
}

static void hit_kmalloc(struct trigger_owner *o, uint64_t bytes, uint64_t site)
{
	const struct made_kmalloc_record rec = {
		.bytes_req = bytes, .bytes_alloc = 2 * bytes, .call_site = site};
	struct event_data data = made_data(&rec, sizeof(rec));

	owner_hit(o, OWNER_KMALLOC, &data);
}

static void expect_hist(struct trigger_owner *o, int event, const char *part)
{
	char *got = owner_read(event_triggers_print_hist, o, event);

	if (!strstr(got, part))
		fail_msg("%s\nhas no\n%s", got, part);
	free(got);
}

static void test_values(void **state)
{
	struct trigger_owner o;

	(void)state;
	owner_init(&o);
	owner_write(
		&o, OWNER_KMALLOC,
		"hist:keys=call_site.hex:vals=bytes_req.percent,bytes_alloc.graph:sort=call_site");
	owner_write(&o, OWNER_KMALLOC, "hist:keys=call_site:vals=bytes_req.hex:sort=bytes_req");
	for (uint64_t i = 1; i <= 3; i++)
		hit_kmalloc(&o, 100 * i, 0x10 * i);
	expect_hist(&o, OWNER_KMALLOC,
		    "{ call_site: 10 } hitcount:          1  bytes_req (%):  16.66  bytes_alloc: "
		    "######              \n"
		    "{ call_site: 20 } hitcount:          1  bytes_req (%):  33.33  bytes_alloc: "
		    "#############       \n"
		    "{ call_site: 30 } hitcount:          1  bytes_req (%):  50.00  bytes_alloc: "
		    "####################\n");
	expect_hist(&o, OWNER_KMALLOC,
		    "{ call_site:         48 } hitcount:          1  bytes_req:"
		    "        12c\n");
	owner_exit(&o);
}

static void test_second_sort(void **state)
{
	struct trigger_owner o;

	(void)state;
	owner_init(&o);
	owner_write(&o, OWNER_KMALLOC,
		    "hist:keys=call_site,bytes_req:sort=bytes_req.descending,call_site");
	for (uint64_t i = 0; i < 6; i++)
		hit_kmalloc(&o, i % 2, 10 - i);
	expect_hist(&o, OWNER_KMALLOC,
		    "{ call_site:          5, bytes_req:          1 } hitcount:          1\n"
		    "{ call_site:          7, bytes_req:          1 } hitcount:          1\n"
		    "{ call_site:          9, bytes_req:          1 } hitcount:          1\n"
		    "{ call_site:          6, bytes_req:          0 } hitcount:          1\n"
		    "{ call_site:          8, bytes_req:          0 } hitcount:          1\n"
		    "{ call_site:         10, bytes_req:          0 } hitcount:          1\n");
	owner_exit(&o);
}

/* Signed keys are told apart and sorted as numbers, and shown without a sign. */
static void test_signed_key(void **state)
{
	struct made_switch_record rec = {.prev_pid = -1};
	struct event_data data = made_data(&rec, sizeof(rec));
	struct trigger_owner o;

	(void)state;
	owner_init(&o);
	owner_write(&o, OWNER_SWITCH, "hist:keys=prev_pid:sort=prev_pid");
	owner_hit(&o, OWNER_SWITCH, &data);
	rec.prev_pid = 3;
	owner_hit(&o, OWNER_SWITCH, &data);
	expect_hist(&o, OWNER_SWITCH,
		    "{ prev_pid: 18446744073709551615 } hitcount:          1\n"
		    "{ prev_pid:          3 } hitcount:          1\n");
	owner_exit(&o);
}

static void test_full(void **state)
{
	struct trigger_owner o;

	(void)state;
	owner_init(&o);
	owner_write(&o, OWNER_KMALLOC, "hist:keys=call_site:size=128");
	for (uint64_t i = 0; i < 200; i++)
		hit_kmalloc(&o, 1, i);
	for (uint64_t i = 0; i < 200; i++)
		hit_kmalloc(&o, 1, i);
	expect_hist(&o, OWNER_KMALLOC,
		    "\nTotals:\n    Hits: 256\n    Entries: 128\n    Dropped: 144\n");
	owner_write(&o, OWNER_KMALLOC, "hist:keys=call_site:clear");
	expect_hist(&o, OWNER_KMALLOC, "\nTotals:\n    Hits: 0\n    Entries: 0\n    Dropped: 0\n");
	hit_kmalloc(&o, 1, 500);
	expect_hist(&o, OWNER_KMALLOC, "Hits: 1\n    Entries: 1\n    Dropped: 0\n");
	owner_write(&o, OWNER_KMALLOC, "hist:keys=call_site:pause");
	hit_kmalloc(&o, 1, 500);
	expect_hist(&o, OWNER_KMALLOC, "Hits: 1\n");
	owner_write(&o, OWNER_KMALLOC, "hist:keys=call_site:continue");
	hit_kmalloc(&o, 1, 500);
	expect_hist(&o, OWNER_KMALLOC, "Hits: 2\n");
	assert_int_equal(owner_write(&o, OWNER_KMALLOC, "hist:keys=call_site"), -EEXIST);
	owner_exit(&o);
}

/* Events with the same name for it count together, each by its own fields. */
static void test_names(void **state)
{
	struct made_switch_record sched = {.pid = 7};
	struct event_data data = made_data(&sched, sizeof(sched));
	struct trigger_owner o;

	(void)state;
	owner_init(&o);
	assert_true(owner_write(&o, OWNER_KMALLOC, "hist:name=x:keys=common_pid") > 0);
	assert_true(owner_write(&o, OWNER_SWITCH, "hist:name=x:keys=common_pid") > 0);
	assert_int_equal(owner_write(&o, OWNER_SWITCH, "hist:name=x:keys=common_pid"), -EEXIST);
	assert_int_equal(owner_write(&o, OWNER_ENTER, "hist:name=x:keys=common_flags"), -EINVAL);
	assert_int_equal(owner_write(&o, OWNER_ENTER, "hist:name=x:keys=common_pid:cont"), -ENOENT);
	hit_kmalloc(&o, 1, 1);
	owner_hit(&o, OWNER_SWITCH, &data);
	owner_write(&o, OWNER_KMALLOC, "!hist:name=x:keys=common_pid");
	owner_expect(&o, OWNER_SWITCH,
		     "hist:name=x:keys=common_pid:vals=hitcount:sort=hitcount:size=2048 "
		     "[active]\n");
	expect_hist(&o, OWNER_SWITCH,
		    "{ common_pid:          7 } hitcount:          1\n"
		    "{ common_pid:          0 } hitcount:          1\n\n"
		    "Totals:\n    Hits: 2\n    Entries: 2\n");
	assert_true(owner_write(&o, OWNER_ENTER, "hist:name=x:keys=common_pid") > 0);
	owner_exit(&o);
}

static void test_timestamps(void **state)
{
	struct made_switch_record rec = {.pid = 0};
	struct event_data data = made_data(&rec, sizeof(rec));
	struct trigger_owner o;

	(void)state;
	owner_init(&o);
	owner_write(&o, OWNER_SWITCH, "hist:keys=common_timestamp.usecs:clock=mono");
	assert_string_equal(o.clock, "mono");
	assert_int_equal(o.timestamps, 1);
	data.time = 1500;
	owner_hit(&o, OWNER_SWITCH, &data); /* a cycle counter's */
	data.time_is_ns = true;
	owner_hit(&o, OWNER_SWITCH, &data); /* rounded */
	expect_hist(&o, OWNER_SWITCH,
		    "{ common_timestamp:       1500 } hitcount:          1\n"
		    "{ common_timestamp:          2 } hitcount:          1\n");
	owner_write(&o, OWNER_SWITCH, "!hist:keys=common_timestamp.usecs:clock=mono");
	assert_int_equal(o.timestamps, 0);
	owner_write(&o, OWNER_SWITCH, "hist:keys=common_pid.execname");
	owner_hit(&o, OWNER_SWITCH, &data);
	expect_hist(&o, OWNER_SWITCH, "{ common_pid: <idle>          [         0] } hitcount:");
	owner_exit(&o);
}

static void test_log2(void **state)
{
	static const struct {
		uint64_t value;
		const char *shown;
	} cases[] = {
		{0, "~ 2^0  }"}, {1, "~ 2^0  }"}, {2, "~ 2^1  }"},
		{3, "~ 2^2  }"}, {4, "~ 2^2  }"}, {UINT64_MAX, "~ 2^64 }"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct trigger_owner o;

		owner_init(&o);
		owner_write(&o, OWNER_KMALLOC, "hist:keys=bytes_req.log2");
		hit_kmalloc(&o, cases[i].value, 0);
		expect_hist(&o, OWNER_KMALLOC, cases[i].shown);
		owner_exit(&o);
	}
}

/* Any fields of any record, however short, and strings that are not there. */
static void test_hostile(void **state)
{
	struct trigger_owner o;

	(void)state;
	owner_init(&o);
	assert_true(owner_write(&o, OWNER_ANY, "hist:keys=name,pointer:vals=label,u8") > 0);
	assert_true(owner_write(&o, OWNER_ANY, "hist:keys=label.log2,cpus,func.sym-offset") > 0);
	for (size_t len = 0; len < 64; len++) {
		uint8_t *record = malloc(len ? len : 1);
		struct event_data data = made_data(record, len);

		assert_non_null(record);
		memset(record, 0xff, len);
		owner_hit(&o, OWNER_ANY, &data);
		free(record);
	}
	expect_hist(&o, OWNER_ANY, "Hits: 64\n");
	owner_exit(&o);
}

/* --- totals ----------------------------------------------------------------------------------- */

static void test_offline(void **state)
{
	static uint64_t hits[50], bytes[50];
	struct trigger_owner o;
	struct text want = {0};
	uint64_t random = test_seed();

	(void)state;
	owner_init(&o);
	owner_write(&o, OWNER_KMALLOC,
		    "hist:keys=call_site:vals=bytes_req:sort=call_site if bytes_req < 700");
	for (int i = 0; i < 20000; i++) {
		uint64_t site, size;

		random = random * 6364136223846793005 + 1442695040888963407;
		site = (random >> 33) % 50;
		size = (random >> 40) % 1000;
		hit_kmalloc(&o, size, site);
		if (size < 700) {
			hits[site]++;
			bytes[site] += size;
		}
	}
	for (unsigned int i = 0; i < 50; i++)
		text_printf(&want, "{ call_site: %10u } hitcount: %10lu  bytes_req: %10lu\n", i,
			    hits[i], bytes[i]);
	text_putc(&want, '\0');
	expect_hist(&o, OWNER_KMALLOC, want.buf);
	text_free(&want);
	owner_exit(&o);
}

#define NR_THREADS 4
#define NR_HITS	   5000

static void *hit_many(void *arg)
{
	for (uint64_t i = 0; i < NR_HITS; i++)
		hit_kmalloc(arg, 1, i % 100);
	return NULL;
}

/* vCPUs at the same time, and somebody who reads. */
static void test_threads(void **state)
{
	pthread_t thread[NR_THREADS];
	struct trigger_owner o;

	(void)state;
	owner_init(&o);
	owner_write(&o, OWNER_KMALLOC, "hist:keys=call_site:size=256");
	for (int i = 0; i < NR_THREADS; i++)
		assert_int_equal(pthread_create(&thread[i], NULL, hit_many, &o), 0);
	for (int i = 0; i < 20; i++)
		free(owner_read(event_triggers_print_hist, &o, OWNER_KMALLOC));
	for (int i = 0; i < NR_THREADS; i++)
		pthread_join(thread[i], NULL);
	expect_hist(&o, OWNER_KMALLOC, "Hits: 20000\n    Entries: 100\n    Dropped: 0\n");
	owner_exit(&o);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_errors),	    cmocka_unit_test(test_array),
		cmocka_unit_test(test_forms),	    cmocka_unit_test(test_values),
		cmocka_unit_test(test_second_sort), cmocka_unit_test(test_signed_key),
		cmocka_unit_test(test_full),	    cmocka_unit_test(test_names),
		cmocka_unit_test(test_timestamps),  cmocka_unit_test(test_log2),
		cmocka_unit_test(test_hostile),	    cmocka_unit_test(test_offline),
		cmocka_unit_test(test_threads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
