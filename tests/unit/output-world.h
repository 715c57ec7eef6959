/* SPDX-License-Identifier: GPL-2.0-or-later */
/* output-world.h - symbols and tasks for tests that print events, and how texts are compared. */
#ifndef HVTRACE_TESTS_OUTPUT_WORLD_H
#define HVTRACE_TESTS_OUTPUT_WORLD_H

#include "tests/unit/data-file.h"

#include <string.h>

#include "tracer/ring/entry.h"
#include "tracer/output/output.h"

struct symbol {
	uint64_t addr, size;
	char name[64], module[32];
};

struct world {
	struct symbol sym[512];
	size_t nr;
	struct comms *comms;
	uint64_t version; /* of the symbols */
};

static inline struct world *world_new(void)
{
	struct world *w = calloc(1, sizeof(*w));

	assert_non_null(w);
	w->comms = comms_new(COMMS_DEFAULT_NR);
	assert_non_null(w->comms);
	return w;
}

static inline void world_free(struct world *w)
{
	comms_free(w->comms);
	free(w);
}

static inline bool world_symbol(void *arg, uint64_t addr, struct output_symbol *sym)
{
	const struct world *w = arg;

	for (size_t i = 0; i < w->nr; i++) {
		if (addr - w->sym[i].addr < w->sym[i].size) {
			sym->name = w->sym[i].name;
			sym->module = w->sym[i].module[0] ? w->sym[i].module : NULL;
			sym->off = addr - w->sym[i].addr;
			sym->size = w->sym[i].size;
			return true;
		}
	}
	return false;
}

static inline void world_add(struct world *w, uint64_t addr, uint64_t size, const char *name)
{
	struct symbol *s = &w->sym[w->nr++];

	assert_true(w->nr <= sizeof(w->sym) / sizeof(w->sym[0]));
	*s = (struct symbol){.addr = addr, .size = size};
	snprintf(s->name, sizeof(s->name), "%s", name);
}

static inline void world_note(struct world *w, int pid, int tgid, const char *name)
{
	char comm[COMM_LEN] = {0};

	memcpy(comm, name, strnlen(name, sizeof(comm) - 1));
	comms_note(w->comms, pid, tgid, comm);
}

static inline struct output_config world_config(struct world *w, uint32_t options,
						const char *tracer)
{
	return (struct output_config){
		.options = options,
		.tracer = tracer,
		.release = "6.1.0-56-cloud-amd64",
		.preempt_model = "desktop",
		.cpus = 2,
		.ns = true,
		.comms = w->comms,
		.symbol = world_symbol,
		.arg = w,
	};
}

/* The context flags as they are printed: any character but '.' in its column says so. */
static inline void world_flags(const char *c, struct trace_entry *ent)
{
	static const struct {
		unsigned int column;
		char c;
		uint8_t flags;
	} flags[] = {
		{0, 'd', TRACE_FLAG_IRQS_OFF},
		{0, 'b', TRACE_FLAG_BH_OFF},
		{0, 'D', TRACE_FLAG_IRQS_OFF | TRACE_FLAG_BH_OFF},
		{1, 'n', TRACE_FLAG_NEED_RESCHED},
		{1, 'p', TRACE_FLAG_PREEMPT_RESCHED},
		{1, 'N', TRACE_FLAG_NEED_RESCHED | TRACE_FLAG_PREEMPT_RESCHED},
		{2, 's', TRACE_FLAG_SOFTIRQ},
		{2, 'h', TRACE_FLAG_HARDIRQ},
		{2, 'H', TRACE_FLAG_SOFTIRQ | TRACE_FLAG_HARDIRQ},
	};

	for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
		if (c[flags[i].column] == flags[i].c)
			ent->flags |= flags[i].flags;
	}
	for (int i = 0; i < 2; i++) {
		char depth[] = {c[3 + i], '\0'};

		if (depth[0] != '.')
			ent->preempt_count |= (uint8_t)(strtoul(depth, NULL, 16) << i * 4);
	}
}

/* As assert_string_equal(), but shows the first line that differs. */
static inline void assert_text_equal(const char *got, const char *want)
{
	size_t line = 0;

	for (size_t i = 0; got[i] && got[i] == want[i]; i++) {
		if (got[i] == '\n')
			line = i + 1;
	}
	if (strcmp(got, want))
		fail_msg("got  %.*s\nwant %.*s", (int)strcspn(got + line, "\n"), got + line,
			 (int)strcspn(want + line, "\n"), want + line);
}

static inline const char *next_line(const char *line)
{
	const char *end = strchr(line, '\n');

	return end ? end + 1 : line + strlen(line);
}

#endif
