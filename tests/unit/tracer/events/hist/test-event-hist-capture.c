// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test-event-hist-capture.c - histograms of kernels 6.1 and 6.12, made anew out of records as they
 * must have been there, and compared byte by byte.
 */
#include "tests/unit/trigger-owner.h"

#define CAPTURE	      "tests/data/tracefs-6.1/hist-basic.txt"
#define CAPTURE_6_12  "tests/data/tracefs-6.12/hist.txt"
#define CAPTURE_PAUSE "tests/data/tracefs-6.1/hist-pause.txt"

/* --- records out of a histogram --------------------------------------------------------------- */

struct maker {
	struct trigger_owner *owner;
	int event;
	uint8_t record[64];
	char comm[16];
	struct event_data data;
	uint64_t ips[16];
	size_t nr_ips;
};

static void add_symbol(struct maker *m, uint64_t addr, const char *text)
{
	struct trigger_owner *o = m->owner;
	struct owner_symbol *s = &o->symbol[o->nr_symbols];
	const char *plus = strchr(text, '+');

	assert_true(o->nr_symbols++ < 1024);
	s->addr = addr;
	snprintf(s->name, sizeof(s->name), "%.*s", (int)strcspn(text, "+ \n"), text);
	if (plus)
		assert_int_equal(sscanf(plus, "+0x%lx/0x%lx", &s->sym.off, &s->sym.size), 2);
}

static size_t take_stack(void *arg, uint64_t *ips, size_t max)
{
	struct maker *m = arg;

	assert_true(m->nr_ips <= max);
	memcpy(ips, m->ips, m->nr_ips * sizeof(*ips));
	return m->nr_ips;
}

/* The number in front of which stands name, in brackets: "gt              [       181]". */
static uint64_t named_number(struct maker *m, const char *field, const char *value)
{
	const char *bracket = strchr(value, '[');
	uint64_t nr = strtoull(bracket + 1, NULL, 10);
	char *name = strndup(value, strcspn(value, " ["));

	assert_non_null(name);
	if (!strcmp(field, "common_pid")) {
		snprintf(m->comm, sizeof(m->comm), "%s", name);
		free(name);
	} else {
		assert_true(nr < 512);
		free((void *)(uintptr_t)m->owner->syscall[nr]);
		m->owner->syscall[nr] = name;
	}
	return nr;
}

/* What number a key shows. */
static uint64_t key_number(struct maker *m, const char *field, const char *value)
{
	uint64_t number;
	char *end;

	value += strspn(value, " ");
	if (!strncmp(value, "~ 2^", 4))
		return 1ULL << strtoull(value + 4, NULL, 10);
	if (!strncmp(value, "~ ", 2))
		return strtoull(value + 2, NULL, 10);
	if (*value == '[') {
		number = strtoull(value + 1, &end, 16);
		add_symbol(m, number, end + 2);
		return number;
	}
	if (strchr(value, '['))
		return named_number(m, field, value);
	return strtoull(value, NULL, 10);
}

static void set_field(struct maker *m, const char *name, const char *value, bool is_key)
{
	struct event_format format = made_format(owner_events[m->event]);
	struct event_field field = event_field_find(&format, name, strlen(name));
	uint64_t number;

	if (event_field_is_string(&field)) {
		strncpy((char *)m->record + field.in->offset, value, strcspn(value, " "));
		return;
	}
	number = is_key ? key_number(m, name, value) : strtoull(value, NULL, 10);
	if (!strcmp(name, "common_timestamp"))
		m->data.time = number * 1000;
	else if (field.source == EVENT_FIELD_CPU)
		m->data.cpu = (unsigned int)number;
	else
		memcpy(m->record + field.in->offset, &number, field.in->size);
}

/* { NAME: VALUE, NAME: VALUE } */
static void set_keys(struct maker *m, char *keys)
{
	char *key, *value;

	while (keys && *keys) {
		key = keys + strspn(keys, "{ ");
		keys = strstr(key, ", ");
		if (keys) {
			*keys = '\0';
			keys += 2;
		}
		value = strchr(key, ':');
		assert_non_null(value);
		*value = '\0';
		set_field(m, key, value + 2, true);
	}
}

/* NAME: SUM of the values behind hitcount, or 0 for each; not what is computed from sums. */
static void set_vals(struct maker *m, const char *vals, bool sums)
{
	char name[32], value[32];
	int len;

	while (sscanf(vals, " %31[^:]: %31s%n", name, value, &len) == 2) {
		if (!strchr(name, '%') && strcmp(name, "hitcount") != 0 && *value != '#')
			set_field(m, name, sums ? value : "0", false);
		vals += len;
	}
}

/* All hits of an entry; the first has the sums of the other values. */
static void make_hits(struct maker *m, const char *entry)
{
	const char *end = strchr(entry, '}') + 1, *vals = end;
	unsigned long n = 1; /* as good as any, when it is not shown */
	char *keys;
	int len;

	if (sscanf(end, " hitcount: %lu%n", &n, &len) == 1)
		vals += len;
	memset(m->record, 0, sizeof(m->record));
	memset(m->comm, 0, sizeof(m->comm));
	m->data = (struct event_data){.record = m->record,
				      .len = sizeof(m->record),
				      .comm = m->comm,
				      .stack = take_stack,
				      .time_is_ns = true,
				      .arg = m};
	if (m->event == OWNER_SWITCH)
		set_field(m, "next_pid", "2", false); /* for a filter */
	keys = strndup(entry, (size_t)(end - 1 - entry));
	assert_non_null(keys);
	if (!m->nr_ips)
		set_keys(m, keys);
	free(keys);
	set_vals(m, vals, true);
	while (n--) {
		owner_hit(m->owner, m->event, &m->data);
		set_vals(m, vals, false);
	}
}

/* --- what was captured ------------------------------------------------------------------------ */

struct section {
	char command[256], hist[32768], trigger[512];
	char *entry[128];
	size_t nr_entries;
	int event;
};

static void append(char *buf, size_t size, const char *line)
{
	size_t len = strlen(buf);

	assert_true(len + strlen(line) < size);
	snprintf(buf + len, size - len, "%s", line);
}

static bool skip_to(FILE *file, char line[512], const char *start)
{
	while (fgets(line, 512, file))
		if (!strncmp(line, start, strlen(start)))
			return true;
	return false;
}

static bool read_section(FILE *file, struct section *s)
{
	static const char *const dirs[] = {"sched_switch", "kmalloc", "sys_enter"};
	char line[512];

	*s = (struct section){0};
	if (!skip_to(file, line, "$ echo '"))
		return false;
	snprintf(s->command, sizeof(s->command), "%.*s", (int)strcspn(line + 8, "'"), line + 8);
	while (s->event < 2 && !strstr(line, dirs[s->event]))
		s->event++;
	assert_true(skip_to(file, line, "--- "));
	while (fgets(line, sizeof(line), file) && strncmp(line, "---", 3) != 0)
		append(s->hist, sizeof(s->hist), line);
	while (fgets(line, sizeof(line), file) && strcmp(line, "\n") != 0)
		if (strncmp(line, "sh:", 3) != 0)
			append(s->trigger, sizeof(s->trigger), line);
	return true;
}

static void find_entries(struct section *s)
{
	for (char *at = strstr(s->hist, "\n{"); at; at = strstr(at, "\n{")) {
		char *end = strchr(++at, '}');

		end = end ? strchr(end, '\n') : NULL;
		if (!end)
			break;
		assert_true(s->nr_entries < 128);
		s->entry[s->nr_entries++] = strndup(at, (size_t)(end + 1 - at));
	}
}

/* The kernel looked at the number of hits after it had printed the entries; some came meanwhile. */
static void settle_hits(struct section *s)
{
	char *at = strstr(s->hist, "Hits: "), *rest;
	unsigned long hits = 0, captured;

	if (!at)
		return;
	for (size_t i = 0; i < s->nr_entries; i++) {
		const char *count = strstr(s->entry[i], "} hitcount:");

		hits += count ? strtoul(count + 11, NULL, 10) : 1;
	}
	captured = strtoul(at + 6, &rest, 10);
	assert_true(captured >= hits);
	rest = strdup(rest);
	assert_non_null(rest);
	snprintf(at, sizeof(s->hist) - (size_t)(at - s->hist), "Hits: %lu%s", hits, rest);
	free(rest);
}

/* Lines "         name+0x1/0x2", as a stack. */
static void set_stack(struct maker *m, const char *entry)
{
	const char *line;

	m->nr_ips = 0;
	if (!strstr(entry, "stacktrace:\n"))
		return;
	for (line = strchr(entry, '\n') + 1; *line == ' '; line = strchr(line, '\n') + 1) {
		m->ips[m->nr_ips] = 0xffffffff81000000 + m->owner->nr_symbols;
		add_symbol(m, m->ips[m->nr_ips++], line + strspn(line, " "));
	}
}

/* Equal entries come in the order of addresses, which are not known of stacks. */
static void check_section(struct section *s, unsigned int version)
{
	bool whole = strstr(s->hist, "Totals:") && !strstr(s->hist, "stacktrace:\n");
	bool fails = *s->trigger == '#';
	struct trigger_owner o;
	struct maker m = {.owner = &o, .event = s->event};
	char *got;

	owner_init(&o);
	o.ops.kernel.version = version;
	find_entries(s);
	settle_hits(s);
	assert_int_equal(owner_write(&o, s->event, s->command),
			 fails ? -EINVAL : (ssize_t)strlen(s->command));
	owner_expect(&o, s->event, s->trigger);
	for (size_t i = s->nr_entries; i-- > 0;) { /* in no order of the result's */
		set_stack(&m, s->entry[i]);
		make_hits(&m, s->entry[i]);
	}
	got = owner_read(event_triggers_print_hist, &o, s->event);
	if (whole || fails)
		assert_string_equal(got, s->hist);
	for (size_t i = 0; i < s->nr_entries; i++) { /* of those that are cut off */
		if (!strstr(got, s->entry[i]))
			fail_msg("%s has no %s", got, s->entry[i]);
		free(s->entry[i]);
	}
	free(got);
	for (size_t i = 0; i < 512; i++)
		free((void *)(uintptr_t)o.syscall[i]);
	owner_exit(&o);
}

static void check_capture(const char *path, unsigned int version, unsigned int sections,
			  unsigned int all)
{
	FILE *file = fopen(path, "r");
	struct section *s = malloc(sizeof(*s));
	unsigned int n = 0, entries = 0;

	assert_non_null(file);
	assert_non_null(s);
	for (; read_section(file, s); n++) {
		check_section(s, version);
		entries += (unsigned int)s->nr_entries;
	}
	fclose(file);
	free(s);
	assert_int_equal(n, sections);
	assert_int_equal(entries, all);
}

static void test_capture(void **state)
{
	(void)state;
	check_capture(CAPTURE, 0, 13, 8 + 8 + 17 + 17 + 8 + 35 + 3 + 10 + 35);
}

static void test_capture_6_12(void **state)
{
	(void)state;
	check_capture(CAPTURE_6_12, EVENT_KERNEL(6, 12), 7, 18 + 18 + 12 + 27 + 11 + 85 + 11);
}

/* What a later kernel says of what is wrong. */
static void test_errors_6_12(void **state)
{
	struct trigger_owner o;

	(void)state;
	owner_init(&o);
	o.ops.kernel.version = EVENT_KERNEL(6, 12);
	assert_int_equal(owner_write(&o, OWNER_KMALLOC, "hist:keys=ptr:nohitcount"), -ENOENT);
	assert_int_equal(owner_write(&o, OWNER_KMALLOC, "hist:keys=ptr if nosuch == 1"), -EINVAL);
	owner_expect_log(&o, "[    0.000000] hist:kmem:kmalloc: error: Non-hitcount value is "
			     "required for 'nohitcount'\n"
			     "  Command: hist:keys=ptr:nohitcount\n           ^\n"
			     "[    0.000000] event filter parse error: error: Field not found\n"
			     "  Command: nosuch == 1\n                  ^\n");
	owner_exit(&o);
}

static void test_capture_pause(void **state)
{
	FILE *file = fopen(CAPTURE_PAUSE, "r");
	char want[4096] = "", line[512];
	struct text got = {0};
	struct trigger_owner o;
	struct event_triggers *t;

	(void)state;
	assert_non_null(file);
	while (fgets(line, sizeof(line), file) && strcmp(line, "0\n") != 0)
		if (strncmp(line, "sh:", 3) != 0)
			append(want, sizeof(want), line);
	fclose(file);
	owner_init(&o);
	t = o.event[OWNER_KMALLOC].triggers;
	owner_write(&o, OWNER_KMALLOC, "hist:keys=bytes_req");
	event_triggers_truncate(t);
	owner_write(&o, OWNER_KMALLOC, "hist:keys=ptr.hex:pause");
	event_triggers_print(t, &got);
	event_triggers_print_hist(t, &got);
	assert_int_equal(owner_write(&o, OWNER_KMALLOC, "hist:keys=bytes_req:clear"), -ENOENT);
	owner_write(&o, OWNER_KMALLOC, "hist:keys=bytes_req:pause");
	event_triggers_print(t, &got);
	event_triggers_print_hist(t, &got);
	strstr(want, "\n\n\n# Avail")[2] = '\0'; /* of the second there was only the beginning */
	assert_true(got.len > strlen(want));
	assert_memory_equal(got.buf, want, strlen(want));
	text_free(&got);
	o.log = (error_log_free(o.log), error_log_new());
	assert_int_equal(owner_write(&o, OWNER_KMALLOC, "hist:keys=bytes_alloc:clear"), -ENOENT);
	owner_expect_log(&o, "[    0.000000] hist:kmem:kmalloc: error: Can't clear or continue a "
			     "nonexistent hist trigger\n  Command: hist:keys=bytes_alloc:clear\n"
			     "           ^\n");
	owner_write(&o, OWNER_KMALLOC, "!hist:keys=bytes_req");
	owner_write(&o, OWNER_KMALLOC, "!hist:keys=ptr.hex");
	event_triggers_print_hist(t, &got);
	assert_int_equal(got.len, 0);
	owner_exit(&o);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_capture),
		cmocka_unit_test(test_capture_6_12),
		cmocka_unit_test(test_errors_6_12),
		cmocka_unit_test(test_capture_pause),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
