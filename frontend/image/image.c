// SPDX-License-Identifier: GPL-2.0-or-later
/* image.c - the kernel, initrd and command line of a disk image; see image.h. */
#include "frontend/image/image.h"

#include "frontend/image/reader.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

/* The first one that is installed. */
static const struct image_reader *const readers[] = {&guestfish_reader};

#define NR_READERS (sizeof(readers) / sizeof(readers[0]))

struct job {
	const struct image_boot_config *cfg;
	const struct image_reader *reader;
	struct boot_disk disk;
	struct boot_entry entry;
	char kernel[PATH_MAX], initrd[PATH_MAX], part[PATH_MAX];
	char *err;
	size_t errlen;
};

/* --- the kernel ------------------------------------------------------------------------------- */

/* Linux, Documentation/arch/x86/boot.rst; ELF: e_machine of an object of little-endian order. */
static bool is_kernel(const char *path)
{
	unsigned char head[0x206] = {0};
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	ssize_t n = fd < 0 ? -1 : pread(fd, head, sizeof(head), 0);

	if (fd >= 0)
		close(fd);
	if (n < (ssize_t)sizeof(head))
		return false;
	return !memcmp(head + 0x202, "HdrS", 4) ||
	       (!memcmp(head, "\177ELF\2\1", 6) && head[18] == 62 && !head[19]);
}

/* Said of a file of the image. */
static int fail_of(struct job *j, int ret, const char *what, const struct boot_file *f,
		   const char *why)
{
	snprintf(j->err, j->errlen, "the %s that its boot loader (%s) starts, %s: %s", what,
		 j->entry.loader, f->path, why);
	return ret;
}

static int copy_file(struct job *j, const char *what, const struct boot_file *f, const char *to,
		     uint64_t max)
{
	char why[256] = "";
	int ret = j->reader->copy(&j->disk, f, to, max, why, sizeof(why));

	return ret ? fail_of(j, ret, what, f, why) : 0;
}

static int copy_kernel(struct job *j)
{
	int ret = copy_file(j, "kernel", &j->entry.kernel, j->kernel, IMAGE_KERNEL_MAX);

	if (!ret && !is_kernel(j->kernel))
		ret = fail_of(j, -ENOENT, "kernel", &j->entry.kernel,
			      "it is no kernel of x86 (bzImage or vmlinux)");
	return ret;
}

/* --- initrds ---------------------------------------------------------------------------------- */

static int append_bytes(int to, int from, uint64_t *has)
{
	static const char zeros[4];
	size_t pad = (4 - (*has & 3)) & 3;
	ssize_t n;

	/* Where the kernel looks for another archive. */
	if (pwrite(to, zeros, pad, (off_t)*has) != (ssize_t)pad ||
	    lseek(to, (off_t)(*has += pad), SEEK_SET) < 0)
		return -errno;
	while ((n = sendfile(to, from, NULL, 1u << 30)) > 0)
		*has += (uint64_t)n;
	return n ? -errno : 0;
}

static int append(const char *path, const char *part, uint64_t *has)
{
	int to = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	int from = open(part, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	int ret = to < 0 || from < 0 ? -errno : append_bytes(to, from, has);

	if (to >= 0)
		close(to);
	if (from >= 0)
		close(from);
	return ret;
}

static int copy_initrds(struct job *j)
{
	uint64_t has = 0;
	int ret = 0;

	for (unsigned int i = 0; !ret && i < j->entry.nr_initrds; i++) {
		const struct boot_file *f = &j->entry.initrd[i];

		/* What is put in between may have gone beyond it. */
		ret = copy_file(j, "initrd", f, j->part,
				has < IMAGE_INITRD_MAX ? IMAGE_INITRD_MAX - has : 0);
		if (ret)
			break;
		if (j->entry.nr_initrds == 1)
			ret = rename(j->part, j->initrd) ? -errno : 0;
		else
			ret = append(j->initrd, j->part, &has);
		if (ret)
			fail_of(j, ret, "initrd", f, strerror(-ret));
	}
	unlink(j->part);
	return ret;
}

/* --- all of it -------------------------------------------------------------------------------- */

static int take(const struct job *j, struct image_boot *boot)
{
	const struct boot_entry *e = &j->entry;

	*boot = (struct image_boot){
		.kernel = strdup(j->kernel),
		.initrd = e->nr_initrds ? strdup(j->initrd) : NULL,
		.cmdline = strdup(e->cmdline),
		.title = strdup(e->title),
		.source = strdup(e->source.path),
		.loader = strdup(e->loader),
	};
	if (boot->kernel && (boot->initrd || !e->nr_initrds) && boot->cmdline && boot->title &&
	    boot->source && boot->loader)
		return 0;
	image_boot_free(boot);
	return -ENOMEM;
}

static int read_all(struct job *j)
{
	int ret = boot_find(&j->disk, &j->entry, j->err, j->errlen);

	if (!ret)
		ret = copy_kernel(j);
	if (!ret)
		ret = copy_initrds(j);
	/* Whatever was read just then. */
	if (ret == -ECANCELED || ret == -ETIMEDOUT || ret == -EPIPE)
		snprintf(j->err, j->errlen, "%s %s", j->reader->name,
			 ret == -ECANCELED   ? "was told to end"
			 : ret == -ETIMEDOUT ? "does not answer"
					     : "has ended too soon");
	return ret;
}

static const struct image_reader *find_reader(char *err, size_t errlen)
{
	for (size_t i = 0; i < NR_READERS; i++)
		if (readers[i]->usable())
			return readers[i];
	snprintf(err, errlen, "no program that reads images is installed: %s (Debian's package %s)",
		 readers[0]->name, readers[0]->package);
	return NULL;
}

static int set_paths(struct job *j)
{
	const char *dir = j->cfg->dir;

	/* More than any of them needs. */
	if (strlen(dir) + sizeof("/initrd-part") > PATH_MAX) {
		snprintf(j->err, j->errlen, "the path of its folder is too long");
		return -ENAMETOOLONG;
	}
	snprintf(j->kernel, sizeof(j->kernel), "%s/kernel", dir);
	snprintf(j->initrd, sizeof(j->initrd), "%s/initrd", dir);
	snprintf(j->part, sizeof(j->part), "%s/initrd-part", dir);
	return 0;
}

static int read_image(struct job *j)
{
	int ret = set_paths(j);

	if (!ret)
		ret = j->reader->open(j->cfg, &j->disk, j->err, j->errlen);
	if (ret)
		return ret;
	ret = read_all(j);
	j->reader->close(&j->disk);
	if (ret) {
		unlink(j->kernel);
		unlink(j->initrd);
	}
	return ret;
}

int image_boot_read(const struct image_boot_config *cfg, struct image_boot *boot, char *err,
		    size_t errlen)
{
	struct job *j;
	int ret = strcmp(cfg->format, "raw") ? 0 : image_check_raw(cfg->path, err, errlen);

	*boot = (struct image_boot){NULL};
	if (ret)
		return ret;
	j = calloc(1, sizeof(*j));
	if (!j) {
		snprintf(err, errlen, "no memory");
		return -ENOMEM;
	}
	j->cfg = cfg;
	j->err = err;
	j->errlen = errlen;
	j->reader = find_reader(err, errlen);
	ret = j->reader ? read_image(j) : -EOPNOTSUPP;
	if (!ret && take(j, boot)) {
		snprintf(err, errlen, "no memory");
		ret = -ENOMEM;
	}
	free(j);
	return ret;
}

void image_boot_free(struct image_boot *boot)
{
	free(boot->kernel);
	free(boot->initrd);
	free(boot->cmdline);
	free(boot->title);
	free(boot->source);
	free(boot->loader);
	*boot = (struct image_boot){NULL};
}
