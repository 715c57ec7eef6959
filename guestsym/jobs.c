// SPDX-License-Identifier: GPL-2.0-or-later
/* jobs.c - what the process does that reads hostile bytes: from descriptors to descriptors. */
#include "guestsym/internal.h"
#include "guestsym/jobs.h"
#include "guestsym/modules.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* Holes stay holes: debug data that are forgotten are most of an image that has them. */
#define STEP (64 << 10)

static bool is_zero(const uint8_t *p, size_t len)
{
	return !*p && !memcmp(p, p + 1, len - 1);
}

static int put_blob(int fd, const struct blob *b)
{
	int err = 0;

	if (ftruncate(fd, 0) || ftruncate(fd, (off_t)b->len))
		return -errno;
	for (size_t off = 0; off < b->len && !err; off += STEP) {
		size_t len = b->len - off < STEP ? b->len - off : STEP;

		if (!is_zero(b->data + off, len))
			err = apart_write(fd, b->data + off, len, off);
	}
	return err;
}

/* What came in a descriptor, to be read. */
static int get_blob(int fd, struct blob *b)
{
	void *data;
	size_t len;
	int err = apart_file_map(fd, IMAGE_MAX_FILE, &data, &len);

	*b = (struct blob){0};
	if (!err)
		*b = (struct blob){.data = data, .len = len, .map = data, .map_len = len};
	return err;
}

static int do_image(const int fds[APART_FDS], char why[APART_TEXT])
{
	const struct complaint c = {NULL, why, APART_TEXT};
	struct blob file, bytes = {0}, digest = {0};
	struct stat st;
	int err;

	if (pread(fds[2], &st, sizeof(st), 0) != sizeof(st))
		return -EPROTO;
	err = image_read(&file, fds[0], &st, &c);
	if (!err)
		err = kernel_digest(&file, &bytes, &digest, &c);
	if (!err)
		err = put_blob(fds[1], &bytes);
	return err ? err : put_blob(fds[2], &digest);
}

static int do_booted(const int fds[APART_FDS], char why[APART_TEXT])
{
	const struct complaint c = {NULL, why, APART_TEXT};
	struct blob bytes, pieces = {0}, digest;
	struct elf_image elf = {0};
	struct booted_head head;
	int err = get_blob(fds[0], &bytes);

	if (!err)
		err = get_blob(fds[1], &pieces);
	if (err || pieces.len < sizeof(head))
		return err ? err : -EPROTO;
	memcpy(&head, pieces.data, sizeof(head));
	if ((pieces.len - sizeof(head)) / sizeof(*elf.segs) != head.nr_segs)
		return -EPROTO;
	elf.data = bytes.data;
	elf.len = bytes.len;
	elf.nr_segs = head.nr_segs;
	elf.segs = (struct elf_segment *)((uint8_t *)pieces.map + sizeof(head));
	err = kernel_digest_booted(&elf, head.hint, &digest, &c);
	return err ? err : put_blob(fds[2], &digest);
}

static int do_sites(const int fds[APART_FDS], enum sites_kind kind)
{
	struct found_sites found = {0};
	struct blob bytes, digest;
	struct kernel k;
	int err = get_blob(fds[0], &bytes);

	if (!err)
		err = get_blob(fds[1], &digest);
	if (!err)
		err = digest_load(&k, &digest, &bytes);
	if (!err)
		err = sites_find(&k, kind, &found);
	return err ? err : apart_write(fds[2], found.v, found.n * sites_size(kind), 0);
}

static int do_irq(const int fds[APART_FDS], char why[APART_TEXT])
{
	(void)why;
	return do_sites(fds, SITES_IRQ);
}

static int do_preempt(const int fds[APART_FDS], char why[APART_TEXT])
{
	(void)why;
	return do_sites(fds, SITES_PREEMPT);
}

static int do_modules(const int fds[APART_FDS], char why[APART_TEXT])
{
	struct guestsym_module_copies copies;
	struct blob packed, digests;
	int err = get_blob(fds[0], &packed);

	(void)why;
	if (!err)
		err = modules_unpack(&packed, &copies);
	if (!err)
		err = modules_digest(&copies, &digests);
	return err ? err : put_blob(fds[2], &digests);
}

const struct apart_job guestsym_jobs[NR_JOBS] = {
	[JOB_IMAGE] = {do_image},     [JOB_BOOTED] = {do_booted},   [JOB_IRQ] = {do_irq},
	[JOB_PREEMPT] = {do_preempt}, [JOB_MODULES] = {do_modules},
};
