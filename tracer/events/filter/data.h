/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * data.h - the fields of an event by name, and what a record holds in them: what filters,
 * triggers and histograms look at.
 *
 * Records come from the guest: what lies outside of one reads as absent, whatever the record says.
 */
#ifndef HVTRACE_TRACER_EVENTS_FILTER_DATA_H
#define HVTRACE_TRACER_EVENTS_FILTER_DATA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "guestsym/guestsym.h"

#define EVENT_STRING_MAX 256 /* MAX_FILTER_STR_VAL: of a string in a filter or a key */

/* An event, and what all events begin with. */
struct event_format {
	const struct guestsym_event *event;
	const struct guestsym_event_field *common;
	size_t nr_common;
};

/* What only the running kernel can tell. */
struct event_kernel {
	/*
	 * The function called name, or the one around *range->start when name is NULL. False: there
	 * is none. NULL: functions are not known.
	 */
	bool (*function)(void *arg, const char *name, struct guestsym_range *range);
	unsigned int nr_cpus;
	unsigned int version; /* EVENT_KERNEL(6, 12); 0: as 6.1. What triggers know depends on it */
	void *arg;
};

#define EVENT_KERNEL(major, minor) ((major) << 8 | (minor))

/* One record, as long as it is looked at. */
struct event_data {
	const void *record;
	size_t len;
	unsigned int cpu;
	const char *comm; /* of the task: up to 16 bytes, need not be terminated; NULL: not known */
	uint64_t time;	  /* of the trace clock */
	bool time_is_ns;  /* which is one of nanoseconds */
	/*
	 * The string at addr in the guest's memory (of the task, when user) into size bytes,
	 * terminated: 0, or an error when it cannot be read. NULL: none can.
	 */
	int (*string)(void *arg, uint64_t addr, bool user, char *buf, size_t size);
	/* Up to max return addresses, innermost first: how many. NULL: there are none. */
	size_t (*stack)(void *arg, uint64_t *ips, size_t max);
	void *arg;
};

enum event_field_source {
	EVENT_FIELD_NONE, /* there is no such field */
	EVENT_FIELD_RECORD,
	EVENT_FIELD_CPU,  /* CPU, cpu, common_cpu: where it happened */
	EVENT_FIELD_COMM, /* COMM, comm: the name of the task */
};

struct event_field {
	enum event_field_source source;
	const struct guestsym_event_field *in; /* of EVENT_FIELD_RECORD */
};

/* The field called by len bytes of name: the event's own come before the common ones. */
struct event_field event_field_find(const struct event_format *format, const char *name,
				    size_t len);
bool event_field_is_string(const struct event_field *field);

/* What is left of a value in a field of size (1, 2, 4 or 8) bytes. */
static inline uint64_t event_number_cut(uint64_t value, uint32_t size, bool is_signed)
{
	unsigned int shift = 64 - 8 * size;

	value <<= shift;
	return is_signed ? (uint64_t)((int64_t)value >> shift) : value >> shift;
}

static inline bool event_number_size(uint32_t size)
{
	return size == 1 || size == 2 || size == 4 || size == 8;
}

/*
 * The number in it, signed ones extended. False: it is not there, or is not of 1, 2, 4 or 8 bytes.
 */
bool event_field_number(const struct event_field *field, const struct event_data *data,
			uint64_t *value);
/*
 * Copy the string in it, up to its end or size - 1 bytes, and terminate it; user: its address is
 * one of the task. False: it cannot be had.
 */
bool event_field_string(const struct event_field *field, const struct event_data *data, bool user,
			char *buf, size_t size);
/* The bytes that a __data_loc or __rel_loc field stands for, or of an array. NULL: not there. */
const void *event_field_bytes(const struct guestsym_event_field *in, const struct event_data *data,
			      size_t *len);

#endif
