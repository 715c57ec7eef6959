// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * exec-overlay.c - the archive that hvtrace run --exec has a guest start from, on standard output.
 *
 * usage: exec-overlay [WORDS]    WORDS: those of the kernel command line
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "frontend/exec/overlay.h"

int main(int argc, char **argv)
{
	size_t len;
	void *archive = overlay_make(argc > 1 ? argv[1] : "", &len);
	bool failed = !archive || fwrite(archive, 1, len, stdout) != len;

	free(archive);
	return fflush(stdout) || failed;
}
