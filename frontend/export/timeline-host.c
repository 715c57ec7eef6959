// SPDX-License-Identifier: GPL-2.0-or-later
/* timeline-host.c - what the host does with vCPUs: exits, and times in which they have no CPU. */
#include <stdlib.h>
#include <string.h>

#include "frontend/export/timeline-local.h"
#include "frontend/report/exits.h"

#define DEEP 2 /* a time without a CPU, within an exit */

static void on_begin(void *arg, unsigned int vcpu, uint64_t time, const char *name)
{
	struct timeline *t = arg;
	struct track *track = &t->vcpus[vcpu];

	(void)time;
	if (track->open < DEEP)
		timeline_begin(t, track, names_text(t->names, name, strlen(name)));
}

static void on_end(void *arg, unsigned int vcpu, uint64_t time)
{
	struct timeline *t = arg;

	(void)time;
	if (t->vcpus[vcpu].open)
		timeline_close(t, &t->vcpus[vcpu], 0);
}

/* Those that run vCPUs of this guest. */
static void find_vcpus(struct timeline *t)
{
	const struct export_input *in = t->x->in;
	struct dat_guest o;

	for (size_t n = 0; dat_guest(in->host.dat, n, &o); n++) {
		for (uint32_t i = 0; i < o.nr && dat_guest_is(&o, in->dat); i++) {
			uint32_t vcpu;
			int32_t tid;

			dat_guest_vcpu(&o, i, &vcpu, &tid);
			if (vcpu < EXITS_VCPUS)
				exits_vcpu(t->exits, vcpu, tid);
		}
	}
}

bool timeline_begin_host(struct timeline *t)
{
	static const struct exits_ops ops = {on_begin, on_end};

	t->exits = exits_new(t->x->in->host.formats, &ops, t);
	t->vcpus = calloc(EXITS_VCPUS, sizeof(*t->vcpus));
	if (!t->exits || !t->vcpus)
		return false;
	for (unsigned int i = 0; i < EXITS_VCPUS; i++)
		t->vcpus[i] = (struct track){
			.kind = TRACK_HOST, .id = (uint64_t)i * 8 + TRACK_HOST, .cpu = i};
	find_vcpus(t);
	return true;
}

void timeline_host_event(struct timeline *t, const struct decode_event *ev)
{
	t->now = ev->time;
	if (t->exits)
		exits_event(t->exits, ev);
}

void timeline_end_host(struct timeline *t)
{
	for (unsigned int i = 0; t->exits && i < EXITS_VCPUS; i++)
		while (t->vcpus[i].open) {
			t->x->result.unended++;
			timeline_close(t, &t->vcpus[i], 0);
		}
}

void timeline_free_host(struct timeline *t)
{
	exits_free(t->exits);
	free(t->vcpus);
}
