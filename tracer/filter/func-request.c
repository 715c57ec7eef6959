// SPDX-License-Identifier: GPL-2.0-or-later
/* func-request.c - what FUNCTIONS:COMMAND[:PARAMETER] asks for. */
#include <errno.h>
#include <string.h>

#include "tracer/filter/internal.h"
#include "tracer/lib/word.h"

static const struct func_command *command_find(const char *name)
{
	const struct func_command *c;

	for (unsigned int i = 0; (c = func_command_row(i)); i++)
		if (!strcmp(c->name, name))
			return c;
	return NULL;
}

/* The count, from what is left of the parameter. */
static int request_count(struct func_request *r, char *param)
{
	char *number = strsep(&param, ":");
	uint64_t value;
	int err;

	r->left = r->command->counts == FUNC_COUNT_ONCE ? 1 : -1;
	if (!r->counted || r->command->counts == FUNC_COUNT_ONCE)
		return 0;
	if (!*number)
		return r->command->counts == FUNC_COUNT_SHARED ? -EINVAL : 0;
	err = word_number(number, &value);
	if (!err)
		r->left = (int64_t)value;
	return err;
}

static int request_set(struct func_filter *f, const struct func_request *r, char *func)
{
	struct func_set *set = func_set_new(f->funcs);
	int err;

	if (!set)
		return -ENOMEM;
	err = func_set_match(set, func, NULL) ? func_action_add(f, r, set) : -EINVAL;
	func_set_free(set);
	return err;
}

int func_request_write(struct func_filter *f, const struct func_word *w)
{
	struct func_request r = {.command = command_find(w->command)};
	char *param = w->param;
	int err;

	if (!r.command || w->kind != FUNC_FILTER)
		return -EINVAL;
	if (r.command->parse) {
		err = r.command->parse(f->owner, &param, &r.target);
		if (err)
			return err;
	}
	r.counted = r.command->counts == FUNC_COUNT_ONCE ||
		    (r.command->counts != FUNC_COUNT_NONE && param);
	if (w->func[0] == '!')
		return func_action_remove(f, &r, w->func + 1);
	err = request_count(&r, param);
	return err ? err : request_set(f, &r, w->func);
}
