// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * fuzz-boot.c - what is looked for in a guest's memory while it boots. The input is laid over that
 * memory again and again, and is the kernel's image as well.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "vmm/qemu/boot/boot.h"

#define MIB (UINT64_C(1) << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct fuzz_input {
	const uint8_t *data;
	size_t size;
	uint64_t period; /* 1 MiB: at 2 and 4 MiB, where kernels and tables are looked for, it
			    begins */
};

static const struct boot_range ranges[] = {{0, 0xa0000}, {3 * MIB, 5 * MIB}};

static int read_input(void *arg, uint64_t pa, void *buf, size_t len)
{
	const struct fuzz_input *in = arg;
	uint8_t *to = buf;

	if ((pa >= ranges[0].end || len > ranges[0].end - pa) &&
	    (pa < ranges[1].start || pa >= ranges[1].end || len > ranges[1].end - pa))
		return -EFAULT;
	memset(to, 0, len);
	for (size_t i = 0; i < len;) {
		uint64_t off = (pa + i) % in->period, left = in->period - off;
		size_t n = len - i < left ? len - i : (size_t)left;

		if (off < in->size)
			memcpy(to + i, in->data + off, n < in->size - off ? n : in->size - off);
		i += n;
	}
	return 0;
}

static void check(int rc)
{
	if (rc && rc != -ENOENT && rc != -EINVAL)
		abort();
}

static void try_setup(const struct boot_memory *mem)
{
	struct boot_setup s;
	uint64_t from = 0;

	for (unsigned int n = 0; n < 4 && !boot_setup_find(mem, from, &s); n++) {
		if (s.at < from || s.at % 4096)
			abort();
		for (size_t i = 0; i < 2; i++) {
			uint8_t *image;
			size_t len;
			int rc = boot_image_read(mem, &s, s.code[i], &image, &len);

			check(rc);
			if (rc)
				continue;
			if (len != 1024 + (size_t)s.payload_length ||
			    memcmp(image + 0x202, "HdrS", 4))
				abort();
			free(image);
		}
		from = s.at + 1;
	}
}

static void try_kernel(const struct boot_memory *mem, const uint8_t *data, size_t size)
{
	struct boot_kernel k;
	uint64_t pa, slide;
	int rc = boot_kernel_open(&k, data, size);

	check(rc);
	if (rc)
		return;
	check(boot_kernel_unpacks(&k, mem, &pa));
	rc = boot_kernel_find(&k, mem, &pa, &slide);
	check(rc);
	if (!rc && (pa % BOOT_KERNEL_ALIGN || slide % BOOT_KERNEL_ALIGN || slide >= 1024 * MIB))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input in = {data, size, MIB};
	const struct boot_memory mem = {read_input, &in, ranges, 2};
	uint64_t at;

	try_setup(&mem);
	try_kernel(&mem, data, size);
	check(boot_efi_exit(&mem, &at));
	for (size_t i = 0; i < 2; i++) {
		check(boot_unpacker_moves(&mem, ranges[i].start, &at));
		check(boot_unpacker_ends(&mem, ranges[i].start, &at));
	}
	boot_code_is_same(&mem, 0, 3 * MIB);
	return 0;
}
