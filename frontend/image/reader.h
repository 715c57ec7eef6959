/* SPDX-License-Identifier: GPL-2.0-or-later */
/* reader.h - for the files in here: who reads the file systems of an image. */
#ifndef HVTRACE_FRONTEND_IMAGE_READER_H
#define HVTRACE_FRONTEND_IMAGE_READER_H

#include "frontend/image/boot/boot.h"
#include "frontend/image/image.h"

struct image_reader {
	const char *name;
	const char *package; /* of Debian, that has it */
	/* Whether it is installed. */
	bool (*usable)(void);
	/*
	 * *disk is what is in the image, until it is closed. 0 or -errno, with a line in err that
	 * begins with its name. On error there is nothing to close.
	 */
	int (*open)(const struct image_boot_config *cfg, struct boot_disk *disk, char *err,
		    size_t errlen);
	/* A regular file into one of the host's; -EFBIG beyond max. Why it did not go is in err. */
	int (*copy)(const struct boot_disk *disk, const struct boot_file *from, const char *to,
		    uint64_t max, char *err, size_t errlen);
	void (*close)(struct boot_disk *disk);
};

extern const struct image_reader guestfish_reader;

/* info.c: whether there may be something to start in a raw image. 0; -errno, and err says why. */
int image_check_raw(const char *path, char *err, size_t errlen);

#endif
