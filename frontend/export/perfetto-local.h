/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * perfetto-local.h - what the files of the format perfetto share: packets, and bundles of ftrace's
 * events. The messages are those of perfetto.proto.
 */
#ifndef HVTRACE_FRONTEND_EXPORT_PERFETTO_LOCAL_H
#define HVTRACE_FRONTEND_EXPORT_PERFETTO_LOCAL_H

#include <stdio.h>

#include "frontend/decode/formats.h"
#include "frontend/export/perfetto.pb-c.h"
#include "tracer/tracer.h"

/* --- perfetto-packet.c ------------------------------------------------------------------------ */

/* A file is one message Trace; its packets stand in it one behind the other. */
void packet_write(const Pf__TracePacket *packet, FILE *out);
/*
 * A packet that is one field, of that number, of bytes that are packed by now; of this machine,
 * where that is not 0.
 */
void packet_write_packed(unsigned int field, const struct text *packed, uint32_t machine,
			 FILE *out);

/* --- perfetto-ftrace.c ------------------------------------------------------------------------ */

/* Events of ftrace, collected for each vCPU of a machine, of which there may be several. */
struct bundles;

/* NULL: no memory. */
struct bundles *bundles_new(struct formats *f, uint32_t machine, FILE *out);
void bundles_free(struct bundles *b); /* NULL is allowed */
/* False: no memory. */
bool bundles_add(struct bundles *b, const struct decode_event *ev);
/* So many are missing there before the next one. False: no memory. */
bool bundles_lost(struct bundles *b, const struct decode_event *ev);
/* Write what there is. */
void bundles_flush(struct bundles *b);

#endif
