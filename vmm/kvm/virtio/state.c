// SPDX-License-Identifier: GPL-2.0-or-later
/* state.c - a device in a snapshot: nothing is under way in one that is held. */
#include "vmm/kvm/virtio/local.h"

#include <errno.h>
#include <string.h>

static void queue_save(const struct virtio_queue *q, struct virtio_queue_state *s)
{
	*s = (struct virtio_queue_state){
		.desc = q->place.desc,
		.avail = q->place.avail,
		.used = q->place.used,
		.size = q->place.size,
		.vector = q->vector,
		.next = q->q.next,
		.done = q->q.done,
		.enabled = q->enabled,
	};
}

void virtio_save(struct virtio_device *d, struct virtio_state *s)
{
	memset(s, 0, sizeof(*s));
	pthread_mutex_lock(&d->lock);
	s->driver_features = d->driver_features;
	s->id = d->ops->id;
	s->device_select = d->device_select;
	s->driver_select = d->driver_select;
	s->config_vector = d->config_vector;
	s->queue_select = d->queue_select;
	s->status = d->status;
	s->resetting = d->resetting;
	for (unsigned int i = 0; i < d->ops->nqueues; i++)
		queue_save(&d->queue[i], &s->queue[i]);
	pthread_mutex_unlock(&d->lock);
}

/* Once the driver is ready it is where it says, or there would be no such queue. */
static int queue_restore(struct virtio_device *d, struct virtio_queue *q,
			 const struct virtio_queue_state *s)
{
	int rc;

	q->place = (struct virtq_place){s->size, s->desc, s->avail, s->used};
	q->vector = s->vector <= d->ops->nqueues ? s->vector : VIRTIO_NO_VECTOR;
	q->enabled = s->enabled;
	if (!s->enabled || !(d->status & STATUS_DRIVER_OK) || d->status & STATUS_NEEDS_RESET)
		return 0;
	rc = virtq_start(&q->q, &d->memory, &q->place, d->driver_features & d->features);
	q->q.next = s->next;
	q->q.done = s->done;
	return rc;
}

int virtio_restore(struct virtio_device *d, const struct virtio_state *s)
{
	int rc = 0;

	if (s->id != d->ops->id ||
	    (s->status & STATUS_FEATURES_OK && s->driver_features & ~d->features))
		return -EINVAL;
	pthread_mutex_lock(&d->lock);
	d->driver_features = s->driver_features;
	d->device_select = s->device_select;
	d->driver_select = s->driver_select;
	d->config_vector =
		s->config_vector <= d->ops->nqueues ? s->config_vector : VIRTIO_NO_VECTOR;
	d->queue_select = s->queue_select;
	d->status = s->status;
	d->resetting = s->resetting;
	for (unsigned int i = 0; i < d->ops->nqueues && !rc; i++)
		rc = queue_restore(d, &d->queue[i], &s->queue[i]);
	if (rc)
		virtio_reset_locked(d);
	d->begun = true;
	virtio_wake_locked(d);
	pthread_mutex_unlock(&d->lock);
	return rc ? -EINVAL : 0;
}

void virtio_remind(struct virtio_device *d)
{
	for (unsigned int i = 0; i < d->ops->nqueues; i++)
		if (d->queue[i].enabled)
			d->interrupt(d->interrupt_arg, d->queue[i].vector);
}
