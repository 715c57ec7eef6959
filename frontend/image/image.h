/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * image.h - the door of frontend/image/: what a disk image is, and what its boot loader would
 * start.
 *
 * An image and all that is in it may be of anybody's making: programs of others read it, in
 * processes of their own, and they and what they start end with hvtrace.
 */
#ifndef HVTRACE_FRONTEND_IMAGE_IMAGE_H
#define HVTRACE_FRONTEND_IMAGE_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cancel;

#define IMAGE_KERNEL_MAX (UINT64_C(256) << 20)
#define IMAGE_INITRD_MAX (UINT64_C(1) << 30) /* of all initrds together */

struct image_info {
	char format[32];       /* as QEMU names it: raw, qcow2, vmdk, vdi, ... */
	uint64_t virtual_size; /* 0 with has_data_file: nobody has looked */
	bool has_backing;      /* it goes back to another file, which it names itself */
	bool has_data_file;    /* its data are in another file, which it names itself */
	bool is_encrypted;
};

/*
 * By qemu-img; where that is not installed an image can only be a raw one, by what is in it. An
 * image that is in use elsewhere can be looked at. 0; -ECANCELED, -ETIMEDOUT or another -errno with
 * a line in err: what is wrong, behind the image's name.
 */
int image_info(const char *path, const struct cancel *cancel, struct image_info *info, char *err,
	       size_t errlen);

/*
 * Whether the image is whole, as far as its own tables tell within seconds: of a raw one the
 * partitions, of others what qemu-img check says. One that is in use elsewhere is not looked at. 0;
 * -EIO or -ECANCELED with a line in err: what is wrong, behind the image's name.
 */
int image_check(const char *path, const char *format, const struct cancel *cancel, char *err,
		size_t errlen);

struct image_boot_config {
	const char *path;   /* the image */
	const char *format; /* of struct image_info */
	const char *dir;    /* an empty folder of the caller's, absolute: what is read goes there */
	/* Asked whether to give up, and its descriptor is waited for; NULL: nobody gives up. */
	const struct cancel *cancel;
	/* KVM would be slower than none: it interprets guests' kernels. */
	bool no_kvm;
};

/* All are strings of their own. */
struct image_boot {
	char *kernel;  /* in the folder: a bzImage or ELF file of x86 */
	char *initrd;  /* likewise, of all initrds; NULL: there is none */
	char *cmdline; /* as the image has it */
	char *title;   /* of the entry */
	char *source;  /* the path in the image of the file that has the entry; "": none has */
	char *loader;  /* GRUB, ... */
};

/*
 * What the image's boot loader starts when nobody touches a key: the kernel and initrd are copied
 * into the folder, in which nothing else is left. It takes a second or two with KVM, about ten
 * without. The image is not written to.
 *
 * 0; -EOPNOTSUPP (no program that reads images is installed), -ENOENT (there is nothing in it that
 * can be started like that), -ECANCELED, -ETIMEDOUT or another -errno, with a line in err: what is
 * wrong, behind the image's name.
 */
int image_boot_read(const struct image_boot_config *cfg, struct image_boot *boot, char *err,
		    size_t errlen);
void image_boot_free(struct image_boot *boot);

#endif
