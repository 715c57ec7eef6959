/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * events.h - what reading trace events has in common, be they the running kernel's (events-live.c)
 * or the image's (events-image.c): struct trace_event_call and struct trace_event_class.
 */
#ifndef HVTRACE_GUESTSYM_EVENTS_H
#define HVTRACE_GUESTSYM_EVENTS_H

#include <errno.h>

#include "guestsym/internal.h"

#define EVENTS_MAX (1 << 16)
#define FIELDS_MAX 4096
/* None of the structs below has more than 200 bytes. */
#define EVENT_STRUCT_MAX 1024
#define WORD_MAX	 255	   /* names of systems, events and fields */
#define TYPE_MAX	 1023	   /* the text of a field's type */
#define PRINT_MAX	 (1 << 18) /* print fmt; distribution kernels have up to 10,000 */

/* Where the members are (include/linux/trace_events.h, include/trace/syscall.h). */
struct event_layout {
	uint32_t call_size, class_size, field_size, meta_size;
	struct guestsym_field list, class, name, tp, type, print_fmt, module, data, flags;
	struct guestsym_field system, probe, reg, get_fields, fields_array, fields, raw_init;
	struct guestsym_field tp_name, module_name;
	/* struct syscall_metadata */
	struct guestsym_field nr, nb_args, types, args, enter_fields;
	struct guestsym_field meta_name;
	/* TRACE_EVENT_FL_ */
	int64_t is_tracepoint, is_dynamic, is_custom, is_ignored, is_kprobe, is_uprobe;
	/* FILTER_; -1: this kernel has no such thing */
	int64_t string, dyn_string, rdyn_string, ptr_string, function, cpumask;
};

enum event_class_kind {
	EVENT_CLASS_PLAIN,
	EVENT_CLASS_ENTER, /* event_class_syscall_enter */
	EVENT_CLASS_EXIT,
	EVENT_CLASS_ALIEN, /* keeps its fields where only its own code knows */
};

struct event_class {
	uint64_t va, system_va, probe, reg, fields_array, raw_init;
	const char *system;
	enum event_class_kind kind;
	/* Of a plain one, which its events share. */
	const struct guestsym_event_field *fields;
	size_t nr_fields;
	bool known; /* they have been read */
};

/* What a struct trace_event_call says beside what goes into struct guestsym_event. */
struct event_call {
	struct event_class *class;
	uint64_t print_fmt, data;
};

/* An ftrace_event_field or trace_event_fields. */
struct event_raw_field {
	uint64_t type, name;
	uint32_t offset, size, filter_type;
	bool is_signed, has_length;
	uint32_t length; /* of an array, 0: it is not known to the kernel */
};

struct event_reader {
	const struct events_of *kernel;
	struct event_layout at;
	struct pages pages;
	struct va_map classes;
	struct guestsym_event_memory *memory; /* what is in the list */
	struct guestsym_event_field *fields;  /* FIELDS_MAX, while those of an event are read */
};

/* 0, -ENODATA (no types), -EINVAL (types that make no sense), -ENOMEM. */
int event_reader_init(struct event_reader *r, const struct events_of *k,
		      const struct guestsym_memory *mem);
/* The memory stays when it has been taken. */
void event_reader_exit(struct event_reader *r);
/* Run-time address of a symbol, 0: there is none. */
uint64_t event_reader_addr(const struct event_reader *r, const char *name);

/* True when an event is left out because of it; other errors end the reading. */
static inline bool event_error_is_its_own(int err)
{
	return err == -EFAULT || err == -EINVAL;
}

/* All of *ev but its fields and print_fmt. */
int event_read_call(struct event_reader *r, uint64_t va, struct guestsym_event *ev,
		    struct event_call *call);
/* A string of the guest in memory that lasts; -EINVAL when it is longer than max. */
int event_read_string(struct event_reader *r, uint64_t va, size_t max, const char **s);
int event_read_u64(struct event_reader *r, uint64_t va, uint64_t *v);
/* Make the nth field of r->fields of what the kernel has of it. */
int event_make_field(struct event_reader *r, size_t n, const struct event_raw_field *f);
/* Keep the first n of r->fields; NULL: no memory, errno-like in *err. */
const struct guestsym_event_field *event_keep_fields(struct event_reader *r, size_t n, int *err);

/* Give the list what has been read, and its memory. */
void event_reader_give(struct event_reader *r, struct guestsym_event_list *list);

/* Memory of the list: zeroed and aligned, NULL when there is none or it has grown too large. */
void *event_alloc(struct event_reader *r, size_t len);

/* The number at a member of what was read to raw. */
uint64_t event_member(const uint8_t *raw, const struct guestsym_field *f);

/* --- what the kernel does at boot, from its image ---------------------------------------- */

/* Names of constants in formats (TRACE_DEFINE_ENUM, TRACE_DEFINE_SIZEOF). */
struct event_evals {
	struct event_eval *v;
	size_t n;
};

int event_evals_read(struct event_evals *evals, struct event_reader *r);
void event_evals_exit(struct event_evals *evals);
/* Have another text with the names replaced that events of this system may use. */
int event_evals_replace(const struct event_evals *evals, struct event_reader *r, uint64_t system_va,
			const char **text);

/* The numbers of system calls. */
struct event_syscalls {
	struct event_syscall *v;
	size_t n;
	struct va_map by_va; /* of their struct syscall_metadata */
};

int event_syscalls_read(struct event_syscalls *sys, struct event_reader *r);
void event_syscalls_exit(struct event_syscalls *sys);
/* -1: this kernel has no such system call. */
int event_syscalls_nr(const struct event_syscalls *sys, uint64_t meta);
/* Append the fields of its arguments to r->fields, which has *n, the last one ending at `end`. */
int event_syscall_fields(struct event_reader *r, uint64_t meta, uint32_t end, size_t *n);
int event_syscall_print_fmt(struct event_reader *r, const struct guestsym_event *ev,
			    const char **print_fmt);

#endif
