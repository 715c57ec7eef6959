// SPDX-License-Identifier: GPL-2.0-or-later
/* test-guests.c - guests that come, go and are started again, and the rules that are for them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "frontend/serve/guests.h"

#define LIST(...)                                                                                  \
	(struct option_list)                                                                       \
	{                                                                                          \
		.values = (const char *[]){__VA_ARGS__},                                           \
		.nr = sizeof((const char *[]){__VA_ARGS__}) / sizeof(char *)                       \
	}

static char told[1024];
static struct guests all;

static void came(void *arg, struct serve_guest *g)
{
	(void)arg;
	strcat(strcat(told, "+"), g->name);
}

static void went(void *arg, struct serve_guest *g)
{
	(void)arg;
	strcat(strcat(told, "-"), g->name);
}

static void waited(void *arg, struct serve_guest *g, unsigned int vcpu, uint64_t ns)
{
	(void)arg;
	snprintf(told + strlen(told), sizeof(told) - strlen(told), "%s %u:%d ", g->name, vcpu,
		 (int)ns);
}

static const struct guests_ops ops = {came, went, waited, NULL};

static struct machine_listing listing(const char *name, unsigned int id, const char *state)
{
	struct machine_listing l = {.id = id, .vcpus = 1, .state = state};

	snprintf(l.name, sizeof(l.name), "%s", name);
	snprintf(l.uuid, sizeof(l.uuid), "uuid-%s", name);
	return l;
}

/* What is told of it: since the last time. */
static void sees(struct machine_listing *list, int nr, struct machine_load *load, int64_t at_ms,
		 const char *expected)
{
	const struct looker_sight sight = {
		.guest = list, .guests = nr, .load = load, .loads = load ? 1 : 0, .at_ms = at_ms};

	*told = '\0';
	guests_update(&all, &sight, &ops);
	assert_string_equal(told, expected);
	for (int i = 0; i < nr; i++)
		assert_null(list[i].metadata);
}

static void sees_one(const char *name, unsigned int id, const char *state, const char *expected)
{
	struct machine_listing one = listing(name, id, state);

	sees(&one, 1, NULL, 0, expected);
}

static int tear_down(void **state)
{
	(void)state;
	guests_free(&all);
	return 0;
}

/* --- who is there --------------------------------------------------------------------------------
 */

static void test_life(void **state)
{
	(void)state;
	sees_one("a", 1, "shut off", "");
	assert_int_equal(all.nr, 0);
	sees_one("a", 1, "running", "+a");
	sees_one("a", 1, "running", "");
	sees_one("a", 1, "paused", "");
	assert_non_null(guests_find(&all, "a"));
	assert_ptr_equal(guests_find(&all, "a"), guests_find(&all, "uuid-a"));
	assert_null(guests_find(&all, "b"));
	sees(NULL, 0, NULL, 0, "-a");
	assert_null(guests_find(&all, "a"));
	guests_drop(&all, INT64_MAX, NULL, NULL);
	assert_int_equal(all.nr, 0);
}

/* Between two looks: it has gone, and come. One that does not run again has gone. */
static void test_restarted(void **state)
{
	struct serve_guest *g;

	(void)state;
	sees_one("a", 1, "running", "+a");
	g = guests_find(&all, "a");
	g->harmed = true;
	strcpy(g->release, "6.1");
	sees_one("a", 2, "running", "-a+a");
	assert_ptr_equal(guests_find(&all, "a"), g);
	assert_false(g->harmed);
	assert_string_equal(g->release, "");
	sees_one("a", 3, "paused", "-a");
	sees_one("a", 3, "running", "+a");
}

/* It stays as long as there is a round with it. */
static void test_round(void **state)
{
	struct serve_guest *g;

	(void)state;
	sees_one("a", 1, "running", "+a");
	g = guests_find(&all, "a");
	g->round = (struct round *)&all;
	sees(NULL, 0, NULL, 0, "-a");
	guests_drop(&all, INT64_MAX, NULL, NULL);
	assert_int_equal(all.nr, 1);
	g->round = NULL;
	guests_drop(&all, INT64_MAX, NULL, NULL);
	assert_int_equal(all.nr, 0);
}

static void test_renamed(void **state)
{
	struct machine_listing one = listing("a", 1, "running");

	(void)state;
	sees_one("a", 1, "running", "+a");
	strcpy(one.name, "b");
	sees(&one, 1, NULL, 0, "");
	assert_non_null(guests_find(&all, "b"));
	assert_null(guests_find(&all, "a"));
}

static void counts(void *arg, struct serve_guest *g)
{
	(void)g;
	++*(unsigned int *)arg;
}

static void test_crowd(void **state)
{
	unsigned int came_nr = 0;
	struct machine_listing *many = calloc(GUESTS_MAX + 8, sizeof(*many));
	const struct looker_sight sight = {.guest = many, .guests = GUESTS_MAX + 8};
	const struct guests_ops quiet = {.came = counts, .arg = &came_nr};
	char name[16];

	(void)state;
	assert_non_null(many);
	for (int i = 0; i < GUESTS_MAX + 8; i++) {
		snprintf(name, sizeof(name), "g%d", i);
		many[i] = listing(name, 1, "running");
	}
	guests_update(&all, &sight, &quiet);
	assert_int_equal(all.nr, GUESTS_MAX);
	assert_int_equal(came_nr, GUESTS_MAX);
	free(many);
}

/* --- steal
 * ----------------------------------------------------------------------------------------- */

static void test_steal(void **state)
{
	struct machine_listing one = listing("a", 1, "running");
	struct machine_load *load = calloc(1, sizeof(*load));

	(void)state;
	assert_non_null(load);
	strcpy(load->uuid, "uuid-a");
	load->vcpus = 2;
	load->vcpu[0].counted = load->vcpu[1].counted = true;
	sees(&one, 1, load, 1000, "+a");
	assert_true(guests_find(&all, "a")->steal < 0);
	load->vcpu[0].waited_ns = 100000000;
	load->vcpu[1].waited_ns = 500000000;
	sees(&one, 1, load, 2000, "a 0:100000000 a 1:500000000 ");
	assert_true(guests_find(&all, "a")->steal == 0.5);
	/* What goes back, or is not known, is not counted. */
	load->vcpu[0].waited_ns = 0;
	load->vcpu[1].counted = false;
	sees(&one, 1, load, 3000, "");
	assert_true(guests_find(&all, "a")->steal < 0);
	/* Of one that was started again nothing is known from before. */
	load->vcpu[0].waited_ns = 7000000;
	one = listing("a", 2, "running");
	sees(&one, 1, load, 4000, "-a+a");
	free(load);
}

/* --- rules
 * ------------------------------------------------------------------------------------------- */

static bool is_for(const struct config_rule *rule, const char *name, const char *release,
		   const char *metadata)
{
	struct config_rule rules[1] = {*rule};
	const struct serve_config c = {.rules = rules, .nr_rules = 1};
	struct due due = {0};
	struct serve_guest g = {.due = &due, .metadata = metadata ? strdup(metadata) : NULL};

	snprintf(g.name, sizeof(g.name), "%s", name);
	snprintf(g.uuid, sizeof(g.uuid), "uuid-%s", name);
	snprintf(g.release, sizeof(g.release), "%s", release);
	guests_apply_to(&g, &c);
	free(g.metadata);
	return due.wanted;
}

static void test_globs(void **state)
{
	const struct config_rule rule = {.guests = LIST("web-*", "uuid-db"),
					 .except = LIST("*-test")};

	(void)state;
	assert_true(is_for(&rule, "web-1", "", NULL));
	assert_true(is_for(&rule, "db", "", NULL));
	assert_false(is_for(&rule, "web-test", "", NULL));
	assert_false(is_for(&rule, "other", "", NULL));
	assert_false(is_for(&rule, "", "", NULL));
}

static void test_labels(void **state)
{
	struct config_label labels[] = {{"tier", "prod"}};
	const struct config_rule rule = {.guests = LIST("*"), .labels = {labels, 1}};

	(void)state;
	assert_true(
		is_for(&rule, "a", "", "<metadata><x:tier xmlns:x='y'>prod</x:tier></metadata>"));
	assert_false(is_for(&rule, "a", "", "<metadata><tier>test</tier></metadata>"));
	assert_false(is_for(&rule, "a", "", "<metadata><tier>"));
	assert_false(is_for(&rule, "a", "", NULL));
}

/* One that is not known yet may be the right one; later it is known. */
static void test_kernel(void **state)
{
	struct config_rule rules[1] = {{.guests = LIST("*"), .kernel = "6.1.*"}};
	const struct serve_config c = {.rules = rules, .nr_rules = 1};
	struct due due = {0};
	struct serve_guest g = {.due = &due, .name = "a"};

	(void)state;
	assert_true(is_for(&rules[0], "a", "6.1.0-56", NULL));
	assert_false(is_for(&rules[0], "a", "6.12.1", NULL));
	guests_apply_to(&g, &c);
	assert_true(due.wanted);
	due.next_ms = 77;
	guests_match(&g, &c);
	assert_int_equal(due.next_ms, 77);
	strcpy(g.release, "6.12.1");
	guests_match(&g, &c);
	assert_false(due.wanted);
	strcpy(g.release, "6.1.0");
	guests_match(&g, &c);
	assert_true(due.wanted);
	assert_int_equal(due.next_ms, 0);
}

/* What is asked for waits for that. */
static void test_begin(void **state)
{
	struct config_rule rules[] = {
		{.guests = LIST("*"), .when = CONFIG_ALWAYS},
		{.guests = LIST("*"), .when = CONFIG_WINDOW},
		{.guests = LIST("*"), .when = CONFIG_DEMAND},
		{.guests = LIST("*"), .when = CONFIG_THRESHOLD, .threshold = {.steal = 5}},
		{.guests = LIST("*"), .when = CONFIG_THRESHOLD, .threshold = {.irqs_off_ns = 5}},
	};
	const struct serve_config c = {.rules = rules, .nr_rules = 5};
	struct due due[5];
	struct serve_guest g = {.due = due, .name = "a"};

	(void)state;
	guests_apply_to(&g, &c);
	assert_int_equal(due[0].next_ms, 0);
	assert_int_equal(due[1].next_ms, 0);
	assert_true(due[2].next_ms == INT64_MAX);
	assert_true(due[3].next_ms == INT64_MAX);
	assert_int_equal(due[4].next_ms, 0);
}

/* Rules that stay keep what is due of them, wherever they stand now. */
static void test_reload(void **state)
{
	struct config_rule rules[] = {
		{.guests = LIST("none")}, {.guests = LIST("*")}, {.guests = LIST("*")}};
	struct serve_config c = {.rules = rules, .nr_rules = 3};
	struct serve_guest *g;

	(void)state;
	sees_one("a", 1, "running", "+a");
	g = guests_find(&all, "a");
	g->due[0] = (struct due){.wanted = true, .next_ms = 77, .failed = 3};
	guests_apply(&all, &c, (const int[]){-1, -1, 0});
	assert_false(g->due[0].wanted);
	assert_true(g->due[1].wanted && !g->due[1].next_ms);
	assert_true(g->due[2].wanted && g->due[2].next_ms == 77 && g->due[2].failed == 3);
	c.nr_rules = 0;
	guests_apply(&all, &c, (const int[]){-1});
}

#define TEST(test) cmocka_unit_test_teardown(test, tear_down)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		TEST(test_life),   TEST(test_restarted), TEST(test_round),  TEST(test_renamed),
		TEST(test_crowd),  TEST(test_steal),	 TEST(test_globs),  TEST(test_labels),
		TEST(test_kernel), TEST(test_begin),	 TEST(test_reload),
	};

	return cmocka_run_group_tests_name("guests", tests, NULL, NULL);
}
