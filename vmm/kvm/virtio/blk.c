// SPDX-License-Identifier: GPL-2.0-or-later
/* blk.c - requests of a block driver: checked here, carried out by the disk, given back from there.
 */
#include "vmm/kvm/virtio/blk.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* 5.2.3, 5.2.6 of the specification. */
#define BLK_F_SEG_MAX	   (UINT64_C(1) << 2)
#define BLK_F_RO	   (UINT64_C(1) << 5)
#define BLK_F_BLK_SIZE	   (UINT64_C(1) << 6)
#define BLK_F_FLUSH	   (UINT64_C(1) << 9)
#define BLK_F_DISCARD	   (UINT64_C(1) << 13)
#define BLK_F_WRITE_ZEROES (UINT64_C(1) << 14)

enum {
	TYPE_IN = 0,
	TYPE_OUT = 1,
	TYPE_FLUSH = 4,
	TYPE_GET_ID = 8,
	TYPE_DISCARD = 11,
	TYPE_WRITE_ZEROES = 13,
};

enum { STATUS_OK = 0, STATUS_IOERR = 1, STATUS_UNSUPP = 2 };

#define ID_SIZE	    20u
#define PCI_STORAGE 0x018000 /* a mass storage controller of no kind that PCI knows */
/* What is zeroed at a time keeps a thread, and perhaps the guest, that long. */
#define ZERO_SECTORS_MAX (UINT32_C(1) << 22)

struct blk_header {
	uint32_t type, reserved;
	uint64_t sector;
};

/* Of DISCARD and WRITE_ZEROES. */
struct blk_range {
	uint64_t sector;
	uint32_t sectors, flags;
};

#define RANGE_UNMAP 1u

struct blk_config { /* 5.2.4 */
	uint64_t capacity;
	uint32_t size_max, seg_max;
	uint8_t geometry[4];
	uint32_t blk_size;
	uint8_t topology[8], writeback, unused0;
	uint16_t num_queues;
	uint32_t max_discard_sectors, max_discard_seg, discard_alignment;
	uint32_t max_zero_sectors, max_zero_seg;
	uint8_t zero_may_unmap, unused1[3];
} __attribute__((packed));

struct blk_request {
	struct disk_request disk; /* first */
	struct blk *blk;
	struct virtq_chain chain;
	uint8_t *status;  /* in the guest's memory */
	uint32_t written; /* into it, if all goes well */
	struct blk_request *next_free;
};

struct blk {
	struct virtio_device device;
	struct disk *disk;
	struct blk_config config;
	char id[ID_SIZE];
	pthread_mutex_t lock; /* what follows */
	struct blk_request *free;
	/* One more than there can be under way, for looking whether there is another one. */
	struct blk_request request[VIRTQ_MAX + 1];
};

/* --- requests -------------------------------------------------------------------------------- */

static struct blk_request *request_get(struct blk *b)
{
	struct blk_request *r;

	pthread_mutex_lock(&b->lock);
	r = b->free;
	if (r)
		b->free = r->next_free;
	pthread_mutex_unlock(&b->lock);
	return r;
}

static void request_put(struct blk *b, struct blk_request *r)
{
	pthread_mutex_lock(&b->lock);
	r->next_free = b->free;
	b->free = r;
	pthread_mutex_unlock(&b->lock);
}

static void request_end(struct blk_request *r, uint8_t status)
{
	struct blk *b = r->blk;
	uint16_t head = r->chain.head;
	uint32_t written = 1 + (status == STATUS_OK ? r->written : 0);

	__atomic_store_n(r->status, status, __ATOMIC_RELAXED);
	/* First, so that the driver's next one finds it. */
	request_put(b, r);
	virtio_push(&b->device, 0, head, written);
}

static void submit(struct blk_request *r, enum disk_op op, uint64_t off, uint64_t len);

/* A driver that does not flush has what it has written on the disk at once: 5.2.6.2. */
static bool is_to_be_flushed(struct blk_request *r)
{
	return r->disk.op != DISK_READ && r->disk.op != DISK_FLUSH &&
	       !(virtio_features(&r->blk->device) & BLK_F_FLUSH);
}

static void disk_done(struct disk_request *d, int rc)
{
	struct blk_request *r = (struct blk_request *)d;

	if (!rc && is_to_be_flushed(r))
		submit(r, DISK_FLUSH, 0, 0);
	else
		request_end(r, rc ? STATUS_IOERR : STATUS_OK);
}

static void submit(struct blk_request *r, enum disk_op op, uint64_t off, uint64_t len)
{
	r->disk.op = op;
	r->disk.off = off;
	r->disk.len = len;
	r->disk.done = disk_done;
	disk_submit(r->blk->disk, &r->disk);
}

/* The offset of these bytes; false: they are not all on the disk, or no whole sectors. */
static bool place_of(const struct blk *b, uint64_t sector, uint64_t len, uint64_t *off)
{
	uint64_t size = disk_size(b->disk);

	*off = sector * DISK_SECTOR;
	return sector <= size / DISK_SECTOR && len <= size - *off && len % DISK_SECTOR == 0;
}

static void read_or_write(struct blk_request *r, bool write, uint64_t sector)
{
	struct virtq_chain *c = &r->chain;
	size_t len = write ? c->out_len : c->in_len;
	uint64_t off;

	r->disk.iov = write ? c->iov : c->iov + c->nout;
	r->disk.n = write ? c->nout : c->nin;
	r->written = write ? 0 : (uint32_t)len;
	if (len > UINT32_MAX - 1 || !place_of(r->blk, sector, len, &off) ||
	    (write && disk_is_read_only(r->blk->disk)))
		request_end(r, STATUS_IOERR);
	else
		submit(r, write ? DISK_WRITE : DISK_READ, off, len);
}

static void zero(struct blk_request *r, bool discard)
{
	struct blk_range range;
	enum disk_op op = DISK_DISCARD;
	uint64_t off, len;

	/* Of ranges there is one: max_discard_seg, max_zero_seg. */
	if (!virtq_take(&r->chain, &range, sizeof(range)) || r->chain.out_len ||
	    disk_is_read_only(r->blk->disk) || range.sectors > ZERO_SECTORS_MAX) {
		request_end(r, STATUS_IOERR);
		return;
	}
	if (range.flags & ~(discard ? 0 : RANGE_UNMAP)) {
		request_end(r, STATUS_UNSUPP);
		return;
	}
	if (!discard)
		op = range.flags & RANGE_UNMAP ? DISK_UNMAP : DISK_ZERO;
	len = (uint64_t)range.sectors * DISK_SECTOR;
	if (!place_of(r->blk, range.sector, len, &off))
		request_end(r, STATUS_IOERR);
	else
		submit(r, op, off, len);
}

static void get_id(struct blk_request *r)
{
	const struct iovec *v = r->chain.iov + r->chain.nout;
	size_t left = ID_SIZE;
	const char *from = r->blk->id;

	for (unsigned int i = 0; i < r->chain.nin && left; i++) {
		size_t part = v[i].iov_len < left ? v[i].iov_len : left;

		memcpy(v[i].iov_base, from, part);
		from += part;
		left -= part;
	}
	r->written = ID_SIZE - (uint32_t)left;
	request_end(r, STATUS_OK);
}

/* False: it is none, and there is nowhere to say so. */
static bool request_begin(struct blk_request *r)
{
	struct blk_header h;

	r->written = 0;
	r->status = virtq_cut_last(&r->chain);
	if (!r->status || !virtq_take(&r->chain, &h, sizeof(h)))
		return false;
	switch (h.type) {
	case TYPE_IN:
	case TYPE_OUT:
		read_or_write(r, h.type == TYPE_OUT, h.sector);
		break;
	case TYPE_FLUSH:
		submit(r, DISK_FLUSH, 0, 0);
		break;
	case TYPE_GET_ID:
		get_id(r);
		break;
	case TYPE_DISCARD:
	case TYPE_WRITE_ZEROES:
		zero(r, h.type == TYPE_DISCARD);
		break;
	default:
		request_end(r, STATUS_UNSUPP);
	}
	return true;
}

/* --- the device ------------------------------------------------------------------------------ */

static void blk_serve(void *dev, unsigned int queue)
{
	struct blk *b = dev;
	struct blk_request *r;
	bool sound = true;

	while (sound && (r = request_get(b))) {
		if (!virtio_pop(&b->device, queue, &r->chain)) {
			request_put(b, r);
			return;
		}
		sound = request_begin(r);
		if (!sound)
			request_put(b, r);
	}
	/* Else there are more under way than the queue has room for. */
	virtio_broken(&b->device);
}

static void blk_drain(void *dev)
{
	struct blk *b = dev;

	disk_wait(b->disk);
}

static void blk_read_config(void *dev, uint32_t off, void *to, size_t len)
{
	const struct blk *b = dev;

	if (off < sizeof(b->config))
		memcpy(to, (const uint8_t *)&b->config + off,
		       len < sizeof(b->config) - off ? len : sizeof(b->config) - off);
}

static void blk_free(void *dev)
{
	struct blk *b = dev;

	disk_close(b->disk);
	pthread_mutex_destroy(&b->lock);
	free(b);
}

static const struct virtio_ops blk_ops = {
	.thread = "virtio-blk",
	.id = 2,
	.pci_class = PCI_STORAGE,
	.nqueues = 1,
	.read_config = blk_read_config,
	.serve = blk_serve,
	.drain = blk_drain,
	.free = blk_free,
};

static void configure(struct blk *b)
{
	b->config = (struct blk_config){
		.capacity = disk_size(b->disk) / DISK_SECTOR,
		.seg_max = VIRTQ_MAX - 2, /* with what stands before and behind them */
		.blk_size = DISK_SECTOR,
		.max_discard_sectors = ZERO_SECTORS_MAX,
		.max_discard_seg = 1,
		.discard_alignment = 8, /* of file systems' blocks */
		.max_zero_sectors = ZERO_SECTORS_MAX,
		.max_zero_seg = 1,
		.zero_may_unmap = 1,
	};
}

struct virtio_device *blk_new(struct disk *disk, const char *name)
{
	struct blk *b = calloc(1, sizeof(*b));
	uint64_t features = BLK_F_SEG_MAX | BLK_F_BLK_SIZE | BLK_F_FLUSH;

	features |= disk_is_read_only(disk) ? BLK_F_RO : BLK_F_DISCARD | BLK_F_WRITE_ZEROES;
	if (!b)
		return NULL;
	b->disk = disk;
	if (virtio_init(&b->device, &blk_ops, b, features)) {
		free(b);
		return NULL;
	}
	memcpy(b->id, name, strnlen(name, ID_SIZE));
	pthread_mutex_init(&b->lock, NULL);
	configure(b);
	for (size_t i = 0; i <= VIRTQ_MAX; i++) {
		b->request[i].blk = b;
		request_put(b, &b->request[i]);
	}
	return &b->device;
}
