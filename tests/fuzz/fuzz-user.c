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
#include "tracer/fetch.h"

enum { IPS_MAX = 32, RECORD_MAX = 4000 };

/* In struct task_struct and signal_struct, besides what user-guest.h has there. */
enum { TASK_SIGNAL = 48, TASK_THREAD_NODE = 56, TASK_SP = 72, SIGNAL = 0x1700, THREAD_HEAD = 8 };

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
	{.pa = FAKE_PA + USER_PAGES, .va = USER_STACK, .size = 0x200},
	{.pa = FAKE_PA + USER_PAGES + 0xf00, .va = USER_STACK + 0xf00, .size = 0x200},
	{.pa = FAKE_PA + USER_PAGES + 0x1f00, .va = USER_STACK + 0x1f00, .size = 0x100},
};

enum { NR_PLACES = sizeof(places) / sizeof(places[0]) };

static struct user_layout in_list; /* of a kernel without maple trees */

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

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc, (void)argv;
	if (!user_guest_make(true))
		return -1;
	add_thread();
	put_user(USER_STACK + 0x100, USER_STACK + 0xffc);
	put_user(USER_STACK + 0x108, USER_TEXT + 0x111);
	put_user(USER_STACK + 0x1004, USER_LIB + 0x222);
	in_list = at;
	in_list.mm_tree = USER_NO_FIELD;
	places_keep(places, NR_PLACES);
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
	char line[128];

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

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = {data, size};

	switch (input_byte(&in) % 5) {
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
	default:
		fuzz_fetch(&in);
	}
	places_restore(places, NR_PLACES);
	return 0;
}
