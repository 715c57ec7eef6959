// SPDX-License-Identifier: GPL-2.0-or-later
/* kprobe-place.c - the symbols that definitions name, and the sites that are there. */
#include "tracer/core/lock.h"
#include "tracer/dynevent/kprobe.h"
#include "tracer/guest/modules.h"
#include "tracer/instance/instance.h"
#include "tracer/output/output.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FUNCTION_MAX = 65536, INSN_MAX = 16 };

/* --- symbols --------------------------------------------------------------------------------- */

/* What is looked for: a name in all, or in one module only. */
struct symbol_search {
	const char *name, *module;
	size_t module_len;
	unsigned int count;
	uint64_t addr; /* of the first */
};

static struct symbol_search search_for(const char *name)
{
	const char *colon = strchr(name, ':');

	if (!colon)
		return (struct symbol_search){.name = name};
	return (struct symbol_search){
		.name = colon + 1, .module = name, .module_len = (size_t)(colon - name)};
}

static void search_in(struct symbol_search *s, const struct guestsym_symbol *syms, size_t n,
		      uint64_t slide)
{
	for (size_t i = 0; i < n; i++)
		if (!strcmp(syms[i].name, s->name) && !s->count++)
			s->addr = syms[i].addr + slide;
}

static int search_module(void *arg, const struct guestsym_module *mod)
{
	struct symbol_search *s = arg;

	if (!s->module ||
	    (!strncmp(mod->name, s->module, s->module_len) && !mod->name[s->module_len]))
		search_in(s, mod->syms, mod->nr_syms, 0);
	return 0;
}

static void search_all(struct trace *t, struct symbol_search *s)
{
	const struct guestsym_symbol *syms;
	size_t n = guestsym_symbols(t->gs, &syms);

	if (!s->module)
		search_in(s, syms, n, t->guest.slide);
	change_lock(t);
	modules_each(t->modules, search_module, s);
	change_unlock(t);
}

unsigned int probe_symbol_count(void *arg, const char *name)
{
	struct symbol_search s = search_for(name);

	search_all(arg, &s);
	return s.count;
}

static int pointee(void *arg, uint32_t type, uint32_t *to)
{
	return guestsym_pointee(((const struct trace *)arg)->gs, type, to);
}

static int member(void *arg, uint32_t type, const char *name, struct guestsym_member *m)
{
	return guestsym_member(((const struct trace *)arg)->gs, type, name, m);
}

/* Of the kernel image's own functions; modules have BTF of their own, which is not read. */
bool probe_symbol_function(void *arg, const char *name, struct fetch_function *function)
{
	const struct trace *t = arg;
	int nr;

	if (strchr(name, ':') || !probe_kernel_has_meta_args(t))
		return false;
	nr = guestsym_function(t->gs, name, function->param, FETCH_PARAMS_MAX, &function->result);
	function->nr = nr < 0 ? 0 : (unsigned int)nr;
	function->pointee = pointee;
	function->member = member;
	function->arg = arg;
	return nr >= 0;
}

bool probe_symbol_dentries(struct trace *t, struct probe_dentries *dentries)
{
	struct guestsym_field name, dentry;

	if (!guestsym_addr(t->gs, "traceprobe_expand_dentry_args") ||
	    guestsym_field(t->gs, "dentry.d_name.name", &name) ||
	    guestsym_field(t->gs, "file.f_path.dentry", &dentry))
		return false;
	*dentries = (struct probe_dentries){name.offset, dentry.offset};
	return true;
}

bool probe_kernel_has_meta_args(const struct trace *t)
{
	return guestsym_addr(t->gs, "traceprobe_expand_meta_args");
}

bool probe_kernel_validates_names(const struct trace *t)
{
	return guestsym_addr(t->gs, "validate_probe_symbol");
}

bool probe_kernel_keeps_args(const struct trace *t)
{
	return guestsym_addr(t->gs, "store_trace_entry_data") &&
	       guest_probes_keep_args(t->probe_events->guest);
}

bool probe_kernel_has_fprobes(const struct trace *t)
{
	return guestsym_addr(t->gs, "trace_fprobe_create");
}

bool probe_kernel_has_char(const struct trace *t)
{
	return guestsym_addr(t->gs, "print_type_char");
}

uint64_t probe_symbol_address(struct trace *t, const char *name)
{
	struct symbol_search s = search_for(name);

	search_all(t, &s);
	return s.addr;
}

/* A function's site is at its beginning, or behind the endbr64 that is there. */
static uint32_t site_at(struct trace *t, uint64_t addr)
{
	const uint64_t endbr = 4;
	uint32_t probe = UINT32_MAX;

	change_lock(t);
	for (uint64_t off = 0; off <= endbr && probe == UINT32_MAX; off += endbr) {
		probe = probe_at_site(t, addr + off - t->guest.slide);
		if (probe != UINT32_MAX && !(t->probes.v[probe].flags & PROBE_FL_FUNCTION))
			probe = UINT32_MAX;
	}
	change_unlock(t);
	return probe;
}

int probe_symbol_entry(void *arg, const char *name, uint64_t offset)
{
	struct trace *t = arg;
	uint64_t addr = probe_symbol_address(t, name);
	struct output_symbol sym = {0};

	if (!addr)
		return -ENOENT;
	if (!trace_find_symbol(t, addr + offset, &sym))
		return -EINVAL;
	if (!sym.off)
		return 0;
	/* Behind its endbr64 a function begins, too. */
	return sym.off == 4 && site_at(t, addr + offset) != UINT32_MAX ? 0 : -EINVAL;
}

/* --- places ---------------------------------------------------------------------------------- */

struct boundary {
	uint64_t addr;
	bool found;
};

static bool look(void *arg, const struct guestsym_insn *insn)
{
	struct boundary *b = arg;

	b->found = b->found || insn->addr == b->addr;
	return insn->addr < b->addr;
}

/* Whether an instruction begins so far behind the beginning of a function. */
static bool is_boundary(struct trace *t, uint64_t start, uint64_t off)
{
	struct guestsym_decoder *d = guestsym_decoder_new();
	size_t len = off + INSN_MAX;
	uint8_t *code = off < FUNCTION_MAX ? malloc(len) : NULL;
	struct boundary b = {.addr = start + off};

	if (d && code && !guest_read(&t->guest, start, code, len))
		guestsym_decode(d, code, len, start, look, &b);
	free(code);
	guestsym_decoder_free(d);
	return b.found;
}

/* A trap does for the entry of a function; `why` there is nothing better. */
static int place_trap(struct trace *t, struct probe_event *pe, uint64_t addr, const char *why)
{
	const struct probe_def *def = pe->def;
	struct output_symbol sym = {0};

	pe->probe = site_at(t, addr);
	if (pe->probe != UINT32_MAX && !def->is_return) {
		change_lock(t);
		t->probes.v[pe->probe].kept = true;
		pe->ip = t->probes.v[pe->probe].va + t->guest.slide;
		change_unlock(t);
		return 0;
	}
	if (!trace_find_symbol(t, addr, &sym))
		return -EINVAL;
	if (sym.off && !is_boundary(t, addr - sym.off, sym.off))
		return -EILSEQ;
	trace_note(t, "%s:%s: probes are at the entries of functions only: %s", def->group,
		   def->event, why);
	return -EOPNOTSUPP;
}

/* A trap that is there already would not be hit any more. */
static bool is_trapped(struct trace *t, uint64_t addr)
{
	uint32_t site = site_at(t, addr);
	const struct probe_event *pe = site == UINT32_MAX ? NULL : t->probe_events->first;

	while (pe && pe->probe != site)
		pe = pe->next;
	return pe;
}

static uint32_t row_kind(const struct probe_def *def)
{
	if (def->kind == PROBE_TPROBE)
		return PROBE_ROW_TRACEPOINT;
	return def->is_return ? PROBE_ROW_RETURN : PROBE_ROW_ENTRY;
}

static int place_in_guest(struct trace *t, struct probe_event *pe, uint64_t addr)
{
	const struct probe_def *def = pe->def;
	int ret;

	if (borrow_needs(t->borrow, addr)) {
		trace_note(t, "%s:%s: the guest could not be asked to remove a probe that is there",
			   def->group, def->event);
		return -EINVAL;
	}
	if (is_trapped(t, addr)) {
		trace_note(t, "%s:%s: an earlier probe is a trap at this entry: remove it first",
			   def->group, def->event);
		return -EBUSY;
	}
	ret = guest_probe_register(t->probe_events->guest, row_kind(def), addr, def->maxactive,
				   probe_def_keeps_args(def), &pe->guest);
	if (ret)
		return ret;
	pe->probe = UINT32_MAX;
	pe->in_guest = true;
	pe->ip = pe->guest.ip;
	return 0;
}

/* within_notrace_func() (kernel/trace/trace_kprobe.c, 6.1); of a part of a function the whole
 * counts.
 */
static bool is_notrace(struct trace *t, uint64_t addr)
{
	struct output_symbol sym = {0};
	const char *dot;
	char *name;

	if (!trace_find_symbol(t, addr, &sym) || site_at(t, addr - sym.off) != UINT32_MAX)
		return false;
	dot = strchr(sym.name, '.');
	name = dot ? strndup(sym.name, (size_t)(dot - sym.name)) : NULL;
	addr = name ? probe_symbol_address(t, name) : 0;
	free(name);
	return !addr || site_at(t, addr) == UINT32_MAX;
}

int probe_arg_resolve(struct trace *t, struct fetch_arg *a)
{
	char *name;
	int64_t offset;
	int ret;

	if (a->source != FETCH_SYMBOL)
		return 0;
	name = strdup(a->text);
	if (!name)
		return -ENOMEM;
	ret = fetch_split_symbol(name, &offset);
	a->number = ret ? 0 : probe_symbol_address(t, name);
	free(name);
	if (!ret && !a->number)
		ret = -ENOENT;
	a->number += (uint64_t)offset;
	return ret;
}

static int args_resolve(struct trace *t, struct probe_def *def)
{
	int ret = 0;

	for (unsigned int i = 0; i < def->nr_args && !ret; i++)
		ret = probe_arg_resolve(t, &def->arg[i]);
	return ret;
}

/* 0 or -errno: there is no probe there. */
static int kprobe_address(struct trace *t, const struct probe_def *def, uint64_t *addr)
{
	uint64_t base = def->symbol ? probe_symbol_address(t, def->symbol) : 0;

	*addr = base + def->offset;
	if (def->symbol && !base)
		return -ENOENT;
	return is_notrace(t, *addr) ? -EINVAL : 0;
}

/* Where ftrace can be asked for the function, of which the kernel says nothing more. */
static int fprobe_address(struct trace *t, const struct probe_def *def, uint64_t *addr)
{
	unsigned int n = probe_symbol_count(t, def->symbol);

	if (strpbrk(def->symbol, "*?[") || n > 1)
		trace_note(t, "%s:%s: a probe is at one function, and there %s of that name",
			   def->group, def->event, n ? "are several" : "is none");
	*addr = n == 1 ? probe_symbol_address(t, def->symbol) : 0;
	return *addr && site_at(t, *addr) != UINT32_MAX ? 0 : -EINVAL;
}

/* Of the kernel image alone. */
static uint64_t tracepoint_address(const struct trace *t, const char *name)
{
	char symbol[PROBE_STUB_SIZE];

	if (snprintf(symbol, sizeof(symbol), "__tracepoint_%s", name) >= (int)sizeof(symbol))
		return 0;
	return trace_runtime(t, symbol);
}

bool probe_symbol_tracepoint(void *arg, const char *name)
{
	return tracepoint_address(arg, name);
}

bool probe_is_tracepoint(struct trace *t, uint64_t addr)
{
	struct output_symbol sym = {0};

	return trace_find_symbol(t, addr, &sym) && !sym.off &&
	       !strncmp(sym.name, "__tracepoint_", strlen("__tracepoint_"));
}

/* From 6.13 on those of system calls call their probes with preemption on. */
static bool may_be_preempted(const struct trace *t, const char *name)
{
	struct guestsym_field faultable;

	return !strncmp(name, "sys_", 4) &&
	       !guestsym_field(t->gs, "tracepoint_ext.faultable", &faultable);
}

/* Its records are of the entry of the function that the kernel's own would be at. */
static int place_tracepoint(struct trace *t, struct probe_event *pe, const char *why)
{
	const struct probe_def *def = pe->def;
	uint64_t tp = tracepoint_address(t, def->symbol), stub;
	char name[PROBE_STUB_SIZE];
	uint32_t site;
	int ret;

	stub = probe_stub_name(def->symbol, name) ? trace_runtime(t, name) : 0;
	site = stub ? site_at(t, stub) : UINT32_MAX;
	if (!tp || site == UINT32_MAX)
		return -EINVAL;
	if (may_be_preempted(t, def->symbol))
		why = "those of system calls may be preempted in this kernel";
	if (why) {
		trace_note(t, "%s:%s: no probe at a tracepoint: %s", def->group, def->event, why);
		return -EOPNOTSUPP;
	}
	ret = guest_probe_register(t->probe_events->guest, row_kind(def), tp, 0, false, &pe->guest);
	if (ret)
		return ret;
	pe->probe = UINT32_MAX;
	pe->in_guest = true;
	change_lock(t);
	pe->ip = t->probes.v[site].va + t->guest.slide;
	change_unlock(t);
	return 0;
}

/* 0 or -errno: there is no probe there. */
static int place_address(struct trace *t, const struct probe_def *def, uint64_t *addr)
{
	if (def->kind == PROBE_TPROBE)
		return 0;
	return def->kind == PROBE_KPROBE ? kprobe_address(t, def, addr)
					 : fprobe_address(t, def, addr);
}

int probe_event_place(struct trace *t, struct probe_event *pe)
{
	struct probe_def *def = pe->def;
	uint64_t addr = 0;
	char err[256];
	const char *why;
	int ret = args_resolve(t, def);

	if (!ret)
		ret = place_address(t, def, &addr);
	if (ret)
		return ret;
	why = guest_probes_why_not(t->probe_events->guest, row_kind(def));
	if (!why && guest_probes_open(t->probe_events->guest, err, sizeof(err)))
		why = err;
	if (def->kind == PROBE_TPROBE)
		return place_tracepoint(t, pe, why);
	return why ? place_trap(t, pe, addr, why) : place_in_guest(t, pe, addr);
}
