// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * described.c - what the records of a trace under way mean.
 *
 * A recording says it in its file. So that nobody else has to read what a guest says of its
 * formats, a recording without records is made in memory, and opened like any file.
 */
#include "frontend/api/local.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "frontend/dat/journal.h"
#include "frontend/record/meta.h"

static int put(void *arg, enum journal_kind kind, uint32_t a, uint32_t b, const void *data,
	       size_t len)
{
	return journal_put(arg, kind, a, b, data, len);
}

/* The one buffer, which has no name. */
static int put_buffer(struct journal *j, struct trace *t)
{
	char names[64] = "";
	int len = snprintf(names + 1, sizeof(names) - 1, "%s", instance_clock(trace_top(t)));

	if (len < 0 || (size_t)len >= sizeof(names) - 1)
		return -EINVAL;
	return journal_put(j, JOURNAL_BUFFER, 0, 0, names, (size_t)len + 2);
}

static int write_all(struct journal *j, struct session *s, const struct record_guest *guest)
{
	const struct record_to to = {put, j};
	struct meta meta = {0};
	int rc = journal_begin(j);

	if (!rc)
		rc = meta_begin(&to, s->trace, guest);
	if (!rc)
		rc = meta_update(&meta, &to, s->trace, s->view, guest);
	return rc ? rc : put_buffer(j, s->trace);
}

/* A descriptor, or -errno. */
static int write_file(struct session *s, const struct record_guest *guest)
{
	const struct journal_shape shape = {7, false, trace_vcpus(s->trace)};
	int fd = memfd_create("hvtrace-described", MFD_CLOEXEC);
	struct journal *j;
	int rc;

	if (fd < 0)
		return -errno;
	j = journal_new(fd, &shape);
	rc = j ? write_all(j, s, guest) : -ENOMEM;
	journal_free(j);
	if (!rc)
		return fd;
	close(fd);
	return rc;
}

int described_read(struct described *d, struct session *s, const char *guest, uint64_t tsc_khz,
		   char *err, size_t errlen)
{
	const struct record_guest g = {
		.name = guest,
		.release = guestsym_release(s->gs),
		.tsc_khz = tsc_khz,
	};
	const struct formats_config plain = {.no_plugins = true};
	struct described new = {
		.events = trace_events_changes(s->trace),
		.symbols = trace_kallsyms_changes(s->trace),
		.read_ms = api_now_ms(),
	};
	int fd = write_file(s, &g), rc = -1;

	if (fd < 0) {
		snprintf(err, errlen, "the formats of its events cannot be had: %s", strerror(-fd));
		return -1;
	}
	new.dat = dat_open_fd(fd, guest, err, errlen);
	if (!new.dat)
		return -1;
	new.formats = formats_new(&plain);
	if (!new.formats)
		snprintf(err, errlen, "no memory for the formats of its events");
	else
		rc = api_formats_load(new.formats, dat_info(new.dat), err, errlen);
	if (rc) {
		described_free(&new);
		return -1;
	}
	described_free(d);
	*d = new;
	return 0;
}

bool described_is_old(const struct described *d, struct trace *t)
{
	return d->events != trace_events_changes(t) || d->symbols != trace_kallsyms_changes(t);
}

void described_free(struct described *d)
{
	formats_free(d->formats);
	dat_close(d->dat);
	*d = (struct described){0};
}
