// SPDX-License-Identifier: GPL-2.0-or-later
/* func-commands.c - the commands that need nothing but what an owner offers. */
#include "tracer/filter/func-commands.h"

/* Negative counts are what an empty one reads as; most commands take them for spent. */
static bool count_take(_Atomic int64_t *left, bool negative)
{
	int64_t n = atomic_load_explicit(left, memory_order_relaxed);

	do {
		if (!n || (n < 0 && !negative))
			return false;
	} while (!atomic_compare_exchange_weak(left, &n, n - 1));
	return true;
}

bool func_count_take(_Atomic int64_t *left)
{
	return count_take(left, false);
}

/* To switch something to what it is already does not count. */
static void tracing_switch(const struct func_command_hit *h, bool on)
{
	const struct func_owner *o = h->owner;

	if (h->left && atomic_load_explicit(h->left, memory_order_relaxed) <= 0)
		return;
	if (o->tracing_is_on(o->arg) == on)
		return;
	pthread_mutex_lock(h->lock);
	if (o->tracing_is_on(o->arg) != on && (!h->left || func_count_take(h->left)))
		o->tracing_set(o->arg, on);
	pthread_mutex_unlock(h->lock);
}

static void traceon_hit(const struct func_command_hit *h)
{
	tracing_switch(h, true);
}

static void traceoff_hit(const struct func_command_hit *h)
{
	tracing_switch(h, false);
}

static const struct func_command traceon_command = {
	.name = "traceon",
	.orders = true,
	.turns_on = true,
	.desc = "turn tracing on",
	.hit = traceon_hit,
};

static const struct func_command traceoff_command = {
	.name = "traceoff",
	.orders = true,
	.desc = "turn tracing off",
	.hit = traceoff_hit,
};

static int snapshot_begin(const struct func_owner *owner, void *target)
{
	(void)target;
	return owner->snapshot_ready(owner->arg);
}

static void snapshot_hit(const struct func_command_hit *h)
{
	if (!h->left || func_count_take(h->left))
		h->owner->snapshot(h->owner->arg, h->at);
}

static const struct func_command snapshot_command = {
	.name = "snapshot",
	.orders = true,
	.desc = "take a snapshot",
	.begin = snapshot_begin,
	.hit = snapshot_hit,
};

static void stacktrace_hit(const struct func_command_hit *h)
{
	const struct func_owner *o = h->owner;

	if (!h->left || (o->tracing_is_on(o->arg) && count_take(h->left, true)))
		o->stacktrace(o->arg, h->at);
}

static const struct func_command stacktrace_command = {
	.name = "stacktrace",
	.desc = "record a stack trace",
	.hit = stacktrace_hit,
};

static void dump_hit(const struct func_command_hit *h)
{
	if (func_count_take(h->left))
		h->owner->dump(h->owner->arg, h->at, true);
}

static const struct func_command dump_command = {
	.name = "dump",
	.orders = true,
	.desc = "print the buffers of all CPUs",
	.counts = FUNC_COUNT_ONCE,
	.hit = dump_hit,
};

static void cpudump_hit(const struct func_command_hit *h)
{
	h->owner->dump(h->owner->arg, h->at, false);
}

static const struct func_command cpudump_command = {
	.name = "cpudump",
	.orders = true,
	.desc = "print the buffer of the CPU",
	.counts = FUNC_COUNT_NONE,
	.hit = cpudump_hit,
};

const struct func_command *func_command_row(unsigned int i)
{
	static const struct func_command *const rows[] = {
		&traceon_command,
		&traceoff_command,
		&snapshot_command,
		&stacktrace_command,
		&dump_command,
		&cpudump_command,
		&func_command_enable_event,
		&func_command_disable_event,
	};

	return i < sizeof(rows) / sizeof(rows[0]) ? rows[i] : NULL;
}
