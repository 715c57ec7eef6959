// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test-event-hist.c - histograms: those of kernels 6.1 and 6.12 made anew out of records as they
 * must have been there, and compared byte by byte; limits, names, errors; totals against an offline
 * count.
 */
#include "trigger-owner.h"

#define CAPTURE	      "tests/data/tracefs-6.1/hist-basic.txt"
#define CAPTURE_6_12  "tests/data/tracefs-6.12/hist.txt"
#define CAPTURE_PAUSE "tests/data/tracefs-6.1/hist-pause.txt"

/* --- records out of a histogram ----------------------------------------------------------------
 */

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

/* --- what was captured --------------------------------------------------------------------------
 */

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

/* --- what was not -------------------------------------------------------------------------------
 */

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

/* --- totals
 * ---------------------------------------------------------------------------------------- */

static void test_offline(void **state)
{
	static uint64_t hits[50], bytes[50];
	struct trigger_owner o;
	struct text want = {0};
	uint64_t random = 1;

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
		cmocka_unit_test(test_capture_6_12), cmocka_unit_test(test_errors_6_12),
		cmocka_unit_test(test_capture),	     cmocka_unit_test(test_capture_pause),
		cmocka_unit_test(test_errors),	     cmocka_unit_test(test_array),
		cmocka_unit_test(test_forms),	     cmocka_unit_test(test_values),
		cmocka_unit_test(test_second_sort),  cmocka_unit_test(test_signed_key),
		cmocka_unit_test(test_full),	     cmocka_unit_test(test_names),
		cmocka_unit_test(test_timestamps),   cmocka_unit_test(test_log2),
		cmocka_unit_test(test_hostile),	     cmocka_unit_test(test_offline),
		cmocka_unit_test(test_threads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
