/* SPDX-License-Identifier: GPL-2.0-or-later */
/* parsed-header.h - what the header of a trace says that a kernel has printed. */
#ifndef HVTRACE_TESTS_UNIT_PARSED_HEADER_H
#define HVTRACE_TESTS_UNIT_PARSED_HEADER_H

#include "tests/unit/output-world.h"

#include <inttypes.h>

/* What its header says. */
struct parsed_header {
	char tracer[32], release[64];
	uint64_t entries, written;
	struct output_latency latency;
	char started[64], ended[64];
};

static inline void parse_latency_header(const char *text, struct parsed_header *h)
{
	struct output_latency *l = &h->latency;
	const char *task = strstr(text, "| task: ");
	const char *places = strstr(text, "started at: ");
	char comm[32] = "";

	assert_int_equal(sscanf(strstr(text, " on "), " on %63s", h->release), 1);
	assert_int_equal(sscanf(strstr(text, "latency: "),
				"latency: %" SCNu64 " us, #%" SCNu64 "/%" SCNu64 ", CPU#%u", &l->ns,
				&h->entries, &h->written, &l->cpu),
			 4);
	l->ns *= 1000;
	sscanf(task, "| task: %31[^-]-", comm);
	memcpy(l->comm, comm, sizeof(l->comm));
	assert_int_equal(sscanf(strchr(task, '-'), "-%d (uid:%u nice:%d policy:%u rt_prio:%u",
				&l->pid, &l->uid, &l->nice, &l->policy, &l->rt_priority),
			 5);
	if (places)
		sscanf(places, "started at: %63s\n# => ended at: %63s", h->started, h->ended);
}

static inline void parse_header(const char *text, struct parsed_header *h)
{
	const char *at = strstr(text, "written: ");

	*h = (struct parsed_header){.release = "unknown"};
	sscanf(text, "# tracer: %31s", h->tracer);
	if (at)
		sscanf(at, "written: %" SCNu64 "/%" SCNu64, &h->entries, &h->written);
	else if (strstr(text, "latency: "))
		parse_latency_header(text, h);
}

#endif
