// SPDX-License-Identifier: GPL-2.0-or-later
/* missing.c - see missing.h */
#include "frontend/cmd/missing.h"

#include <stdio.h>
#include <string.h>

#include "frontend/control/client.h"

/* The functions that the trace under way could record. */
static bool read_functions(const struct report_options *opt, struct text *list)
{
	struct control_client *c = connect_to_trace(opt->guest, -1);
	int rc = c ? control_read_all(c, "available_filter_functions", list) : -1;

	if (c)
		control_client_free(c);
	return !rc;
}

/* A module's name stands behind that of its function. */
static bool is_traceable(char *list, const char *function, struct nearest *near)
{
	for (char *line; (line = strsep(&list, "\n"));) {
		line[strcspn(line, " ")] = '\0';
		if (glob_pattern_match(function, line))
			return true;
		nearest_try(near, line);
	}
	return false;
}

static void try_names(const struct calltree *t, struct nearest *near)
{
	for (uint32_t i = 0; i < t->nr_names; i++)
		nearest_try(near, t->name[i]);
}

void missing_say(const struct report_options *opt, const struct calltree *t, const char *function)
{
	struct text list = {0};
	char hint[NEAREST_LEN * 2];
	struct nearest near;
	bool listed;

	nearest_begin(&near, function);
	try_names(t, &near);
	listed = !opt->file && read_functions(opt, &list);
	if (listed && !is_traceable(list.buf, function, &near)) {
		fprintf(stderr, "hvtrace: the kernel has no traceable function %s%s\n", function,
			nearest_hint(&near, "", hint, sizeof(hint)));
	} else {
		/* Nothing else is meant by what there is. */
		if (listed)
			nearest_begin(&near, "");
		fprintf(stderr,
			"hvtrace: no call of %s is in the trace: none was made, or it was not among "
			"the functions that were traced%s\n",
			function, nearest_hint(&near, "", hint, sizeof(hint)));
	}
	text_free(&list);
}
