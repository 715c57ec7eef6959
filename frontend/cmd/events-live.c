// SPDX-License-Identifier: GPL-2.0-or-later
/* events-live.c - see events-live.h */
#include "frontend/cmd/events-live.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "frontend/control/client.h"
#include "frontend/lib/json.h"

/* --- what there is ------------------------------------------------------------------------ */

static int see(struct control_client *c, const struct events_live *how,
	       const struct guestsym_event *ev)
{
	struct text format = {0};
	char path[512];
	int rc = 0;

	snprintf(path, sizeof(path), "events/%s/%s/format", ev->system, ev->name);
	if (how->formats)
		rc = control_read_all(c, path, &format);
	if (!rc)
		how->see(how->arg, ev, format.buf);
	text_free(&format);
	return rc;
}

/* "sched:sched_switch" */
static int see_line(struct control_client *c, const struct events_live *how, char *line)
{
	char *colon = strchr(line, ':');
	struct guestsym_event ev = {.system = line, .source = GUESTSYM_EVENT_PROBE};

	if (!colon)
		return 0;
	*colon = '\0';
	ev.name = colon + 1;
	if (!strcmp(ev.system, "syscalls"))
		ev.source = GUESTSYM_EVENT_SYSCALL;
	return how->wants(how->arg, &ev) ? see(c, how, &ev) : 0;
}

int events_live_each(struct control_client *c, const struct events_live *how)
{
	struct text names = {0};
	int rc = control_read_all(c, "available_events", &names);

	for (char *rest = rc ? NULL : names.buf, *line; !rc && (line = strsep(&rest, "\n"));)
		rc = see_line(c, how, line);
	text_free(&names);
	return rc;
}

int events_live_functions(struct control_client *c, struct traceable *to)
{
	struct text names = {0};
	int rc = control_read_all(c, "available_filter_functions", &names);

	*to = (struct traceable){.text = names.buf};
	for (char *rest = rc ? NULL : names.buf, *line; (line = strsep(&rest, "\n"));) {
		size_t len = strcspn(line, " "); /* a module's name may follow */

		if (!len)
			continue;
		memmove(to->text + to->len, line, len);
		to->len += len;
		to->text[to->len++] = '\0';
		to->nr++;
	}
	if (rc)
		traceable_free(to);
	return rc;
}

/* --- formats ------------------------------------------------------------------------------ */

static uint64_t number_behind(const char *line, const char *word)
{
	const char *at = strstr(line, word);

	return at ? strtoull(at + strlen(word), NULL, 10) : 0;
}

/* "	field:char prev_comm[16];	offset:8;	size:16;	signed:1;" */
static void put_field(struct json *j, char *line)
{
	char *declaration = line + strlen("\tfield:"), type[256];
	char *end = strchr(declaration, ';'), *space, *bracket;

	if (!end)
		return;
	*end = '\0';
	space = strrchr(declaration, ' ');
	if (!space || !strncmp(space + 1, "common_", strlen("common_")))
		return;
	*space = '\0';
	bracket = strchr(space + 1, '[');
	snprintf(type, sizeof(type), "%s%s", declaration, bracket ? bracket : "");
	if (bracket)
		*bracket = '\0';
	json_begin_object(j, NULL);
	json_put_text(j, "name", space + 1);
	json_put_text(j, "type", type);
	json_put_number(j, "offset", number_behind(end + 1, "offset:"));
	json_put_number(j, "size", number_behind(end + 1, "size:"));
	json_put_bool(j, "signed", number_behind(end + 1, "signed:"));
	json_end_object(j);
}

void events_live_put_format(struct json *j, const char *format, bool fields)
{
	char *copy = strdup(format), *print_fmt = NULL;

	json_put_number(j, "id", number_behind(format, "\nID: "));
	if (!fields || !copy) {
		free(copy);
		return;
	}
	json_begin_array(j, "fields");
	for (char *rest = copy, *line; (line = strsep(&rest, "\n"));) {
		if (!strncmp(line, "\tfield:", strlen("\tfield:")))
			put_field(j, line);
		else if (!strncmp(line, "print fmt: ", strlen("print fmt: ")))
			print_fmt = line + strlen("print fmt: ");
	}
	json_end_array(j);
	json_put_text(j, "print_fmt", print_fmt);
	free(copy);
}
