// SPDX-License-Identifier: GPL-2.0-or-later
/* take.c - the records of an instance themselves, consumed in the order of their times. */
#include "tracer/instance/files.h"
#include "tracer/instance/instance.h"
#include "tracer/ring/merge.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct instance_taker {
	struct instance *i;
	struct ring *open[MACHINE_MAX_VCPUS]; /* what is merged */
	struct merge *merge;
};

struct instance_taker *instance_take_open(struct instance *i)
{
	struct instance_taker *r = calloc(1, sizeof(*r));

	if (!r)
		return NULL;
	r->i = i;
	rings_now(i->ring, r->open);
	r->merge = merge_new(r->open, i->t->vcpus, true);
	if (!r->merge) {
		free(r);
		return NULL;
	}
	merge_extend(r->merge, instance_horizon(i));
	return r;
}

void instance_take_close(struct instance_taker *r)
{
	if (r)
		merge_free(r->merge);
	free(r);
}

/* Go on with the buffers that are written now, up to what all vCPUs have. 0 or -ENOMEM. */
static int follow(struct instance_taker *r)
{
	struct ring *rings[MACHINE_MAX_VCPUS];
	struct merge *m;

	rings_now(r->i->ring, rings);
	if (memcmp(r->open, rings, sizeof(rings)) != 0) {
		m = merge_new(rings, r->i->t->vcpus, true);
		if (!m)
			return -ENOMEM;
		merge_free(r->merge);
		r->merge = m;
		memcpy(r->open, rings, sizeof(rings));
	}
	merge_extend(r->merge, instance_horizon(r->i));
	return 0;
}

int instance_take(struct instance_taker *r, struct ring_event *ev, unsigned int *vcpu)
{
	int ret;

	if (merge_next(r->merge, ev, vcpu))
		return 1;
	ret = follow(r);
	return ret ? ret : merge_next(r->merge, ev, vcpu);
}
