/* SPDX-License-Identifier: GPL-2.0-or-later */
/* export-world.h - trace.dat files of tests, of a few events told one by one, and what becomes of
 * them. */
#ifndef HVTRACE_TESTS_EXPORT_WORLD_H
#define HVTRACE_TESTS_EXPORT_WORLD_H

#include "tests/unit/decode-world.h"

#include "frontend/export/export.h"

enum {
	SCENE_WAKING = 310,
	SCENE_NEWTASK = 311,
	SCENE_IRQ_OFF = 312,
	SCENE_IRQ_ON = 313,
	SCENE_ODD = 314,
	SCENE_WOKEN = 315,
	SCENE_SWITCHED = 316,
	SCENE_PAGES = 4,
};

static const struct dat_format scene_ftrace_formats[] = {
	{"ftrace",
	 {"name: wakeup\nID: 315\n" MADE_COMMON
	  "\tfield:unsigned int prev_pid;\toffset:8;\tsize:4;\tsigned:0;\n"
	  "\tfield:unsigned int next_pid;\toffset:12;\tsize:4;\tsigned:0;\n"
	  "\nprint fmt: \"%u\", REC->next_pid\n",
	  0}},
	{"ftrace",
	 {"name: context_switch\nID: 316\n" MADE_COMMON
	  "\tfield:unsigned int prev_pid;\toffset:8;\tsize:4;\tsigned:0;\n"
	  "\tfield:unsigned int next_pid;\toffset:12;\tsize:4;\tsigned:0;\n"
	  "\nprint fmt: \"%u\", REC->next_pid\n",
	  0}},
	{NULL, {NULL, 0}},
};

static const struct dat_format scene_formats[] = {
	{"sched",
	 {"name: sched_waking\nID: 310\n" MADE_COMMON
	  "\tfield:char comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"
	  "\tfield:pid_t pid;\toffset:24;\tsize:4;\tsigned:1;\n"
	  "\nprint fmt: \"comm=%s pid=%d\", REC->comm, REC->pid\n",
	  0}},
	{"task",
	 {"name: task_newtask\nID: 311\n" MADE_COMMON
	  "\tfield:char comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"
	  "\tfield:pid_t pid;\toffset:24;\tsize:4;\tsigned:1;\n"
	  "\tfield:unsigned long clone_flags;\toffset:32;\tsize:8;\tsigned:0;\n"
	  "\nprint fmt: \"pid=%d comm=%s\", REC->pid, REC->comm\n",
	  0}},
	{"preemptirq",
	 {"name: irq_disable\nID: 312\n" MADE_COMMON
	  "\tfield:s32 caller_offs;\toffset:8;\tsize:4;\tsigned:1;\n"
	  "\nprint fmt: \"%d\", REC->caller_offs\n",
	  0}},
	{"preemptirq",
	 {"name: irq_enable\nID: 313\n" MADE_COMMON
	  "\tfield:s32 caller_offs;\toffset:8;\tsize:4;\tsigned:1;\n"
	  "\nprint fmt: \"%d\", REC->caller_offs\n",
	  0}},
	{"odd",
	 {"name: odd\nID: 314\n" MADE_COMMON
	  "\tfield:char name[8];\toffset:8;\tsize:8;\tsigned:0;\n"
	  "\tfield:int n[2];\toffset:16;\tsize:8;\tsigned:1;\n"
	  "\tfield:unsigned long big;\toffset:24;\tsize:8;\tsigned:0;\n"
	  "\nprint fmt: \"name=%s\", REC->name\n",
	  0}},
	{NULL, {NULL, 0}},
};

struct scene_record {
	uint16_t type;
	uint8_t flags, preempt_count;
	int32_t pid;
	char comm[16];
	int32_t of, unused;
	uint64_t clone_flags;
};

/* A vCPU's pages, one behind the other; times are as given, and may lie. */
struct scene {
	struct made_page page[SCENE_PAGES];
	size_t nr;
	uint8_t bytes[SCENE_PAGES * RING_PAGE_SIZE];
	struct dat_format formats[24];
};

static inline void scene_page(struct scene *s, uint64_t at)
{
	assert_true(s->nr < SCENE_PAGES);
	made_page_begin(&s->page[s->nr++], MADE_T0 + at);
}

static inline struct made_page *scene_now(struct scene *s)
{
	return &s->page[s->nr - 1];
}

static inline void scene_event(struct scene *s, uint64_t at, const void *record, size_t len)
{
	made_page_event(scene_now(s), MADE_T0 + at, record, len);
}

static inline void scene_mark(struct scene *s, uint64_t at, int32_t pid, const char *text)
{
	struct {
		uint16_t type;
		uint8_t flags, preempt_count;
		int32_t pid;
		uint64_t ip;
		char buf[64];
	} r = {.type = MADE_PRINT, .pid = pid};

	snprintf(r.buf, sizeof(r.buf), "%s\n", text);
	scene_event(s, at, &r, sizeof(r));
}

static inline void scene_function(struct scene *s, uint64_t at, int32_t pid, unsigned int function)
{
	const struct made_record r = {
		.type = MADE_FUNCTION, .pid = pid, .function = {MADE_FUNC(function), MADE_FUNC(5)}};

	scene_event(s, at, &r, 24);
}

static inline void scene_switch(struct scene *s, uint64_t at, int32_t prev, int32_t next)
{
	const struct made_record r = {.type = MADE_SWITCH, .pid = prev, .sw = {"prev", prev, next}};

	scene_event(s, at, &r, 32);
}

/* Events about another task, or none. */
static inline void scene_about(struct scene *s, uint64_t at, uint16_t type, int32_t pid, int32_t of,
			       uint64_t clone_flags)
{
	const struct scene_record r = {
		.type = type, .pid = pid, .comm = "other", .of = of, .clone_flags = clone_flags};

	scene_event(s, at, &r, sizeof(r));
}

static inline struct dat *scene_open(struct scene *s)
{
	const struct made_vcpu vcpu = {0, s->bytes, s->nr * RING_PAGE_SIZE};
	const struct made_buffer buffers[] = {{"", "global", &vcpu, 1}, {NULL, NULL, NULL, 0}};
	struct made_dat_spec spec = {.version = 7, .compression = "none"};
	size_t nr = 0;

	made_trace_spec(&spec);
	for (const struct dat_format *f = scene_ftrace_formats; f->text.text; f++)
		s->formats[nr++] = *f;
	for (const struct dat_format *f = made_trace_formats; f->text.text; f++)
		s->formats[nr++] = *f;
	for (const struct dat_format *f = scene_formats; f->text.text; f++)
		s->formats[nr++] = *f;
	for (size_t i = 0; i < s->nr; i++) {
		made_page_end(&s->page[i], 0);
		memcpy(s->bytes + i * RING_PAGE_SIZE, s->page[i].bytes, RING_PAGE_SIZE);
	}
	spec.formats = s->formats;
	spec.buffers = buffers;
	spec.cpus = 1;
	return made_open(&spec);
}

/* What was written, terminated; free(text) it. */
struct exported {
	char *text;
	size_t len;
	struct export_result result;
};

/* Together with a host's, or NULL. */
static inline struct exported export_both(const struct decode_world *w,
					  const struct decode_world *host, const char *format)
{
	struct export_input in = {.dat = w->d, .formats = w->f, .records = w->r};
	const struct export_format *of = export_find(format);
	struct exported e = {0};
	FILE *out = fdopen(memfd_create("exported", MFD_CLOEXEC), "w+");

	if (host)
		in.host = (struct export_file){host->d, host->f, host->r};
	assert_non_null(out);
	assert_non_null(of);
	assert_int_equal(export_write(of, &in, out, &e.result), 0);
	fseeko(out, 0, SEEK_END);
	e.len = (size_t)ftello(out);
	e.text = calloc(1, e.len + 1);
	assert_non_null(e.text);
	rewind(out);
	assert_int_equal(fread(e.text, 1, e.len, out), e.len);
	fclose(out);
	return e;
}

static inline struct exported export_in(const struct decode_world *w, const char *format)
{
	return export_both(w, NULL, format);
}

/* To a folder, which is made; together with a host's, or NULL. */
static inline struct export_result export_to_folder(const struct decode_world *w,
						    const struct decode_world *host,
						    const char *format, const char *folder)
{
	struct export_input in = {.dat = w->d, .formats = w->f, .records = w->r, .folder = folder};
	struct export_result result;

	if (host)
		in.host = (struct export_file){host->d, host->f, host->r};
	assert_null(export_missing(export_find(format)));
	assert_int_equal(export_write(export_find(format), &in, NULL, &result), 0);
	return result;
}

/* Of a file, which is closed. */
static inline struct exported export_of(struct dat *d, const char *format)
{
	struct decode_world w = decode_world_of(d);
	struct exported e = export_in(&w, format);

	decode_world_end(&w);
	return e;
}

#endif
