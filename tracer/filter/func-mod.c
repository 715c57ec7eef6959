// SPDX-License-Identifier: GPL-2.0-or-later
/* func-mod.c - FUNCTIONS:mod:MODULE, also for a module that will be loaded later. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tracer/filter/internal.h"

static void wait_free(struct func_wait *w)
{
	free(w->func);
	free(w->module);
	free(w);
}

static int wait_add(struct func_filter *f, enum func_file_kind kind, const char *func,
		    const char *module)
{
	struct func_wait *w = calloc(1, sizeof(*w));

	if (!w)
		return -ENOMEM;
	w->func = strdup(func);
	w->module = strdup(module);
	if (!w->func || !w->module) {
		wait_free(w);
		return -ENOMEM;
	}
	w->next = f->waits[kind];
	f->waits[kind] = w;
	return 0;
}

/* `*` stands for whatever is asked for of that module. */
static int wait_remove(struct func_filter *f, enum func_file_kind kind, const char *func,
		       const char *module)
{
	struct func_wait **at = &f->waits[kind], *w;
	int err = -EINVAL;

	while ((w = *at)) {
		if (strcmp(w->module, module) || (strcmp(func, "*") && strcmp(func, w->func))) {
			at = &w->next;
			continue;
		}
		*at = w->next;
		wait_free(w);
		err = 0;
	}
	return err;
}

static bool module_loaded(const struct func_filter *f, const char *module)
{
	const struct func_owner *owner = f->owner;

	return funcs_have_module(f->funcs, module) ||
	       (owner->module_loaded && owner->module_loaded(owner->arg, module));
}

int func_mod_write(struct func_filter *f, struct func_set *set, const struct func_word *w)
{
	char *func = strdup(w->func); /* what is matched is changed */
	bool found;

	if (!func)
		return -ENOMEM;
	found = func_set_match(set, func, w->param);
	free(func);
	if (found)
		return 0;
	/* The kernel keeps the name of the module without a star at its end, if it had one. */
	if (w->func[0] == '!')
		return w->param ? wait_remove(f, w->kind, w->func + 1, w->param) : -EINVAL;
	if (!w->param)
		return -ENOMEM; /* so it says */
	return module_loaded(f, w->param) ? -EINVAL : wait_add(f, w->kind, w->func, w->param);
}

void func_waits_clear(struct func_filter *f, enum func_file_kind kind)
{
	while (f->waits[kind]) {
		struct func_wait *w = f->waits[kind];

		f->waits[kind] = w->next;
		wait_free(w);
	}
}

void func_waits_print(const struct func_filter *f, enum func_file_kind kind, struct text *out)
{
	for (const struct func_wait *w = f->waits[kind]; w; w = w->next) {
		text_puts(out, w->func);
		text_puts(out, ":mod:");
		text_puts(out, w->module);
		text_putc(out, '\n');
	}
}

/* Without memory for it the set stays as it is. */
static void wait_settle(struct func_filter *f, enum func_file_kind kind, struct func_wait *w)
{
	if (!f->set[kind])
		f->set[kind] = func_set_new(f->funcs);
	if (f->set[kind])
		func_set_match(f->set[kind], w->func, w->module);
}

void func_waits_settle(struct func_filter *f)
{
	for (enum func_file_kind kind = FUNC_FILTER; kind <= FUNC_NOTRACE; kind++) {
		struct func_wait **at = &f->waits[kind], *w;

		while ((w = *at)) {
			if (!module_loaded(f, w->module)) {
				at = &w->next;
				continue;
			}
			*at = w->next;
			wait_settle(f, kind, w);
			wait_free(w);
		}
	}
	if (f->set[FUNC_FILTER] && !f->waits[FUNC_FILTER])
		f->set[FUNC_FILTER]->waits = false;
}
