// SPDX-License-Identifier: GPL-2.0-or-later
/* dump.c - what the filter commands dump and cpudump do, and a kernel that crashes. */
#include "tracer/control/internal.h"
#include "tracer/instance/files.h"
#include "tracer/instance/instance.h"
#include "tracer/lib/message-limit.h"

#include <stdio.h>
#include <string.h>

static void tell(struct trace *t, const char *line)
{
	trace_tell(t, line, strlen(line));
}

static void tell_heading(const struct instance *i)
{
	char line[INSTANCE_NAME_MAX + 40];

	snprintf(line, sizeof(line),
		 *i->name ? "Dumping ftrace instance %s buffer:" : "Dumping ftrace buffer:%s",
		 i->name);
	tell(i->t, line);
}

/* Line by line, as ftrace_dump() (kernel/trace/trace.c, 6.1) has them on the console. */
struct dumped {
	struct trace *t;
	char line[MESSAGE_TEXT]; /* the one that is not complete yet; what is longer is cut off */
	size_t len;
	bool any;
};

static const char rule[] = "---------------------------------";

/* The kernel prints no header. */
static void dump_line(struct dumped *d)
{
	if (*d->line != '#') {
		if (!d->any)
			tell(d->t, rule);
		d->any = true;
		trace_tell(d->t, d->line, d->len);
	}
	d->len = 0;
	*d->line = '\0';
}

static void dump_text(struct dumped *d, const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		if (text[i] == '\n')
			dump_line(d);
		else if (d->len < sizeof(d->line))
			d->line[d->len++] = text[i];
	}
}

static bool is_given_up(const struct trace *t)
{
	return t->cfg.cancelled && t->cfg.cancelled(t->cfg.cancelled_arg);
}

void instance_print(struct instance *i, int vcpu)
{
	struct instance_reader *r = instance_dump_open(i, vcpu);
	struct dumped d = {.t = i->t};
	char buf[4096];
	off_t at = 0;
	ssize_t n;

	if (!r)
		return;
	tell_heading(i);
	while (!is_given_up(i->t) && (n = instance_read(r, buf, sizeof(buf), at)) > 0) {
		dump_text(&d, buf, (size_t)n);
		at += n;
	}
	instance_read_close(r);
	if (d.len)
		dump_line(&d);
	tell(i->t, d.any ? rule : "   (ftrace buffer empty)");
}

void instance_dump(void *arg, const struct func_hit *hit, bool all_cpus)
{
	instance_print(arg, all_cpus ? ALL_VCPUS : (int)hit->vcpu);
}
