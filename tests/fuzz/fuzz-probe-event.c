// SPDX-License-Identifier: GPL-2.0-or-later
/* fuzz-probe-event.c - whatever is written to kprobe_events. */
#include <stdlib.h>

#include "../unit/made-probes.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A kernel that knows all that any does. */
static const struct probe_dentries dentries = {.name = 0x28, .dentry = 0x98};
static const struct probe_symbols symbols = {
	.count = made_count, .entry = made_entry, .dentries = &dentries, .has_char = true};

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
		if (probe_def_parse(&again, &symbols, &copy, &err) ||
		    probe_def_differs(def, copy) || !probe_def_same(def, copy))
			abort();
		probe_def_free(copy);
		again.v[0][0] = '-';
		if (!probe_removal_parse(&again, &removal) && !probe_removal_takes(&removal, def))
			abort();
		probe_words_free(&again);
	}
	text_free(&line);
	if (!probe_event_make(&made, def, 1000))
		probe_event_unmake(&made);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *line = strndup((const char *)data, size), *command;
	struct probe_removal removal;
	struct probe_words words;
	struct probe_error err;
	struct probe_def *def;
	uint16_t pos = 0;

	if (!line || probe_words_split(&words, line))
		goto out;
	if (words.n && !probe_removal_parse(&words, &removal) && !removal.event)
		abort();
	if (!probe_def_parse(&words, &symbols, &def, &err)) {
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
