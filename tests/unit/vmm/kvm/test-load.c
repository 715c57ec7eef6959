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

static int load(struct load *l, size_t size)
{
	void *copy = malloc(size ? size : 1); /* of its exact size, for AddressSanitizer */
	int rc;

	memcpy(copy, &l->image, size);
	l->m.cfg.kernel = copy;
	l->m.cfg.kernel_size = size;
	l->err[0] = '\0';
	rc = kvm_load_elf(&l->m, &l->end, l->err, sizeof(l->err));
	free(copy);
	return rc;
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

static void test_random_damage(void **state)
{
	struct load *l = *state;
	struct image good = l->image;

	srand(test_seed());
	for (unsigned int i = 0; i < 20000; i++) {
		l->image = good;
		for (int n = rand() % 4; n >= 0; n--)
			((uint8_t *)&l->image)[(size_t)rand() % offsetof(struct image, text)] =
				(uint8_t)rand();
		if (load(l, sizeof(l->image)))
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
	};

	return cmocka_run_group_tests_name("load", tests, NULL, NULL);
}
