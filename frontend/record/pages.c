// SPDX-License-Identifier: GPL-2.0-or-later
/* pages.c - see pages.h */
#include "frontend/record/pages.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "frontend/dat/dat.h"
#include "frontend/dat/format.h"
#include "tracer/tracer.h"

#define BATCH	    64 /* pages */
#define TURN	    16 /* batches of one vCPU, until the others have theirs */
#define NAME_MAX_   256
#define BUFFERS_MAX JOURNAL_BUFFERS_MAX

/* An instance that there is, or was. */
struct buffer {
	char name[NAME_MAX_];
	char clock[32]; /* as it was said last; empty: not yet */
};

struct pages {
	struct trace *trace;
	const struct record_to *to; /* of pages_take() */
	struct buffer *buffer;
	uint32_t nr;
	uint8_t batch[BATCH][DAT_PAGE_SIZE];
};

struct pages *pages_new(struct trace *t)
{
	struct pages *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->trace = t;
	return p;
}

void pages_free(struct pages *p)
{
	if (p)
		free(p->buffer);
	free(p);
}

/* --- which buffer ----------------------------------------------------------------------------- */

/* Say it again when its clock is another. */
static int describe(struct pages *p, uint32_t nr, const char *clock)
{
	struct buffer *b = &p->buffer[nr];
	char names[sizeof(b->name) + sizeof(b->clock)];
	size_t name_len = strlen(b->name) + 1, clock_len = strlen(clock) + 1;

	if (!strcmp(b->clock, clock))
		return 0;
	if (clock_len > sizeof(b->clock))
		return -EINVAL;
	memcpy(b->clock, clock, clock_len);
	memcpy(names, b->name, name_len);
	memcpy(names + name_len, clock, clock_len);
	return p->to->put(p->to->arg, JOURNAL_BUFFER, nr, 0, names, name_len + clock_len);
}

static int find_buffer(struct pages *p, const char *name, uint32_t *nr)
{
	struct buffer *more;

	for (*nr = 0; *nr < p->nr; (*nr)++)
		if (!strcmp(p->buffer[*nr].name, name))
			return 0;
	if (p->nr == BUFFERS_MAX)
		return -ENOSPC;
	more = realloc(p->buffer, (p->nr + 1) * sizeof(*more));
	if (!more)
		return -ENOMEM;
	p->buffer = more;
	p->buffer[p->nr] = (struct buffer){.clock = ""};
	snprintf(p->buffer[p->nr].name, NAME_MAX_, "%s", name);
	p->nr++;
	return 0;
}

/* --- one instance ----------------------------------------------------------------------------- */

static int read_page(struct instance *i, unsigned int vcpu, enum record_pages which, void *page)
{
	switch (which) {
	case RECORD_PAGES_FULL:
		return instance_read_full(i, vcpu, page, DAT_PAGE_SIZE);
	case RECORD_PAGES_ALL:
		return instance_read_raw(i, vcpu, page, DAT_PAGE_SIZE);
	case RECORD_PAGES_KEPT:
		return instance_snapshot_read_raw(i, vcpu, page, DAT_PAGE_SIZE);
	}
	return -EINVAL;
}

/* How many pages. */
static unsigned int fill_batch(struct pages *p, struct instance *i, unsigned int vcpu,
			       enum record_pages which)
{
	unsigned int n = 0;

	while (n < BATCH && read_page(i, vcpu, which, p->batch[n]) > 0)
		n++;
	return n;
}

static int take_vcpu(struct pages *p, struct instance *i, uint32_t nr, unsigned int vcpu,
		     enum record_pages which)
{
	unsigned int n = BATCH;
	int taken = 0, rc = 0;

	for (unsigned int k = 0; k < TURN && n == BATCH && !rc; k++) {
		n = fill_batch(p, i, vcpu, which);
		if (n)
			rc = p->to->put(p->to->arg, JOURNAL_PAGES, nr, vcpu, p->batch,
					n * DAT_PAGE_SIZE);
		taken += (int)n;
	}
	return rc ? rc : taken;
}

static int take_instance(struct pages *p, struct instance *i, const char *name,
			 enum record_pages which)
{
	unsigned int vcpus = trace_vcpus(p->trace);
	uint32_t nr;
	int taken = 0, n = find_buffer(p, name, &nr);

	if (!n)
		n = describe(p, nr, instance_clock(i));
	if (n || instance_lends_snapshot(i) != (which == RECORD_PAGES_KEPT))
		return n;
	for (unsigned int v = 0; v < vcpus && n >= 0; v++) {
		n = take_vcpu(p, i, nr, v, which);
		taken += n;
	}
	return n < 0 ? n : taken;
}

int pages_take(struct pages *p, enum record_pages which, const struct record_to *to)
{
	char name[NAME_MAX_];
	int taken, n;

	p->to = to;
	n = taken = take_instance(p, trace_top(p->trace), "", which);
	for (unsigned int k = 0; n >= 0 && instance_name(p->trace, k, name, sizeof(name)); k++) {
		struct instance *i = instance_get(p->trace, name);

		if (!i)
			continue;
		n = take_instance(p, i, name, which);
		taken += n;
		instance_put(i);
	}
	return n < 0 ? n : taken;
}

/* --- statistics ------------------------------------------------------------------------------- */

/* As trace-cmd record writes them, and trace-cmd report --stat prints them. */
static int put_statistics(struct pages *p, struct instance *i, const char *name, uint32_t *number)
{
	for (unsigned int v = 0; v < trace_vcpus(p->trace); v++) {
		struct text text = {0};
		int rc;

		if (*name && !v)
			text_printf(&text, "\nBuffer: %s\n\n", name);
		text_printf(&text, "CPU: %u\n", v);
		instance_print_stats(i, v, &text);
		text_putc(&text, '\0');
		rc = text.failed ? -ENOMEM
				 : p->to->put(p->to->arg, JOURNAL_OPTION, DAT_OPTION_CPUSTAT,
					      (*number)++, text.buf, text.len);
		text_free(&text);
		if (rc)
			return rc;
	}
	return 0;
}

int pages_statistics(struct pages *p, const struct record_to *to)
{
	char name[NAME_MAX_];
	uint32_t number = 0;
	int rc;

	p->to = to;
	rc = put_statistics(p, trace_top(p->trace), "", &number);

	for (unsigned int k = 0; !rc && instance_name(p->trace, k, name, sizeof(name)); k++) {
		struct instance *i = instance_get(p->trace, name);

		if (i)
			rc = put_statistics(p, i, name, &number);
		if (i)
			instance_put(i);
	}
	return rc;
}
