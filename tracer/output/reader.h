/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * reader.h - an open trace or trace_pipe file: the text of the rings, read in pieces.
 *
 * Any number of readers may be open while the rings are written; each is used by one thread at a
 * time.
 */
#ifndef HVTRACE_TRACER_OUTPUT_READER_H
#define HVTRACE_TRACER_OUTPUT_READER_H

#include <sys/types.h>

#include "tracer/output/output.h"
#include "tracer/ring/merge.h"

#define READER_ALL_CPUS (-1)

struct reader;

/*
 * Rings are one per CPU, all of the trace's: NULL ones are left out. With a cpu, as per_cpu/cpuN,
 * only its events are read; the header counts all.
 *
 * Without `consume` it is a trace file: a header, then what is in the rings when the first byte is
 * read. With it it is a trace_pipe: no header, and what is read is gone from the rings.
 *
 * The rings and what the configuration points to outlive the reader; the configuration itself and
 * the array need not. NULL when there is no memory.
 */
struct reader *reader_open(struct ring *const *rings, unsigned int nr, int cpu, bool consume,
			   const struct output_config *cfg);
void reader_close(struct reader *r); /* NULL is allowed */

/*
 * The next up to len bytes of text: how many, or -ENOMEM.
 *
 * trace: always len bytes but at its end. 0 is the end; reading on gives what has been written
 * since.
 * trace_pipe: as many whole lines as fit; of a first one that does not, a part, and the rest in the
 * reads that follow, alone. 0: there is nothing now. Nothing is consumed without being returned,
 * but for the rest of such a line when the reader is closed; of function_graph, which consumes a
 * line to find out what it is, also a whole one.
 */
ssize_t reader_read(struct reader *r, void *buf, size_t len);

/*
 * A trace_pipe leaves events that are later than this in the rings, from the next read on: of those
 * up to it, none is written any more. MERGE_ALL: none is left.
 */
void reader_set_horizon(struct reader *r, uint64_t horizon);

/*
 * A trace_pipe goes on with other rings of the same CPUs, for those that it had are not written any
 * more. 0, or -ENOMEM: it has the old ones.
 */
int reader_switch(struct reader *r, struct ring *const *rings);

/* Start anew at the beginning of a trace file. */
void reader_rewind(struct reader *r);

/* As output_set_options(): for what is printed from now on. */
void reader_set_options(struct reader *r, uint32_t options, uint32_t graph_options,
			uint32_t blk_options);

#endif
