// SPDX-License-Identifier: GPL-2.0-or-later
/* fuzz-dat.c - trace.dat files, whatever is in them: opened, and all pages read that they have. */
#include "tests/fuzz/read-dat.h"

#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int fd = memfd_create("fuzz", MFD_CLOEXEC);

	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	read_dat(fd);
	return 0;
}
