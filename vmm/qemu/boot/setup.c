// SPDX-License-Identifier: GPL-2.0-or-later
/* setup.c - the setup header of a bzImage in memory, and the compressed kernel that it tells of. */
#include "vmm/qemu/boot/boot.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Of struct boot_params, and of the image itself. */
enum {
	SETUP_SECTS = 0x1f1,
	SETUP_BOOT_FLAG = 0x1fe,
	SETUP_MAGIC = 0x202,
	SETUP_VERSION = 0x206,
	SETUP_CODE32_START = 0x214,
	SETUP_XLOADFLAGS = 0x236,
	SETUP_PAYLOAD_OFFSET = 0x248,
	SETUP_PAYLOAD_LENGTH = 0x24c,
	SETUP_SIZE = 0x250,

	SETUP_SECTOR = 512,
	SETUP_DEFAULT_SECTS = 4,
	SETUP_XLF_KERNEL_64 = 1 << 0,
};

#define PAGE	    4096
#define CHUNK	    (256 << 10) /* that is searched through at once */
#define PAYLOAD_MAX (256u << 20)
#define HEAD_SIZE   512

static const uint8_t magic[4] = {'H', 'd', 'r', 'S'};

static uint16_t get_u16(const uint8_t *p)
{
	uint16_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

static uint32_t get_u32(const uint8_t *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

/* GRUB clears the boot flag (0xaa55) in what it passes on. */
static bool is_header(const uint8_t b[SETUP_SIZE])
{
	uint16_t version = get_u16(b + SETUP_VERSION);

	return !memcmp(b + SETUP_MAGIC, magic, sizeof(magic)) && version >= 0x20c &&
	       version <= 0x2ff && get_u16(b + SETUP_XLOADFLAGS) & SETUP_XLF_KERNEL_64;
}

/*
 * What a boot loader passes on says where it has put the code. What it has read, or UEFI has
 * loaded, is one piece: there the code lies behind the header's own sectors.
 */
static void fill_setup(struct boot_setup *s, uint64_t at, const uint8_t b[SETUP_SIZE])
{
	unsigned int sects = b[SETUP_SECTS] ? b[SETUP_SECTS] : SETUP_DEFAULT_SECTS;

	*s = (struct boot_setup){
		.at = at,
		.code = {at + (sects + 1) * SETUP_SECTOR, get_u32(b + SETUP_CODE32_START)},
		.payload_offset = get_u32(b + SETUP_PAYLOAD_OFFSET),
		.payload_length = get_u32(b + SETUP_PAYLOAD_LENGTH),
	};
}

int boot_setup_read(const struct boot_memory *mem, uint64_t at, struct boot_setup *s)
{
	uint8_t b[SETUP_SIZE];
	int rc = mem->read(mem->arg, at, b, sizeof(b));

	if (rc)
		return rc == -EFAULT ? -ENOENT : rc;
	if (!is_header(b))
		return -ENOENT;
	fill_setup(s, at, b);
	return 0;
}

static int find_in(const struct boot_memory *mem, struct boot_range r, uint8_t *chunk,
		   struct boot_setup *s)
{
	for (uint64_t at = r.start; r.end - at >= PAGE;) {
		size_t len =
			r.end - at < CHUNK ? (size_t)(r.end - at) & ~(size_t)(PAGE - 1) : CHUNK;
		int rc = mem->read(mem->arg, at, chunk, len);

		if (rc && rc != -EFAULT)
			return rc;
		for (size_t i = 0; !rc && i < len; i += PAGE) {
			if (!is_header(chunk + i))
				continue;
			fill_setup(s, at + i, chunk + i);
			return 0;
		}
		at += len;
	}
	return -ENOENT;
}

int boot_setup_find(const struct boot_memory *mem, uint64_t from, struct boot_setup *s)
{
	uint8_t *chunk = malloc(CHUNK);
	int rc = chunk ? -ENOENT : -ENOMEM;

	for (size_t i = 0; i < mem->nram && rc == -ENOENT; i++) {
		struct boot_range r = mem->ram[i];

		if (r.start < from)
			r.start = from;
		r.start = (r.start + PAGE - 1) & ~(uint64_t)(PAGE - 1);
		if (r.start < r.end)
			rc = find_in(mem, r, chunk, s);
	}
	free(chunk);
	return rc;
}

/* The header as boot.rst wants it, and the payload with no code in front of it. */
static void make_header(uint8_t head[2 * SETUP_SECTOR], uint32_t payload_length)
{
	const uint32_t offset = 0;
	const uint16_t boot_flag = 0xaa55, version = 0x20c, flags = SETUP_XLF_KERNEL_64;

	memset(head, 0, 2 * SETUP_SECTOR);
	head[SETUP_SECTS] = 1;
	memcpy(head + SETUP_BOOT_FLAG, &boot_flag, sizeof(boot_flag));
	memcpy(head + SETUP_MAGIC, magic, sizeof(magic));
	memcpy(head + SETUP_VERSION, &version, sizeof(version));
	memcpy(head + SETUP_XLOADFLAGS, &flags, sizeof(flags));
	memcpy(head + SETUP_PAYLOAD_OFFSET, &offset, sizeof(offset));
	memcpy(head + SETUP_PAYLOAD_LENGTH, &payload_length, sizeof(payload_length));
}

/* Its last four bytes are how much it unpacks to: cheap to look at, before all of it is read. */
static int check_payload(const struct boot_memory *mem, uint64_t at, uint32_t len)
{
	uint8_t size[4];
	int rc;

	if (len <= sizeof(size) || len > PAYLOAD_MAX)
		return -ENOENT;
	rc = mem->read(mem->arg, at + len - sizeof(size), size, sizeof(size));
	if (rc)
		return rc == -EFAULT ? -ENOENT : rc;
	return get_u32(size) < len / 2 || get_u32(size) > 8 * PAYLOAD_MAX - 1u ? -ENOENT : 0;
}

int boot_image_read(const struct boot_memory *mem, const struct boot_setup *s, uint64_t code,
		    uint8_t **image, size_t *len)
{
	uint64_t at = code + s->payload_offset;
	uint8_t *bytes;
	int rc = check_payload(mem, at, s->payload_length);

	if (rc)
		return rc;
	*len = 2 * SETUP_SECTOR + (size_t)s->payload_length;
	bytes = malloc(*len);
	if (!bytes)
		return -ENOMEM;
	make_header(bytes, s->payload_length);
	rc = mem->read(mem->arg, at, bytes + 2 * SETUP_SECTOR, s->payload_length);
	if (rc) {
		free(bytes);
		return rc == -EFAULT ? -ENOENT : rc;
	}
	*image = bytes;
	return 0;
}

bool boot_code_is_same(const struct boot_memory *mem, uint64_t a, uint64_t b)
{
	uint8_t head[2][HEAD_SIZE];

	return !mem->read(mem->arg, a + BOOT_STARTUP_64, head[0], HEAD_SIZE) &&
	       !mem->read(mem->arg, b + BOOT_STARTUP_64, head[1], HEAD_SIZE) &&
	       !memcmp(head[0], head[1], HEAD_SIZE);
}
