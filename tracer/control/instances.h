/* SPDX-License-Identifier: GPL-2.0-or-later */
/* instances.h - all instances of a trace, from its beginning to its end. */
#ifndef HVTRACE_TRACER_CONTROL_INSTANCES_H
#define HVTRACE_TRACER_CONTROL_INSTANCES_H

#include "tracer/control/files.h"
#include "tracer/instance/instance.h"

/* The top level of a trace, with what its configuration asks for. 0, or one line in err. */
int instance_init_top(struct trace *t, char *err, size_t errlen);
void instances_free(struct trace *t);

#endif
