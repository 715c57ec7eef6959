// SPDX-License-Identifier: GPL-2.0-or-later
/* device.c - a device's thread: serves its queues, resets it, and stands still when it must. */
#include "vmm/kvm/virtio/local.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "vmm/thread.h"

/* --- registers' side: called with the lock held ---------------------------------------------- */

void virtio_wake_locked(struct virtio_device *d)
{
	eventfd_write(d->wake_fd, 1);
}

void virtio_reset_locked(struct virtio_device *d)
{
	if (d->ops->reset)
		d->ops->reset(d->dev);
	d->status = 0;
	d->resetting = d->begun = false;
	d->device_select = d->driver_select = 0;
	d->driver_features = 0;
	d->config_vector = VIRTIO_NO_VECTOR;
	d->queue_select = 0;
	for (unsigned int i = 0; i < d->ops->nqueues; i++) {
		struct virtio_queue *q = &d->queue[i];

		q->place = (struct virtq_place){.size = VIRTQ_MAX};
		q->vector = VIRTIO_NO_VECTOR;
		q->enabled = false;
	}
}

/* Nothing in the queues is looked at before, so what is wrong with them is found here. */
void virtio_begin_locked(struct virtio_device *d)
{
	for (unsigned int i = 0; i < d->ops->nqueues; i++) {
		struct virtio_queue *q = &d->queue[i];

		if (q->enabled &&
		    virtq_start(&q->q, &d->memory, &q->place, d->driver_features & d->features))
			d->status |= STATUS_NEEDS_RESET;
	}
	d->begun = true;
	virtio_wake_locked(d);
}

static bool is_live_locked(const struct virtio_device *d)
{
	return (d->status & (STATUS_DRIVER_OK | STATUS_NEEDS_RESET)) == STATUS_DRIVER_OK &&
	       !d->resetting;
}

/* --- the thread ------------------------------------------------------------------------------ */

static void drain_unlocked(struct virtio_device *d)
{
	pthread_mutex_unlock(&d->lock);
	if (d->ops->drain)
		d->ops->drain(d->dev);
	pthread_mutex_lock(&d->lock);
}

static void stand_locked(struct virtio_device *d)
{
	drain_unlocked(d);
	d->held = true;
	pthread_cond_broadcast(&d->change);
	while (d->holds && !d->stop)
		pthread_cond_wait(&d->change, &d->lock);
	d->held = false;
	d->begun = true; /* of what was drained nothing is under way */
}

/* What the vCPUs, or the owner, want of the thread. False: its end. */
static bool do_as_told(struct virtio_device *d, bool *live, bool *begun)
{
	bool on;

	pthread_mutex_lock(&d->lock);
	if (d->holds && !d->stop)
		stand_locked(d);
	if (d->resetting) {
		drain_unlocked(d);
		virtio_reset_locked(d);
	}
	on = !d->stop;
	*live = is_live_locked(d);
	*begun = d->begun;
	d->begun = false;
	pthread_mutex_unlock(&d->lock);
	return on;
}

static bool take_event(int fd, bool readable)
{
	eventfd_t count;

	return readable && !eventfd_read(fd, &count);
}

static void serve_queues(struct virtio_device *d, const struct pollfd *kicks, bool begun)
{
	if (d->ops->begin && begun)
		d->ops->begin(d->dev);
	for (unsigned int i = 0; i < d->ops->nqueues && !d->elsewhere; i++) {
		bool kicked = take_event(d->queue[i].kick_fd, kicks[i].revents);

		if ((kicked || begun) && d->queue[i].enabled)
			d->ops->serve(d->dev, i);
	}
}

/* Wait for a kick, for input, or for being told something; then do what there is to do. */
static void wait_and_serve(struct virtio_device *d, bool live, bool begun)
{
	struct pollfd fds[1 + VIRTIO_QUEUES_MAX + VIRTIO_INPUTS_MAX] = {{d->wake_fd, POLLIN, 0}};
	struct pollfd *kicks = fds + 1, *input = kicks + d->ops->nqueues;
	nfds_t n = 1;

	for (unsigned int i = 0; i < d->ops->nqueues && live; i++)
		kicks[i] = (struct pollfd){d->elsewhere ? -1 : d->queue[i].kick_fd, POLLIN, 0};
	if (live) {
		memcpy(input, d->input, sizeof(d->input));
		n += d->ops->nqueues + VIRTIO_INPUTS_MAX;
	}
	if (poll(fds, n, begun ? 0 : -1) < 0)
		return;
	take_event(d->wake_fd, fds[0].revents);
	if (!live)
		return;
	serve_queues(d, kicks, begun);
	for (unsigned int i = 0; i < VIRTIO_INPUTS_MAX; i++)
		if (input[i].revents)
			d->ops->input(d->dev, i);
}

static void *device_thread(void *arg)
{
	struct virtio_device *d = arg;
	bool live, begun;

	while (do_as_told(d, &live, &begun))
		wait_and_serve(d, live, begun);
	if (d->ops->drain)
		d->ops->drain(d->dev);
	return NULL;
}

/* --- life ------------------------------------------------------------------------------------ */

static void close_fds(struct virtio_device *d)
{
	for (unsigned int i = 0; i < d->ops->nqueues; i++)
		if (d->queue[i].kick_fd >= 0)
			close(d->queue[i].kick_fd);
	if (d->wake_fd >= 0)
		close(d->wake_fd);
}

static int open_fds(struct virtio_device *d)
{
	int rc = 0;

	d->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (d->wake_fd < 0)
		rc = -errno;
	for (unsigned int i = 0; i < d->ops->nqueues; i++) {
		d->queue[i].kick_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
		if (d->queue[i].kick_fd < 0 && !rc)
			rc = -errno;
	}
	if (rc)
		close_fds(d);
	return rc;
}

int virtio_init(struct virtio_device *d, const struct virtio_ops *ops, void *dev, uint64_t features)
{
	int rc;

	d->ops = ops;
	d->dev = dev;
	d->features = features | VIRTIO_F_VERSION_1 | VIRTIO_F_EVENT_IDX | VIRTIO_F_INDIRECT_DESC;
	for (unsigned int i = 0; i < VIRTIO_INPUTS_MAX; i++)
		d->input[i].fd = -1;
	rc = open_fds(d);
	if (rc)
		return rc;
	pthread_mutex_init(&d->lock, NULL);
	pthread_cond_init(&d->change, NULL);
	for (unsigned int i = 0; i < ops->nqueues; i++)
		pthread_mutex_init(&d->queue[i].push_lock, NULL);
	virtio_reset_locked(d);
	return 0;
}

int virtio_start(struct virtio_device *d)
{
	int rc = thread_start(&d->thread, d->ops->thread, NULL, device_thread, d);

	d->running = !rc;
	return rc;
}

static void stop_thread(struct virtio_device *d)
{
	pthread_mutex_lock(&d->lock);
	d->stop = true;
	virtio_wake_locked(d);
	pthread_cond_broadcast(&d->change);
	pthread_mutex_unlock(&d->lock);
	pthread_join(d->thread, NULL);
}

void virtio_free(struct virtio_device *d)
{
	if (!d)
		return;
	if (d->running)
		stop_thread(d);
	for (unsigned int i = 0; i < d->ops->nqueues; i++)
		pthread_mutex_destroy(&d->queue[i].push_lock);
	pthread_cond_destroy(&d->change);
	pthread_mutex_destroy(&d->lock);
	close_fds(d);
	d->ops->free(d->dev);
}

void virtio_hold(struct virtio_device *d)
{
	pthread_mutex_lock(&d->lock);
	d->holds++;
	virtio_wake_locked(d);
	while (d->running && !d->held)
		pthread_cond_wait(&d->change, &d->lock);
	pthread_mutex_unlock(&d->lock);
}

void virtio_release(struct virtio_device *d)
{
	pthread_mutex_lock(&d->lock);
	d->holds--;
	pthread_cond_broadcast(&d->change);
	pthread_mutex_unlock(&d->lock);
}

void virtio_reset(struct virtio_device *d)
{
	pthread_mutex_lock(&d->lock);
	virtio_reset_locked(d);
	pthread_mutex_unlock(&d->lock);
}

/* --- queues ---------------------------------------------------------------------------------- */

static bool is_wanted(struct virtio_device *d)
{
	bool wants;

	pthread_mutex_lock(&d->lock);
	wants = !is_live_locked(d) || d->holds || d->stop;
	pthread_mutex_unlock(&d->lock);
	return wants;
}

bool virtio_pop(struct virtio_device *d, unsigned int queue, struct virtq_chain *c)
{
	struct virtq *q = &d->queue[queue].q;
	int rc;

	/* A driver that adds chains for ever does not keep the thread from what it is told. */
	if (is_wanted(d)) {
		eventfd_write(d->queue[queue].kick_fd, 1); /* there may be more, for later */
		return false;
	}
	do
		rc = virtq_pop(q, c);
	while (!rc && !virtq_wants_kick(q));
	if (rc < 0)
		virtio_broken(d);
	return rc > 0;
}

void virtio_unpop(struct virtio_device *d, unsigned int queue, unsigned int n)
{
	virtq_unpop(&d->queue[queue].q, n);
}

void virtio_push(struct virtio_device *d, unsigned int queue, uint16_t head, uint32_t written)
{
	const struct virtq_used used = {head, written};

	virtio_push_all(d, queue, &used, 1);
}

void virtio_push_all(struct virtio_device *d, unsigned int queue, const struct virtq_used *used,
		     unsigned int n)
{
	struct virtio_queue *q = &d->queue[queue];
	bool interrupt;

	pthread_mutex_lock(&q->push_lock);
	interrupt = virtq_push(&q->q, used, n);
	pthread_mutex_unlock(&q->push_lock);
	if (interrupt)
		virtio_interrupt(d, queue);
}

void virtio_interrupt(struct virtio_device *d, unsigned int queue)
{
	d->interrupt(d->interrupt_arg, d->queue[queue].vector);
}

void virtio_take_over(struct virtio_device *d)
{
	d->elsewhere = false;
	for (unsigned int i = 0; i < d->ops->nqueues; i++) {
		if (!d->queue[i].enabled)
			continue;
		virtq_take_over(&d->queue[i].q);
		/* Of the last that it has given back it may not have told. */
		virtio_interrupt(d, i);
		virtio_kick(d, i);
	}
}

uint64_t virtio_features(struct virtio_device *d)
{
	uint64_t features;

	pthread_mutex_lock(&d->lock);
	features = d->driver_features & d->features;
	pthread_mutex_unlock(&d->lock);
	return features;
}

/* Called without the lock. */
static void tell_of_config(struct virtio_device *d, uint8_t status)
{
	uint16_t vector;

	pthread_mutex_lock(&d->lock);
	d->status |= status;
	vector = d->config_vector;
	pthread_mutex_unlock(&d->lock);
	d->interrupt(d->interrupt_arg, vector);
}

void virtio_broken(struct virtio_device *d)
{
	tell_of_config(d, STATUS_NEEDS_RESET);
}

void virtio_changed(struct virtio_device *d)
{
	tell_of_config(d, 0);
}

void virtio_kick(struct virtio_device *d, unsigned int queue)
{
	if (queue < d->ops->nqueues)
		eventfd_write(d->queue[queue].kick_fd, 1);
}
