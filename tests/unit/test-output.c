// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test-output.c - text output against what Linux 6.1 printed: from its own raw pages, and by
 * printing again what its text says.
 */
#include "tests/unit/data-file.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#include "tracer/entry.h"
#include "tracer/output.h"
#include "tracer/ring-page.h"

/* --- symbols and tasks -------------------------------------------------------------------- */

struct symbol {
	uint64_t addr, size;
	char name[64];
};

struct world {
	struct symbol sym[512];
	size_t nr;
	struct comms *comms;
};

static struct world *world_new(void)
{
	struct world *w = calloc(1, sizeof(*w));

	assert_non_null(w);
	w->comms = comms_new(COMMS_DEFAULT_NR);
	assert_non_null(w->comms);
	return w;
}

static void world_free(struct world *w)
{
	comms_free(w->comms);
	free(w);
}

static const char *world_symbol(void *arg, uint64_t addr, uint64_t *off, uint64_t *size)
{
	const struct world *w = arg;

	for (size_t i = 0; i < w->nr; i++) {
		if (addr - w->sym[i].addr < w->sym[i].size) {
			*off = addr - w->sym[i].addr;
			*size = w->sym[i].size;
			return w->sym[i].name;
		}
	}
	return NULL;
}

static void world_add(struct world *w, uint64_t addr, uint64_t size, const char *name)
{
	struct symbol *s = &w->sym[w->nr++];

	assert_true(w->nr <= sizeof(w->sym) / sizeof(w->sym[0]));
	*s = (struct symbol){.addr = addr, .size = size};
	snprintf(s->name, sizeof(s->name), "%s", name);
}

static void world_note(struct world *w, int pid, int tgid, const char *name)
{
	char comm[COMM_LEN] = {0};

	memcpy(comm, name, strnlen(name, sizeof(comm) - 1));
	comms_note(w->comms, pid, tgid, comm);
}

static struct output_config world_config(struct world *w, uint32_t options, const char *tracer)
{
	return (struct output_config){
		.options = options,
		.tracer = tracer,
		.release = "6.1.0-56-cloud-amd64",
		.preempt_model = "desktop",
		.cpus = 2,
		.ns = true,
		.comms = w->comms,
		.symbol = world_symbol,
		.arg = w,
	};
}

/* As assert_string_equal(), but shows the first line that differs. */
static void assert_text_equal(const char *got, const char *want)
{
	size_t line = 0;

	for (size_t i = 0; got[i] && got[i] == want[i]; i++) {
		if (got[i] == '\n')
			line = i + 1;
	}
	if (strcmp(got, want))
		fail_msg("got  %.*s\nwant %.*s", (int)strcspn(got + line, "\n"), got + line,
			 (int)strcspn(want + line, "\n"), want + line);
}

static const char *next_line(const char *line)
{
	const char *end = strchr(line, '\n');

	return end ? end + 1 : line + strlen(line);
}

/* --- from raw pages ----------------------------------------------------------------------- */

static struct world *world_of_capture(const char *name)
{
	struct world *w = world_new();
	uint64_t addr, size;
	char file[128], sym[64], comm[32];
	char *tasks, *symbols;
	int pid;

	snprintf(file, sizeof(file), "%s.saved_cmdlines.txt", name);
	tasks = data_file(file, NULL);
	for (const char *p = tasks; *p; p = next_line(p)) {
		assert_int_equal(sscanf(p, "%d %31s", &pid, comm), 2);
		world_note(w, pid, pid, comm);
	}
	symbols = data_file("symbols.txt", NULL);
	for (const char *p = symbols; *p; p = next_line(p)) {
		assert_int_equal(sscanf(p, "%" SCNx64 " %" SCNx64 " %63s", &addr, &size, sym), 3);
		world_add(w, addr, size, sym);
	}
	free(symbols);
	free(tasks);
	return w;
}

static void check_capture(const char *name, uint64_t entries, bool all)
{
	struct world *w = world_of_capture(name);
	struct output_config cfg = world_config(w, OUTPUT_DEFAULT, "function");
	struct text text = {0};
	struct output o;
	struct ring_walk walk;
	struct ring_event ev;
	char file[128];
	char *page, *want;
	uint64_t lost;

	snprintf(file, sizeof(file), "%s.bin", name);
	page = data_file(file, NULL);
	snprintf(file, sizeof(file), "%s.txt", name);
	want = data_file(file, NULL);
	output_init(&o, &cfg, &text);
	output_header(&o, entries, entries);
	assert_int_equal(ring_walk_page(&walk, page, &lost), 0);
	while (ring_walk_next(&walk, &ev) > 0)
		output_event(&o, 0, &ev, ev.ts);
	text_putc(&text, '\0');
	assert_false(text.failed);
	if (!all) /* splice(2) left the last page in the buffer */
		want[text.len - 1] = '\0';
	assert_text_equal(text.buf, want);
	free(want);
	free(page);
	text_free(&text);
	world_free(w);
}

static void test_from_pages(void **state)
{
	(void)state;
	check_capture("function-events", 125, true);
	check_capture("splice-function-events", 185, false);
}

/* --- printing again what the kernel printed ----------------------------------------------- */

struct again {
	const char *file;
	uint32_t options;
	bool counts; /* times are bare counts */
};

static const struct again agains[] = {
	{"trace-empty-nop", OUTPUT_DEFAULT, false},
	{"function-default", OUTPUT_DEFAULT, false},
	{"function-print-parent-off", OUTPUT_DEFAULT & ~OUTPUT_PRINT_PARENT, false},
	{"sym-offset", OUTPUT_DEFAULT | OUTPUT_SYM_OFFSET, false},
	{"sym-addr", OUTPUT_DEFAULT | OUTPUT_SYM_ADDR, false},
	{"sym-offset-and-sym-addr", OUTPUT_DEFAULT | OUTPUT_SYM_OFFSET | OUTPUT_SYM_ADDR, false},
	{"function-latency-format", OUTPUT_DEFAULT | OUTPUT_LATENCY_FORMAT, false},
	{"verbose-latency-format", OUTPUT_DEFAULT | OUTPUT_LATENCY_FORMAT | OUTPUT_VERBOSE, false},
	{"nocontext-info", OUTPUT_DEFAULT & ~OUTPUT_CONTEXT_INFO, false},
	{"noirq-info", OUTPUT_DEFAULT & ~OUTPUT_IRQ_INFO, false},
	{"nop-irq-timer-workqueue-events", OUTPUT_DEFAULT, false},
	{"record-tgid", OUTPUT_DEFAULT | OUTPUT_RECORD_TGID, false},
	{"record-tgid-noirq-info", (OUTPUT_DEFAULT & ~OUTPUT_IRQ_INFO) | OUTPUT_RECORD_TGID, false},
	{"trace_clock-uptime", OUTPUT_DEFAULT, true},
	{"raw", OUTPUT_DEFAULT | OUTPUT_RAW, false},
	{"hex", OUTPUT_DEFAULT | OUTPUT_HEX, false},
};

/* One line of the kernel's, understood. */
struct parsed {
	struct trace_function_entry e;
	uint64_t ts;
	unsigned int cpu;
};

/* What its header says. */
struct parsed_header {
	char tracer[32];
	uint64_t entries, written;
	unsigned int cpu;
};

static void parse_header(const char *text, struct parsed_header *h)
{
	const char *at;

	*h = (struct parsed_header){0};
	assert_int_equal(sscanf(text, "# tracer: %31s", h->tracer), 1);
	at = strstr(text, "written: ");
	if (at)
		sscanf(at, "written: %" SCNu64 "/%" SCNu64, &h->entries, &h->written);
	at = strstr(text, " us, #");
	if (at)
		sscanf(at, " us, #%" SCNu64 "/%" SCNu64 ", CPU#%u", &h->entries, &h->written,
		       &h->cpu);
}

/* The character at any place but '.' says so. */
static void parse_flags(const char *c, struct trace_entry *ent)
{
	static const struct {
		unsigned int column;
		char c;
		uint8_t flags;
	} flags[] = {
		{0, 'd', TRACE_FLAG_IRQS_OFF},
		{0, 'b', TRACE_FLAG_BH_OFF},
		{0, 'D', TRACE_FLAG_IRQS_OFF | TRACE_FLAG_BH_OFF},
		{1, 'n', TRACE_FLAG_NEED_RESCHED},
		{1, 'p', TRACE_FLAG_PREEMPT_RESCHED},
		{1, 'N', TRACE_FLAG_NEED_RESCHED | TRACE_FLAG_PREEMPT_RESCHED},
		{2, 's', TRACE_FLAG_SOFTIRQ},
		{2, 'h', TRACE_FLAG_HARDIRQ},
		{2, 'H', TRACE_FLAG_SOFTIRQ | TRACE_FLAG_HARDIRQ},
	};

	for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
		if (c[flags[i].column] == flags[i].c)
			ent->flags |= flags[i].flags;
	}
	for (int i = 0; i < 2; i++) {
		char depth[] = {c[3 + i], '\0'};

		if (depth[0] != '.')
			ent->preempt_count |= (uint8_t)(strtoul(depth, NULL, 16) << i * 4);
	}
}

static const char *parse_task(struct world *w, const char *line, unsigned int width,
			      struct trace_entry *ent)
{
	char comm[COMM_LEN + 1] = {0}, tgid[8] = "";
	const char *start = line + strspn(line, " ");
	const char *at = line + width;
	int used = 0;

	memcpy(comm, start, (size_t)(at - start));
	for (size_t i = strlen(comm); i && comm[i - 1] == ' '; i--)
		comm[i - 1] = '\0';
	assert_int_equal(sscanf(at, "%*[- ]%d%n", &ent->pid, &used), 1);
	at += used;
	at += strspn(at, " ");
	if (sscanf(at, "(%7[-0-9 ])%n", tgid, &used) == 1)
		at += used;
	if (ent->pid)
		world_note(w, ent->pid, atoi(tgid), comm);
	return at + strspn(at, " ");
}

/* "init-196     [001] d..1.     5.521082: "; returns what is behind. */
static const char *parse_context(struct world *w, const char *line, const struct again *a,
				 struct parsed *p)
{
	const char *at = parse_task(w, line, 16, &p->e.ent);
	unsigned long secs, usecs = 0;
	int used = 0;

	assert_int_equal(sscanf(at, "[%u] %n", &p->cpu, &used), 1);
	at += used;
	if (a->options & OUTPUT_IRQ_INFO) {
		parse_flags(at, &p->e.ent);
		at += 5;
	}
	assert_true(sscanf(at, " %lu.%lu", &secs, &usecs) >= 1);
	p->ts = a->counts ? secs : (secs * 1000000 + usecs) * 1000;
	return strstr(at, ": ") + 2;
}

/* "init-264       1..... 16192us+: " */
static const char *parse_latency(struct world *w, const char *line, struct parsed *p)
{
	const char *at = parse_task(w, line, 8, &p->e.ent);
	int used = 0;

	assert_int_equal(sscanf(at, "%1u%n", &p->cpu, &used), 1);
	parse_flags(at + used, &p->e.ent);
	assert_int_equal(sscanf(at + used + 5, "%" SCNu64 "us", &p->ts), 1);
	p->ts *= 1000;
	return strstr(at, ": ") + 2;
}

/* "init     227   1 0 00000000 00000000 [00ed63df] 16.611ms (+0.043ms): "; without its time */
static const char *parse_verbose(struct world *w, const char *line, struct parsed *p)
{
	const char *at = parse_task(w, line, 16, &p->e.ent);
	unsigned int flags, depth;

	assert_int_equal(sscanf(at, "%u %u %x %*x [%" SCNx64 "]", &p->cpu, &flags, &depth, &p->ts),
			 4);
	p->e.ent.flags = (uint8_t)flags;
	p->e.ent.preempt_count = (uint8_t)depth;
	return strstr(at, ": ") + 2;
}

/* "vfs_statx+0xc2/0x180 <ffffffff813545c2>": an address that the world now calls so. */
static uint64_t parse_symbol(struct world *w, const char *at)
{
	uint64_t addr = 0, off = 0, size = 16;
	char name[64];
	const char *more;

	if (sscanf(at, "%63[a-zA-Z0-9_.]", name) != 1)
		return 0;
	more = at + strlen(name);
	if (*more == '+')
		assert_int_equal(sscanf(more, "+%" SCNx64 "/%" SCNx64, &off, &size), 2);
	more += strcspn(more, " \n");
	if (strncmp(more, " <f", 3) || sscanf(more, " <%" SCNx64 ">", &addr) != 1)
		addr = UINT64_C(0xffffffff90000000) + w->nr * 0x10000 + off;
	if (!world_symbol(w, addr, &(uint64_t){0}, &(uint64_t){0}))
		world_add(w, addr - off, size, name);
	return addr;
}

/*
 * What is behind the context: a function, with its parent or not, or the text of an event that has
 * no place here; then a function of the name "x" stands for it and false comes back.
 */
static bool parse_function(struct world *w, const char *at, uint32_t options, struct parsed *p)
{
	const char *end = strchr(at, '\n'), *parent = strstr(at, " <-");
	size_t name = strspn(at, "abcdefghijklmnopqrstuvwxyz_0123456789");

	if (parent && parent < end) {
		p->e.ip = parse_symbol(w, at);
		p->e.parent_ip = parse_symbol(w, parent + 3);
		return true;
	}
	p->e.ip = parse_symbol(w, at[name] == '\n' ? at : "x");
	p->e.parent_ip = options & OUTPUT_PRINT_PARENT ? 0 : 1;
	return at[name] == '\n';
}

/* "170 1 11339007692 ffffffff813548d0 ffffffff81354c7f"; hex is in hexadecimal throughout. */
static bool parse_numbers(const char *line, uint32_t options, struct parsed *p)
{
	uint64_t ip, parent;
	int found;

	if (*line == '\n')
		return false;
	if (options & OUTPUT_RAW)
		found = sscanf(line, "%d %u %" SCNu64 " %" SCNx64 " %" SCNx64, &p->e.ent.pid,
			       &p->cpu, &p->ts, &ip, &parent);
	else
		found = sscanf(line, "%x %x %" SCNx64 " %" SCNx64 " %" SCNx64,
			       (unsigned int *)&p->e.ent.pid, &p->cpu, &p->ts, &ip, &parent);
	if (found != 5)
		return false;
	p->e.ip = ip;
	p->e.parent_ip = parent;
	return true;
}

/*
 * Understand a line and append to want what we shall print for it: the line itself, or with "x" for
 * an event of another kind. False: nothing, the line is not one of ours.
 */
static bool parse_line(struct world *w, const char *line, const struct again *a, struct parsed *p,
		       struct text *want)
{
	const char *at = line;

	*p = (struct parsed){.e.ent.type = TRACE_FN};
	if (a->options & (OUTPUT_RAW | OUTPUT_HEX)) {
		if (!parse_numbers(line, a->options, p))
			return false;
		text_add(want, line, (size_t)(next_line(line) - line));
		return true;
	}
	if (a->options & OUTPUT_VERBOSE)
		at = parse_verbose(w, line, p);
	else if (a->options & OUTPUT_LATENCY_FORMAT)
		at = parse_latency(w, line, p);
	else if (a->options & OUTPUT_CONTEXT_INFO)
		at = parse_context(w, line, a, p);
	if (parse_function(w, at, a->options, p)) {
		text_add(want, line, (size_t)(next_line(line) - line));
		return true;
	}
	text_add(want, line, (size_t)(at - line));
	text_puts(want, "x\n");
	return true;
}

/*
 * Verbose lines have a time that was rounded three ways, so microseconds are not enough to print it
 * again: take nanoseconds that fit, and the start of the buffer's time.
 */
static uint64_t verbose_times(const struct again *a, struct parsed *p, size_t nr)
{
	char file[128], *times, *at;
	uint64_t start;

	if (!(a->options & OUTPUT_VERBOSE))
		return 0;
	snprintf(file, sizeof(file), "%s.times.txt", a->file);
	times = data_file(file, NULL);
	start = strtoull(times, &at, 10);
	for (size_t i = 0; i < nr; i++)
		p[i].ts = strtoull(at, &at, 10);
	free(times);
	return start;
}

static void check_again(const struct again *a)
{
	struct world *w = world_new();
	struct parsed_header h;
	struct parsed *p = calloc(256, sizeof(*p));
	struct text want = {0}, got = {0};
	struct output_config cfg;
	struct output o;
	char file[128], *text;
	const char *line;
	size_t nr = 0;

	snprintf(file, sizeof(file), "%s.txt", a->file);
	text = data_file(file, NULL);
	parse_header(text, &h);
	for (line = text; *line == '#'; line = next_line(line))
		text_add(&want, line, (size_t)(next_line(line) - line));
	cfg = world_config(w, a->options, h.tracer);
	cfg.ns = !a->counts;
	cfg.cpu = h.cpu;
	for (; *line; line = next_line(line))
		nr += parse_line(w, line, a, &p[nr], &want);
	cfg.time_start = verbose_times(a, p, nr);

	output_init(&o, &cfg, &got);
	output_header(&o, h.entries, h.written);
	for (size_t i = 0; i < nr; i++) {
		struct ring_event ev = {.ts = p[i].ts, .data = &p[i].e, .len = sizeof(p[i].e)};

		output_event(&o, p[i].cpu, &ev, i + 1 < nr ? p[i + 1].ts : p[i].ts);
	}
	text_putc(&want, '\0');
	text_putc(&got, '\0');
	assert_text_equal(got.buf, want.buf);
	text_free(&want);
	text_free(&got);
	free(text);
	free(p);
	world_free(w);
}

static void test_print_again(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(agains) / sizeof(agains[0]); i++)
		check_again(&agains[i]);
}

/* --- what no capture shows ---------------------------------------------------------------- */

static void print_one(struct output *o, unsigned int cpu, uint64_t lost)
{
	struct trace_function_entry e = {.ent = {.type = TRACE_FN}, .ip = 0, .parent_ip = 1};
	struct ring_event ev = {.ts = 1500, .data = &e, .len = sizeof(e), .lost = lost};

	output_event(o, cpu, &ev, ev.ts);
}

#define COLUMNS(cpu) "          <idle>-0       [00" #cpu "] .....     0.000002: "

static void check_text(struct text *text, const char *want)
{
	text_putc(text, '\0');
	assert_text_equal(text->buf, want);
	text->len = 0;
}

static void test_lost_and_started(void **state)
{
	struct world *w = world_new();
	struct output_config cfg = world_config(w, OUTPUT_DEFAULT, "function");
	struct text text = {0};
	struct output o;

	(void)state;
	output_init(&o, &cfg, &text);
	output_header(&o, 5, 6);
	text.len = 0;
	print_one(&o, 0, 0);
	print_one(&o, 1, 0);
	print_one(&o, 2, 3);
	print_one(&o, 2, 0);
	print_one(&o, 0, RING_LOST_UNKNOWN);
	check_text(
		&text,
		COLUMNS(0) "0 <-0x00000001\n" COLUMNS(
			1) "0 <-0x00000001\n"
			   "CPU:2 [LOST 3 EVENTS]\n"
			   "##### CPU 2 buffer started ####\n" COLUMNS(
				   2) "0 <-0x00000001\n" COLUMNS(2) "0 <-0x00000001\n"
								    "CPU:0 [LOST EVENTS]\n" COLUMNS(
									    0) "0 <-0x00000001\n");
	/* As trace_pipe: nothing about buffers. */
	output_init(&o, &cfg, &text);
	for (unsigned int cpu = 0; cpu < 3; cpu++)
		print_one(&o, cpu, 0);
	check_text(&text, COLUMNS(0) "0 <-0x00000001\n" COLUMNS(1) "0 <-0x00000001\n" COLUMNS(
				  2) "0 <-0x00000001\n");
	text_free(&text);
	world_free(w);
}

static void test_bad_entries(void **state)
{
	static const struct {
		uint32_t options;
		const char *want;
	} forms[] = {
		{OUTPUT_DEFAULT,
		 "          <idle>-0       [000] .....     0.000000: Unknown type 1\n"},
		{OUTPUT_DEFAULT | OUTPUT_RAW, "0 0 0 1 ?\n"},
		{OUTPUT_DEFAULT | OUTPUT_HEX, "00000000 00000000 0000000000000000 \n"},
	};
	struct trace_entry e = {.type = TRACE_FN};
	struct ring_event shorter = {.data = &e, .len = sizeof(e)},
			  shortest = {.data = &e, .len = 4};
	struct world *w = world_new();
	struct text text = {0};

	(void)state;
	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		struct output_config cfg = world_config(w, forms[i].options, "function");
		struct output o;

		output_init(&o, &cfg, &text);
		output_event(&o, 0, &shorter, 0);
		check_text(&text, forms[i].want);
		output_event(&o, 0, &shortest, 0);
		check_text(&text, "[ENTRY TOO SHORT]\n");
	}
	text_free(&text);
	world_free(w);
}

/* Every combination of context bits (trace_print_lat_fmt). */
static void test_flags(void **state)
{
	static const struct {
		uint8_t flags, count;
		const char *want;
	} cases[] = {
		{0, 0, "....."},
		{TRACE_FLAG_IRQS_OFF | TRACE_FLAG_BH_OFF, 0xf1, "D..1f"},
		{TRACE_FLAG_BH_OFF | TRACE_FLAG_NEED_RESCHED, 0x1a, "bn.a1"},
		{TRACE_FLAG_PREEMPT_RESCHED | TRACE_FLAG_NMI, 0x20, ".pz.2"},
		{TRACE_FLAG_NEED_RESCHED | TRACE_FLAG_PREEMPT_RESCHED | TRACE_FLAG_HARDIRQ, 3,
		 ".Nh3."},
		{TRACE_FLAG_IRQS_OFF | TRACE_FLAG_HARDIRQ | TRACE_FLAG_SOFTIRQ, 0, "d.H.."},
		{TRACE_FLAG_HARDIRQ | TRACE_FLAG_SOFTIRQ | TRACE_FLAG_NMI, 0, "..Z.."},
		{TRACE_FLAG_SOFTIRQ | TRACE_FLAG_NMI, 0, "..z.."},
	};
	struct world *w = world_new();
	struct output_config cfg = world_config(w, OUTPUT_DEFAULT, "function");
	struct text text = {0};
	struct output o;

	(void)state;
	output_init(&o, &cfg, &text);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct trace_function_entry e = {
			.ent = {.type = TRACE_FN,
				.flags = cases[i].flags,
				.preempt_count = cases[i].count},
		};
		struct ring_event ev = {.data = &e, .len = sizeof(e)};
		char want[128];

		snprintf(want, sizeof(want), "          <idle>-0       [000] %s     0.000000: 0\n",
			 cases[i].want);
		output_event(&o, 0, &ev, 0);
		check_text(&text, want);
	}
	text_free(&text);
	world_free(w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_from_pages),
		cmocka_unit_test(test_print_again),
		cmocka_unit_test(test_lost_and_started),
		cmocka_unit_test(test_bad_entries),
		cmocka_unit_test(test_flags),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
