// SPDX-License-Identifier: GPL-2.0-or-later
/* disks.c - walks the inodes of the kernel's file system of block devices (block/bdev.c). */
#include "tracer/guest/disks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define DISKS_MAX 4096 /* more there are not, or the list makes no sense */

/* Where things lie in the kernel's structures. */
struct disk_layout {
	uint64_t inodes;	     /* in struct super_block */
	uint64_t next;		     /* in struct inode */
	uint64_t bdev, inode;	     /* in struct bdev_inode */
	uint64_t device, disk;	     /* in struct block_device */
	uint64_t major, minor, name; /* in struct gendisk */
};

static int layout_learn(struct disk_layout *at, const struct guestsym *gs)
{
	const struct {
		const char *path;
		uint64_t *to;
	} fields[] = {
		{"super_block.s_inodes", &at->inodes}, {"inode.i_sb_list", &at->next},
		{"bdev_inode.bdev", &at->bdev},	       {"bdev_inode.vfs_inode", &at->inode},
		{"block_device.bd_dev", &at->device},  {"block_device.bd_disk", &at->disk},
		{"gendisk.major", &at->major},	       {"gendisk.first_minor", &at->minor},
		{"gendisk.disk_name", &at->name},
	};

	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
		struct guestsym_field f;

		if (guestsym_field(gs, fields[i].path, &f))
			return -ENODATA;
		*fields[i].to = f.offset;
	}
	return 0;
}

/* Up to the first character that no name has. */
static void cut_name(char name[DISK_NAME_MAX])
{
	size_t n = 0;

	while (n < DISK_NAME_MAX - 1 && name[n] > ' ' && name[n] <= '~')
		n++;
	memset(name + n, 0, DISK_NAME_MAX - n);
}

/* One that goes just now may have no disk any more: false. */
static bool read_disk(struct guest_kernel *g, const struct disk_layout *at, uint64_t bdev,
		      struct disk *to)
{
	uint32_t major, minor;
	uint64_t disk;

	if (guest_read(g, bdev + at->device, &to->device, sizeof(to->device)) ||
	    guest_read(g, bdev + at->disk, &disk, sizeof(disk)) || !disk ||
	    guest_read(g, disk + at->major, &major, sizeof(major)) ||
	    guest_read(g, disk + at->minor, &minor, sizeof(minor)) ||
	    guest_read(g, disk + at->name, to->name, sizeof(to->name)))
		return false;
	to->whole = major << DISK_MINOR_BITS | (minor & ((1U << DISK_MINOR_BITS) - 1));
	cut_name(to->name);
	return true;
}

static int walk(struct guest_kernel *g, const struct disk_layout *at, uint64_t super,
		struct disks *to)
{
	uint64_t head = super + at->inodes, node;

	if (guest_read(g, head, &node, sizeof(node)))
		return -EFAULT;
	for (unsigned int i = 0; i < DISKS_MAX && node != head; i++) {
		if (read_disk(g, at, node - at->next - at->inode + at->bdev, &to->v[to->n]))
			to->n++;
		if (guest_read(g, node, &node, sizeof(node)))
			return -EFAULT;
	}
	return node == head ? 0 : -EFAULT;
}

static int compare(const void *a, const void *b)
{
	const struct disk *x = a, *y = b;

	return x->device < y->device ? -1 : x->device > y->device;
}

int disks_read(struct guest_kernel *g, const struct guestsym *gs, struct disks *to)
{
	uint64_t symbol = guestsym_addr(gs, "blockdev_superblock"), super;
	struct disk_layout at;
	int ret = symbol ? layout_learn(&at, gs) : -ENODATA;

	if (ret)
		return ret;
	if (guest_read(g, symbol + g->slide, &super, sizeof(super)))
		return -EFAULT;
	if (!super)
		return -ENODATA;
	*to = (struct disks){.v = calloc(DISKS_MAX, sizeof(*to->v))};
	if (!to->v)
		return -ENOMEM;
	ret = walk(g, &at, super, to);
	if (ret)
		disks_free(to);
	else
		qsort(to->v, to->n, sizeof(*to->v), compare);
	return ret;
}

void disks_free(struct disks *d)
{
	free(d->v);
	*d = (struct disks){0};
}

const struct disk *disks_find(const struct disks *d, uint32_t device)
{
	const struct disk key = {.device = device};

	return d->n ? bsearch(&key, d->v, d->n, sizeof(*d->v), compare) : NULL;
}

const struct disk *disks_named(const struct disks *d, const char *name)
{
	for (size_t i = 0; i < d->n; i++)
		if (d->v[i].device == d->v[i].whole && !strcmp(d->v[i].name, name))
			return &d->v[i];
	return NULL;
}
