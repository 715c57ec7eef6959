/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * probe-rows.h - rows of WINDOW_PROBES, and asking the guest's kernel about what is in them. For
 * the files alone that have it make probes.
 */
#ifndef HVTRACE_TRACER_DYNEVENT_PROBE_ROWS_H
#define HVTRACE_TRACER_DYNEVENT_PROBE_ROWS_H

#include "tracer/borrow/borrow.h"
#include "tracer/core/trace.h"
#include "tracer/payload/payload.h"
#include "tracer/window/window.h"

/* Errors as pointers begin there. */
#define PROBE_ERR_MIN UINT64_C(0xfffffffffffff001)

/* Of struct kprobe, and of struct kretprobe, which begins with one. */
struct kprobe_layout {
	uint32_t size, return_size; /* return_size 0: this kernel has no kretprobes */
	struct guestsym_field addr, flags, nmissed, handler;
	struct guestsym_field return_handler, maxactive, return_nmissed;
	struct guestsym_field instances; /* a pointer that is NULL or an error: not registered */
	struct guestsym_field ret_addr;	 /* of struct kretprobe_instance */
	/* What is needed to keep arguments: of struct kretprobe, and where an instance has data. */
	bool keeps;
	struct guestsym_field entry_handler, data_size, data;
};

struct guest_probes {
	struct trace *t;
	bool learnt, closed;
	bool trapped; /* kprobe_traps_insert() */
	struct kprobe_layout at;
	struct {
		uint32_t kind;	       /* PROBE_ROW_; guest_probe_look() reads it without a lock, */
		bool args;	       /* and likewise: what its return finds in the instance */
		uint64_t addr;	       /* that was asked for; of a tracepoint its own */
		uint64_t hits, missed; /* once it is closed */
	} row[PROBE_ROWS];
};

struct probe_row {
	uint8_t bytes[PROBE_ROW_SIZE];
};

uint64_t probe_row_at(unsigned int row); /* in the window */
uint64_t probe_row_va(const struct window *w, unsigned int row);
uint64_t probe_row_get(const struct probe_row *r, uint32_t offset, size_t size);
void probe_row_put(struct probe_row *r, uint32_t offset, const void *value, size_t size);
uint32_t probe_row_kind(const struct probe_row *r);

/* The kernel's struct is written by the guest's CPUs; what is read may be of any moment. */
int probe_row_read(struct window *w, unsigned int row, struct probe_row *r);
int probe_row_write(struct window *w, unsigned int row, const struct probe_row *r);

/* One that is free: -ENOSPC, and one line noted, or -ENODEV once the trace has ended. */
int probe_row_find(struct guest_probes *g);
void probe_row_set(struct guest_probes *g, unsigned int row, uint32_t kind);

/* Calls that may sleep, n of them. 0, or an error and one line noted; -ETIMEDOUT: they may yet be
 * made. */
int guest_probes_ask(struct guest_probes *g, struct borrow_call *calls, size_t n);
/* What a function that returns an int has said. */
int guest_probes_said(const struct borrow_call *call);

#endif
