// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * efi.c - finds ExitBootServices() of a UEFI with 64 bits, as the UEFI specification has it.
 *
 * For debuggers that look at nothing but memory its core leaves an EFI_SYSTEM_TABLE_POINTER at a
 * multiple of 4 MiB, as near to the top of memory as it can (chapter "Debugger Support Protocol",
 * EFI System Table Location).
 */
#include "vmm/qemu/boot/boot.h"

#include <errno.h>
#include <string.h>

#define POINTER_ALIGN (UINT64_C(4) << 20)
#define SYSTEM_TABLE  UINT64_C(0x5453595320494249) /* "IBI SYST" */
#define BOOT_SERVICES UINT64_C(0x56524553544f4f42) /* "BOOTSERV" */
#define AT_SERVICES   96			   /* in EFI_SYSTEM_TABLE */
#define AT_EXIT	      232 /* in EFI_BOOT_SERVICES: behind its head and 26 others */

/* The beginning of EFI_SYSTEM_TABLE_POINTER. */
struct table_pointer {
	uint64_t signature, table;
};

static int read_word(const struct boot_memory *mem, uint64_t at, uint64_t *word)
{
	return mem->read(mem->arg, at, word, sizeof(*word));
}

static int read_signed(const struct boot_memory *mem, uint64_t table, uint64_t signature,
		       uint64_t field, uint64_t *word)
{
	uint64_t there;
	int rc = read_word(mem, table, &there);

	if (!rc && there != signature)
		rc = -ENOENT;
	return rc ? rc : read_word(mem, table + field, word);
}

static int look_at(const struct boot_memory *mem, uint64_t at, uint64_t *function)
{
	struct table_pointer p;
	uint64_t services, first;
	int rc = mem->read(mem->arg, at, &p, sizeof(p));

	if (!rc && p.signature != SYSTEM_TABLE)
		rc = -ENOENT;
	if (!rc)
		rc = read_signed(mem, p.table, SYSTEM_TABLE, AT_SERVICES, &services);
	if (!rc)
		rc = read_signed(mem, services, BOOT_SERVICES, AT_EXIT, function);
	/* Where a function is there are instructions. */
	if (!rc)
		rc = read_word(mem, *function, &first);
	if (!rc && (!*function || !first))
		rc = -ENOENT;
	return rc == -EFAULT ? -ENOENT : rc;
}

int boot_efi_exit(const struct boot_memory *mem, uint64_t *function)
{
	int rc = -ENOENT;

	for (size_t i = mem->nram; i-- && rc == -ENOENT;) {
		const struct boot_range *r = &mem->ram[i];
		uint64_t at = r->end & ~(POINTER_ALIGN - 1);

		for (; rc == -ENOENT && at >= r->start; at -= POINTER_ALIGN) {
			if (at < r->end)
				rc = look_at(mem, at, function);
			if (!at)
				break;
		}
	}
	return rc;
}
