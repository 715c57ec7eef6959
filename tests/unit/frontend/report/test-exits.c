// SPDX-License-Identifier: GPL-2.0-or-later
/* test-exits.c - what exits cost, and who took the CPU, by a host's events. */
#include "tests/unit/host-scene.h"

#include "frontend/report/exits.h"

static char told[4096];

static void on_begin(void *arg, unsigned int vcpu, uint64_t time, const char *name)
{
	size_t len = strlen(told);

	(void)arg;
	snprintf(told + len, sizeof(told) - len, "%u %llu %s\n", vcpu, (unsigned long long)time,
		 name);
}

static void on_end(void *arg, unsigned int vcpu, uint64_t time)
{
	on_begin(arg, vcpu, time, "-");
}

static const struct exits_ops ops = {on_begin, on_end};

/* All of it seen; exits_free() it. */
static struct exits *see(struct host_scene *s)
{
	struct decode_world w = decode_world_of(host_open_scene(s));
	struct exits *e = exits_new(w.f, &ops, NULL);
	const struct decode_event *ev;

	assert_non_null(e);
	*told = '\0';
	exits_vcpu(e, 0, HOST_TID);
	exits_vcpu(e, 1, HOST_TID + 1);
	while ((ev = records_next(w.r)))
		exits_event(e, ev);
	decode_world_end(&w);
	return e;
}

static void check_sum(const struct exits_sum *sum, uint64_t nr, uint64_t ns, uint64_t longest)
{
	assert_int_equal(sum->nr, nr);
	assert_int_equal(sum->ns, ns);
	assert_int_equal(sum->longest, longest);
}

static void test_cost(void **state)
{
	struct host_scene s = {.nr = 0};
	struct exits_sum sum;
	const char *reason;
	unsigned int vcpu;
	struct exits *e;

	(void)state;
	host_page(&s, 1000, 0);
	host_entry(&s, 1000, HOST_TID); /* whose exit is not there */
	host_exit(&s, 2000, HOST_TID, 1);
	host_exit(&s, 2100, HOST_TID + 1, 2);
	host_entry(&s, 2500, HOST_TID);
	host_exit(&s, 3000, HOST_TID, 1);
	host_switch(&s, 3100, HOST_TID, 5, 0);
	host_switch(&s, 3400, 5, 6, 0);
	host_switch(&s, 4000, 6, HOST_TID, 1);
	host_entry(&s, 4050, HOST_TID);
	host_switch(&s, 5000, HOST_TID + 1, 5, 1);
	host_exit(&s, 5500, 4711, 1); /* another guest's */
	host_switch(&s, 6000, 5, HOST_TID + 1, 0);
	host_entry(&s, 6100, HOST_TID + 1);
	host_exit(&s, 7000, HOST_TID, 99); /* whose entry is not there, and no name */
	e = see(&s);
	assert_true(exits_reason(e, 0, &reason, &sum));
	assert_string_equal(reason, "npf");
	check_sum(&sum, 2, 500 + 150, 500);
	assert_true(exits_reason(e, 1, &reason, &sum));
	assert_string_equal(reason, "hlt");
	check_sum(&sum, 1, 3000, 3000); /* without the time in which it slept */
	assert_true(exits_reason(e, 2, &reason, &sum));
	assert_string_equal(reason, "0x63");
	check_sum(&sum, 0, 0, 0);
	assert_false(exits_reason(e, 3, &reason, &sum));
	assert_true(exits_taken(e, 0, &vcpu, &sum));
	check_sum(&sum, 1, 900, 900);
	assert_true(exits_taken(e, 1, &vcpu, &sum));
	assert_int_equal(vcpu, 1);
	check_sum(&sum, 0, 0, 0);
	assert_false(exits_taken(e, 2, &vcpu, &sum));
	assert_string_equal(told, "0 2000 npf\n1 2100 hlt\n0 2500 -\n0 3000 npf\n"
				  "0 3100 taken by thief\n0 4000 -\n0 4050 -\n1 5000 waits\n"
				  "1 6000 -\n1 6100 -\n0 7000 0x63\n");
	exits_free(e);
}

/* What lies around lost events is not counted, and what was told to begin ends. */
static void test_lost(void **state)
{
	struct host_scene s = {.nr = 0};
	struct exits_sum sum;
	const char *reason;
	struct exits *e;

	(void)state;
	host_page(&s, 1000, 0);
	host_exit(&s, 1000, HOST_TID, 1);
	host_switch(&s, 1100, HOST_TID, 5, 0);
	host_page(&s, 2000, 3);
	host_entry(&s, 2000, HOST_TID);
	host_exit(&s, 3000, HOST_TID, 1);
	host_exit(&s, 4000, HOST_TID, 1);
	host_entry(&s, 4500, HOST_TID);
	e = see(&s);
	assert_true(exits_reason(e, 0, &reason, &sum));
	check_sum(&sum, 1, 500, 500);
	assert_string_equal(told, "0 1000 npf\n0 1100 taken by thief\n0 2000 -\n0 2000 -\n"
				  "0 3000 npf\n0 4000 -\n0 4000 npf\n0 4500 -\n");
	exits_free(e);
}

static void test_print(void **state)
{
	struct host_scene s = {.nr = 0};
	struct exits *e;
	char *text;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	(void)state;
	assert_non_null(out);
	host_page(&s, 1000, 0);
	host_exit(&s, 1000, HOST_TID, 1);
	host_entry(&s, 2000, HOST_TID);
	host_exit(&s, 3000, HOST_TID, 2);
	host_switch(&s, 3000, HOST_TID, 5, 0);
	host_switch(&s, 5000, 5, HOST_TID, 0);
	host_entry(&s, 10000, HOST_TID);
	e = see(&s);
	exits_print(e, out);
	fclose(out);
	assert_string_equal(
		text,
		"  exits                        2 times      0.006 ms,       3.0 us each,       5.0 us at most\n"
		"  hlt                          1 times      0.005 ms,       5.0 us each,       5.0 us at most\n"
		"  npf                          1 times      0.001 ms,       1.0 us each,       1.0 us at most\n"
		"  CPU taken, vCPU 0            1 times      0.002 ms,       2.0 us each,       2.0 us at most\n");
	free(text);
	exits_free(e);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cost),
		cmocka_unit_test(test_lost),
		cmocka_unit_test(test_print),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
