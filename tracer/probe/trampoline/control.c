// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * control.c - what the payload is told while it is in use: whom to record, and when to
 * call.
 */
#include "tracer/probe/trampoline/internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int limits_forget(struct window *w)
{
	static const uint64_t none[LIMITS];

	return window_write(w, WINDOW_LIMITS, none, sizeof(none));
}

int trampoline_control_init(struct trace *t, struct trampoline *tr)
{
	struct window *w = &tr->window;
	uint64_t head = w->header.ring_size / PAYLOAD_RECORD_SIZE;
	uint32_t flags = CTL_FL_ON, depth = t->depth;
	int ret = window_write(w, WINDOW_DEPTH, &depth, sizeof(depth));

	if (!ret)
		ret = limits_forget(w);
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
	uint32_t all = 0;
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

void trampoline_forget_limits(struct trace *t)
{
	int ret = t->tramp ? limits_forget(&t->tramp->window) : 0;

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

void trampoline_set_switch(struct trace *t, bool on, bool anew)
{
	struct trampoline *tr = t->tramp;
	uint64_t word = on ? (uint64_t)SWITCH_ON : SWITCH_OFF;
	int ret;

	if (!tr || (tr->switched_on == on && !anew))
		return;
	tr->switched_on = on;
	ret = window_write(&tr->window, WINDOW_SWITCH, &word, sizeof(word));
	if (ret)
		trace_fail(t, ret);
}

uint64_t trampoline_get_switch(const struct trace *t)
{
	uint64_t word;

	if (!t->tramp || window_read(&t->tramp->window, WINDOW_SWITCH, &word, sizeof(word)))
		return SWITCH_OFF;
	return word;
}

void trampoline_set_depth(struct trace *t, uint32_t depth)
{
	int ret;

	t->depth = depth;
	ret = t->tramp ? window_write(&t->tramp->window, WINDOW_DEPTH, &depth, sizeof(depth)) : 0;
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
