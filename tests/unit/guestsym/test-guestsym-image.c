// SPDX-License-Identifier: GPL-2.0-or-later
/* test-guestsym-image.c - bzImages of every compression, ELF headers, and files that are neither.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <bzlib.h>
#include <errno.h>
#include <lz4hc.h>
#include <lzma.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include "guestsym/guestsym.h"
#include "tests/unit/made-image.h"

static uint8_t packed[1 << 20];

/* --- compressors: bytes written to packed[] ---------------------------------------------- */

static size_t pack_gzip(const uint8_t *in, size_t len)
{
	z_stream z = {
		.next_in = (uint8_t *)(uintptr_t)in,
		.avail_in = len,
		.next_out = packed,
		.avail_out = sizeof(packed),
	};

	assert_int_equal(deflateInit2(&z, 9, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY),
			 Z_OK);
	assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
	deflateEnd(&z);
	return z.total_out;
}

static size_t pack_bzip2(const uint8_t *in, size_t len)
{
	unsigned int out = sizeof(packed);

	assert_int_equal(
		BZ2_bzBuffToBuffCompress((char *)packed, &out, (char *)(uintptr_t)in, len, 9, 0, 0),
		BZ_OK);
	return out;
}

static size_t pack_stream(lzma_stream *lz, const uint8_t *in, size_t len)
{
	size_t out;

	lz->next_in = in;
	lz->avail_in = len;
	lz->next_out = packed;
	lz->avail_out = sizeof(packed);
	assert_int_equal(lzma_code(lz, LZMA_FINISH), LZMA_STREAM_END);
	out = lz->total_out;
	lzma_end(lz);
	return out;
}

static size_t pack_lzma(const uint8_t *in, size_t len)
{
	lzma_stream lz = LZMA_STREAM_INIT;
	lzma_options_lzma options;

	assert_false(lzma_lzma_preset(&options, 6));
	assert_int_equal(lzma_alone_encoder(&lz, &options), LZMA_OK);
	return pack_stream(&lz, in, len);
}

/* As scripts/xz_wrap.sh does for x86: branch filter, CRC32. */
static size_t pack_xz(const uint8_t *in, size_t len)
{
	lzma_stream lz = LZMA_STREAM_INIT;
	lzma_options_lzma options;
	lzma_filter filters[] = {
		{LZMA_FILTER_X86, NULL}, {LZMA_FILTER_LZMA2, &options}, {LZMA_VLI_UNKNOWN, NULL}};

	assert_false(lzma_lzma_preset(&options, 6));
	assert_int_equal(lzma_stream_encoder(&lz, filters, LZMA_CHECK_CRC32), LZMA_OK);
	return pack_stream(&lz, in, len);
}

/* Two blocks: the second one shorter. */
static size_t pack_lz4(const uint8_t *in, size_t len)
{
	const size_t half = len / 2;
	size_t pos = 4;

	memcpy(packed, &(uint32_t){0x184c2102}, 4);
	for (int i = 0; i < 2; i++) {
		int n = LZ4_compress_HC((const char *)in + i * half, (char *)packed + pos + 4,
					i ? len - half : half, sizeof(packed) - pos - 4, 9);

		assert_true(n > 0);
		memcpy(packed + pos, &n, 4);
		pos += 4 + n;
	}
	return pos;
}

static size_t pack_zstd(const uint8_t *in, size_t len)
{
	size_t n = ZSTD_compress(packed, sizeof(packed), in, len, 19);

	assert_false(ZSTD_isError(n));
	return n;
}

static const struct {
	const char *name;
	size_t (*pack)(const uint8_t *in, size_t len);
} packers[] = {
	{"gzip", pack_gzip}, {"bzip2", pack_bzip2}, {"lzma", pack_lzma},
	{"xz", pack_xz},     {"lz4", pack_lz4},	    {"zstd", pack_zstd},
};

#define PACKERS (sizeof(packers) / sizeof(packers[0]))

/* --- helpers ----------------------------------------------------------------------------- */

static uint8_t *good_elf(size_t *len)
{
	static struct made_image m;

	made_init(&m);
	return made_kernel(&m, MADE_DEBIAN, len);
}

/* A copy on the heap, so that a sanitizer sees each byte that is read behind its end. */
static struct guestsym *parse(const uint8_t *bytes, size_t len, char *err)
{
	uint8_t *copy = malloc(len ? len : 1);
	struct guestsym *gs;

	assert_non_null(copy);
	memcpy(copy, bytes, len);
	gs = guestsym_parse(copy, len, err, 256);
	free(copy);
	return gs;
}

static void expect_error(const uint8_t *bytes, size_t len, const char *text)
{
	char err[256];
	struct guestsym *gs = parse(bytes, len, err);

	assert_null(gs);
	if (!strstr(err, text) || strchr(err, '\n'))
		fail_msg("\"%s\" does not say \"%s\"", err, text);
}

/* --- tests ------------------------------------------------------------------------------- */

static void test_compressions(void **state)
{
	size_t elf_len, len, n;
	uint8_t *elf = good_elf(&elf_len), *image;
	struct guestsym *gs;
	char err[256];

	(void)state;
	for (size_t i = 0; i < PACKERS; i++) {
		n = packers[i].pack(elf, elf_len);
		image = made_bzimage(packed, n, elf_len, &len);
		gs = parse(image, len, err);
		if (!gs)
			fail_msg("%s: %s", packers[i].name, err);
		assert_memory_equal(guestsym_elf(gs, &len), elf, elf_len);
		assert_int_equal(len, elf_len);
		guestsym_close(gs);
		free(image);
	}
	free(elf);
}

/* Damaged payloads, and sizes that are not theirs. */
static void test_bad_payloads(void **state)
{
	size_t elf_len, len, n;
	uint8_t *elf = good_elf(&elf_len), *image;

	(void)state;
	for (size_t i = 0; i < PACKERS; i++) {
		n = packers[i].pack(elf, elf_len);
		image = made_bzimage(packed, n / 2, elf_len, &len);
		expect_error(image, len, "damaged");
		free(image);
		image = made_bzimage(packed, n, elf_len - 100, &len);
		/* lz4's legacy frame has no end mark of its own, the ELF then lacks its end. */
		expect_error(image, len, "install");
		free(image);
		image = made_bzimage(packed, n, elf_len + 100, &len);
		expect_error(image, len, "damaged");
		free(image);
		image = made_bzimage(packed, n, 0x7fffffff, &len);
		expect_error(image, len, "no kernel does");
		free(image);
		image = made_bzimage(packed, n, elf_len, &len);
		expect_error(image, len - 1, "truncated");
		free(image);
	}
	free(elf);
}

/* A payload with a changed bit gives an error or a kernel, whatever the library thinks of it. */
static void test_payload_bit_flips(void **state)
{
	size_t elf_len, len, n;
	uint8_t *elf = good_elf(&elf_len), *image;
	struct guestsym *gs;
	char err[256];

	(void)state;
	for (size_t i = 0; i < PACKERS; i++) {
		n = packers[i].pack(elf, elf_len);
		image = made_bzimage(packed, n, elf_len, &len);
		for (size_t pos = 0; pos < n; pos += 1 + n / 200) {
			image[len - 4 - n + pos] ^= 1 << pos % 8;
			gs = parse(image, len, err);
			assert_true(gs || err[0]);
			guestsym_close(gs);
			image[len - 4 - n + pos] ^= 1 << pos % 8;
		}
		free(image);
	}
	free(elf);
}

static void test_bad_bzimages(void **state)
{
	static const uint8_t lzo[] = {0x89, 'L', 'Z', 'O', 0, 0x0d, 0x0a, 0x1a, 0x0a};
	size_t len;
	uint8_t *image = made_bzimage(lzo, sizeof(lzo), 100, &len);

	(void)state;
	expect_error(image, len, "lzo payloads are not supported");
	expect_error(image, 0x1ff, "is no Linux kernel");
	expect_error(image, 0x300, "is truncated");
	image[0x236] = 0;
	expect_error(image, len, "not an x86-64 kernel");
	free(image);

	image = made_bzimage((const uint8_t *)"what is this?", 13, 100, &len);
	expect_error(image, len, "no known compression");
	memset(image + 0x24c, 0, 4);
	expect_error(image, len, "has no payload");
	memset(image + 0x248, 0xff, 8);
	expect_error(image, len, "is truncated");
	free(image);
}

static void test_bad_elf(void **state)
{
	size_t len;
	uint8_t *elf = good_elf(&len);
	Elf64_Ehdr eh;
	Elf64_Phdr ph;

	(void)state;
	memcpy(&eh, elf, sizeof(eh));
	memcpy(&ph, elf + sizeof(eh), sizeof(ph));
	((Elf64_Ehdr *)elf)->e_machine = EM_AARCH64;
	expect_error(elf, len, "another processor");
	memcpy(elf, &eh, sizeof(eh));
	elf[EI_CLASS] = ELFCLASS32;
	expect_error(elf, len, "another processor");
	memcpy(elf, &eh, sizeof(eh));
	((Elf64_Ehdr *)elf)->e_type = ET_REL;
	expect_error(elf, len, "no linked kernel image");
	memcpy(elf, &eh, sizeof(eh));
	((Elf64_Ehdr *)elf)->e_phnum = 0;
	expect_error(elf, len, "program headers");
	memcpy(elf, &eh, sizeof(eh));
	((Elf64_Phdr *)(elf + sizeof(eh)))->p_filesz = len;
	expect_error(elf, len, "truncated or damaged");
	((Elf64_Phdr *)(elf + sizeof(eh)))->p_filesz = 0x1000;
	((Elf64_Phdr *)(elf + sizeof(eh)))->p_vaddr = UINT64_MAX - 0x100;
	expect_error(elf, len, "impossible size");
	memcpy(elf + sizeof(eh), &ph, sizeof(ph));
	expect_error(elf, 100, "truncated");
	expect_error((const uint8_t *)"", 0, "is no Linux kernel");
	expect_error((const uint8_t *)"#!/bin/sh\n", 10, "is no Linux kernel");
	free(elf);
}

static void test_not_traceable(void **state)
{
	static struct made_image m;
	size_t len;
	uint8_t *elf;

	(void)state;
	made_init(&m);
	elf = made_elf(&m, &len);
	expect_error(elf, len, "CONFIG_KALLSYMS=y");
	free(elf);
	made_kallsyms(&m, MADE_DEBIAN);
	elf = made_elf(&m, &len);
	expect_error(elf, len, "Linux 6.1.0-made has no fentry sites");
	memset(made_at(&m, MADE_BASE + MADE_TEXT), 0, 8);
	free(elf);
	elf = made_elf(&m, &len);
	expect_error(elf, len, "no Linux kernel");
	free(elf);
}

static void test_truncated_everywhere(void **state)
{
	size_t len;
	uint8_t *elf = good_elf(&len);

	(void)state;
	for (size_t cut = 0; cut < len; cut += cut < 0x100 || cut > len - 0x500 ? 1 : 97)
		expect_error(elf, cut, "kernel image: is ");
	free(elf);
}

/* Every bit of ELF, program and section headers. */
static void test_header_bit_flips(void **state)
{
	size_t len, headers = sizeof(Elf64_Ehdr) + 2 * sizeof(Elf64_Phdr);
	uint8_t *elf = good_elf(&len);
	size_t shoff = ((const Elf64_Ehdr *)elf)->e_shoff;
	struct guestsym *gs;
	char err[256];

	(void)state;
	for (size_t pos = 0; pos < len; pos = pos == headers - 1 ? shoff : pos + 1) {
		for (int bit = 0; bit < 8; bit++) {
			elf[pos] ^= 1 << bit;
			gs = parse(elf, len, err);
			assert_true(gs || err[0]);
			guestsym_close(gs);
			elf[pos] ^= 1 << bit;
		}
	}
	free(elf);
}

static void test_contents(void **state)
{
	uint64_t pa, word;
	struct guestsym *gs;
	char err[256];
	size_t len;
	uint8_t *elf = good_elf(&len);

	(void)state;
	gs = parse(elf, len, err);
	assert_non_null(gs);
	assert_string_equal(guestsym_release(gs), "6.1.0-made");
	assert_string_equal(guestsym_banner(gs),
			    "Linux version 6.1.0-made (someone@somewhere) #1 SMP");
	assert_string_equal(guestsym_build_id(gs), "");
	assert_false(guestsym_cached(gs));
	assert_int_equal(guestsym_phys(gs, MADE_BASE + 0x2100, &pa), 0);
	assert_int_equal(pa, MADE_PHYS + 0x2100);
	assert_int_equal(guestsym_phys(gs, MADE_BASE + MADE_SIZE, &pa), -EFAULT);
	assert_int_equal(guestsym_phys(gs, 0, &pa), -EFAULT);
	assert_int_equal(guestsym_read(gs, MADE_BASE + MADE_TEXT, &word, 8), 0);
	assert_memory_equal(&word, MADE_BANNER, 8);
	assert_int_equal(guestsym_read(gs, MADE_BASE + MADE_SIZE - 7, &word, 8), -EFAULT);
	assert_int_equal(guestsym_read(gs, MADE_BASE, &word, SIZE_MAX), -EFAULT);
	guestsym_close(gs);
	free(elf);
}

static void test_build_id(void **state)
{
	static const uint32_t header[] = {4, 20, 3};
	static struct made_image m;
	struct guestsym *gs;
	uint8_t id[20], *elf;
	char err[256];
	uint64_t va;
	size_t len;

	(void)state;
	for (size_t i = 0; i < sizeof(id); i++)
		id[i] = 0xa0 + i;
	made_init(&m);
	va = made_put(&m, (uint32_t[]){6, 4, 1}, 12);
	made_put(&m, "Linux\0\0\0xxxx", 12);
	made_put(&m, header, sizeof(header));
	made_put(&m, "GNU", 4);
	made_put(&m, id, sizeof(id));
	made_section(&m, ".notes", va, MADE_BASE + m.used - va, SHT_NOTE, SHF_ALLOC);
	elf = made_kernel(&m, MADE_DEBIAN, &len);
	gs = parse(elf, len, err);
	assert_non_null(gs);
	assert_string_equal(guestsym_build_id(gs), "a0a1a2a3a4a5a6a7a8a9aaabacadaeafb0b1b2b3");
	guestsym_close(gs);
	free(elf);
}

static void test_files(void **state)
{
	char dir[] = "/tmp/hvtrace-test-XXXXXX", path[64], err[256];

	(void)state;
	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/none", dir);
	assert_null(guestsym_open(NULL, path, GUESTSYM_FL_NOCACHE, err, sizeof(err)));
	assert_non_null(strstr(err, "/none: No such file"));
	assert_null(guestsym_open(NULL, dir, GUESTSYM_FL_NOCACHE, err, sizeof(err)));
	assert_non_null(strstr(err, "Is a directory"));
	snprintf(path, sizeof(path), "%s/fifo", dir);
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_null(guestsym_open(NULL, path, GUESTSYM_FL_NOCACHE, err, sizeof(err)));
	assert_non_null(strstr(err, "/fifo: is no regular file"));
	unlink(path);
	snprintf(path, sizeof(path), "%s/empty", dir);
	fclose(fopen(path, "w"));
	assert_null(guestsym_open(NULL, path, GUESTSYM_FL_NOCACHE, err, sizeof(err)));
	assert_non_null(strstr(err, "/empty: is no Linux kernel"));
	assert_null(guestsym_open(NULL, path, GUESTSYM_FL_NOCACHE, NULL, 0));
	unlink(path);
	rmdir(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_compressions),
		cmocka_unit_test(test_bad_payloads),
		cmocka_unit_test(test_payload_bit_flips),
		cmocka_unit_test(test_bad_bzimages),
		cmocka_unit_test(test_bad_elf),
		cmocka_unit_test(test_not_traceable),
		cmocka_unit_test(test_truncated_everywhere),
		cmocka_unit_test(test_header_bit_flips),
		cmocka_unit_test(test_contents),
		cmocka_unit_test(test_build_id),
		cmocka_unit_test(test_files),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
