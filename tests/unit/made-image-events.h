/* SPDX-License-Identifier: GPL-2.0-or-later */
/* made-image-events.h - a made-up kernel image with the tables of trace events (made-image.h). */
#ifndef HVTRACE_TESTS_MADE_IMAGE_EVENTS_H
#define HVTRACE_TESTS_MADE_IMAGE_EVENTS_H

#include "tests/unit/made-guest.h"

#define IMAGE_PROBE    (MADE_BASE + 0x300)
#define IMAGE_REG      (MADE_BASE + 0x400)
#define IMAGE_RAW_INIT (MADE_BASE + 0x500)

#define IMAGE_PRINT_FMT                                                                            \
	"\"%s COMM \\\" COMM %d\", COMM, REC->COMM, x.COMM->COMM, COMMA, 0COMM, NOT, "             \
	"sizeof(pte_t) * 2, LOW , COMM\"COMM"
/* What follows a word directly is not looked at: not even the last quote. */
#define IMAGE_PRINT_FMT_AT_BOOT                                                                    \
	"\"%s COMM \\\" COMM %d\", 16, REC->COMM, x.COMM->COMM, COMMA, 0COMM, NOT, "               \
	"8 * 2, -1 , 16\"16"

static const uint8_t image_nop[5] = {0x0f, 0x1f, 0x44, 0x00, 0x00};

struct image_events {
	struct made_image m;
	uint64_t start; /* all of it is behind */
	uint64_t sched_name, sched, wakeup, meta_close, meta_gone;
};

/* --- an image ---------------------------------------------------------------------------- */

static inline uint64_t image_string(struct made_image *m, const char *s)
{
	return made_put(m, s, strlen(s) + 1);
}

static inline void image_poke(struct made_image *m, uint64_t va, uint64_t v, size_t len)
{
	memcpy(made_at(m, va), &v, len);
}

static inline uint64_t image_room(struct made_image *m, const char *label, size_t len)
{
	static const uint8_t zero[128];

	made_align(m, 8);
	if (label)
		made_label(m, label, 'd');
	return made_put(m, zero, len);
}

/* A table of addresses between two symbols. */
static inline void image_table(struct made_image *m, const char *start, const char *stop,
			       const uint64_t *v, size_t n)
{
	made_align(m, 8);
	made_label(m, start, 'D');
	made_put(m, v, n * sizeof(*v));
	made_label(m, stop, 'D');
	made_put64(m, 0);
}

struct class_field {
	const char *type, *name;
	int32_t size, align, is_signed, filter_type, len;
};

/* An array of struct trace_event_fields; a type of NULL but a name is TRACE_FUNCTION_TYPE. */
static inline uint64_t image_fields(struct made_image *m, const struct class_field *f, size_t n)
{
	uint64_t types[8] = {0}, names[8] = {0}, va;

	for (size_t i = 0; i < n; i++) {
		types[i] = f[i].type ? image_string(m, f[i].type) : UINT64_MAX;
		names[i] = image_string(m, f[i].name);
	}
	made_align(m, 8);
	va = MADE_BASE + m->used;
	for (size_t i = 0; i < n; i++) {
		made_put64(m, types[i]);
		made_put64(m, names[i]);
		made_put(m, &f[i].size, 5 * sizeof(int32_t));
		made_put32(m, 0);
	}
	image_room(m, NULL, CLASS_FIELD_SIZE_OF);
	return va;
}

static inline uint64_t image_class(struct made_image *m, const char *label, uint64_t system,
				   uint64_t fields, uint64_t reg, uint64_t raw_init)
{
	uint64_t va = image_room(m, label, CLASS_SIZE_OF);

	image_poke(m, va + CLASS_SYSTEM, system, 8);
	image_poke(m, va + CLASS_PROBE, IMAGE_PROBE, 8);
	image_poke(m, va + CLASS_REG, reg, 8);
	image_poke(m, va + CLASS_FIELDS_ARRAY, fields, 8);
	image_poke(m, va + CLASS_RAW_INIT, raw_init, 8);
	return va;
}

static inline uint64_t image_event(struct made_image *m, const char *name, uint64_t class,
				   const char *print_fmt, uint64_t data, uint32_t type)
{
	uint64_t text = image_string(m, name), fmt = image_string(m, print_fmt);
	uint64_t va = image_room(m, NULL, EVENT_SIZE_OF);

	image_poke(m, va + EVENT_CLASS, class, 8);
	image_poke(m, va + EVENT_NAME, text, 8);
	image_poke(m, va + EVENT_PRINT_FMT, fmt, 8);
	image_poke(m, va + EVENT_DATA, data, 8);
	image_poke(m, va + EVENT_TYPE, type, 4);
	if (type)
		image_poke(m, va + EVENT_FLAGS, EVENT_IGNORE_ENABLE, 4);
	return va;
}

static inline uint64_t image_meta(struct made_image *m, const char *name, const char *const *args,
				  int n)
{
	uint64_t text = image_string(m, name), words[12], types, names, va;

	for (int i = 0; i < 2 * n; i++)
		words[i] = image_string(m, args[i]);
	made_align(m, 8);
	types = MADE_BASE + m->used;
	for (int i = 0; i < n; i++)
		made_put64(m, words[2 * i]);
	names = MADE_BASE + m->used;
	for (int i = 0; i < n; i++)
		made_put64(m, words[2 * i + 1]);
	va = image_room(m, NULL, META_SIZE_OF);
	image_poke(m, va + META_NAME, text, 8);
	image_poke(m, va + META_NR, -1, 4);
	image_poke(m, va + META_NB_ARGS, n, 4);
	image_poke(m, va + META_TYPES, types, 8);
	image_poke(m, va + META_ARGS, names, 8);
	return va;
}

static inline uint64_t image_eval(struct made_image *m, uint64_t system, const char *name,
				  int64_t value)
{
	uint64_t text = image_string(m, name), va = image_room(m, NULL, 24);

	image_poke(m, va, system, 8);
	image_poke(m, va + 8, text, 8);
	image_poke(m, va + 16, value, 8);
	return va;
}

static inline void image_put_evals(struct image_events *im)
{
	struct made_image *m = &im->m;
	/* Another "sched" is not the same. */
	const uint64_t maps[] = {
		image_eval(m, image_string(m, "sched"), "NOT", 1),
		image_eval(m, im->sched_name, "COMM", 16),
		image_eval(m, im->sched_name, "COMM", 17),
		image_eval(m, im->sched_name, "sizeof(pte_t)", 8),
		image_eval(m, im->sched_name, "LOW", -1),
		image_eval(m, im->sched_name, "COMMA", 123456), /* longer than the name */
	};

	image_table(m, "__start_ftrace_eval_maps", "__stop_ftrace_eval_maps", maps, 6);
}

static inline void image_put_syscalls(struct image_events *im)
{
	struct made_image *m = &im->m;
	static const char *const args[] = {"unsigned int", "fd", "char *", "buf"};
	const uint64_t calls[] = {MADE_BASE + 0x180, MADE_BASE + 0x190, MADE_BASE + 0x1a0};

	made_function(m, "__x64_sys_ni_syscall", 0x180, image_nop, sizeof(image_nop));
	made_function(m, "__ia32_sys_other", 0x190, image_nop, sizeof(image_nop));
	made_function(m, "__x64_sys_close", 0x1a0, image_nop, sizeof(image_nop));
	im->meta_close = image_meta(m, "sys_close", args, 2);
	im->meta_gone = image_meta(m, "sys_gone", args, 0);
	image_table(m, "__start_syscalls_metadata", "__stop_syscalls_metadata",
		    (const uint64_t[]){im->meta_gone, im->meta_close}, 2);
	image_table(m, "sys_call_table", "behind_sys_call_table", calls, 3);
}

static inline void image_put_events(struct image_events *im)
{
	struct made_image *m = &im->m;
	static const struct class_field fields[] = {
		{"char[TASK_COMM_LEN]", "comm", 16, 1, 1, 0, 16},
		{"u8", "flag", 1, 1, 0, 0, 0},
		{"long", "time", 8, 8, 1, 0, 0},
		{"__data_loc cpumask_t", "cpus", 4, 4, 0, 0, 0},
		{"void *", "func", 8, 8, 0, FILTER_TRACE_FN, 0},
	};
	static const struct class_field nr[] = {{"int", "__syscall_nr", 4, 4, 1, 0, 0},
						{NULL, "", 0, 0, 0, 0, 0}};
	uint64_t syscalls = image_string(m, "syscalls"), enter, leave, ftrace, gone, v[6];

	im->sched = image_class(m, NULL, im->sched_name, image_fields(m, fields, 5), IMAGE_REG,
				IMAGE_RAW_INIT);
	enter = image_class(m, "event_class_syscall_enter", syscalls, image_fields(m, nr, 2),
			    IMAGE_REG, IMAGE_RAW_INIT);
	image_poke(m, enter + CLASS_GET_FIELDS, IMAGE_REG, 8);
	leave = image_class(m, "event_class_syscall_exit", syscalls, image_fields(m, nr, 1),
			    IMAGE_REG, IMAGE_RAW_INIT);
	ftrace = image_class(m, NULL, image_string(m, "ftrace"), image_fields(m, fields, 0), 0, 0);
	im->wakeup = image_event(m, "wakeup", im->sched, IMAGE_PRINT_FMT, 0, 0);
	gone = image_event(m, "sys_enter_gone", enter, "", im->meta_gone, 0);
	v[0] = image_event(m, "function", ftrace, "\"\"", 0, 1);
	v[1] = im->wakeup;
	v[2] = gone;
	v[3] = image_event(m, "sys_enter_close", enter, "", im->meta_close, 0);
	v[4] = image_event(m, "sys_exit_close", leave, "", im->meta_close, 0);
	v[5] = image_event(m, "move", im->sched, "\"\"", 0, 0);
	image_table(m, "__start_ftrace_events", "__stop_ftrace_events", v, 6);
}

/* Complete but for its symbols: made_kallsyms(). */
static inline void image_events_init(struct image_events *im)
{
	struct made_image *m = &im->m;
	uint64_t site;

	made_init(m);
	site = made_function(m, "first", 0x100, image_nop, sizeof(image_nop));
	made_mcount(m, &site, 1);
	made_types(m, true);
	im->start = MADE_BASE + m->used;
	im->sched_name = image_string(m, "sched");
	image_put_evals(im);
	image_put_syscalls(im);
	image_put_events(im);
}

#endif
