// SPDX-License-Identifier: GPL-2.0-or-later
/* hwlat.c - prints entries of hwlat (trace_hwlat_* of kernel/trace/trace_output.c, 6.1). */
#include "tracer/output/internal.h"

#include <inttypes.h>

static void hwlat_trace(struct output *o, const struct ring_event *ev)
{
	const struct trace_hwlat_entry *e = ev->data;

	text_printf(o->text,
		    "#%-5u inner/outer(us): %4" PRIu64 "/%-5" PRIu64 " ts:%" PRId64 ".%09" PRId64
		    " count:%" PRId32,
		    e->seqnum, e->duration, e->outer_duration, e->tv_sec, e->tv_nsec,
		    (int32_t)e->count);
	if (e->nmi_count)
		text_printf(o->text, " nmi-total:%" PRIu64 " nmi-count:%u", e->nmi_total_ts,
			    e->nmi_count);
	text_putc(o->text, '\n');
}

static void hwlat_raw(struct output *o, const struct ring_event *ev)
{
	const struct trace_hwlat_entry *e = ev->data;

	text_printf(o->text, "%" PRIu64 " %" PRId64 " %" PRId64 " %09" PRId64 " %u\n", e->duration,
		    (int64_t)e->outer_duration, e->tv_sec, e->tv_nsec, e->seqnum);
}

const struct entry_ops hwlat_entry_ops = {
	.len = sizeof(struct trace_hwlat_entry),
	.trace = hwlat_trace,
	.raw = hwlat_raw,
};
