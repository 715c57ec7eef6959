// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * text-lock.c - lets the guest patch its own text while it is traced.
 *
 * Whoever patches kernel text takes text_mutex: ftrace, kprobes, BPF, livepatch, static keys.
 * ftrace compares each site with what it knows to be there before it writes, and gives up for good
 * when that is not so. So the call of mutex_lock(&text_mutex) is watched (by the payload itself,
 * which compares the argument), and all sites are NOPs again before the guest goes on. They are
 * taken again when the mutex has been free for a while. Those that then hold something else are the
 * guest's, and left alone.
 *
 * While the guest traces mutex_lock itself its site is not ours, nothing is watched, and so nothing
 * is taken.
 */
#include "tracer/instance.h"

#include <errno.h>
#include <string.h>
#include <time.h>

/* The mutex is taken several times for one change: for preparing a kprobe, and for arming it. */
#define AWAY_MS 300
#define FREE_MS 100

static const char *const lock_functions[] = {"mutex_lock", "mutex_lock_nested"};

/* Static keys and calls are patched all the time, and at no site of ours. */
static const char *const harmless[] = {"jump_label", "static_call"};

static int64_t now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

static int watch(struct trace *t, const char *function)
{
	const struct guestsym_site *sites;
	size_t n = guestsym_fentry_sites(t->gs, &sites);

	for (size_t i = 0; i < n; i++) {
		struct probe *p;

		if (strcmp(sites[i].name, function))
			continue;
		p = probe_set_at(&t->probes, sites[i].addr);
		if (!p)
			return -ENOMEM;
		p->name = sites[i].name;
		p->guards |= GUARD_TEXT_LOCK;
	}
	return 0;
}

int text_lock_init(struct trace *t)
{
	uint64_t mutex = guestsym_addr(t->gs, "text_mutex");
	struct guestsym_field owner;
	int ret = 0;

	if (!mutex || guestsym_field(t->gs, "mutex.owner", &owner))
		return 0;
	t->text_lock.mutex = mutex + t->guest.slide;
	t->text_lock.owner = t->text_lock.mutex + owner.offset;
	for (size_t i = 0; i < sizeof(lock_functions) / sizeof(lock_functions[0]) && !ret; i++)
		ret = watch(t, lock_functions[i]);
	return ret;
}

static bool caller_is_harmless(struct trace *t, const struct machine_hit *hit)
{
	const struct guestsym_symbol *caller;
	uint64_t parent;

	if (guest_read(&t->guest, hit->regs->rsp, &parent, sizeof(parent)))
		return false;
	caller = guestsym_find(t->gs, parent - t->guest.slide, NULL, NULL);
	for (size_t i = 0; caller && i < sizeof(harmless) / sizeof(harmless[0]); i++)
		if (strstr(caller->name, harmless[i]))
			return true;
	return false;
}

int text_lock_taken(struct trace *t, const struct machine_hit *hit)
{
	struct text_lock *l = &t->text_lock;

	if (hit->regs->rdi != l->mutex || l->away || caller_is_harmless(t, hit))
		return 0;
	l->away = true;
	l->away_ms = l->free_ms = now_ms();
	return probes_remove(t, PROBE_FL_CALL, 0);
}

static bool mutex_is_free(struct trace *t)
{
	uint64_t owner;

	return !guest_read(&t->guest, t->text_lock.owner, &owner, sizeof(owner)) && !owner;
}

/* The site that tells of the next change must be there before any other. */
static bool watch_is_possible(struct trace *t)
{
	for (size_t i = 0; i < t->probes.nr; i++) {
		const struct probe *p = &t->probes.v[i];
		uint8_t now[SITE_SIZE];

		if (!(p->guards & GUARD_TEXT_LOCK))
			continue;
		if (guest_read(&t->guest, p->va + t->guest.slide, now, sizeof(now)) ||
		    memcmp(now, site_nop, sizeof(now)))
			return false;
	}
	return true;
}

static int take_again(struct trace *t)
{
	int ret = 0;

	machine_pause(t->m);
	pthread_mutex_lock(&t->change);
	if (!t->detached && mutex_is_free(t) && watch_is_possible(t)) {
		t->text_lock.away = false;
		ret = modules_catch_up(t);
		if (!ret)
			ret = selection_update(t);
		if (!ret)
			ret = probes_insert(t, 0, PROBE_FL_ONCE);
	}
	pthread_mutex_unlock(&t->change);
	machine_resume(t->m);
	return ret;
}

int text_lock_poll(struct trace *t)
{
	struct text_lock *l = &t->text_lock;
	int64_t now = now_ms();
	bool due;

	pthread_mutex_lock(&t->change);
	if (l->away && !mutex_is_free(t))
		l->free_ms = now;
	due = l->away && now - l->away_ms > AWAY_MS && now - l->free_ms > FREE_MS;
	if (due)
		l->away_ms = now; /* when it is not possible, try again after a while */
	pthread_mutex_unlock(&t->change);
	return due ? take_again(t) : 0;
}
