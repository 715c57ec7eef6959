/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * boot.h - what the memory of a guest that boots by itself tells of its kernel. All addresses are
 * guest-physical unless they are said to be others; errors are negative errnos. What a function
 * finds is a guess that the guest has made, and may have made up.
 */
#ifndef HVTRACE_VMM_QEMU_BOOT_BOOT_H
#define HVTRACE_VMM_QEMU_BOOT_BOOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct boot_range {
	uint64_t start, end;
};

struct boot_memory {
	/* 0, or -EFAULT: some of it is not RAM; what else it gives ends what is being done. */
	int (*read)(void *arg, uint64_t pa, void *buf, size_t len);
	void *arg;
	const struct boot_range *ram; /* what there is to search through, by address */
	size_t nram;
};

/* --- setup.c: the setup header of a bzImage (Documentation/arch/x86/boot.rst of the kernel) --- */

struct boot_setup {
	uint64_t at; /* what the header is in: a struct boot_params, or the image as it was read */
	uint64_t code[2]; /* where the code of protected mode may lie, first the likelier */
	uint32_t payload_offset, payload_length; /* of the compressed kernel, in that code */
};

/* -ENOENT: there is none, or of no kernel with 64 bits. */
int boot_setup_read(const struct boot_memory *mem, uint64_t at, struct boot_setup *s);
/* The first header in RAM at `from` or behind it, at the beginning of a page: likewise. */
int boot_setup_find(const struct boot_memory *mem, uint64_t from, struct boot_setup *s);
/*
 * A bzImage with nothing in it but what its unpacker unpacks, as that lies behind `code`; to be
 * freed. -ENOENT: none lies there.
 */
int boot_image_read(const struct boot_memory *mem, const struct boot_setup *s, uint64_t code,
		    uint8_t **image, size_t *len);
/* Whether both have the same beginning, to tell copies of one kernel's unpacker. */
bool boot_code_is_same(const struct boot_memory *mem, uint64_t a, uint64_t b);

/* --- unpacker.c: arch/x86/boot/compressed of the kernel -------------------------------------- */

#define BOOT_STARTUP_64 0x200 /* where its 64-bit entry is, which is ABI */

/*
 * The jump with which the code at `code` leaves for the place where it has copied itself: rax is
 * where it goes on. -ENOENT: this is no such code.
 */
int boot_unpacker_moves(const struct boot_memory *mem, uint64_t code, uint64_t *at);
/* And that by which it goes from there, `moved`, into the kernel, whose entry is in rax. */
int boot_unpacker_ends(const struct boot_memory *mem, uint64_t moved, uint64_t *at);

/* --- kernel.c: the unpacked kernel --------------------------------------------------------- */

struct boot_segment {
	uint64_t va, pa, off, len; /* link addresses; of its bytes in the file */
};

#define BOOT_SEGMENTS 16

/* An ELF image, which the caller keeps. */
struct boot_kernel {
	const uint8_t *elf;
	struct boot_segment seg[BOOT_SEGMENTS]; /* by their address in memory */
	size_t nseg;
	uint64_t entry;	       /* physical */
	struct boot_range map; /* virtual: from the first segment to the end of the last */
};

/* -EINVAL: this is no image of a kernel. */
int boot_kernel_open(struct boot_kernel *k, const void *elf, size_t len);
/*
 * Is it there, unpacked and relocated, with its first segment at pa? Then *slide is by how much its
 * virtual addresses differ from those that it was linked at. -ENOENT: it is not.
 */
int boot_kernel_look(const struct boot_kernel *k, const struct boot_memory *mem, uint64_t pa,
		     uint64_t *slide);
/* Where it is being unpacked: its image's own head is there then. -ENOENT: nowhere (yet). */
int boot_kernel_unpacks(const struct boot_kernel *k, const struct boot_memory *mem, uint64_t *pa);
/* Search all RAM for it. */
int boot_kernel_find(const struct boot_kernel *k, const struct boot_memory *mem, uint64_t *pa,
		     uint64_t *slide);

/* Wherever the kernel, or its unpacker, is put it is at a multiple of this. */
#define BOOT_KERNEL_ALIGN (UINT64_C(2) << 20) /* CONFIG_PHYSICAL_ALIGN is at least this */

/* --- efi.c: UEFI, where it has 64 bits ------------------------------------------------------ */

/*
 * The address of ExitBootServices(), after which the firmware is gone. -ENOENT: there is no UEFI,
 * or it is not so far yet: its core makes the table first of all.
 */
int boot_efi_exit(const struct boot_memory *mem, uint64_t *function);

#endif
