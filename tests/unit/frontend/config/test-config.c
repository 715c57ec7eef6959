// SPDX-License-Identifier: GPL-2.0-or-later
/* test-config.c - configurations of hvtrace serve: what is in force, printed again, and compared.
 */
#include "tests/unit/frontend/config/config-read.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "frontend/config/schema.h"

#define SEC UINT64_C(1000000000)

/* --- values ------------------------------------------------------------------------------- */

static void nothing_is_all_default(void **state)
{
	struct serve_config *c = right_config(""), *other = config_default();

	(void)state;
	assert_string_equal(c->serve.connect, "qemu:///system");
	assert_string_equal(c->serve.state, "/var/lib/hvtrace");
	assert_null(c->serve.socket);
	assert_int_equal(c->serve.collectors, 64);
	assert_true(c->serve.disk_bytes == UINT64_C(20) << 30);
	assert_string_equal(c->metrics.listen, "127.0.0.1:9777");
	assert_true(c->metrics.interval_ns == 15 * SEC);
	assert_int_equal(c->ship.to.nr, 0);
	assert_int_equal(c->nr_rules, 0);
	assert_non_null(other);
	assert_string_equal(other->serve.connect, c->serve.connect);
	config_free(c);
	config_free(other);
	config_free(NULL);
}

static void a_rule_has_defaults(void **state)
{
	struct serve_config *c = right_config("[[rule]]\nname = \"a\"\nmetrics = [\"wakeup\"]\n");
	const struct config_rule *rule = config_rule_find(c, "a");

	(void)state;
	assert_non_null(rule);
	assert_int_equal(rule->guests.nr, 1);
	assert_string_equal(rule->guests.values[0], "*");
	assert_int_equal(rule->metrics, CONFIG_WAKEUP);
	assert_true(rule->keep);
	assert_false(rule->ship);
	assert_int_equal(rule->when, CONFIG_WINDOW);
	assert_true(rule->every_ns == 600 * SEC);
	assert_true(rule->window_ns == 5 * SEC);
	assert_true(rule->overhead > 1.99 && rule->overhead < 2.01);
	assert_null(rule->tracer);
	assert_int_equal(rule->disk_bytes, 0);
	assert_null(config_rule_find(c, "b"));
	config_free(c);
}

static const char all_keys[] =
	"[serve]\nconnect = \"qemu+ssh://h/system\"\nstate = \"/s\"\nsocket = \"/run/s\"\n"
	"collectors = 0x10\ndisk = \"1.5T\"\n"
	"[metrics]\nlisten = \"/run/m\"\ninterval = \"1m\"\n"
	"[ship]\nto = [\"http://a:1\", \"https://b\"]\ndatabase = \"d\"\nspool = \"/sp\"\n"
	"spool-max = \"100M\"\nuser = \"u\"\nbatch-rows = 5\n"
	"[[rule]]\nname = \"one-1\"\nguests = [\"web-[0-9]\", 'a\\[b']\nexcept = [\"web-3\"]\n"
	"labels = { tier = \"prod\", \"x.y\" = \"\" }\nkernel = \"6.1.*\"\n"
	"tracer = \"function_graph\"\nevents = [\"sched:*:a == \\\"b\\\"\"]\n"
	"functions = [\"vfs_*\"]\nnotrace = [\"vfs_a\"]\nset = [\"a=b\"]\nclock = \"mono\"\n"
	"buffer = \"64K\"\nmetrics = [\"syscalls\", \"irqs-off\"]\nkeep = false\nship = true\n"
	"when = \"threshold\"\nwindow = \"1.5s\"\noverhead = 0.5\nstandstill = \"20ms\"\n"
	"[rule.threshold]\nsteal = 12.5\nirqs-off = \"1500us\"\nfor = \"0s\"\ncool-down = \"1h\"\n"
	"[[rule]]\nname = \"two\"\nevents = [\"@irq\"]\nwhen = \"always\"\nsegment = \"2m\"\n"
	"disk = \"1G\"\nage = \"14d\"\n"
	"[[rule]]\nname = \"three\"\nevents = [\"@irq\"]\nevery = \"1m\"\nwindow = \"30s\"\n"
	"jitter = \"30s\"\n";

static void every_key_is_taken(void **state)
{
	struct serve_config *c = right_config(all_keys);
	const struct config_rule *rule = &c->rules[0];

	(void)state;
	assert_int_equal(c->nr_rules, 3);
	assert_int_equal(c->serve.collectors, 16);
	assert_true(c->serve.disk_bytes == UINT64_C(3) << 39);
	assert_string_equal(c->metrics.listen, "/run/m");
	assert_int_equal(c->ship.to.nr, 2);
	assert_string_equal(c->ship.to.values[1], "https://b");
	assert_int_equal(c->ship.spool_bytes, 100 << 20);
	assert_string_equal(rule->guests.values[1], "a\\[b");
	assert_int_equal(rule->labels.nr, 2);
	assert_string_equal(rule->labels.labels[1].key, "x.y");
	assert_string_equal(rule->events.values[0], "sched:*:a == \"b\"");
	assert_string_equal(rule->tracer, "function_graph");
	assert_string_equal(rule->clock, "mono");
	assert_int_equal(rule->buffer_bytes, 65536);
	assert_int_equal(rule->metrics, CONFIG_SYSCALLS | CONFIG_IRQS_OFF);
	assert_false(rule->keep);
	assert_int_equal(rule->when, CONFIG_THRESHOLD);
	assert_int_equal(rule->window_ns, 1500000000);
	assert_int_equal(rule->threshold.irqs_off_ns, 1500000);
	assert_true(rule->threshold.steal > 12.4 && rule->threshold.steal < 12.6);
	assert_int_equal(rule->threshold.for_ns, 0);
	assert_true(c->rules[1].age_ns == 14 * 86400 * SEC);
	assert_true(c->rules[2].jitter_ns == 30 * SEC);
	config_free(c);
}

/* --- printed ------------------------------------------------------------------------------ */

static void count_change(void *arg, const struct config_change *c)
{
	(void)c;
	++*(int *)arg;
}

/* What is printed is read again, and says the same. */
static void survives(const char *text)
{
	struct serve_config *c = right_config(text), *again;
	struct text first = printed_config(c, true), second;
	int changes = 0;

	again = right_config(first.buf);
	text_free(&first);
	first = printed_config(c, false);
	second = printed_config(again, false);
	assert_string_equal(first.buf, second.buf);
	config_compare(c, again, count_change, &changes);
	assert_int_equal(changes, 0);
	text_free(&first);
	text_free(&second);
	config_free(c);
	config_free(again);
}

static void printed_is_read_again(void **state)
{
	(void)state;
	survives("");
	survives(all_keys);
	survives("[metrics]\nlisten = \"\"\n[[rule]]\nname = \"a\"\nevents = [\"\\t\\\\é\\\"\"]\n"
		 "overhead = 0\n");
}

static void print_has_one_form(void **state)
{
	struct serve_config *c = right_config("[[rule]]\nwindow = \"90s\"\nmetrics = [\"wakeup\", "
					      "\"irqs-off\"]\nname = 'a'\nevery='1440m'\n"
					      "disk = \"2048M\"\n");
	struct text t = printed_config(c, false);

	(void)state;
	assert_string_equal(strstr(t.buf, "[[rule]]"),
			    "[[rule]]\nname = \"a\"\nguests = [\"*\"]\nbuffer = \"8M\"\n"
			    "metrics = [\"irqs-off\", \"wakeup\"]\nkeep = true\nship = false\n"
			    "when = \"window\"\nevery = \"1d\"\nwindow = \"90s\"\njitter = \"0s\"\n"
			    "overhead = 2\nstandstill = \"50ms\"\ndisk = \"2G\"\n");
	assert_null(strstr(t.buf, "[ship]"));
	text_free(&t);
	t = printed_config(c, true);
	assert_non_null(strstr(t.buf, "# so often a window begins\nevery = \"1d\"\n"));
	text_free(&t);
	config_free(c);
}

/* --- compared ----------------------------------------------------------------------------- */

static void note_change(void *arg, const struct config_change *c)
{
	text_printf(arg, "%s %s %s %s>%s\n", c->table, c->rule ? c->rule : "-",
		    c->key ? c->key : "-", c->before ? c->before : "", c->now ? c->now : "");
}

static void changes_are_told(void **state)
{
	struct serve_config *before = right_config("[serve]\ncollectors = 3\n"
						   "[[rule]]\nname = \"a\"\nevents = [\"x\"]\n"
						   "[[rule]]\nname = \"b\"\nevents = [\"x\"]\n"
						   "[[rule]]\nname = \"c\"\nevents = [\"x\"]\n");
	struct serve_config *now = right_config("[serve]\ndisk = \"5G\"\ncollectors = 3\n"
						"[[rule]]\nname = \"d\"\nevents = [\"x\"]\n"
						"[[rule]]\nname = \"b\"\nevents = ['x']\n"
						"buffer = \"8192K\"\n"
						"[[rule]]\nname = \"a\"\nevents = [\"x\"]\n"
						"kernel = \"6.*\"\nevery = \"1m\"\n");
	struct text t = {0};

	(void)state;
	config_compare(before, now, note_change, &t);
	text_putc(&t, '\0');
	assert_string_equal(t.buf, "serve - disk \"20G\">\"5G\"\n"
				   "rule d - >\n"
				   "rule a kernel >\"6.*\"\n"
				   "rule a every \"10m\">\"1m\"\n"
				   "rule c - >\n");
	assert_true(config_rule_same(config_rule_find(before, "b"), config_rule_find(now, "b")));
	assert_false(config_rule_same(config_rule_find(before, "a"), config_rule_find(now, "a")));
	text_free(&t);
	config_free(before);
	config_free(now);
}

/* --- files -------------------------------------------------------------------------------- */

static struct serve_config *read_file(const char *path, struct text *told)
{
	const struct config_ear ear = {note_line, told};
	struct serve_config *c;

	*told = (struct text){0};
	c = config_read(path, &some_words, &ear);
	text_putc(told, '\0');
	return c;
}

static void files_that_cannot_be_read(void **state)
{
	char path[] = "/tmp/hvc.XXXXXX";
	struct text told;
	int fd;

	(void)state;
	assert_null(read_file("/nonexistent/serve.toml", &told));
	assert_string_equal(told.buf,
			    "/nonexistent/serve.toml: cannot read it: No such file or directory\n");
	text_free(&told);
	assert_null(read_file("/tmp", &told));
	assert_non_null(strstr(told.buf, "/tmp: cannot read it: "));
	text_free(&told);
	fd = mkstemp(path);
	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, (1 << 20) + 1), 0);
	assert_null(read_file(path, &told));
	assert_non_null(strstr(told.buf, ": it has more than 1024 KB; make it shorter\n"));
	text_free(&told);
	assert_int_equal(ftruncate(fd, 0), 0);
	config_free(read_file(path, &told));
	assert_string_equal(told.buf, "");
	text_free(&told);
	close(fd);
	unlink(path);
}

#define EXAMPLE "scripts/systemd/serve.toml"

static void the_example_is_right(void **state)
{
	struct text told;
	struct serve_config *c = read_file(EXAMPLE, &told);

	(void)state;
	assert_string_equal(told.buf, "");
	assert_non_null(c);
	assert_int_equal(c->nr_rules, 4);
	text_free(&told);
	config_free(c);
}

/* The example with the keys that are not in force, and a file that there is. */
static void put_example(struct text *t, const char *password)
{
	FILE *f = fopen(EXAMPLE, "r");
	char line[512];

	assert_non_null(f);
	while (fgets(line, sizeof(line), f)) {
		if (!strncmp(line, "#password-file", 14))
			text_printf(t, "password-file = \"%s\"\n", password);
		else
			text_puts(t, *line == '#' && line[1] > ' ' ? line + 1 : line);
	}
	text_putc(t, '\0');
	fclose(f);
}

/* Whether its keys are all that there are is seen by what is printed of everything. */
static void the_example_has_all_keys(void **state)
{
	char path[] = "/tmp/hvc.XXXXXX", needle[64];
	struct serve_config *c, *all;
	struct text example = {0}, printed;
	int fd = mkstemp(path);

	(void)state;
	assert_true(fd >= 0);
	put_example(&example, path);
	c = right_config(example.buf);
	all = right_config(all_keys);
	printed = printed_config(all, false);
	for (char *rest = printed.buf, *line; (line = strsep(&rest, "\n"));) {
		size_t len = strcspn(line, " ");

		if (!len || *line == '[')
			continue;
		snprintf(needle, sizeof(needle), "\n%.*s = ", (int)len, line);
		if (!strstr(example.buf, needle))
			fail_msg("%s has no %s", EXAMPLE, needle + 1);
	}
	assert_string_equal(c->ship.password_file, path);
	text_free(&example);
	text_free(&printed);
	config_free(c);
	config_free(all);
	close(fd);
	unlink(path);
}

/* --- the manual --------------------------------------------------------------------------- */

static void put_keys(const struct config_table *table, struct text *t)
{
	for (const struct config_row *row = table->rows; row->key; row++) {
		text_printf(t, "%s\n", row->key);
		if (row->table)
			put_keys(row->table, t);
	}
}

/* Each key, in the same order. */
static void the_manual_has_all_keys(void **state)
{
	FILE *f = fopen("docs/man/hvtrace-serve.toml.5", "r");
	struct text keys = {0}, described = {0};
	char line[512];

	(void)state;
	assert_non_null(f);
	for (const struct config_table *table = schema_tables; table->name; table++)
		put_keys(table, &keys);
	put_keys(&schema_rule, &keys);
	while (fgets(line, sizeof(line), f))
		if (!strncmp(line, ".It Ic ", 7))
			text_puts(&described, line + 7);
	fclose(f);
	text_putc(&keys, '\0');
	text_putc(&described, '\0');
	assert_string_equal(described.buf, keys.buf);
	text_free(&keys);
	text_free(&described);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_is_all_default),
		cmocka_unit_test(a_rule_has_defaults),
		cmocka_unit_test(every_key_is_taken),
		cmocka_unit_test(printed_is_read_again),
		cmocka_unit_test(print_has_one_form),
		cmocka_unit_test(changes_are_told),
		cmocka_unit_test(files_that_cannot_be_read),
		cmocka_unit_test(the_example_is_right),
		cmocka_unit_test(the_example_has_all_keys),
		cmocka_unit_test(the_manual_has_all_keys),
	};

	if (config_missing()) {
		printf("1..0 # SKIP %s\n", config_missing());
		return 0;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
