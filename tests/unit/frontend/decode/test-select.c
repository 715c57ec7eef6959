// SPDX-License-Identifier: GPL-2.0-or-later
/* test-select.c - which events are wanted, by each thing that they are chosen by. */
#include "tests/unit/decode-world.h"

#define LIST(...)                                                                                  \
	{                                                                                          \
		.values = (const char *const[]){__VA_ARGS__},                                      \
		.nr = sizeof((const char *const[]){__VA_ARGS__}) / sizeof(const char *)            \
	}

/* The names of what is wanted, one behind the other; check each against the list. */
static void check_wanted(const struct select_config *cfg, const char *expected)
{
	struct decode_world w = decode_world();
	const struct decode_event *ev;
	char err[256], names[512] = "";
	struct select *s = select_new(cfg, w.d, w.f, err, sizeof(err));

	if (!s)
		fail_msg("%s", err);
	records_select(w.r, select_wants, s);
	while ((ev = records_next(w.r))) {
		size_t len = strlen(names);

		snprintf(names + len, sizeof(names) - len, "%s%s", len ? " " : "",
			 formats_event(w.f, ev->id)->name);
	}
	assert_string_equal(names, expected);
	select_free(s);
	decode_world_end(&w);
}

static void check_refused(const struct select_config *cfg, const char *why)
{
	struct decode_world w = decode_world();
	char err[256];

	assert_null(select_new(cfg, w.d, w.f, err, sizeof(err)));
	assert_string_equal(err, why);
	decode_world_end(&w);
}

#define ALL                                                                                        \
	"function irq_handler_entry funcgraph_entry funcgraph_exit funcgraph_entry "               \
	"funcgraph_entry sched_switch kernel_stack funcgraph_exit funcgraph_exit print"

static void test_all(void **state)
{
	(void)state;
	check_wanted(&(struct select_config){0}, ALL);
}

static void test_times(void **state)
{
	(void)state;
	check_wanted(&(struct select_config){.has_from = true, .from = MADE_T0 + 152300},
		     "funcgraph_exit funcgraph_exit print");
	check_wanted(&(struct select_config){.has_to = true, .to = MADE_T0 + 500},
		     "function irq_handler_entry");
	check_wanted(&(struct select_config){.has_from = true,
					     .from = MADE_T0 + 2200,
					     .has_to = true,
					     .to = MADE_T0 + 2200},
		     "sched_switch kernel_stack");
}

static void test_cpus(void **state)
{
	(void)state;
	check_wanted(&(struct select_config){.cpus = "1"},
		     "irq_handler_entry sched_switch kernel_stack print");
	check_wanted(&(struct select_config){.cpus = "0-1"}, ALL);
	check_wanted(&(struct select_config){.cpus = "3,1:7-8"},
		     "irq_handler_entry sched_switch kernel_stack print");
	check_refused(&(struct select_config){.cpus = "1;2"},
		      "'1;2' is no list of CPUs (such as 0,2-3)");
	check_refused(&(struct select_config){.cpus = "2-"},
		      "'2-' is no list of CPUs (such as 0,2-3)");
	check_refused(&(struct select_config){.cpus = "9999"},
		      "'9999' is no list of CPUs (such as 0,2-3)");
	check_refused(&(struct select_config){.cpus = "one"},
		      "'one' is no list of CPUs (such as 0,2-3)");
}

static void test_tasks(void **state)
{
	(void)state;
	check_wanted(&(struct select_config){.pids = LIST("2")}, "sched_switch kernel_stack");
	check_wanted(&(struct select_config){.pids = LIST("44", "33")}, "irq_handler_entry print");
	check_wanted(&(struct select_config){.comms = LIST("k*")},
		     "irq_handler_entry sched_switch kernel_stack");
	check_wanted(&(struct select_config){.comms = LIST("kthreadd"), .pids = LIST("44")},
		     "sched_switch kernel_stack print");
	check_refused(&(struct select_config){.pids = LIST("-1")},
		      "'-1' is not the number of a task");
	check_refused(&(struct select_config){.pids = LIST("1x")},
		      "'1x' is not the number of a task");
}

/* A stack goes with the event that it is of. */
static void test_events(void **state)
{
	(void)state;
	check_wanted(&(struct select_config){.events = LIST("sched_switch")},
		     "sched_switch kernel_stack");
	check_wanted(&(struct select_config){.events = LIST("irq:*", "print")},
		     "irq_handler_entry print");
	check_wanted(&(struct select_config){.events = LIST("sched:")},
		     "sched_switch kernel_stack");
	check_wanted(&(struct select_config){.events = LIST(":kernel_stack")}, "kernel_stack");
	check_wanted(&(struct select_config){.events = LIST("ftrace:funcgraph_e[n]try")},
		     "funcgraph_entry funcgraph_entry funcgraph_entry");
	check_refused(&(struct select_config){.events = LIST("sched:irq*")},
		      "the file knows no event sched:irq*");
}

static void test_functions(void **state)
{
	(void)state;
	check_wanted(&(struct select_config){.functions = LIST("vfs_*")},
		     "function funcgraph_entry funcgraph_exit funcgraph_entry funcgraph_exit");
	check_wanted(&(struct select_config){.functions = LIST("do_open"), .events = LIST("print")},
		     "funcgraph_entry funcgraph_exit print");
	check_wanted(&(struct select_config){.functions = LIST("nothing")}, "");
}

static void test_filters(void **state)
{
	(void)state;
	check_wanted(&(struct select_config){.filters = LIST("sched/sched_switch:prev_pid==2")},
		     "sched_switch kernel_stack");
	check_wanted(&(struct select_config){.filters = LIST("sched_switch:prev_pid==3")}, "");
	check_wanted(&(struct select_config){.filters = LIST("irq_handler_entry:name==\"timer\"",
							     "funcgraph_entry:depth==1")},
		     "irq_handler_entry funcgraph_entry");
	check_wanted(&(struct select_config){.filters = LIST("funcgraph_entry:depth==0"),
					     .functions = LIST("vfs_open")},
		     "funcgraph_entry");
	check_refused(&(struct select_config){.filters = LIST("nothing:a==b")},
		      "the filter 'nothing:a==b' makes no sense: no event found");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all),	cmocka_unit_test(test_times),
		cmocka_unit_test(test_cpus),	cmocka_unit_test(test_tasks),
		cmocka_unit_test(test_events),	cmocka_unit_test(test_functions),
		cmocka_unit_test(test_filters),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
