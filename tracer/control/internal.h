/* SPDX-License-Identifier: GPL-2.0-or-later */
/* internal.h - what an instance is made of, for control/instances.c. */
#ifndef HVTRACE_TRACER_CONTROL_INTERNAL_H
#define HVTRACE_TRACER_CONTROL_INTERNAL_H

#include "tracer/control/instances.h"

/* func_owner.dump, .events */
void instance_dump(void *arg, const struct func_hit *hit, bool all_cpus);
/* Tell what the buffer of that vCPU, or ALL_VCPUS, has, as ftrace_dump() does on the console. */
void instance_print(struct instance *i, int vcpu);
extern const struct func_event_ops instance_event_commands;

/* Of all its events; the locks as at instances_free(). */
void instance_triggers_free(struct instance *i);

#endif
