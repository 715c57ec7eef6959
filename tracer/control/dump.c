// SPDX-License-Identifier: GPL-2.0-or-later
/* dump.c - what the filter commands dump and cpudump do. */
#include "tracer/control/internal.h"
#include "tracer/instance/files.h"
#include "tracer/instance/instance.h"

#include <string.h>

/* Line by line, as ftrace_dump() (kernel/trace/trace.c, 6.1) has them on the console. */
static void dump_text(struct trace *t, struct text *text)
{
	const char *at = text->buf, *end = text->buf + text->len;

	while (at < end) {
		const char *stop = memchr(at, '\n', (size_t)(end - at));

		stop = stop ? stop : end;
		trace_tell(t, at, (size_t)(stop - at));
		at = stop + 1;
	}
}

void instance_dump(void *arg, const struct func_hit *hit, bool all_cpus)
{
	static const char heading[] = "Dumping ftrace buffer:";
	struct instance *i = arg;
	struct instance_reader *r =
		instance_read_open(i, all_cpus ? ALL_VCPUS : (int)hit->vcpu, false);
	struct text text = {0};
	char buf[4096];
	ssize_t n;

	if (!r)
		return;
	while ((n = instance_read(r, buf, sizeof(buf), (off_t)text.len)) > 0)
		text_add(&text, buf, (size_t)n);
	instance_read_close(r);
	trace_tell(i->t, heading, strlen(heading));
	dump_text(i->t, &text);
	text_free(&text);
}
