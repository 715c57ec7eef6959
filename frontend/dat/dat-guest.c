// SPDX-License-Identifier: GPL-2.0-or-later
/* dat-guest.c - the option GUEST of a host's file: whose vCPUs its threads run. */
#include "frontend/dat/dat.h"

#include <string.h>

#define GUESTS_MAX 64 /* that are told */
#define ROW	   8  /* bytes of a vCPU in the option */

/* Its name, the id of its trace, how many vCPUs; and of each its number and its thread. */
bool dat_guest(const struct dat *d, size_t nth, struct dat_guest *o)
{
	struct dat_text option;
	size_t at, room;

	if (nth >= GUESTS_MAX || !dat_option(d, DAT_OPTION_GUEST, nth, &option))
		return false;
	at = strnlen(option.text, option.len) + 1;
	if (option.len < at + sizeof(o->trace_id) + sizeof(o->nr))
		return false;
	o->name = option.text;
	memcpy(&o->trace_id, option.text + at, sizeof(o->trace_id));
	at += sizeof(o->trace_id);
	memcpy(&o->nr, option.text + at, sizeof(o->nr));
	at += sizeof(o->nr);
	o->rows = (const uint8_t *)option.text + at;
	room = (option.len - at) / ROW;
	if (o->nr > room)
		o->nr = (uint32_t)room;
	return true;
}

void dat_guest_vcpu(const struct dat_guest *o, uint32_t i, uint32_t *vcpu, int32_t *tid)
{
	memcpy(vcpu, o->rows + i * (size_t)ROW, sizeof(*vcpu));
	memcpy(tid, o->rows + i * (size_t)ROW + sizeof(*vcpu), sizeof(*tid));
}

bool dat_guest_is(const struct dat_guest *o, const struct dat *d)
{
	const struct dat_info *info = dat_info(d);

	return info->has_trace_id && info->trace_id == o->trace_id;
}
