// SPDX-License-Identifier: GPL-2.0-or-later
/* describe.c - what a file of several guests says once for all, and of whose what in it is. */
#include "frontend/join/local.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "frontend/dat/bytes.h"
#include "frontend/dat/format.h"

#define NAMES_MAX (DAT_METADATA_MAX / 4 * 3) /* of what readers have room for */

/* --- sections --------------------------------------------------------------------------------- */

static int put(struct join *j, enum journal_kind kind, enum dat_option_id id, struct text *text)
{
	const char *data = text->buf ? text->buf : "";
	int rc = text->failed		   ? -ENOMEM
		 : kind == JOURNAL_SECTION ? journal_put_section(j->journal, id, data, text->len)
					   : journal_put(j->journal, kind, id, 0, data, text->len);

	text_free(text);
	return rc;
}

/* Of pages as they are written here; the kernel's own words. */
static int put_headers(struct join *j)
{
	static const char page[] = "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
				   "\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n"
				   "\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n"
				   "\tfield: char data;\toffset:16;\tsize:4080;\tsigned:1;\n";
	struct text t = {0};

	text_add(&t, "header_page", 12);
	bytes_add64(&t, sizeof(page) - 1);
	text_puts(&t, page);
	text_add(&t, "header_event", 13);
	bytes_add64(&t, j->header_event.len);
	text_add(&t, j->header_event.buf, j->header_event.len);
	return put(j, JOURNAL_SECTION, DAT_OPTION_HEADER_INFO, &t);
}

static int put_formats(struct join *j)
{
	struct text ftrace = {0}, events = {0};
	int rc;

	ids_write_ftrace(&j->ids, &ftrace);
	rc = put(j, JOURNAL_SECTION, DAT_OPTION_FTRACE_EVENTS, &ftrace);
	if (rc)
		return rc;
	ids_write_events(&j->ids, &events);
	return put(j, JOURNAL_SECTION, DAT_OPTION_EVENT_FORMATS, &events);
}

static int put_text32(struct join *j, enum dat_option_id id, const struct text *all)
{
	struct text t = {0};

	bytes_add32(&t, (uint32_t)all->len);
	text_add(&t, all->buf, all->len);
	t.failed |= all->failed || all->len > UINT32_MAX;
	return put(j, JOURNAL_SECTION, id, &t);
}

static int put_tasks(struct join *j)
{
	struct text t = {0};

	bytes_add64(&t, 0);
	join_tasks_write(&j->tasks, &t);
	bytes_set_len64(&t, 0);
	return put(j, JOURNAL_SECTION, DAT_OPTION_CMDLINES, &t);
}

/* --- options ---------------------------------------------------------------------------------- */

static int put_options(struct join *j)
{
	struct text cpus = {0}, clock = {0}, version = {0};
	uint64_t id = 0;
	int rc;

	bytes_add32(&cpus, j->vcpus);
	rc = put(j, JOURNAL_OPTION, DAT_OPTION_CPUCOUNT, &cpus);
	if (rc)
		return rc;
	text_printf(&clock, "[%s]\n", j->clock);
	text_putc(&clock, '\0');
	rc = put(j, JOURNAL_OPTION, DAT_OPTION_TRACECLOCK, &clock);
	if (rc)
		return rc;
	text_puts(&version, "hvtrace " HVTRACE_VERSION);
	text_putc(&version, '\0');
	rc = put(j, JOURNAL_OPTION, DAT_OPTION_VERSION, &version);
	/* Of its own: those of the guests' files are in what is said of them. */
	if (!rc && getrandom(&id, sizeof(id), 0) == sizeof(id))
		rc = journal_put(j->journal, JOURNAL_OPTION, DAT_OPTION_TRACEID, 0, &id,
				 sizeof(id));
	return rc;
}

/* All of it has to have room in the memory of who reads the file. */
static int check_size(const struct join *j)
{
	return j->places.symbols.len + j->places.formats.len > NAMES_MAX ? -E2BIG : 0;
}

int join_describe(struct join *j)
{
	int rc = check_size(j);

	if (!rc)
		rc = put_headers(j);
	if (!rc)
		rc = put_formats(j);
	if (!rc)
		rc = put_text32(j, DAT_OPTION_KALLSYMS, &j->places.symbols);
	if (!rc)
		rc = put_text32(j, DAT_OPTION_PRINTK, &j->places.formats);
	if (!rc)
		rc = put_tasks(j);
	if (!rc)
		rc = put_options(j);
	if (rc == -E2BIG)
		return join_fail(j, j->opt->out,
				 "the symbols, or formats, of all files are too many for one");
	return rc;
}

/* --- whose is what -----------------------------------------------------------------------------
 */

static void add_part(const struct join *j, size_t i, const uint16_t *order, struct text *to)
{
	const struct join_part *p = &j->part[i];
	const struct join_source *s = &j->source[i];
	const struct text *tasks = &j->tasks.text[i];
	uint8_t number[2];

	text_add(to, s->name, strlen(s->name) + 1);
	text_add(to, p->uname, strlen(p->uname) + 1);
	bytes_add32(to, s->vcpus);
	bytes_add32(to, p->has_trace_id);
	bytes_add64(to, p->trace_id);
	bytes_add32(to, p->buffer);
	bytes_add32(to, p->nr_buffers);
	bytes_add32(to, p->stat);
	bytes_add32(to, p->nr_stats);
	bytes_add64(to, p->names.symbols);
	bytes_add64(to, p->names.symbols_len);
	bytes_add64(to, p->names.formats);
	bytes_add64(to, p->names.formats_len);
	bytes_add32(to, (uint32_t)p->formats.nr);
	for (size_t n = 0; n < p->formats.nr; n++) {
		bytes_put16(number, order[p->formats.row[n]]);
		text_add(to, number, sizeof(number));
	}
	/* Without the end that it has in memory. */
	bytes_add64(to, tasks->len - 1);
	text_add(to, tasks->buf, tasks->len - 1);
}

void join_describe_parts(const struct join *j, struct text *to)
{
	uint16_t *order = ids_order(&j->ids);
	uint64_t size;

	if (!order) {
		to->failed = true;
		return;
	}
	bytes_add32(to, DAT_PARTS_FORM);
	for (size_t i = 0; i < j->opt->nr && !to->failed; i++)
		add_part(j, i, order, to);
	size = to->len;
	text_add(to, DAT_PARTS_MAGIC, DAT_PARTS_MAGIC_LEN);
	bytes_add64(to, size);
	bytes_add32(to, (uint32_t)j->opt->nr);
	bytes_add32(to, 0);
	free(order);
}
