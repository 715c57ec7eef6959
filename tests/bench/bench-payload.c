// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * bench-payload.c - what a record costs on this processor: the payload's code, run by this process
 * as if it were a guest, against what no tracer can do without: reading the time stamp counter once
 * for each record, and storing as many bytes.
 *
 * Once with rings that stay in the cache, once with rings that are larger than the last one, where
 * each record is a miss. The kinds take turns, and the two ways of each do; what counts is the
 * median of their ratios: a host changes its speed from one second to the next.
 */
#include "tests/unit/payload-guest.h"

#include <x86intrin.h>

#include "tests/bench/bench.h"

enum {
	ROUNDS = 101,
	TRIES = 10,	 /* of each way in a round, which is the best of them */
	RECORDS = 5000,	 /* in a try */
	WARM = 32 << 10, /* bytes of a ring */
	COLD_LEAST = 64 << 20,
	COLD_MOST = 256 << 20, /* both rings lie in the lowest 2 GiB */
	HUGE_PAGE = 2 << 20,
	EVENT_WORDS = 3, /* of the event's own data */
	SITE_ROOM = 64,
};

struct bench {
	struct payload_guest g;
	uint8_t *mapped;
	size_t mapped_size;
	struct guest_fbuffer fbuffer;
};

/* A kind of record: the guest's code that makes it, and the least that it takes. */
struct kind {
	const char *name, *what;
	void (*prepare)(struct bench *b, uint8_t *code);
	void (*least)(struct bench *b, unsigned int n);
};

/* --- code in the guest ------------------------------------------------------------------------ */

/* Call the function so many times. */
void bench_calls(const void *function, uint64_t n);

__asm__(".pushsection .text\n"
	".globl bench_calls\n"
	"bench_calls:\n"
	"	push %rbx; push %rbp; sub $8, %rsp\n"
	"	mov %rdi, %rbx; mov %rsi, %rbp\n"
	"	.balign 16\n"
	"1:	call *%rbx\n"
	"	dec %rbp\n"
	"	jnz 1b\n"
	"	add $8, %rsp; pop %rbp; pop %rbx\n"
	"	ret\n"
	".popsection\n");

static uint8_t *put(uint8_t *code, const void *bytes, size_t len)
{
	memcpy(code, bytes, len);
	return code + len;
}

static uint8_t *put_call(struct bench *b, uint8_t *code, uint32_t entry)
{
	int32_t rel = (int32_t)(b->g.window + WINDOW_TEXT + entry - (code + 5));

	code = put(code, "\xe8", 1);
	return put(code, &rel, sizeof(rel));
}

/* A flag site: six bytes. */
static uint8_t *put_flag(struct bench *b, uint8_t *code, uint32_t entry)
{
	return put_call(b, put(code, "\x2e", 1), entry);
}

/* mov $value, the register: of a C function's first and second argument */
static uint8_t *put_argument(uint8_t *code, const char *insn, const void *value)
{
	code = put(code, insn, 2);
	return put(code, &value, sizeof(value));
}

static void put_return(uint8_t *code)
{
	put(code, "\xc3", 1);
}

static void call_code(struct bench *b, uint8_t *code)
{
	put_return(put_call(b, code, b->g.text.function));
}

static void exit_code(struct bench *b, uint8_t *code)
{
	put_call(b, code, b->g.text.exit);
}

static void exit_all_code(struct bench *b, uint8_t *code)
{
	put_call(b, code, b->g.text.exit_all);
}

static void both_code(struct bench *b, uint8_t *code)
{
	put_call(b, put_call(b, code, b->g.text.function), b->g.text.exit);
}

/*
 * The kernel's cli and sti would be there without the payload, and fault here: NOPs. So interrupts
 * are always on, and what asks for them at the other end is told the contrary.
 */
static void flags_code(struct bench *b, uint8_t *code)
{
	uint8_t *text = b->g.window + WINDOW_TEXT, *at = text + b->g.text.cli;

	assert_memory_equal(at, "\x9c\x58\xfa", 3); /* pushf; pop %rax; cli */
	at[2] = 0x90;
	at = text + b->g.text.sti;
	assert_memory_equal(at, "\x9c\x58\xa9\x00\x02\x00\x00\x74", 8); /* ...; test $IF; jz */
	at[7] = 0x75;
	at = text + b->g.text.moved_cli - 2;	/* of payload_sti */
	assert_memory_equal(at, "\xfb\xc3", 2); /* sti; ret */
	at[0] = 0x90;
	put_return(put_flag(b, put_flag(b, code, b->g.text.cli), b->g.text.sti));
}

/* No window is as long. */
static void short_code(struct bench *b, uint8_t *code)
{
	flags_code(b, code);
	*ctl64(&b->g, CTL_CRITICAL_MIN) = UINT64_MAX;
}

static void window_code(struct bench *b, uint8_t *code)
{
	flags_code(b, code);
	*ctl64(&b->g, CTL_CRITICAL_MIN) = 0;
}

/* What the probe of an event does: reserve, fill in, commit. */
static void event_code(struct bench *b, uint8_t *code)
{
	code = put_argument(code, "\x48\xbf", &b->fbuffer);			 /* %rdi */
	code = put_argument(code, "\x48\xbe", b->g.window + WINDOW_EVENT_FILES); /* %rsi */
	code = put(code, "\xba\x18\x00\x00\x00", 5);				 /* mov $24, %edx */
	_Static_assert(EVENT_WORDS * 8 == 24, "as the code has it");
	code = put_call(b, code, b->g.text.reserve);
	code = put(code, "\x48\x89\x18\x48\x89\x58\x08\x48\x89\x58\x10", 11); /* %rbx to (%rax) */
	code = put_argument(code, "\x48\xbf", &b->fbuffer);
	put_return(put_call(b, code, b->g.text.commit));
}

/* --- the least -------------------------------------------------------------------------------- */

typedef volatile uint64_t word;

static word *ring_at(struct bench *b, uint64_t nr)
{
	return (word *)&b->g.ring[nr & (b->g.cfg.ring_size / PAYLOAD_RECORD_SIZE - 1)];
}

static void store_record(word *r, uint64_t tsc)
{
	r[0] = tsc;
	r[1] = tsc;
	r[2] = tsc;
	r[3] = tsc;
}

static void least_record(struct bench *b, unsigned int n)
{
	uint64_t head = *ctl64(&b->g, CTL_HEAD);

	for (uint64_t end = head + n; head < end; head++)
		store_record(ring_at(b, head), __rdtsc());
	*ctl64(&b->g, CTL_HEAD) = head;
}

static void least_both(struct bench *b, unsigned int n)
{
	least_record(b, 2 * n);
}

/* Where the beginning is noted: what of it is open is in the control block. */
static void store_open(struct bench *b)
{
	word *open = ctl64(&b->g, CTL_OPEN);

	store_record(open, __rdtsc());
	(void)__rdtsc();
	open[0] = 0;
}

static void least_short(struct bench *b, unsigned int n)
{
	while (n--)
		store_open(b);
}

static void least_window(struct bench *b, unsigned int n)
{
	uint64_t head = *ctl64(&b->g, CTL_HEAD);

	for (uint64_t end = head + 2 * n; head < end; head += 2) {
		store_open(b);
		store_record(ring_at(b, head), head);
		store_record(ring_at(b, head + 1), head);
	}
	*ctl64(&b->g, CTL_HEAD) = head;
}

static void least_event(struct bench *b, unsigned int n)
{
	word *fbuffer = (word *)&b->fbuffer;
	uint64_t head = *ctl64(&b->g, CTL_HEAD), at = *ctl64(&b->g, CTL_EVENT_HEAD);
	uint8_t *events = (uint8_t *)(uintptr_t)b->g.cfg.event_rings;

	for (uint64_t end = head + n; head < end; head++) {
		word *data = (word *)(void *)(events + (at & (b->g.cfg.event_ring_size - 1)));

		store_record(ring_at(b, head), __rdtsc());
		for (unsigned int i = 0; i < 3; i++)
			fbuffer[i] = head;
		for (unsigned int i = 0; i < EVENT_WORDS + 1; i++)
			data[i] = head;
		at += (EVENT_WORDS + 1) * sizeof(*data);
	}
	*ctl64(&b->g, CTL_HEAD) = head;
	*ctl64(&b->g, CTL_EVENT_HEAD) = at;
}

static const struct kind kinds[] = {
	{"call", "call of a function", call_code, least_record},
	{"exit", "return of a function", exit_code, least_record},
	{"exit-all", "return, all registers kept", exit_all_code, least_record},
	{"call-exit", "call and return", both_code, least_both},
	{"irqs", "irqs off and on, too short", short_code, least_short},
	{"irqs-window", "irqs off and on, recorded", window_code, least_window},
	{"event", "event of 24 bytes", event_code, least_event},
};

enum { KINDS = sizeof(kinds) / sizeof(kinds[0]) };

/* --- the guest -------------------------------------------------------------------------------- */

/* Of the last cache, as far as this host tells. */
static uint64_t cache_size(void)
{
	FILE *f = fopen("/sys/devices/system/cpu/cpu0/cache/index3/size", "r");
	char kib[32] = "";

	if (!f)
		return 0;
	if (!fgets(kib, sizeof(kib), f))
		kib[0] = '\0';
	fclose(f);
	return (uint64_t)strtoul(kib, NULL, 10) << 10; /* 32768K */
}

static uint32_t cold_size(void)
{
	uint32_t size = COLD_LEAST;

	while (size < 2 * cache_size() && size < COLD_MOST)
		size *= 2;
	return size;
}

/* One vCPU; its memory in large pages, as the window's, where this host has them. */
static void guest_make(struct bench *b, uint32_t ring_size)
{
	size_t size = WINDOW_RINGS + 2 * (size_t)ring_size;
	struct payload_guest *g = &b->g;

	b->mapped_size = size + SITE_ROOM + HUGE_PAGE;
	b->mapped = mmap(NULL, b->mapped_size, PROT_READ | PROT_WRITE | PROT_EXEC,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
	assert_true(b->mapped != MAP_FAILED);
	madvise(b->mapped, b->mapped_size, MADV_HUGEPAGE);
	memset(b->mapped, 0, b->mapped_size);
	g->window = (uint8_t *)(((uintptr_t)b->mapped + HUGE_PAGE - 1) & -(uintptr_t)HUGE_PAGE);
	g->code = g->window + size;
	g->ctl = g->window + WINDOW_CTL;
	g->ring = (void *)(g->window + WINDOW_RINGS);
	g->percpu = (struct guest_percpu){.preempt_count = 1, .current_task = &g->task};
	g->task = (struct guest_task){.pid = 1234, .tgid = 1200, .comm = "workload"};
	payload_guest_config(g);
	g->cfg.ring_size = g->cfg.event_ring_size = ring_size;
	g->cfg.event_rings = g->cfg.window + WINDOW_RINGS + ring_size;
	payload_guest_load(g);
	*ctl32(g, CTL_FLAGS) = CTL_FL_ON;
	*ctl32(g, CTL_LAST_PID) = g->task.pid;
	*ctl32(g, CTL_EVENTS) = 1;
	*ctl32(g, CTL_CRITICAL) = CRITICAL_IRQS;
	*ctl64(g, CTL_EVENT_FULL) = UINT64_MAX;
	assert_int_equal(syscall(SYS_arch_prctl, ARCH_SET_GS, &g->percpu), 0);
}

static double try_ns(struct bench *b, const struct kind *kind)
{
	double start = bench_clock_ns(CLOCK_THREAD_CPUTIME_ID);

	if (kind)
		kind->least(b, RECORDS);
	else
		bench_calls(b->g.code, RECORDS);
	return (bench_clock_ns(CLOCK_THREAD_CPUTIME_ID) - start) / RECORDS;
}

/*
 * What a record takes the one way and the other: the best of short tries in turn, because what
 * else runs on the host, and on the other half of the core, must not count.
 */
static void round_ns(struct bench *b, const struct kind *kind, double *least, double *payload)
{
	*least = *payload = 1e9;
	for (int i = 0; i < TRIES; i++) {
		bench_least(least, try_ns(b, kind));
		bench_least(payload, try_ns(b, NULL));
	}
}

/* What the payload is called for is what it does. */
static void check_records(struct bench *b, const struct kind *kind)
{
	uint64_t head = *ctl64(&b->g, CTL_HEAD), made;

	bench_calls(b->g.code, 2);
	made = *ctl64(&b->g, CTL_HEAD) - head;
	if (kind->prepare == short_code)
		assert_int_equal(made, 0);
	else if (kind->prepare == both_code || kind->prepare == window_code)
		assert_int_equal(made, 4);
	else
		assert_int_equal(made, 2);
	for (uint64_t nr = head; nr < head + made; nr++)
		assert_int_equal((uint32_t)(ring_at(b, nr)[3] >> 32), (uint32_t)nr);
}

/* What has been measured of a kind. */
struct times {
	double least[ROUNDS], payload[ROUNDS], ratio[ROUNDS];
};

static void report(const struct kind *kind, struct times *t, const char *rings)
{
	char name[64];

	snprintf(name, sizeof(name), "payload.%s.%s", kind->name, rings);
	bench_figure(name, bench_median(t->ratio, ROUNDS));
	printf("%-27s %-5s %8.1f ns %8.1f ns %6.2f   (%.2f to %.2f)\n", kind->what, rings,
	       bench_median(t->least, ROUNDS), bench_median(t->payload, ROUNDS),
	       t->ratio[ROUNDS / 2], t->ratio[ROUNDS / 4], t->ratio[ROUNDS * 3 / 4]);
}

static void measure(struct bench *b, const struct kind *kind, struct times *t, unsigned int round)
{
	payload_guest_load(&b->g);
	kind->prepare(b, b->g.code);
	check_records(b, kind);
	round_ns(b, kind, &t->least[round], &t->payload[round]);
	t->ratio[round] = t->payload[round] / t->least[round];
}

static void measure_all(const char *rings, uint32_t ring_size)
{
	static struct times times[KINDS];
	static struct bench b;

	guest_make(&b, ring_size);
	for (unsigned int round = 0; round < ROUNDS; round++)
		for (unsigned int i = 0; i < KINDS; i++)
			measure(&b, &kinds[i], &times[i], round);
	for (unsigned int i = 0; i < KINDS; i++)
		report(&kinds[i], &times[i], rings);
	fflush(stdout);
	assert_int_equal(munmap(b.mapped, b.mapped_size), 0);
}

static void bench_payload(void **state)
{
	(void)state;
	printf("Medians of %d rounds of %d; rings of %d KiB (warm) and %u MiB (cold)\n", ROUNDS,
	       RECORDS, WARM >> 10, cold_size() >> 20);
	printf("%-27s %-5s %11s %11s %6s   (half of the rounds)\n", "", "rings", "the least",
	       "payload", "ratio");
	measure_all("warm", WARM);
	measure_all("cold", cold_size());
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(bench_payload)};

	return cmocka_run_group_tests_name("bench-payload", tests, NULL, NULL);
}
