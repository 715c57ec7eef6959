// SPDX-License-Identifier: GPL-2.0-or-later
/* about.c - what the host's trace.dat says besides its records: read from files of tracefs. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "frontend/dat/bytes.h"
#include "frontend/host/files.h"
#include "frontend/host/local.h"
#include "frontend/record/meta.h"

/* Always wanted: sched_switch. */
#define SCHED "sched"

static int put(const struct record_to *to, enum journal_kind kind, uint32_t id, struct text *text)
{
	int rc = text->failed ? -ENOMEM : to->put(to->arg, kind, id, 0, text->buf, text->len);

	text_free(text);
	return rc;
}

/* --- sections --------------------------------------------------------------------------------- */

static int add_sized(int folder, const char *path, struct text *to)
{
	size_t at = to->len;
	int rc;

	bytes_add64(to, 0);
	rc = files_read(folder, path, to);
	bytes_set_len64(to, at);
	return rc;
}

static int put_headers(const struct host *h, const struct record_to *to)
{
	struct text text = {0};
	int rc;

	text_add(&text, "header_page", 12);
	rc = add_sized(h->folder, "events/header_page", &text);
	text_add(&text, "header_event", 13);
	if (!rc)
		rc = add_sized(h->folder, "events/header_event", &text);
	if (!rc)
		return put(to, JOURNAL_SECTION, DAT_OPTION_HEADER_INFO, &text);
	text_free(&text);
	return rc;
}

/* Formats that are being put together. */
struct adding {
	const struct host *h;
	const char *system;
	struct text *to;
	uint32_t nr;
};

static int add_format(void *arg, const char *event)
{
	struct adding *a = arg;
	char path[2 * LOCAL_PATH_MAX];
	size_t was = a->to->len;

	snprintf(path, sizeof(path), "events/%.255s/%.255s/format", a->system, event);
	if (add_sized(a->h->folder, path, a->to))
		a->to->len = was; /* a file, no event; or one that has gone */
	else
		a->nr++;
	return 0;
}

static int add_formats(const struct host *h, const char *system, struct text *to)
{
	struct adding a = {h, system, to, 0};
	char path[LOCAL_PATH_MAX];
	size_t at = to->len;
	int rc;

	snprintf(path, sizeof(path), "events/%.255s", system);
	bytes_add32(to, 0);
	rc = files_each(h->folder, path, add_format, &a);
	bytes_set32(to, at, a.nr);
	return rc;
}

static int add_system(void *arg, const char *system)
{
	struct adding *a = arg;
	const struct host_config *cfg = a->h->cfg;
	char path[LOCAL_PATH_MAX];

	snprintf(path, sizeof(path), "events/%.255s/enable", system);
	if (!strcmp(system, "ftrace") || faccessat(a->h->folder, path, F_OK, 0) ||
	    (strcmp(system, SCHED) != 0 &&
	     !events_name_system(cfg->events, cfg->nr_events, system)))
		return 0;
	a->nr++;
	text_add(a->to, system, strlen(system) + 1);
	return add_formats(a->h, system, a->to);
}

static int put_formats(const struct host *h, const struct record_to *to)
{
	struct text ftrace = {0}, text = {0};
	struct adding a = {h, NULL, &text, 0};
	int rc = add_formats(h, "ftrace", &ftrace);

	if (!rc)
		rc = put(to, JOURNAL_SECTION, DAT_OPTION_FTRACE_EVENTS, &ftrace);
	else
		text_free(&ftrace);
	if (rc)
		return rc;
	bytes_add32(&text, 0);
	rc = files_each(h->folder, "events", add_system, &a);
	bytes_set32(&text, 0, a.nr);
	if (!rc)
		return put(to, JOURNAL_SECTION, DAT_OPTION_EVENT_FORMATS, &text);
	text_free(&text);
	return rc;
}

/* Addresses of the host's kernel are nobody's business who reads a trace. */
static int put_empty(const struct record_to *to)
{
	struct text none = {0}, no_formats = {0};
	int rc;

	bytes_add32(&none, 0);
	bytes_add32(&no_formats, 0);
	rc = put(to, JOURNAL_SECTION, DAT_OPTION_KALLSYMS, &none);
	if (!rc)
		return put(to, JOURNAL_SECTION, DAT_OPTION_PRINTK, &no_formats);
	text_free(&no_formats);
	return rc;
}

/* --- options ---------------------------------------------------------------------------------- */

static int put_string(const struct record_to *to, enum dat_option_id id, const char *string)
{
	return to->put(to->arg, JOURNAL_OPTION, id, 0, string, strlen(string) + 1);
}

static int put_names(const struct host *h, const struct record_to *to)
{
	char text[sizeof(struct utsname) + 4] = "Linux";
	struct text version = {0};
	struct utsname u;
	int rc;

	if (!uname(&u))
		snprintf(text, sizeof(text), "%s %s %s %s", u.sysname, u.nodename, u.release,
			 u.machine);
	rc = put_string(to, DAT_OPTION_UNAME, text);
	if (rc)
		return rc;
	meta_version(&version, h->cfg->boot_id);
	text_putc(&version, '\0');
	return put(to, JOURNAL_OPTION, DAT_OPTION_VERSION, &version);
}

static int put_clock(const struct host *h, const struct record_to *to)
{
	const struct dat_tsc2nsec *t = &h->cfg->ticks;
	struct text ticks = {0};
	int rc = put_string(to, DAT_OPTION_TRACECLOCK, "[" LOCAL_CLOCK "]\n");

	if (rc || !t->mult)
		return rc;
	bytes_add32(&ticks, t->mult);
	bytes_add32(&ticks, t->shift);
	bytes_add64(&ticks, t->offset);
	return put(to, JOURNAL_OPTION, DAT_OPTION_TSC2NSEC, &ticks);
}

static int put_numbers(const struct host *h, const struct record_to *to)
{
	uint8_t cpus[4], id[8];
	int rc;

	bytes_put32(cpus, h->cpus);
	bytes_put64(id, h->cfg->trace_id);
	rc = to->put(to->arg, JOURNAL_OPTION, DAT_OPTION_CPUCOUNT, 0, cpus, sizeof(cpus));
	return rc ? rc : to->put(to->arg, JOURNAL_OPTION, DAT_OPTION_TRACEID, 0, id, sizeof(id));
}

/* Which thread runs which vCPU of which other trace. */
static int put_guest(const struct host *h, const struct record_to *to)
{
	const struct host_config *cfg = h->cfg;
	struct text text = {0};

	text_add(&text, cfg->guest, strlen(cfg->guest) + 1);
	bytes_add64(&text, cfg->guest_id);
	bytes_add32(&text, (uint32_t)cfg->nr_vcpus);
	for (size_t i = 0; i < cfg->nr_vcpus; i++) {
		bytes_add32(&text, cfg->vcpus[i].vcpu);
		bytes_add32(&text, (uint32_t)cfg->vcpus[i].tid);
	}
	return put(to, JOURNAL_OPTION, DAT_OPTION_GUEST, &text);
}

int about_describe(struct host *h, const struct record_to *to)
{
	int rc = put_numbers(h, to);

	if (!rc)
		rc = put_names(h, to);
	if (!rc)
		rc = put_clock(h, to);
	if (!rc)
		rc = put_guest(h, to);
	if (!rc)
		rc = put_headers(h, to);
	if (!rc)
		rc = put_formats(h, to);
	if (!rc)
		rc = put_empty(to);
	h->cfg = NULL;
	return rc;
}

/* --- tasks ------------------------------------------------------------------------------------ */

int about_tasks(struct host *h, const struct record_to *to)
{
	struct text text = {0};
	int rc = 0;

	bytes_add64(&text, 0);
	text_add(&text, h->vcpus.buf, h->vcpus.len);
	if (h->tasks >= 0)
		rc = files_read_fd(h->tasks, &text);
	bytes_set_len64(&text, 0);
	if (!rc && text.failed)
		rc = -ENOMEM;
	if (rc || (text.len == h->said.len && !memcmp(text.buf, h->said.buf, text.len))) {
		text_free(&text);
		return rc;
	}
	text_free(&h->said);
	h->said = text;
	return to->put(to->arg, JOURNAL_SECTION, DAT_OPTION_CMDLINES, 0, text.buf, text.len);
}
