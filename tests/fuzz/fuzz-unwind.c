// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * fuzz-unwind.c - stack traces of a guest whose tables, stacks and lists may hold anything.
 *
 * An input is what kind of trace (as the bits of its first byte say), the registers, and changes to
 * a sound guest.
 */
#include "tests/fuzz/scribble.h"
#include "tests/unit/unwind-guest.h"
#include "tracer/unwind/unwind.h"

enum { DEPTH = 64, COPY_WORDS = 64 };

enum {
	LAYOUT = 3, /* of the tables; the last: none, but frame pointers */
	BY_ENTRY = 4,
	BY_COPIES = 8,
	WITH_MODULE = 16,
	MODULE_WAY = 32, /* from its text on */
};

#define PLACE(pa_, size_)                                                                          \
	{                                                                                          \
		.pa = (pa_), .va = AT(pa_), .size = (size_)                                        \
	}

static struct place places[] = {
	PLACE(TASK_STACK + 0x1000, 0x200),
	PLACE(IRQ_STACK + 0xe00, 0x400), /* with the beginning of the page behind it */
	PLACE(FAKE_PA + ORC_IP, 4 * NR_ROWS),
	PLACE(FAKE_PA + ORC_ENTRIES, sizeof(struct orc_entry) * NR_ROWS),
	{.pa = FAKE_PA + LEAF, .va = FAKE_VA(LEAF) + SLIDE, .size = 0xd00}, /* text */
	PLACE(FAKE_PA + PER_CPU_OFFSET, 0x200),
	PLACE(FAKE_PA + TASK, 0x40),
	PLACE(FAKE_PA + NODES, 4 * HOOK_SIZE),
	PLACE(MOD, 24),
	PLACE(MOD_IP, 4 * NR_ROWS),
	PLACE(MOD_ENTRIES, sizeof(struct orc_entry) * NR_ROWS),
	{.pa = MOD_TEXT, .va = MOD_VA, .size = TEXT_END},
};

enum { NR_PLACES = sizeof(places) / sizeof(places[0]) };

static const struct guestsym_module module = {
	.addr = MOD_BASE + MOD,
	.text = {MOD_VA, MOD_VA + TEXT_END},
};

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	uint64_t sp = TASK_STACK + 0x1000;

	(void)argc, (void)argv;
	if (!unwind_guest_make())
		return -1;
	system_call();
	add_hooks();
	put_hook(0, AT(sp), va(PUSHED + 9));
	put_hook(1, AT(sp + 8 + 24), va(BASED + 9));
	put_function(LEAF);
	put_function(PUSHED);
	map_module();
	put_module(NR_ROWS);
	places_keep(places, NR_PLACES);
	return 0;
}

/* --- what comes out -------------------------------------------------------------------------- */

/* As the header says: the first is where the guest stands, the others are in some text. */
static void check(const uint64_t *ips, unsigned int n, unsigned int max, uint64_t ip)
{
	if (n > max || (max && !n) || (n && ips[0] != ip))
		abort();
	for (unsigned int i = 1; i < n; i++)
		if (ips[i] < UINT64_C(0xffffffff80000000))
			abort();
}

static unsigned int by_copies(struct unwind *u, const struct machine_regs *regs, uint64_t *ips,
			      unsigned int max)
{
	static uint64_t words[2][COPY_WORDS];
	const struct unwind_words copies[] = {
		{AT(TASK_STACK + 0x1000), words[0], COPY_WORDS},
		{AT(IRQ_STACK + 0xe00), words[1], COPY_WORDS / 2},
	};

	memcpy(words[0], fake.ram + TASK_STACK + 0x1000, sizeof(words[0]));
	memcpy(words[1], fake.ram + IRQ_STACK + 0xe00, sizeof(words[1]));
	return unwind_copies(u, &guest, regs->rip, regs->rsp, regs->rbp, copies, 2, ips, max);
}

static void trace(struct unwind *u, unsigned int how, const struct machine_regs *regs,
		  unsigned int max)
{
	uint64_t ips[DEPTH], sps[DEPTH];
	unsigned int n;

	if (how & BY_COPIES)
		n = by_copies(u, regs, ips, max);
	else if (how & BY_ENTRY)
		n = unwind_entry(u, &guest, regs->rip, regs->rsp, regs->rbp, ips, sps, max);
	else
		n = unwind_stack(u, &guest, regs, ips, sps, max);
	check(ips, n, max, regs->rip);
	if (n && !(how & BY_COPIES) && sps[0] != regs->rsp)
		abort();
}

/* --- inputs ---------------------------------------------------------------------------------- */

static struct machine_regs registers(struct input *in, unsigned int how)
{
	struct machine_regs regs = {
		.rip = how & MODULE_WAY ? MOD_VA + LEAF : va(LEAF + 5),
		.rsp = AT(TASK_STACK + 0x1000),
		.rbp = AT(TASK_STACK + 0x1080),
	};
	uint64_t *const any[] = {&regs.rip, &regs.rsp, &regs.rbp, &regs.r10,
				 &regs.r13, &regs.rdx, &regs.rdi};

	for (unsigned int i = input_byte(in) % 8; i; i--)
		*any[input_byte(in) % 7] = input_address(in, places, NR_PLACES);
	return regs;
}

static void make_tables(unsigned int how)
{
	if ((how & LAYOUT) == LAYOUT) {
		fake.orc_ip = fake.orc_unwind = (struct guestsym_range){0};
		return;
	}
	put_orc((enum orc_layout)(how & LAYOUT));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = {data, size};
	unsigned int how = input_byte(&in), max = input_byte(&in) % (DEPTH + 1);
	struct machine_regs regs = registers(&in, how);
	char err[256] = "";
	struct unwind *u;

	make_tables(how);
	scribble(places, NR_PLACES, &in);
	u = unwind_new(NULL, err, sizeof(err));
	if (!u && (!err[0] || strchr(err, '\n')))
		abort();
	if (u && how & WITH_MODULE)
		unwind_modules(u, NULL, &guest, &module, 1);
	trace(u, how, &regs, max);
	unwind_free(u);
	places_restore(places, NR_PLACES);
	return 0;
}
