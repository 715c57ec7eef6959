// SPDX-License-Identifier: GPL-2.0-or-later
/* collect.c - from staging rings to ring buffers. */
#include "tracer/collect.h"
#include "tracer/entry.h"
#include "tracer/graph.h"
#include "tracer/instance.h"
#include "tracer/preempt.h"
#include "tracer/staging.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

/*
 * How long to wait for more: a staging ring takes some milliseconds to fill at full speed. One that
 * looks all the time takes from the guest the cache lines that it is just writing to, and of a
 * small machine one of its CPUs. An idle guest is looked at less often, a ring that was filled by
 * more than a part of it at once again.
 */
#define MUCH	       4
#define WAIT_NS	       1000000
#define WAIT_IDLE_NS   5000000
#define IDLE_PASSES    200
#define COLLECTOR_NICE (-15)

#define UNMERGED_PASSES 8
#define WAIT_CALL_NS	20000 /* one call is mostly followed by others, and its vCPU waits */
#define CALL_PASSES	50

/* How often interrupts may wait for a stack trace: a call takes up to some milliseconds. */
#define INTERRUPT_WAITS	    50
#define INTERRUPT_PERIOD_MS 1000

/* How long others' events wait for what a vCPU is about to record. */
#define BEHIND_MS 1000

#define KERNEL_HALF UINT64_C(0xffffffff00000000)

/* Calls that a vCPU has made in interrupts within a period. */
struct interrupt_waits {
	int64_t since_ms;
	unsigned int nr;
	bool over; /* it makes no more: CTL_NO_WAIT */
};

struct collector {
	struct trace *t;
	struct window *w;
	struct staging staging[MACHINE_MAX_VCPUS]; /* of each: t->vcpu_lock */
	uint64_t lost[MACHINE_MAX_VCPUS];	   /* as seen last */
	uint32_t vain[MACHINE_MAX_VCPUS];	   /* likewise */
	uint64_t due;			      /* a bit for each vCPU: this pass has not had it */
	uint64_t behind;		      /* likewise: horizon.h */
	int64_t behind_ms[MACHINE_MAX_VCPUS]; /* since when; 0: it is not */
	unsigned int unmerged;		      /* passes */
	struct interrupt_waits interrupts[MACHINE_MAX_VCPUS];
	pthread_t thread;
	bool started;
	pthread_mutex_t lock;
	pthread_cond_t change;
	bool stop; /* lock */
};

static int64_t now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

/* --- control blocks ------------------------------------------------------------------------- */

static uint64_t ctl_at(unsigned int vcpu, unsigned int member)
{
	return WINDOW_CTL + vcpu * CTL_SIZE + member;
}

static void ctl_put(struct collector *c, unsigned int vcpu, unsigned int member, uint32_t value)
{
	if (window_write(c->w, ctl_at(vcpu, member), &value, sizeof(value)))
		trace_fail(c->t, -EFAULT);
}

/* --- records -------------------------------------------------------------------------------- */

static unsigned int record_type(const struct payload_record *r)
{
	return r->state >> STATE_TYPE_SHIFT & STATE_TYPE_MASK;
}

static void collect_comm(struct trace *t, const struct payload_record *r)
{
	comms_note(t->comms, (int32_t)r->comm_pid, (int32_t)r->comm_tgid, r->comm);
}

static uint8_t entry_flags(uint32_t state)
{
	return preempt_flags(state) | (state & STATE_IRQS_OFF ? TRACE_FLAG_IRQS_OFF : 0) |
	       (state & STATE_NEED_RESCHED ? TRACE_FLAG_NEED_RESCHED : 0);
}

static void entry_init(struct trace_entry *ent, const struct payload_record *r)
{
	ent->type = TRACE_FN;
	ent->flags = entry_flags(r->state);
	ent->preempt_count = preempt_nibble(r->state & PREEMPT_MASK) |
			     (uint8_t)(preempt_nibble(r->task >> RECORD_MIGRATE_SHIFT) << 4);
	ent->pid = (int32_t)(r->task & RECORD_PID_MASK);
}

static void collect_function(struct ring *ring, const struct payload_record *r, uint64_t ts)
{
	struct trace_function_entry *e = ring_reserve(ring, sizeof(*e), ts);

	if (!e)
		return;
	entry_init(&e->ent, r);
	e->ip = KERNEL_HALF | r->ip;
	e->parent_ip = KERNEL_HALF | r->parent;
	ring_commit(ring);
}

/* With func-no-repeats: true when that is all there is to say of this call. */
static bool collect_repeat(struct instance *i, unsigned int vcpu, const struct payload_record *r,
			   uint64_t ts)
{
	uint64_t ip = KERNEL_HALF | r->ip, parent_ip = KERNEL_HALF | r->parent;
	struct trace_entry ent;

	if (repeats_count(&i->repeats[vcpu], ip, parent_ip, ts))
		return true;
	entry_init(&ent, r);
	repeats_end(&i->repeats[vcpu], i->ring[vcpu], &ent, ip, parent_ip, ts);
	return false;
}

/* Task names first: a record may be printed as soon as it is in the ring. Gives the last one. */
static const struct payload_record *batch_look(struct trace *t, const struct payload_record *r,
					       size_t n, uint64_t *functions)
{
	bool comms = t->instances->options & OUTPUT_RECORD_CMD;
	const struct payload_record *last = NULL;

	*functions = 0;
	for (size_t i = 0; i < n; i++) {
		if (record_type(&r[i]) == PAYLOAD_FUNCTION) {
			(*functions)++;
			last = &r[i];
		} else if (record_type(&r[i]) == PAYLOAD_EXIT) {
			last = &r[i];
		} else if (comms && record_type(&r[i]) == PAYLOAD_COMM) {
			collect_comm(t, &r[i]);
		}
	}
	return last;
}

/* No record need be looked at to know that it is taken. */
static bool takes_every_call(const struct instance *i)
{
	return i->all && !pid_filter_on(&i->pids);
}

static uint32_t record_probe(const struct trace *t, const struct payload_record *r)
{
	uint32_t func = funcs_at(t->funcs, KERNEL_HALF | r->ip);

	return func == FUNC_NONE ? UINT32_MAX : t->func_probe[func];
}

static bool record_taken(const struct instance *i, const struct payload_record *r)
{
	return pid_filter_traces(&i->pids, (int32_t)(r->task & RECORD_PID_MASK)) &&
	       (i->all || instance_bit(i->takes, i->room, record_probe(i->t, r)));
}

/* `left` is how many it may take. */
static void instance_collect(struct instance *i, unsigned int vcpu, const struct payload_record *r,
			     size_t n, uint64_t tsc, uint64_t left)
{
	bool no_repeats = instance_function_option(i, OUTPUT_FUNC_NO_REPEATS);
	bool every = takes_every_call(i);
	struct clock_reading now;
	struct trace *t = i->t;
	uint64_t ts;

	if (!i->on || !i->tracer->functions || i->tracer->exits || !(i->cpumask >> vcpu & 1) ||
	    !left)
		return;
	if (i->clock->begin)
		i->clock->begin(t, vcpu, tsc, &now);
	for (size_t k = 0; k < n && left; k++) {
		if (record_type(&r[k]) != PAYLOAD_FUNCTION || (!every && !record_taken(i, &r[k])))
			continue;
		ts = horizon_time(&i->horizon, i->clock->read(t, &now, r[k].tsc));
		if (!no_repeats || !collect_repeat(i, vcpu, &r[k], ts))
			collect_function(i->ring[vcpu], &r[k], ts);
		left--;
	}
}

/* How many of these the top level takes, as far as the number of events is limited. */
static uint64_t top_admits(struct trace *t, unsigned int vcpu, const struct payload_record *r,
			   size_t n, uint64_t functions)
{
	const struct instance *top = t->instances;
	uint64_t taken = functions;

	if (!top->on || !top->tracer->functions || top->tracer->exits ||
	    !(top->cpumask >> vcpu & 1))
		return 0;
	if (!takes_every_call(top)) {
		taken = 0;
		for (size_t i = 0; i < n; i++)
			taken += record_type(&r[i]) == PAYLOAD_FUNCTION && record_taken(top, &r[i]);
	}
	return trace_admit(t, taken);
}

static void collect_batch(struct trace *t, unsigned int vcpu, const struct payload_record *r,
			  size_t n, bool lost)
{
	uint64_t functions, left;
	const struct payload_record *last = batch_look(t, r, n, &functions);
	bool done = atomic_load(&t->done);

	if (instance_wants_exits(t->instances))
		graph_feed(t->graph, vcpu, r, n, lost);
	if (!last)
		return;
	trace_seen(t, last->tsc);
	left = top_admits(t, vcpu, r, n, functions);
	for (struct instance *i = t->instances; i; i = i->next)
		instance_collect(i, vcpu, r, n, last->tsc, i == t->instances ? left : done ? 0 : n);
	atomic_store_explicit(&t->at_ip[vcpu], KERNEL_HALF | last->ip, memory_order_relaxed);
	instances_wake(t);
}

/* What was lost may have told a task's name: have the payload tell it once more. */
static void note_losses(struct collector *c, unsigned int vcpu)
{
	uint64_t lost = c->staging[vcpu].lost + c->staging[vcpu].dropped;

	if (lost == c->lost[vcpu])
		return;
	c->lost[vcpu] = lost;
	if (instance_wants_exits(c->t->instances))
		graph_feed(c->t->graph, vcpu, NULL, 0, true);
	ctl_put(c, vcpu, CTL_LAST_PID, UINT32_MAX);
}

/* How many records there were, 0: none now; or -errno. */
static int drain_batch(struct collector *c, unsigned int vcpu)
{
	const struct payload_record *records;
	struct staging *s = &c->staging[vcpu];
	uint64_t lost;
	int n = staging_take(s, &records, &lost);

	/* Of those that the guest drops it is not known where they are missing. */
	if (n > 0)
		collect_batch(c->t, vcpu, records, (size_t)n,
			      lost || s->lost + s->dropped != c->lost[vcpu]);
	return n;
}

/*
 * All that the vCPU has recorded by now; the guest goes on meanwhile. How many records there were.
 * *behind: it is in the middle of one, and what follows that has to wait.
 */
static uint64_t drain(struct collector *c, unsigned int vcpu, bool *behind)
{
	struct staging *s = &c->staging[vcpu];
	uint64_t start = s->taken, head = s->next;
	int n = staging_head(s, &head);

	if (!n) {
		do
			n = drain_batch(c, vcpu);
		while (n > 0 && (int64_t)(s->next - head) < 0);
	}
	*behind = (int64_t)(s->next - head) < 0;
	if (n < 0)
		trace_fail(c->t, n);
	else
		note_losses(c, vcpu);
	return s->taken - start;
}

void collector_drain(struct collector *c, unsigned int vcpu)
{
	bool behind;

	drain(c, vcpu, &behind);
}

/* --- the horizon ---------------------------------------------------------------------------- */

/* It has told us the time of a hit, which is not recorded yet. */
static bool is_calling(struct collector *c, unsigned int vcpu)
{
	uint32_t state = PAYLOAD_CALL_NONE;

	return !window_read(c->w, ctl_at(vcpu, CTL_CALL), &state, sizeof(state)) &&
	       state & PAYLOAD_CALL_BUSY;
}

static void note_behind(struct collector *c, unsigned int vcpu, bool behind)
{
	int64_t now = behind ? now_ms() : 0, *since = &c->behind_ms[vcpu];

	if (!behind || !*since)
		*since = now;
	if (now - *since >= BEHIND_MS)
		behind = false;
	c->due &= ~(UINT64_C(1) << vcpu);
	c->behind &= ~(UINT64_C(1) << vcpu);
	c->behind |= (uint64_t)behind << vcpu;
}

/* The vCPU's turn in a pass. `served`: what it waits for will be recorded before the pass ends. */
static uint64_t drain_pass(struct collector *c, unsigned int vcpu, bool served)
{
	bool calling = !served && is_calling(c, vcpu), behind;
	uint64_t taken = drain(c, vcpu, &behind);

	note_behind(c, vcpu, behind || calling);
	return taken;
}

/* function_graph: a vCPU that is behind all the time is not waited for. True: it has gone on. */
static bool pass_merge(struct collector *c, uint64_t behind)
{
	if (behind && ++c->unmerged < UNMERGED_PASSES)
		return false;
	c->unmerged = 0;
	graph_merge(c->t->graph, false);
	return true;
}

/*
 * The collector and whoever catches up have passes of their own, which may fall into each other:
 * only what was drained since the latest of them ended counts. The locks of all vCPUs are held.
 */
static void pass_end(struct collector *c)
{
	struct trace *t = c->t;
	uint64_t behind = c->behind | c->due;
	bool merged = !instance_wants_exits(t->instances) || pass_merge(c, behind);
	bool moved = false;

	c->due = UINT64_MAX >> (64 - t->vcpus);

	for (struct instance *i = t->instances; i; i = i->next) {
		bool exits = i->tracer->exits;

		if (!exits || merged)
			moved |= horizon_pass(&i->horizon, i->ring, t->vcpus, behind, exits);
	}
	if (moved)
		instances_wake(t);
}

void collector_catch_up(struct collector *c)
{
	/* One pass to see the latest time, one to get there, one for function_graph. */
	for (int pass = 0; pass < 3; pass++) {
		for (unsigned int v = 0; v < c->t->vcpus; v++)
			drain_pass(c, v, false);
		pass_end(c);
	}
}

/* --- calls ---------------------------------------------------------------------------------- */

static bool call_made(struct collector *c, unsigned int vcpu)
{
	uint32_t state = PAYLOAD_CALL_NONE;

	return !window_read(c->w, ctl_at(vcpu, CTL_CALL), &state, sizeof(state)) &&
	       state == PAYLOAD_CALL_MADE;
}

/*
 * The same, and say so when the guest has lost its patience since the last time: it has gone on
 * without what it had asked for.
 */
static bool call_waits(struct collector *c, unsigned int vcpu)
{
	uint8_t words[CTL_CALL_VAIN + 4 - CTL_CALL];
	uint32_t state, vain;

	if (window_read(c->w, ctl_at(vcpu, CTL_CALL), words, sizeof(words)))
		return false;
	memcpy(&state, words, sizeof(state));
	memcpy(&vain, words + CTL_CALL_VAIN - CTL_CALL, sizeof(vain));
	if (vain != c->vain[vcpu])
		trace_note(c->t,
			   "vCPU %u has waited for hvtrace in vain (is this host overloaded?): "
			   "if it was about to patch its own text, that may have failed",
			   vcpu);
	c->vain[vcpu] = vain;
	return state == PAYLOAD_CALL_MADE;
}

/*
 * Whatever a guest may claim: no call comes from what is no site, or fires once. (Where the trace
 * waits for ftrace_init() to return there is no probe either.)
 */
static bool call_is_possible(const struct trace *t, uint64_t probe)
{
	return probe < t->probes.nr && !(t->probes.v[probe].flags & PROBE_FL_ONCE);
}

struct call {
	struct machine_hit hit;
	struct machine_regs regs;
	uint32_t preempt_count;
};

/* What the guest has put into its control block is a hit, as if it had exited. False: it is none.
 */
static bool call_look(struct collector *c, unsigned int vcpu, struct call *call)
{
	struct trace *t = c->t;
	uint8_t ctl[CTL_SIZE];
	uint32_t ip;

	memset(call, 0, sizeof(*call));
	if (!call_made(c, vcpu) || window_read(c->w, ctl_at(vcpu, 0), ctl, sizeof(ctl)))
		return false;
	memcpy(&ip, ctl + CTL_CALL_IP, sizeof(ip));
	memcpy(&call->hit.tsc, ctl + CTL_CALL_TSC, sizeof(call->hit.tsc));
	memcpy(&call->regs.rsp, ctl + CTL_CALL_SP, sizeof(call->regs.rsp));
	memcpy(&call->regs.rbp, ctl + CTL_CALL_BP, sizeof(call->regs.rbp));
	memcpy(&call->regs.rdi, ctl + CTL_CALL_DI, sizeof(call->regs.rdi));
	memcpy(&call->regs.rflags, ctl + CTL_CALL_FL, sizeof(call->regs.rflags));
	memcpy(&call->preempt_count, ctl + CTL_CALL_PC, sizeof(call->preempt_count));
	call->preempt_count--;
	call->hit.vcpu = vcpu;
	call->hit.regs = &call->regs;
	call->hit.va = KERNEL_HALF | ip;
	call->hit.cookie = probe_at_site(t, call->hit.va - t->guest.slide);
	return true;
}

static void call_hit(struct collector *c, const struct call *call)
{
	struct guest_call *made = &c->t->guest.call[call->hit.vcpu];

	if (!call_is_possible(c->t, call->hit.cookie))
		return;
	*made = (struct guest_call){.made = true, .preempt_count = call->preempt_count};
	trace_trap(c->t, &call->hit);
	made->made = false;
}

/*
 * A vCPU that waits in every function of its timer interrupt is back in that by the time that it
 * has left it, for good.
 */
static void interrupt_waits(struct collector *c, unsigned int vcpu, int64_t now)
{
	struct interrupt_waits *w = &c->interrupts[vcpu];

	if (now - w->since_ms >= INTERRUPT_PERIOD_MS)
		*w = (struct interrupt_waits){.since_ms = now};
	if (++w->nr < INTERRUPT_WAITS)
		return;
	w->over = true;
	ctl_put(c, vcpu, CTL_NO_WAIT, 1);
}

static void interrupts_may_wait(struct collector *c, unsigned int vcpu)
{
	struct interrupt_waits *w = &c->interrupts[vcpu];

	if (!w->over || now_ms() - w->since_ms < INTERRUPT_PERIOD_MS)
		return;
	w->over = false;
	ctl_put(c, vcpu, CTL_NO_WAIT, 0);
}

/*
 * For a stack no other vCPU has to stand, and this one does: it waits for us as long again once it
 * is told that its call is TAKEN. (It may have lost its patience just now: then what it leaves
 * behind is overwritten by DONE.) False: it is a call of another kind, or none.
 */
static bool call_serve_stack(struct collector *c, unsigned int vcpu)
{
	struct trace *t = c->t;
	struct call call;
	bool stack = false;

	pthread_mutex_lock(&t->change);
	if (call_look(c, vcpu, &call) && call.hit.cookie < t->probes.nr)
		stack = guards_are_stacks(t->probes.v[call.hit.cookie].guards);
	if (stack) {
		ctl_put(c, vcpu, CTL_CALL, PAYLOAD_CALL_TAKEN);
		call_hit(c, &call);
		if (call.preempt_count & INTERRUPT_COUNT_MASK)
			interrupt_waits(c, vcpu, now_ms());
		ctl_put(c, vcpu, CTL_CALL, PAYLOAD_CALL_DONE);
	}
	pthread_mutex_unlock(&t->change);
	return stack;
}

/*
 * With the vCPUs paused: one that has lost its patience has either taken its call back by now, or
 * waits for this answer.
 */
static void call_serve(struct collector *c, unsigned int vcpu)
{
	struct call call;

	if (call_serve_stack(c, vcpu))
		return;
	machine_pause(c->t->m);
	pthread_mutex_lock(&c->t->change); /* instances stay as long as a command of theirs runs */
	if (call_look(c, vcpu, &call)) {
		call_hit(c, &call);
		ctl_put(c, vcpu, CTL_CALL, PAYLOAD_CALL_DONE);
	}
	pthread_mutex_unlock(&c->t->change);
	machine_resume(c->t->m);
}

/* --- the thread ----------------------------------------------------------------------------- */

enum pass { PASS_NOTHING, PASS_SOME, PASS_MUCH, PASS_CALL };

static enum pass pass_vcpu(struct collector *c, unsigned int vcpu)
{
	bool call = call_waits(c, vcpu);
	uint64_t taken;

	pthread_mutex_lock(&c->t->vcpu_lock[vcpu]);
	taken = drain_pass(c, vcpu, call);
	pthread_mutex_unlock(&c->t->vcpu_lock[vcpu]);
	interrupts_may_wait(c, vcpu);
	if (call)
		call_serve(c, vcpu);
	if (call)
		return PASS_CALL;
	if (taken > c->staging[vcpu].length / MUCH)
		return PASS_MUCH;
	return taken ? PASS_SOME : PASS_NOTHING;
}

static enum pass collector_pass(struct collector *c)
{
	enum pass most = PASS_NOTHING;
	int ret;

	for (unsigned int i = 0; i < c->t->vcpus; i++) {
		enum pass one = pass_vcpu(c, i);

		most = one > most ? one : most;
	}
	instance_writers_stop(c->t);
	pass_end(c);
	instance_writers_go(c->t);
	ret = text_lock_poll(c->t);
	if (ret)
		trace_fail(c->t, ret);
	return most;
}

/* True: the collector goes on. */
static bool collector_wait(struct collector *c, long ns)
{
	struct timespec at;
	bool stop;

	clock_gettime(CLOCK_MONOTONIC, &at);
	at.tv_nsec += ns;
	at.tv_sec += at.tv_nsec / 1000000000;
	at.tv_nsec %= 1000000000;
	pthread_mutex_lock(&c->lock);
	while (!c->stop && pthread_cond_timedwait(&c->change, &c->lock, &at) != ETIMEDOUT)
		;
	stop = c->stop;
	pthread_mutex_unlock(&c->lock);
	return !stop;
}

static long time_to_wait(enum pass pass, unsigned int idle, unsigned int since_call)
{
	if (pass == PASS_MUCH)
		return 0;
	if (since_call < CALL_PASSES)
		return WAIT_CALL_NS;
	return idle > IDLE_PASSES ? WAIT_IDLE_NS : WAIT_NS;
}

static void *collector_thread(void *arg)
{
	unsigned int idle = 0, since_call = CALL_PASSES;
	struct collector *c = arg;
	enum pass pass;

	/* It has little to do, but has to do it in time. Who may not ask for that does without. */
	setpriority(PRIO_PROCESS, 0, COLLECTOR_NICE);
	do {
		pass = collector_pass(c);
		idle = pass == PASS_NOTHING ? idle + 1 : 0;
		since_call = pass == PASS_CALL ? 0 : since_call + (since_call < CALL_PASSES);
	} while (collector_wait(c, time_to_wait(pass, idle, since_call)));
	return NULL;
}

/* --- from beginning to end ------------------------------------------------------------------ */

static int io_read(void *arg, uint64_t off, void *buf, size_t len)
{
	return window_read(arg, off, buf, len);
}

static int io_write(void *arg, uint64_t off, const void *buf, size_t len)
{
	return window_write(arg, off, buf, len);
}

static int collector_init(struct collector *c)
{
	const struct staging_io io = {.read = io_read, .write = io_write, .arg = c->w};
	pthread_condattr_t attr;
	int ret = 0;

	pthread_mutex_init(&c->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&c->change, &attr);
	pthread_condattr_destroy(&attr);
	for (unsigned int i = 0; i < c->t->vcpus && !ret; i++) {
		ret = staging_init(&c->staging[i], &io, i, c->w->header.ring_size);
		c->staging[i].lossless = c->t->cfg.lossless;
	}
	return ret;
}

int collector_start(struct collector **to, struct trace *t, struct window *w)
{
	struct collector *c = calloc(1, sizeof(*c));
	int ret;

	*to = c;
	if (!c)
		return -ENOMEM;
	c->t = t;
	c->w = w;
	ret = collector_init(c);
	if (!ret)
		ret = -pthread_create(&c->thread, NULL, collector_thread, c);
	c->started = !ret;
	return ret;
}

/* All that is left of one vCPU's; no more than its ring holds, for a hostile guest may go on. */
static void drain_rest(struct collector *c, unsigned int vcpu)
{
	struct staging *s = &c->staging[vcpu];
	uint64_t start = s->next;
	bool behind;

	pthread_mutex_lock(&c->t->vcpu_lock[vcpu]);
	while (drain(c, vcpu, &behind) > 0 && s->next - start < s->length)
		;
	staging_end(s); /* the guest may have gone, and its memory with it */
	pthread_mutex_unlock(&c->t->vcpu_lock[vcpu]);
}

void collector_stop(struct collector *c)
{
	if (!c->started)
		return;
	pthread_mutex_lock(&c->lock);
	c->stop = true;
	pthread_cond_signal(&c->change);
	pthread_mutex_unlock(&c->lock);
	pthread_join(c->thread, NULL);
	c->started = false;
	collector_pass(c);
	for (unsigned int i = 0; i < c->t->vcpus; i++)
		drain_rest(c, i);
	instance_writers_stop(c->t);
	graph_merge(c->t->graph, true);
	instance_writers_go(c->t);
}

void collector_free(struct collector *c)
{
	if (!c)
		return;
	for (unsigned int i = 0; i < c->t->vcpus; i++)
		staging_exit(&c->staging[i]);
	pthread_cond_destroy(&c->change);
	pthread_mutex_destroy(&c->lock);
	free(c);
}

void collector_get_counts(struct collector *c, struct trampoline_counts *counts)
{
	memset(counts, 0, sizeof(*counts));
	for (unsigned int i = 0; i < c->t->vcpus; i++) {
		const struct staging *s = &c->staging[i];

		counts->made += s->head - s->base + s->dropped;
		counts->taken += s->taken;
		counts->lost += s->lost + s->dropped;
		counts->corrupt += s->corrupt;
	}
}
