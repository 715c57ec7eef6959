// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * fuzz-window.c - a guest that scribbles over all that the host reads of it: the window (header,
 * page table, control blocks, rings), the page directory, per-CPU areas, tasks, stacks. While it is
 * traced with trampolines, and when a tracer that died has left them.
 *
 * An input is one byte that says which of the two, and changes: a place, a length, bytes.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/unit/tramp-guest.h"
#include "tracer/boot.h"
#include "tracer/collect/collect.h"
#include "tracer/internal.h"
#include "tracer/tracer.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Physical addresses. */
static const struct {
	uint64_t pa, size;
} places[] = {
	{FAKE_WINDOW + WINDOW_HEADER, sizeof(struct payload_header)},
	{FAKE_WINDOW + WINDOW_CTL, TRAMP_CPUS *CTL_SIZE},
	{FAKE_TABLE, 4096},
	{FAKE_WINDOW + WINDOW_RINGS, 4096},
	{FAKE_WINDOW + WINDOW_RINGS + 65536, 4096},
	{FAKE_PA + DIRECTORY, 4096},
	{FAKE_PA + TASK, 0x2800}, /* with init_task, signals, the sleeper */
	{FAKE_PA + PER_CPU_OFFSET, 0x2000},
	{FAKE_PA + STACK + 0x3e00, 0x200},
	{FAKE_PA + SLEEPER_STACK + 0x2f00, 0x1100},
	{FAKE_PA + TEXT_MUTEX, 64},
	{FAKE_PA + FN_ALPHA, 0x300},
};

#define NR_PLACES (sizeof(places) / sizeof(places[0]))

static uint8_t sane[IMAGE_END]; /* the kernel before anything was changed */

static void scribble(const uint8_t *data, size_t size)
{
	while (size >= 4) {
		uint64_t off = data[1] | (uint64_t)data[2] << 8, len = 1 + data[3] % 16u;
		size_t place = data[0] % NR_PLACES;

		data += 4;
		size -= 4;
		len = len < size ? len : size;
		off = off * 4 % places[place].size;
		if (len > places[place].size - off)
			len = places[place].size - off;
		machine_write(NULL, places[place].pa + off, data, len);
		data += len;
		size -= len;
	}
}

/* Whoever was inside leaves: what is waited for would not come by itself. */
static void guest_comes_to_its_senses(void)
{
	machine_write(NULL, FAKE_PA + PER_CPU_OFFSET, sane + PER_CPU_OFFSET,
		      sizeof(sane) - PER_CPU_OFFSET);
}

static void print(struct trace *t)
{
	FILE *f = fopen("/dev/null", "w");

	if (!f)
		abort();
	trace_print(t, f);
	fclose(f);
}

static void while_it_is_traced(const uint8_t *data, size_t size)
{
	struct trace *t = tramp_started((struct trace_config){.until = "sys_ni_syscall"});
	struct trace_status st;

	tramp_comm(0, 42, 42, "cpu0");
	tramp_function(0, 1, FN_ALPHA, 0, 42);
	scribble(data, size);
	fake.run = guest_comes_to_its_senses;
	trace_detach(t);
	trace_get_status(t, &st);
	print(t);
	trace_free(t);
}

static void after_a_tracer_has_died(const uint8_t *data, size_t size)
{
	struct trace *t = tramp_started((struct trace_config){0});
	char err[256];

	boot_end(t); /* its threads have died as well */
	collect_close(t, true, err, sizeof(err));
	trace_free(t);
	t = tramp_trace((struct trace_config){.running = true});
	guest_bind(&t->guest, NULL);
	scribble(data, size);
	fake.run = guest_comes_to_its_senses;
	leftover_remove(t, &leftover_limits, err, sizeof(err));
	trace_free(t);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (!size)
		return 0;
	tramp_kernel_make();
	memcpy(sane, fake_at(FAKE_TEXT), sizeof(sane));
	if (data[0] & 1)
		while_it_is_traced(data + 1, size - 1);
	else
		after_a_tracer_has_died(data + 1, size - 1);
	free(fake.ram);
	return 0;
}
