/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * join-world.h - files of two guests for tests, and the one that they are joined to. The first is
 * that of made-trace.h. The second one's kernel lies elsewhere, has other numbers for its events,
 * and a sched_switch of another layout.
 */
#ifndef HVTRACE_TESTS_JOIN_WORLD_H
#define HVTRACE_TESTS_JOIN_WORLD_H

#include "tests/unit/decode-world.h"

#include "frontend/join/join.h"

enum { DB_SWITCH = 400, DB_IRQ = 401, DB_TIMER = 402 };

/* Where the second kernel is, and its functions. */
#define DB_AT	   UINT64_C(0xffffffff9a000000)
#define DB_FUNC(n) (DB_AT + (n)*0x100)

static const struct dat_format join_db_formats[] = {
	{"ftrace",
	 {"name: function\nID: 1\n" MADE_COMMON
	  "\tfield:unsigned long ip;\toffset:8;\tsize:8;\tsigned:0;\n"
	  "\tfield:unsigned long parent_ip;\toffset:16;\tsize:8;\tsigned:0;\n"
	  "\nprint fmt: \" %ps <-- %ps\", (void *)REC->ip, (void *)REC->parent_ip\n",
	  0}},
	{"ftrace",
	 {"name: kernel_stack\nID: 4\n" MADE_COMMON
	  "\tfield:int size;\toffset:8;\tsize:4;\tsigned:1;\n"
	  "\tfield:unsigned long caller[8];\toffset:16;\tsize:64;\tsigned:0;\n"
	  "\nprint fmt: \"\\t=> %ps\\n\", (void *)REC->caller[0]\n",
	  0}},
	{"sched",
	 {"name: sched_switch\nID: 400\n" MADE_COMMON
	  "\tfield:char prev_comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"
	  "\tfield:pid_t next_pid;\toffset:24;\tsize:4;\tsigned:1;\n"
	  "\nprint fmt: \"%s goes, %d comes\", REC->prev_comm, REC->next_pid\n",
	  0}},
	/* But for the sign of texts as the other one's. */
	{"irq",
	 {"name: irq_handler_entry\nID: 401\n" MADE_COMMON
	  "\tfield:int irq;\toffset:8;\tsize:4;\tsigned:1;\n"
	  "\tfield:__data_loc char[] name;\toffset:12;\tsize:4;\tsigned:1;\n"
	  "\nprint fmt: \"irq=%d name=%s\", REC->irq, __get_str(name)\n",
	  0}},
	{"test",
	 {"name: timer\nID: 402\n" MADE_COMMON
	  "\tfield:void * what;\toffset:8;\tsize:8;\tsigned:0;\n"
	  "\tfield:long number;\toffset:16;\tsize:8;\tsigned:1;\n"
	  "\tfield:__data_loc unsigned long[] stack;\toffset:24;\tsize:4;\tsigned:0;\n"
	  "\nprint fmt: \"%5.*s what=%pS number=%ld stack=%pS\", 3, \"%%ps\", REC->what, REC->number, "
	  "((unsigned long *)__get_dynamic_array(stack))[0]\n",
	  0}},
	{NULL, {NULL, 0}},
};

static const char join_db_kallsyms[] = "ffffffff9a000000 T _stext\n"
				       "ffffffff9a000100 T db_read\n"
				       "ffffffff9a000200 T db_write\n"
				       "ffffffff9a000300 T __schedule\n";

struct join_db_record {
	uint16_t type;
	uint8_t flags, preempt_count;
	int32_t pid;
	union {
		uint64_t word[12];
		struct {
			char prev_comm[16];
			int32_t next_pid;
		} sw;
		struct {
			int32_t irq;
			uint32_t where;
			char name[8];
		} irq;
		struct {
			uint64_t what;
			int64_t number;
			uint32_t where, unused;
			uint64_t stack[2];
		} timer;
	};
};

static inline void join_db_page(struct made_page *p)
{
	const struct join_db_record all[] = {
		{.type = MADE_FUNCTION, .pid = 2, .word = {DB_FUNC(1) + 4, DB_FUNC(2) + 8}},
		{.type = MADE_STACK,
		 .pid = 2,
		 .word = {2, DB_FUNC(2) + 1, DB_FUNC(1) + 2, UINT64_MAX}},
		{.type = DB_SWITCH, .pid = 2, .sw = {"nginx", 9}},
		{.type = DB_IRQ, .pid = 9, .irq = {14, 6 << 16 | 16, "timer"}},
		{.type = DB_TIMER,
		 .pid = 9,
		 .timer = {DB_FUNC(2), -0x70000000, 16 << 16 | 32, 0, {DB_FUNC(1), DB_FUNC(3)}}},
		{.type = MADE_FUNCTION, .pid = 9, .word = {DB_FUNC(0x100), 0x1234}},
		{.type = 77, .pid = 9},
	};
	static const size_t len[] = {24, 40, 28, 24, 48, 24, 16};

	made_page_begin(p, MADE_T0 + 100);
	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
		made_page_event(p, MADE_T0 + 100 + i * 1000, &all[i], len[i]);
	made_page_end(p, 3);
}

static inline void join_db_spec(struct made_dat_spec *s)
{
	static struct made_page page;
	static const struct made_vcpu top[] = {{0, page.bytes, RING_PAGE_SIZE}};
	static const struct made_buffer buffers[] = {{"", "global", top, 1}, {NULL, NULL, NULL, 0}};
	static const struct made_option options[] = {
		{DAT_OPTION_UNAME, "Linux db 6.12 x86_64", 21},
		{DAT_OPTION_CPUSTAT, "CPU: 0\nentries: 3\n", 19},
		{0, NULL, 0},
	};

	join_db_page(&page);
	*s = (struct made_dat_spec){
		.version = 7,
		.compression = "zstd",
		.kallsyms = join_db_kallsyms,
		.cmdlines = "1 init\n2 nginx\n",
		.formats = join_db_formats,
		.options = options,
		.buffers = buffers,
		.cpus = 1,
	};
}

static inline void join_web_spec(struct made_dat_spec *s)
{
	static const struct made_option options[] = {
		{DAT_OPTION_UNAME, "Linux web 6.1 x86_64", 21},
		{DAT_OPTION_CPUSTAT, "CPU: 0\nentries: 0\n", 19},
		{DAT_OPTION_CPUSTAT, "CPU: 1\nentries: 5\n", 19},
		{DAT_OPTION_CPUSTAT, "\nBuffer: one\n\nCPU: 0\nentries: 7\n", 33},
		{0, NULL, 0},
	};

	*s = (struct made_dat_spec){.version = 7, .compression = "zstd"};
	made_trace_spec(s);
	s->options = options;
}

static inline int join_file_of(const struct made_dat_spec *s)
{
	struct made_dat m = made_dat(s);
	int fd = made_file(&m, m.len);

	free(m.bytes);
	return fd;
}

static inline int join_web(void)
{
	struct made_dat_spec s;

	join_web_spec(&s);
	return join_file_of(&s);
}

static inline int join_db(void)
{
	struct made_dat_spec s;

	join_db_spec(&s);
	return join_file_of(&s);
}

static inline struct dat *join_opened_again(int fd)
{
	char err[256];
	struct dat *d = dat_open_fd(dup(fd), "made", err, sizeof(err));

	if (!d)
		fail_msg("%s", err);
	return d;
}

struct joined {
	int fd;
	int rc;
	char err[256];
	struct join_result result;
};

/* Of two files, which are closed. */
static inline struct joined join_two(int a, int b, bool own_times)
{
	static const char *const paths[] = {"/tmp/a.dat", "/tmp/b.dat"};
	const int in[] = {a, b};
	struct joined j = {.fd = memfd_create("out", MFD_CLOEXEC)};
	const struct join_options opt = {
		.out = "out.dat",
		.paths = paths,
		.nr = 2,
		.own_times = own_times,
		.result = &j.result,
	};
	const struct join_fds fds = {in, memfd_create("journal", MFD_CLOEXEC), j.fd};

	j.rc = join_opened(&opt, &fds, j.err, sizeof(j.err));
	close(fds.journal);
	close(a);
	close(b);
	return j;
}

/* The second one beside the first, which are joined. */
static inline struct joined join_both(void)
{
	struct joined j = join_two(join_web(), join_db(), true);

	if (j.rc)
		fail_msg("%s", j.err);
	return j;
}

#endif
