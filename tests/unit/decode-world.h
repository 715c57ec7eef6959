/* SPDX-License-Identifier: GPL-2.0-or-later */
/* decode-world.h - a trace.dat file of tests, opened for decoding, without plugins. */
#ifndef HVTRACE_TESTS_DECODE_WORLD_H
#define HVTRACE_TESTS_DECODE_WORLD_H

#include "tests/unit/made-trace.h"

#include "frontend/decode/print.h"
#include "frontend/decode/select.h"

struct decode_world {
	struct dat *d;
	struct formats *f;
	struct records *r;
};

static inline struct decode_world decode_world_of(struct dat *d)
{
	const struct formats_config cfg = {.no_plugins = true};
	struct decode_world w = {.d = d, .f = formats_new(&cfg)};
	char err[256];

	assert_non_null(w.f);
	if (formats_load(w.f, dat_info(d), err, sizeof(err)))
		fail_msg("%s", err);
	w.r = records_open(d, RECORDS_ALL);
	assert_non_null(w.r);
	return w;
}

static inline struct decode_world decode_world(void)
{
	return decode_world_of(made_trace());
}

static inline void decode_world_end(struct decode_world *w)
{
	records_close(w->r);
	formats_free(w->f);
	dat_close(w->d);
}

/* All that is selected, as text; free() it. */
static inline char *decode_world_text(struct decode_world *w, const struct print_config *cfg)
{
	struct print *p = print_new(w->d, w->f, w->r, cfg);
	const struct decode_event *ev;
	char *text;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	assert_non_null(p);
	assert_non_null(out);
	while ((ev = records_next(w->r)))
		print_text(p, ev, out);
	fclose(out);
	print_free(p);
	return text;
}

#endif
