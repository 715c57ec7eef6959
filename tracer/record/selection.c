// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * selection.c - from what the filters of all instances ask for to the probes that are in the guest.
 *
 * A function has one probe, whoever wants it: it is recorded when any instance takes it, and each
 * instance knows by a bit for each probe which are its own.
 */
#include "tracer/core/lock.h"
#include "tracer/guest/modules.h"
#include "tracer/instance/files.h"
#include "tracer/instance/instance.h"
#include "tracer/instance/max.h"
#include "tracer/instance/order.h"
#include "tracer/lib/nearest.h"
#include "tracer/probe/critical/sites.h"
#include "tracer/probe/pieces.h"
#include "tracer/probe/probe.h"
#include "tracer/probe/returns/returns.h"
#include "tracer/probe/trampoline/trampoline.h"
#include "tracer/record/follow.h"
#include "tracer/record/files.h"
#include "tracer/record/graph.h"
#include "tracer/record/record.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- the list of functions ------------------------------------------------------------------- */

/* What available_filter_functions lists: a function of the kernel, of a module, or a site of none.
 */
struct listing {
	struct func *v;
	uint32_t *probe;
	size_t nr;
};

static void list_probe(const struct trace *t, struct listing *l, size_t probe)
{
	const struct probe *p = &t->probes.v[probe];
	uint64_t addr = p->va + t->guest.slide;

	if (!(p->flags & PROBE_FL_FUNCTION) || p->flags & (PROBE_FL_GONE | PROBE_FL_GOING) ||
	    !*p->name)
		return;
	l->v[l->nr] = (struct func){.addr = addr, .name = p->name};
	if (p->flags & PROBE_FL_MODULE)
		l->v[l->nr].module = modules_name_at(t->modules, addr);
	l->probe[l->nr++] = (uint32_t)probe;
}

static void list_invalid(const struct trace *t, struct listing *l, const struct guestsym_site *s)
{
	l->v[l->nr] =
		(struct func){.addr = s->addr + t->guest.slide, .name = s->name, .invalid = true};
	l->probe[l->nr++] = UINT32_MAX;
}

/* The kernel's sites in their order, which is that of the first probes; then the rest. */
static void list_all(const struct trace *t, struct listing *l)
{
	const struct guestsym_site *sites;
	size_t n = guestsym_fentry_sites(t->gs, &sites), probe = 0;

	for (size_t i = 0; i < n; i++) {
		if (!(sites[i].flags & GUESTSYM_SITE_INVALID))
			list_probe(t, l, probe++);
		else if (!(sites[i].flags & GUESTSYM_SITE_INIT))
			list_invalid(t, l, &sites[i]);
	}
	for (; probe < t->probes.nr; probe++)
		list_probe(t, l, probe);
}

static int functions_list(struct trace *t)
{
	const struct guestsym_site *sites;
	size_t room = guestsym_fentry_sites(t->gs, &sites) + t->probes.nr + 1;
	struct listing l = {.v = calloc(room, sizeof(*l.v)),
			    .probe = calloc(room, sizeof(*l.probe))};
	struct funcs *funcs = NULL;

	if (l.v && l.probe) {
		list_all(t, &l);
		funcs = funcs_new(l.v, l.nr);
	}
	free(l.v);
	if (!funcs) {
		free(l.probe);
		return -ENOMEM;
	}
	trace_writers_stop(t);
	funcs_put(t->funcs);
	free(t->func_probe);
	t->funcs = funcs;
	t->func_probe = l.probe;
	trace_writers_go(t);
	return 0;
}

/* --- what is asked for ----------------------------------------------------------------------- */

static int bits_reserve(struct instance *i)
{
	size_t room = (i->t->probes.nr + 63) / 64 * 64, old = i->room / 8;
	uint8_t *takes, *commands;

	if (room <= i->room)
		return 0;
	takes = realloc(i->takes, room / 8);
	if (!takes)
		return -ENOMEM;
	i->takes = takes;
	commands = realloc(i->commands, room / 8);
	if (!commands)
		return -ENOMEM;
	i->commands = commands;
	memset(takes + old, 0, room / 8 - old);
	memset(commands + old, 0, room / 8 - old);
	i->room = room;
	return 0;
}

static void selection_note(struct instance *i, const struct func_selection *sel)
{
	const struct trace *t = i->t;

	i->filtered =
		!func_set_empty(sel->set[FUNC_FILTER]) || !func_set_empty(sel->set[FUNC_NOTRACE]);
	instance_order_want(i, ORDER_COMMANDS, sel->commands_order);
	instance_order_want(i, ORDER_COMMAND_ON, sel->commands_turn_on);
	memset(i->takes, 0, i->room / 8);
	memset(i->commands, 0, i->room / 8);
	i->nr_takes = 0;
	for (uint32_t f = 0; f < sel->funcs->nr; f++) {
		uint32_t probe = t->func_probe[f];

		if (probe == UINT32_MAX || probe >= i->room)
			continue;
		if (func_selection_traces(sel, f)) {
			i->takes[probe / 8] |= (uint8_t)(1 << (probe & 7));
			i->nr_takes++;
		}
		if (sel->commands && func_set_has(sel->commands, f))
			i->commands[probe / 8] |= (uint8_t)(1 << (probe & 7));
	}
	instance_tell_few(i);
}

void instance_tell_few(struct instance *i)
{
	if (i->tracer->entered && !instance_stops_calls(i))
		trace_note(i->t,
			   "%s: it looks at no function: set_ftrace_filter selects %" PRIu32
			   ", and may select %d at most",
			   i->tracer->name, i->nr_takes, TRACER_FEW);
}

int selection_apply(void *arg, const struct func_selection *sel)
{
	struct instance *i = arg;
	struct trace *t = i->t;
	int ret;

	trace_change_begin(t);
	trace_writers_stop(t);
	ret = sel->funcs == t->funcs ? bits_reserve(i) : -EAGAIN;
	if (!ret)
		ret = graph_filter_name(&i->graph, sel->set[FUNC_GRAPH],
					sel->set[FUNC_GRAPH_NOTRACE]);
	if (!ret)
		selection_note(i, sel);
	trace_writers_go(t);
	if (!ret)
		ret = selection_patch(t);
	trace_change_end(t);
	return pieces_finish(t, ret);
}

int selection_update(struct trace *t)
{
	int ret = functions_list(t);

	if (!ret && t->more_functions)
		ret = func_filter_update(t->more_functions, t->funcs);
	for (struct instance *i = t->instances; i && !ret; i = i->next)
		ret = func_filter_update(i->functions, t->funcs);
	return ret;
}

/* --- what is patched ------------------------------------------------------------------------- */

static bool any_takes(const struct trace *t, uint32_t probe)
{
	for (const struct instance *i = t->instances; i; i = i->next)
		if (instance_wants_calls(i) && instance_bit(i->takes, i->room, probe))
			return true;
	return probe == graph_switch_probe(t);
}

static bool any_commands(const struct trace *t, uint32_t probe)
{
	for (const struct instance *i = t->instances; i; i = i->next)
		if (instance_bit(i->commands, i->room, probe))
			return true;
	return false;
}

static bool any_stacks(const struct trace *t, uint32_t probe)
{
	for (const struct instance *i = t->instances; i; i = i->next)
		if (instance_function_option(i, OUTPUT_FUNC_STACK_TRACE) &&
		    instance_bit(i->takes, i->room, probe))
			return true;
	return false;
}

/* A tracer looks at its calls itself. Only the top level can have one that does. */
static bool tracer_looks(const struct trace *t, uint32_t probe)
{
	const struct instance *top = t->instances;

	for (unsigned int k = 0; top->tracer->calls && top->tracer->calls[k]; k++)
		if (top->tracer_calls[k] == probe)
			return true;
	return instance_stops_calls(top) && instance_bit(top->takes, top->room, probe);
}

/* True: what is in the guest for it is not what should be. */
static bool probe_update(struct trace *t, uint32_t probe)
{
	struct probe *p = &t->probes.v[probe];
	uint16_t flags = p->flags & (uint16_t)~PROBE_FL_RECORD;
	uint32_t guards = p->guards & ~(uint32_t)(GUARD_RECORDS | GUARD_FOLLOWS);
	bool same;

	if (any_takes(t, probe))
		flags |= PROBE_FL_RECORD;
	if (any_commands(t, probe))
		guards |= GUARD_COMMAND;
	if (any_stacks(t, probe))
		guards |= GUARD_STACK;
	if (tracer_looks(t, probe))
		guards |= GUARD_PROBE;
	guards |= p->asked | follow_guards(t->follow, probe);
	/* The payload tells text_mutex from all others: not every mutex is to be waited for. */
	if (guards & GUARD_TEXT_LOCK)
		guards &= ~(uint32_t)GUARD_DEPTH;
	/* A guard's probe records by the way, but for those that the payload itself serves. */
	same = p->guards == guards && (p->flags == flags || (guards && guards != GUARD_TEXT_LOCK &&
							     guards != GUARD_DEPTH));
	p->flags = flags;
	p->guards = guards;
	return !same;
}

static bool exit_is_taken(const struct trace *t, uint32_t probe)
{
	for (const struct instance *i = t->instances; i; i = i->next)
		if (instance_wants_exits(i) && instance_bit(i->takes, i->room, probe))
			return true;
	return false;
}

static int exits_update(struct trace *t)
{
	static const struct returns_wish wish = {exit_is_taken};
	bool wanted = false;

	for (const struct instance *i = t->instances; i; i = i->next)
		wanted = wanted || instance_wants_exits(i);
	return returns_update(t, wanted ? &wish : NULL);
}

static int windows_update(struct trace *t)
{
	uint32_t critical = 0;

	for (const struct instance *i = t->instances; i; i = i->next)
		critical |= i->tracer->critical;
	return flag_sites_update(t, critical);
}

/*
 * One instance that takes all that is recorded need not look at each record. With a filter it has
 * to: a vCPU may stand in the midst of a record of a function that was selected before.
 */
static void instances_settle(struct trace *t)
{
	uint32_t switches = graph_switch_probe(t);
	unsigned int nr = 0;

	for (struct instance *i = t->instances; i; i = i->next)
		nr += instance_wants_calls(i);
	for (struct instance *i = t->instances; i; i = i->next)
		i->all = nr == 1 && instance_wants_calls(i) && !i->filtered &&
			 (switches == UINT32_MAX || instance_bit(i->takes, i->room, switches));
}

static int probes_update(struct trace *t)
{
	int ret;

	follow_update(t);
	trace_writers_stop(t);
	record_drain_all(t); /* by the old selection */
	for (size_t i = 0; i < t->probes.nr; i++) {
		struct probe *p = &t->probes.v[i];

		if (!(p->flags & PROBE_FL_FUNCTION) || p->flags & PROBE_FL_GONE)
			continue;
		if (probe_update(t, (uint32_t)i) && p->flags & PROBE_FL_SET)
			p->flags |= PROBE_FL_CHANGE;
	}
	instances_settle(t);
	ret = instance_max_calls(t->instances);
	if (!ret)
		ret = exits_update(t);
	if (!ret)
		ret = windows_update(t);
	trace_writers_go(t);
	return ret;
}

int selection_patch(struct trace *t)
{
	int ret = probes_update(t);

	probes_hold(t);
	if (!ret && t->placed && !t->away)
		ret = pieces_patch(t);
	for (size_t i = 0; i < t->probes.nr; i++)
		t->probes.v[i].flags &= (uint16_t)~PROBE_FL_CHANGE;
	payload_control(t);
	return ret;
}

/* --- what the configuration asks for --------------------------------------------------------- */

/*
 * Of several names at one address the list of functions has one, as the kernel's: the function that
 * another name stands for; NULL: it is none.
 */
static const struct func *function_named_otherwise(struct trace *t, const char *name)
{
	const struct guestsym_symbol *symbol = guestsym_lookup(t->gs, name);
	const struct guestsym_site *sites;
	size_t n = symbol ? guestsym_fentry_sites(t->gs, &sites) : 0;

	for (size_t i = 0; i < n; i++) {
		uint32_t func = sites[i].func == symbol->addr
					? funcs_at(t->funcs, sites[i].addr + t->guest.slide)
					: FUNC_NONE;

		if (func != FUNC_NONE && !t->funcs->v[func].invalid)
			return &t->funcs->v[func];
	}
	return NULL;
}

static bool write_word(struct func_file *file, const char *word)
{
	size_t len = strlen(word);

	return len && func_file_write(file, word, len) == (ssize_t)len &&
	       func_file_write(file, "\n", 1) >= 0;
}

static bool write_glob(struct trace *t, struct func_file *file, const char *glob)
{
	const struct func *func;

	if (write_word(file, glob))
		return true;
	func = function_named_otherwise(t, glob);
	if (!func || !write_word(file, func->name))
		return false;
	trace_note(t, "%s is a name of %s: the trace shows it by that", glob, func->name);
	return true;
}

/* "; did you mean vfs_read?", or nothing. */
static const char *traceable_hint(const struct trace *t, const char *glob, char *hint, size_t size)
{
	struct nearest near;

	nearest_begin(&near, glob);
	for (size_t i = 0; i < t->probes.nr; i++)
		if ((t->probes.v[i].flags & PROBE_FL_RECORD) && t->probes.v[i].name)
			nearest_try(&near, t->probes.v[i].name);
	return nearest_hint(&near, "", hint, size);
}

static int ask(struct instance *i, enum func_file_kind kind, const char *option,
	       const char *const *globs, size_t nr, char *err, size_t errlen)
{
	char hint[2 * NEAREST_LEN];
	struct func_file *file;
	int ret = nr ? func_file_open(i->functions, kind, O_WRONLY, &file) : 0;

	if (ret || !nr)
		return ret;
	change_lock(i->t); /* before the filter's lock, as everywhere */
	for (size_t g = 0; g < nr && !ret; g++) {
		if (write_glob(i->t, file, globs[g]))
			continue;
		snprintf(err, errlen,
			 "%s '%s' matches none of the traceable functions%s (hvtrace symbols "
			 "--functions lists those of an image that stay after boot)",
			 option, globs[g], traceable_hint(i->t, globs[g], hint, sizeof(hint)));
		ret = -ENOENT;
	}
	func_file_close(file);
	change_unlock(i->t);
	return ret;
}

int trace_select(struct trace *t, const struct trace_config *which, char *err, size_t errlen)
{
	struct instance *top = trace_top(t);
	int ret = ask(top, FUNC_FILTER, "filter", which->filter, which->nr_filter, err, errlen);

	return ret ? ret
		   : ask(top, FUNC_NOTRACE, "notrace", which->notrace, which->nr_notrace, err,
			 errlen);
}

int selection_configure(struct trace *t, char *err, size_t errlen)
{
	struct instance *top = trace_top(t);
	int ret;

	change_lock(t);
	ret = selection_update(t);
	change_unlock(t);
	if (ret) {
		snprintf(err, errlen, "no memory for the list of functions");
		return ret;
	}
	ret = trace_select(t, &t->cfg, err, errlen);
	/* A tracer that comes later has them then. */
	if (!ret && !instance_traces_functions(top))
		return 0;
	for (size_t i = 0; i < t->probes.nr && !ret; i++)
		if (t->probes.v[i].flags & PROBE_FL_RECORD)
			return 0;
	if (!ret) {
		snprintf(err, errlen, "filter and notrace together leave no function to trace");
		ret = -ENOENT;
	}
	return ret;
}

void selection_free(struct trace *t)
{
	funcs_put(t->funcs);
	free(t->func_probe);
}

/* What the instance asks for has changed. */
int instance_repatch(struct instance *i)
{
	int ret;

	trace_change_begin(i->t);
	ret = selection_patch(i->t);
	trace_change_end(i->t);
	return pieces_finish(i->t, ret);
}
