// SPDX-License-Identifier: GPL-2.0-or-later
/* guest.c - one file into the join: each record of it, and what it says of them. */
#include "frontend/join/local.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "frontend/join/pointers.h"
#include "frontend/join/writer.h"

/* The file at hand. */
struct guest {
	struct join *j;
	const struct join_source *source;
	struct join_part *part;
	struct dat *dat;
	struct ids_map *map;
	struct writer *writer;
	struct place_move move;
	struct formats *formats; /* NULL: nothing is moved */
	struct pointers *pointers;
};

/* --- records ---------------------------------------------------------------------------------- */

static uint64_t move_address(const void *arg, uint64_t addr)
{
	return place_of(arg, addr);
}

/* The number of its format is the first of what each record begins with, its task the last. */
static int rewrite(struct guest *g, uint8_t *data, size_t len)
{
	uint16_t id, to;
	int32_t pid;
	int rc;

	if (len < 8)
		return 0;
	memcpy(&id, data, sizeof(id));
	memcpy(&pid, data + 4, sizeof(pid));
	rc = ids_of(&g->j->ids, g->map, id);
	if (rc < 0)
		return rc;
	to = (uint16_t)rc;
	memcpy(data, &to, sizeof(to));
	join_tasks_see(&g->j->tasks, pid);
	if (g->pointers)
		pointers_each(g->pointers, id, data, len, move_address, &g->move);
	return 0;
}

static int take_record(struct guest *g, unsigned int cpu, const struct ring_event *ev)
{
	uint8_t *to;
	int rc;

	if (!writer_has_room(ev->len)) {
		writer_lost(g->writer, 1);
		g->j->result.left_out++;
		return 0;
	}
	to = writer_put(g->writer, dat_time(dat_info(g->dat), cpu, ev->ts), ev->len, &rc);
	if (!to)
		return rc;
	memcpy(to, ev->data, ev->len);
	g->j->result.events++;
	return rewrite(g, to, ev->len);
}

static void tell(struct join *j, size_t size)
{
	j->bytes_done += size;
	if (j->opt->done && j->bytes)
		j->opt->done(j->opt->arg, (unsigned int)(j->bytes_done * 80 / j->bytes));
}

static int take_page(struct guest *g, unsigned int cpu, const void *page, size_t size)
{
	struct ring_walk walk;
	struct ring_event ev;
	uint64_t lost;
	int rc = ring_walk_subbuf(&walk, page, size, &lost), taken = 0;

	tell(g->j, size);
	if (rc) {
		g->j->result.damaged++;
		return 0;
	}
	if (lost)
		writer_lost(g->writer, lost);
	while (!taken && (rc = ring_walk_next(&walk, &ev)) == 1)
		taken = take_record(g, cpu, &ev);
	g->j->result.damaged += rc < 0;
	return taken;
}

static int take_vcpu(struct guest *g, const struct dat_buffer *b, const struct dat_vcpu *v,
		     uint32_t buffer)
{
	struct dat_pages *pages = dat_pages_open(g->dat, b, v);
	const void *page;
	size_t size;
	int rc = 0, n;

	if (!pages)
		return -ENOMEM;
	writer_begin(g->writer, g->j->journal, buffer, v->cpu);
	while (!rc && (n = dat_pages_next(pages, &page, &size)) > 0)
		rc = take_page(g, v->cpu, page, size);
	if (!rc && n < 0) {
		snprintf(g->j->err, g->j->errlen, "%s", dat_pages_error(pages));
		rc = n;
	}
	if (!rc)
		rc = writer_end(g->writer);
	g->j->result.late += g->writer->late;
	dat_pages_close(pages);
	return rc;
}

static const char colon[] = {DAT_PART_COLON, '\0'};

/* --- buffers ---------------------------------------------------------------------------------- */

/* "GUEST", or "GUEST:INSTANCE". */
static int name_buffer(struct guest *g, const char *instance, char *name, size_t size)
{
	int n = snprintf(name, size, "%s%s%s", g->source->name, *instance ? colon : "", instance);

	return n > 0 && (size_t)n < size
		       ? 0
		       : join_fail(g->j, g->source->path,
				   "the name of its instance %.64s is too long", instance);
}

static int begin_buffer(struct guest *g, const char *name)
{
	struct join *j = g->j;
	struct text names = {0};
	int rc;

	if (j->nr_buffers == JOURNAL_BUFFERS_MAX)
		return join_fail(j, g->source->path, "there are more than %d buffers",
				 JOURNAL_BUFFERS_MAX);
	text_add(&names, name, strlen(name) + 1);
	text_add(&names, j->clock, strlen(j->clock) + 1);
	rc = names.failed ? -ENOMEM
			  : journal_put(j->journal, JOURNAL_BUFFER, j->nr_buffers, 0, names.buf,
					names.len);
	text_free(&names);
	return rc;
}

static int take_buffer(struct guest *g, const struct dat_buffer *b)
{
	char name[256];
	int rc = name_buffer(g, b->name, name, sizeof(name));

	if (!rc)
		rc = begin_buffer(g, name);
	for (unsigned int v = 0; v < b->nr_vcpus && !rc; v++)
		rc = take_vcpu(g, b, &b->vcpus[v], g->j->nr_buffers);
	g->j->nr_buffers++;
	return rc;
}

static int take_buffers(struct guest *g)
{
	int rc = 0;

	g->part->buffer = g->j->nr_buffers;
	g->part->nr_buffers = (uint32_t)dat_nr_buffers(g->dat);
	for (size_t i = 0; i < dat_nr_buffers(g->dat) && !rc; i++)
		rc = take_buffer(g, dat_buffer(g->dat, i));
	return rc;
}

/* --- statistics ------------------------------------------------------------------------------- */

/* "\nBuffer: NAME\n\n", and what is behind it; where it stands, statistics of a buffer begin. */
static const char *behind_name(const char *text, struct text *name)
{
	static const char begin[] = "\nBuffer: ";
	const char *end;

	if (strncmp(text, begin, sizeof(begin) - 1) != 0)
		return NULL;
	text += sizeof(begin) - 1;
	end = strstr(text, "\n\n");
	if (!end)
		return NULL;
	text_add(name, text, (size_t)(end - text));
	return end + 2;
}

static int put_statistics(struct guest *g, size_t nth, const char *said)
{
	struct text text = {0}, name = {0};
	const char *rest = behind_name(said, &name);
	int rc;

	if (rest || !nth)
		text_printf(&text, "\nBuffer: %s%s%.*s\n\n", g->source->name, name.len ? colon : "",
			    (int)name.len, name.len ? name.buf : "");
	text_puts(&text, rest ? rest : said);
	text_putc(&text, '\0');
	rc = text.failed ? -ENOMEM
			 : journal_put(g->j->journal, JOURNAL_OPTION, DAT_OPTION_CPUSTAT,
				       g->j->nr_stats++, text.buf, text.len);
	text_free(&text);
	text_free(&name);
	return rc;
}

static int take_statistics(struct guest *g)
{
	struct dat_text option;
	int rc = 0;

	g->part->stat = g->j->nr_stats;
	for (size_t i = 0; !rc && dat_option(g->dat, DAT_OPTION_CPUSTAT, i, &option); i++)
		rc = put_statistics(g, i, option.text);
	g->part->nr_stats = g->j->nr_stats - g->part->stat;
	return rc;
}

/* --- what it says of them ----------------------------------------------------------------------
 */

/* Only to know where addresses are: of names there may be many. */
static int find_pointers(struct guest *g)
{
	const struct formats_config cfg = {.no_plugins = true};
	struct dat_info info = *dat_info(g->dat);

	if (!place_moves(&g->move))
		return 0;
	info.kallsyms = info.printk_formats = info.cmdlines = (struct dat_text){NULL, 0};
	g->formats = formats_new(&cfg);
	if (!g->formats)
		return -ENOMEM;
	if (formats_load(g->formats, &info, g->j->err, g->j->errlen))
		return -EINVAL;
	g->pointers = pointers_new(g->formats);
	return g->pointers ? 0 : -ENOMEM;
}

static int take_names(struct guest *g)
{
	const struct dat_info *info = dat_info(g->dat);
	struct join *j = g->j;
	int rc = ids_add(&j->ids, info, g->map, &g->part->formats);

	if (!rc)
		rc = places_add(&j->places, info, &g->part->names, &g->move);
	if (!rc && g->source == j->source)
		text_add(&j->header_event, info->header_event.text, info->header_event.len);
	snprintf(g->part->uname, sizeof(g->part->uname), "%s", info->uname ? info->uname : "");
	g->part->has_trace_id = info->has_trace_id;
	g->part->trace_id = info->trace_id;
	return rc;
}

static int take_all(struct guest *g, size_t i)
{
	int rc = take_names(g);

	if (!rc)
		rc = find_pointers(g);
	if (!rc)
		rc = take_buffers(g);
	if (!rc)
		rc = take_statistics(g);
	return rc ? rc : join_tasks_end(&g->j->tasks, i, &dat_info(g->dat)->cmdlines);
}

static void guest_exit(struct guest *g)
{
	pointers_free(g->pointers);
	formats_free(g->formats);
	place_move_exit(&g->move);
	dat_close(g->dat);
	free(g->writer);
	free(g->map);
}

int join_guest(struct join *j, size_t i)
{
	const struct join_source *s = &j->source[i];
	struct guest g = {.j = j, .source = s, .part = &j->part[i]};
	int rc;

	g.dat = join_open(j, s);
	if (!g.dat)
		return -EINVAL;
	g.map = malloc(sizeof(*g.map));
	g.writer = malloc(sizeof(*g.writer));
	rc = g.map && g.writer ? take_all(&g, i) : -ENOMEM;
	if (rc == -E2BIG)
		rc = join_fail(j, s->path,
			       "all files together have more events than there are numbers for");
	guest_exit(&g);
	return rc;
}
