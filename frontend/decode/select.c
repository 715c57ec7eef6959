// SPDX-License-Identifier: GPL-2.0-or-later
/* select.c - see select.h: what is cheap to look at comes first. */
#include "frontend/decode/select.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tracer/tracer.h"

enum { IDS = 65536, CACHE = 4096 };

/* What was found out about a function, or a task. */
struct verdict {
	uint64_t of; /* its address, or pid */
	bool known, wanted;
};

/* How an event of the function tracers names its function. */
struct function_field {
	int id;
	const struct tep_format_field *field;
};

enum { FUNCTION_EVENTS = 4 };

struct select {
	const struct select_config *cfg;
	struct formats *f;
	bool cpus[DAT_CPUS_MAX];
	int32_t *pids;
	bool by_event[IDS];
	struct function_field functions[FUNCTION_EVENTS];
	size_t nr_functions;
	struct verdict function_cache[CACHE], task_cache[CACHE];
	struct tep_event_filter **filters;
	int stack_id;
	bool found;
	bool *last; /* of each buffer and vCPU: whether its event before was wanted */
	char *err;
	size_t errlen;
};

static bool fail(struct select *s, const char *format, ...) __attribute__((format(printf, 2, 3)));

static bool fail(struct select *s, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	vsnprintf(s->err, s->errlen, format, ap);
	va_end(ap);
	return false;
}

/* --- CPUs, tasks -------------------------------------------------------------------------------
 */

static bool take_number(const char **at, unsigned long max, unsigned long *n)
{
	char *end;

	if (!isdigit((unsigned char)**at))
		return false;
	errno = 0;
	*n = strtoul(*at, &end, 10);
	*at = end;
	return !errno && *n <= max;
}

static const char no_cpus[] = "'%s' is no list of CPUs (such as 0,2-3)";

/* trace-cmd has colons for commas, too. */
static bool read_cpus(struct select *s)
{
	const char *at = s->cfg->cpus;
	unsigned long first, last;

	do {
		if (!take_number(&at, DAT_CPUS_MAX - 1, &first))
			return fail(s, no_cpus, s->cfg->cpus);
		last = first;
		if (*at == '-' && (at++, !take_number(&at, DAT_CPUS_MAX - 1, &last)))
			return fail(s, no_cpus, s->cfg->cpus);
		for (; first <= last; first++)
			s->cpus[first] = true;
	} while ((*at == ',' || *at == ':') && *++at);
	return *at ? fail(s, no_cpus, s->cfg->cpus) : true;
}

static bool read_pids(struct select *s)
{
	const struct select_list *l = &s->cfg->pids;

	s->pids = calloc(l->nr ? l->nr : 1, sizeof(*s->pids));
	if (!s->pids)
		return fail(s, "no memory");
	for (size_t i = 0; i < l->nr; i++) {
		const char *at = l->values[i];
		unsigned long pid;

		if (!take_number(&at, INT32_MAX, &pid) || *at)
			return fail(s, "'%s' is not the number of a task", l->values[i]);
		s->pids[i] = (int32_t)pid;
	}
	return true;
}

static bool is_one_of(const struct select_list *globs, const char *name)
{
	for (size_t i = 0; i < globs->nr; i++)
		if (glob_pattern_match(globs->values[i], name))
			return true;
	return false;
}

static bool wants_task(struct select *s, int32_t pid)
{
	struct verdict *v = &s->task_cache[(uint32_t)pid % CACHE];

	if (v->known && v->of == (uint32_t)pid)
		return v->wanted;
	*v = (struct verdict){.of = (uint32_t)pid, .known = true};
	for (size_t i = 0; i < s->cfg->pids.nr && !v->wanted; i++)
		v->wanted = s->pids[i] == pid;
	if (!v->wanted)
		v->wanted =
			is_one_of(&s->cfg->comms, tep_data_comm_from_pid(formats_tep(s->f), pid));
	return v->wanted;
}

/* --- events, functions -------------------------------------------------------------------------
 */

/* "SYSTEM:EVENT", where either part may be left out, or EVENT. */
static bool event_matches(const struct tep_event *event, const char *glob)
{
	const char *colon = strchr(glob, ':');
	char system[128];

	if (!colon)
		return glob_pattern_match(glob, event->name);
	snprintf(system, sizeof(system), "%.*s", (int)(colon - glob), glob);
	return (!*system || glob_pattern_match(system, event->system)) &&
	       (!colon[1] || glob_pattern_match(colon + 1, event->name));
}

static bool fail_event(struct select *s, const char *glob)
{
	char hint[NEAREST_LEN * 2], both[256];
	struct tep_event *event;
	struct nearest near;

	nearest_begin(&near, glob);
	for (int i = 0; (event = tep_get_event(formats_tep(s->f), i)); i++) {
		snprintf(both, sizeof(both), "%s:%s", event->system, event->name);
		nearest_try(&near, strchr(glob, ':') ? both : event->name);
	}
	return fail(s, "the file knows no event %s%s", glob,
		    nearest_hint(&near, "", hint, sizeof(hint)));
}

static bool select_events(struct select *s, size_t number)
{
	const char *glob = s->cfg->events.values[number];
	struct tep_event *event;
	bool found = false;

	for (int i = 0; (event = tep_get_event(formats_tep(s->f), i)); i++) {
		if (event->id < 0 || event->id >= IDS || !event_matches(event, glob))
			continue;
		s->by_event[event->id] = true;
		found = true;
	}
	if (s->cfg->known)
		s->cfg->known[number] |= found;
	return found || s->cfg->known ? true : fail_event(s, glob);
}

static bool read_events(struct select *s)
{
	for (size_t i = 0; i < s->cfg->events.nr; i++)
		if (!select_events(s, i))
			return false;
	return true;
}

static void find_functions(struct select *s)
{
	static const struct {
		const char *event, *field;
	} names[FUNCTION_EVENTS] = {
		{"function", "ip"},
		{"func_repeats", "ip"},
		{"funcgraph_entry", "func"},
		{"funcgraph_exit", "func"},
	};

	for (size_t i = 0; i < FUNCTION_EVENTS; i++) {
		struct tep_event *event =
			tep_find_event_by_name(formats_tep(s->f), "ftrace", names[i].event);
		struct tep_format_field *field =
			event ? tep_find_field(event, names[i].field) : NULL;

		if (field)
			s->functions[s->nr_functions++] = (struct function_field){event->id, field};
	}
}

static bool name_wanted(struct select *s, uint64_t addr)
{
	struct verdict *v = &s->function_cache[(addr >> 4) % CACHE];
	const char *name;

	if (v->known && v->of == addr)
		return v->wanted;
	name = tep_find_function(formats_tep(s->f), addr);
	*v = (struct verdict){
		.of = addr,
		.known = true,
		.wanted = name && is_one_of(&s->cfg->functions, name),
	};
	return v->wanted;
}

static bool wants_function(struct select *s, const struct decode_event *ev)
{
	uint64_t addr;

	for (size_t i = 0; i < s->nr_functions; i++)
		if (s->functions[i].id == ev->id)
			return formats_number(s->functions[i].field, ev, &addr) &&
			       name_wanted(s, addr);
	return false;
}

/* --- libtraceevent's filters -------------------------------------------------------------------
 */

static bool read_filters(struct select *s)
{
	const struct select_list *l = &s->cfg->filters;
	char why[256];

	s->filters = calloc(l->nr ? l->nr : 1, sizeof(struct tep_event_filter *));
	if (!s->filters)
		return fail(s, "no memory");
	for (size_t i = 0; i < l->nr; i++) {
		enum tep_errno rc;

		s->filters[i] = tep_filter_alloc(formats_tep(s->f));
		if (!s->filters[i])
			return fail(s, "no memory");
		rc = tep_filter_add_filter_str(s->filters[i], l->values[i]);
		if (rc >= 0)
			continue;
		tep_filter_strerror(s->filters[i], rc, why, sizeof(why));
		why[strcspn(why, "\n")] = '\0';
		return fail(s, "the filter '%s' makes no sense: %s", l->values[i], why);
	}
	return true;
}

static bool wants_filter(const struct select *s, const struct decode_event *ev)
{
	struct tep_record *record = formats_record(s->f, FORMATS_OTHER, ev);

	for (size_t i = 0; i < s->cfg->filters.nr; i++) {
		enum tep_errno rc = tep_filter_match(s->filters[i], record);

		if (rc == TEP_ERRNO__FILTER_MATCH || rc == TEP_ERRNO__NO_FILTER)
			return true;
	}
	return false;
}

/* --- all of it ---------------------------------------------------------------------------------
 */

static bool read_all(struct select *s, struct dat *d)
{
	struct tep_event *stack =
		tep_find_event_by_name(formats_tep(s->f), "ftrace", "kernel_stack");

	s->stack_id = stack ? stack->id : -1;
	s->last = calloc(dat_nr_buffers(d) + 1, DAT_CPUS_MAX * sizeof(*s->last));
	if (!s->last)
		return fail(s, "no memory");
	find_functions(s);
	return (!s->cfg->cpus || read_cpus(s)) && read_pids(s) && read_events(s) && read_filters(s);
}

struct select *select_new(const struct select_config *cfg, struct dat *d, struct formats *f,
			  char *err, size_t errlen)
{
	struct select *s = calloc(1, sizeof(*s));

	if (!s) {
		snprintf(err, errlen, "no memory");
		return NULL;
	}
	s->cfg = cfg;
	s->f = f;
	s->err = err;
	s->errlen = errlen;
	if (read_all(s, d))
		return s;
	select_free(s);
	return NULL;
}

void select_free(struct select *s)
{
	if (!s)
		return;
	for (size_t i = 0; s->filters && i < s->cfg->filters.nr; i++)
		if (s->filters[i])
			tep_filter_free(s->filters[i]);
	free(s->filters);
	free(s->pids);
	free(s->last);
	free(s);
}

static bool wants_kind(struct select *s, const struct decode_event *ev)
{
	const struct select_config *c = s->cfg;

	if (!c->events.nr && !c->functions.nr)
		return true;
	return s->by_event[ev->id] || (c->functions.nr && wants_function(s, ev));
}

static bool wants(struct select *s, const struct decode_event *ev)
{
	const struct select_config *c = s->cfg;

	if ((c->has_from && ev->time < c->from) || (c->has_to && ev->time > c->to))
		return false;
	if (c->cpus && !s->cpus[ev->cpu])
		return false;
	if ((c->pids.nr || c->comms.nr) && !wants_task(s, ev->pid))
		return false;
	return wants_kind(s, ev) && (!c->filters.nr || wants_filter(s, ev));
}

bool select_wants(void *select, const struct decode_event *ev)
{
	struct select *s = select;
	bool *last = &s->last[ev->buffer * DAT_CPUS_MAX + ev->cpu];

	if (ev->id == s->stack_id)
		return *last || wants(s, ev);
	*last = wants(s, ev);
	s->found |= *last;
	return *last;
}

bool select_found(const struct select *s)
{
	return s->found;
}
