// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test-unwind-ours.c - stack traces through code of ours, which is interrupted at each of the
 * payload's instructions, and elsewhere: by the kernel's tables, and along frame pointers.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tests/unit/unwind-guest.h"
#include "tracer/payload/code.h"
#include "tracer/payload/frame.h"

#define DEPTH 32
#define OURS  UINT64_C(0xffffffffb0000000) /* the payload */
#define MOVED (OURS + 0x100000)		   /* what stands for PUSHED + 7 */
#define LOST  (OURS + 0x200000)		   /* nobody knows what for */

enum { IRQ = 0x700, ABOVE = 0x1000 };

static bool ours(void *arg, uint64_t ip, struct guest_ours *o)
{
	struct payload_frame f;

	(void)arg;
	*o = (struct guest_ours){.home = ip == MOVED ? va(PUSHED + 7) : 0};
	if (payload_frame_at((uint32_t)(ip - OURS), &f)) {
		o->returns = true;
		o->words = f.words;
		o->bare = f.bare;
	}
	return ip >= OURS && ip <= LOST;
}

static int setup(void **state)
{
	(void)state;
	assert_true(unwind_guest_make());
	guest.ours = ours;
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	guest.ours = NULL;
	free(fake.ram);
	return 0;
}

static struct unwind *new_unwind(bool frame_pointers)
{
	char err[256];
	struct unwind *u;

	if (frame_pointers) {
		fake.orc_ip = fake.orc_unwind = (struct guestsym_range){0};
		put_function(LEAF);
		put_function(PUSHED);
	}
	u = unwind_new(NULL, err, sizeof(err));
	if (!u)
		fail_msg("%s", err);
	return u;
}

/* An interrupt's LEAF, called by ENTRY, which has come in at ip, with this much on the stack. */
static struct machine_regs interrupted(uint64_t ip, const uint64_t *words, size_t n)
{
	uint64_t sp = TASK_STACK + IRQ, above = TASK_STACK + ABOVE - 8 * n;

	memset(fake.ram + TASK_STACK, 0, 0x4000);
	put(sp, va(ENTRY + 9));
	put(sp + 8 + 32, AT(TASK_STACK + 0x1800)); /* %rbp */
	put(sp + 8 + 128, ip);
	put(sp + 8 + 136, KERNEL_CS);
	put(sp + 8 + 152, AT(above));
	for (size_t i = 0; i < n; i++)
		put(above + 8 * i, words[i]);
	return (struct machine_regs){
		.rip = va(LEAF), .rsp = AT(sp), .rbp = AT(sp + 8) + 1 /* ENCODE_FRAME_POINTER */};
}

/* Where the function goes on that has a site in the middle. */
static void put_frames(void)
{
	uint64_t frame = TASK_STACK + 0x1800;

	/* As PUSHED has it, and the same as a frame pointer tells. */
	put(TASK_STACK + ABOVE + 16, AT(frame + 0x100));
	put(TASK_STACK + ABOVE + 24, va(BASED + 9));
	put(frame, AT(frame + 0x100));
	put(frame + 8, va(BASED + 9));
	put(frame + 0x100, 0x1234);
	put(frame + 0x108, va(THREAD + 1));
}

static void expect(const struct unwind *u, const struct machine_regs *regs, const uint64_t *ips,
		   unsigned int n)
{
	uint64_t got[DEPTH];
	unsigned int nr = unwind_stack(u, &guest, regs, got, NULL, DEPTH);

	for (unsigned int i = 0; i < n && i < nr; i++)
		if (got[i] != ips[i])
			fail_msg("address %u is 0x%lx, not 0x%lx", i, got[i], ips[i]);
	assert_int_equal(nr, n);
}

#define EXPECT(u, regs, ...)                                                                       \
	expect(u, regs, (const uint64_t[]){__VA_ARGS__},                                           \
	       sizeof((const uint64_t[]){__VA_ARGS__}) / 8)

/* What has been pushed looks as if it were the way back. */
static size_t pushed(const struct payload_frame *f, uint64_t *words)
{
	for (size_t i = 0; i < f->words; i++)
		words[i] = va(PUSHED + 0x40);
	return f->words;
}

/*
 * The site is where PUSHED begins or returns: above its end lies where BASED called it. Or in its
 * midst: there is more of it above the site's end.
 */
static void check_return(const struct unwind *u, uint64_t ip, uint64_t *words, size_t n, bool bare)
{
	struct machine_regs regs;

	words[n++] = va(PUSHED + 5);
	if (bare)
		words[n++] = va(BASED + 5);
	regs = interrupted(ip, words, n);
	put_frames();
	if (bare)
		EXPECT(u, &regs, va(LEAF), va(ENTRY + 9), va(PUSHED + 5), va(BASED + 5),
		       va(BASED + 9), va(THREAD + 1));
	else
		EXPECT(u, &regs, va(LEAF), va(ENTRY + 9), va(PUSHED + 5), va(BASED + 9),
		       va(THREAD + 1));
}

static unsigned int interrupt_everywhere(const struct unwind *u)
{
	struct payload_frame f, caller;
	/* One that has pushed nothing but the site's end, and one that has words of its own. */
	const uint32_t record = (uint32_t)(payload_function - payload_code),
		       probe = (uint32_t)(payload_kprobe_call - payload_code);
	unsigned int frames = 0;
	uint64_t words[300];
	size_t n;

	for (uint32_t off = 0; off < (uint32_t)(payload_code_end - payload_code); off++) {
		if (!payload_frame_at(off, &f))
			continue;
		frames++;
		check_return(u, OURS + off, words, pushed(&f, words), f.bare);
		/* Called by other parts of it. */
		n = pushed(&f, words);
		words[n++] = OURS + record;
		check_return(u, OURS + off, words, n, true);
		n = pushed(&f, words);
		words[n++] = OURS + probe;
		assert_true(payload_frame_at(probe, &caller));
		assert_true(caller.words > 0);
		n += pushed(&caller, words + n);
		check_return(u, OURS + off, words, n, false);
	}
	return frames;
}

static void test_interrupts(void **state)
{
	struct unwind *u = new_unwind(false);

	(void)state;
	assert_true(interrupt_everywhere(u) > 4000);
	unwind_free(u);
	u = new_unwind(true);
	assert_true(interrupt_everywhere(u) > 4000);
	unwind_free(u);
}

/* In what has moved, and called from there. */
static void test_moved(void **state)
{
	const uint32_t cli = (uint32_t)(payload_moved_cli - payload_code);
	const uint64_t called[] = {MOVED};
	struct machine_regs regs;

	(void)state;
	for (int fp = 0; fp < 2; fp++) {
		struct unwind *u = new_unwind(fp);

		regs = interrupted(MOVED, NULL, 0);
		put_frames();
		EXPECT(u, &regs, va(LEAF), va(ENTRY + 9), va(PUSHED + 7), va(BASED + 9),
		       va(THREAD + 1));
		regs = interrupted(OURS + cli, called, 1);
		put_frames();
		EXPECT(u, &regs, va(LEAF), va(ENTRY + 9), va(PUSHED + 7), va(BASED + 9),
		       va(THREAD + 1));
		unwind_free(u);
	}
}

/* What is looked at first is in code of ours. */
static void test_first(void **state)
{
	const uint32_t entry = (uint32_t)(payload_function - payload_code);
	struct machine_regs regs = {.rip = OURS + entry, .rsp = AT(TASK_STACK)};
	struct unwind *u = new_unwind(false);
	uint64_t ips[DEPTH], sps[DEPTH];

	(void)state;
	put(TASK_STACK, va(PUSHED + 5));
	put(TASK_STACK + 8, va(THREAD + 1));
	assert_int_equal(unwind_stack(u, &guest, &regs, ips, sps, DEPTH), 2);
	assert_int_equal(ips[0], va(PUSHED + 5));
	assert_int_equal(ips[1], va(THREAD + 1));
	assert_int_equal(sps[0], AT(TASK_STACK + 8));
	assert_int_equal(sps[1], AT(TASK_STACK + 16));
	regs.rip = LOST;
	EXPECT(u, &regs, LOST);
	EXPECT(NULL, &regs, LOST);
	regs.rip = MOVED;
	EXPECT(NULL, &regs, va(PUSHED + 7));
	unwind_free(u);
}

static void test_ends(void **state)
{
	const uint32_t entry = (uint32_t)(payload_function - payload_code);
	struct machine_regs regs = interrupted(LOST, NULL, 0);
	uint64_t round[100];
	struct unwind *u = new_unwind(false);

	(void)state;
	put_frames();
	EXPECT(u, &regs, va(LEAF), va(ENTRY + 9));
	for (size_t i = 0; i < 100; i++)
		round[i] = OURS + entry;
	regs = interrupted(OURS + entry, round, 100);
	EXPECT(u, &regs, va(LEAF), va(ENTRY + 9));
	regs = interrupted(OURS + entry, (const uint64_t[]){0x401000}, 1);
	EXPECT(u, &regs, va(LEAF), va(ENTRY + 9));
	/* The stack ends there. */
	regs = interrupted(OURS + entry, NULL, 0);
	put(TASK_STACK + IRQ + 8 + 152, AT(FAKE_RAM));
	EXPECT(u, &regs, va(LEAF), va(ENTRY + 9));
	unwind_free(u);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_interrupts),
		TEST(test_moved),
		TEST(test_first),
		TEST(test_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
