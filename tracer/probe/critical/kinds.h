/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kinds.h - the kinds of places where a window begins or ends (sites.h): a row for each,
 * with how such places are found, what they hold, and what they call instead.
 */
#ifndef HVTRACE_TRACER_PROBE_CRITICAL_KINDS_H
#define HVTRACE_TRACER_PROBE_CRITICAL_KINDS_H

#include "tracer/payload/patch.h"
#include "tracer/probe/critical/find.h"
#include "tracer/probe/critical/move.h"
#include "tracer/probe/critical/sites.h"

enum { FLAG_NAMES_MAX = 2, FLAG_KINDS = 20 };

/* How preempt_disable() and preempt_enable() change the count. */
enum count { COUNT_ANYHOW, COUNT_IN_PLACE, COUNT_BY_CALLS };

struct flag_kind {
	const char *name;
	uint32_t critical; /* CRITICAL_ that need it */
	size_t entry;	   /* member of struct payload_text */
	/* What the kernel's tracers say; NULL: the function that the site is in. */
	const char *shown, *shown_user;
	struct payload_form form;
	const char *target[FLAG_NAMES_MAX]; /* where form leads: the first of these that there is */
	bool is_return;			    /* form is what the kernel has as its returns */
	int (*find)(struct trace *t, const struct flag_kind *kind, const struct payload_form *form,
		    struct flag_list *l);
	const char *in;		     /* for find_in() */
	enum guestsym_irq_kind irqs; /* for find_irqs() */
	int32_t change;		     /* for find_changes() */
	bool optional;		     /* a kernel may do without */
	bool modules;		     /* modules may have such places as well */
	bool late;		     /* found once it is known what moves */
	enum count counts;	     /* only of kernels that do so */
	enum flag_insn insn;
	/*
	 * Kernels that have nothing of this form have single bytes there, with no room for a call:
	 * they move (move.h), and what is called then. 0: there are none.
	 */
	uint8_t byte;
	enum move_how how;
	size_t moved_entry;
};

extern const struct flag_kind flag_kinds[FLAG_KINDS];

/* Whether this kernel changes the preempt count in the way that the kind is about. */
bool flag_kind_applies(const struct trace *t, const struct flag_kind *kind);
/* Whether this kernel may have no such place. */
bool flag_kind_is_optional(const struct trace *t, const struct flag_kind *kind);
/* What its places hold in this kernel, whose returns are known (returns_thunk()). */
struct payload_form flag_kind_form(const struct trace *t, const struct flag_kind *kind);
/* What they hold where there is no room: a byte. */
struct payload_form flag_kind_byte(const struct flag_kind *kind);
/* Functions whose calls some kinds are about: run-time addresses, at most `max`; how many. */
size_t flag_kind_targets(const struct trace *t, uint64_t *target, size_t max);
/* The entry of the payload that they call: an offset in its text. */
uint32_t flag_kind_entry(const struct flag_kind *kind, const struct payload_text *text);
uint32_t flag_kind_moved_entry(const struct flag_kind *kind, const struct payload_text *text);

#endif
