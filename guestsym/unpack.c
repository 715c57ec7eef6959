// SPDX-License-Identifier: GPL-2.0-or-later
/* unpack.c - the compression formats of a kernel image's payload, each through its library. */
#include "guestsym/internal.h"

#include <bzlib.h>
#include <errno.h>
#include <limits.h>
#include <lz4.h>
#include <lzma.h>
#include <zlib.h>
#include <zstd.h>

/* Dictionaries that xz may ask for; the kernel build uses 32 MiB (scripts/xz_wrap.sh). */
#define LZMA_MEMORY (UINT64_C(512) << 20)

/* lz4's legacy frame: magic, then blocks of at most 8 MiB unpacked, each led by its length. */
#define LZ4_LEGACY_BLOCK (8 << 20)

struct unpacker {
	const char *name;
	uint8_t magic[8];
	size_t magic_len;
	/* Fill out completely: 0, or -EINVAL, -EFBIG (there is more), -ENOMEM. */
	int (*unpack)(const uint8_t *in, size_t in_len, uint8_t *out, size_t out_len);
};

static int unpack_gzip(const uint8_t *in, size_t in_len, uint8_t *out, size_t out_len)
{
	z_stream z = {.next_in = (uint8_t *)(uintptr_t)in,
		      .avail_in = in_len,
		      .next_out = out,
		      .avail_out = out_len};
	int ret;

	if (inflateInit2(&z, 16 + MAX_WBITS) != Z_OK)
		return -ENOMEM;
	ret = inflate(&z, Z_FINISH);
	inflateEnd(&z);
	if (ret == Z_STREAM_END)
		return z.avail_out ? -EINVAL : 0;
	if (ret == Z_MEM_ERROR)
		return -ENOMEM;
	return ret == Z_BUF_ERROR && !z.avail_out ? -EFBIG : -EINVAL;
}

static int unpack_bzip2(const uint8_t *in, size_t in_len, uint8_t *out, size_t out_len)
{
	bz_stream bz = {
		.next_in = (char *)(uintptr_t)in,
		.avail_in = in_len,
		.next_out = (char *)out,
		.avail_out = out_len,
	};
	unsigned int left_in, left_out;
	int ret;

	if (BZ2_bzDecompressInit(&bz, 0, 0) != BZ_OK)
		return -ENOMEM;
	do {
		left_in = bz.avail_in;
		left_out = bz.avail_out;
		ret = BZ2_bzDecompress(&bz);
	} while (ret == BZ_OK && (bz.avail_in != left_in || bz.avail_out != left_out));
	BZ2_bzDecompressEnd(&bz);
	if (ret == BZ_STREAM_END)
		return bz.avail_out ? -EINVAL : 0;
	if (ret == BZ_MEM_ERROR)
		return -ENOMEM;
	return ret == BZ_OK && !bz.avail_out ? -EFBIG : -EINVAL;
}

static int unpack_liblzma(lzma_stream *lz, const uint8_t *in, size_t in_len, uint8_t *out,
			  size_t out_len)
{
	lzma_ret ret;

	lz->next_in = in;
	lz->avail_in = in_len;
	lz->next_out = out;
	lz->avail_out = out_len;
	ret = lzma_code(lz, LZMA_RUN);
	/* With all output there, the end of the stream still has to be read. */
	if (ret == LZMA_OK && !lz->avail_out)
		ret = lzma_code(lz, LZMA_FINISH);
	lzma_end(lz);
	if (ret == LZMA_STREAM_END)
		return lz->avail_out ? -EINVAL : 0;
	if (ret == LZMA_MEM_ERROR || ret == LZMA_MEMLIMIT_ERROR)
		return -ENOMEM;
	return ret == LZMA_BUF_ERROR && !lz->avail_out ? -EFBIG : -EINVAL;
}

static int unpack_xz(const uint8_t *in, size_t in_len, uint8_t *out, size_t out_len)
{
	lzma_stream lz = LZMA_STREAM_INIT;

	if (lzma_stream_decoder(&lz, LZMA_MEMORY, 0) != LZMA_OK)
		return -ENOMEM;
	return unpack_liblzma(&lz, in, in_len, out, out_len);
}

static int unpack_lzma(const uint8_t *in, size_t in_len, uint8_t *out, size_t out_len)
{
	lzma_stream lz = LZMA_STREAM_INIT;

	if (lzma_alone_decoder(&lz, LZMA_MEMORY) != LZMA_OK)
		return -ENOMEM;
	return unpack_liblzma(&lz, in, in_len, out, out_len);
}

static int unpack_lz4(const uint8_t *in, size_t in_len, uint8_t *out, size_t out_len)
{
	size_t pos = 4, got = 0, room;
	uint32_t block;
	int n;

	while (got < out_len) {
		if (in_len - pos < 4)
			return -EINVAL;
		block = get_u32(in + pos);
		pos += 4;
		if (block > in_len - pos || block > INT_MAX)
			return -EINVAL;
		room = out_len - got < LZ4_LEGACY_BLOCK ? out_len - got : LZ4_LEGACY_BLOCK;
		n = LZ4_decompress_safe((const char *)in + pos, (char *)out + got, block, room);
		if (n <= 0)
			return -EINVAL;
		got += n;
		pos += block;
	}
	return 0;
}

static int unpack_zstd(const uint8_t *in, size_t in_len, uint8_t *out, size_t out_len)
{
	size_t frame = ZSTD_findFrameCompressedSize(in, in_len), got;

	if (ZSTD_isError(frame))
		return -EINVAL;
	got = ZSTD_decompress(out, out_len, in, frame);
	if (ZSTD_isError(got))
		return -EINVAL;
	return got == out_len ? 0 : -EINVAL;
}

/* The kernel's own list is lib/decompress.c:compressed_formats[]. */
static const struct unpacker unpackers[] = {
	{"gzip", {0x1f, 0x8b}, 2, unpack_gzip},
	{"bzip2", {'B', 'Z', 'h'}, 3, unpack_bzip2},
	{"lzma", {0x5d, 0, 0}, 3, unpack_lzma},
	{"xz", {0xfd, '7', 'z', 'X', 'Z', 0}, 6, unpack_xz},
	{"lzo", {0x89, 'L', 'Z', 'O', 0, 0x0d, 0x0a, 0x1a}, 8, NULL},
	{"lz4", {0x02, 0x21, 0x4c, 0x18}, 4, unpack_lz4},
	{"zstd", {0x28, 0xb5, 0x2f, 0xfd}, 4, unpack_zstd},
};

static const struct unpacker *unpacker_find(const uint8_t *in, size_t in_len)
{
	for (size_t i = 0; i < ARRAY_SIZE(unpackers); i++) {
		const struct unpacker *u = &unpackers[i];

		if (in_len >= u->magic_len && !memcmp(in, u->magic, u->magic_len))
			return u;
	}
	return NULL;
}

int payload_unpack(const uint8_t *in, size_t in_len, uint8_t *out, size_t out_len,
		   const struct complaint *c)
{
	const struct unpacker *u = unpacker_find(in, in_len);
	int err;

	if (!u)
		return complain(c, -EINVAL,
				"the bzImage's payload has no known compression; "
				"give the vmlinux that it was made from");
	if (!u->unpack)
		return complain(c, -EOPNOTSUPP,
				"%s payloads are not supported; unpack the kernel's vmlinux with "
				"the kernel source's scripts/extract-vmlinux and give that",
				u->name);
	if (in_len > INT_MAX)
		return complain(c, -EFBIG, "the %s payload is larger than 2 GiB", u->name);
	err = u->unpack(in, in_len, out, out_len);
	if (err == -ENOMEM)
		return complain(c, err, "no memory to unpack the %s payload", u->name);
	if (err)
		return complain(c, err, "the %s payload is damaged; install the kernel image again",
				u->name);
	return 0;
}
