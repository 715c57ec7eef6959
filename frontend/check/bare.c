// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * bare.c - checks of hvtrace's own machine, with a guest of some hundred bytes (image-bare.S). It
 * runs once, with all kinds of traps in it; the checks look at what has come of it.
 */
#include "frontend/check/check.h"
#include "frontend/check/image.h"
#include "vmm/machine.h"

#include <inttypes.h>
#include <string.h>
#include <time.h>

#define MIB	(UINT64_C(1) << 20)
#define MEMORY	(64 * MIB)
#define WINDOW	(2 * MIB)
#define TIME_MS 20000
#define WORD	UINT64_C(0x5a5a1234f00dbeef)

enum bare_site { BARE_OUT, BARE_INT3, BARE_RETURN, BARE_RUN_ONCE, NR_BARE_SITES };

struct bare_hits {
	uint64_t n, first_ns, last_ns;
	uint64_t odd;	      /* with registers or an address that they cannot have had */
	uint64_t bad_tsc;     /* with a time that was not between two readings of the guest's */
	uint64_t last_tsc;    /* of the one before */
	uint64_t least, most; /* ticks from the guest's reading to ours */
};

struct bare {
	struct machine *m;
	struct machine_info info;
	struct machine_event end;
	struct bare_hits hits[NR_BARE_SITES]; /* the vCPU's thread; read when it has ended */
	uint64_t window_pa;
	uint64_t *window;
	int window_rc;
	char err[256];
};

static uint64_t bare_pa(const uint8_t *place)
{
	return BARE_BASE + (uint64_t)(place - bare_image);
}

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

/* --- the run ---------------------------------------------------------------------------------- */

static void bare_late(struct bare_hits *h, uint64_t ticks)
{
	if (!h->n || ticks < h->least)
		h->least = ticks;
	if (ticks > h->most)
		h->most = ticks;
}

static void bare_trap(struct machine *m, const struct machine_hit *hit, void *arg)
{
	struct bare *b = arg;
	struct bare_hits *h = &b->hits[hit->cookie];
	uint64_t before = hit->regs->rbx;

	(void)m;
	h->last_ns = now_ns();
	if (!h->n)
		h->first_ns = h->last_ns;
	if ((uint32_t)hit->regs->rcx != BARE_ROUNDS - (h->n < BARE_ROUNDS ? h->n : 0))
		h->odd++;
	if (hit->tsc < before || before < h->last_tsc)
		h->bad_tsc++;
	else
		bare_late(h, hit->tsc - before);
	h->last_tsc = hit->tsc;
	h->n++;
}

static int bare_traps(struct bare *b)
{
	const struct machine_trap traps[] = {
		{.va = bare_pa(bare_out),
		 .size = BARE_SITE,
		 .kind = MACHINE_TRAP_OUT,
		 .action = MACHINE_TRAP_SKIP,
		 .cookie = BARE_OUT},
		{.va = bare_pa(bare_int3),
		 .size = BARE_SITE,
		 .kind = MACHINE_TRAP_INT3,
		 .action = MACHINE_TRAP_SKIP,
		 .cookie = BARE_INT3},
		{.va = bare_pa(bare_return),
		 .size = BARE_SITE,
		 .kind = MACHINE_TRAP_OUT,
		 .action = MACHINE_TRAP_RETURN,
		 .cookie = BARE_RETURN},
		{.va = bare_pa(bare_once),
		 .size = BARE_ONCE,
		 .kind = MACHINE_TRAP_OUT,
		 .action = MACHINE_TRAP_ONCE,
		 .cookie = BARE_RUN_ONCE},
	};
	struct machine_trap at[sizeof(traps) / sizeof(traps[0])];

	memcpy(at, traps, sizeof(traps));
	for (size_t i = 0; i < sizeof(at) / sizeof(at[0]); i++)
		at[i].pa = at[i].va;
	return machine_traps_set(b->m, at, sizeof(at) / sizeof(at[0]));
}

static void bare_window_make(struct bare *b)
{
	void *host;

	b->window_rc = machine_window(b->m, WINDOW, &b->window_pa, &host);
	if (b->window_rc)
		return;
	b->window = host;
	b->window[0] = WORD;
	b->window_rc =
		machine_write(b->m, bare_pa(bare_window), &b->window_pa, sizeof(b->window_pa));
}

static bool bare_open(struct bare *b)
{
	const struct machine_config cfg = {
		.memory = MEMORY,
		.vcpus = 1,
		.kernel = bare_image,
		.kernel_size = (size_t)(bare_image_end - bare_image),
		.cmdline = "",
		.trap = bare_trap,
		.arg = b,
	};

	b->m = machine_new("kvm", &cfg, b->err, sizeof(b->err));
	if (!b->m)
		return false;
	machine_get_info(b->m, &b->info);
	return true;
}

/* What ends a guest that does not end itself is the end of the time. */
static void bare_run(struct bare *b)
{
	uint64_t end = now_ns() + (uint64_t)TIME_MS * 1000000;
	int rc = bare_traps(b);

	bare_window_make(b);
	if (rc || machine_start(b->m, b->err, sizeof(b->err))) {
		b->end.type = MACHINE_EVENT_ERROR;
		snprintf(b->end.text, sizeof(b->end.text), "%s", rc ? strerror(-rc) : b->err);
		return;
	}
	do
		machine_wait(b->m, &b->end, 100);
	while (b->end.type == MACHINE_EVENT_NONE && now_ns() < end);
	machine_pause(b->m); /* never ended: nothing of it is changed any more */
}

/* --- the checks ------------------------------------------------------------------------------- */

static void bare_machine(void *arg, struct check_result *res)
{
	const struct bare *b = arg;

	if (b->end.type == MACHINE_EVENT_RESET)
		check_say(res, CHECK_OK, "boots and ends as it should");
	else if (b->end.type == MACHINE_EVENT_NONE)
		check_say(res, CHECK_FAILED, "the guest has not ended in %d s", TIME_MS / 1000);
	else
		check_say(res, CHECK_FAILED, "the guest ended: %s", b->end.text);
}

static void bare_mode(void *arg, struct check_result *res)
{
	const struct bare *b = arg;

	if (b->info.emulated)
		check_say(res, CHECK_NOTE,
			  "interpreted by this host, %.1f million instructions a second: see "
			  "docs/emulating-hosts.md",
			  b->info.kernel_insns_per_sec / 1e6);
	else
		check_say(res, CHECK_OK, "runs on the processor");
}

static bool look_at_hits(const struct bare_hits *h, uint64_t want, struct check_result *res)
{
	if (h->n == want && !h->odd)
		return true;
	check_say(res, CHECK_FAILED,
		  "%" PRIu64 " hits instead of %" PRIu64 ", %" PRIu64 " with wrong registers", h->n,
		  want, h->odd);
	return false;
}

static void bare_hits_check(const struct bare_hits *h, struct check_result *res)
{
	if (look_at_hits(h, BARE_ROUNDS, res))
		check_say(res, CHECK_OK, "%.1f us, %" PRIu64 " of %d",
			  (double)(h->last_ns - h->first_ns) / (BARE_ROUNDS - 1) / 1000, h->n,
			  BARE_ROUNDS);
}

static void bare_by_out(void *arg, struct check_result *res)
{
	bare_hits_check(&((struct bare *)arg)->hits[BARE_OUT], res);
}

static void bare_by_int3(void *arg, struct check_result *res)
{
	bare_hits_check(&((struct bare *)arg)->hits[BARE_INT3], res);
}

static void bare_by_return(void *arg, struct check_result *res)
{
	bare_hits_check(&((struct bare *)arg)->hits[BARE_RETURN], res);
}

static uint32_t bare_word(const struct bare *b, const uint8_t *place)
{
	uint32_t word = UINT32_MAX;

	machine_read(b->m, bare_pa(place), &word, sizeof(word));
	return word;
}

static void bare_by_once(void *arg, struct check_result *res)
{
	const struct bare *b = arg;
	uint32_t count = bare_word(b, bare_count);

	if (!look_at_hits(&b->hits[BARE_RUN_ONCE], 1, res))
		return;
	check_say(res, count == BARE_ROUNDS ? CHECK_OK : CHECK_FAILED,
		  "the instruction ran %" PRIu32 " times of %d", count, BARE_ROUNDS);
}

static void bare_registers(void *arg, struct check_result *res)
{
	uint32_t flaws = bare_word(arg, bare_flaws);

	if (flaws)
		check_say(res, CHECK_FAILED, "changed behind %" PRIu32 " hits", flaws);
	else
		check_say(res, CHECK_OK, "all as they were in front of a hit");
}

static void bare_clock(void *arg, struct check_result *res)
{
	const struct bare *b = arg;
	const struct bare_hits *out = &b->hits[BARE_OUT];
	double us = 1000.0 / (double)b->info.tsc_khz;
	uint64_t bad = 0;

	for (unsigned int i = 0; i <= BARE_RETURN; i++)
		bad += b->hits[i].bad_tsc;
	if (bad || !out->n)
		check_say(res, CHECK_FAILED,
			  "%" PRIu64 " of %" PRIu64
			  " hits had a time that the guest's own TSC disproves",
			  bad, out->n);
	else
		check_say(res, CHECK_OK, "%.1f to %.1f us behind the guest's own readings",
			  (double)out->least * us, (double)out->most * us);
}

static void bare_window_check(void *arg, struct check_result *res)
{
	const struct bare *b = arg;

	if (b->window_rc)
		check_say(res, CHECK_FAILED, "cannot be had: %s", strerror(-b->window_rc));
	else if (__atomic_load_n(&b->window[1], __ATOMIC_SEQ_CST) != ~WORD)
		check_say(res, CHECK_FAILED, "the guest has not written to it");
	else
		check_say(res, CHECK_OK, "at %#" PRIx64, b->window_pa);
}

static const struct check bare_checks[] = {
	{"own: machine", bare_machine},
	{"own: kernel mode", bare_mode},
	{"own: traps by out", bare_by_out},
	{"own: traps by int3", bare_by_int3},
	{"own: traps of returns", bare_by_return},
	{"own: trap that is spent", bare_by_once},
	{"own: registers", bare_registers},
	{"own: clock", bare_clock},
	{"own: window", bare_window_check},
	{NULL, NULL},
};

void check_bare(struct check_report *r)
{
	struct bare b = {.m = NULL};

	if (!bare_open(&b)) {
		check_cannot(r, "own: machine", b.err);
		return;
	}
	bare_run(&b);
	checks_run(r, bare_checks, &b);
	machine_free(b.m);
}
