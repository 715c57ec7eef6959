// SPDX-License-Identifier: GPL-2.0-or-later
/* info.c - what a disk image is; see image.h. */
#include "frontend/image/image.h"

#include "frontend/image/json-find.h"
#include "frontend/image/outside.h"
#include "frontend/image/qemu-img.h"
#include "frontend/image/reader.h"
#include "guestsym/guestsym.h"
#include "tracer/tracer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PATIENCE_MS 30000
#define BEGIN	    40960 /* bytes of an image that are looked at */

struct line {
	char *err;
	size_t len;
};

static int fail(const struct line *line, int ret, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static int fail(const struct line *line, int ret, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	vsnprintf(line->err, line->len, format, ap);
	va_end(ap);
	return ret;
}

/* --- what it begins with ------------------------------------------------------------------------
 */

struct begin {
	unsigned char bytes[BEGIN];
	size_t len;
	uint64_t size; /* of the file */
};

struct mark {
	size_t at;
	const char *bytes;
	size_t len;
	const char *what;
};

#define MARK(at, bytes, what)                                                                      \
	{                                                                                          \
		at, bytes, sizeof(bytes) - 1, what                                                 \
	}

/* Linux, Documentation/arch/x86/boot.rst, and arm64/booting.rst */
static const struct mark kernels[] = {
	MARK(0x202, "HdrS", "a kernel"),
	MARK(56, "ARM\x64", "a kernel of arm64"),
	MARK(0,
	     "\x7f"
	     "ELF",
	     "an ELF file"),
};

/* QEMU, block/: qcow2.c, vmdk.c, vdi.c, vhdx.c, vpc.c, qed.c */
static const struct mark formats[] = {
	MARK(0, "QFI\xfb", "qcow2"), MARK(0, "KDMV", "vmdk"),
	MARK(0, "COWD", "vmdk"),     MARK(64, "\x7f\x10\xda\xbe", "vdi"),
	MARK(0, "vhdxfile", "vhdx"), MARK(0, "conectix", "vpc"),
	MARK(0, "QED", "qed"),
};

/* Tables of partitions, and file systems of whole disks. */
static const struct mark disks[] = {
	MARK(510, "\x55\xaa", "MBR"),  MARK(512, "EFI PART", "GPT"),
	MARK(4096, "EFI PART", "GPT"), MARK(1080, "\x53\xef", "ext4"),
	MARK(0, "XFSB", "xfs"),	       MARK(32769, "CD001", "iso9660"),
	MARK(0, "hsqs", "squashfs"),
};

#define FIND(begin, marks) find_mark(begin, marks, sizeof(marks) / sizeof((marks)[0]))

static const char *find_mark(const struct begin *b, const struct mark *marks, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (b->len >= marks[i].at + marks[i].len &&
		    !memcmp(b->bytes + marks[i].at, marks[i].bytes, marks[i].len))
			return marks[i].what;
	return NULL;
}

/* A file, or a block device: those are only read, which does nothing to them. */
static int open_image(const char *path, uint64_t *size)
{
	struct stat st;
	int fd = guestsym_open_regular(path, &st);

	if (fd == -EINVAL && !stat(path, &st) && S_ISBLK(st.st_mode)) {
		fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
		if (fd < 0)
			return -errno;
	}
	*size = fd < 0 ? 0 : (uint64_t)lseek(fd, 0, SEEK_END);
	return fd;
}

static int read_begin(const char *path, struct begin *b, const struct line *line)
{
	int fd = open_image(path, &b->size);
	ssize_t n;

	if (fd == -EINVAL)
		return fail(line, fd, "it is neither a regular file nor a block device");
	if (fd < 0)
		return fail(line, fd, "%s", strerror(-fd));
	n = pread(fd, b->bytes, sizeof(b->bytes), 0);
	if (n < 0)
		n = fail(line, -errno, "cannot read it: %s", strerror(errno));
	close(fd);
	if (n < 0)
		return (int)n;
	b->len = (size_t)n;
	return 0;
}

static int by_begin(const struct begin *b, struct image_info *info, const struct line *line)
{
	const char *format = FIND(b, formats);

	if (format)
		return fail(
			line, -EOPNOTSUPP,
			"it is a %s image: for others than raw ones qemu-img is needed (Debian's package qemu-utils)",
			format);
	snprintf(info->format, sizeof(info->format), "raw");
	info->virtual_size = b->size;
	return 0;
}

/* --- what qemu-img says --------------------------------------------------------------------------
 */

static bool find_data_file(struct json_value top)
{
	struct json_value v;

	return json_find(top, "format-specific", &v) && json_find(v, "data", &v) &&
	       json_find(v, "data-file", &v);
}

static int parse_answer(const struct text *answer, struct image_info *info, const struct line *line)
{
	const struct json_value top = {answer->buf, answer->len};
	struct json_value v;

	if (!json_find(top, "format", &v) ||
	    !json_get_string(v, info->format, sizeof(info->format)) ||
	    !json_find(top, "virtual-size", &v) || !json_get_number(v, &info->virtual_size))
		return fail(line, -EPROTO, "qemu-img gives no format and size for it");
	info->has_backing = json_find(top, "backing-filename", &v);
	info->has_data_file = find_data_file(top);
	info->is_encrypted = json_find(top, "encrypted", &v) && json_is_true(v);
	return 0;
}

/* Absolute, so that a colon in it is not taken for a protocol's. */
static int ask(const char *path, const struct cancel *cancel, struct image_info *info,
	       const struct line *line)
{
	const char *const argv[] = {"qemu-img", "info", "-U", "--output=json", "--", path, NULL};
	struct qemu_img q = {.argv = argv, .time_ms = PATIENCE_MS, .cancel = cancel};
	int ret = qemu_img_run(&q, line->err, line->len);

	if (ret > 0)
		ret = fail(line, -EINVAL, "%s", q.said);
	else if (!ret)
		ret = parse_answer(&q.answer, info, line);
	qemu_img_free(&q);
	return ret;
}

/* Without qemu-img, which would open what it names. */
static int is_outside(const char *format, struct image_info *info)
{
	snprintf(info->format, sizeof(info->format), "%s", format);
	info->has_data_file = true;
	return 0;
}

static int by_either(const char *real, const struct begin *b, const struct cancel *cancel,
		     struct image_info *info, const struct line *line)
{
	const char *outside = image_is_outside(b->bytes, b->len);

	if (outside)
		return is_outside(outside, info);
	return qemu_img_is_there() ? ask(real, cancel, info, line) : by_begin(b, info, line);
}

int image_info(const char *path, const struct cancel *cancel, struct image_info *info, char *err,
	       size_t errlen)
{
	const struct line line = {err, errlen};
	struct begin *b;
	char *real;
	int ret;

	*info = (struct image_info){.format = ""};
	b = calloc(1, sizeof(*b));
	if (!b)
		return fail(&line, -ENOMEM, "no memory");
	ret = read_begin(path, b, &line);
	real = ret ? NULL : realpath(path, NULL);
	if (!ret && !real)
		ret = fail(&line, -errno, "%s", strerror(errno));
	if (!ret)
		ret = by_either(real, b, cancel, info, &line);
	free(real);
	free(b);
	return ret;
}

/* btrfs, LVM and such have their marks further back, or elsewhere. */
static int check_raw(const struct begin *b, const struct line *line)
{
	const char *kernel = FIND(b, kernels);

	if (kernel)
		return fail(line, -EINVAL, "it is %s, not a disk image (-k)", kernel);
	if (!FIND(b, disks))
		return fail(
			line, -EINVAL,
			"it is no disk image: it has neither partitions nor a file system that is known");
	return 0;
}

int image_check_raw(const char *path, char *err, size_t errlen)
{
	const struct line line = {err, errlen};
	struct begin *b = calloc(1, sizeof(*b));
	int ret;

	if (!b)
		return fail(&line, -ENOMEM, "no memory");
	ret = read_begin(path, b, &line);
	if (!ret)
		ret = check_raw(b, &line);
	free(b);
	return ret;
}
