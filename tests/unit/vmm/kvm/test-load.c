// SPDX-License-Identifier: GPL-2.0-or-later
/* test-load.c - the ELF loader on good, damaged and hostile images; no KVM needed. */
#include <elf.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "vmm/kvm/local.h"

#include "tests/seed.h"

#define RAM  (32u << 20)
#define LOAD 0x1000000u

struct image {
	Elf64_Ehdr eh;
	Elf64_Phdr ph[2];
	uint8_t text[64];
};

struct load {
	struct kvm_machine m;
	struct image image;
	uint64_t end;
	char err[256];
};

static int setup(void **state)
{
	struct load *l = calloc(1, sizeof(*l));

	l->m.base.ops = &kvm_machine_ops;
	l->m.mem[0] = (struct kvm_mem){.size = RAM, .host = calloc(1, RAM)};
	l->m.nmem = 1;
	l->image.eh = (Elf64_Ehdr){
		.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB},
		.e_machine = EM_X86_64,
		.e_entry = LOAD + 4,
		.e_phoff = offsetof(struct image, ph),
		.e_phentsize = sizeof(Elf64_Phdr),
		.e_phnum = 2,
	};
	l->image.ph[0] = (Elf64_Phdr){
		.p_type = PT_LOAD,
		.p_offset = offsetof(struct image, text),
		.p_paddr = LOAD,
		.p_filesz = sizeof(l->image.text),
		.p_memsz = 4096,
	};
	l->image.ph[1] = (Elf64_Phdr){.p_type = PT_NOTE, .p_offset = ~0ull, .p_filesz = ~0ull};
	memset(l->image.text, 0xab, sizeof(l->image.text));
	*state = l;
	return 0;
}

static int teardown(void **state)
{
	struct load *l = *state;

	free(l->m.mem[0].host);
	free(l);
	return 0;
}

/* So much of the image, and behind it what is appended to it. */
static int load_with(struct load *l, size_t size, const void *appended, size_t len)
{
	uint8_t *copy = malloc(size + len ? size + len : 1); /* exactly, for AddressSanitizer */
	int rc;

	memcpy(copy, &l->image, size);
	if (len)
		memcpy(copy + size, appended, len);
	l->m.cfg.kernel = copy;
	l->m.cfg.kernel_size = size + len;
	l->err[0] = '\0';
	rc = kvm_load_elf(&l->m, &l->end, l->err, sizeof(l->err));
	free(copy);
	return rc;
}

static int load(struct load *l, size_t size)
{
	return load_with(l, size, NULL, 0);
}

static void refused(struct load *l, int want, const char *why)
{
	assert_int_equal(load(l, sizeof(l->image)), want);
	if (!strstr(l->err, why))
		fail_msg("\"%s\" does not say \"%s\"", l->err, why);
}

static void test_good(void **state)
{
	struct load *l = *state;

	assert_int_equal(load(l, sizeof(l->image)), 0);
	assert_int_equal(l->m.entry, LOAD + 4);
	assert_int_equal(l->m.kernel_pa, LOAD);
	assert_int_equal(l->end, LOAD + 4096);
	assert_memory_equal(l->m.mem[0].host + LOAD, l->image.text, sizeof(l->image.text));
}

/* Whatever is cut off, the loader must see it. */
static void test_truncated(void **state)
{
	struct load *l = *state;

	for (size_t size = 0; size < sizeof(l->image); size++) {
		assert_int_equal(load(l, size), -ENOEXEC);
		assert_int_not_equal(l->err[0], '\0');
	}
}

static void test_not_a_kernel(void **state)
{
	struct load *l = *state;

	l->image.eh.e_machine = EM_AARCH64;
	refused(l, -ENOEXEC, "not for x86-64");
	l->image.eh.e_machine = EM_X86_64;
	l->image.eh.e_ident[EI_CLASS] = ELFCLASS32;
	refused(l, -ENOEXEC, "not for x86-64");
	l->image.eh.e_ident[0] = 'M';
	refused(l, -ENOEXEC, "not an ELF file");
}

static void test_hostile_headers(void **state)
{
	struct load *l = *state;
	struct image good = l->image;

	l->image.eh.e_phoff = ~0ull;
	refused(l, -ENOEXEC, "program headers");
	l->image.eh.e_phoff = sizeof(l->image) - sizeof(Elf64_Phdr);
	refused(l, -ENOEXEC, "program headers");
	l->image = good;
	l->image.eh.e_phnum = 0xffff;
	refused(l, -ENOEXEC, "program headers");
	l->image.eh.e_phnum = 0;
	refused(l, -ENOEXEC, "entry point");
	l->image = good;
	l->image.eh.e_phentsize = 1;
	refused(l, -ENOEXEC, "program headers");
	l->image = good;
	l->image.eh.e_entry = LOAD + sizeof(l->image.text);
	refused(l, -ENOEXEC, "entry point");
}

static void test_hostile_segments(void **state)
{
	struct load *l = *state;
	struct image good = l->image;

	l->image.ph[0].p_offset = ~0ull - 8;
	refused(l, -ENOEXEC, "outside of the file");
	l->image = good;
	l->image.ph[0].p_filesz = ~0ull;
	refused(l, -ENOEXEC, "outside of the file");
	l->image = good;
	l->image.ph[0].p_memsz = 1;
	refused(l, -ENOEXEC, "outside of the file");
	l->image = good;
	l->image.ph[0].p_memsz = ~0ull;
	refused(l, -ENOMEM, "no memory there");
	l->image = good;
	l->image.ph[0].p_paddr = RAM - 4095;
	refused(l, -ENOMEM, "no memory there");
	l->image.ph[0].p_paddr = ~0ull - 10;
	refused(l, -ENOMEM, "no memory there");
	l->image.ph[0].p_paddr = 0x7000; /* where boot_params go */
	refused(l, -ENOMEM, "no memory there");
}

/* --- KASLR ---------------------------------------------------------------------------------- */

#define MIB2	 (2u << 20)
#define LINK(at) (int32_t)(0x80000000u + LOAD + (at)) /* low half of an address in the text */

/* 64 bits, 32 bits that become less, 32 bits; the last is where another kernel has only two lists.
 */
static const int32_t relocs[] = {0, LINK(0), LINK(24), 0, LINK(8), 0, LINK(12), LINK(33)};
static const int32_t two_lists[] = {0, LINK(0), LINK(24), 0, LINK(12), LINK(33)};

static uint64_t get(const struct load *l, size_t at, size_t size)
{
	uint64_t value = 0;

	memcpy(&value, l->m.mem[0].host + l->m.kernel_pa + at, size);
	return value;
}

static void set(struct load *l, size_t at, uint64_t value, size_t size)
{
	memcpy(l->image.text + at, &value, size);
}

static void moved(struct load *l, const int32_t *words, size_t len, bool inverse)
{
	const uint64_t va = 0xffffffff81000000;
	uint64_t slide;

	assert_int_equal(load_with(l, sizeof(l->image), words, len), 0);
	slide = l->m.kernel_slide;
	assert_int_equal(slide % MIB2, 0);
	assert_in_range(slide, 0, (1u << 30) - LOAD - MIB2);
	assert_int_equal(l->m.kernel_pa % MIB2, 0);
	assert_in_range(l->m.kernel_pa, LOAD, RAM - MIB2);
	assert_int_equal(l->m.kernel_moved, l->m.kernel_pa - LOAD);
	assert_int_equal(l->m.entry, l->m.kernel_pa + 4);
	assert_int_equal(l->end, l->m.kernel_pa + 4096);
	assert_int_equal(get(l, 0, 8), va + 0x10 + slide);
	assert_int_equal(get(l, 24, 8), va + 0x20 + slide);
	assert_int_equal(get(l, 8, 4), (uint32_t)(0x1234 - (inverse ? slide : 0)));
	assert_int_equal(get(l, 12, 4), (uint32_t)(va + 0x30 + slide));
	assert_int_equal(get(l, 33, 4), (uint32_t)(va + 0x40 + slide));
	assert_int_equal(get(l, 16, 8), 0xabababababababab);
	assert_int_equal(get(l, 37, 1), 0xab);
	memset(l->m.mem[0].host + l->m.kernel_pa, 0, 4096);
}

static void set_addresses(struct load *l)
{
	l->m.cfg.kaslr = true;
	l->m.cfg.memory = RAM;
	set(l, 0, 0xffffffff81000010, 8);
	set(l, 24, 0xffffffff81000020, 8);
	set(l, 8, 0x1234, 4);
	set(l, 12, 0x81000030, 4);
	set(l, 33, 0x81000040, 4);
}

/* Each place that there is comes up now and then, and many slides: all of 64 within some 300. */
static void test_kaslr(void **state)
{
	uint64_t slides = 0, places = 0;
	struct load *l = *state;

	set_addresses(l);
	for (unsigned int i = 0; i < 10000 && (places != 0xff || slides != ~0ull); i++) {
		moved(l, relocs, sizeof(relocs), true);
		places |= 1ull << (l->m.kernel_pa - LOAD) / MIB2;
		slides |= 1ull << l->m.kernel_slide / MIB2 % 64;
		moved(l, two_lists, sizeof(two_lists), false);
	}
	assert_int_equal(places, 0xff);
	assert_int_equal(slides, ~0ull);
}

static void test_kaslr_keeps_off_the_initrd(void **state)
{
	struct load *l = *state;

	set_addresses(l);
	l->m.cfg.initrd = "";
	l->m.cfg.initrd_size = RAM - LOAD - 2 * MIB2;
	for (unsigned int i = 0; i < 50; i++) {
		moved(l, relocs, sizeof(relocs), true);
		assert_in_range(l->m.kernel_pa, LOAD, LOAD + MIB2);
	}
	l->m.cfg.initrd_size += MIB2 + 1;
	refused(l, -ENOMEM, "cannot be moved in 32 MiB");
	l->m.cfg.initrd_size = RAM + 1;
	refused(l, -ENOMEM, "cannot be moved in 32 MiB");
}

static void not_moved(struct load *l, const int32_t *words, size_t len, const char *why)
{
	assert_int_equal(load_with(l, sizeof(l->image), words, len), -ENOEXEC);
	if (!strstr(l->err, why))
		fail_msg("\"%s\" does not say \"%s\"", l->err, why);
}

static void test_bad_relocs(void **state)
{
	const int32_t one[] = {0, LINK(0)}, four[] = {0, 0, 0, 0}, begun[] = {LINK(0), 0, 0};
	const int32_t outside[][3] = {{0, LINK(4096 - 7), 0},
				      {0, 0, LINK(4096 - 3)},
				      {0, 0, LINK(-1)},
				      {0, 0, 0x7fffffff},
				      {0, 0, 1}};
	struct load *l = *state;
	struct image good;

	set_addresses(l);
	good = l->image;
	not_moved(l, NULL, 0, "nothing of how it can be moved: give a bzImage");
	not_moved(l, relocs, 3, "nothing of how it can be moved");
	not_moved(l, one, sizeof(one), "nothing of how it can be moved");
	not_moved(l, four, sizeof(four), "nothing of how it can be moved");
	not_moved(l, begun, sizeof(begun), "nothing of how it can be moved");
	for (size_t i = 0; i < sizeof(outside) / sizeof(outside[0]); i++)
		not_moved(l, outside[i], sizeof(outside[i]), "KASLR would change lies outside");
	/* Sections are a part of the file. */
	l->image.eh.e_shoff = offsetof(struct image, text);
	l->image.eh.e_shnum = 1;
	l->image.eh.e_shentsize = sizeof(Elf64_Shdr);
	set(l, offsetof(Elf64_Shdr, sh_type), SHT_PROGBITS, 4);
	set(l, offsetof(Elf64_Shdr, sh_offset), sizeof(l->image), 8);
	set(l, offsetof(Elf64_Shdr, sh_size), sizeof(relocs), 8);
	not_moved(l, relocs, sizeof(relocs), "nothing of how it can be moved");
	l->image = good;
	l->image.eh.e_shoff = ~0ull - 8;
	l->image.eh.e_shnum = 1;
	l->image.eh.e_shentsize = sizeof(Elf64_Shdr);
	moved(l, relocs, sizeof(relocs), true);
}

static void test_kaslr_bad_places(void **state)
{
	struct load *l = *state;
	struct image good;

	set_addresses(l);
	good = l->image;
	l->image.ph[0].p_paddr = LOAD + 4096;
	l->image.eh.e_entry += 4096;
	refused(l, -ENOMEM, "cannot be moved");
	l->image = good;
	l->image.ph[0].p_memsz = 1u << 30;
	refused(l, -ENOMEM, "cannot be moved");
	l->image.ph[0].p_memsz = ~0ull;
	refused(l, -ENOMEM, "cannot be moved");
	l->image = good;
	l->image.eh.e_entry = 0;
	refused(l, -ENOEXEC, "entry point");
}

static void test_random_relocs(void **state)
{
	struct load *l = *state;

	set_addresses(l);
	srand(test_seed());
	for (unsigned int i = 0; i < 20000; i++) {
		int32_t words[16];
		size_t n = (size_t)rand() % 16;

		for (size_t k = 0; k < n; k++)
			words[k] = rand() % 3 ? LINK(rand() % 4096) : rand() % 2 ? 0 : rand();
		if (load_with(l, sizeof(l->image), words, n * sizeof(words[0])))
			assert_int_not_equal(l->err[0], '\0');
	}
}

static void test_random_damage(void **state)
{
	struct load *l = *state;
	struct image good = l->image;

	srand(test_seed());
	for (unsigned int i = 0; i < 20000; i++) {
		l->image = good;
		l->m.cfg.kaslr = rand() % 2;
		for (int n = rand() % 4; n >= 0; n--)
			((uint8_t *)&l->image)[(size_t)rand() % offsetof(struct image, text)] =
				(uint8_t)rand();
		if (load_with(l, sizeof(l->image), relocs, sizeof(relocs)))
			assert_int_not_equal(l->err[0], '\0');
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_good, setup, teardown),
		cmocka_unit_test_setup_teardown(test_truncated, setup, teardown),
		cmocka_unit_test_setup_teardown(test_not_a_kernel, setup, teardown),
		cmocka_unit_test_setup_teardown(test_hostile_headers, setup, teardown),
		cmocka_unit_test_setup_teardown(test_hostile_segments, setup, teardown),
		cmocka_unit_test_setup_teardown(test_random_damage, setup, teardown),
		cmocka_unit_test_setup_teardown(test_kaslr, setup, teardown),
		cmocka_unit_test_setup_teardown(test_kaslr_keeps_off_the_initrd, setup, teardown),
		cmocka_unit_test_setup_teardown(test_bad_relocs, setup, teardown),
		cmocka_unit_test_setup_teardown(test_kaslr_bad_places, setup, teardown),
		cmocka_unit_test_setup_teardown(test_random_relocs, setup, teardown),
	};

	return cmocka_run_group_tests_name("load", tests, NULL, NULL);
}
