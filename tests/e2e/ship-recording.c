// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * ship-recording.c - writes a trace.dat of so many records as one wants: system calls of 16 tasks
 * on two vCPUs, each with a tree of calls of 500 functions. Prints how many records there are, and
 * the sums of their times and of durations of functions and system calls.
 *
 * usage: ship-recording FILE RECORDS [SEED [GUEST [KERNEL]]]
 */
#include "tests/unit/made-trace.h"

#include <inttypes.h>

enum {
	VCPUS = 2,
	TASKS = 16,
	FIRST_PID = 1000,
	FUNCTIONS = 500,
	SYSCALLS = 300,
	BATCH = 24, /* records of one system call, about */
	SYS_ENTER = 323,
	SYS_EXIT = 324,
};

static const struct dat_format call_formats[] = {
	{"raw_syscalls",
	 {"name: sys_enter\nID: 323\n" MADE_COMMON
	  "\tfield:long id;\toffset:8;\tsize:8;\tsigned:1;\n"
	  "\nprint fmt: \"%ld\", REC->id\n",
	  0}},
	{"raw_syscalls",
	 {"name: sys_exit\nID: 324\n" MADE_COMMON
	  "\tfield:long id;\toffset:8;\tsize:8;\tsigned:1;\n"
	  "\tfield:long ret;\toffset:16;\tsize:8;\tsigned:1;\n"
	  "\nprint fmt: \"%ld\", REC->ret\n",
	  0}},
};

struct vcpu {
	struct made_page page;
	struct made_dat pages;
	uint64_t now;
	bool begun;
};

struct recording {
	struct vcpu vcpu[VCPUS];
	uint64_t seed, left, nr, times, functions, calls;
};

static uint64_t next_random(struct recording *r)
{
	r->seed = r->seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return r->seed >> 33;
}

/* --- records -----------------------------------------------------------------------------------
 */

static void end_page(struct vcpu *v)
{
	made_page_end(&v->page, 0);
	made_add(&v->pages, v->page.bytes, RING_PAGE_SIZE);
}

static void put(struct recording *r, struct vcpu *v, const void *data, size_t len)
{
	if (v->begun && v->page.len + ring_event_size(len) > RING_PAGE_DATA) {
		end_page(v);
		v->begun = false;
	}
	if (!v->begun)
		made_page_begin(&v->page, v->now);
	v->begun = true;
	made_page_event(&v->page, v->now, data, len);
	r->nr++;
	r->times += v->now;
	r->left -= r->left > 0;
}

static void put_call(struct recording *r, struct vcpu *v, uint16_t type, int32_t pid, int64_t id,
		     int64_t ret)
{
	const struct {
		uint16_t type;
		uint8_t flags, preempt_count;
		int32_t pid;
		int64_t id, ret;
	} record = {.type = type, .pid = pid, .id = id, .ret = ret};

	put(r, v, &record, type == SYS_EXIT ? 24 : 16);
}

/* From a fraction of a microsecond on, and now and then much more. */
static uint64_t some_time(struct recording *r, uint64_t function)
{
	uint64_t ns = 40 + function % 64 * 8 + next_random(r) % 200;

	return next_random(r) % 1000 ? ns : ns * (1 + next_random(r) % 500);
}

/* A function, and what it calls. */
static void put_function(struct recording *r, struct vcpu *v, int32_t pid, int32_t depth)
{
	uint64_t n = next_random(r) % FUNCTIONS;
	struct made_record record = {
		.type = MADE_ENTRY,
		.pid = pid,
		.graph = {.func = MADE_FUNC(n), .depth = depth, .calltime = v->now},
	};

	put(r, v, &record, 24);
	v->now += some_time(r, n);
	while (depth < 6 && next_random(r) % 3 == 0)
		put_function(r, v, pid, depth + 1);
	v->now += some_time(r, n);
	record.type = MADE_EXIT;
	record.graph.rettime = v->now;
	put(r, v, &record, 40);
	r->functions += record.graph.rettime - record.graph.calltime;
}

static void put_syscall(struct recording *r, struct vcpu *v)
{
	int32_t pid = FIRST_PID + (int32_t)(v - r->vcpu) +
		      VCPUS * (int32_t)(next_random(r) % (TASKS / VCPUS));
	int64_t id = (int64_t)(next_random(r) % SYSCALLS);
	uint64_t since = v->now, until = r->nr + BATCH - 2;

	put_call(r, v, SYS_ENTER, pid, id, 0);
	v->now += 50;
	while (r->nr < until)
		put_function(r, v, pid, 0);
	v->now += 50;
	put_call(r, v, SYS_EXIT, pid, id, next_random(r) % 20 ? 0 : -11);
	r->calls += v->now - since;
	v->now += 100 + next_random(r) % 1000;
}

static void put_all(struct recording *r)
{
	for (unsigned int i = 0; i < VCPUS; i++)
		r->vcpu[i].now = MADE_T0;
	while (r->left) {
		struct vcpu *v = r->vcpu[0].now <= r->vcpu[1].now ? &r->vcpu[0] : &r->vcpu[1];

		put_syscall(r, v);
	}
	for (unsigned int i = 0; i < VCPUS; i++)
		if (r->vcpu[i].begun)
			end_page(&r->vcpu[i]);
}

/* --- the file ----------------------------------------------------------------------------------
 */

static char *functions(void)
{
	char *text;
	size_t len;
	FILE *to = open_memstream(&text, &len);

	assert_non_null(to);
	for (unsigned int i = 0; i < FUNCTIONS; i++)
		fprintf(to, "%" PRIx64 " t made_function_%u\n", MADE_FUNC(i), i);
	fclose(to);
	return text;
}

static char *tasks(void)
{
	char *text;
	size_t len;
	FILE *to = open_memstream(&text, &len);

	assert_non_null(to);
	for (unsigned int i = 0; i < TASKS; i++)
		fprintf(to, "%u made-task-%u\n", FIRST_PID + i, i);
	fclose(to);
	return text;
}

static void write_file(struct recording *r, const char *path, const char *guest, const char *kernel)
{
	struct made_vcpu vcpus[VCPUS];
	const struct made_buffer buffers[] = {{"", "local", vcpus, VCPUS}, {NULL, NULL, NULL, 0}};
	const uint64_t id = r->seed;
	char uname[256];
	const struct made_option options[] = {
		{DAT_OPTION_TRACEID, &id, sizeof(id)},
		{DAT_OPTION_UNAME, uname, sizeof(uname)},
		{0, NULL, 0},
	};
	struct dat_format formats[16] = {{NULL, {NULL, 0}}};
	struct made_dat_spec spec = {
		.version = 7,
		.formats = formats,
		.options = options,
		.buffers = buffers,
		.cpus = VCPUS,
		.kallsyms = functions(),
		.cmdlines = tasks(),
	};
	struct made_dat m;
	size_t n = 0;
	FILE *to = fopen(path, "we");

	assert_non_null(to);
	snprintf(uname, sizeof(uname), "Linux %s %s x86_64", guest, kernel);
	for (const struct dat_format *f = made_trace_formats; f->text.text; f++)
		formats[n++] = *f;
	for (size_t i = 0; i < sizeof(call_formats) / sizeof(*call_formats); i++)
		formats[n++] = call_formats[i];
	for (unsigned int i = 0; i < VCPUS; i++)
		vcpus[i] = (struct made_vcpu){i, r->vcpu[i].pages.bytes, r->vcpu[i].pages.len};
	m = made_dat(&spec);
	assert_int_equal(fwrite(m.bytes, 1, m.len, to), m.len);
	assert_int_equal(fclose(to), 0);
	free(m.bytes);
	free((char *)(uintptr_t)spec.kallsyms);
	free((char *)(uintptr_t)spec.cmdlines);
}

int main(int argc, char **argv)
{
	static struct recording r;

	if (argc < 3) {
		fprintf(stderr, "usage: ship-recording FILE RECORDS [SEED [GUEST [KERNEL]]]\n");
		return 2;
	}
	r.left = strtoull(argv[2], NULL, 10);
	r.seed = argc > 3 ? strtoull(argv[3], NULL, 10) : 1;
	put_all(&r);
	write_file(&r, argv[1], argc > 4 ? argv[4] : "made", argc > 5 ? argv[5] : "6.1.0-1-amd64");
	printf("%" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", r.nr, r.times, r.functions,
	       r.calls);
	for (unsigned int i = 0; i < VCPUS; i++)
		free(r.vcpu[i].pages.bytes);
	return 0;
}
