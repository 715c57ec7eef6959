// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * fuzz-probe-event.c - whatever is written to kprobe_events and uprobe_events, and to
 * dynamic_events.
 */
#include <stdlib.h>

#include "../unit/made-events.h"
#include "../unit/made-probes.h"
#include "tracer/events/define/synth.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct guestsym_event *find_switch(void *arg, const char *system, const char *event)
{
	(void)arg;
	return !strcmp(system, "sched") && !strcmp(event, "sched_switch") ? &made_switch : NULL;
}

/* Filters have a target of their own. */
static int take_filter(void *arg, const struct guestsym_event *event, const char *text)
{
	(void)arg;
	(void)event;
	return *text == '(' ? -EINVAL : 0;
}

static const struct probe_attach attach = {
	.find = find_switch, .check_filter = take_filter, .has_char = true};

/* As a line of dynamic_events, whose kinds are asked one after the other. */
static int parse(const struct probe_words *words, struct probe_def **def, struct probe_error *err)
{
	int ret = event_probe_def_parse(words, &attach, def, err);

	if (ret == -ECANCELED)
		ret = fprobe_def_parse(words, &made_named, def, err);
	if (ret == -ECANCELED)
		ret = probe_def_parse(words, &made_named, def, err);
	return ret == -ECANCELED ? uprobe_def_parse(words, &made_named, def, err) : ret;
}

/*
 * What was understood is understood again when it is read back, unless it was given a name that
 * cannot be written: made of the symbol's.
 */
static void look(const struct probe_def *def)
{
	struct probe_removal removal;
	struct probe_event_made made;
	struct probe_words again;
	struct text line = {0};
	struct probe_error err;
	struct probe_def *copy;

	probe_def_print(def, 10, &line);
	text_putc(&line, '\0');
	if (probe_name_is_good(def->event, false) && !line.failed &&
	    !probe_words_split(&again, line.buf)) {
		if (parse(&again, &copy, &err) || probe_def_differs(def, copy) ||
		    !probe_def_same(def, copy))
			abort();
		probe_def_free(copy);
		again.v[0][0] = '-';
		/* Its place is the function's name there; a path may have any letters. */
		if (def->kind != PROBE_UPROBE)
			again.v[1][strcspn(again.v[1], "%")] = '\0';
		if (!probe_removal_parse(&again, &removal) && !probe_removal_takes(&removal, def))
			abort();
		probe_words_free(&again);
	}
	text_free(&line);
	if (!probe_event_make(&made, def, 1000))
		probe_event_unmake(&made);
}

/* A synthetic event's line is read back, too. */
static void define_synthetic(const char *line)
{
	struct synth_command command, again;
	struct probe_event_made made;
	struct text read = {0};
	struct synth_error err;

	if (synth_definition_parse(NULL, line, &command, &err) || !command.event)
		return;
	text_puts(&read, SYNTH_PREFIX);
	synth_event_print(command.event, &read);
	text_putc(&read, '\0');
	if (!read.failed && synth_definition_parse(NULL, read.buf, &again, &err))
		abort();
	if (!read.failed)
		synth_event_free(again.event);
	if (!synth_event_make(&made, command.event))
		probe_event_unmake(&made);
	text_free(&read);
	synth_event_free(command.event);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *line = strndup((const char *)data, size), *command;
	struct probe_removal removal;
	struct probe_words words;
	struct probe_error err;
	struct probe_def *def;
	uint16_t pos = 0;

	if (line)
		define_synthetic(line);
	if (!line || probe_words_split(&words, line))
		goto out;
	if (words.n && !probe_removal_parse(&words, &removal) && !removal.event)
		abort();
	if (!parse(&words, &def, &err)) {
		look(def);
		probe_def_free(def);
	} else if (err.what) {
		command = probe_error_command(&words, &err, &pos);
		if (command && pos > strlen(command) + 1)
			abort();
		free(command);
	}
	probe_words_free(&words);
out:
	free(line);
	return 0;
}
