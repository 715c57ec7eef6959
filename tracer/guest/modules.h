/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * modules.h - the guest's modules, as its list of them was read. Older readings are kept behind the
 * latest one: records may tell of functions that have gone.
 */
#ifndef HVTRACE_TRACER_GUEST_MODULES_H
#define HVTRACE_TRACER_GUEST_MODULES_H

#include "tracer/guest/guest.h"

struct module_list;

/*
 * Read the list; the machine is paused. It comes before `older` (may be NULL), which it owns from
 * then on. NULL with *ret 0: this kernel has no modules, or does not say where; otherwise -errno.
 */
struct module_list *modules_list_read(struct guest_kernel *g, const struct guestsym *gs,
				      struct module_list *older, int *ret);
void modules_free(struct module_list *list); /* with all older ones; NULL is allowed */

/* Of the latest reading. All take NULL for a list of none. */

/* Those that are there, sorted as the kernel has them. */
size_t modules_all(const struct module_list *list, const struct guestsym_module **mods);
/* Run-time addresses of the fentry sites, selected or not. */
void modules_each_site(const struct module_list *list, void (*fn)(void *arg, uint64_t va),
		       void *arg);
/* Each module that is not about to go, until fn gives an error: that one, or 0. */
int modules_each(const struct module_list *list,
		 int (*fn)(void *arg, const struct guestsym_module *mod), void *arg);
/* Another module may lie where one has gone, with the same bytes at other places. */
bool modules_is_site(const struct module_list *list, uint64_t va);
/* The one whose struct module is at this address, or NULL. */
const struct guestsym_module *modules_at(const struct module_list *list, uint64_t addr);

/* Of any reading. */

/* The symbol that addr was in while its module was loaded, or NULL; as guestsym_find(). */
const struct guestsym_symbol *modules_find(const struct module_list *list, uint64_t addr,
					   uint64_t *off, uint64_t *size);
/* The name of the module whose text addr is in, or NULL. */
const char *modules_name_at(const struct module_list *list, uint64_t addr);

#endif
