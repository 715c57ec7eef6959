// SPDX-License-Identifier: GPL-2.0-or-later
/* check.c - whether an image is whole; see image.h. */
#include "frontend/image/image.h"

#include "frontend/image/qemu-img.h"
#include "guestsym/guestsym.h"

#include <endian.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* What qemu-img check ends with when there are errors, not only clusters that nobody uses
 * (qemu-img(1)). */
#define DAMAGED 2
/* Of a terabyte it takes some seconds: one that takes longer is taken for whole. */
#define PATIENCE_MS 10000

#define SECTOR 512

/* UEFI specification 2.10, 5.2.1 and 5.2.3: also a disk with a GPT has one, over all of it. */
struct mbr_entry {
	uint8_t active, first[3], type, last[3];
	uint32_t start, sectors;
} __attribute__((packed));

struct mbr {
	uint8_t code[446];
	struct mbr_entry entries[4];
	uint8_t mark[2];
} __attribute__((packed));

/* A file system may have that mark, too, with its own code before it. */
static bool is_table(const struct mbr *m)
{
	for (size_t i = 0; i < 4; i++)
		if (m->entries[i].active & 0x7f)
			return false;
	return m->mark[0] == 0x55 && m->mark[1] == 0xaa;
}

/* In bytes; 0: nothing is known of it. One of a GPT may also be "as many as there are". */
static uint64_t entry_end(const struct mbr_entry *e)
{
	if (!e->type || !e->start || !e->sectors || e->sectors == UINT32_MAX)
		return 0;
	return ((uint64_t)le32toh(e->start) + le32toh(e->sectors)) * SECTOR;
}

static int check_raw(const char *path, char *err, size_t errlen)
{
	struct mbr mbr = {0};
	struct stat st;
	int fd = guestsym_open_regular(path, &st);
	ssize_t n = fd < 0 ? -1 : pread(fd, &mbr, sizeof(mbr), 0);

	if (fd >= 0)
		close(fd);
	if (n != sizeof(mbr) || !is_table(&mbr))
		return 0;
	for (size_t i = 0; i < 4; i++) {
		uint64_t end = entry_end(&mbr.entries[i]);

		if (end <= (uint64_t)st.st_size)
			continue;
		snprintf(err, errlen,
			 "it has been cut off: it has %lld bytes, and partitions in %llu",
			 (long long)st.st_size, (unsigned long long)end);
		return -EIO;
	}
	return 0;
}

/* Of vmdk the check itself fails, behind a line that says where (QEMU, block/vmdk.c). */
static bool is_damaged(int status, const struct qemu_img *q)
{
	return status == DAMAGED || (status == 1 && !strncmp(q->said, "ERROR", strlen("ERROR")));
}

/* Whatever else comes of it is seen when the image is used. */
static int check_by_qemu(const char *path, const char *format, const struct cancel *cancel,
			 char *err, size_t errlen)
{
	const char *const argv[] = {"qemu-img", "check", "-f", format, "--", path, NULL};
	struct qemu_img q = {.argv = argv, .time_ms = PATIENCE_MS, .cancel = cancel};
	int ret = qemu_img_run(&q, err, errlen);
	bool damaged = is_damaged(ret, &q);

	qemu_img_free(&q);
	if (!damaged)
		return ret == -ECANCELED ? ret : 0;
	snprintf(err, errlen, "it is damaged, or has been cut off: qemu-img check says where");
	return -EIO;
}

int image_check(const char *path, const char *format, const struct cancel *cancel, char *err,
		size_t errlen)
{
	char *real;
	int ret;

	if (!strcmp(format, "raw"))
		return check_raw(path, err, errlen);
	if (!qemu_img_is_there())
		return 0;
	real = realpath(path, NULL);
	ret = real ? check_by_qemu(real, format, cancel, err, errlen) : 0;
	free(real);
	return ret;
}
