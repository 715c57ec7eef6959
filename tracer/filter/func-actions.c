// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * func-actions.c - which commands are set on which functions, and what a hit does about it.
 *
 * Changed with the filter's lock held. Hits come at any time: they look with `look` held, and keep
 * what they found by a reference while they work on it, so that nothing is waited for with a lock
 * held; who removes it waits for them.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tracer/filter/internal.h"
#include "tracer/lib/glob.h"

/* Of one instance: twice the rows of commands there can ever be. */
#define MAX_ACTIONS 32

/* What one write asked for. */
struct setting {
	void *target;
	_Atomic int64_t left; /* FUNC_COUNT_SHARED */
	size_t users;	      /* functions it is set on */
};

/* A command on a function. */
struct entry {
	uint64_t addr;
	struct setting *setting;
	_Atomic int64_t own;
	_Atomic int64_t *left; /* NULL: no limit */
	atomic_uint refs;
	bool drop, over; /* it is to be removed; no reference is left */
	struct entry *next;
};

/* A command on functions: with a count, or without. */
struct action {
	struct action *next;
	const struct func_command *command;
	bool counted;
	pthread_mutex_t lock; /* struct func_command_hit */
	struct entry **v;     /* by address */
	size_t nr;
};

struct func_actions {
	pthread_rwlock_t look;
	pthread_mutex_t over_lock; /* entry->over */
	pthread_cond_t over;
	atomic_bool any;
	struct action *first; /* the latest */
	unsigned int nr;
};

struct func_actions *func_actions_new(void)
{
	struct func_actions *as = calloc(1, sizeof(*as));
	pthread_rwlockattr_t attr;

	if (!as)
		return NULL;
	/* Hits come without end; and none takes it twice. */
	pthread_rwlockattr_init(&attr);
	pthread_rwlockattr_setkind_np(&attr, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
	pthread_rwlock_init(&as->look, &attr);
	pthread_rwlockattr_destroy(&attr);
	pthread_mutex_init(&as->over_lock, NULL);
	pthread_cond_init(&as->over, NULL);
	return as;
}

/* --- hits --------------------------------------------------------------------------------- */

static struct entry *entry_find(const struct action *a, uint64_t addr)
{
	size_t from = 0, to = a->nr;

	while (from < to) {
		size_t mid = (from + to) / 2;

		if (a->v[mid]->addr == addr)
			return a->v[mid];
		if (a->v[mid]->addr < addr)
			from = mid + 1;
		else
			to = mid;
	}
	return NULL;
}

static void entry_put(struct func_actions *as, struct entry *e)
{
	if (atomic_fetch_sub_explicit(&e->refs, 1, memory_order_acq_rel) != 1)
		return;
	pthread_mutex_lock(&as->over_lock);
	e->over = true;
	pthread_cond_broadcast(&as->over);
	pthread_mutex_unlock(&as->over_lock);
}

struct found {
	struct action *action;
	struct entry *entry;
};

static unsigned int find_all(struct func_actions *as, uint64_t addr, struct found *found)
{
	unsigned int nr = 0;

	pthread_rwlock_rdlock(&as->look);
	for (struct action *a = as->first; a; a = a->next) {
		struct entry *e = entry_find(a, addr);

		if (!e)
			continue;
		atomic_fetch_add_explicit(&e->refs, 1, memory_order_relaxed);
		found[nr++] = (struct found){a, e};
	}
	pthread_rwlock_unlock(&as->look);
	return nr;
}

void func_filter_hit(struct func_filter *f, const struct func_hit *hit)
{
	struct func_actions *as = f->actions;
	struct found found[MAX_ACTIONS];
	unsigned int nr;

	if (!atomic_load_explicit(&as->any, memory_order_relaxed))
		return;
	nr = find_all(as, hit->addr, found);
	for (unsigned int i = 0; i < nr; i++) {
		struct func_command_hit h = {
			.owner = f->owner,
			.at = hit,
			.target = found[i].entry->setting->target,
			.left = found[i].entry->left,
			.lock = &found[i].action->lock,
		};

		found[i].action->command->hit(&h);
		entry_put(as, found[i].entry);
	}
}

/* --- changes ------------------------------------------------------------------------------ */

static struct action *action_find(struct func_actions *as, const struct func_command *c,
				  bool counted)
{
	struct action *a = as->first;

	while (a && (a->command != c || a->counted != counted))
		a = a->next;
	return a;
}

static void action_free(struct action *a)
{
	pthread_mutex_destroy(&a->lock);
	free(a->v);
	free(a);
}

/* Linked at the front; empty, so that no hit finds anything. NULL: no memory, or no room. */
static struct action *action_new(struct func_actions *as, const struct func_command *c,
				 bool counted)
{
	struct action *a = as->nr < MAX_ACTIONS ? calloc(1, sizeof(*a)) : NULL;

	if (!a)
		return NULL;
	a->command = c;
	a->counted = counted;
	pthread_mutex_init(&a->lock, NULL);
	pthread_rwlock_wrlock(&as->look);
	a->next = as->first;
	as->first = a;
	as->nr++;
	pthread_rwlock_unlock(&as->look);
	atomic_store(&as->any, true);
	return a;
}

/* as->look is held for writing. */
static void action_unlink(struct func_actions *as, struct action *a)
{
	struct action **at = &as->first;

	while (*at != a)
		at = &(*at)->next;
	*at = a->next;
	as->nr--;
	atomic_store(&as->any, as->nr);
}

static void setting_put(struct func_filter *f, const struct func_command *c, struct setting *s)
{
	if (--s->users)
		return;
	if (c->end)
		c->end(f->owner, s->target);
	free(s);
}

/* Take those that are to be dropped out of the action, which goes too when it is left with none. */
static struct entry *action_split(struct func_actions *as, struct action *a, bool *empty)
{
	struct entry *dropped = NULL;
	size_t kept = 0;

	pthread_rwlock_wrlock(&as->look);
	for (size_t i = 0; i < a->nr; i++) {
		struct entry *e = a->v[i];

		if (e->drop) {
			e->next = dropped;
			dropped = e;
		} else {
			a->v[kept++] = e;
		}
	}
	a->nr = kept;
	*empty = !kept;
	if (*empty)
		action_unlink(as, a);
	pthread_rwlock_unlock(&as->look);
	return dropped;
}

/* Nobody can come to it any more: wait for those who are there. */
static void entry_free(struct func_actions *as, struct entry *e)
{
	entry_put(as, e);
	pthread_mutex_lock(&as->over_lock);
	while (!e->over)
		pthread_cond_wait(&as->over, &as->over_lock);
	pthread_mutex_unlock(&as->over_lock);
	free(e);
}

/* Remove the entries that are marked. What apply() said, when that is to be called. */
static int action_drop(struct func_filter *f, struct action *a, bool apply)
{
	struct func_actions *as = f->actions;
	bool empty;
	struct entry *e = action_split(as, a, &empty);
	int err = apply ? func_filter_apply_locked(f) : 0;

	while (e) {
		struct entry *next = e->next;
		struct setting *s = e->setting;

		entry_free(as, e);
		setting_put(f, a->command, s);
		e = next;
	}
	if (empty)
		action_free(a);
	return err;
}

void func_actions_free(struct func_filter *f)
{
	struct func_actions *as = f->actions;

	while (as->first) {
		for (size_t i = 0; i < as->first->nr; i++)
			as->first->v[i]->drop = true;
		action_drop(f, as->first, false);
	}
	pthread_cond_destroy(&as->over);
	pthread_mutex_destroy(&as->over_lock);
	pthread_rwlock_destroy(&as->look);
	free(as);
}

static struct entry *entry_new(const struct action *a, uint64_t addr, struct setting *s,
			       int64_t left)
{
	struct entry *e = calloc(1, sizeof(*e));

	if (!e)
		return NULL;
	e->addr = addr;
	e->setting = s;
	atomic_init(&e->own, left);
	if (a->counted)
		e->left = a->command->counts == FUNC_COUNT_SHARED ? &s->left : &e->own;
	atomic_init(&e->refs, 1);
	return e;
}

static int by_addr(const void *a, const void *b)
{
	const struct entry *const *x = a, *const *y = b;

	return ((*x)->addr > (*y)->addr) - ((*x)->addr < (*y)->addr);
}

/* Entries for the functions of set that the action is not on yet: how many, or -ENOMEM. */
static ssize_t entries_new(const struct action *a, const struct func_set *set, struct setting *s,
			   int64_t left, struct entry **v)
{
	size_t nr = 0;

	for (uint32_t i = func_set_next(set, 0); i != FUNC_NONE; i = func_set_next(set, i + 1)) {
		uint64_t addr = set->funcs->v[i].addr;

		if (entry_find(a, addr))
			continue;
		v[nr] = entry_new(a, addr, s, left);
		if (!v[nr]) {
			while (nr--)
				free(v[nr]);
			return -ENOMEM;
		}
		nr++;
	}
	return (ssize_t)nr;
}

/* Set the action on the functions of set. 0, -EINVAL when it is on all of them, -ENOMEM. */
static int action_extend(struct func_actions *as, struct action *a, const struct func_set *set,
			 struct setting *s, int64_t left)
{
	struct entry **v = malloc((a->nr + set->count) * sizeof(struct entry *)), **old = a->v;
	ssize_t nr;

	if (!v)
		return -ENOMEM;
	nr = entries_new(a, set, s, left, v + a->nr);
	if (nr <= 0) {
		free(v);
		return nr ? (int)nr : -EINVAL;
	}
	if (a->nr)
		memcpy(v, a->v, a->nr * sizeof(struct entry *));
	qsort(v, a->nr + (size_t)nr, sizeof(struct entry *), by_addr);
	s->users = (size_t)nr;
	pthread_rwlock_wrlock(&as->look);
	a->v = v;
	a->nr += (size_t)nr;
	pthread_rwlock_unlock(&as->look);
	free(old);
	return 0;
}

/* On error nothing has changed, but s is free. */
static int action_add(struct func_filter *f, struct action *a, const struct func_set *set,
		      struct setting *s, int64_t left)
{
	int err = action_extend(f->actions, a, set, s, left);

	if (err) {
		s->users = 1;
		setting_put(f, a->command, s);
		if (!a->nr)
			action_drop(f, a, false);
		return err;
	}
	err = func_filter_apply_locked(f);
	if (err) {
		for (size_t i = 0; i < a->nr; i++)
			a->v[i]->drop = a->v[i]->setting == s;
		action_drop(f, a, true);
	}
	return err;
}

int func_action_add(struct func_filter *f, const struct func_request *r, const struct func_set *set)
{
	const struct func_command *c = r->command;
	struct action *a = action_find(f->actions, c, r->counted);
	struct setting *s = calloc(1, sizeof(*s));
	int err;

	if (!s)
		return -ENOMEM;
	s->target = r->target;
	atomic_init(&s->left, r->left);
	err = c->begin ? c->begin(f->owner, r->target) : 0;
	if (err) {
		free(s);
		return err;
	}
	if (!a)
		a = action_new(f->actions, c, r->counted);
	if (!a) {
		s->users = 1;
		setting_put(f, c, s);
		return -ENOMEM;
	}
	return action_add(f, a, set, s, r->left);
}

static bool entry_match(const struct func_filter *f, const struct entry *e, const struct glob *g)
{
	uint32_t i = funcs_at(f->funcs, e->addr);

	return i != FUNC_NONE && glob_match(g, f->funcs->v[i].name);
}

int func_action_remove(struct func_filter *f, const struct func_request *r, char *func)
{
	struct action *a = action_find(f->actions, r->command, r->counted);
	bool all = !*func || !strcmp(func, "*"), found = false;
	struct glob g;

	glob_parse(&g, func);
	if (g.invert)
		return -EINVAL;
	if (!a)
		return -ENODEV;
	for (size_t i = 0; i < a->nr; i++) {
		a->v[i]->drop = all || entry_match(f, a->v[i], &g);
		found |= a->v[i]->drop;
	}
	return found ? action_drop(f, a, true) : -EINVAL;
}

void func_actions_update(struct func_filter *f, const struct funcs *old)
{
	struct action *a = f->actions->first, *next;

	for (; a; a = next) {
		next = a->next;
		for (size_t i = 0; i < a->nr; i++) {
			uint32_t func = funcs_at(old, a->v[i]->addr);

			a->v[i]->drop = funcs_same(old, func, f->funcs) == FUNC_NONE;
		}
		action_drop(f, a, false);
	}
}

/* --- what is set -------------------------------------------------------------------------- */

static void add_functions(const struct func_filter *f, const struct action *a, struct func_set *set)
{
	for (size_t i = 0; i < a->nr; i++)
		func_set_add(set, funcs_at(f->funcs, a->v[i]->addr));
}

struct func_set *func_actions_set(struct func_filter *f)
{
	struct func_set *set = func_set_new(f->funcs);

	for (const struct action *a = f->actions->first; set && a; a = a->next)
		add_functions(f, a, set);
	return set;
}

void func_actions_say(const struct func_filter *f, struct func_selection *sel)
{
	for (const struct action *a = f->actions->first; a; a = a->next) {
		sel->commands_order |= a->command->orders;
		sel->commands_turn_on |= a->command->turns_on;
	}
}

static void entry_print(struct func_filter *f, const struct action *a, const struct func *func,
			struct text *out)
{
	const struct func_command *c = a->command;
	const struct entry *e = entry_find(a, func->addr);
	int64_t left = e->left ? atomic_load(e->left) : -1;

	func_print(func, out);
	text_putc(out, ':');
	text_puts(out, c->name);
	if (c->print)
		c->print(f->owner, e->setting->target, out);
	if (!e->left)
		text_puts(out, ":unlimited\n");
	else
		text_printf(out, ":count=%" PRId64 "\n", left);
}

void func_actions_print(struct func_filter *f, struct text *out)
{
	for (const struct action *a = f->actions->first; a; a = a->next) {
		struct func_set *set = func_set_new(f->funcs); /* has them in order */

		if (!set) {
			out->failed = true;
			return;
		}
		add_functions(f, a, set);
		for (uint32_t i = func_set_next(set, 0); i != FUNC_NONE;
		     i = func_set_next(set, i + 1))
			entry_print(f, a, &f->funcs->v[i], out);
		func_set_free(set);
	}
}
