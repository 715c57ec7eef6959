/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * probe.h - definitions of probe events, as lines of kprobe_events and dynamic_events have them,
 * and the trace event that each one makes.
 *
 * Lines, errors and formats are those of kernel/trace/trace_kprobe.c, trace_uprobe.c and
 * trace_probe.c (6.1), and of trace_fprobe.c (6.12).
 */
#ifndef HVTRACE_TRACER_EVENTS_DEFINE_PROBE_H
#define HVTRACE_TRACER_EVENTS_DEFINE_PROBE_H

#include "guestsym/guestsym.h"
#include "tracer/events/define/fetch-arg.h"
#include "tracer/lib/text.h"

#define PROBE_NAME_SIZE 64  /* of a group or an event, with the end */
#define PROBE_ARGS_MAX	128 /* what is behind them is ignored */

#define PROBE_HEAD	  16 /* where arguments begin: behind __probe_ip */
#define PROBE_RETURN_HEAD 24 /* behind __probe_func, __probe_ret_ip */
#define PROBE_EVENT_HEAD  8  /* of event probes, which have neither */

/* Offsets of dentry.d_name.name and file.f_path.dentry. */
struct probe_dentries {
	uint32_t name, dentry;
};

/* What has to be known of the kernel. */
struct probe_symbols {
	/* How many symbols have that name, those of modules among them. */
	unsigned int (*count)(void *arg, const char *name);
	/*
	 * That far behind a symbol ("name", "module:name") a function begins: 0, -EINVAL: it does
	 * not, -ENOENT: there is no such symbol.
	 */
	int (*entry)(void *arg, const char *name, uint64_t offset);
	/*
	 * Optional: of the function of that name, where the kernel itself goes by it. False: it is
	 * not known.
	 */
	bool (*function)(void *arg, const char *name, struct fetch_function *function);
	/* Of fprobes only, and optional: whether there is a tracepoint of that name. */
	bool (*tracepoint)(void *arg, const char *name);
	/* Of uprobes only: look up a file. 0, or -errno: *why is what is logged, or NULL. */
	int (*file)(void *arg, const char *path, const char **why);
	const struct probe_dentries *dentries; /* NULL: this kernel does not know %pd and %pD */
	bool has_char;			       /* it knows that type */
	bool has_names;			       /* and arguments by their names (from 6.5 on) */
	bool names_are_validated; /* a name of none or of several is EINVAL, whatever is wrong */
	bool keeps_args;	  /* at a return it has those of the entry (from 6.9 on) */
	void *arg;
};

enum probe_kind {
	PROBE_KPROBE, /* "p", "r" */
	PROBE_FPROBE, /* "f": at a function's entry or its return */
	PROBE_TPROBE, /* "t": at a tracepoint, whose name symbol is */
	PROBE_EPROBE, /* "e": at an event */
	PROBE_UPROBE, /* "p", "r": at an instruction of a file, whose path symbol is */
};

struct probe_def {
	enum probe_kind kind;
	bool is_return;
	unsigned int maxactive; /* as it was given; 0: it was not */
	char group[PROBE_NAME_SIZE], event[PROBE_NAME_SIZE];
	/* Of an event probe (else empty): the event that it is at; what is behind its "if", or
	 * NULL. */
	char at_system[PROBE_NAME_SIZE], at_event[PROBE_NAME_SIZE], *filter;
	char *symbol;	 /* NULL: it is at offset itself */
	uint64_t offset; /* bytes */
	uint64_t ref;	 /* of a uprobe: where its file has a counter of who waits for hits; 0 */
	struct fetch_arg *arg;
	unsigned int nr_args;
	uint32_t size; /* of all arguments in a record, without strings */
};

/*
 * Make of the words of a line what it defines. 0, -ENOMEM, or the errno that the kernel gives; then
 * err says what is logged; -ECANCELED: it looks like a uprobe.
 */
int probe_def_parse(const struct probe_words *words, const struct probe_symbols *symbols,
		    struct probe_def **def, struct probe_error *err);
/* The same for a line that begins with an "f" or a "t", -ECANCELED for another one. */
int fprobe_def_parse(const struct probe_words *words, const struct probe_symbols *symbols,
		     struct probe_def **def, struct probe_error *err);
/*
 * The same for a line that begins with a "p" or an "r" and names a file; -ECANCELED for another
 * one.
 */
int uprobe_def_parse(const struct probe_words *words, const struct probe_symbols *symbols,
		     struct probe_def **def, struct probe_error *err);
/*
 * For these parsers: the number in front of the name ("r10:…"), and what is behind the place, of a
 * probe that has FETCH_AT_ `at`.
 */
int probe_maxactive_parse(const char *text, unsigned int *maxactive, struct probe_error *err);
int probe_args_parse(struct probe_def *def, const struct probe_words *words,
		     const struct probe_symbols *symbols, unsigned int at, struct probe_error *err);
void probe_def_free(struct probe_def *def); /* NULL is allowed */

#define PROBE_STUB_SIZE 512 /* of a symbol, with the end */

/* What the function is called that the kernel has for probes at a tracepoint. False: too long. */
bool probe_stub_name(const char *tracepoint, char name[PROBE_STUB_SIZE]);

/* What an event probe is told. */
struct probe_attach {
	/* The event of that name that one can be at. NULL: there is none. */
	const struct guestsym_event *(*find)(void *arg, const char *system, const char *event);
	/* A filter of that event: 0, or an error, which it logs. */
	int (*check_filter)(void *arg, const struct guestsym_event *event, const char *text);
	bool has_char;
	/*
	 * Of a field that is not there this kernel says what it says of other $-variables, and of
	 * a name without $ that it has no types for it.
	 */
	bool fields_are_variables;
	void *arg;
};

/* The same for a line that begins with an "e", -ECANCELED for another one. */
int event_probe_def_parse(const struct probe_words *words, const struct probe_attach *attach,
			  struct probe_def **def, struct probe_error *err);

static inline bool probe_def_is_at_event(const struct probe_def *def)
{
	return def->kind == PROBE_EPROBE;
}

/* A return that asks for arguments of the function's call. */
bool probe_def_keeps_args(const struct probe_def *def);

/* Where arguments begin. */
static inline uint32_t probe_def_head(const struct probe_def *def)
{
	if (probe_def_is_at_event(def))
		return PROBE_EVENT_HEAD;
	return def->is_return ? PROBE_RETURN_HEAD : PROBE_HEAD;
}

/*
 * GROUP/EVENT, GROUP.EVENT, EVENT, GROUP/: what is named there. text is so far behind the beginning
 * of a word. 0 or -EINVAL.
 */
int probe_name_parse(const char *text, unsigned int word, size_t offset,
		     char group[PROBE_NAME_SIZE], char event[PROBE_NAME_SIZE],
		     struct probe_error *err);

/* "SYMBOL+OFFSET", "PATH:OFFSET", as the kernel writes it; without "%return". */
void probe_def_print_place(const struct probe_def *def, struct text *out);
/* Its line in dynamic_events; maxactive is what a kretprobe has when it is given none. */
void probe_def_print(const struct probe_def *def, unsigned int maxactive, struct text *out);

/*
 * The words of "-:GROUP/EVENT SYMBOL ARGS", of which all but the first may be missing; or those of
 * a definition, behind a "!".
 */
struct probe_removal {
	const char *group, *event; /* NULL: any group; empty: any event */
	size_t group_len;
	const struct probe_words *words;
};

/* 0 or -EINVAL; words last as long. */
int probe_removal_parse(const struct probe_words *words, struct probe_removal *removal);
bool probe_removal_names_group(const struct probe_removal *removal, const char *group);
bool probe_removal_takes(const struct probe_removal *removal, const struct probe_def *def);

/*
 * For a second probe of the same event: 0 when it has the same arguments; else 1 + the first that
 * is another. Whether both are in the same place and read the same.
 */
unsigned int probe_def_differs(const struct probe_def *a, const struct probe_def *b);
bool probe_def_same(const struct probe_def *a, const struct probe_def *b);
/* Of two that do not differ: whether they read the same, wherever they are. */
bool probe_def_same_args(const struct probe_def *a, const struct probe_def *b);

/* A trace event made of a definition; all that it points to is its own. */
struct probe_event_made {
	struct guestsym_event event;
	char *print_fmt;
	struct guestsym_event_field *fields;
	char **text;
	size_t nr_text;
};

/* 0 or -ENOMEM. */
int probe_event_make(struct probe_event_made *made, const struct probe_def *def, uint16_t id);
void probe_event_unmake(struct probe_event_made *made);

#endif
