// SPDX-License-Identifier: GPL-2.0-or-later
/* test-qemu-boot.c - what a guest's memory tells of its kernel while it boots. */
#include <elf.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "vmm/qemu/boot/boot.h"

#define MIB	 (UINT64_C(1) << 20)
#define RAM_SIZE (32 * MIB)
#define PARAMS	 UINT64_C(0x8a000) /* where GRUB has put them */
#define CODE	 MIB
#define LINK_VA	 UINT64_C(0xffffffff81000000)
#define LINK_PA	 UINT64_C(0x1000000)
#define SLIDE	 (37 * BOOT_KERNEL_ALIGN)

static uint8_t *ram;

/* The hole that PCs have below 1 MiB. */
static const struct boot_range ranges[] = {{0, 0xa0000}, {MIB, RAM_SIZE}};

static int read_ram(void *arg, uint64_t pa, void *buf, size_t len)
{
	(void)arg;
	for (size_t i = 0; i < 2; i++) {
		if (pa < ranges[i].start || pa > ranges[i].end || len > ranges[i].end - pa)
			continue;
		memcpy(buf, ram + pa, len);
		return 0;
	}
	return -EFAULT;
}

static const struct boot_memory memory = {read_ram, NULL, ranges, 2};

static int setup(void **state)
{
	(void)state;
	ram = calloc(1, RAM_SIZE);
	return ram ? 0 : -1;
}

static int teardown(void **state)
{
	(void)state;
	free(ram);
	return 0;
}

static void put(uint64_t at, uint64_t value, size_t size)
{
	memcpy(ram + at, &value, size);
}

static void put_text(void *to, const char *text)
{
	for (char *at = to; *text; at++, text++)
		*at = *text;
}

/* --- the setup header ---------------------------------------------------------------------- */

static void put_header(uint64_t at, uint32_t code, uint32_t offset, uint32_t length)
{
	ram[at + 0x1f1] = 39;
	put_text(ram + at + 0x202, "HdrS");
	put(at + 0x206, 0x20f, 2);
	put(at + 0x214, code, 4);
	put(at + 0x236, 0x7f, 2);
	put(at + 0x248, offset, 4);
	put(at + 0x24c, length, 4);
}

static void test_header(void **state)
{
	struct boot_setup s;

	(void)state;
	assert_int_equal(boot_setup_read(&memory, PARAMS, &s), -ENOENT);
	put_header(PARAMS, 0x1000000, 0x2cc, 1000);
	assert_int_equal(boot_setup_read(&memory, PARAMS, &s), 0);
	assert_int_equal(s.at, PARAMS);
	assert_int_equal(s.code[0], PARAMS + 40 * 512);
	assert_int_equal(s.code[1], 0x1000000);
	assert_int_equal(s.payload_offset, 0x2cc);
	assert_int_equal(s.payload_length, 1000);
	/* Where they are not all there. */
	assert_int_equal(boot_setup_read(&memory, 0xa0000 - 0x24f, &s), -ENOENT);
	assert_int_equal(boot_setup_read(&memory, UINT64_MAX - 8, &s), -ENOENT);
	put(PARAMS + 0x236, 0x7e, 2); /* of 32 bits */
	assert_int_equal(boot_setup_read(&memory, PARAMS, &s), -ENOENT);
	put_header(PARAMS, 0x1000000, 0x2cc, 1000);
	put(PARAMS + 0x206, 0x20b, 2); /* before 3.8 */
	assert_int_equal(boot_setup_read(&memory, PARAMS, &s), -ENOENT);
}

static void test_search(void **state)
{
	struct boot_setup s;

	(void)state;
	assert_int_equal(boot_setup_find(&memory, 0, &s), -ENOENT);
	put_header(PARAMS + 8, 0, 0, 0); /* at the beginning of no page */
	assert_int_equal(boot_setup_find(&memory, 0, &s), -ENOENT);
	put_header(PARAMS, 0, 0, 0);
	put_header(20 * MIB + 0x3000, 0, 0, 0);
	put_header(RAM_SIZE - 0x1000, 0, 0, 0);
	assert_int_equal(boot_setup_find(&memory, 0, &s), 0);
	assert_int_equal(s.at, PARAMS);
	assert_int_equal(boot_setup_find(&memory, s.at + 1, &s), 0);
	assert_int_equal(s.at, 20 * MIB + 0x3000);
	assert_int_equal(boot_setup_find(&memory, s.at + 1, &s), 0);
	assert_int_equal(s.at, RAM_SIZE - 0x1000);
	assert_int_equal(boot_setup_find(&memory, s.at + 1, &s), -ENOENT);
}

static int read_image(uint32_t offset, uint32_t length, uint32_t unpacked, uint8_t **image,
		      size_t *len)
{
	struct boot_setup s;

	put_header(PARAMS, CODE, offset, length);
	assert_int_equal(boot_setup_read(&memory, PARAMS, &s), 0);
	if (length >= 4 && CODE + offset + length <= RAM_SIZE)
		put(CODE + offset + length - 4, unpacked, 4);
	return boot_image_read(&memory, &s, CODE, image, len);
}

static void test_image(void **state)
{
	uint8_t *image;
	size_t len;

	(void)state;
	for (unsigned int i = 0; i < 996; i++)
		ram[CODE + 0x2cc + i] = (uint8_t)(i * 7);
	assert_int_equal(read_image(0x2cc, 1000, 5000, &image, &len), 0);
	/* Behind a header of one sector and one more, at once. */
	assert_int_equal(len, 1024 + 1000);
	assert_int_equal(image[0x1f1], 1);
	assert_memory_equal(image + 0x1fe, "\x55\xaa", 2);
	assert_memory_equal(image + 0x202, "HdrS", 4);
	assert_memory_equal(image + 0x248, "\0\0\0\0\xe8\x03\0\0", 8);
	assert_memory_equal(image + 1024, ram + CODE + 0x2cc, 1000);
	free(image);
	/* What no kernel is: too small, too large, more than there is, unpacked to less or to more.
	 */
	assert_int_equal(read_image(0x2cc, 0, 0, &image, &len), -ENOENT);
	assert_int_equal(read_image(0x2cc, 4, 4, &image, &len), -ENOENT);
	assert_int_equal(read_image(0x2cc, UINT32_MAX, 5000, &image, &len), -ENOENT);
	assert_int_equal(read_image(0x2cc, 31 * MIB, 64 * MIB, &image, &len), -ENOENT);
	assert_int_equal(read_image(UINT32_MAX, 1000, 5000, &image, &len), -ENOENT);
	assert_int_equal(read_image(0x2cc, 1000, 100, &image, &len), -ENOENT);
	assert_int_equal(read_image(0x2cc, 1000, UINT32_MAX, &image, &len), -ENOENT);
}

/* --- the code that unpacks it --------------------------------------------------------------- */

static void test_unpacker(void **state)
{
	/* lea 0xb6e0(%rbx), %rax; jmp *%rax */
	static const uint8_t moves[] = {0x48, 0x8d, 0x83, 0xe0, 0xb6, 0, 0, 0xff, 0xe0};
	/* call; mov %r15, %rsi; jmp *%rax - and call; pop %rsi; jmp *%rax */
	static const uint8_t ends[] = {0xe8, 1, 2, 0, 0, 0x4c, 0x89, 0xfe, 0xff, 0xe0};
	static const uint8_t ended[] = {0xe8, 1, 2, 0, 0, 0x5e, 0xff, 0xe0};
	uint64_t at;

	(void)state;
	assert_int_equal(boot_unpacker_moves(&memory, CODE, &at), -ENOENT);
	memcpy(ram + CODE + 0x200 + 0x60, moves, 7); /* without the jump */
	assert_int_equal(boot_unpacker_moves(&memory, CODE, &at), -ENOENT);
	memcpy(ram + CODE + 0x200 + 0xfb, moves, sizeof(moves));
	assert_int_equal(boot_unpacker_moves(&memory, CODE, &at), 0);
	assert_int_equal(at, CODE + 0x200 + 0xfb + 7);
	assert_int_equal(boot_unpacker_moves(&memory, RAM_SIZE - 64, &at), -ENOENT);

	assert_int_equal(boot_unpacker_ends(&memory, CODE, &at), -ENOENT);
	put_text(ram + CODE + 40, "\xff\xe0"); /* behind no call */
	assert_int_equal(boot_unpacker_ends(&memory, CODE, &at), -ENOENT);
	memcpy(ram + CODE + 60, ends, sizeof(ends));
	assert_int_equal(boot_unpacker_ends(&memory, CODE, &at), 0);
	assert_int_equal(at, CODE + 68);
	memcpy(ram + CODE + 2 * MIB, ended, sizeof(ended));
	assert_int_equal(boot_unpacker_ends(&memory, CODE + 2 * MIB, &at), 0);
	assert_int_equal(at, CODE + 2 * MIB + 6);
}

static void test_copies(void **state)
{
	(void)state;
	memset(ram + CODE + 0x200, 0x90, 1024);
	assert_false(boot_code_is_same(&memory, CODE, 4 * MIB));
	memset(ram + 4 * MIB + 0x200, 0x90, 1024);
	assert_true(boot_code_is_same(&memory, CODE, 4 * MIB));
	assert_false(boot_code_is_same(&memory, CODE, RAM_SIZE - 16));
}

/* --- the kernel ---------------------------------------------------------------------------- */

#define TEXT_SIZE (256u << 10)
#define DATA_SIZE (64u << 10)

struct elf {
	Elf64_Ehdr head;
	Elf64_Phdr segment[3];
	uint8_t text[TEXT_SIZE], data[DATA_SIZE];
};

static struct elf *make_elf(void)
{
	struct elf *e = calloc(1, sizeof(*e));

	assert_non_null(e);
	put_text(e->head.e_ident, ELFMAG);
	e->head.e_ident[EI_CLASS] = ELFCLASS64;
	e->head.e_phoff = offsetof(struct elf, segment);
	e->head.e_phentsize = sizeof(e->segment[0]);
	e->head.e_phnum = 3;
	e->head.e_entry = LINK_PA + 0x80;
	/* Not by their addresses; the first is that of CPUs' variables. */
	e->segment[0] = (Elf64_Phdr){.p_type = PT_LOAD,
				     .p_offset = offsetof(struct elf, data),
				     .p_vaddr = 0,
				     .p_paddr = LINK_PA + 2 * MIB + DATA_SIZE,
				     .p_filesz = 4096,
				     .p_memsz = 4096};
	e->segment[1] = (Elf64_Phdr){.p_type = PT_LOAD,
				     .p_offset = offsetof(struct elf, data),
				     .p_vaddr = LINK_VA + 2 * MIB,
				     .p_paddr = LINK_PA + 2 * MIB,
				     .p_filesz = DATA_SIZE,
				     .p_memsz = 2 * DATA_SIZE};
	e->segment[2] = (Elf64_Phdr){.p_type = PT_LOAD,
				     .p_offset = offsetof(struct elf, text),
				     .p_vaddr = LINK_VA,
				     .p_paddr = LINK_PA,
				     .p_filesz = TEXT_SIZE,
				     .p_memsz = TEXT_SIZE};
	for (size_t i = 0; i < TEXT_SIZE; i++)
		e->text[i] = (uint8_t)(i * 31 + (i >> 9));
	for (uint64_t i = 0; i < DATA_SIZE / 16; i++) {
		uint64_t address = LINK_VA + i * 8;

		memcpy(e->data + i * 16, &address, sizeof(address));
	}
	return e;
}

/* As what unpacks it leaves it at pa. */
static void unpack(const struct elf *e, uint64_t pa, uint64_t slide)
{
	memcpy(ram + pa, e->text, TEXT_SIZE);
	memcpy(ram + pa + 2 * MIB, e->data, DATA_SIZE);
	for (uint64_t i = 0; i < DATA_SIZE / 16; i++)
		put(pa + 2 * MIB + i * 16, LINK_VA + i * 8 + slide, 8);
	memcpy(ram + pa + 2 * MIB + DATA_SIZE, ram + pa + 2 * MIB, 4096);
}

static void test_kernel(void **state)
{
	struct elf *e = make_elf();
	uint64_t pa, slide = 1;
	struct boot_kernel k;

	(void)state;
	assert_int_equal(boot_kernel_open(&k, e, sizeof(*e)), 0);
	assert_int_equal(k.nseg, 3);
	assert_int_equal(k.seg[0].va, LINK_VA);
	assert_int_equal(k.entry, LINK_PA + 0x80);
	assert_int_equal(k.map.start, LINK_VA);
	assert_int_equal(k.map.end, LINK_VA + 2 * MIB + 2 * DATA_SIZE);
	assert_int_equal(boot_kernel_find(&k, &memory, &pa, &slide), -ENOENT);
	unpack(e, 6 * MIB, SLIDE);
	assert_int_equal(boot_kernel_look(&k, &memory, 6 * MIB, &slide), 0);
	assert_int_equal(slide, SLIDE);
	assert_int_equal(boot_kernel_look(&k, &memory, 8 * MIB, &slide), -ENOENT);
	assert_int_equal(boot_kernel_look(&k, &memory, RAM_SIZE - 4096, &slide), -ENOENT);
	assert_int_equal(boot_kernel_find(&k, &memory, &pa, &slide), 0);
	assert_int_equal(pa, 6 * MIB);
	/* While it is unpacked its head is where its first segment will be. */
	assert_int_equal(boot_kernel_unpacks(&k, &memory, &pa), -ENOENT);
	memcpy(ram + 20 * MIB + 4096, e, sizeof(e->head));
	assert_int_equal(boot_kernel_unpacks(&k, &memory, &pa), -ENOENT);
	memcpy(ram + 20 * MIB, e, sizeof(e->head));
	assert_int_equal(boot_kernel_unpacks(&k, &memory, &pa), 0);
	assert_int_equal(pa, 20 * MIB);
	/* Without KASLR. */
	unpack(e, 6 * MIB, 0);
	assert_int_equal(boot_kernel_look(&k, &memory, 6 * MIB, &slide), 0);
	assert_int_equal(slide, 0);
	free(e);
}

static void test_slide(void **state)
{
	struct elf *e = make_elf();
	struct boot_kernel k;
	uint64_t slide;

	(void)state;
	assert_int_equal(boot_kernel_open(&k, e, sizeof(*e)), 0);
	/* Some words are something else; then too many; then it is none that KASLR chooses. */
	unpack(e, 6 * MIB, SLIDE);
	for (uint64_t i = 0; i < 200; i++)
		put(8 * MIB + i * 16, i, 8);
	assert_int_equal(boot_kernel_look(&k, &memory, 6 * MIB, &slide), 0);
	assert_int_equal(slide, SLIDE);
	for (uint64_t i = 0; i < 1000; i++)
		put(8 * MIB + i * 16, i, 8);
	assert_int_equal(boot_kernel_look(&k, &memory, 6 * MIB, &slide), -ENOENT);
	unpack(e, 6 * MIB, SLIDE + 4096);
	assert_int_equal(boot_kernel_look(&k, &memory, 6 * MIB, &slide), -ENOENT);
	unpack(e, 6 * MIB, 1024 * MIB);
	assert_int_equal(boot_kernel_look(&k, &memory, 6 * MIB, &slide), -ENOENT);
	/* One without addresses cannot tell. */
	memset(e->data, 0, sizeof(e->data));
	unpack(e, 6 * MIB, SLIDE);
	assert_int_equal(boot_kernel_look(&k, &memory, 6 * MIB, &slide), -ENOENT);
	free(e);
}

static void test_no_kernel(void **state)
{
	struct elf *e = make_elf();
	struct boot_kernel k;

	(void)state;
	assert_int_equal(boot_kernel_open(&k, e, sizeof(e->head) - 1), -EINVAL);
	e->segment[1].p_filesz = sizeof(*e);
	assert_int_equal(boot_kernel_open(&k, e, sizeof(*e)), -EINVAL);
	e->segment[1].p_filesz = DATA_SIZE;
	e->segment[1].p_offset = UINT64_MAX;
	assert_int_equal(boot_kernel_open(&k, e, sizeof(*e)), -EINVAL);
	e->segment[1].p_offset = offsetof(struct elf, data);
	e->segment[1].p_memsz = UINT64_C(1) << 40;
	assert_int_equal(boot_kernel_open(&k, e, sizeof(*e)), -EINVAL);
	e->segment[1].p_memsz = DATA_SIZE;
	e->head.e_phoff = UINT64_MAX - 8;
	assert_int_equal(boot_kernel_open(&k, e, sizeof(*e)), -EINVAL);
	e->head.e_phoff = offsetof(struct elf, segment);
	e->head.e_phnum = UINT16_MAX;
	assert_int_equal(boot_kernel_open(&k, e, sizeof(*e)), -EINVAL);
	e->head.e_phnum = 0;
	assert_int_equal(boot_kernel_open(&k, e, sizeof(*e)), -EINVAL);
	e->head.e_phnum = 1; /* nothing in the kernel's half */
	assert_int_equal(boot_kernel_open(&k, e, sizeof(*e)), -EINVAL);
	e->head.e_phnum = 3;
	e->head.e_ident[EI_CLASS] = ELFCLASS32;
	assert_int_equal(boot_kernel_open(&k, e, sizeof(*e)), -EINVAL);
	free(e);
}

/* --- UEFI ---------------------------------------------------------------------------------- */

static void put_tables(uint64_t pointer, uint64_t table, uint64_t services, uint64_t function)
{
	put(pointer, UINT64_C(0x5453595320494249), 8);
	put(pointer + 8, table, 8);
	put_text(ram + table, "IBI SYST");
	put(table + 96, services, 8);
	put_text(ram + services, "BOOTSERV");
	put(services + 232, function, 8);
	memset(ram + function, 0x55, 16);
}

static void test_efi(void **state)
{
	uint64_t at;

	(void)state;
	assert_int_equal(boot_efi_exit(&memory, &at), -ENOENT);
	put_tables(28 * MIB, 30 * MIB, 29 * MIB, 27 * MIB + 0xd73);
	assert_int_equal(boot_efi_exit(&memory, &at), 0);
	assert_int_equal(at, 27 * MIB + 0xd73);
	/* Its tables come one after the other. */
	put(29 * MIB + 232, 0, 8);
	assert_int_equal(boot_efi_exit(&memory, &at), -ENOENT);
	put(29 * MIB + 232, RAM_SIZE, 8);
	assert_int_equal(boot_efi_exit(&memory, &at), -ENOENT);
	put(29 * MIB + 232, 27 * MIB + 0xd73, 8);
	put(30 * MIB + 96, UINT64_MAX - 100, 8);
	assert_int_equal(boot_efi_exit(&memory, &at), -ENOENT);
	put(30 * MIB + 96, 30 * MIB, 8); /* that is no table of services */
	assert_int_equal(boot_efi_exit(&memory, &at), -ENOENT);
	put(28 * MIB + 8, UINT64_MAX, 8);
	assert_int_equal(boot_efi_exit(&memory, &at), -ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_header, setup, teardown),
		cmocka_unit_test_setup_teardown(test_search, setup, teardown),
		cmocka_unit_test_setup_teardown(test_image, setup, teardown),
		cmocka_unit_test_setup_teardown(test_unpacker, setup, teardown),
		cmocka_unit_test_setup_teardown(test_copies, setup, teardown),
		cmocka_unit_test_setup_teardown(test_kernel, setup, teardown),
		cmocka_unit_test_setup_teardown(test_slide, setup, teardown),
		cmocka_unit_test_setup_teardown(test_no_kernel, setup, teardown),
		cmocka_unit_test_setup_teardown(test_efi, setup, teardown),
	};

	return cmocka_run_group_tests_name("qemu-boot", tests, NULL, NULL);
}
