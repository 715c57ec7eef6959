/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * bls.h - entries of the Boot Loader Specification (UAPI.1, type 1): a file for each, of lines KEY
 * VALUE. Fedora's GRUB reads them, too.
 */
#ifndef HVTRACE_FRONTEND_IMAGE_BOOT_BLS_H
#define HVTRACE_FRONTEND_IMAGE_BOOT_BLS_H

#include "frontend/image/boot/local.h"

#define BLS_MAX 64 /* entries */

struct bls_entry {
	char id[256]; /* the name of its file, without ".conf" and the counters of tries */
	char title[256], version[128], machine_id[64], sort_key[128];
	char kernel[BOOT_PATH_MAX];
	char initrds[BOOT_CMDLINE_MAX]; /* paths, with spaces between them */
	char options[BOOT_CMDLINE_MAX];
	struct boot_file source;
	bool gave_up; /* it has been tried as often as it may be */
};

struct bls {
	struct bls_entry *entry;
	unsigned int nr;
};

/* The entries of a folder more, in no order. 0 or -errno, mostly with a line. */
int bls_add_folder(struct bls *bls, const struct boot_disk *disk, const struct boot_file *folder,
		   const struct boot_why *why);
/* What the boot menus have first comes first. */
void bls_sort_as_systemd(struct bls *bls);
void bls_sort_as_grub(struct bls *bls);
void bls_free(struct bls *bls);

#endif
