/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * mmio-lines.h - accesses to devices as QEMU's log tells them, a line each: its trace events
 * memory_region_ops_read and memory_region_ops_write (softmmu/trace-events of 7.2, system/ since
 * 8.2), written by its backend "log" (scripts/tracetool/backend/log.py).
 *
 * Who writes may be hostile: no number, length or line end is believed.
 */
#ifndef HVTRACE_VMM_QEMU_MMIO_LINES_H
#define HVTRACE_VMM_QEMU_MMIO_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MMIO_LINE_MAX 512 /* one that is longer is none; a region's name is the end of it */

struct mmio_line {
	uint32_t cpu; /* as QEMU counts them */
	bool is_write;
	uint8_t size; /* 1, 2, 4 or 8 */
	uint64_t addr;
	uint64_t value; /* beyond `size` it is 0 */
	uint64_t ns;	/* of CLOCK_REALTIME, where QEMU has -msg timestamp=on; else 0 */
};

/*
 * A line without its end. False: it is another one, or of a thread that is no vCPU's (the gdb stub,
 * the monitor, a device's own).
 */
bool mmio_line_parse(const char *text, size_t len, struct mmio_line *line);

/* What has come of a line so far; begins zeroed. */
struct mmio_lines {
	size_t len;
	bool too_long; /* up to its end */
	char part[MMIO_LINE_MAX];
};

/* What has come next, in whatever pieces: called for each line that tells of an access. */
void mmio_lines_feed(struct mmio_lines *l, const char *bytes, size_t len,
		     void (*access)(void *arg, const struct mmio_line *line), void *arg);

#endif
