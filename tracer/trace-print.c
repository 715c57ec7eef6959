// SPDX-License-Identifier: GPL-2.0-or-later
/* trace-print.c - a trace as text: what the kernel's `trace` file would read. */
#include "tracer/instance.h"

#include <errno.h>

int trace_print(struct trace *t, FILE *out)
{
	struct instance_reader *r = instance_read_open(trace_top(t), ALL_VCPUS, false);
	char buf[1 << 14];
	off_t off = 0;
	ssize_t n;

	if (!r)
		return -ENOMEM;
	while ((n = instance_read(r, buf, sizeof(buf), off)) > 0) {
		off += n;
		if (fwrite(buf, 1, (size_t)n, out) != (size_t)n) {
			n = errno ? -errno : -EIO;
			break;
		}
	}
	instance_read_close(r);
	return (int)n;
}
