// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test-hist-debug.c - hist_debug: the examples of the kernel's documentation, and what
 * trace_events_hist.c says of other fields.
 */
#include "tests/unit/trigger-owner.h"

#define CAPTURE "tests/data/tracefs-6.12/hist_debug.txt"

enum { HISTS = 32 };

static struct trigger_owner owner;

static int set_up(void **state)
{
	(void)state;
	owner_init(&owner);
	owner.ops.kernel.version = EVENT_KERNEL(6, 12);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	owner_exit(&owner);
	return 0;
}

static void write_ok(int event, const char *text)
{
	if (owner_write(&owner, event, text) != (ssize_t)strlen(text))
		fail_msg("%s", text);
}

static int event_at(const char *path)
{
	for (int i = 0; i < OWNER_EVENTS; i++)
		if (strstr(path, owner_events[i]->name))
			return i;
	fail_msg("%s", path);
	return 0;
}

/* --- what is documented ---------------------------------------------------------------------- */

/* Addresses there, by the numbers that stand here for them: the same for the same. */
static uint64_t known[HISTS];

/* The text, with numbers in the place of addresses. */
static void put_numbers(char *text, const char *got)
{
	static const char what[] = "hist_data: ";

	for (char *at = text; (at = strstr(at, what)); at += strlen(what)) {
		uint64_t addr = strtoull(at + strlen(what), NULL, 16), number;
		char digits[20];

		got = strstr(got, what);
		assert_non_null(got);
		got += strlen(what);
		number = strtoull(got, NULL, 16);
		assert_in_range(number, 1, HISTS - 1);
		if (!known[number])
			known[number] = addr;
		if (known[number] != addr)
			continue;
		snprintf(digits, sizeof(digits), "%016lx", number);
		memcpy(at + strlen(what), digits, 16);
	}
}

/* $ echo 'TEXT' >> PATH */
static void run(const char *line)
{
	const char *quote = strchr(line, '\''), *end = strrchr(line, '\'');
	char *text = strndup(quote + 1, (size_t)(end - quote) - 1);

	assert_non_null(text);
	if (!strstr(end, "synthetic_events"))
		write_ok(event_at(end), text);
	else if (*text != '!') /* they go with all else */
		assert_int_equal(owner_define(&owner, text), 0);
	free(text);
}

/* Up to the next command or file, without empty lines at its end. */
static void expect_file(int event, char *want, size_t len)
{
	char *got = owner_read(event_triggers_print_hist_debug, &owner, event), *text;

	while (len > 1 && want[len - 1] == '\n' && want[len - 2] == '\n')
		len--;
	text = strndup(want, len);
	assert_non_null(text);
	put_numbers(text, got);
	assert_string_equal(got, text);
	free(text);
	free(got);
}

/* Two synthetic events of one name follow one another in the documentation. */
static void forget_synth(void)
{
	struct synth_event *se = owner.synth;

	if (se && !se->refs) {
		owner.synth = se->next;
		synth_event_free(se);
	}
}

static void test_documented(void **state)
{
	FILE *f = fopen(CAPTURE, "re");
	char line[512], text[16384] = "";
	int files = 0, event = -1;
	size_t len = 0;

	(void)state;
	assert_non_null(f);
	memset(known, 0, sizeof(known));
	while (fgets(line, sizeof(line), f)) {
		bool head = !strncmp(line, "$ ", 2) || !strncmp(line, "--- ", 4);

		if (!head) {
			assert_true(len + strlen(line) < sizeof(text));
			len += (size_t)sprintf(text + len, "%s", line);
			continue;
		}
		if (event >= 0)
			expect_file(event, text, len);
		event = *line == '-' ? event_at(line) : -1;
		files += event >= 0;
		len = 0;
		if (*line == '$')
			run(line);
		if (strstr(line, "'!") && strstr(line, "synthetic_events"))
			forget_synth();
	}
	fclose(f);
	assert_int_equal(files, 7);
}

/* --- other fields ---------------------------------------------------------------------------- */

/* It has these lines, one after the other. */
static void expect_part(int event, const char *want)
{
	char *got = owner_read(event_triggers_print_hist_debug, &owner, event);

	if (!strstr(got, want))
		fail_msg("no\n%sin\n%s", want, got);
	free(got);
}

static void test_keys(void **state)
{
	static const char hist[] = "hist:keys=stacktrace,common_cpu,cpu";

	(void)state;
	write_ok(OWNER_SWITCH, hist);
	expect_part(OWNER_SWITCH, "    hist_data->fields[1]:\n      flags:\n"
				  "        HIST_FIELD_FL_KEY\n      type: unsigned long[]\n"
				  "      size: 128\n      is_signed: 0\n\n");
	/* The one is no field of an event, the other one is. */
	expect_part(OWNER_SWITCH, "    hist_data->fields[2]:\n      flags:\n"
				  "        HIST_FIELD_FL_KEY\n      type: unsigned int\n"
				  "      size: 8\n      is_signed: 0\n\n");
	expect_part(OWNER_SWITCH, "    hist_data->fields[3]:\n      flags:\n"
				  "        HIST_FIELD_FL_KEY\n      ftrace_event_field name: cpu\n"
				  "      type: unsigned int\n      size: 8\n      is_signed: 0\n");
	owner.ops.kernel.version = EVENT_KERNEL(6, 1);
	expect_part(OWNER_SWITCH, "      type: (null)\n      size: 128\n");
	write_ok(OWNER_WAKING, "hist:keys=comm,prio.log2,pid.hex:vals=prio");
	expect_part(OWNER_WAKING, "      ftrace_event_field name: prio\n      type: int\n"
				  "      size: 4\n      is_signed: 1\n");
	expect_part(OWNER_WAKING, "      ftrace_event_field name: comm\n      type: char[16]\n"
				  "      size: 16\n      is_signed: 0\n");
	expect_part(OWNER_WAKING, "      ftrace_event_field name: prio\n      type: int\n"
				  "      size: 8\n      is_signed: 0\n");
}

static void test_variables(void **state)
{
	(void)state;
	write_ok(OWNER_WAKING, "hist:keys=pid:a=5:b=common_pid.execname,c=prio-target_cpu");
	expect_part(OWNER_WAKING, "        HIST_FIELD_FL_VAR\n        HIST_FIELD_FL_CONST\n"
				  "      var.name: a\n"
				  "      var.idx (into tracing_map_elt.vars[]): 0\n"
				  "      constant: 5\n      type: u64\n      size: 8\n"
				  "      is_signed: 0\n");
	expect_part(OWNER_WAKING, "        HIST_FIELD_FL_VAR\n"
				  "      ftrace_event_field name: common_pid\n      var.name: b\n"
				  "      var.idx (into tracing_map_elt.vars[]): 1\n"
				  "      type: char[]\n      size: 256\n      is_signed: 0\n");
	expect_part(OWNER_WAKING, "        HIST_FIELD_FL_VAR\n      var.name: c\n"
				  "      var.idx (into tracing_map_elt.vars[]): 2\n"
				  "      type: int\n      size: 4\n      is_signed: 1\n");
	write_ok(OWNER_SWITCH, "hist:keys=next_pid:vals=sched.sched_waking.$c:d=$c");
	/* A value that is a variable is its reference; who asks first says how it is written. */
	expect_part(OWNER_SWITCH,
		    "    hist_data->fields[1]:\n      flags:\n        HIST_FIELD_FL_VAR_REF\n"
		    "      name: c\n      var.idx (into tracing_map_elt.vars[]): 2\n"
		    "      var.hist_data: 0000000000000001\n"
		    "      var_ref_idx (into hist_data->var_refs[]): 0\n"
		    "      system: sched\n      event_name: sched_waking\n"
		    "      type: int\n      size: 4\n      is_signed: 1\n");
	expect_part(OWNER_SWITCH, "        HIST_FIELD_FL_VAR\n        HIST_FIELD_FL_ALIAS\n"
				  "      var.name: d\n"
				  "      var.idx (into tracing_map_elt.vars[]): 0\n"
				  "      var_ref_idx (into hist_data->var_refs[]): 0\n"
				  "      type: int\n      size: 4\n      is_signed: 1\n");
	expect_part(OWNER_SWITCH, "\n  variable reference fields:\n\n"
				  "    hist_data->var_refs[0]:\n");
}

/* The kernel ends where a variable is made of what is no field. */
static void test_ends_early(void **state)
{
	static const char end[] = "      save_vars[0].val:\n";
	char *got;

	(void)state;
	write_ok(OWNER_WAKING, "hist:keys=pid:p=prio:onchange($p).save(common_timestamp,comm)");
	expect_part(OWNER_WAKING, "      var.name: __change\n");
	got = owner_read(event_triggers_print_hist_debug, &owner, OWNER_WAKING);
	assert_string_equal(got + strlen(got) - strlen(end), end);
	free(got);
}

/* With one name they are one; of an event without any there is nothing. */
static void test_names(void **state)
{
	char *got;

	(void)state;
	write_ok(OWNER_SWITCH, "hist:name=n:keys=common_pid");
	write_ok(OWNER_WAKING, "hist:name=n:keys=common_pid");
	write_ok(OWNER_WAKING, "hist:keys=pid");
	write_ok(OWNER_WAKING, "stacktrace");
	expect_part(OWNER_SWITCH, "hist_data: 0000000000000001\n");
	expect_part(OWNER_WAKING, "hist_data: 0000000000000001\n");
	expect_part(OWNER_WAKING, "      is_signed: 1\n\n\n# event histogram\n");
	expect_part(OWNER_WAKING, "hist_data: 0000000000000002\n");
	got = owner_read(event_triggers_print_hist_debug, &owner, OWNER_KMALLOC);
	assert_string_equal(got, "");
	free(got);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		TEST(test_documented), TEST(test_keys),	 TEST(test_variables),
		TEST(test_ends_early), TEST(test_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
