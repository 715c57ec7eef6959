// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * fuzz-racing.c - a guest that goes on writing to what the host is just reading, and never ends:
 * the control blocks, the rings, the window's header. What is read twice differs, and a thread of
 * the guest's writes whenever it likes. Against looks at the rings, calls, detaching, and what a
 * tracer that died has left. What one of them reads is counted and bounded.
 *
 * An input is one byte (which of the two; every how many reads something is written), and changes:
 * a place, where in it, a length, bytes. They are made in turn, over and over.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "tests/fuzz/held.h"
#include "tests/unit/tramp-guest.h"
#include "tracer/boot.h"
#include "tracer/collect/collect.h"
#include "tracer/core/lock.h"
#include "tracer/internal.h"
#include "tracer/tracer.h"

#define LOOKS	      4
#define THREAD_WRITES 64 /* at a time */

/*
 * One look at a vCPU's rings; letting go of all; and taking out what was left. What a look may read
 * is what look_goes_on() in tracer/collect/collect.c says: three rings of records, four more when
 * these are the last that it asks for, and two of events. Of the rest, twice as much as was seen is
 * a finding.
 */
#define LOOK_RINGS	 7
#define LOOK_EVENT_RINGS 2
#define END_LOOKS	 8 /* of all vCPUs, before nobody records any more, and behind that */

static struct cost look_bytes = {"bytes of a look", 0, 0};
static struct cost look_reads = {"reads of a look", 100, 0};
static struct cost end_bytes = {"bytes of letting go", 0, 0};
static struct cost end_reads = {"reads of letting go", 250, 0};
static struct cost left_bytes = {"bytes of what was left", 256 << 10, 0};
static struct cost left_reads = {"reads of what was left", 400, 0};
/* With sanitizers, and on whatever computer. */
static struct cost look_ms = {"milliseconds of a look", 100, 0};
static struct cost end_ms = {"milliseconds of letting go", 200, 0};
static struct cost left_ms = {"milliseconds of what was left", 200, 0};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct {
	uint64_t pa, size;
} places[] = {
	{FAKE_WINDOW + WINDOW_CTL, TRAMP_CPUS *CTL_SIZE},
	{FAKE_WINDOW + WINDOW_CTL + CTL_HEAD, 16},
	{FAKE_WINDOW + WINDOW_RINGS, 65536},
	{FAKE_WINDOW + WINDOW_RINGS + 131072, 65536},
	{FAKE_WINDOW + WINDOW_HEADER, sizeof(struct payload_header)},
};

#define NR_PLACES (sizeof(places) / sizeof(places[0]))

static uint8_t sane[IMAGE_END]; /* the kernel before anything was changed */

static struct {
	pthread_mutex_t lock;
	const uint8_t *data;
	size_t size, at;
	unsigned int every, reads;
	atomic_bool on, stop;
} guest = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* What this thread has read since it began to count. */
static _Thread_local struct {
	uint64_t bytes, reads;
	int64_t ms;
} used;

static uint8_t next_byte(void)
{
	uint8_t byte = guest.data[guest.at++];

	if (guest.at == guest.size)
		guest.at = 0;
	return byte;
}

static void guest_writes(void)
{
	uint8_t bytes[16], place, len;
	uint64_t off;

	pthread_mutex_lock(&guest.lock);
	place = next_byte() % NR_PLACES;
	off = next_byte();
	off = (off | (uint64_t)next_byte() << 8) * 4 % places[place].size;
	len = 1 + next_byte() % sizeof(bytes);
	for (uint8_t i = 0; i < len; i++)
		bytes[i] = next_byte();
	pthread_mutex_unlock(&guest.lock);
	if (len > places[place].size - off)
		len = (uint8_t)(places[place].size - off);
	machine_write(NULL, places[place].pa + off, bytes, len);
}

static void before_read(uint64_t pa, size_t len)
{
	bool due;

	(void)pa;
	used.bytes += len;
	used.reads++;
	if (!guest.on)
		return;
	pthread_mutex_lock(&guest.lock);
	due = ++guest.reads >= guest.every;
	guest.reads = due ? 0 : guest.reads;
	pthread_mutex_unlock(&guest.lock);
	if (due)
		guest_writes();
}

static void *guest_thread(void *arg)
{
	(void)arg;
	while (!guest.stop) {
		for (int i = 0; i < THREAD_WRITES; i++)
			guest_writes();
		sched_yield();
	}
	return NULL;
}

static void count_begin(void)
{
	used.bytes = used.reads = 0;
	used.ms = held_cpu_ms();
}

static void count_is(struct cost *bytes, struct cost *reads, struct cost *ms)
{
	cost_is(bytes, used.bytes);
	cost_is(reads, used.reads);
	cost_is(ms, (uint64_t)(held_cpu_ms() - used.ms));
}

/* Whoever was inside leaves: what is waited for would not come by itself. */
static void guest_comes_to_its_senses(void)
{
	machine_write(NULL, FAKE_PA + PER_CPU_OFFSET, sane + PER_CPU_OFFSET,
		      sizeof(sane) - PER_CPU_OFFSET);
}

static void limits_set(void)
{
	struct payload_header h;

	window_get_at(WINDOW_HEADER, &h, sizeof(h));
	look_bytes.limit = LOOK_RINGS * (uint64_t)h.ring_size +
			   LOOK_EVENT_RINGS * (uint64_t)h.event_ring_size + (1 << 10);
	end_bytes.limit = END_LOOKS * look_bytes.limit;
}

static void while_it_is_traced(void)
{
	struct trace *t = tramp_started((struct trace_config){.until = "sys_ni_syscall"});
	pthread_t thread;

	limits_set();
	tramp_comm(0, 42, 42, "cpu0");
	tramp_function(0, 1, FN_ALPHA, 0, 42);
	guest.on = true;
	if (pthread_create(&thread, NULL, guest_thread, NULL))
		abort();
	for (unsigned int i = 0; i < LOOKS; i++) {
		vcpu_lock(t, i % TRAMP_CPUS);
		count_begin();
		collect_drain(t, i % TRAMP_CPUS);
		count_is(&look_bytes, &look_reads, &look_ms);
		vcpu_unlock(t, i % TRAMP_CPUS);
	}
	fake.run = guest_comes_to_its_senses;
	count_begin();
	trace_detach(t);
	count_is(&end_bytes, &end_reads, &end_ms);
	guest.stop = true;
	pthread_join(thread, NULL);
	guest.on = false;
	trace_free(t);
}

static void after_a_tracer_has_died(void)
{
	struct trace *t = tramp_started((struct trace_config){0});
	char err[256];

	boot_end(t); /* its threads have died as well */
	collect_close(t, true, err, sizeof(err));
	trace_free(t);
	t = tramp_trace((struct trace_config){.running = true});
	guest_bind(&t->guest, NULL);
	guest.on = true;
	fake.run = guest_comes_to_its_senses;
	count_begin();
	leftover_remove(t, &leftover_limits, err, sizeof(err));
	count_is(&left_bytes, &left_reads, &left_ms);
	guest.on = false;
	trace_free(t);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size < 2)
		return 0;
	tramp_kernel_make();
	memcpy(sane, fake_at(FAKE_TEXT), sizeof(sane));
	guest.data = data + 1;
	guest.size = size - 1;
	guest.at = 0;
	guest.reads = 0;
	guest.every = 1 + (data[0] >> 4);
	guest.on = guest.stop = false;
	fake.before_read = before_read;
	if (data[0] & 1)
		while_it_is_traced();
	else
		after_a_tracer_has_died();
	fake.before_read = NULL;
	free(fake.ram);
	return 0;
}
