/* SPDX-License-Identifier: GPL-2.0-or-later */
/* parsed-probe.h - definitions of probes as tests have them parsed. */
#ifndef HVTRACE_TESTS_PARSED_PROBE_H
#define HVTRACE_TESTS_PARSED_PROBE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tests/unit/made-probes.h"

typedef int probe_parse_fn(const struct probe_words *words, const struct probe_symbols *symbols,
			   struct probe_def **def, struct probe_error *err);

/* Of an error `pos` is where it is in the command that error_log has. */
static int parse_with(probe_parse_fn *fn, const char *line, const struct probe_symbols *symbols,
		      struct probe_def **def, struct probe_error *err, uint16_t *pos)
{
	struct probe_words words;
	char *command;
	int ret;

	assert_int_equal(probe_words_split(&words, line), 0);
	ret = fn(&words, symbols, def, err);
	*pos = 0;
	if (ret && err->what) {
		command = probe_error_command(&words, err, pos);
		assert_non_null(command);
		free(command);
	}
	probe_words_free(&words);
	return ret;
}

#endif
