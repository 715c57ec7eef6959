// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * debugcon.c - copies its input to I/O port 0xe9, which QEMU's -debugcon writes to a file.
 *
 * Runs inside the guest. One `rep outsb` per block: the emulated serial port moves some 40 KB/s,
 * this moves megabytes.
 */
#include <stddef.h>
#include <stdio.h>
#include <sys/io.h>
#include <unistd.h>

#define DEBUGCON_PORT 0xe9

int main(void)
{
	static char block[65536];
	ssize_t n;

	if (ioperm(DEBUGCON_PORT, 1, 1)) {
		perror("debugcon: ioperm");
		return 1;
	}
	while ((n = read(STDIN_FILENO, block, sizeof(block))) > 0)
		outsb(DEBUGCON_PORT, block, n);
	return n < 0;
}
