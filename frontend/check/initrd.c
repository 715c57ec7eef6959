// SPDX-License-Identifier: GPL-2.0-or-later
/* initrd.c - an archive with the process of image-init.S, and a console for it. */
#include "frontend/check/boot.h"
#include "frontend/check/image.h"
#include "frontend/lib/cpio.h"

#include <sys/stat.h>

void *initrd_make(size_t *len)
{
	const struct cpio_entry entries[] = {
		{.name = "dev", .mode = S_IFDIR | 0755},
		{.name = "dev/console", .mode = S_IFCHR | 0600, .major = 5, .minor = 1},
		{.name = "init",
		 .mode = S_IFREG | 0755,
		 .data = init_image,
		 .size = (size_t)(init_image_end - init_image)},
	};

	return cpio_make(entries, sizeof(entries) / sizeof(entries[0]), len);
}
