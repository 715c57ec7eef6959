// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * cpio.c - see cpio.h. The format is the one that Linux 6.1 calls "newc"
 * (Documentation/driver-api/early-userspace/buffer-format.rst).
 */
#include "frontend/lib/cpio.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Names and data end at multiples of four bytes of the archive. */
static void pad(FILE *out)
{
	while (ftell(out) & 3)
		fputc(0, out);
}

static void entry_write(FILE *out, const struct cpio_entry *e, unsigned int ino)
{
	size_t name_size = strlen(e->name) + 1;

	fprintf(out, "070701%08x%08x%08x%08x%08x%08x%08zx%08x%08x%08x%08x%08zx%08x", ino, e->mode,
		0, 0, 1, 0, e->size, 0, 0, e->major, e->minor, name_size, 0);
	fwrite(e->name, 1, name_size, out);
	pad(out);
	if (e->size)
		fwrite(e->data, 1, e->size, out);
	pad(out);
}

void *cpio_make(const struct cpio_entry *entries, size_t nr, size_t *len)
{
	static const struct cpio_entry end = {.name = "TRAILER!!!"};
	char *archive = NULL;
	FILE *out = open_memstream(&archive, len);
	bool failed;

	if (!out)
		return NULL;
	for (size_t i = 0; i < nr; i++)
		entry_write(out, &entries[i], (unsigned int)i + 1);
	entry_write(out, &end, (unsigned int)nr + 1);
	failed = ferror(out);
	failed |= fclose(out) != 0;
	if (!failed)
		return archive;
	free(archive);
	return NULL;
}
