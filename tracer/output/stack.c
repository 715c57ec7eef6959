// SPDX-License-Identifier: GPL-2.0-or-later
/* stack.c - prints stacks of the kernel and of processes (trace_output.c, 6.1). */
#include "tracer/output/internal.h"

#include <inttypes.h>

static void stack_trace(struct output *o, const struct ring_event *ev)
{
	const struct trace_stack_entry *e = ev->data;
	size_t nr = (ev->len - sizeof(*e)) / sizeof(e->caller[0]);

	text_puts(o->text, "<stack trace>\n");
	for (size_t i = 0; i < nr && e->caller[i] != UINT64_MAX; i++) {
		text_puts(o->text, " => ");
		output_address(o, e->caller[i]);
		text_putc(o->text, '\n');
	}
}

const struct entry_ops stack_entry_ops = {
	.len = sizeof(struct trace_stack_entry),
	.trace = stack_trace,
};

/* seq_print_user_ip() */
static void user_address(struct output *o, uint32_t tgid, uint64_t ip)
{
	char file[OUTPUT_FILE_MAX];
	uint64_t start = 0;
	bool found = output_option(o, OUTPUT_SYM_USEROBJ) && o->cfg.user_object &&
		     o->cfg.user_object(o->cfg.arg, tgid, ip, file, &start);

	if (found)
		text_printf(o->text, "%s[+0x%" PRIx64 "]", file, ip - start);
	if (!found || output_option(o, OUTPUT_SYM_ADDR))
		text_printf(o->text, " <%016" PRIx64 ">", ip);
}

static void user_stack_trace(struct output *o, const struct ring_event *ev)
{
	const struct trace_user_stack_entry *e = ev->data;

	text_puts(o->text, "<user stack trace>\n");
	for (size_t i = 0; i < TRACE_USER_STACK_NR && e->caller[i]; i++) {
		text_puts(o->text, " => ");
		user_address(o, e->tgid, e->caller[i]);
		text_putc(o->text, '\n');
	}
}

const struct entry_ops user_stack_entry_ops = {
	.len = sizeof(struct trace_user_stack_entry),
	.trace = user_stack_trace,
};
