// SPDX-License-Identifier: GPL-2.0-or-later
/* dat-buffers.c - the buffers of a file, their vCPUs and the pieces that these are in. */
#include "frontend/dat/local.h"

#include <errno.h>
#include <string.h>

struct dat_buffer *dat_buffer_add(struct dat *d, const char *name, unsigned int nr_vcpus)
{
	struct dat_vcpu *vcpus;
	struct dat_buffer *b;

	if (dat_array_grow(d, (void **)&d->buffers, d->nr_buffers, &d->buffers_room,
			   sizeof(*d->buffers)))
		return NULL;
	vcpus = dat_alloc(d, (uint64_t)nr_vcpus * sizeof(*vcpus));
	if (!vcpus)
		return NULL;
	memset(vcpus, 0, nr_vcpus * sizeof(*vcpus));
	b = &d->buffers[d->nr_buffers++];
	*b = (struct dat_buffer){
		.name = name,
		.page_size = d->info.page_size,
		.vcpus = vcpus,
		.nr_vcpus = nr_vcpus,
	};
	return b;
}

struct dat_vcpu *dat_buffer_vcpu(const struct dat_buffer *b, unsigned int i)
{
	return (struct dat_vcpu *)(uintptr_t)&b->vcpus[i];
}

int dat_vcpu_set(struct dat *d, struct dat_vcpu *v, unsigned int cpu, uint64_t offset,
		 uint64_t stored)
{
	if (cpu >= DAT_CPUS_MAX)
		return dat_fail(d, "it lies: it has records of CPU %u", cpu);
	if (stored && (offset > d->file_size || stored > d->file_size - offset))
		return dat_fail(d,
				"it is cut off, or lies: what it has of CPU %u would end behind it",
				cpu);
	v->cpu = cpu;
	v->offset = offset;
	v->stored = stored;
	return 0;
}

int dat_vcpu_plain(struct dat *d, struct dat_vcpu *v)
{
	struct dat_piece *pieces = NULL;
	size_t room = 0;

	if (!v->stored)
		return 0;
	if (dat_array_grow(d, (void **)&pieces, 0, &room, sizeof(*pieces)))
		return -ENOMEM;
	*pieces = (struct dat_piece){
		.offset = v->offset,
		.stored = v->stored,
		.size = v->stored,
	};
	v->pieces = pieces;
	v->nr_pieces = 1;
	v->size = v->stored;
	return 0;
}

size_t dat_nr_buffers(const struct dat *d)
{
	return d->nr_buffers;
}

const struct dat_buffer *dat_buffer(const struct dat *d, size_t i)
{
	return &d->buffers[i];
}
