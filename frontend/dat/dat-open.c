// SPDX-License-Identifier: GPL-2.0-or-later
/* dat-open.c - opens a trace.dat file: what its head says, and which container it is. */
#include "frontend/dat/journal.h"
#include "frontend/dat/local.h"

#include "guestsym/guestsym.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char magic[] = "\x17\x08\x44tracing";

enum { PAGE_MIN = 4096, PAGE_MAX = 65536, LONG_SIZE = 8 };

/* Of all that is read page by page at the same time. */
#define CHUNKS_MAX (UINT64_C(1) << 30)

static const struct dat_container *const containers[] = {&dat_v6, &dat_v7};

/* --- errors, memory ----------------------------------------------------------------------------
 */

/* Names in it are the file's: they do not end the line. */
static void clean(char *line)
{
	for (; *line; line++)
		if ((unsigned char)*line < ' ' || *line == 0x7f)
			*line = '?';
}

int dat_fail(struct dat *d, const char *format, ...)
{
	va_list ap;
	int n;

	if (!d->err || *d->err)
		return -EINVAL;
	n = snprintf(d->err, d->errlen, "%s: ", d->info.name);
	if (n < 0 || (size_t)n >= d->errlen)
		return -EINVAL;
	va_start(ap, format);
	vsnprintf(d->err + n, d->errlen - (size_t)n, format, ap);
	va_end(ap);
	clean(d->err + n);
	return -EINVAL;
}

int dat_fail_memory(struct dat *d)
{
	if (d->left)
		dat_fail(d, "no memory");
	else
		dat_fail(d, "what describes its records takes more than %u MB of memory",
			 (unsigned int)(DAT_METADATA_MAX >> 20));
	return -ENOMEM;
}

struct dat_block {
	struct dat_block *next;
	uint64_t bytes[];
};

/* Take it from what is left; what is too much leaves nothing, so that the line about it is true. */
static bool take(struct dat *d, uint64_t len)
{
	if (len > d->left) {
		d->left = 0;
		return false;
	}
	d->left -= len;
	return true;
}

void *dat_alloc(struct dat *d, uint64_t len)
{
	struct dat_block *b = NULL;

	if (len <= DAT_METADATA_MAX && take(d, len + sizeof(*b)))
		b = malloc(sizeof(*b) + len);
	else
		d->left = 0;
	if (!b) {
		dat_fail_memory(d);
		return NULL;
	}
	b->next = d->blocks;
	d->blocks = b;
	return b->bytes;
}

struct dat_text dat_keep_part(struct dat *d, const struct dat_text *all,
			      const struct dat_text *part)
{
	struct dat_block **b = &d->blocks, *smaller;
	char *text;

	while (*b && (const char *)(*b)->bytes != all->text)
		b = &(*b)->next;
	if (!*b || !part->text)
		return (struct dat_text){NULL, 0};
	text = (char *)(*b)->bytes;
	memmove(text, part->text, part->len);
	text[part->len] = '\0';
	smaller = realloc(*b, sizeof(**b) + part->len + 1);
	if (smaller)
		*b = smaller;
	return (struct dat_text){(char *)(*b)->bytes, part->len};
}

int dat_array_grow(struct dat *d, void **array, size_t nr, size_t *room, size_t size)
{
	size_t more = *room ? *room : 16;
	void *grown = NULL;

	if (nr < *room)
		return 0;
	if (take(d, (uint64_t)more * size))
		grown = realloc(*array, (*room + more) * size);
	if (!grown)
		return dat_fail_memory(d);
	*array = grown;
	*room += more;
	return 0;
}

/* --- the head ----------------------------------------------------------------------------------
 */

static int read_version(struct dat_in *in)
{
	const char *version;
	int rc = dat_in_string(in, &version);

	if (rc)
		return rc;
	if (strspn(version, "0123456789") != strlen(version) || !*version || strlen(version) > 4)
		return dat_fail(in->d, "its version is no number");
	in->d->info.version = (unsigned int)strtoul(version, NULL, 10);
	return 0;
}

static int read_sizes(struct dat_in *in)
{
	struct dat *d = in->d;
	uint8_t endian_long[2];
	int rc = dat_in_bytes(in, endian_long, sizeof(endian_long));

	if (!rc)
		rc = dat_in_u32(in, &d->info.page_size);
	if (rc)
		return rc;
	if (endian_long[0])
		return dat_fail(d, "it is of a big-endian machine, which hvtrace does not read");
	if (endian_long[1] != LONG_SIZE)
		return dat_fail(d, "its long has %u bytes; hvtrace reads files of 64-bit machines",
				endian_long[1]);
	if (d->info.page_size < PAGE_MIN || d->info.page_size > PAGE_MAX ||
	    d->info.page_size & (d->info.page_size - 1))
		return dat_fail(d, "its pages have %u bytes; hvtrace reads those of 4 to 64 KiB",
				d->info.page_size);
	return 0;
}

static int read_head(struct dat_in *in)
{
	uint8_t start[sizeof(magic) - 1];
	struct dat *d = in->d;
	int rc = 0;

	if (d->file_size < sizeof(start))
		return dat_fail(d, "it is no trace.dat file");
	rc = dat_in_bytes(in, start, sizeof(start));
	if (!rc && memcmp(start, magic, sizeof(start)) != 0)
		rc = dat_fail(d, "it is no trace.dat file");
	if (!rc)
		rc = read_version(in);
	return rc ? rc : read_sizes(in);
}

static int read_all(struct dat *d)
{
	struct dat_in in = {.d = d, .end = d->file_size, .what = "head"};
	int rc = 0;

	if (dat_journal.is_it(d))
		d->container = &dat_journal;
	else
		rc = read_head(&in);
	for (size_t i = 0; !rc && !d->container && i < sizeof(containers) / sizeof(*containers);
	     i++)
		if (containers[i]->is_it(d))
			d->container = containers[i];
	if (!rc && !d->container)
		rc = dat_fail(d, "it is a trace.dat file of version %u; hvtrace reads 6 and 7",
			      d->info.version);
	if (!rc)
		rc = d->container->read(d, &in);
	if (!rc)
		rc = dat_options_apply(d);
	d->info.formats = d->formats;
	return rc ? rc : dat_parts_read(d);
}

bool dat_is_one(const void *head, size_t len)
{
	const size_t magic_len = sizeof(magic) - 1;

	return (len >= magic_len && !memcmp(head, magic, magic_len)) || journal_is_one(head, len);
}

/* --- the file ----------------------------------------------------------------------------------
 */

static struct dat *dat_new(int fd, const char *name, char *err, size_t errlen)
{
	struct dat *d = calloc(1, sizeof(*d));

	if (!d)
		return NULL;
	*err = '\0';
	d->fd = fd;
	d->err = err;
	d->errlen = errlen;
	d->left = DAT_METADATA_MAX;
	d->chunks_left = CHUNKS_MAX;
	d->compression = dat_compression_find("none");
	d->info.compression = d->compression->name;
	d->info.name = strdup(name);
	if (d->info.name)
		return d;
	free(d);
	return NULL;
}

struct dat *dat_open_fd(int fd, const char *name, char *err, size_t errlen)
{
	struct dat *d = dat_new(fd, name, err, errlen);
	struct stat st;
	int rc = 0;

	if (!d) {
		snprintf(err, errlen, "%s: no memory", name);
		close(fd);
		return NULL;
	}
	if (fstat(fd, &st))
		rc = dat_fail(d, "%s", strerror(errno));
	else if (!S_ISREG(st.st_mode))
		rc = dat_fail(d, "it is not a regular file");
	else
		d->file_size = (uint64_t)st.st_size;
	if (!rc)
		rc = read_all(d);
	d->err = NULL;
	if (!rc)
		return d;
	dat_close(d);
	return NULL;
}

struct dat *dat_open(const char *path, char *err, size_t errlen)
{
	struct stat st;
	int fd = guestsym_open_regular(path, &st);

	if (fd >= 0)
		return dat_open_fd(fd, path, err, errlen);
	snprintf(err, errlen, "%s: %s", path,
		 fd == -EINVAL ? "it is not a regular file" : strerror(-fd));
	return NULL;
}

void dat_close(struct dat *d)
{
	if (!d)
		return;
	for (size_t i = 0; i < d->nr_buffers; i++)
		for (unsigned int v = 0; v < d->buffers[i].nr_vcpus; v++)
			free((void *)(uintptr_t)d->buffers[i].vcpus[v].pieces);
	for (struct dat_block *b = d->blocks, *next; b; b = next) {
		next = b->next;
		free(b);
	}
	free(d->buffers);
	free(d->options);
	free(d->formats);
	free((void *)(uintptr_t)d->info.name);
	close(d->fd);
	free(d);
}

const struct dat_info *dat_info(const struct dat *d)
{
	return &d->info;
}

/* Behind the nth space from the beginning on; NULL: there are fewer. */
static const char *behind_space(const char *at, unsigned int n)
{
	while (n-- && (at = strchr(at, ' ')))
		at++;
	return at;
}

const char *dat_uname(const struct dat_info *info, enum dat_uname_word word, size_t *len)
{
	unsigned int spaces = 0, more, from = (unsigned int)word; /* more: in the node */
	const char *at, *end;

	for (at = info->uname; at && *at; at++)
		spaces += *at == ' ';
	if (!at)
		return NULL;
	more = spaces > DAT_UNAME_ARCH ? spaces - DAT_UNAME_ARCH : 0;
	at = behind_space(info->uname, word > DAT_UNAME_NODE ? from + more : from);
	if (!at)
		return NULL;
	end = behind_space(at, word == DAT_UNAME_NODE ? more + 1 : 1);
	*len = end ? (size_t)(end - at) - 1 : strlen(at);
	return at;
}
