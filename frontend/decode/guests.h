/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * guests.h - which of several files is that of the guest whose vCPU a thread of a host's file runs:
 * libtraceevent's plugin for KVM asks for the names of addresses in it.
 */
#ifndef HVTRACE_FRONTEND_DECODE_GUESTS_H
#define HVTRACE_FRONTEND_DECODE_GUESTS_H

#include <stdint.h>

#include "frontend/decode/several.h"

#define GUESTS_VCPUS 1024 /* those beyond are not told */

struct guests {
	struct guests_vcpu {
		const struct tep_handle *host;
		int32_t tid;
		struct tep_handle *guest;
	} vcpu[GUESTS_VCPUS];
	size_t nr;
};

/* Until guests_end() this thread's events are printed so; g and the files stay. */
void guests_begin(struct guests *g, const struct several_file *files, size_t nr);
void guests_end(void);

#endif
