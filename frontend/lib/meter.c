// SPDX-License-Identifier: GPL-2.0-or-later
/* meter.c - see meter.h */
#include "frontend/lib/meter.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "frontend/lib/escape.h"
#include "frontend/lib/output.h"

enum { FIRST_MS = 1000, PERIOD_MS = 250, TELL_MS = 5000, WHAT_LEN = 60 };

static int64_t now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

void meter_begin(struct meter *m, const char *what, const char *unit)
{
	*m = (struct meter){
		.what = what,
		.unit = unit,
		.wanted = isatty(STDERR_FILENO),
		.began_ms = now_ms(),
	};
}

const char *meter_time(uint64_t seconds, char buf[METER_TIME_LEN])
{
	uint64_t minutes = seconds / 60 % 60, hours = seconds / 3600;

	if (hours)
		snprintf(buf, METER_TIME_LEN, "%" PRIu64 ":%02u:%02u", hours, (unsigned int)minutes,
			 (unsigned int)(seconds % 60));
	else if (minutes)
		snprintf(buf, METER_TIME_LEN, "%u:%02u", (unsigned int)minutes,
			 (unsigned int)(seconds % 60));
	else
		snprintf(buf, METER_TIME_LEN, "%u s", (unsigned int)seconds);
	return buf;
}

/* How long it is at it, if it is time to say so; else -1. */
static int64_t due(struct meter *m)
{
	int64_t now = m->wanted ? now_ms() : 0;

	if (!m->wanted || now - m->began_ms < FIRST_MS || now - m->drawn_ms < PERIOD_MS)
		return -1;
	m->drawn_ms = now;
	return now - m->began_ms;
}

/* Names of files may have anything in them. */
static void begin_line(const struct meter *m, struct text *line)
{
	struct escape escape = {0};

	escape_add(&escape, line, m->what, strnlen(m->what, WHAT_LEN));
	escape_end(&escape, line);
}

static void draw(struct meter *m, struct text *line)
{
	if (!line->failed)
		output_status(line->buf, line->len);
	text_free(line);
	m->drawn = true;
}

void meter_show(struct meter *m, uint64_t done, uint64_t all, uint64_t nr)
{
	int64_t ms = due(m);
	char left[METER_TIME_LEN];
	struct text line = {0};
	double share;

	if (ms < 0)
		return;
	share = all ? (double)done / (double)all : 0;
	share = share > 1 ? 1 : share;
	begin_line(m, &line);
	text_printf(&line, "  %.0f %%", share * 100);
	if (m->unit)
		text_printf(&line, "  %" PRIu64 " %s  %.0f/s", nr, m->unit,
			    (double)nr * 1000 / (double)ms);
	if (share > 0)
		text_printf(&line, "  %s left",
			    meter_time((uint64_t)((double)ms / 1000 * (1 - share) / share), left));
	draw(m, &line);
}

void meter_wait(struct meter *m)
{
	int64_t ms = due(m);
	char time[METER_TIME_LEN];
	struct text line = {0};

	if (ms >= 0) {
		begin_line(m, &line);
		text_printf(&line, "  %s  (Ctrl-C gives up)",
			    meter_time((uint64_t)ms / 1000, time));
		draw(m, &line);
	} else if (!m->wanted && !m->told && now_ms() - m->began_ms >= TELL_MS) {
		fprintf(stderr, "hvtrace: %s takes a while\n", m->what);
		m->told = true;
	}
}

void meter_end(struct meter *m)
{
	if (m->drawn)
		output_status("", 0);
	m->drawn = false;
	m->wanted = false;
}
