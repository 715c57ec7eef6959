/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fake-guestsym.h - the kernel of a made-up guest: implements the parts of guestsym.h that tracer/
 * calls.
 */
#ifndef HVTRACE_TESTS_FAKE_GUESTSYM_H
#define HVTRACE_TESTS_FAKE_GUESTSYM_H

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/fake-state.h"

const struct guestsym_symbol *guestsym_lookup(const struct guestsym *gs, const char *name)
{
	(void)gs;
	for (size_t i = 0; i < fake.nsyms; i++)
		if (!strcmp(fake.syms[i].name, name))
			return &fake.syms[i];
	return NULL;
}

uint64_t guestsym_addr(const struct guestsym *gs, const char *name)
{
	const struct guestsym_symbol *sym = guestsym_lookup(gs, name);

	return sym ? sym->addr : 0;
}

const struct guestsym_symbol *guestsym_find(const struct guestsym *gs, uint64_t addr, uint64_t *off,
					    uint64_t *size)
{
	const struct guestsym_symbol *best = NULL;

	(void)gs;
	for (size_t i = 0; i < fake.nsyms; i++)
		if (fake.syms[i].addr <= addr && (!best || fake.syms[i].addr > best->addr))
			best = &fake.syms[i];
	if (best && off)
		*off = addr - best->addr;
	if (size)
		*size = 0x100;
	return best;
}

size_t guestsym_symbols(const struct guestsym *gs, const struct guestsym_symbol **syms)
{
	(void)gs;
	*syms = fake.syms;
	return fake.nsyms;
}

size_t guestsym_return_sites(const struct guestsym *gs, const uint64_t **sites)
{
	(void)gs;
	*sites = NULL;
	return 0;
}

size_t guestsym_fentry_sites(const struct guestsym *gs, const struct guestsym_site **sites)
{
	(void)gs;
	*sites = fake.sites;
	return fake.nsites;
}

int guestsym_find_sites(const struct guestsym *gs, char *err, size_t errlen)
{
	(void)gs, (void)err, (void)errlen;
	return 0;
}

size_t guestsym_irq_sites(const struct guestsym *gs, const struct guestsym_irq_site **sites)
{
	(void)gs;
	*sites = fake.irq_sites;
	return fake.nirq_sites;
}

size_t guestsym_preempt_sites(const struct guestsym *gs, const struct guestsym_preempt_site **sites)
{
	(void)gs;
	*sites = fake.preempt_sites;
	return fake.npreempt_sites;
}

int guestsym_phys(const struct guestsym *gs, uint64_t va, uint64_t *pa)
{
	(void)gs;
	if (va - FAKE_TEXT >= FAKE_RAM - FAKE_PA)
		return -EFAULT;
	*pa = va - FAKE_TEXT + FAKE_PA;
	return 0;
}

int guestsym_read(const struct guestsym *gs, uint64_t va, void *buf, size_t len)
{
	uint64_t pa;

	return guestsym_phys(gs, va, &pa) ? -EFAULT : machine_read(NULL, pa, buf, len);
}

int guestsym_field(const struct guestsym *gs, const char *path, struct guestsym_field *field)
{
	(void)gs;
	for (size_t i = 0; i < fake.nfields; i++)
		if (!strcmp(fake.fields[i].path, path)) {
			*field = fake.fields[i].field;
			return 0;
		}
	return -ENOENT;
}

int guestsym_function(const struct guestsym *gs, const char *name, struct guestsym_value *param,
		      unsigned int n, struct guestsym_value *result)
{
	(void)gs, (void)name, (void)param, (void)n, (void)result;
	return -ENODATA;
}

int guestsym_pointee(const struct guestsym *gs, uint32_t type, uint32_t *pointee)
{
	(void)gs, (void)type, (void)pointee;
	return -EINVAL;
}

int guestsym_member(const struct guestsym *gs, uint32_t type, const char *name,
		    struct guestsym_member *member)
{
	(void)gs, (void)type, (void)name, (void)member;
	return -EINVAL;
}

void guestsym_orc(const struct guestsym *gs, struct guestsym_range *ip,
		  struct guestsym_range *unwind, struct guestsym_range *header)
{
	(void)gs;
	*ip = fake.orc_ip;
	*unwind = fake.orc_unwind;
	*header = (struct guestsym_range){0};
}

/* It was read from a file, if the test does not say otherwise. */
bool guestsym_from_memory(const struct guestsym *gs)
{
	(void)gs;
	return fake.from_memory;
}

int guestsym_variable(const struct guestsym *gs, enum guestsym_variable v, uint64_t *value)
{
	uint64_t va = guestsym_addr(gs, v == GUESTSYM_TICK_NSEC ? "tick_nsec" : "jiffies_64");

	return va && !guestsym_read(gs, va, value, sizeof(*value)) ? 0 : -ENOENT;
}

const void *guestsym_elf(const struct guestsym *gs, size_t *len)
{
	static const char image[] = "ELF";

	(void)gs;
	*len = sizeof(image);
	return fake.from_memory ? NULL : image;
}

const char *guestsym_release(const struct guestsym *gs)
{
	(void)gs;
	return "6.1.0-fake";
}

const char *guestsym_banner(const struct guestsym *gs)
{
	(void)gs;
	return fake.banner ? fake.banner : "";
}

struct guestsym *guestsym_open_memory(struct guestsym_parsers *p, const struct guestsym_memory *mem,
				      char *err, size_t errlen)
{
	uint8_t byte;

	(void)p, (void)err, (void)p, (void)errlen;
	fake.open_error = mem->read(mem->arg, mem->hint, &byte, sizeof(byte));
	return NULL;
}

struct guestsym_parsers *guestsym_parsers(const struct guestsym *gs)
{
	(void)gs;
	return NULL;
}

void guestsym_close(struct guestsym *gs)
{
	(void)gs;
}

/* What the program that includes this has of its own, from the guest's memory. */
#ifndef FAKE_LISTS_ARE_READ
struct guestsym_module_copies {
	size_t fresh; /* modules that are not known */
};

int guestsym_modules_copy(const struct guestsym *gs, const struct guestsym_memory *mem,
			  uint64_t slide, const struct guestsym_module *known, size_t nr_known,
			  struct guestsym_module_copies **copies)
{
	(void)gs, (void)slide;
	if (!fake.nmods)
		return -ENOENT;
	for (size_t i = 0; i < fake.nmods; i++)
		if (mem->cancelled && mem->cancelled(mem->arg))
			return -ECANCELED;
	*copies = calloc(1, sizeof(**copies));
	(*copies)->fresh = fake.nmods;
	for (size_t i = 0; i < fake.nmods; i++)
		for (size_t k = 0; k < nr_known; k++)
			if (known[k].text.start == fake.mods[i].text.start) {
				(*copies)->fresh--;
				break;
			}
	return 0;
}

/* In memory of their own, so that what is used after it was freed is seen. */
int guestsym_modules_parse(struct guestsym_module_copies *copies, struct guestsym_module **mods,
			   size_t *n)
{
	*(fake.paused ? &fake.parsed_standing : &fake.parsed_running) += copies->fresh;
	free(copies);
	*mods = calloc(fake.nmods, sizeof(**mods));
	*n = fake.nmods;
	for (size_t i = 0; i < fake.nmods; i++) {
		const struct guestsym_module *from = &fake.mods[i];
		struct guestsym_symbol *syms = calloc(from->nr_syms + 1, sizeof(*syms));
		struct guestsym_site *sites = calloc(from->nr_sites + 1, sizeof(*sites));

		for (size_t k = 0; k < from->nr_syms; k++) {
			syms[k] = from->syms[k];
			syms[k].name = strdup(from->syms[k].name);
		}
		for (size_t k = 0; k < from->nr_sites; k++) {
			sites[k] = from->sites[k];
			sites[k].name = strdup(from->sites[k].name);
		}
		(*mods)[i] = *from;
		(*mods)[i].name = strdup(from->name ? from->name : "");
		(*mods)[i].syms = syms;
		(*mods)[i].sites = sites;
	}
	return 0;
}

void guestsym_modules_free(struct guestsym_module *mods, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		for (size_t k = 0; k < mods[i].nr_syms; k++)
			free((char *)(uintptr_t)mods[i].syms[k].name);
		for (size_t k = 0; k < mods[i].nr_sites; k++)
			free((char *)(uintptr_t)mods[i].sites[k].name);
		free((void *)(uintptr_t)mods[i].syms);
		free((void *)(uintptr_t)mods[i].sites);
		free((char *)(uintptr_t)mods[i].name);
	}
	free(mods);
}
#endif

int guestsym_type_size(const struct guestsym *gs, const char *name, uint32_t *size)
{
	(void)gs;
	for (size_t i = 0; i < fake.ntypes; i++)
		if (!strcmp(fake.types[i].name, name)) {
			*size = fake.types[i].size;
			return 0;
		}
	return -ENOENT;
}

int guestsym_enumerator(const struct guestsym *gs, const char *name, int64_t *value)
{
	(void)gs, (void)name, (void)value;
	return -ENOENT;
}

#ifndef FAKE_LISTS_ARE_READ
int guestsym_events_read(const struct guestsym *gs, const struct guestsym_memory *mem,
			 uint64_t slide, struct guestsym_event_list *list)
{
	(void)gs, (void)mem, (void)slide;
	if (!fake.events)
		return -ENODATA;
	*list = *fake.events;
	return 0;
}

int guestsym_events_image(const struct guestsym *gs, uint64_t slide,
			  struct guestsym_event_list *list)
{
	return guestsym_events_read(gs, NULL, slide, list);
}

void guestsym_events_free(struct guestsym_event_list *list)
{
	(void)list;
}
#endif

#endif
