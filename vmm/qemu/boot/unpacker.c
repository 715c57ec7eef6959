// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * unpacker.c - two places in the code that unpacks a kernel: where it leaves for its own copy, out
 * of the way of what it unpacks, and where it leaves for the kernel.
 *
 * Both are in arch/x86/boot/compressed/head_64.S, the same from 5.10 to 6.12: startup_64 ends with
 *	lea	rva(.Lrelocated)(%rbx), %rax
 *	jmp	*%rax
 * and .Lrelocated, which is short and has no branches, with
 *	call	extract_kernel
 *	mov	%r15, %rsi		(before 6.3: pop %rsi)
 *	jmp	*%rax
 */
#include "vmm/qemu/boot/boot.h"

#include <errno.h>
#include <string.h>

#define HEAD_SIZE  2048 /* startup_64: some 300 bytes, in kernels with 5-level paging 500 */
#define MOVED_SIZE 256	/* .Lrelocated: some 80 */
#define LEA_SIZE   7
#define CALL_SIZE  5
#define BETWEEN	   4 /* bytes at most between that call and the jump */

static bool is_jump(const uint8_t *b)
{
	return b[0] == 0xff && b[1] == 0xe0; /* jmp *%rax */
}

static int read_code(const struct boot_memory *mem, uint64_t at, uint8_t *code, size_t len)
{
	int rc = mem->read(mem->arg, at, code, len);

	return rc == -EFAULT ? -ENOENT : rc;
}

int boot_unpacker_moves(const struct boot_memory *mem, uint64_t code, uint64_t *at)
{
	static const uint8_t lea[] = {0x48, 0x8d, 0x83}; /* disp32(%rbx), %rax */
	uint8_t b[HEAD_SIZE];
	int rc = read_code(mem, code + BOOT_STARTUP_64, b, sizeof(b));

	for (size_t i = 0; !rc && i + LEA_SIZE + 2 <= sizeof(b); i++) {
		if (memcmp(b + i, lea, sizeof(lea)) || !is_jump(b + i + LEA_SIZE))
			continue;
		*at = code + BOOT_STARTUP_64 + i + LEA_SIZE;
		return 0;
	}
	return rc ? rc : -ENOENT;
}

/* Behind a call, with no more than what hands on boot_params between the two. */
static bool is_end(const uint8_t *b, size_t i)
{
	for (size_t gap = 0; gap <= BETWEEN && CALL_SIZE + gap <= i; gap++)
		if (b[i - gap - CALL_SIZE] == 0xe8)
			return is_jump(b + i);
	return false;
}

int boot_unpacker_ends(const struct boot_memory *mem, uint64_t moved, uint64_t *at)
{
	uint8_t b[MOVED_SIZE];
	int rc = read_code(mem, moved, b, sizeof(b));

	for (size_t i = 0; !rc && i + 2 <= sizeof(b); i++) {
		if (!is_end(b, i))
			continue;
		*at = moved + i;
		return 0;
	}
	return rc ? rc : -ENOENT;
}
