// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * fuzz-user.c - what is read on behalf of a task of the guest: the stack of its user mode, the
 * files behind addresses of it, the list that it is on, and what the arguments of probe events
 * fetch.
 *
 * An input is which of them, what that takes, and changes to a sound guest.
 */
#include <stdio.h>

#include "tests/fuzz/scribble.h"
#include "tests/unit/made-probes.h"
#include "tests/unit/user-guest.h"
#include "tracer/events/define/fetch.h"

enum { IPS_MAX = 32, RECORD_MAX = 4000 };

/* In struct task_struct and signal_struct, besides what user-guest.h has there. */
enum { TASK_SIGNAL = 48, TASK_THREAD_NODE = 56, TASK_SP = 72, SIGNAL = 0x1700, THREAD_HEAD = 8 };

/* The clocks of the CPU, and what its per-CPU area has besides. */
enum {
	PER_CPU = 0xe000, /* __per_cpu_offset[], and behind it the area */
	PCPU_CURRENT = 0x10,
	PCPU_COUNT = 0x18,
	PCPU_CYC2NS = 0x20,
	PCPU_SCD = 0x50,
	PCPU_PVCLOCK = 0x60,
	FAST = 0xe100,
	CLOCKSOURCE = 0xe200,
	CORE = 0xe280,
	PVCLOCK = 0xe300,
};

#define PLACE(off, size_)                                                                          \
	{                                                                                          \
		.pa = FAKE_PA + (off), .va = FAKE_VA(off), .size = (size_)                         \
	}

static struct place places[] = {
	PLACE(INIT_TASK, 0x50),
	PLACE(OTHER, 0x50),
	PLACE(SIGNAL, 0x20),
	PLACE(MM, 0x20),
	PLACE(KERNEL_STACK + STACK_SIZE - REGS_SIZE, REGS_SIZE),
	PLACE(ROOT_NODE, 0x100),
	PLACE(LEAF_NODE, 0x100),
	PLACE(VMA_TEXT, 0x220), /* and the other two */
	PLACE(FILE_TEXT, 0x110),
	PLACE(MOUNT_ROOT, 0x120),
	PLACE(DENTRY_ROOT, 0x520), /* all of them */
	PLACE(NAMES, 0x520),
	PLACE(PER_CPU, 0x70),
	PLACE(FAST, 0x80),
	PLACE(CLOCKSOURCE, 0x40),
	PLACE(CORE, 0x40),
	PLACE(PVCLOCK, 0x20),
	{.pa = FAKE_PA + USER_PAGES, .va = USER_STACK, .size = 0x200},
	{.pa = FAKE_PA + USER_PAGES + 0xf00, .va = USER_STACK + 0xf00, .size = 0x200},
	{.pa = FAKE_PA + USER_PAGES + 0x1f00, .va = USER_STACK + 0x1f00, .size = 0x100},
};

enum { NR_PLACES = sizeof(places) / sizeof(places[0]) };

static struct user_layout in_list; /* of a kernel without maple trees */
static struct fake_guest sound;	   /* what its types are like */

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void add_thread(void)
{
	tasks.signal = TASK_SIGNAL;
	tasks.thread_node = TASK_THREAD_NODE;
	tasks.sp = TASK_SP;
	tasks.thread_head = THREAD_HEAD;
	put(OTHER + TASK_SIGNAL, FAKE_VA(SIGNAL), 8);
	put(OTHER + TASK_THREAD_NODE, FAKE_VA(SIGNAL + THREAD_HEAD), 8);
	put(SIGNAL + THREAD_HEAD, FAKE_VA(OTHER + TASK_THREAD_NODE), 8);
}

static void add_clock_types(void)
{
	static const struct {
		const char *path;
		uint32_t offset, size;
	} fields[] = {
		{"tk_fast.seq", 0, 4},
		{"tk_fast.base", 8, 112},
		{"tk_read_base.clock", 0, 8},
		{"tk_read_base.cycle_last", 16, 8},
		{"tk_read_base.mult", 24, 4},
		{"tk_read_base.shift", 28, 4},
		{"tk_read_base.xtime_nsec", 32, 8},
		{"tk_read_base.base", 40, 8},
		{"clocksource.name", 0x10, 8},
		{"timekeeper.tkr_mono.clock", 0, 8},
		{"timekeeper.offs_boot", 16, 8},
		{"timekeeper.offs_tai", 24, 8},
		{"sched_clock_data.tick_raw", 0, 8},
		{"sched_clock_data.tick_gtod", 8, 8},
		{"cyc2ns.data", 0, 32},
		{"cyc2ns.seq", 32, 4},
		{"cyc2ns_data.cyc2ns_mul", 0, 4},
		{"cyc2ns_data.cyc2ns_shift", 4, 4},
		{"cyc2ns_data.cyc2ns_offset", 8, 8},
		{"task_struct.pid", TASK_PID, 4},
		{"task_struct.comm", 0x30, 16},
	};

	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
		fake_field(fields[i].path, fields[i].offset, fields[i].size);
}

static void add_clocks(void)
{
	fake_symbol("__per_cpu_offset", FAKE_VA(PER_CPU), 'D');
	fake_symbol("current_task", PCPU_CURRENT, 'A');
	fake_symbol("__preempt_count", PCPU_COUNT, 'A');
	fake_symbol("cyc2ns", PCPU_CYC2NS, 'A');
	fake_symbol("sched_clock_data", PCPU_SCD, 'A');
	fake_symbol("hv_clock_per_cpu", PCPU_PVCLOCK, 'A');
	fake_symbol("tk_fast_mono", FAKE_VA(FAST), 'd');
	fake_symbol("tk_fast_raw", FAKE_VA(FAST), 'd');
	fake_symbol("tk_core", FAKE_VA(CORE), 'b');
	fake_symbol("__use_tsc", FAKE_VA(CORE + 0x30), 'd');
	put(PER_CPU, FAKE_VA(PER_CPU), 8);
	put(PER_CPU + PCPU_CURRENT, FAKE_VA(OTHER), 8);
	put(PER_CPU + PCPU_CYC2NS, UINT64_C(10) << 32 | 1 << 9, 8);
	put(PER_CPU + PCPU_PVCLOCK, FAKE_VA(PVCLOCK), 8);
	put(FAST + 8, FAKE_VA(CLOCKSOURCE), 8);
	put(FAST + 32, UINT64_C(10) << 32 | 1 << 9, 8);
	put(CORE + 8, FAKE_VA(CLOCKSOURCE), 8);
	put(CORE + 0x30, 1, 4);
	put(CLOCKSOURCE + 0x10, FAKE_VA(CLOCKSOURCE + 0x20), 8);
	memcpy(fake_at(FAKE_VA(CLOCKSOURCE + 0x20)), "kvm-clock", 10);
	put(PVCLOCK + 24, 0x80000000u, 4);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc, (void)argv;
	if (!user_guest_make(true))
		return -1;
	add_thread();
	add_clock_types();
	add_clocks();
	put_user(USER_STACK + 0x100, USER_STACK + 0xffc);
	put_user(USER_STACK + 0x108, USER_TEXT + 0x111);
	put_user(USER_STACK + 0x1004, USER_LIB + 0x222);
	places_keep(places, NR_PLACES);
	in_list = at;
	in_list.mm_tree = USER_NO_FIELD;
	sound = fake;
	return 0;
}

/* --- stacks, files, tasks -------------------------------------------------------------------- */

static void fuzz_stack(struct input *in)
{
	unsigned int max = input_byte(in) % (IPS_MAX + 1);
	uint64_t task = input_address(in, places, NR_PLACES), *ips = malloc(max * sizeof(*ips) + 1);

	if (task % 4)
		task = FAKE_VA(OTHER);
	scribble(places, NR_PLACES, in);
	if (!ips || user_stack(&guest, &at, &tasks, task, ips, max) > max)
		abort();
	free(ips);
}

static void fuzz_file(struct input *in, const struct user_layout *layout)
{
	static const uint64_t some[] = {USER_TEXT + 5, USER_TEXT + 0x1005, USER_LIB + 5};
	char *path = malloc(USER_PATH_MAX);
	uint64_t ip = input_byte(in), start = 0;

	ip = ip < 128 ? some[ip % 3] : input_address(in, places, NR_PLACES);
	scribble(places, NR_PLACES, in);
	if (!path)
		abort();
	if (user_object(&guest, layout, &tasks, 7, ip, path, &start) &&
	    (path[0] != '/' || strnlen(path, USER_PATH_MAX) == USER_PATH_MAX ||
	     strchr(path, '\n') || start > ip))
		abort();
	free(path);
}

static bool one_task(void *arg, const struct task *task)
{
	unsigned int *left = arg;

	(void)task;
	return !*left || --*left;
}

static void fuzz_tasks(struct input *in)
{
	unsigned int enough = input_byte(in); /* 0: all of them */

	scribble(places, NR_PLACES, in);
	tasks_each(&guest, &tasks, one_task, &enough);
}

/* --- arguments of probes --------------------------------------------------------------------- */

static const char *const lines[] = {
	"p:x vfs_open a=$arg1 b=$arg9 s=$stack2 c=$comm r=%cs p=$stack",
	"p:x vfs_open a=+0($arg1):string b=+u0($arg2):ustring c=+0($arg1):x64[4]",
	"p:x vfs_open a=+8(+0($arg1)):string[8] b=+0($arg2):ustring[8] c=\\\"text\":string",
	"p:x vfs_open a=+0x20(+0x10(+8(+0($arg1)))):b7@5/16 b=+0($arg2):b3@1/8[9] c=@0x401000:u16",
	"p:x vfs_open a=$arg1:symstr b=+0($arg1):symstr c=%si:symbol d=$arg1:s8 e=%ax:char",
	"r:x vfs_open a=$retval b=+0($retval):string c=+4(%sp):u32[64] d=+0(%sp):string[64]",
};

/* One of the above, or what the input has. */
static struct probe_def *definition(struct input *in)
{
	const struct probe_symbols symbols = {
		.count = made_count, .entry = made_entry, .has_char = true};
	size_t which = input_byte(in) % 16, nr = sizeof(lines) / sizeof(lines[0]);
	struct probe_def *def = NULL;
	struct probe_words words;
	struct probe_error err;
	char line[128] = "";

	if (which >= nr) {
		size_t n = (size_t)snprintf(line, sizeof(line), "p:x vfs_open "), end;

		end = n + input_byte(in) % (sizeof(line) - n);
		while (n < end)
			line[n++] = (char)input_byte(in);
		line[n] = '\0';
	}
	if (probe_words_split(&words, which < nr ? lines[which] : line))
		return NULL;
	if (probe_def_parse(&words, &symbols, &def, &err))
		def = NULL;
	probe_words_free(&words);
	return def;
}

static int read_memory(void *arg, bool user, uint64_t va, void *buf, size_t len)
{
	(void)arg;
	return user ? user_read(&guest, &at, FAKE_VA(OTHER), va, buf, len)
		    : guest_read(&guest, va, buf, len);
}

/* As long as its address says, and as there is room. */
static size_t symbol(void *arg, uint64_t addr, char *buf, size_t size)
{
	size_t len = addr % 4096 < size ? addr % 4096 : size - 1;

	(void)arg;
	memset(buf, 's', len);
	buf[len] = '\0';
	return len;
}

static void check_string(const uint8_t *record, size_t len, const uint8_t *place)
{
	uint32_t loc;

	memcpy(&loc, place, sizeof(loc));
	if (loc >> 16 && ((loc & 0xffff) + (loc >> 16) > len ||
			  memchr(record + (loc & 0xffff), '\0', loc >> 16) !=
				  record + (loc & 0xffff) + (loc >> 16) - 1))
		abort();
}

static void check_record(const struct probe_def *def, const uint8_t *record, size_t head,
			 size_t len)
{
	for (unsigned int i = 0; i < def->nr_args; i++) {
		const struct fetch_arg *a = &def->arg[i];

		if (head + a->offset + fetch_arg_size(a) > len)
			abort();
		for (uint32_t k = 0; a->type->string && k < (a->count ? a->count : 1); k++)
			check_string(record, len, record + head + a->offset + 4 * k);
	}
}

static void fuzz_fetch(struct input *in)
{
	size_t max = input_u16(in) % (RECORD_MAX + 1), head, len;
	struct probe_def *def = definition(in);
	struct machine_regs regs = {
		.rdi = input_address(in, places, NR_PLACES),
		.rsi = input_address(in, places, NR_PLACES),
		.rax = input_address(in, places, NR_PLACES),
		.rsp = input_address(in, places, NR_PLACES),
	};
	const struct fetch_hit hit = {.regs = &regs,
				      .ip = regs.rax,
				      .comm = "comm",
				      .read = read_memory,
				      .symbol = symbol};
	uint8_t *record;

	if (!def)
		return;
	head = def->is_return ? PROBE_RETURN_HEAD : PROBE_HEAD;
	max = max < head ? head : max;
	record = malloc(max);
	scribble(places, NR_PLACES, in);
	if (!record)
		abort();
	len = fetch_args(def->arg, def->nr_args, &hit, record, head, max);
	if (len > max)
		abort();
	if (len)
		check_record(def, record, head, len);
	free(record);
	probe_def_free(def);
}

/* --- the CPU --------------------------------------------------------------------------------- */

static void fuzz_cpu(struct input *in)
{
	struct machine_regs regs = {.rsp = input_address(in, places, NR_PLACES)};
	enum guest_time time = input_byte(in) % 4;
	uint64_t tsc = input_u64(in);
	struct guest_state st;
	struct guest_clock c;

	scribble(places, NR_PLACES, in);
	guest_get_state(&guest, 0, &regs, &st);
	if (strnlen(st.comm, sizeof(st.comm)) == sizeof(st.comm))
		abort();
	guest_get_clock(&guest, 0, tsc & 1, &c);
	guest_clock_ns(&c, tsc);
	guest_get_time(&guest, 0, time, tsc, &c);
	guest_clock_ns(&c, tsc);
}

/* --- inputs ---------------------------------------------------------------------------------- */

/* Types may have their members anywhere, and of any size. */
static void learn(struct input *in)
{
	static bool changed;
	unsigned int n = input_byte(in) % 4;
	char err[256];

	if (!n && !changed)
		return;
	changed = n;
	fake = sound;
	for (; n; n--) {
		struct guestsym_field *f = &fake.fields[input_byte(in) % fake.nfields].field;
		uint64_t word = input_byte(in) & 1 ? input_u64(in) : input_byte(in);

		f->offset = (uint32_t)word;
		if (word >> 32)
			f->size = (uint32_t)(word >> 32);
	}
	memset(&guest, 0, sizeof(guest));
	if (guest_learn(&guest, NULL, err, sizeof(err)))
		abort();
	guest_bind(&guest, NULL);
	user_learn(&at, NULL);
	in_list = at;
	in_list.mm_tree = USER_NO_FIELD;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = {data, size};
	uint8_t what = input_byte(&in) % 6;

	learn(&in);
	switch (what) {
	case 0:
		fuzz_stack(&in);
		break;
	case 1:
		fuzz_file(&in, &at);
		break;
	case 2:
		fuzz_file(&in, &in_list);
		break;
	case 3:
		fuzz_tasks(&in);
		break;
	case 4:
		fuzz_cpu(&in);
		break;
	default:
		fuzz_fetch(&in);
	}
	places_restore(places, NR_PLACES);
	return 0;
}
