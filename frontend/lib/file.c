// SPDX-License-Identifier: GPL-2.0-or-later
/* file.c - a whole file in memory. */
#include "frontend/lib/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

int file_map(struct file_map *f, const char *path)
{
	struct stat st;
	void *data;
	int ret = 0;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	*f = (struct file_map){NULL, 0};
	if (fd < 0)
		return -errno;
	if (fstat(fd, &st)) {
		ret = -errno;
	} else if (!S_ISREG(st.st_mode)) {
		ret = S_ISDIR(st.st_mode) ? -EISDIR : -EINVAL;
	} else if (st.st_size) {
		data = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
		if (data == MAP_FAILED)
			ret = -errno;
		else
			*f = (struct file_map){data, (size_t)st.st_size};
	}
	close(fd);
	return ret;
}

void file_unmap(struct file_map *f)
{
	if (f->data)
		munmap((void *)(uintptr_t)f->data, f->len);
	*f = (struct file_map){NULL, 0};
}
