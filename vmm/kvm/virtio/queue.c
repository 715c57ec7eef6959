// SPDX-License-Identifier: GPL-2.0-or-later
/* queue.c - see queue.h */
#include "vmm/kvm/virtio/queue.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>

#define DESC_SIZE 16u

enum { DESC_NEXT = 1, DESC_WRITE = 2, DESC_INDIRECT = 4 };
enum { AVAIL_NO_INTERRUPT = 1 };

struct descriptor {
	uint64_t pa;
	uint32_t len;
	uint16_t flags, next;
};

/* Behind flags and idx, two bytes each: the rings, and behind each the index of an event. */
#define RING_IDX     2u
#define RING_ENTRIES 4u
#define USED_SIZE    8u

static size_t avail_bytes(uint16_t size)
{
	return RING_ENTRIES + 2u * size + 2;
}

static size_t used_bytes(uint16_t size)
{
	return RING_ENTRIES + USED_SIZE * size + 2;
}

static uint16_t load16(const uint8_t *at)
{
	return __atomic_load_n((const uint16_t *)(const void *)at, __ATOMIC_ACQUIRE);
}

static void store16(uint8_t *at, uint16_t val)
{
	__atomic_store_n((uint16_t *)(void *)at, val, __ATOMIC_RELEASE);
}

int virtq_start(struct virtq *q, const struct virtio_memory *memory,
		const struct virtq_place *place, uint64_t features)
{
	uint16_t size = place->size;

	if (!size || size > VIRTQ_MAX || size & (size - 1) || place->desc % 16 ||
	    place->avail % 2 || place->used % 4)
		return -EINVAL;
	*q = (struct virtq){
		.memory = *memory,
		.size = size,
		.event_idx = features & VIRTIO_F_EVENT_IDX,
		.indirect = features & VIRTIO_F_INDIRECT_DESC,
		.desc = memory->ptr(memory->arg, place->desc, DESC_SIZE * size),
		.avail = memory->ptr(memory->arg, place->avail, avail_bytes(size)),
		.used = memory->ptr(memory->arg, place->used, used_bytes(size)),
	};
	return q->desc && q->avail && q->used ? 0 : -EFAULT;
}

void virtq_take_over(struct virtq *q)
{
	q->next = q->done = load16(q->used + RING_IDX);
	store16(q->used, 0); /* its flags: kicks are wanted */
}

/* --- taking -------------------------------------------------------------------------------- */

/* Of what is read here the guest has no say any more: the compiler must not read it again. */
static void read_descriptor(const uint8_t *table, uint16_t i, struct descriptor *d)
{
	memcpy(d, table + (size_t)i * DESC_SIZE, sizeof(*d));
	atomic_signal_fence(memory_order_seq_cst);
}

static int add_buffer(struct virtq *q, struct virtq_chain *c, const struct descriptor *d)
{
	void *host;

	if (!(d->flags & DESC_WRITE) && c->nin)
		return -EPROTO; /* what the device reads comes first */
	if (!d->len)
		return 0;
	if (c->nout + c->nin == VIRTQ_MAX)
		return -E2BIG;
	host = q->memory.ptr(q->memory.arg, d->pa, d->len);
	if (!host)
		return -EFAULT;
	c->iov[c->nout + c->nin] = (struct iovec){host, d->len};
	/* VIRTQ_MAX times 4 GiB do not overflow. */
	if (d->flags & DESC_WRITE) {
		c->nin++;
		c->in_len += d->len;
	} else {
		c->nout++;
		c->out_len += d->len;
	}
	return 0;
}

/* Descriptors of a table of n from this one on. No chain has more of them than its table. */
static int add_chain(struct virtq *q, struct virtq_chain *c, const uint8_t *table, unsigned int n,
		     struct descriptor d)
{
	for (unsigned int seen = 1;; seen++) {
		int rc = d.flags & DESC_INDIRECT ? -EPROTO : add_buffer(q, c, &d);

		if (rc || !(d.flags & DESC_NEXT))
			return rc;
		if (d.next >= n || seen == n)
			return -EPROTO;
		read_descriptor(table, d.next, &d);
	}
}

static int add_indirect(struct virtq *q, struct virtq_chain *c, const struct descriptor *d)
{
	unsigned int n = d->len / DESC_SIZE;
	struct descriptor first;
	uint8_t *table;

	if (!q->indirect || d->flags & (DESC_NEXT | DESC_WRITE) || !n || d->len % DESC_SIZE ||
	    n > VIRTQ_MAX)
		return -EPROTO;
	table = q->memory.ptr(q->memory.arg, d->pa, d->len);
	if (!table)
		return -EFAULT;
	read_descriptor(table, 0, &first);
	return add_chain(q, c, table, n, first);
}

int virtq_pop(struct virtq *q, struct virtq_chain *c)
{
	uint16_t waiting = (uint16_t)(load16(q->avail + RING_IDX) - q->next);
	struct descriptor d;
	int rc;

	if (!waiting)
		return 0;
	if (waiting > q->size)
		return -EPROTO;
	c->head = load16(q->avail + RING_ENTRIES + 2u * (q->next & (q->size - 1)));
	if (c->head >= q->size)
		return -EPROTO;
	c->nout = c->nin = 0;
	c->out_len = c->in_len = 0;
	read_descriptor(q->desc, c->head, &d);
	rc = d.flags & DESC_INDIRECT ? add_indirect(q, c, &d)
				     : add_chain(q, c, q->desc, q->size, d);
	if (rc)
		return rc;
	q->next++;
	return 1;
}

bool virtq_wants_kick(struct virtq *q)
{
	if (q->event_idx) {
		store16(q->used + RING_ENTRIES + USED_SIZE * q->size, q->next);
		/* Against the driver, which adds a chain and then looks at that. */
		__sync_synchronize();
	}
	return load16(q->avail + RING_IDX) == q->next;
}

/* --- giving back --------------------------------------------------------------------------- */

void virtq_unpop(struct virtq *q, unsigned int n)
{
	q->next -= (uint16_t)n;
}

bool virtq_push(struct virtq *q, const struct virtq_used *used, unsigned int n)
{
	uint16_t before = q->done, event;

	for (unsigned int i = 0; i < n; i++)
		memcpy(q->used + RING_ENTRIES + (size_t)USED_SIZE * ((before + i) & (q->size - 1u)),
		       &used[i], sizeof(used[i]));
	q->done += (uint16_t)n;
	store16(q->used + RING_IDX, q->done);
	/* Against the driver, which says what it wants and then looks at the index. */
	__sync_synchronize();
	if (!q->event_idx)
		return !(load16(q->avail) & AVAIL_NO_INTERRUPT);
	event = load16(q->avail + RING_ENTRIES + 2u * q->size);
	return (uint16_t)(q->done - event - 1) < (uint16_t)(q->done - before);
}

/* --- what is in a chain -------------------------------------------------------------------- */

bool virtq_take(struct virtq_chain *c, void *to, size_t len)
{
	uint8_t *at = to;
	unsigned int used = 0;

	if (len > c->out_len)
		return false;
	c->out_len -= len;
	while (len) {
		struct iovec *v = &c->iov[used];
		size_t part = v->iov_len < len ? v->iov_len : len;

		memcpy(at, v->iov_base, part);
		at += part;
		len -= part;
		v->iov_base = (uint8_t *)v->iov_base + part;
		v->iov_len -= part;
		used += !v->iov_len;
	}
	atomic_signal_fence(memory_order_seq_cst); /* as in read_descriptor() */
	c->nout -= used;
	memmove(c->iov, c->iov + used, (c->nout + c->nin) * sizeof(c->iov[0]));
	return true;
}

size_t virtq_put(const struct virtq_chain *c, size_t off, const void *from, size_t len)
{
	size_t done = 0;

	for (unsigned int i = c->nout; i < c->nout + c->nin && done < len; i++) {
		const struct iovec *v = &c->iov[i];
		size_t skip = off < v->iov_len ? off : v->iov_len, part = v->iov_len - skip;

		if (part > len - done)
			part = len - done;
		memcpy((uint8_t *)v->iov_base + skip, (const uint8_t *)from + done, part);
		off -= skip;
		done += part;
	}
	return done;
}

uint8_t *virtq_cut_last(struct virtq_chain *c)
{
	struct iovec *v;

	if (!c->nin)
		return NULL;
	v = &c->iov[c->nout + c->nin - 1];
	c->in_len--;
	v->iov_len--;
	if (!v->iov_len)
		c->nin--;
	return (uint8_t *)v->iov_base + v->iov_len;
}
