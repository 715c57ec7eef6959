// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * initrd.c - an archive with the process of image-init.S, and a console for it, in the format that
 * kernels unpack (Documentation/driver-api/early-userspace/buffer-format.rst of Linux 6.1: "newc").
 */
#include "frontend/check/boot.h"
#include "frontend/check/image.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct entry {
	const char *name;
	unsigned int mode, major, minor;
	const void *data;
	size_t size;
};

/* Names and data end at multiples of four bytes of the archive. */
static void pad(FILE *out)
{
	while (ftell(out) & 3)
		fputc(0, out);
}

static void entry_write(FILE *out, const struct entry *e, unsigned int ino)
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

void *initrd_make(size_t *len)
{
	const struct entry entries[] = {
		{.name = "dev", .mode = S_IFDIR | 0755},
		{.name = "dev/console", .mode = S_IFCHR | 0600, .major = 5, .minor = 1},
		{.name = "init",
		 .mode = S_IFREG | 0755,
		 .data = init_image,
		 .size = (size_t)(init_image_end - init_image)},
		{.name = "TRAILER!!!"},
	};
	char *archive = NULL;
	FILE *out = open_memstream(&archive, len);
	bool failed;

	if (!out)
		return NULL;
	for (unsigned int i = 0; i < sizeof(entries) / sizeof(entries[0]); i++)
		entry_write(out, &entries[i], i + 1);
	failed = ferror(out);
	failed |= fclose(out) != 0;
	if (!failed)
		return archive;
	free(archive);
	return NULL;
}
