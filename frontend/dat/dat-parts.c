// SPDX-License-Identifier: GPL-2.0-or-later
/* dat-parts.c - files of several guests: which there are, and one of them as a file of its own. */
#include "frontend/dat/bytes.h"
#include "frontend/dat/format.h"
#include "frontend/dat/local.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* --- its last bytes ----------------------------------------------------------------------------
 */

struct parts_end {
	uint64_t at, size; /* of the description */
	uint32_t nr;
};

/* False: it has none, or says what cannot be. */
static bool read_end(int fd, uint64_t file_size, struct parts_end *end)
{
	uint8_t bytes[DAT_PARTS_END];

	if (file_size < sizeof(bytes) ||
	    bytes_read(fd, file_size - sizeof(bytes), bytes, sizeof(bytes)) ||
	    memcmp(bytes, DAT_PARTS_MAGIC, DAT_PARTS_MAGIC_LEN) != 0)
		return false;
	memcpy(&end->size, bytes + DAT_PARTS_MAGIC_LEN, sizeof(end->size));
	memcpy(&end->nr, bytes + DAT_PARTS_MAGIC_LEN + sizeof(end->size), sizeof(end->nr));
	if (!end->nr || end->nr > DAT_PARTS_MAX || end->size > file_size - sizeof(bytes))
		return false;
	end->at = file_size - sizeof(bytes) - end->size;
	return true;
}

unsigned int dat_parts_claimed(int fd)
{
	struct parts_end end;
	struct stat st;

	return !fstat(fd, &st) && read_end(fd, (uint64_t)st.st_size, &end) ? end.nr : 0;
}

/* --- reading ---------------------------------------------------------------------------------- */

static int lies(struct dat *d, const struct dat_part *p, const char *what)
{
	return dat_fail(d, "it lies: what it says of %s of %.64s cannot be", what, p->name);
}

static int read_numbers(struct dat_in *in, struct dat_part *p)
{
	uint32_t *const small[] = {&p->buffer, &p->nr_buffers, &p->stat, &p->nr_stats};
	int rc = dat_in_u32(in, &p->vcpus);

	if (!rc)
		rc = dat_in_u32(in, &p->has_trace_id);
	if (!rc)
		rc = dat_in_u64(in, &p->trace_id);
	for (size_t i = 0; i < sizeof(small) / sizeof(*small) && !rc; i++)
		rc = dat_in_u32(in, small[i]);
	if (rc)
		return rc;
	if (!p->vcpus || p->vcpus > DAT_CPUS_MAX)
		return lies(in->d, p, "vCPUs");
	if (!p->nr_buffers || p->buffer > in->d->nr_buffers ||
	    p->nr_buffers > in->d->nr_buffers - p->buffer)
		return lies(in->d, p, "buffers");
	return 0;
}

/* A part of a text that is for all guests. */
static int read_range(struct dat_in *in, struct dat_part *p, const struct dat_text *all,
		      struct dat_text *part)
{
	uint64_t at, len;
	int rc = dat_in_u64(in, &at);

	if (!rc)
		rc = dat_in_u64(in, &len);
	if (rc)
		return rc;
	if (at > all->len || len > all->len - at)
		return lies(in->d, p, "names");
	*part = (struct dat_text){all->text ? all->text + at : NULL, len};
	return 0;
}

static int read_formats(struct dat_in *in, struct dat_part *p)
{
	uint16_t *numbers;
	int rc = dat_in_u32(in, &p->nr_formats);

	if (rc)
		return rc;
	if (p->nr_formats > in->d->info.nr_formats)
		return lies(in->d, p, "formats");
	numbers = dat_alloc(in->d, p->nr_formats * sizeof(*numbers) + 1);
	if (!numbers)
		return -ENOMEM;
	p->formats = numbers;
	rc = dat_in_bytes(in, numbers, p->nr_formats * sizeof(*numbers));
	for (uint32_t i = 0; i < p->nr_formats && !rc; i++)
		if (numbers[i] >= in->d->info.nr_formats)
			rc = lies(in->d, p, "formats");
	return rc;
}

static int read_part(struct dat_in *in, struct dat_part *p)
{
	const struct dat_info *info = &in->d->info;
	int rc = dat_in_string(in, &p->name);

	if (!rc)
		rc = dat_in_string(in, &p->uname);
	if (!rc)
		rc = read_numbers(in, p);
	if (!rc)
		rc = read_range(in, p, &info->kallsyms, &p->kallsyms);
	if (!rc)
		rc = read_range(in, p, &info->printk_formats, &p->printk_formats);
	if (!rc)
		rc = read_formats(in, p);
	return rc ? rc : dat_meta_text64(in, &p->cmdlines);
}

int dat_parts_read(struct dat *d)
{
	struct dat_in in = {.d = d, .what = "description of guests"};
	struct parts_end end;
	uint32_t form;
	int rc;

	if (!read_end(d->fd, d->file_size, &end))
		return 0;
	in.at = end.at;
	in.end = end.at + end.size;
	rc = dat_in_u32(&in, &form);
	if (!rc && form != DAT_PARTS_FORM)
		rc = dat_fail(d, "it was written by another version of hvtrace");
	if (rc)
		return rc;
	d->parts = dat_alloc(d, end.nr * sizeof(*d->parts));
	if (!d->parts)
		return -ENOMEM;
	memset(d->parts, 0, end.nr * sizeof(*d->parts));
	d->formats_wanted = dat_alloc(d, d->info.nr_formats + 1);
	if (!d->formats_wanted)
		return -ENOMEM;
	for (; d->nr_parts < end.nr && !rc; d->nr_parts++)
		rc = read_part(&in, &d->parts[d->nr_parts]);
	return rc;
}

size_t dat_nr_parts(const struct dat *d)
{
	return d->nr_parts;
}

const char *dat_part(const struct dat *d, size_t i)
{
	return d->parts[i].name;
}

const char *dat_title(const struct dat *d)
{
	return d->info.part ? d->info.part : d->info.name;
}

/* --- one of them -------------------------------------------------------------------------------
 */

static void drop_buffer(const struct dat_buffer *b)
{
	for (unsigned int v = 0; v < b->nr_vcpus; v++)
		free((void *)(uintptr_t)b->vcpus[v].pieces);
}

/* Where another guest has more vCPUs, all buffers have. */
static void drop_vcpus(struct dat_buffer *b, uint32_t vcpus)
{
	while (b->nr_vcpus && b->vcpus[b->nr_vcpus - 1].cpu >= vcpus &&
	       !b->vcpus[b->nr_vcpus - 1].pieces)
		b->nr_vcpus--;
	b->cpus = b->nr_vcpus ? b->vcpus[b->nr_vcpus - 1].cpu + 1 : 0;
}

/* "GUEST" is its top level, "GUEST:NAME" an instance. */
static const char *name_within(const struct dat_part *p, const char *name)
{
	size_t len = strlen(p->name);

	if (strncmp(name, p->name, len) != 0)
		return name;
	return name[len] == DAT_PART_COLON ? name + len + 1 : name[len] ? name : name + len;
}

static void choose_buffers(struct dat *d, const struct dat_part *p)
{
	for (size_t i = 0; i < d->nr_buffers; i++)
		if (i < p->buffer || i - p->buffer >= p->nr_buffers)
			drop_buffer(&d->buffers[i]);
	memmove(d->buffers, d->buffers + p->buffer, p->nr_buffers * sizeof(*d->buffers));
	d->nr_buffers = p->nr_buffers;
	for (size_t i = 0; i < d->nr_buffers; i++) {
		d->buffers[i].name = name_within(p, d->buffers[i].name);
		drop_vcpus(&d->buffers[i], p->vcpus);
	}
}

/* By their numbers, so that none is taken twice. */
static void choose_formats(struct dat *d, const struct dat_part *p)
{
	uint8_t *wanted = d->formats_wanted;
	size_t nr = 0;

	memset(wanted, 0, d->info.nr_formats);
	for (uint32_t i = 0; i < p->nr_formats; i++)
		wanted[p->formats[i]] = 1;
	for (size_t i = 0; i < d->info.nr_formats; i++)
		if (wanted[i])
			d->formats[nr++] = d->formats[i];
	d->info.nr_formats = nr;
}

static void choose_statistics(struct dat *d, const struct dat_part *p)
{
	size_t nr = 0, stat = 0;

	for (size_t i = 0; i < d->nr_options; i++) {
		bool is_stat = d->options[i].id == DAT_OPTION_CPUSTAT;

		if (!is_stat || (stat >= p->stat && stat - p->stat < p->nr_stats))
			d->options[nr++] = d->options[i];
		stat += is_stat;
	}
	d->nr_options = nr;
}

void dat_choose_part(struct dat *d, size_t i)
{
	const struct dat_part *p = &d->parts[i];

	choose_buffers(d, p);
	choose_formats(d, p);
	choose_statistics(d, p);
	d->info.part = p->name;
	d->info.uname = *p->uname ? p->uname : NULL;
	d->info.cpus = p->vcpus;
	d->info.has_trace_id = p->has_trace_id;
	d->info.trace_id = p->trace_id;
	d->info.kallsyms = dat_keep_part(d, &d->info.kallsyms, &p->kallsyms);
	d->info.printk_formats = dat_keep_part(d, &d->info.printk_formats, &p->printk_formats);
	d->info.cmdlines = p->cmdlines;
	d->nr_parts = 0;
}
