// SPDX-License-Identifier: GPL-2.0-or-later
/* trampoline.c - gets the payload into a guest, and out again. */
#include "tracer/trampoline.h"
#include "tracer/collect.h"
#include "tracer/detour.h"
#include "tracer/flag-sites.h"
#include "tracer/graph.h"
#include "tracer/instance.h"
#include "tracer/payload/text.h"
#include "tracer/quiesce.h"
#include "tracer/returns.h"
#include "tracer/stack-max.h"
#include "tracer/tasks.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * How long the guest may wait for its host (payload.h): a call is answered within milliseconds,
 * but text is patched while it waits, a busy host takes its time, and going on without an answer
 * means that the guest patches text which is not as it expects. It is less than any of the kernel's
 * watchdogs allows (20 s). A full ring is emptied within milliseconds, too, and who asks for no
 * losses would rather have the guest wait for a busy host.
 */
#define CALL_TIMEOUT_MS 10000
#define FULL_TIMEOUT_MS 1000
#define QUIET_MS	20000
#define CHECK_MS	20000
#define RING_MIN	(UINT64_C(64) << 10) /* of a vCPU, bytes */
#define EVENT_RINGS	(UINT64_C(1) << 20)  /* of event data, of all vCPUs */

/* Each block that the guest is asked for makes it stand for a moment: these do with less. */
#define FEW_FUNCTIONS 1000

struct trampoline {
	struct window window;
	struct payload_text text;
	struct collector *collector;
	bool called; /* a site has called the payload: someone may be in there */
};

static uint64_t none_or(uint64_t offset)
{
	return offset == GUEST_NONE ? PAYLOAD_NONE : offset;
}

static uint64_t percpu(const struct guest_kernel *g, uint64_t var)
{
	return var == GUEST_NONE ? PAYLOAD_NONE : guest_percpu_disp(g, var);
}

static uint64_t field_or_none(const struct trace *t, const char *path)
{
	struct guestsym_field f;

	return guestsym_field(t->gs, path, &f) ? PAYLOAD_NONE : f.offset;
}

static uint64_t address_or_none(const struct trace *t, const char *name)
{
	uint64_t addr = guestsym_addr(t->gs, name);

	return addr ? addr + t->guest.slide : PAYLOAD_NONE;
}

static uint64_t address_of_either(const struct trace *t, const char *name, const char *older)
{
	uint64_t addr = address_or_none(t, name);

	return addr == PAYLOAD_NONE ? address_or_none(t, older) : addr;
}

/* Behind the staging rings. */
uint64_t trampoline_event_ring(const struct payload_header *h, unsigned int vcpu)
{
	return WINDOW_RINGS + (uint64_t)h->ring_size * h->nr_vcpus +
	       (uint64_t)h->event_ring_size * vcpu;
}

struct window *trampoline_window(struct trace *t)
{
	return &t->tramp->window;
}

const struct payload_text *trampoline_text(struct trace *t)
{
	return &t->tramp->text;
}

static void config_fill(struct trace *t, const struct trampoline *tr, struct payload_config *cfg)
{
	const struct payload_header *h = &tr->window.header;
	const struct guest_layout *at = &t->guest.at;
	uint64_t text_mutex = guestsym_addr(t->gs, "text_mutex"),
		 kprobe = guestsym_addr(t->gs, "current_kprobe");
	struct task_layout tasks;
	bool stacks = !task_layout_learn(&tasks, t->gs, &t->guest);
	struct machine_info info;

	machine_get_info(t->m, &info);
	*cfg = (struct payload_config){
		.window = h->va,
		.ring_size = h->ring_size,
		.cpu_number = percpu(&t->guest, at->cpu_number),
		.current_task = percpu(&t->guest, at->current_task),
		.preempt_count = percpu(&t->guest, at->preempt_count),
		.current_kprobe = kprobe ? guest_percpu_disp(&t->guest, kprobe) : PAYLOAD_NONE,
		.task_pid = none_or(at->task_pid),
		.task_tgid = none_or(at->task_tgid),
		.task_comm = none_or(at->task_comm),
		.task_migration_disabled = none_or(at->task_migration_disabled),
		.task_flags = none_or(at->task_flags),
		.irq_stack = at->irq_stack == GUEST_NONE ? PAYLOAD_NONE
							 : percpu(&t->guest, at->irq_stack),
		.task_stack = stacks ? tasks.stack : PAYLOAD_NONE,
		.stack_size = stacks ? (uint32_t)tasks.stack_size : 1,
		.need_resched_bit = GUEST_TIF_NEED_RESCHED,
		.return_thunk = returns_thunk(t) ? returns_thunk(t) : PAYLOAD_NONE,
		.text_mutex = text_mutex ? text_mutex + t->guest.slide : PAYLOAD_NONE,
		.call_timeout = info.tsc_khz * CALL_TIMEOUT_MS,
		.full_timeout = info.tsc_khz * FULL_TIMEOUT_MS,
		.irqentry_enter = address_or_none(t, "irqentry_enter"),
		.idle_enter = address_of_either(t, "ct_idle_enter", "rcu_idle_enter"),
		.idle_exit = address_of_either(t, "ct_idle_exit", "rcu_idle_exit"), /* until 6.0 */
		.count_add = address_or_none(t, "preempt_count_add"),
		.count_sub = address_or_none(t, "preempt_count_sub"),
		.bh_disable = address_or_none(t, "__local_bh_disable_ip"),
		.event_rings = h->va + trampoline_event_ring(h, 0),
		.event_ring_size = h->event_ring_size,
		.fbuffer_event = field_or_none(t, "trace_event_buffer.event"),
		.fbuffer_file = field_or_none(t, "trace_event_buffer.trace_file"),
		.fbuffer_entry = field_or_none(t, "trace_event_buffer.entry"),
		.trace_buffer = guest_prints_buffer(t),
	};
}

static int text_load(struct trace *t, struct trampoline *tr, char *err, size_t errlen)
{
	struct payload_header *h = &tr->window.header;
	uint8_t code[WINDOW_TEXT_SIZE];
	struct payload_config cfg;
	const char *what;
	int ret;

	config_fill(t, tr, &cfg);
	ret = payload_text_make(&cfg, code, &tr->text, &what);
	if (ret) {
		snprintf(err, errlen, "the kernel's %s does not fit into the payload", what);
		return ret;
	}
	detours_keep(&tr->window, code);
	h->text_size = tr->text.size;
	h->nr_edges = tr->text.nr_edges;
	memcpy(h->edge, tr->text.edge, sizeof(h->edge));
	h->exit = tr->text.exit;
	h->exit_all = tr->text.exit_all;
	h->work = tr->text.work;
	h->return_thunk = returns_thunk(t);
	flag_sites_describe(t, &tr->text, h->form);
	ret = window_write_text(&tr->window, WINDOW_TEXT, code, sizeof(code));
	if (!ret)
		ret = window_write(&tr->window, WINDOW_HEADER, h, sizeof(*h));
	if (ret)
		snprintf(err, errlen, "the payload cannot be written into the guest: %s",
			 strerror(-ret));
	return ret;
}

int trampoline_returns(struct trace *t)
{
	char err[256];

	return text_load(t, t->tramp, err, sizeof(err));
}

static int control_init(struct trace *t, struct trampoline *tr)
{
	struct window *w = &tr->window;
	uint64_t head = w->header.ring_size / PAYLOAD_RECORD_SIZE;
	uint32_t flags = CTL_FL_ON | (t->cfg.lossless ? CTL_FL_LOSSLESS : 0);
	uint32_t depth = stack_max_limit(t);
	int ret = window_write(w, WINDOW_DEPTH, &depth, sizeof(depth));

	for (unsigned int i = 0; i < t->vcpus && !ret; i++) {
		uint8_t ctl[CTL_SIZE] = {0};

		memcpy(ctl + CTL_HEAD, &head, sizeof(head));
		memcpy(ctl + CTL_TAIL, &head, sizeof(head));
		memcpy(ctl + CTL_FLAGS, &flags, sizeof(flags));
		memset(ctl + CTL_LAST_PID, 0xff, sizeof(uint32_t));
		memset(ctl + CTL_EVENT_FULL, 0xff, sizeof(uint64_t));
		ret = window_write(w, WINDOW_CTL + i * CTL_SIZE, ctl, sizeof(ctl));
	}
	return ret;
}

static size_t functions_to_record(const struct trace *t)
{
	size_t n = 0;

	for (size_t i = 0; i < t->probes.nr; i++)
		n += (t->probes.v[i].flags & (PROBE_FL_RECORD | PROBE_FL_EXIT | PROBE_FL_FLAG)) ==
		     PROBE_FL_RECORD;
	return n;
}

/* What both rings of a vCPU may take. */
static uint64_t rings_size(const struct trace *t)
{
	bool few = functions_to_record(t) <= FEW_FUNCTIONS;
	uint64_t bytes = few ? TRACE_WINDOW_FEW(t->vcpus) : TRACE_WINDOW_DEFAULT(t->vcpus);

	if (t->cfg.window_bytes)
		bytes = t->cfg.window_bytes;
	return (bytes / WINDOW_PIECE * WINDOW_PIECE - WINDOW_RINGS) / t->vcpus;
}

/* Of records: as large as it can be. Of event data: what fits beside it, but not all the rest. */
static void rings_divide(const struct trace *t, uint32_t *records, uint32_t *events)
{
	uint64_t each = rings_size(t), size = RING_MIN, data = RING_MIN;

	while (2 * data * t->vcpus <= EVENT_RINGS && 2 * data <= each / 4)
		data *= 2;
	while (2 * size + data <= each)
		size *= 2;
	*records = (uint32_t)size;
	*events = (uint32_t)data;
}

static int window_get(struct trace *t, struct trampoline *tr, char *err, size_t errlen)
{
	struct window *w = &tr->window;
	uint32_t records, events;
	uint64_t size;
	int ret;

	rings_divide(t, &records, &events);
	size = WINDOW_RINGS + (uint64_t)(records + events) * t->vcpus;
	size = (size + WINDOW_PIECE - 1) / WINDOW_PIECE * WINDOW_PIECE;
	ret = window_open(w, &t->guest, t->borrow, size, err, errlen);
	if (!ret) {
		w->header.ring_size = records;
		w->header.event_ring_size = events;
		w->header.nr_vcpus = t->vcpus;
	}
	return ret;
}

struct pids {
	uint8_t bits[WINDOW_PIDS_SIZE];
};

/* A line for each; what the payload cannot tell apart is told by the collector. */
static void pids_parse(struct pids *set, const char *text)
{
	char *end;

	memset(set, 0, sizeof(*set));
	for (unsigned long pid = strtoul(text, &end, 10); end != text;
	     text = end, pid = strtoul(text, &end, 10))
		if (pid <= RECORD_PID_MASK)
			set->bits[pid / 8] |= (uint8_t)(1 << (pid & 7));
}

static int pids_write(struct trampoline *tr, const char *text)
{
	struct pids *set = malloc(sizeof(*set));
	int ret;

	if (!set)
		return -ENOMEM;
	pids_parse(set, text);
	ret = window_write(&tr->window, WINDOW_PIDS, set, sizeof(*set));
	free(set);
	return ret;
}

void trampoline_control(struct trace *t, uint64_t vcpus, uint64_t events, const char *pids)
{
	struct trampoline *tr = t->tramp;
	uint32_t all = t->cfg.lossless ? CTL_FL_LOSSLESS : 0;
	int ret;

	if (!tr)
		return;
	ret = pids ? pids_write(tr, pids) : 0;
	if (pids && !ret)
		all |= CTL_FL_PIDS;
	for (unsigned int v = 0; v < t->vcpus && !ret; v++) {
		uint32_t flags = all | (vcpus >> v & 1 ? CTL_FL_ON : 0), on = events >> v & 1;
		uint64_t ctl = WINDOW_CTL + v * CTL_SIZE;

		ret = window_write(&tr->window, ctl + CTL_FLAGS, &flags, sizeof(flags));
		if (!ret)
			ret = window_write(&tr->window, ctl + CTL_EVENTS, &on, sizeof(on));
	}
	if (ret)
		trace_fail(t, ret);
}

static int critical_forget(struct window *w, uint64_t ctl)
{
	static const uint64_t none;

	return window_write(w, ctl + CTL_OPEN + RECORD_TSC, &none, sizeof(none));
}

static int critical_put(struct window *w, uint64_t ctl, uint32_t critical)
{
	uint32_t before;
	int ret = window_read(w, ctl + CTL_CRITICAL, &before, sizeof(before));

	if (!ret && before != critical)
		ret = critical_forget(w, ctl);
	return ret ? ret : window_write(w, ctl + CTL_CRITICAL, &critical, sizeof(critical));
}

void trampoline_set_critical(struct trace *t, uint64_t vcpus, uint32_t critical, uint64_t min)
{
	int ret = 0;

	trampoline_set_critical_min(t, min);
	for (unsigned int v = 0; t->tramp && v < t->vcpus && !ret; v++)
		ret = critical_put(&t->tramp->window, WINDOW_CTL + v * CTL_SIZE,
				   vcpus >> v & 1 ? critical : 0);
	if (ret)
		trace_fail(t, ret);
}

void trampoline_forget_critical(struct trace *t)
{
	int ret = 0;

	for (unsigned int v = 0; t->tramp && v < t->vcpus && !ret; v++)
		ret = critical_forget(&t->tramp->window, WINDOW_CTL + v * CTL_SIZE);
	if (ret)
		trace_fail(t, ret);
}

void trampoline_set_critical_min(struct trace *t, uint64_t min)
{
	int ret = 0;

	for (unsigned int v = 0; t->tramp && v < t->vcpus && !ret; v++)
		ret = window_write(&t->tramp->window, WINDOW_CTL + v * CTL_SIZE + CTL_CRITICAL_MIN,
				   &min, sizeof(min));
	if (ret)
		trace_fail(t, ret);
}

void trampoline_set_prints(struct trace *t, uint64_t vcpus, uint32_t types)
{
	int ret = 0;

	for (unsigned int v = 0; t->tramp && v < t->vcpus && !ret; v++) {
		uint32_t now = vcpus >> v & 1 ? types : 0;

		ret = window_write(&t->tramp->window, WINDOW_CTL + v * CTL_SIZE + CTL_PRINTS, &now,
				   sizeof(now));
	}
	if (ret)
		trace_fail(t, ret);
}

void trampoline_set_depth(struct trace *t, uint32_t depth)
{
	int ret =
		t->tramp ? window_write(&t->tramp->window, WINDOW_DEPTH, &depth, sizeof(depth)) : 0;

	if (ret)
		trace_fail(t, ret);
}

void trampoline_set_pid(struct trace *t, int32_t pid, bool listed)
{
	struct trampoline *tr = t->tramp;
	uint64_t at = WINDOW_PIDS + (uint64_t)pid / 8;
	uint8_t bits, bit = (uint8_t)(1 << (pid & 7));
	int ret;

	if (!tr || pid < 0 || pid > RECORD_PID_MASK)
		return;
	ret = window_read(&tr->window, at, &bits, sizeof(bits));
	bits = listed ? bits | bit : bits & (uint8_t)~bit;
	if (!ret)
		ret = window_write(&tr->window, at, &bits, sizeof(bits));
	if (ret)
		trace_fail(t, ret);
}

/* --- a try ----------------------------------------------------------------------------------- */

/* Called with a NULL page it returns at once (mm/page_alloc.c). */
#define TRY_FUNCTION "free_pages"

static int site_patch(struct trace *t, uint64_t va, const uint8_t bytes[SITE_SIZE])
{
	struct machine_patch patch = {.size = SITE_SIZE};
	int ret = guest_translate(&t->guest, va, &patch.pa);

	memcpy(patch.bytes, bytes, SITE_SIZE);
	return ret ? ret : machine_patch_text(t->m, &patch, 1);
}

static bool recorded(struct trampoline *tr, unsigned int vcpu, uint64_t va)
{
	struct window *w = &tr->window;
	uint32_t size = w->header.ring_size, nr = size / PAYLOAD_RECORD_SIZE;
	struct payload_record r;
	uint64_t head;

	if (window_read(w, WINDOW_CTL + vcpu * CTL_SIZE + CTL_HEAD, &head, sizeof(head)))
		return false;
	for (uint64_t i = nr; i < head && i < 2 * (uint64_t)nr; i++) {
		uint64_t at = WINDOW_RINGS + (uint64_t)vcpu * size + (i - nr) * sizeof(r);

		if (!window_read(w, at, &r, sizeof(r)) && r.seq == (uint32_t)i &&
		    r.ip == (uint32_t)va)
			return true;
	}
	return false;
}

/*
 * Numbers start anew, so what has been recorded must not be there any more: it would pass for the
 * records that are about to get these numbers.
 */
static int records_forget(struct trace *t, struct trampoline *tr)
{
	static const struct payload_record none;
	struct window *w = &tr->window;
	uint32_t size = w->header.ring_size, nr = size / PAYLOAD_RECORD_SIZE;
	int ret = 0;

	for (unsigned int v = 0; v < t->vcpus && !ret; v++) {
		uint64_t head = nr, ring = WINDOW_RINGS + (uint64_t)v * size;

		ret = window_read(w, WINDOW_CTL + v * CTL_SIZE + CTL_HEAD, &head, sizeof(head));
		for (uint64_t i = nr; i < head && i < 2 * (uint64_t)nr && !ret; i++)
			ret = window_write(w, ring + (i - nr) * sizeof(none), &none, sizeof(none));
	}
	return ret ? ret : control_init(t, tr);
}

static uint64_t try_site(struct trace *t)
{
	const struct guestsym_site *sites;
	size_t n = guestsym_fentry_sites(t->gs, &sites);

	for (size_t i = 0; i < n; i++)
		if (!strcmp(sites[i].name, TRY_FUNCTION))
			return sites[i].addr + t->guest.slide;
	return 0;
}

static int try_call(struct trace *t, struct trampoline *tr, uint64_t site, char *err, size_t errlen)
{
	struct borrow_call call = {.fn = borrow_function(t->borrow, TRY_FUNCTION)};
	uint8_t insn[SITE_SIZE], now[SITE_SIZE];
	int ret = guest_read(&t->guest, site, now, sizeof(now)), error;

	if (ret || memcmp(now, site_nop, SITE_SIZE)) {
		snprintf(err, errlen, "the site of " TRY_FUNCTION " is in use");
		return -EBUSY;
	}
	site_call_make(insn, site, tr->window.header.va + WINDOW_TEXT + tr->text.function);
	tr->called = true;
	ret = site_patch(t, site, insn);
	if (ret) {
		snprintf(err, errlen, "guest text cannot be written: %s", strerror(-ret));
		return ret;
	}
	ret = borrow_run(t->borrow, &call, 1, BORROW_ANY, CHECK_MS, err, errlen);
	error = site_patch(t, site, site_nop);
	if (error && !ret)
		snprintf(err, errlen, "guest text cannot be restored: %s", strerror(-error));
	return ret ? ret : error;
}

/*
 * One probe before there are many: a function is called, whose record must come. Only a guest that
 * runs can be asked to call it.
 */
static int trampoline_try(struct trace *t, struct trampoline *tr, char *err, size_t errlen)
{
	uint64_t site = try_site(t);
	int ret = site ? try_call(t, tr, site, err, errlen) : 0;

	if (ret || !site)
		return ret;
	for (unsigned int i = 0; i < t->vcpus; i++)
		if (recorded(tr, i, site))
			return records_forget(t,
					      tr); /* nor are others' calls meanwhile asked for */
	snprintf(err, errlen, "a probe of " TRY_FUNCTION " was called and recorded nothing");
	return -ENODATA;
}

/* --- opening and closing --------------------------------------------------------------------- */

/* Others may be about to tell the payload something. */
static void publish(struct trace *t, struct trampoline *tr)
{
	pthread_mutex_lock(&t->change);
	pthread_mutex_lock(&t->instances_lock);
	t->tramp = tr;
	pthread_mutex_unlock(&t->instances_lock);
	pthread_mutex_unlock(&t->change);
}

/* The payload is there, and works; nobody else knows of it. */
static int payload_open(struct trace *t, struct trampoline *tr, char *err, size_t errlen)
{
	int ret = text_load(t, tr, err, errlen);

	if (!ret) {
		ret = control_init(t, tr);
		if (ret)
			snprintf(err, errlen, "the window cannot be written: %s", strerror(-ret));
	}
	return !ret && t->borrow ? trampoline_try(t, tr, err, errlen) : ret;
}

static int collector_begin(struct trace *t, struct trampoline *tr, char *err, size_t errlen)
{
	int ret = collector_start(&tr->collector, t, &tr->window);

	if (ret)
		snprintf(err, errlen, "the collector cannot be started: %s", strerror(-ret));
	return ret;
}

static int window_quiet(struct trace *t, struct trampoline *tr, char *err, size_t errlen)
{
	int ret = quiesce(&t->guest, t->gs, &tr->window, t->vcpus, QUIET_MS);

	if (ret)
		snprintf(err, errlen, "the guest does not leave the probes' code: %s",
			 strerror(-ret));
	return ret;
}

static void collector_end(struct trace *t, struct trampoline *tr)
{
	if (!tr->collector)
		return;
	collector_stop(tr->collector);
	instance_writers_stop(t);
	atomic_store(&t->collecting, false);
	collector_get_counts(tr->collector, &t->collected);
	collector_free(tr->collector);
	tr->collector = NULL;
	instance_writers_go(t);
	instances_wake(t);
}

static int trampoline_end(struct trace *t, struct trampoline *tr, bool guest_gone, char *err,
			  size_t errlen)
{
	int ret = 0;

	/* The collector answers whoever waits in there for an answer, and gets the last records. */
	if (!guest_gone && tr->called)
		ret = window_quiet(t, tr, err, errlen);
	collector_end(t, tr);
	if (!guest_gone && !ret)
		ret = window_close(&tr->window, t->borrow, err, errlen);
	return ret;
}

int trampoline_open(struct trace *t, char *err, size_t errlen)
{
	struct trampoline *tr;
	char ignored[256];
	int ret;

	if (t->tramp)
		return 0; /* a guest that runs its ftrace_init() again */
	tr = calloc(1, sizeof(*tr));
	if (!tr) {
		snprintf(err, errlen, "no memory");
		return -ENOMEM;
	}
	ret = window_get(t, tr, err, errlen);
	if (ret) {
		free(tr);
		return ret;
	}
	ret = payload_open(t, tr, err, errlen);
	if (!ret)
		ret = collector_begin(t, tr, err, errlen);
	if (ret) {
		trampoline_end(t, tr, false, ignored, sizeof(ignored));
		free(tr);
		return ret;
	}
	publish(t, tr);
	atomic_store(&t->collecting, true);
	return 0;
}

int trampoline_close(struct trace *t, bool guest_gone, char *err, size_t errlen)
{
	struct trampoline *tr = t->tramp;
	int ret;

	if (!tr)
		return 0;
	ret = trampoline_end(t, tr, guest_gone, err, errlen);
	publish(t, NULL);
	free(tr);
	return ret;
}

void trampoline_drain(struct trace *t, unsigned int vcpu)
{
	if (atomic_load(&t->collecting))
		collector_drain(t->tramp->collector, vcpu);
}

void trampoline_catch_up(struct trace *t)
{
	if (atomic_load(&t->collecting))
		collector_catch_up(t->tramp->collector);
}

void trampoline_drain_all(struct trace *t)
{
	for (int round = 0; round < 2; round++) {
		for (unsigned int v = 0; v < t->vcpus; v++)
			trampoline_drain(t, v);
		graph_merge(t->graph, false);
	}
}

void trampoline_get_counts(struct trace *t, struct trampoline_counts *counts)
{
	*counts = t->collected;
	instance_writers_stop(t);
	if (t->tramp && t->tramp->collector)
		collector_get_counts(t->tramp->collector, counts);
	instance_writers_go(t);
}

/* --- the engine's row ------------------------------------------------------------------------ */

/* Where the site's call goes, in the guest. */
static uint64_t probe_target(const struct trace *t, const struct probe *p)
{
	const struct trampoline *tr = t->tramp;
	uint32_t entry = tr->text.function;

	if (p->flags & PROBE_FL_FLAG)
		entry = flag_sites_entry(t, p->va, &tr->text);
	else if (p->flags & PROBE_FL_EXIT)
		entry = p->flags & PROBE_FL_ALL_REGS ? tr->text.exit_all : tr->text.exit;
	else if (p->guards == GUARD_TEXT_LOCK)
		entry = p->flags & PROBE_FL_RECORD ? tr->text.lock_record : tr->text.lock;
	else if (p->guards == GUARD_DEPTH)
		entry = p->flags & PROBE_FL_RECORD ? tr->text.depth_record : tr->text.depth;
	else if (guards_are_stacks(p->guards))
		entry = tr->text.stack;
	else if (p->guards)
		entry = tr->text.call;
	return tr->window.header.va + WINDOW_TEXT + entry;
}

/*
 * A call reaches 2 GiB to either side. What fires once is no call, and some returns have no room
 * for one, so these stay traps.
 */
static bool probe_served(const struct trace *t, const struct probe *p)
{
	int64_t rel = (int64_t)(probe_target(t, p) - (p->va + t->guest.slide + SITE_SIZE));

	if (p->flags & PROBE_FL_EXIT && returns_size(t, p->va) < SITE_SIZE)
		return false;
	if (p->guards & GUARD_PROBE)
		return false; /* which asks for any register */
	return !(p->flags & PROBE_FL_ONCE) && rel == (int32_t)rel;
}

static int patch_make(struct trace *t, const struct probe *p, struct machine_patch *patch)
{
	uint64_t va = p->va + t->guest.slide;
	uint8_t form[PAYLOAD_FORM_MAX], before;

	patch->size = p->flags & PROBE_FL_FLAG ? flag_sites_form(t, p->va, form) : SITE_SIZE;
	before = patch->size - SITE_SIZE;
	memset(patch->bytes, PREFIX_CS, before);
	site_call_make(patch->bytes + before, va + before, probe_target(t, p));
	return guest_translate(&t->guest, va, &patch->pa);
}

/* The indexes of `which` in two parts: first those that `first` is true of. Gives their number. */
static size_t probes_split(struct trace *t, const uint32_t *which, size_t n, uint32_t *parts,
			   bool (*first)(const struct trace *t, const struct probe *p))
{
	size_t front = 0, back = n;

	for (size_t i = 0; i < n; i++) {
		if (first(t, &t->probes.v[which[i]]))
			parts[front++] = which[i];
		else
			parts[--back] = which[i];
	}
	return front;
}

static int patch_in(struct trace *t, const uint32_t *which, size_t n)
{
	struct machine_patch *patches = calloc(n ? n : 1, sizeof(*patches));
	int ret = patches ? 0 : -ENOMEM;

	for (size_t i = 0; i < n && !ret; i++)
		ret = patch_make(t, &t->probes.v[which[i]], &patches[i]);
	if (!ret) {
		t->tramp->called = true;
		ret = machine_patch_text(t->m, patches, n);
	}
	for (size_t i = 0; i < n && !ret; i++)
		t->probes.v[which[i]].flags |= PROBE_FL_CALL;
	free(patches);
	return ret;
}

/* What the kernel has there itself. */
static void site_bytes(const struct trace *t, const struct probe *p,
		       uint8_t bytes[MACHINE_PATCH_MAX])
{
	_Static_assert(PAYLOAD_FORM_MAX <= MACHINE_PATCH_MAX, "a machine can patch them");
	if (p->flags & PROBE_FL_FLAG)
		flag_sites_form(t, p->va, bytes);
	else if (p->flags & PROBE_FL_EXIT)
		returns_form(t, p->va, bytes);
	else
		memcpy(bytes, site_nop, SITE_SIZE);
}

/*
 * Only a site that still calls the payload, wherever in it, is given its NOP or return back: else
 * somebody has taken it.
 */
static int patch_out(struct trace *t, const uint32_t *which, size_t n)
{
	struct machine_patch *patches = calloc(n ? n : 1, sizeof(*patches));
	const struct window *w = &t->tramp->window;
	struct text_view view;
	size_t nr = 0;
	int ret = patches ? 0 : -ENOMEM;

	text_view_init(&view, &t->guest);
	for (size_t i = 0; i < n && !ret; i++) {
		const struct probe *p = &t->probes.v[which[i]];
		uint64_t va = p->va + t->guest.slide;
		uint8_t now[SITE_SIZE];

		ret = patch_make(t, p, &patches[nr]);
		va += patches[nr].size - SITE_SIZE;
		if (!ret && !text_view_get(&view, va, now, SITE_SIZE) &&
		    site_call_target(now, va) - w->header.va < w->header.size)
			site_bytes(t, p, patches[nr++].bytes);
	}
	if (!ret)
		ret = machine_patch_text(t->m, patches, nr);
	for (size_t i = 0; i < n && !ret; i++)
		t->probes.v[which[i]].flags &= (uint16_t)~PROBE_FL_CALL;
	free(patches);
	return ret;
}

static int trampoline_insert(struct trace *t, const uint32_t *which, size_t n)
{
	uint32_t *parts = malloc((n ? n : 1) * sizeof(*parts));
	size_t calls;
	int ret;

	if (!parts)
		return -ENOMEM;
	calls = probes_split(t, which, n, parts, probe_served);
	ret = trap_probe_ops.insert(t, parts + calls, n - calls);
	if (!ret) {
		ret = patch_in(t, parts, calls);
		if (ret)
			trap_probe_ops.remove(t, parts + calls, n - calls);
	}
	free(parts);
	return ret;
}

static bool probe_is_call(const struct trace *t, const struct probe *p)
{
	(void)t;
	return p->flags & PROBE_FL_CALL;
}

static int trampoline_remove(struct trace *t, const uint32_t *which, size_t n)
{
	uint32_t *parts = malloc((n ? n : 1) * sizeof(*parts));
	size_t calls;
	int ret, error;

	if (!parts)
		return -ENOMEM;
	calls = probes_split(t, which, n, parts, probe_is_call);
	ret = trap_probe_ops.remove(t, parts + calls, n - calls);
	error = patch_out(t, parts, calls);
	free(parts);
	return ret ? ret : error;
}

const struct probe_ops trampoline_probe_ops = {
	.name = "trampoline",
	.desc = "each hit calls code placed in the guest",
	.insert = trampoline_insert,
	.remove = trampoline_remove,
};
