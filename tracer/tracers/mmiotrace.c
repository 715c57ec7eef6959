// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * mmiotrace.c - the tracer mmiotrace: which memory of devices the guest's kernel maps, and each
 * access to it.
 *
 * The kernel's own takes the pages of what is mapped away and steps through each fault, on one CPU
 * alone. Here each access exits anyway, for nothing is behind these addresses but a device, so the
 * guest and its other CPUs go on as they are, and accesses are known with their times and values.
 *
 * What is mapped is seen where __ioremap_caller() (arch/x86/mm/ioremap.c) maps pages and then, when
 * all is done, looks at what it was asked for; by traps, for both are rare. What was mapped before
 * is on the kernel's own list.
 */
#include "tracer/core/symbol.h"
#include "tracer/guest/iomaps.h"
#include "tracer/instance/entry.h"
#include "tracer/instance/files.h"
#include "tracer/ring/entry.h"
#include "tracer/tracers/mmio-regions.h"
#include "tracer/tracers/tracers.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { CALL_MAP_PAGES, CALL_MAPPED, CALL_UNMAP };

/* In this order; the arguments are (virt, end, phys, prot), (phys, len), (virt). */
static const char *const calls[] = {
	"ioremap_page_range",
	"iomem_map_sanity_check",
	"iounmap",
	NULL,
};

struct mmiotrace {
	struct mmio_regions regions;
	bool looked; /* for what was mapped before */
};

/* --- entries ---------------------------------------------------------------------------------- */

/* Whatever the task, as in the kernel. */
static void take(struct instance *i, const struct machine_hit *hit, struct trace_entry *entry,
		 size_t len)
{
	struct entry e;

	if (!(i->cpumask >> hit->vcpu & 1))
		return;
	instance_describe_any(i, hit, entry->type, entry, &e);
	e.data = entry;
	e.len = len;
	e.uses = ENTRY_COUNTED;
	instance_take_entry(i, hit->vcpu, &e);
}

static void tell_map(struct instance *i, const struct machine_hit *hit,
		     const struct mmio_region *region)
{
	struct trace_mmio_map_entry map = {
		.ent.type = TRACE_MMIO_MAP,
		.phys = region->phys,
		.virt = region->virt,
		.len = region->len,
		.map_id = region->id,
		.opcode = MMIO_MAP,
	};

	take(i, hit, &map.ent, sizeof(map));
}

static void tell_unmap(struct instance *i, const struct machine_hit *hit, uint64_t virt, int32_t id)
{
	struct trace_mmio_map_entry map = {
		.ent.type = TRACE_MMIO_MAP, .virt = virt, .map_id = id, .opcode = MMIO_UNMAP};

	take(i, hit, &map.ent, sizeof(map));
}

/* --- what is mapped --------------------------------------------------------------------------- */

static void mapped(struct instance *i, const struct machine_hit *hit)
{
	struct mmiotrace *m = i->tracer_data;
	uint64_t task = guest_current(&i->t->guest, hit->vcpu);
	struct mmio_region region;

	if (mmio_regions_end(&m->regions, task, hit->regs->rdi, hit->regs->rsi, &region))
		tell_map(i, hit, &region);
	else if (mmio_regions_are_full(&m->regions))
		trace_note(i->t,
			   "mmiotrace: the guest has mapped more than %d regions: accesses to "
			   "others are not recorded",
			   MMIO_REGIONS_MAX);
}

/* Of what lies in the direct map iounmap() takes no notice. */
static bool is_direct(struct trace *t, uint64_t virt)
{
	uint64_t symbol = guestsym_addr(t->gs, "high_memory"), high;

	return symbol && !guest_read(&t->guest, symbol + t->guest.slide, &high, sizeof(high)) &&
	       virt <= high;
}

static void unmap(struct instance *i, const struct machine_hit *hit)
{
	struct mmiotrace *m = i->tracer_data;
	uint64_t virt = hit->regs->rdi;

	if (!is_direct(i->t, virt))
		tell_unmap(i, hit, virt, mmio_regions_remove(&m->regions, virt));
}

static void mmiotrace_call(struct instance *i, unsigned int which, const struct machine_hit *hit)
{
	struct mmiotrace *m = i->tracer_data;

	if (which == CALL_MAP_PAGES)
		mmio_regions_begin(&m->regions, guest_current(&i->t->guest, hit->vcpu),
				   hit->regs->rdx, hit->regs->rdi);
	else if (which == CALL_MAPPED)
		mapped(i, hit);
	else
		unmap(i, hit);
}

/* --- accesses --------------------------------------------------------------------------------- */

static void mmiotrace_mmio(struct instance *i, const struct machine_mmio *access)
{
	struct mmiotrace *m = i->tracer_data;
	const struct machine_hit hit = {
		.vcpu = access->vcpu,
		.tsc = access->tsc,
		.regs = access->regs,
	};
	struct trace_mmio_rw_entry rw = {
		.ent.type = TRACE_MMIO_RW,
		.phys = access->pa,
		.value = access->value,
		.map_id = mmio_regions_find(&m->regions, access->pa),
		.opcode = access->is_write ? MMIO_WRITE : MMIO_READ,
		.width = access->size,
	};

	if (rw.map_id)
		take(i, &hit, &rw.ent, sizeof(rw));
}

/* --- being the tracer ------------------------------------------------------------------------- */

/* A kernel that has not come so far has mapped nothing. */
static void look_around(struct instance *i, struct mmiotrace *m)
{
	struct iomaps maps;
	int ret = iomaps_read(&i->t->guest, i->t->gs, &maps);

	if ((ret == -ENODATA && atomic_load(&i->t->booted)) || ret == -E2BIG)
		trace_note(i->t, "mmiotrace: which regions the guest has mapped so far cannot be "
				 "told: accesses to them are not recorded");
	if (ret)
		return;
	for (size_t k = 0; k < maps.n; k++)
		mmio_regions_add(&m->regions, maps.v[k].phys, maps.v[k].virt, maps.v[k].len);
	iomaps_free(&maps);
}

/* Of no vCPU's making; it stands at the beginning of the trace of the first one. */
static void tell_earlier(void *arg, const struct mmio_region *region)
{
	struct instance *i = arg;
	struct trace_mmio_map_entry *e =
		instance_room(i, 0, instance_time_now(i, 0, NULL), sizeof(*e));

	if (!e)
		return;
	*e = (struct trace_mmio_map_entry){
		.ent.type = TRACE_MMIO_MAP,
		.phys = region->phys,
		.virt = region->virt,
		.len = region->len,
		.map_id = region->id,
		.opcode = MMIO_MAP,
	};
	ring_commit(i->ring[0]);
}

/* The machine stands the first time, and nothing is missed between this and the first call. */
static void mmiotrace_start(struct instance *i)
{
	struct mmiotrace *m = i->tracer_data;

	if (!m->looked)
		look_around(i, m);
	m->looked = true;
	mmio_regions_tell(&m->regions, tell_earlier, i);
}

static int mmiotrace_init(struct instance *i, void **data, const uint32_t *events)
{
	struct mmiotrace *m = calloc(1, sizeof(*m));

	(void)i, (void)events;
	if (!m)
		return -ENOMEM;
	mmio_regions_init(&m->regions);
	*data = m;
	return 0;
}

static void mmiotrace_exit(void *data)
{
	struct mmiotrace *m = data;

	mmio_regions_exit(&m->regions);
	free(m);
}

const struct tracer_ops mmiotrace_tracer_ops = {
	.name = "mmiotrace",
	.desc = "accesses to memory of devices, and what is mapped of it",
	.top = true,
	.needs = "iomem_map_sanity_check",
	.calls = calls,
	.init = mmiotrace_init,
	.exit = mmiotrace_exit,
	.start = mmiotrace_start,
	.call = mmiotrace_call,
	.mmio = mmiotrace_mmio,
};
