// SPDX-License-Identifier: GPL-2.0-or-later
/* registers.c - the common configuration structure: what a driver says and is told of a device. */
#include "vmm/kvm/virtio/local.h"

/* 4.1.4.3 of the specification. */
enum {
	DEVICE_SELECT = 0x00,
	DEVICE_FEATURE = 0x04,
	DRIVER_SELECT = 0x08,
	DRIVER_FEATURE = 0x0c,
	CONFIG_VECTOR = 0x10,
	NUM_QUEUES = 0x12,
	STATUS = 0x14,
	QUEUE_SELECT = 0x16,
	QUEUE_SIZE = 0x18,
	QUEUE_VECTOR = 0x1a,
	QUEUE_ENABLE = 0x1c,
	QUEUE_NOTIFY_OFF = 0x1e,
	QUEUE_DESC = 0x20,
	QUEUE_AVAIL = 0x28,
	QUEUE_USED = 0x30,
};

static const struct field {
	uint8_t off, size;
} fields[] = {
	{DEVICE_SELECT, 4}, {DEVICE_FEATURE, 4}, {DRIVER_SELECT, 4}, {DRIVER_FEATURE, 4},
	{CONFIG_VECTOR, 2}, {NUM_QUEUES, 2},	 {STATUS, 1},	     {QUEUE_SELECT, 2},
	{QUEUE_SIZE, 2},    {QUEUE_VECTOR, 2},	 {QUEUE_ENABLE, 2},  {QUEUE_NOTIFY_OFF, 2},
	{QUEUE_DESC, 8},    {QUEUE_AVAIL, 8},	 {QUEUE_USED, 8},
};

/* What the select registers choose of 64 bits. */
static uint32_t half(uint64_t features, uint32_t select)
{
	return select < 2 ? (uint32_t)(features >> 32 * select) : 0;
}

static uint64_t with_half(uint64_t features, uint32_t select, uint32_t val)
{
	if (select > 1)
		return features;
	return (features & ~((uint64_t)UINT32_MAX << 32 * select)) | (uint64_t)val << 32 * select;
}

static uint16_t known_vector(const struct virtio_device *d, uint64_t val)
{
	return val <= d->ops->nqueues ? (uint16_t)val : VIRTIO_NO_VECTOR;
}

static void set_status(struct virtio_device *d, uint8_t val)
{
	uint8_t old = d->status;

	if (!val && old & STATUS_DRIVER_OK) {
		d->resetting = true; /* what is under way has to be waited for */
		virtio_wake_locked(d);
		return;
	}
	if (!val) {
		virtio_reset_locked(d);
		return;
	}
	if (d->driver_features & ~d->features || !(d->driver_features & VIRTIO_F_VERSION_1))
		val &= (uint8_t)~STATUS_FEATURES_OK;
	d->status |= val & (uint8_t)~STATUS_NEEDS_RESET;
	if (val & STATUS_DRIVER_OK && !(old & STATUS_DRIVER_OK))
		virtio_begin_locked(d);
}

static uint64_t get_of_queue(const struct virtio_queue *q, uint8_t reg)
{
	switch (reg) {
	case QUEUE_SIZE:
		return q->place.size;
	case QUEUE_VECTOR:
		return q->vector;
	case QUEUE_ENABLE:
		return q->enabled;
	case QUEUE_DESC:
		return q->place.desc;
	case QUEUE_AVAIL:
		return q->place.avail;
	default:
		return q->place.used;
	}
}

static uint64_t get(const struct virtio_device *d, uint8_t reg)
{
	switch (reg) {
	case DEVICE_SELECT:
		return d->device_select;
	case DEVICE_FEATURE:
		return half(d->features, d->device_select);
	case DRIVER_SELECT:
		return d->driver_select;
	case DRIVER_FEATURE:
		return half(d->driver_features, d->driver_select);
	case CONFIG_VECTOR:
		return d->config_vector;
	case NUM_QUEUES:
		return d->ops->nqueues;
	case STATUS:
		return d->status;
	case QUEUE_SELECT:
	case QUEUE_NOTIFY_OFF: /* each has a doorbell of its own */
		return d->queue_select;
	default: /* no such queue: its size is 0 */
		return d->queue_select < d->ops->nqueues
			       ? get_of_queue(&d->queue[d->queue_select], reg)
			       : 0;
	}
}

/* A queue is laid out before it is enabled and the driver is ready, and then stays. */
static void set_of_queue(struct virtio_device *d, struct virtio_queue *q, uint8_t reg, uint64_t val)
{
	if (reg == QUEUE_VECTOR)
		q->vector = known_vector(d, val);
	if (q->enabled || d->status & STATUS_DRIVER_OK)
		return;
	switch (reg) {
	case QUEUE_SIZE:
		q->place.size = (uint16_t)val;
		break;
	case QUEUE_ENABLE:
		q->enabled = val == 1;
		break;
	case QUEUE_DESC:
		q->place.desc = val;
		break;
	case QUEUE_AVAIL:
		q->place.avail = val;
		break;
	case QUEUE_USED:
		q->place.used = val;
		break;
	}
}

static void set(struct virtio_device *d, uint8_t reg, uint64_t val)
{
	switch (reg) {
	case DEVICE_SELECT:
		d->device_select = (uint32_t)val;
		break;
	case DRIVER_SELECT:
		d->driver_select = (uint32_t)val;
		break;
	case DRIVER_FEATURE:
		if (!(d->status & STATUS_FEATURES_OK))
			d->driver_features =
				with_half(d->driver_features, d->driver_select, (uint32_t)val);
		break;
	case CONFIG_VECTOR:
		d->config_vector = known_vector(d, val);
		break;
	case STATUS:
		set_status(d, (uint8_t)val);
		break;
	case QUEUE_SELECT:
		d->queue_select = (uint16_t)val;
		break;
	default:
		if (d->queue_select < d->ops->nqueues)
			set_of_queue(d, &d->queue[d->queue_select], reg, val);
	}
}

/*
 * The field that an access is for: a whole one, or a half of 8 bytes, whose lowest bit in it is
 * *shift then. NULL: no driver accesses anything like that.
 */
static const struct field *field_of(uint32_t off, unsigned int size, unsigned int *shift)
{
	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
		const struct field *f = &fields[i];

		*shift = 8 * (off - f->off);
		if (off == f->off && size == f->size)
			return f;
		if (f->size == 8 && size == 4 && (off == f->off || off == f->off + 4u))
			return f;
	}
	return NULL;
}

uint64_t virtio_read_common(struct virtio_device *d, uint32_t off, unsigned int size)
{
	unsigned int shift;
	const struct field *f = field_of(off, size, &shift);
	uint64_t val;

	if (!f)
		return 0;
	pthread_mutex_lock(&d->lock);
	val = get(d, f->off);
	pthread_mutex_unlock(&d->lock);
	return val >> shift;
}

void virtio_write_common(struct virtio_device *d, uint32_t off, unsigned int size, uint64_t val)
{
	unsigned int shift;
	const struct field *f = field_of(off, size, &shift);

	if (!f)
		return;
	pthread_mutex_lock(&d->lock);
	if (size < f->size) {
		uint64_t mask = (uint64_t)UINT32_MAX << shift;

		val = (get(d, f->off) & ~mask) | (val << shift & mask);
	}
	if (!d->resetting)
		set(d, f->off, val);
	pthread_mutex_unlock(&d->lock);
}
