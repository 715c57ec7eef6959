// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * image-read.c - what is in a disk image: its format, then what its boot loader would start, as in
 * tests/data/boot, whose files are copied to a folder.
 */
#include "frontend/image/image.h"

#include <stdio.h>

int main(int argc, char **argv)
{
	struct image_boot_config cfg = {.no_kvm = true};
	struct image_info info;
	struct image_boot boot;
	char err[512];

	if (argc != 3) {
		fprintf(stderr, "usage: image-read IMAGE FOLDER\n");
		return 2;
	}
	cfg.path = argv[1];
	cfg.format = info.format;
	cfg.dir = argv[2];
	if (image_info(argv[1], NULL, &info, err, sizeof(err)) ||
	    image_boot_read(&cfg, &boot, err, sizeof(err))) {
		fprintf(stderr, "image-read: %s: %s\n", argv[1], err);
		return 1;
	}
	printf("format %s\nloader %s\ntitle %s\nsource %s\ncmdline %s\n", info.format, boot.loader,
	       boot.title, boot.source, boot.cmdline);
	image_boot_free(&boot);
	return 0;
}
