/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * internal.h - shared by the files of histograms, which are triggers: what is asked for (a spec)
 * and what has been counted (a map).
 *
 * A variable has a value in each entry. Another histogram refers to it, and finds the value in the
 * entry that has the same key as its own; an action does something with such values.
 */
#ifndef HVTRACE_TRACER_EVENTS_HIST_INTERNAL_H
#define HVTRACE_TRACER_EVENTS_HIST_INTERNAL_H

#include <pthread.h>

#include "tracer/events/hist/commands.h"
#include "tracer/events/trigger/command.h"
#include "tracer/guest/comms.h"

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
	HIST_VARS_MAX =
		16, /* of one histogram, those that actions need among them; and references */
	HIST_ACTIONS_MAX = 8,
	HIST_PARAMS_MAX = 64,
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
	/* What is no plain field: */
	HIST_VAR = 1 << 16,
	HIST_VAR_REF = 1 << 17,
	HIST_ALIAS = 1 << 18, /* a variable that is another one */
	HIST_EXPR = 1 << 19,
	HIST_CONST = 1 << 20,
};

enum hist_op { HIST_NO_OP, HIST_PLUS, HIST_MINUS, HIST_UNARY_MINUS, HIST_DIV, HIST_MULT };

#define HIST_NO_STRING UINT32_MAX

/* What ".sym-offset" is while a text is parsed. */
#define HIST_SYM_OFFSET_PARSED "symXoffset"

struct hist_field {
	unsigned int flags;
	enum event_field_source source;
	struct guestsym_event_field in; /* its name and type are the hist_field's own */
	uint64_t buckets;
	uint32_t offset, size; /* in the key, in words of 8 bytes */

	enum hist_op op;
	struct hist_field *operand[2];
	uint64_t constant;
	unsigned int ref; /* of HIST_VAR_REF and HIST_ALIAS: which of the spec's */
	char *var;	  /* of HIST_VAR: its name, and where an entry has its value */
	unsigned int slot;
	uint32_t string; /* and its text, HIST_NO_STRING: it is none */
};

/* A variable that the histogram refers to, of its own or of another. */
struct hist_ref {
	struct event_hist *hist; /* that stays for it; NULL: its own */
	const struct hist_field *var;
	char *name;	/* with SYSTEM.EVENT. before it, if that was written */
	bool read_once; /* the value is gone once it has been used */
};

/* NAME=EXPRESSION, as it is written. */
struct hist_def {
	char *name, *expr;
};

/* A variable that was made for a field that an action names. */
struct hist_field_var {
	struct hist_field *var, *val;
};

/* A histogram that was made for it, of another event; it goes with the one that needs it. */
struct hist_helper {
	char *system, *event, *command;
};

enum hist_handler { HIST_ONMATCH, HIST_ONMAX, HIST_ONCHANGE };
enum hist_act { HIST_SAVE, HIST_TRACE, HIST_SNAPSHOT };

struct synth_event;

struct hist_action {
	enum hist_handler handler;
	enum hist_act act;
	char *system, *event; /* of onmatch(SYSTEM.EVENT) */
	char *var;	      /* of onmax($VAR), onchange($VAR) */
	char *name;	      /* of what is done, as it is written */
	char *synth_name;     /* of trace(NAME, ...) */
	char *param[HIST_PARAMS_MAX];
	unsigned int nr_params;
	/* Once it is made: */
	struct synth_event *synth;
	unsigned int param_ref[HIST_PARAMS_MAX];
	unsigned int var_ref, track_slot; /* what is looked at, and the value so far */
};

/* What the kernel calls the variable of the value so far. */
#define HIST_TRACK_MAX	  "__max"
#define HIST_TRACK_CHANGE "__change"

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
	bool named_tasks; /* entries have the names of tasks */
	bool pause, cont, clear;
	bool no_hitcount;		    /* the raw count is not shown */
	struct hist_def def[HIST_VARS_MAX]; /* while it is parsed */
	unsigned int nr_defs;
	struct hist_field *var[HIST_VARS_MAX];
	unsigned int nr_vars;
	struct hist_ref ref[HIST_VARS_MAX];
	unsigned int nr_refs;
	struct hist_action action[HIST_ACTIONS_MAX];
	unsigned int nr_actions;
	struct hist_field_var field_var[HIST_PARAMS_MAX], save_var[HIST_PARAMS_MAX];
	unsigned int nr_field_vars, nr_save_vars;
	struct hist_helper helper[HIST_PARAMS_MAX];
	unsigned int nr_helpers;
	unsigned int nr_slots, nr_strings; /* of an entry */
};

static inline bool hist_is_key(const struct hist_spec *spec, unsigned int field)
{
	return field >= spec->nr_vals;
}

/* What it does takes the records of all vCPUs in the order of their time. */
static inline bool hist_is_ordered(const struct hist_spec *spec)
{
	return spec->nr_vars || spec->nr_refs || spec->nr_actions;
}

/* What triggers with the same name count together. */
struct event_hist {
	struct event_hist *next; /* of event_hist_names, when it has a name */
	unsigned int users;	 /* triggers */
	unsigned int refs;	 /* and who refers to its variables */
	struct hist_spec *spec;	 /* of the first of them */
	struct hist_map *map;
	uint64_t number; /* of all that there were */
};

struct event_hist_names {
	struct event_hist *first;
	uint64_t nr; /* of histograms, with names and without, that there were */
};

/* --- hist.c ---------------------------------------------------------------------------- */

/* What is written, for telling where it is wrong. */
struct hist_source {
	struct event_triggers *at;
	const struct event_triggers *where; /* of the event that was written to */
	const char *command;		    /* the whole of it */
	bool remove;
};

/* The kernel is Linux 6.3 or later, which can do more. */
static inline bool hist_since_6_3(const struct hist_source *src)
{
	return src->at->owner->kernel.version >= EVENT_KERNEL(6, 3);
}

/* To error_log, about the first `part` of the command (NULL: about all of it). Returns error. */
int hist_error(const struct hist_source *src, const char *what, const char *part, int error);
void event_hist_get(struct event_hist *hist);
void event_hist_put(struct event_hist *hist);
/* Add or remove one, as what src is about; text is changed. 0 or -errno. */
int hist_write(const struct hist_source *src, char *text);
/* What hits go by: that of the first trigger of the name, where variables are concerned. */
static inline const struct hist_spec *hist_running_spec(const struct event_trigger *trigger)
{
	const struct hist_spec *spec = trigger->hist->spec;

	return hist_is_ordered(spec) ? spec : trigger->spec;
}

/* --- parse.c ---------------------------------------------------------------------- */

/* attributes is changed. 0 or -errno. */
int hist_spec_parse(const struct hist_source *src, char *attributes, struct hist_spec **spec);
void hist_spec_free(struct hist_spec *spec); /* NULL is allowed */

/* --- field.c, value.c --------------------------------------------------- */

/* FIELD[.MODIFIER]; flags: HIST_KEY, HIST_VAR or 0. What is in *field is then to be freed. */
int hist_field_parse(const struct hist_source *src, const char *text, unsigned int flags,
		     struct hist_field *field);
/* "stacktrace" as a key. */
bool hist_is_stacktrace(const struct hist_source *src, const char *text);
int hist_stacktrace_parse(const struct hist_source *src, const char *text,
			  struct hist_field *field);
void hist_field_exit(struct hist_field *field);
void hist_field_free(struct hist_field *field); /* NULL is allowed */
/* It gets a type that is not a field's, and a name. 0 or -ENOMEM. */
int hist_field_set(struct hist_field *field, const char *name, const char *type, uint32_t size,
		   bool is_signed);
/* Of its type, as the kernel has it: of a variable's value. */
uint32_t hist_field_type_size(const struct hist_field *field);
const char *hist_field_name(const struct hist_field *field);	 /* not of the first value */
const char *hist_field_modifier(const struct hist_field *field); /* NULL: none is shown */
void hist_field_print(const struct hist_field *field, struct text *out);

/* What variables that are referred to have. */
struct hist_refs {
	uint64_t val[HIST_VARS_MAX];
	char str[HIST_VARS_MAX][EVENT_STRING_MAX];
};

/* refs may be NULL where there are none. */
uint64_t hist_field_value(const struct hist_field *field, const struct event_data *data, bool usecs,
			  const struct hist_refs *refs);
/* The text of one that is a string, cut as the kernel cuts it. */
void hist_field_text(const struct hist_field *field, const struct event_data *data,
		     char to[EVENT_STRING_MAX]);
/* All of the key, of spec->key_size bytes. */
void hist_key(const struct hist_spec *spec, const struct event_data *data, void *key);

/* --- expr.c ------------------------------------------------------------------------ */

/* The operator that is at the root of an expression, and where it stands. */
enum hist_op hist_operator(const char *text, const char **at);
/*
 * An expression, a variable's when var is not NULL; text is changed. 0, or -errno when something is
 * wrong with it, and has been logged.
 */
int hist_expr_parse(const struct hist_source *src, struct hist_spec *spec, char *text,
		    unsigned int flags, const char *var, struct hist_field **to);
/* The same without operators. */
int hist_atom_parse(const struct hist_source *src, struct hist_spec *spec, char *text,
		    unsigned int flags, const char *var, struct hist_field **to);

/* --- vars.c ------------------------------------------------------------------------ */

/* Where a name is looked for, as it is written: SYSTEM.EVENT may be missing. */
struct hist_var_name {
	const char *system, *event, *name;
};

struct hist_found {
	struct event_hist *hist; /* NULL: it is one of the histogram's own */
	const struct hist_field *var;
};

/* Of this histogram alone. NULL: it has none of that name. */
const struct hist_field *hist_own_var(const struct hist_spec *spec, const char *name);
/* Of this histogram, or of another of the same event. */
bool hist_has_var(const struct hist_source *src, const struct hist_spec *spec, const char *name);
/* Of other histograms. */
bool hist_find_var(const struct hist_source *src, const struct hist_spec *spec,
		   const struct hist_var_name *name, struct hist_found *found);
/* spec->ref[*nr] becomes one to what was found, if none is yet. 0, -ENOMEM: there are too many. */
int hist_refer(struct hist_spec *spec, const struct hist_found *found,
	       const struct hist_var_name *name, unsigned int *nr);
/* A variable gets its place in entries. 0 or -EINVAL: there are too many. */
int hist_var_place(struct hist_spec *spec, struct hist_field *var);
/* Whether another histogram refers to a variable of this one. */
bool hist_is_referred_to(const struct event_trigger *trigger);
/* Take what is referred to, of itself or of the others, for this key. False: some has no value. */
bool hist_resolve(const struct hist_spec *spec, const void *key, struct hist_refs *refs);
struct hist_vars;
bool hist_resolve_own(const struct hist_spec *spec, struct hist_vars *vars, struct hist_refs *refs);

/* --- action.c, action-make.c -------------------------------------------- */

/* ONMATCH(...).ACTION(...): text is changed. 0 or -errno. */
int hist_action_parse(const struct hist_source *src, struct hist_spec *spec, char *text);
void hist_action_exit(struct hist_action *action);
bool hist_actions_same(const struct hist_spec *a, const struct hist_spec *b);
void hist_actions_print(const struct hist_spec *spec, struct text *out);
/* Make what they need, in the order in which they are written. 0 or -errno. */
int hist_actions_make(const struct hist_source *src, struct hist_spec *spec);
/* And take back what is not the spec's own. */
void hist_actions_unmake(struct event_triggers *at, struct hist_spec *spec);

/* --- hit.c ------------------------------------------------------------------------- */

void hist_hit(struct event_trigger *trigger, const struct event_data *data);

/* Of an instance: the one snapshot that an action of a histogram takes. */
struct hist_snapshot {
	const struct hist_spec *spec; /* NULL: none does */
	const struct hist_action *action;
	bool taken;
	uint64_t val;
	char comm[COMM_LEN];
	uint8_t key[HIST_KEY_SIZE_MAX];
};

/* --- map.c ------------------------------------------------------------------------- */

struct hist_entry {
	uint64_t sum[HIST_VALS_MAX];
	char comm[COMM_LEN]; /* of the task that came first */
	uint8_t key[];	     /* whole words; then its variables */
};

/* Of an entry; bit n of set: slot n has a value. */
struct hist_vars {
	uint64_t val[HIST_VARS_MAX];
	uint64_t set;
	char str[][EVENT_STRING_MAX];
};

/* Entries as they are at one moment. */
struct hist_view {
	struct hist_entry **entry;
	size_t nr;
	uint64_t hits, drops;
	void *memory;
};

struct hist_map *hist_map_new(const struct hist_spec *spec);
void hist_map_free(struct hist_map *map); /* NULL is allowed */
void hist_map_clear(struct hist_map *map);
/*
 * The key's entry, a new one when it has none: counted as a hit, or else as dropped. NULL: there is
 * no room. Else it is the caller's until hist_map_end(). Any thread.
 */
struct hist_entry *hist_map_begin(struct hist_map *map, const void *key, const char comm[COMM_LEN]);
/* The same of one that is there, which is not counted. NULL: it is not there. */
struct hist_entry *hist_map_find(struct hist_map *map, const void *key);
void hist_map_end(struct hist_map *map);
struct hist_vars *hist_entry_vars(const struct hist_spec *spec, struct hist_entry *entry);
int hist_map_view(struct hist_map *map, struct hist_view *view); /* 0 or -ENOMEM */
void hist_view_free(struct hist_view *view);

/* --- sort.c, print.c, debug.c ---------------------------------------- */

/* In the very order that this kernel shows, also of entries that do not differ in what is asked. */
void hist_view_sort(struct hist_view *view, const struct hist_spec *spec, unsigned int version);
/* What the trigger file reads. */
void hist_trigger_print(struct event_trigger *trigger, struct text *out);
/* One of those in the hist file. */
void hist_print(struct event_trigger *trigger, struct text *out);
/* Likewise in the hist_debug file. */
void hist_debug_print(struct event_trigger *trigger, struct text *out);

/* Of an instance: the latest first. */
struct event_hist_vars {
	struct event_trigger *first;
	struct hist_snapshot *snapshot; /* NULL: there has been none */
};

extern const struct event_command event_command_hist;

#endif
