// SPDX-License-Identifier: GPL-2.0-or-later
/* tree.c - see tree.h */
#include "frontend/lib/tree.h"

#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

static int is_itself(const char *name)
{
	return !strcmp(name, ".") || !strcmp(name, "..");
}

void tree_empty(int folder, int depth)
{
	int fd = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *e;

	while (dir && (e = readdir(dir)))
		if (!is_itself(e->d_name) && unlinkat(fd, e->d_name, 0) && depth)
			tree_remove(fd, e->d_name, depth - 1);
	if (dir)
		closedir(dir);
	else if (fd >= 0)
		close(fd);
}

void tree_remove(int at, const char *path, int depth)
{
	int fd = openat(at, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (fd < 0)
		return;
	tree_empty(fd, depth);
	close(fd);
	unlinkat(at, path, AT_REMOVEDIR);
}
