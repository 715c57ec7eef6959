// SPDX-License-Identifier: GPL-2.0-or-later
/* guests.c - see guests.h */
#include "frontend/decode/guests.h"

#include <string.h>

/* The plugin calls a function by its name, and hands nothing of ours to it. */
static _Thread_local const struct guests *now;

/* --- whose a thread is -------------------------------------------------------------------------
 */

static void add_guest(struct guests *g, const struct several_file *host, const struct dat_guest *o,
		      const struct several_file *guest)
{
	for (uint32_t i = 0; i < o->nr && g->nr < GUESTS_VCPUS; i++) {
		struct guests_vcpu *v = &g->vcpu[g->nr++];
		uint32_t ignored;

		v->host = formats_tep(host->formats);
		v->guest = formats_tep(guest->formats);
		dat_guest_vcpu(o, i, &ignored, &v->tid);
	}
}

void guests_begin(struct guests *g, const struct several_file *files, size_t nr)
{
	struct dat_guest o;

	g->nr = 0;
	for (size_t host = 0; host < nr; host++)
		for (size_t n = 0; dat_guest(files[host].dat, n, &o); n++)
			for (size_t guest = 0; guest < nr; guest++)
				if (dat_guest_is(&o, files[guest].dat))
					add_guest(g, &files[host], &o, &files[guest]);
	now = g;
}

void guests_end(void)
{
	now = NULL;
}

/* --- for the plugin ----------------------------------------------------------------------------
 */

/* A function by this name in the program goes before libtraceevent's own. */
__attribute__((visibility("default"))) const char *
tep_plugin_kvm_get_func(struct tep_event *event, struct tep_record *record,
			unsigned long long *addr)
{
	int32_t tid = tep_data_pid(event->tep, record);
	struct tep_handle *tep = event->tep;
	const char *name;

	for (size_t i = 0; now && i < now->nr; i++)
		if (now->vcpu[i].host == event->tep && now->vcpu[i].tid == tid)
			tep = now->vcpu[i].guest;
	name = tep_find_function(tep, *addr);
	if (name)
		*addr = tep_find_function_address(tep, *addr);
	return name;
}
