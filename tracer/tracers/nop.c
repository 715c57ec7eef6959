// SPDX-License-Identifier: GPL-2.0-or-later
/* nop.c - the tracer that records nothing by itself. */
#include "tracer/core/trace.h"
#include "tracer/tracers/tracers.h"

const struct tracer_ops nop_tracer_ops = {
	.name = "nop",
	.desc = "records nothing; the guest runs without probes",
};
