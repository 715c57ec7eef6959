// SPDX-License-Identifier: GPL-2.0-or-later
/* print.c - the commands that print, on another host. */
#include "frontend/remote/near.h"
#include "frontend/remote/remote.h"
#include "frontend/remote/request.h"

static const char *value_of(const char *const *variable)
{
	return variable ? *variable : NULL;
}

static void ask(void *arg, const char *far, struct request *r)
{
	const struct remote_print *p = arg;

	*p->connect = far;
	if (p->output)
		*p->output = NULL;
	/* In the order that outlet.h has. */
	if (value_of(p->file))
		*p->file = request_file(r);
	if (value_of(p->summary))
		*p->summary = request_file(r);
	request_add(r, p->command);
	request_add_options(r, p->rows);
	request_add(r, "--");
	for (int i = 0; i < p->nr_operands; i++)
		request_add(r, p->operands[i]);
}

int remote_print(const struct remote_print *print)
{
	struct remote_print p = *print;
	const char *output = value_of(p.output);
	const struct near_work work = {
		.connect = *p.connect,
		.out = {.output = output ? output : "-",
			.paint = p.paint,
			.file = value_of(p.file),
			.summary = value_of(p.summary),
			.prints = true},
		.ask = ask,
		.arg = &p,
	};

	return near_do(&work);
}
