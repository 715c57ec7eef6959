/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * event-hist.h - shared by the files of histograms, which are triggers: what is asked for (a spec)
 * and what has been counted (a map).
 */
#ifndef HVTRACE_TRACER_EVENT_HIST_H
#define HVTRACE_TRACER_EVENT_HIST_H

#include <pthread.h>

#include "tracer/comms.h"
#include "tracer/event-trigger-internal.h"

/* The kernel's limits. */
enum {
	HIST_VALS_MAX = 3, /* with hitcount, which is always the first */
	HIST_KEYS_MAX = 3,
	HIST_FIELDS_MAX = HIST_VALS_MAX + HIST_KEYS_MAX,
	HIST_SORT_MAX = 2,
	HIST_BITS_MIN = 7,
	HIST_BITS_DEFAULT = 11,
	HIST_BITS_MAX = 17,
	HIST_STACK_DEPTH = 16,
	HIST_KEY_SIZE_MAX = EVENT_STRING_MAX + HIST_STACK_DEPTH * 8,
};

enum hist_field_flags {
	HIST_HITCOUNT = 1 << 0,
	HIST_KEY = 1 << 1,
	HIST_STRING = 1 << 2,
	HIST_STACKTRACE = 1 << 3,
	HIST_TIMESTAMP = 1 << 4,
	HIST_CPU = 1 << 5,
	/* Modifiers: */
	HIST_HEX = 1 << 6,
	HIST_SYM = 1 << 7,
	HIST_SYM_OFFSET = 1 << 8,
	HIST_EXECNAME = 1 << 9,
	HIST_SYSCALL = 1 << 10,
	HIST_LOG2 = 1 << 11,
	HIST_BUCKETS = 1 << 12,
	HIST_USECS = 1 << 13,
	HIST_PERCENT = 1 << 14,
	HIST_GRAPH = 1 << 15,
};

struct hist_field {
	unsigned int flags;
	enum event_field_source source;
	struct guestsym_event_field in; /* its name and type are the hist_field's own */
	uint64_t buckets;
	uint32_t offset, size; /* in the key, in words of 8 bytes */
};

struct hist_sort {
	unsigned int field;
	bool descending;
};

/* hist:ATTRIBUTES, without the filter. */
struct hist_spec {
	struct hist_field fields[HIST_FIELDS_MAX]; /* values, then keys */
	unsigned int nr_vals, nr_fields;
	struct hist_sort sort[HIST_SORT_MAX];
	unsigned int nr_sort;
	uint32_t key_size;
	unsigned int bits;
	char *name;  /* with name= before it; NULL: it has none */
	char *clock; /* of the time stamps, if there are any */
	bool timestamps, usecs;
	bool pause, cont, clear;
	bool no_hitcount; /* the raw count is not shown */
};

static inline bool hist_is_key(const struct hist_spec *spec, unsigned int field)
{
	return field >= spec->nr_vals;
}

/* What triggers with the same name count together. */
struct event_hist {
	struct event_hist *next; /* of event_hist_names, when it has a name */
	unsigned int refs;
	struct hist_spec *spec; /* of the first of them */
	struct hist_map *map;
};

struct event_hist_names {
	struct event_hist *first;
};

/* --- event-hist-parse.c ---------------------------------------------------------------------- */

/* What is written, for telling where it is wrong. */
struct hist_source {
	const struct event_triggers *at;
	const char *command; /* the whole of it */
};

/* The kernel is Linux 6.3 or later, which can do more. */
static inline bool hist_since_6_3(const struct hist_source *src)
{
	return src->at->owner->kernel.version >= EVENT_KERNEL(6, 3);
}

/* To error_log, about the first `part` of the command (NULL: about all of it). Returns error. */
int hist_error(const struct hist_source *src, const char *what, const char *part, int error);
/* attributes is changed. 0 or -errno. */
int hist_spec_parse(const struct hist_source *src, char *attributes, struct hist_spec **spec);
void hist_spec_free(struct hist_spec *spec); /* NULL is allowed */

/* --- event-hist-field.c ---------------------------------------------------------------------- */

/* FIELD[.MODIFIER] for a key or a value. flags: HIST_KEY or 0. */
int hist_field_parse(const struct hist_source *src, char *text, unsigned int flags,
		     struct hist_field *field);
void hist_field_exit(struct hist_field *field);
const char *hist_field_name(const struct hist_field *field); /* not of the first value */
void hist_field_print(const struct hist_field *field, struct text *out);
uint64_t hist_field_value(const struct hist_field *field, const struct event_data *data,
			  bool usecs);
/* All of the key, of spec->key_size bytes. */
void hist_key(const struct hist_spec *spec, const struct event_data *data, void *key);

/* --- event-hist-map.c ------------------------------------------------------------------------- */

struct hist_entry {
	uint64_t sum[HIST_VALS_MAX];
	char comm[COMM_LEN]; /* of the task that came first */
	uint8_t key[];	     /* whole words */
};

/* Entries as they are at one moment. */
struct hist_view {
	struct hist_entry **entry;
	size_t nr;
	uint64_t hits, drops;
	void *memory;
};

struct hist_map *hist_map_new(unsigned int bits, uint32_t key_size);
void hist_map_free(struct hist_map *map); /* NULL is allowed */
void hist_map_clear(struct hist_map *map);
/* Any thread. */
void hist_map_add(struct hist_map *map, const void *key, const uint64_t *vals, unsigned int nr,
		  const char comm[COMM_LEN]);
int hist_map_view(struct hist_map *map, struct hist_view *view); /* 0 or -ENOMEM */
void hist_view_free(struct hist_view *view);

/* --- event-hist-sort.c, event-hist-print.c ------------------------------------------------- */

/* In the very order that this kernel shows, also of entries that do not differ in what is asked. */
void hist_view_sort(struct hist_view *view, const struct hist_spec *spec, unsigned int version);
/* What the trigger file reads. */
void hist_trigger_print(struct event_trigger *trigger, struct text *out);
/* One of those in the hist file. */
void hist_print(struct event_trigger *trigger, struct text *out);

#endif
