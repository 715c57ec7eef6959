/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * modules.h - the guest's modules, as its list of them was read last, and the names of those that
 * have gone since: records may tell of their functions.
 *
 * What has gone is kept until another module lies in its place, for nobody finds it then, and no
 * more of it than MODULES_GONE_BYTES: what has gone first is forgotten first.
 */
#ifndef HVTRACE_TRACER_GUEST_MODULES_H
#define HVTRACE_TRACER_GUEST_MODULES_H

#include "tracer/guest/guest.h"

#define MODULES_GONE_MAX   1024
#define MODULES_GONE_BYTES (UINT64_C(4) << 20) /* of symbols and names */

/* Of a symbol's name, and of its module's, with their ends; what is longer is cut. */
enum { MODULES_SYMBOL_MAX = 512, MODULES_NAME_MAX = 64 };

struct module_list;

struct module_list *modules_list_new(void);	  /* NULL: no memory */
void modules_list_free(struct module_list *list); /* NULL is allowed */
/*
 * Copy what the guest has of modules that are new since the last reading; the machine is paused.
 * guestsym_modules_parse() makes modules of the copies, which need not be done while the guest
 * stands, and modules_list_ahead() has the next reading use them where nothing has changed since.
 */
int modules_list_copy(struct module_list *list, struct guest_kernel *g, const struct guestsym *gs,
		      struct guestsym_module_copies **copies);
void modules_list_ahead(struct module_list *list, struct guestsym_module *mods, size_t nr);
/*
 * Read the guest's list anew; the machine is paused. What the functions below gave of the last
 * reading is not valid any more. 0; -ENOENT, -ENODATA: this kernel has no modules, or does not say
 * where; otherwise -errno. Then nothing has changed.
 */
int modules_list_read(struct module_list *list, struct guest_kernel *g, const struct guestsym *gs);

/*
 * Of the latest reading; whoever calls holds trace.change, as does who reads anew.
 */

/* How many there have been; another number: all may be different. */
uint64_t modules_readings(const struct module_list *list);
/* Those that are there, sorted as the kernel has them. */
size_t modules_all(const struct module_list *list, const struct guestsym_module **mods);
/* Run-time addresses of the fentry sites, selected or not. */
void modules_each_site(const struct module_list *list, void (*fn)(void *arg, uint64_t va),
		       void *arg);
/* Each module that is not about to go, until fn gives an error: that one, or 0. */
int modules_each(const struct module_list *list,
		 int (*fn)(void *arg, const struct guestsym_module *mod), void *arg);
/* The one whose struct module is at this address, or NULL. */
const struct guestsym_module *modules_at(const struct module_list *list, uint64_t addr);
/* The symbol that addr is in, or NULL; as guestsym_find(). */
const struct guestsym_symbol *modules_find(const struct module_list *list, uint64_t addr,
					   uint64_t *off, uint64_t *size);
/* The name of the module whose text addr is in, or NULL. */
const char *modules_name_at(const struct module_list *list, uint64_t addr);

/* Of modules that have gone as well; any thread. */

struct module_symbol {
	uint64_t off, size; /* as guestsym_find() */
	char name[MODULES_SYMBOL_MAX], module[MODULES_NAME_MAX];
};

/* The symbol that addr is in, or was in while its module was there; false: none that is known. */
bool modules_symbol(struct module_list *list, uint64_t addr, struct module_symbol *sym);
/* Of how many modules that have gone names were forgotten for want of room. */
uint64_t modules_forgotten(const struct module_list *list);

#endif
