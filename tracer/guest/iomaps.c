// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * iomaps.c - walks the kernel's lists of areas in its vmalloc space (mm/vmalloc.c): one list until
 * 6.8, then as many as there are struct vmap_node. Stacks of tasks are among them, so there may be
 * many of which none is wanted.
 */
#include "tracer/guest/iomaps.h"

#include <errno.h>
#include <stdlib.h>

#define AREAS_MAX  (1U << 17) /* the machine stands while they are read */
#define NODES_MAX  1024	      /* twice as many as CPUs, 128 at most */
#define IOMAPS_MAX 4096	      /* drivers of a large machine have some hundreds */
#define PAGE	   UINT64_C(4096)

/* include/linux/vmalloc.h */
#define VM_IOREMAP  UINT64_C(0x1)
#define VM_NO_GUARD UINT64_C(0x40)

struct iomap_layout {
	uint64_t node, vm;		  /* in struct vmap_area */
	uint64_t addr, size, flags, phys; /* in struct vm_struct */
};

static int layout_learn(struct iomap_layout *at, const struct guestsym *gs)
{
	const struct {
		const char *path;
		uint64_t *to;
	} fields[] = {
		{"vmap_area.list", &at->node},	 {"vmap_area.vm", &at->vm},
		{"vm_struct.addr", &at->addr},	 {"vm_struct.size", &at->size},
		{"vm_struct.flags", &at->flags}, {"vm_struct.phys_addr", &at->phys},
	};

	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
		struct guestsym_field f;

		if (guestsym_field(gs, fields[i].path, &f))
			return -ENODATA;
		*fields[i].to = f.offset;
	}
	return 0;
}

static int add(struct iomaps *to, const struct iomap *m)
{
	if (to->n == IOMAPS_MAX)
		return -E2BIG;
	/* A power of two: there is no room left. */
	if (!(to->n & (to->n - 1))) {
		struct iomap *v = realloc(to->v, (to->n ? 2 * to->n : 1) * sizeof(*v));

		if (!v)
			return -ENOMEM;
		to->v = v;
	}
	to->v[to->n++] = *m;
	return 0;
}

/* Behind most of them lies a page that is not mapped. */
static int add_area(struct guest_kernel *g, const struct iomap_layout *at, uint64_t vm,
		    struct iomaps *to)
{
	uint64_t flags, size;
	struct iomap m;

	if (!vm)
		return 0; /* no vm_struct: vm_map_ram() */
	if (guest_read(g, vm + at->flags, &flags, sizeof(flags)))
		return -EFAULT;
	if (!(flags & VM_IOREMAP))
		return 0;
	if (guest_read(g, vm + at->addr, &m.virt, sizeof(m.virt)) ||
	    guest_read(g, vm + at->size, &size, sizeof(size)) ||
	    guest_read(g, vm + at->phys, &m.phys, sizeof(m.phys)))
		return -EFAULT;
	m.len = size >= PAGE && !(flags & VM_NO_GUARD) ? size - PAGE : size;
	/* It has been allocated just now, and where it goes is not known yet. */
	return m.phys && m.len ? add(to, &m) : 0;
}

static int walk(struct guest_kernel *g, const struct iomap_layout *at, uint64_t head,
		unsigned int *left, struct iomaps *to)
{
	uint64_t node, vm;
	int ret = guest_read(g, head, &node, sizeof(node)) ? -EFAULT : 0;

	for (; !ret && node != head; --*left) {
		if (!*left)
			return -E2BIG;
		if (guest_read(g, node - at->node + at->vm, &vm, sizeof(vm)))
			return -EFAULT;
		ret = add_area(g, at, vm, to);
		if (!ret && guest_read(g, node, &node, sizeof(node)))
			ret = -EFAULT;
	}
	return ret;
}

/* Since 6.9 (mm: vmalloc: Remove global vmap_area_root rb-tree). */
static int walk_nodes(struct guest_kernel *g, const struct guestsym *gs,
		      const struct iomap_layout *at, struct iomaps *to)
{
	uint64_t pointer = guestsym_addr(gs, "vmap_nodes"), nodes;
	uint32_t size, nr = guest_image_u32(g, guestsym_addr(gs, "nr_vmap_nodes"), 0);
	unsigned int left = AREAS_MAX;
	struct guestsym_field head;
	int ret = 0;

	if (!pointer || guestsym_field(gs, "vmap_node.busy.head", &head) ||
	    guestsym_type_size(gs, "vmap_node", &size))
		return -ENODATA;
	if (!nr || nr > NODES_MAX || guest_read(g, pointer + g->slide, &nodes, sizeof(nodes)))
		return -EFAULT;
	for (uint32_t i = 0; i < nr && !ret; i++)
		ret = walk(g, at, nodes + (uint64_t)i * size + head.offset, &left, to);
	return ret;
}

int iomaps_read(struct guest_kernel *g, const struct guestsym *gs, struct iomaps *to)
{
	uint64_t list = guestsym_addr(gs, "vmap_area_list");
	unsigned int left = AREAS_MAX;
	struct iomap_layout at;
	int ret = layout_learn(&at, gs);

	if (ret)
		return ret;
	*to = (struct iomaps){0};
	ret = list ? walk(g, &at, list + g->slide, &left, to) : walk_nodes(g, gs, &at, to);
	if (ret)
		iomaps_free(to);
	return ret;
}

void iomaps_free(struct iomaps *m)
{
	free(m->v);
	*m = (struct iomaps){0};
}
