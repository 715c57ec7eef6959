/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tracefs-trace.h - a trace of a made-up guest, to look at through its files. */
#ifndef HVTRACE_TESTS_TRACEFS_TRACE_H
#define HVTRACE_TESTS_TRACEFS_TRACE_H

#include <stdlib.h>

#include "tests/unit/fake-guest.h"
#include "tracer/tracer.h"

#define TRACEFS_VCPUS 2

static inline void tracefs_guest_new(void)
{
	static const char *const names[] = {
		"__traceiter_initcall_level",
		"vfs_read",
		"vfs_write",
		"vfs_open",
		"schedule",
		"ksys_read",
	};

	memset(&fake, 0, sizeof(fake));
	fake.ram = calloc(1, FAKE_RAM);
	if (!fake.ram)
		abort();
	fake_symbol("_text", FAKE_TEXT, 'T');
	fake_symbol("_end", FAKE_VA(0x10000), 'B');
	fake_symbol("current_task", 0x100, 'A');
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		uint64_t at = FAKE_VA(0x1000 + 0x100 * i);

		fake_symbol(names[i], at, 't');
		*fake_at(at) = 0xe8;
		fake.sites[fake.nsites++] = (struct guestsym_site){at, at, names[i], 0};
	}
	fake_field("task_struct.pid", 0x20, 4);
	fake_symbol("__fentry__", FAKE_VA(0x1f00), 'T');
	fake_symbol("tracing_mark_write", FAKE_VA(0x3000), 't');
}

static inline void tracefs_guest_free(void)
{
	free(fake.ram);
}

static inline struct trace *tracefs_trace_new(char *err, size_t errlen)
{
	const struct trace_config cfg = {
		.vcpus = TRACEFS_VCPUS,
		.tracer = "nop",
		.buffer_bytes = 1408 << 10,
		.engine = TRACE_ENGINE_TRAP,
	};

	return trace_new(&cfg, err, errlen);
}

#endif
