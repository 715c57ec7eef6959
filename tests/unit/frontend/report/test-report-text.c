// SPDX-License-Identifier: GPL-2.0-or-later
/* test-report-text.c - function_graph's text is read with whatever columns, and damaged. */
#include "tests/unit/report.h"

static void test_default(void **state)
{
	static const char text[] = "# tracer: function_graph\n"
				   "#\n"
				   "# CPU  DURATION                  FUNCTION CALLS\n"
				   "# |     |   |                     |   |   |   |\n"
				   " 0)               |  vfs_statx() {\n"
				   " 1)   0.500 us    |  other();\n"
				   " 0)   1.250 us    |    getname [ext4]();\n"
				   " 0)               |    /* a marker | with a bar */\n"
				   " 0)   ==========> |\n"
				   " 0)   0.250 us    |      irq_enter_rcu();\n"
				   " 0)   <========== |\n"
				   " 0) ! 145.117 us  |  }\n"
				   " ------------------------------------------\n"
				   " 0)  worklo-111   =>     cat-112   \n"
				   " ------------------------------------------\n"
				   "\n"
				   " 0) # 1012.250 us |  } /* schedule */\n"
				   "CPU:0 [LOST 12 EVENTS]\n"
				   " 0)   2.000 us    |  vfs_statx();\n";
	struct graph_text_result result;
	struct calltree *t = tree_of_text(text, &result);

	(void)state;
	assert_int_equal(result.unknown, 0);
	assert_int_equal(result.calls, 11);
	assert_true(result.has_cpus);
	assert_int_equal(t->lost, 12);
	assert_sums(t, CALLTREE_ROOT);
	assert_folded(t, WEIGHT_TIME,
		      "CPU 1;other 500\n"
		      "cat-112;schedule 1012250\n"
		      "cat-112;vfs_statx 2000\n"
		      "worklo-111;vfs_statx 143617\n"
		      "worklo-111;vfs_statx;getname [ext4] 1250\n"
		      "worklo-111;vfs_statx;irq_enter_rcu 250\n");
	calltree_free(t);
}

/* The same calls in any form. */
static void test_columns(void **state)
{
	static const char *const texts[] = {
		/* all that there are */
		"    5.000001 |   0)    cat-112    |  d..1. |               |  vfs_read() {\n"
		"    5.000002 |   0)    cat-112    |  d..1. |   1.000 us    |    fput();\n"
		"    5.000010 |   0)    cat-112    |  d..1. |   9.000 us    |  } /* vfs_read */\n",
		"    5.000001 |   0)    cat-112    |               |  vfs_read() {\n"
		"    5.000002 |   0)    cat-112    |   1.000 us    |    fput();\n"
		"    5.000010 |   0)    cat-112    |   9.000 us    |  }\n",
		" 0)    cat-112    |               |  vfs_read() {\n"
		" 0)    cat-112    |   1.000 us    |    fput();\n"
		" 0)    cat-112    | + 9.000 us    |  }\n",
		/* without a CPU */
		"    cat-112    |               |  vfs_read() {\n"
		"    cat-112    |   1.000 us    |    fput();\n"
		"    cat-112    |   9.000 us    |  }\n",
		/* newer kernels: arguments, callers, return values */
		" 0)    cat-112    |               |  vfs_read(file=0x1, n=3) { /* <-ksys_read */\n"
		" 0)    cat-112    |   1.000 us    |    fput(file=0x1); /* <-vfs_read ret=0x0 */\r\n"
		" 0)    cat-112    |   9.000 us    |  } /* vfs_read ret=0x3 */\n"
		" (Overruns: 0)",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct graph_text_result result;
		struct calltree *t = tree_of_text(texts[i], &result);

		assert_int_equal(result.unknown, 0);
		assert_folded(t, WEIGHT_TIME,
			      "cat-112;vfs_read 8000\ncat-112;vfs_read;fput 1000\n");
		assert_int_equal(t->has_cpu, i < 2);
		calltree_free(t);
	}
}

static void test_without_durations(void **state)
{
	struct calltree *t = merged(tree_of_text(" 0) vfs_read() {\n"
						 " 0)   fput();\n"
						 " 0)   fput();\n"
						 " 0) }\n",
						 NULL));

	(void)state;
	assert_false(t->has_time);
	assert_folded(t, WEIGHT_CALLS, "vfs_read 1\nvfs_read;fput 2\n");
	calltree_free(t);
}

/* What is recorded with tracing_thresh: returns alone. */
static void test_returns_alone(void **state)
{
	struct calltree *t = merged(tree_of_text(" 0) + 12.000 us   |    } /* inner */\n"
						 " 0) + 20.000 us   |  } /* outer */\n",
						 NULL));

	(void)state;
	assert_folded(t, WEIGHT_TIME, "outer 8000\nouter;inner 12000\n");
	calltree_free(t);
}

/* A task may be called like the line that it is in. */
static void test_strange_names(void **state)
{
	struct calltree *t = tree_of_text(" 0)   1.000 us    |  a();\n"
					  " ------------------------------------------\n"
					  " 0)   a => b-1 =>    x |-c-2     \n"
					  " ------------------------------------------\n"
					  "\n"
					  " 0)   1.000 us    |  a();\n"
					  " 0)   1.000 us    |  a;b\033();\n"
					  " 0)   1.000 us    |  a;b();\n",
					  NULL);

	(void)state;
	assert_folded(t, WEIGHT_CALLS, "a => b-1;a 1\nx |-c-2;a 1\nx |-c-2;a:b 1\n");
	calltree_free(t);
}

static void test_damaged(void **state)
{
	static const char *const lines[] = {
		" 0)",
		" 0) ",
		" 0)   1.0",
		" 0)   1.000 us",
		" 0)   1.000 us    |",
		" 0)   1.000 us    |  ",
		" 0)   1.000 us    |  name",
		" 0)   1.000 us    |  name(",
		" 0)   1.000 us    |  ();",
		" 0)   99999999999999999999999.000 us    |  name();",
		" 0)   1.000 ms    |  name();",
		" 0)   1.000 us    |  } /* \001 */",
		" 0)   1.000 us    |  } /* */",
		" 0)   1.000 us    |  } /* ",
		" 0)   1.000 us    |  } else",
		" 4000000000)   1.000 us    |  name();",
		"  cat-1 [000] ..... 1.000000: vfs_read <-ksys_read",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		struct graph_text_result result;
		struct calltree *t = tree_of_text(lines[i], &result);

		assert_int_equal(result.calls, 0);
		assert_int_equal(result.unknown, 1);
		calltree_free(t);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_default),		  cmocka_unit_test(test_columns),
		cmocka_unit_test(test_without_durations), cmocka_unit_test(test_returns_alone),
		cmocka_unit_test(test_strange_names),	  cmocka_unit_test(test_damaged),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
