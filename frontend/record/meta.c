// SPDX-License-Identifier: GPL-2.0-or-later
/* meta.c - see meta.h */
#include "frontend/record/meta.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <zlib.h>

#include "frontend/dat/bytes.h"
#include "frontend/dat/format.h"
#include "frontend/record/record.h"
#include "frontend/tracefs/view.h"
#include "tracer/tracer.h"

/* --- files of the view ------------------------------------------------------------------------ */

static int read_path(struct view *v, const char *path, struct text *to)
{
	view_id id;
	int rc = view_find(v, path, &id);

	return rc ? rc : view_read_all(v, id, to);
}

/* --- sections --------------------------------------------------------------------------------- */

/* Unless it is as it was, or there is nothing of it. Sections and options have numbers of their
 * own. */
static int put_changed(struct meta *m, const struct record_to *to, enum journal_kind kind,
		       enum dat_option_id id, struct text *content)
{
	uint32_t sum;
	int rc = 0;

	if (content->failed) {
		rc = -ENOMEM;
	} else {
		sum = (uint32_t)crc32(0, (const Bytef *)content->buf, (uInt)content->len);
		if (m->section[id].sum != sum || m->section[id].len != content->len)
			rc = to->put(to->arg, kind, id, 0, content->buf, content->len);
		if (!rc) {
			m->section[id].sum = sum;
			m->section[id].len = content->len;
		}
	}
	text_free(content);
	return rc;
}

static int add_sized(struct view *v, const char *path, struct text *to)
{
	size_t at = to->len;
	int rc;

	bytes_add64(to, 0);
	rc = read_path(v, path, to);
	bytes_set_len64(to, at);
	return rc;
}

static int put_headers(struct meta *m, const struct record_to *to, struct view *v)
{
	struct text t = {0};
	int rc;

	text_add(&t, "header_page", 12);
	rc = add_sized(v, "events/header_page", &t);
	text_add(&t, "header_event", 13);
	if (!rc)
		rc = add_sized(v, "events/header_event", &t);
	if (!rc)
		return put_changed(m, to, JOURNAL_SECTION, DAT_OPTION_HEADER_INFO, &t);
	text_free(&t);
	return rc;
}

/* The formats of a subsystem, behind how many there are. */
static int add_formats(struct view *v, view_id system, struct text *to)
{
	struct view_entry *events;
	ssize_t nr = view_list(v, system, &events);
	size_t at = to->len;
	uint32_t count = 0;
	int rc = 0;

	if (nr < 0)
		return (int)nr;
	bytes_add32(to, 0);
	for (ssize_t i = 0; i < nr && !rc; i++) {
		size_t size = to->len;
		view_id format;

		if (!S_ISDIR(events[i].mode) || view_lookup(v, events[i].id, "format", &format))
			continue;
		bytes_add64(to, 0);
		rc = view_read_all(v, format, to);
		bytes_set_len64(to, size);
		count++;
	}
	bytes_set32(to, at, count);
	free(events);
	return rc;
}

static int put_ftrace_formats(struct meta *m, const struct record_to *to, struct view *v)
{
	struct text t = {0};
	view_id ftrace;
	int rc = view_find(v, "events/ftrace", &ftrace);

	if (!rc)
		rc = add_formats(v, ftrace, &t);
	if (!rc)
		return put_changed(m, to, JOURNAL_SECTION, DAT_OPTION_FTRACE_EVENTS, &t);
	text_free(&t);
	return rc;
}

static int add_systems(struct view *v, struct text *to)
{
	struct view_entry *systems;
	view_id events;
	uint32_t count = 0;
	ssize_t nr;
	int rc = view_find(v, "events", &events);

	if (rc)
		return rc;
	nr = view_list(v, events, &systems);
	if (nr < 0)
		return (int)nr;
	bytes_add32(to, 0);
	for (ssize_t i = 0; i < nr && !rc; i++) {
		if (!S_ISDIR(systems[i].mode) || !strcmp(systems[i].name, "ftrace"))
			continue;
		text_add(to, systems[i].name, strlen(systems[i].name) + 1);
		rc = add_formats(v, systems[i].id, to);
		count++;
	}
	bytes_set32(to, 0, count);
	free(systems);
	return rc;
}

/* Modules' events come and go: what is listed while they do may be gone when it is read. */
static int put_formats(struct meta *m, const struct record_to *to, struct trace *t, struct view *v)
{
	const struct guestsym_event_list *list;
	uint64_t changes = trace_events_changes(t);
	struct text text = {0};
	int rc;

	if ((m->has_events && m->events == changes) || trace_events(t, &list))
		return 0;
	rc = add_systems(v, &text);
	if (rc) {
		text_free(&text);
		return rc == -ENOMEM ? rc : 0;
	}
	m->has_events = true;
	m->events = changes;
	return put_changed(m, to, JOURNAL_SECTION, DAT_OPTION_EVENT_FORMATS, &text);
}

static int put_symbols(struct meta *m, const struct record_to *to, struct trace *t)
{
	uint64_t changes = trace_kallsyms_changes(t);
	struct text text = {0};

	if (m->has_symbols && m->symbols == changes)
		return 0;
	bytes_add32(&text, 0);
	trace_print_kallsyms(t, &text);
	bytes_set32(&text, 0, (uint32_t)(text.len - 4));
	m->has_symbols = true;
	m->symbols = changes;
	return put_changed(m, to, JOURNAL_SECTION, DAT_OPTION_KALLSYMS, &text);
}

static int put_printk(struct meta *m, const struct record_to *to, struct trace *t)
{
	struct text text = {0};

	bytes_add32(&text, 0);
	trace_print_formats(t, &text);
	bytes_set32(&text, 0, (uint32_t)(text.len - 4));
	return put_changed(m, to, JOURNAL_SECTION, DAT_OPTION_PRINTK, &text);
}

/* --- the TSC ---------------------------------------------------------------------------------- */

/* For readers: (ticks * mult) >> shift. trace-cmd 3.1 takes a mult of 32 bits for a negative one.
 */
struct dat_tsc2nsec record_ticks(uint64_t khz)
{
	struct dat_tsc2nsec ticks = {.shift = 32};

	if (!khz)
		return ticks;
	while (ticks.shift && (UINT64_C(1000000) << ticks.shift) / khz > INT32_MAX)
		ticks.shift--;
	ticks.mult = (uint32_t)((UINT64_C(1000000) << ticks.shift) / khz);
	return ticks;
}

/* mult 0: there is nothing to say. */
static struct dat_tsc2nsec ticks_of(const char *clock, const struct record_guest *guest)
{
	/* Nanoseconds, which readers would print bare: to them its name is that of no clock. */
	if (!strcmp(clock, "host"))
		return (struct dat_tsc2nsec){.mult = 1};
	if (strcmp(clock, "x86-tsc") != 0)
		return (struct dat_tsc2nsec){0};
	/* What becomes the host's time does so as the host's trace does: so they are the same,
	 * however long ago the TSC began to count. */
	return guest->shift ? guest->shift->ticks : record_ticks(guest->tsc_khz);
}

static int put_ticks(struct meta *m, const struct record_to *to, const struct dat_tsc2nsec *ticks)
{
	struct text text = {0};

	if (ticks->mult) {
		bytes_add32(&text, ticks->mult);
		bytes_add32(&text, ticks->shift);
		bytes_add64(&text, ticks->offset);
	}
	return put_changed(m, to, JOURNAL_OPTION, DAT_OPTION_TSC2NSEC, &text);
}

/* Bits of fractions of a scaled TSC's inverse. */
#define SHIFT_BITS 48

static unsigned int shift_bits(const struct machine_tsc *tsc)
{
	return tsc->frac_bits ? SHIFT_BITS : 0;
}

/*
 * What makes the host's ticks of a vCPU's: (ticks * ratio >> bits) + offset. Readers look at the
 * ratio only where there are two samples, of which the first one holds.
 */
static void add_shift(struct text *text, const struct machine_tsc *tsc)
{
	const unsigned int bits = shift_bits(tsc), samples = bits ? 2 : 1;
	uint64_t ratio = 1, offset = tsc->offset;

	if (bits) {
		ratio = (uint64_t)(((unsigned __int128)1 << (tsc->frac_bits + bits)) / tsc->ratio);
		offset = (uint64_t)((__int128)(int64_t)offset * ratio >> bits);
	}
	bytes_add32(text, samples);
	for (uint64_t i = 0; i < samples; i++)
		bytes_add64(text, i);
	for (unsigned int i = 0; i < samples; i++)
		bytes_add64(text, -offset);
	for (unsigned int i = 0; i < samples; i++)
		bytes_add64(text, ratio);
}

static int put_shift(struct meta *m, const struct record_to *to, bool counts, unsigned int vcpus,
		     const struct record_shift *shift)
{
	struct text text = {0};

	if (counts && shift) {
		bytes_add64(&text, shift->peer_id);
		bytes_add32(&text, 0);
		bytes_add32(&text, vcpus);
		for (unsigned int i = 0; i < vcpus; i++)
			add_shift(&text, &shift->vcpu[i]);
		for (unsigned int i = 0; i < vcpus; i++)
			for (unsigned int n = 0; n < (shift_bits(&shift->vcpu[i]) ? 2 : 1); n++)
				bytes_add64(&text, shift_bits(&shift->vcpu[i]));
	}
	return put_changed(m, to, JOURNAL_OPTION, DAT_OPTION_TIME_SHIFT, &text);
}

static int put_tsc(struct meta *m, const struct record_to *to, struct trace *t,
		   const struct record_guest *guest)
{
	const char *clock = instance_clock(trace_top(t));
	const struct dat_tsc2nsec ticks = ticks_of(clock, guest);
	int rc = put_ticks(m, to, &ticks);

	return rc ? rc : put_shift(m, to, !strcmp(clock, "x86-tsc"), trace_vcpus(t), guest->shift);
}

static int put_clock(struct meta *m, const struct record_to *to, struct view *v)
{
	struct text text = {0};
	int rc = read_path(v, "trace_clock", &text);

	text_putc(&text, '\0');
	if (!rc)
		return put_changed(m, to, JOURNAL_OPTION, DAT_OPTION_TRACECLOCK, &text);
	text_free(&text);
	return rc;
}

int meta_tasks(struct meta *m, const struct record_to *to, struct trace *t)
{
	struct text text = {0};

	bytes_add64(&text, 0);
	trace_print_cmdlines(t, &text);
	bytes_set_len64(&text, 0);
	return put_changed(m, to, JOURNAL_SECTION, DAT_OPTION_CMDLINES, &text);
}

int meta_update(struct meta *m, const struct record_to *to, struct trace *t, struct view *v,
		const struct record_guest *guest)
{
	int rc = m->section[DAT_OPTION_HEADER_INFO].len ? 0 : put_headers(m, to, v);

	if (!rc && !m->section[DAT_OPTION_FTRACE_EVENTS].len)
		rc = put_ftrace_formats(m, to, v);
	if (!rc)
		rc = put_formats(m, to, t, v);
	if (!rc)
		rc = put_symbols(m, to, t);
	if (!rc)
		rc = put_printk(m, to, t);
	if (!rc)
		rc = put_clock(m, to, v);
	if (!rc)
		rc = put_tsc(m, to, t, guest);
	return rc ? rc : meta_tasks(m, to, t);
}

/* --- options ---------------------------------------------------------------------------------- */

static int put_text_option(const struct record_to *to, enum dat_option_id id, struct text *text)
{
	int rc;

	text_putc(text, '\0');
	rc = text->failed ? -ENOMEM : to->put(to->arg, JOURNAL_OPTION, id, 0, text->buf, text->len);
	text_free(text);
	return rc;
}

void meta_version(struct text *text, const char *host_boot)
{
	text_puts(text, "hvtrace " HVTRACE_VERSION);
	if (!*host_boot)
		return;
	text_putc(text, '\0');
	text_printf(text, DAT_HOST_BOOT "%s", host_boot);
}

static int put_names(const struct record_to *to, const struct record_guest *guest)
{
	struct text uname = {0}, version = {0};
	int rc;

	text_printf(&uname, "Linux %s %s x86_64", guest->name, guest->release);
	meta_version(&version, guest->host_boot);
	rc = put_text_option(to, DAT_OPTION_UNAME, &uname);
	if (!rc)
		rc = put_text_option(to, DAT_OPTION_VERSION, &version);
	else
		text_free(&version);
	return rc;
}

/* By what traces of one time know each other. */
static int put_id(const struct record_to *to, uint64_t id)
{
	if (!id)
		id = record_new_id();
	return to->put(to->arg, JOURNAL_OPTION, DAT_OPTION_TRACEID, 0, &id, sizeof(id));
}

int meta_begin(const struct record_to *to, struct trace *t, const struct record_guest *guest)
{
	uint8_t vcpus[4];
	int rc;

	bytes_put32(vcpus, trace_vcpus(t));
	rc = to->put(to->arg, JOURNAL_OPTION, DAT_OPTION_CPUCOUNT, 0, vcpus, sizeof(vcpus));
	if (!rc)
		rc = put_names(to, guest);
	return rc ? rc : put_id(to, guest->trace_id);
}
