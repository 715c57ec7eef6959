// SPDX-License-Identifier: GPL-2.0-or-later
/* crash.c - see crash.h */
#include "tracer/control/crash.h"
#include "tracer/control/files.h"
#include "tracer/control/internal.h"
#include "tracer/core/lock.h"
#include "tracer/instance/files.h"
#include "tracer/instance/instance.h"
#include "tracer/record/record.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Values of ftrace_dump_on_oops have no more instances. A guest that stalls all the time leaves
 * room. */
#define TOLD_MAX  96
#define LINES_MAX 32

/* To be said, or printed: once the guest goes on, since who reads it may take any time. */
struct told {
	char text[DUMP_ON_OOPS_MAX + 32];
	struct instance *i; /* with its buffer; it is held */
	int vcpu;	    /* or ALL_VCPUS */
};

struct crash {
	pthread_mutex_t lock;
	char dump[DUMP_ON_OOPS_MAX]; /* ftrace_dump_on_oops */
	struct told told[TOLD_MAX];
	unsigned int nr_told;
	bool dumped; /* and nothing was recorded since; trace.change */
	atomic_bool panicked;
};

struct crash *crash_new(void)
{
	struct crash *crash = calloc(1, sizeof(*crash));

	if (!crash)
		return NULL;
	pthread_mutex_init(&crash->lock, NULL);
	strcpy(crash->dump, "0");
	return crash;
}

void crash_free(struct crash *crash)
{
	if (!crash)
		return;
	pthread_mutex_destroy(&crash->lock);
	free(crash);
}

bool crash_panicked(const struct trace *t)
{
	return atomic_load(&t->crash->panicked);
}

/* One that was booted goes on to its own end, which tells more. */
static bool panics_end(const struct trace *t)
{
	return t->cfg.running &&
	       (t->cfg.on_panic == TRACE_ON_PANIC_DUMP || t->cfg.on_panic == TRACE_ON_PANIC_STOP);
}

bool crash_ended(const struct trace *t)
{
	return crash_panicked(t) && panics_end(t);
}

/* --- ftrace_dump_on_oops ---------------------------------------------------------------------- */

void trace_dump_on_oops(struct trace *t, char value[DUMP_ON_OOPS_MAX])
{
	pthread_mutex_lock(&t->crash->lock);
	memcpy(value, t->crash->dump, DUMP_ON_OOPS_MAX);
	pthread_mutex_unlock(&t->crash->lock);
}

int trace_set_dump_on_oops(struct trace *t, const char *value)
{
	size_t len = strlen(value);

	if (!len || len >= DUMP_ON_OOPS_MAX || strchr(value, '\n'))
		return -EINVAL;
	pthread_mutex_lock(&t->crash->lock);
	memcpy(t->crash->dump, value, len + 1);
	pthread_mutex_unlock(&t->crash->lock);
	return 0;
}

/* --- what is said once the guest goes on ------------------------------------------------------ */

/* Of i, which is held, or of none. */
static void tell_later(struct trace *t, struct instance *i, int vcpu, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

static void tell_later(struct trace *t, struct instance *i, int vcpu, const char *fmt, ...)
{
	struct crash *crash = t->crash;
	va_list ap;

	pthread_mutex_lock(&crash->lock);
	if (crash->nr_told < (i ? TOLD_MAX : LINES_MAX)) {
		struct told *told = &crash->told[crash->nr_told++];

		told->i = i;
		told->vcpu = vcpu;
		va_start(ap, fmt);
		vsnprintf(told->text, sizeof(told->text), fmt, ap);
		va_end(ap);
		i = NULL;
	}
	pthread_mutex_unlock(&crash->lock);
	if (i)
		instance_put(i);
}

static bool told_take(struct crash *crash, struct told *told)
{
	bool any;

	pthread_mutex_lock(&crash->lock);
	any = crash->nr_told;
	if (any) {
		*told = crash->told[0];
		crash->nr_told--;
		memmove(crash->told, crash->told + 1, crash->nr_told * sizeof(*told));
	}
	pthread_mutex_unlock(&crash->lock);
	return any;
}

void crash_tell(struct trace *t)
{
	struct told told;

	while (told_take(t->crash, &told)) {
		if (*told.text)
			trace_note(t, "%s", told.text);
		if (told.i) {
			instance_print(told.i, told.vcpu);
			instance_put(told.i);
		}
	}
}

/* --- at the crash ----------------------------------------------------------------------------- */

/* ftrace_dump_one(): recording ends first. NULL is allowed; it is held until it was printed. */
static bool dump_one(struct instance *i, const struct machine_hit *hit, bool all_cpus)
{
	if (!i)
		return false;
	instance_set_on(i, false);
	tell_later(i->t, i, all_cpus ? ALL_VCPUS : (int)hit->vcpu, "%s", "");
	return true;
}

static struct instance *top(struct trace *t)
{
	return instance_get(t, "");
}

static bool is_one_cpu(const char *word)
{
	return word && (!strcmp(word, "2") || !strcmp(word, "orig_cpu"));
}

static void dump_named(struct trace *t, char *word, const struct machine_hit *hit)
{
	const char *name = strsep(&word, "=");

	if (!*name || !dump_one(instance_get(t, name), hit, !is_one_cpu(word)))
		tell_later(t, NULL, 0, "Instance %s not found", name);
}

/* ftrace_dump_by_param(), 6.12: [0|1|2|orig_cpu][,INSTANCE[=1|2|orig_cpu]]... */
static void dump_by_value(struct trace *t, const struct machine_hit *hit)
{
	char value[DUMP_ON_OOPS_MAX], *rest = value, *word;
	bool first = true;

	trace_dump_on_oops(t, value);
	if (!strcmp(value, "0") || t->crash->dumped)
		return;
	while ((word = strsep(&rest, ","))) {
		if (first && (!strcmp(word, "1") || is_one_cpu(word)))
			dump_one(top(t), hit, *word == '1');
		else if (!first || strcmp(word, "0") != 0)
			dump_named(t, word, hit);
		first = false;
	}
	t->crash->dumped = true;
}

/* --- what the guest calls --------------------------------------------------------------------- */

/* oops_enter() (kernel/panic.c): nothing that comes behind it is of interest. */
static void oopsed(struct trace *t, const struct machine_hit *hit)
{
	tell_later(t, NULL, 0, "the guest's kernel oopses: recording stops (tracing_on)");
	instance_set_on(t->instances, false);
	dump_by_value(t, hit);
}

/* sysrq-z */
static void asked(struct trace *t, const struct machine_hit *hit)
{
	if (t->crash->dumped)
		return;
	dump_one(top(t), hit, true);
	t->crash->dumped = true;
}

static void panic_action(struct trace *t, const struct machine_hit *hit)
{
	switch (t->cfg.on_panic) {
	case TRACE_ON_PANIC_DUMP:
		if (!t->crash->dumped)
			dump_one(top(t), hit, true);
		t->crash->dumped = true;
		break;
	case TRACE_ON_PANIC_STOP:
		instance_set_on(t->instances, false);
		break;
	case TRACE_ON_PANIC_SNAPSHOT:
		if (instance_snapshot_reserve(t->instances) ||
		    instance_snapshot(t->instances, ALL_VCPUS))
			tell_later(t, NULL, 0,
				   "no snapshot of the guest's panic: no memory, or it is the "
				   "tracer's");
		break;
	case TRACE_ON_PANIC_IGNORE:
		break;
	}
}

static void panicked(struct trace *t, const struct machine_hit *hit)
{
	/* Others that panic meanwhile, and panics within panics, are of no interest. */
	if (atomic_exchange(&t->crash->panicked, true))
		return;
	tell_later(t, NULL, 0, "the guest's kernel panics");
	dump_by_value(t, hit);
	panic_action(t, hit);
	if (panics_end(t))
		trace_finish(t);
}

/* Of include/linux/panic.h, 6.1 and 6.12. */
#define TAINT_SOFTLOCKUP 14

/* add_taint(): watchdog_timer_fn() has found a CPU that is stuck, and has nothing else to be seen.
 */
static void tainted(struct trace *t, const struct machine_hit *hit)
{
	if ((uint32_t)hit->regs->rdi == TAINT_SOFTLOCKUP)
		tell_later(t, NULL, 0, "vCPU %u: the guest's watchdog reports a soft lockup",
			   hit->vcpu);
}

/* rcu_check_gp_kthread_starvation(): of each stall that is reported (kernel/rcu/tree_stall.h). */
static void rcu_stalled(struct trace *t, const struct machine_hit *hit)
{
	tell_later(t, NULL, 0, "vCPU %u: the guest's kernel reports an RCU stall", hit->vcpu);
}

static const struct crash_row {
	const char *function;
	void (*hit)(struct trace *t, const struct machine_hit *hit);
} rows[] = {
	{"panic", panicked},
	{"oops_enter", oopsed},
	{"sysrq_ftrace_dump", asked},
	{"add_taint", tainted},
	{"rcu_check_gp_kthread_starvation", rcu_stalled},
};

const char *crash_function(unsigned int i)
{
	return i < sizeof(rows) / sizeof(rows[0]) ? rows[i].function : NULL;
}

void crash_hit(struct trace *t, const char *function, const struct machine_hit *hit)
{
	bool held;

	machine_pause_for(t->m, "doing what a crash asks for");
	change_lock(t);
	held = record_hold(t, hit->tsc);
	if (instance_is_on(t->instances))
		t->crash->dumped = false;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (!strcmp(rows[i].function, function))
			rows[i].hit(t, hit);
	if (held)
		record_release(t);
	change_unlock(t);
	machine_resume(t->m);
	machine_wake(t->m);
}
