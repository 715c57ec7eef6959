// SPDX-License-Identifier: GPL-2.0-or-later
/* guestsym.c - the door: answers questions about a kernel that has been opened (open.c). */
#include "guestsym/internal.h"

#include <errno.h>

const char *guestsym_release(const struct guestsym *gs)
{
	return gs->kernel.identity.release;
}

const char *guestsym_banner(const struct guestsym *gs)
{
	return gs->kernel.identity.banner;
}

const char *guestsym_build_id(const struct guestsym *gs)
{
	return gs->kernel.identity.build_id;
}

double guestsym_parse_ms(const struct guestsym *gs)
{
	return gs->parse_ms;
}

bool guestsym_cached(const struct guestsym *gs)
{
	return gs->cached;
}

bool guestsym_from_memory(const struct guestsym *gs)
{
	return gs->kernel.booted;
}

int guestsym_variable(const struct guestsym *gs, enum guestsym_variable v, uint64_t *value)
{
	const struct variables *known = &gs->kernel.variables;

	if (!(known->known & UINT64_C(1) << v))
		return -ENOENT;
	*value = known->value[v];
	return 0;
}

bool guestsym_has_image(const struct guestsym *gs)
{
	return !gs->image || cached_check(gs->image);
}

int guestsym_settle(const struct guestsym *gs, char *err, size_t errlen)
{
	const struct complaint c = {NULL, err, errlen};

	if (errlen)
		err[0] = '\0';
	if (guestsym_has_image(gs))
		return 0;
	return complain(&c, -EIO,
			"the kernel's image is damaged in hvtrace's cache, and gone from there "
			"now: start hvtrace again");
}

const void *guestsym_elf(const struct guestsym *gs, size_t *len)
{
	bool image = !gs->kernel.booted && guestsym_has_image(gs);

	*len = image ? gs->bytes.len : 0;
	return image ? gs->bytes.data : NULL;
}

int guestsym_read(const struct guestsym *gs, uint64_t va, void *buf, size_t len)
{
	const uint8_t *p = elf_image_at(&gs->kernel.elf, va, len);

	if (!p || !guestsym_has_image(gs))
		return -EFAULT;
	memcpy(buf, p, len);
	return 0;
}

int guestsym_phys(const struct guestsym *gs, uint64_t va, uint64_t *pa)
{
	return gs->kernel.booted ? -EFAULT : elf_image_phys(&gs->kernel.elf, va, pa);
}

size_t guestsym_symbols(const struct guestsym *gs, const struct guestsym_symbol **syms)
{
	*syms = gs->kernel.symbols.v;
	return gs->kernel.symbols.n;
}

const struct guestsym_symbol *guestsym_lookup(const struct guestsym *gs, const char *name)
{
	return symbols_lookup(&gs->kernel.symbols, name);
}

uint64_t guestsym_addr(const struct guestsym *gs, const char *name)
{
	return symbols_addr(&gs->kernel.symbols, name);
}

const struct guestsym_symbol *guestsym_find(const struct guestsym *gs, uint64_t addr, uint64_t *off,
					    uint64_t *size)
{
	return symbols_find(&gs->kernel.symbols, addr, off, size);
}

size_t guestsym_fentry_sites(const struct guestsym *gs, const struct guestsym_site **sites)
{
	*sites = gs->kernel.fentry.v;
	return gs->kernel.fentry.n;
}

size_t guestsym_return_sites(const struct guestsym *gs, const uint64_t **sites)
{
	*sites = gs->kernel.tables.returns;
	return gs->kernel.tables.nr_returns;
}

size_t guestsym_tracepoints(const struct guestsym *gs, const struct guestsym_tracepoint **tps)
{
	*tps = gs->kernel.tables.tracepoints;
	return gs->kernel.tables.nr_tracepoints;
}

size_t guestsym_event_probes(const struct guestsym *gs)
{
	return gs->kernel.event_probes;
}

void guestsym_orc(const struct guestsym *gs, struct guestsym_range *ip,
		  struct guestsym_range *unwind, struct guestsym_range *header)
{
	*ip = gs->kernel.tables.orc_ip;
	*unwind = gs->kernel.tables.orc_unwind;
	*header = gs->kernel.tables.orc_header;
}

int guestsym_modules_copy(const struct guestsym *gs, const struct guestsym_memory *mem,
			  uint64_t slide, const struct guestsym_module *known, size_t nr_known,
			  struct guestsym_module_copies **copies)
{
	uint64_t list = guestsym_addr(gs, "modules");
	const struct modules_of kernel = {
		.list = list ? list + slide : 0,
		.types = gs->kernel.types,
		.rule = fentry_rule(&gs->kernel.fentry, gs->kernel.names_invalid),
		.parsers = gs->parsers,
	};

	return modules_copy(&kernel, mem, known, nr_known, copies);
}

int guestsym_modules_read(const struct guestsym *gs, const struct guestsym_memory *mem,
			  uint64_t slide, struct guestsym_module **mods, size_t *n)
{
	struct guestsym_module_copies *copies;
	int err = guestsym_modules_copy(gs, mem, slide, NULL, 0, &copies);

	*mods = NULL;
	*n = 0;
	return err ? err : guestsym_modules_parse(copies, mods, n);
}

static struct events_of events_of(const struct guestsym *gs, uint64_t slide)
{
	return (struct events_of){&gs->kernel.elf, &gs->kernel.symbols, gs->kernel.types, slide};
}

int guestsym_events_read(const struct guestsym *gs, const struct guestsym_memory *mem,
			 uint64_t slide, struct guestsym_event_list *list)
{
	const struct events_of kernel = events_of(gs, slide);

	return guestsym_has_image(gs) ? events_read(&kernel, mem, list) : -EIO;
}

int guestsym_events_image(const struct guestsym *gs, uint64_t slide,
			  struct guestsym_event_list *list)
{
	const struct events_of kernel = events_of(gs, 0);

	return guestsym_has_image(gs) ? events_image(&kernel, slide, list) : -EIO;
}

int guestsym_field(const struct guestsym *gs, const char *path, struct guestsym_field *field)
{
	return types_field(gs->kernel.types, path, field);
}

int guestsym_function(const struct guestsym *gs, const char *name, struct guestsym_value *param,
		      unsigned int n, struct guestsym_value *result)
{
	return types_function(gs->kernel.types, name, param, n, result);
}

int guestsym_pointee(const struct guestsym *gs, uint32_t type, uint32_t *pointee)
{
	return types_pointee(gs->kernel.types, type, pointee);
}

int guestsym_member(const struct guestsym *gs, uint32_t type, const char *name,
		    struct guestsym_member *member)
{
	return types_member_of(gs->kernel.types, type, name, member);
}

int guestsym_type_size(const struct guestsym *gs, const char *name, uint32_t *size)
{
	return types_size(gs->kernel.types, name, size);
}

int guestsym_enumerator(const struct guestsym *gs, const char *name, int64_t *value)
{
	int64_t found = INT64_MIN; /* no enumerator is: they have 32 bits */
	const struct types_enumerator wanted = {name, &found};
	int err = types_enumerators(gs->kernel.types, &wanted, 1);

	if (err || found == INT64_MIN)
		return err ? err : -ENOENT;
	*value = found;
	return 0;
}

size_t guestsym_btf_types(const struct guestsym *gs)
{
	return types_count(gs->kernel.types);
}
