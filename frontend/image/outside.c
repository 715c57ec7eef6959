// SPDX-License-Identifier: GPL-2.0-or-later
/* outside.c - see outside.h */
#include "frontend/image/outside.h"

#include <endian.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* docs/interop/qcow2.txt of QEMU */
#define QCOW2_VERSION	    4
#define QCOW2_INCOMPATIBLE  72
#define QCOW2_EXTERNAL_DATA (UINT64_C(1) << 2)

/* Virtual Disk Format 5.0, and QEMU's block/vmdk.c: with a capacity of 0 its descriptor tells. */
#define VMDK_CAPACITY 12

static bool begins(const unsigned char *begin, size_t len, const char *with)
{
	return len >= strlen(with) && !memcmp(begin, with, strlen(with));
}

static bool is_qcow2_outside(const unsigned char *begin, size_t len)
{
	uint32_t version;
	uint64_t incompatible;

	if (!begins(begin, len, "QFI\xfb") || len < QCOW2_INCOMPATIBLE + sizeof(incompatible))
		return false;
	memcpy(&version, begin + QCOW2_VERSION, sizeof(version));
	memcpy(&incompatible, begin + QCOW2_INCOMPATIBLE, sizeof(incompatible));
	return be32toh(version) > 2 && be64toh(incompatible) & QCOW2_EXTERNAL_DATA;
}

/* A text, with its version behind comments and lines that are empty (vmdk_probe()). */
static bool is_vmdk_descriptor(const unsigned char *begin, size_t len)
{
	const unsigned char *at = begin, *end = begin + len;

	while (at < end && strchr("# \t\r\n", *at) && *at) {
		const unsigned char *line = *at == '#' ? memchr(at, '\n', (size_t)(end - at)) : at;

		if (!line)
			return false;
		at = line + 1;
	}
	return begins(at, (size_t)(end - at), "version=");
}

static bool is_vmdk_outside(const unsigned char *begin, size_t len)
{
	uint64_t capacity;

	if (!begins(begin, len, "KDMV"))
		return is_vmdk_descriptor(begin, len);
	if (len < VMDK_CAPACITY + sizeof(capacity))
		return false;
	memcpy(&capacity, begin + VMDK_CAPACITY, sizeof(capacity));
	return !capacity;
}

const char *image_is_outside(const unsigned char *begin, size_t len)
{
	if (is_qcow2_outside(begin, len))
		return "qcow2";
	return is_vmdk_outside(begin, len) ? "vmdk" : NULL;
}
