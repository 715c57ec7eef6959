// SPDX-License-Identifier: GPL-2.0-or-later
/* image.c - from the file that a distribution installs to the ELF image inside it. */
#include "guestsym/internal.h"

#include <elf.h>
#include <errno.h>
#include <inttypes.h>

/* The setup header of a bzImage: Documentation/x86/boot.rst of the kernel. */
enum {
	SETUP_SECTS = 0x1f1,
	SETUP_BOOT_FLAG = 0x1fe,
	SETUP_MAGIC = 0x202,
	SETUP_VERSION = 0x206,
	SETUP_XLOADFLAGS = 0x236,
	SETUP_PAYLOAD_OFFSET = 0x248,
	SETUP_PAYLOAD_LENGTH = 0x24c,
	SETUP_MIN_SIZE = 0x250,

	SETUP_SECTOR = 512,
	SETUP_DEFAULT_SECTS = 4,
	SETUP_XLF_KERNEL_64 = 1 << 0,
};

static bool is_bzimage(const struct blob *f)
{
	return f->len >= SETUP_MIN_SIZE && get_u16(f->data + SETUP_BOOT_FLAG) == 0xaa55 &&
	       !memcmp(f->data + SETUP_MAGIC, "HdrS", 4);
}

/* Where the compressed payload is, as protocol 2.08 (Linux 2.6.26) and later tell. */
static int bzimage_payload(const struct blob *f, const uint8_t **payload, size_t *len,
			   const struct complaint *c)
{
	uint64_t sects = f->data[SETUP_SECTS], off, size;
	uint16_t version = get_u16(f->data + SETUP_VERSION);

	if (version < 0x20c || !(get_u16(f->data + SETUP_XLOADFLAGS) & SETUP_XLF_KERNEL_64))
		return complain(c, -EINVAL,
				"is not an x86-64 kernel (boot protocol %u.%02u, no 64-bit entry); "
				"hvtrace needs a 64-bit one, Linux 5.10 or later",
				version >> 8, version & 0xff);
	if (!sects)
		sects = SETUP_DEFAULT_SECTS;
	off = (sects + 1) * SETUP_SECTOR + get_u32(f->data + SETUP_PAYLOAD_OFFSET);
	size = get_u32(f->data + SETUP_PAYLOAD_LENGTH);
	if (off + size > f->len)
		return complain(c, -EINVAL,
				"is truncated: its payload ends at byte %" PRIu64
				", the file at %zu; "
				"copy or install it again",
				off + size, f->len);
	*payload = f->data + off;
	*len = size;
	return 0;
}

/*
 * The kernel build appends the unpacked size to the payload (scripts/Makefile.lib: size_append);
 * gzip has it there by itself.
 */
static int bzimage_unpack(const struct blob *file, struct blob *elf, const struct complaint *c)
{
	const uint8_t *payload = NULL;
	size_t len = 0;
	uint32_t unpacked;
	int err;

	err = bzimage_payload(file, &payload, &len, c);
	if (err)
		return err;
	if (len < 8)
		return complain(c, -EINVAL, "has no payload; install the kernel image again");
	unpacked = get_u32(payload + len - 4);
	if (!unpacked || unpacked > IMAGE_MAX_UNPACKED)
		return complain(c, -EINVAL,
				"claims to unpack to %u bytes, which no kernel does; "
				"install the kernel image again",
				unpacked);
	err = blob_alloc(elf, unpacked);
	if (err)
		return complain(c, err, "no memory for its %u bytes", unpacked);
	err = payload_unpack(payload, len, elf->map, unpacked, c);
	if (err)
		blob_free(elf);
	return err;
}

int image_cannot_be_read(const struct complaint *c, int err)
{
	if (err == -ESTALE)
		return complain(
			c, err,
			"changes while it is read; try again once it is written completely");
	if (err == -EFBIG)
		return complain(c, err,
				"has more than the %" PRIu64 " MB that are read of a kernel; "
				"give a /boot/vmlinuz-* or a vmlinux without debug data (strip -g)",
				IMAGE_MAX_FILE >> 20);
	return complain(c, err, "%s; give a readable /boot/vmlinuz-* or vmlinux",
			err == -EINVAL ? "is no regular file" : strerror(-err));
}

int image_read(struct blob *file, int fd, const struct stat *st, const struct complaint *c)
{
	int err = blob_read(file, fd, st);

	return err ? image_cannot_be_read(c, err) : 0;
}

int image_unpack(struct blob *file, struct blob *elf, bool *unpacked, const struct complaint *c)
{
	*elf = (struct blob){0};
	*unpacked = false;
	if (file->len >= SELFMAG && !memcmp(file->data, ELFMAG, SELFMAG)) {
		*elf = *file;
		*file = (struct blob){0};
		return 0;
	}
	if (!is_bzimage(file))
		return complain(c, -EINVAL,
				"is no Linux kernel for x86 (neither a bzImage nor an ELF file); "
				"give a /boot/vmlinuz-* or a vmlinux");
	*unpacked = true;
	return bzimage_unpack(file, elf, c);
}
