// SPDX-License-Identifier: GPL-2.0-or-later
/* disk.c - which kind of image is opened how, and the threads that carry requests out. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "vmm/kvm/disk/local.h"
#include "vmm/thread.h"

static const struct disk_kind {
	const char *format; /* NULL: any */
	bool in_place;	    /* nothing has to be kept apart from the image */
	struct disk *(*open)(const struct disk_config *cfg, char *err, size_t errlen);
} kinds[] = {
	{"raw", true, raw_open},
	{"raw", false, overlay_open},
	{NULL, true, nbd_open},
	{NULL, false, nbd_open},
};

void disk_complain(struct disk *d, const char *what, int rc)
{
	char text[512];

	if (!d->warn || atomic_exchange(&d->warned, true))
		return;
	snprintf(text, sizeof(text), "the disk %s: cannot %s: %s; the guest gets I/O errors",
		 d->path, what, strerror(-rc));
	d->warn(d->arg, text);
}

/* --- threads --------------------------------------------------------------------------------- */

static int carry_out(struct disk *d, unsigned int worker, struct disk_request *r)
{
	int rc;

	if (atomic_load(&d->given_up))
		return -ECANCELED;
	switch (r->op) {
	case DISK_READ:
		rc = d->ops->read(d, worker, r->iov, r->n, r->off);
		break;
	case DISK_WRITE:
		rc = d->ops->write(d, worker, r->iov, r->n, r->off);
		break;
	case DISK_FLUSH:
		rc = d->ops->flush(d, worker);
		break;
	default:
		rc = d->ops->zero(d, worker, r->op, r->off, r->len);
	}
	if (rc)
		disk_complain(d, r->op == DISK_READ ? "read" : "write", rc);
	return rc;
}

/* Called with the lock held. NULL: the end. */
static struct disk_request *next_locked(struct disk *d)
{
	struct disk_request *r;

	while (!d->first && !d->stop)
		pthread_cond_wait(&d->work, &d->lock);
	r = d->first;
	if (r)
		d->first = r->next;
	if (!d->first)
		d->last = &d->first;
	return r;
}

struct worker {
	struct disk *d;
	unsigned int number;
};

static void *disk_thread(void *arg)
{
	const struct worker w = *(struct worker *)arg;
	struct disk *d = w.d;
	struct disk_request *r;

	free(arg);
	pthread_mutex_lock(&d->lock);
	while ((r = next_locked(d))) {
		pthread_mutex_unlock(&d->lock);
		r->done(r, carry_out(d, w.number, r));
		pthread_mutex_lock(&d->lock);
		if (!--d->under_way)
			pthread_cond_broadcast(&d->idle);
	}
	pthread_mutex_unlock(&d->lock);
	return NULL;
}

static int start_threads(struct disk *d)
{
	int rc = 0;

	while (d->running < DISK_WORKERS && !rc) {
		struct worker *w = malloc(sizeof(*w));

		if (!w)
			return -1;
		*w = (struct worker){d, d->running};
		rc = thread_start(&d->thread[d->running], "disk", NULL, disk_thread, w);
		if (rc)
			free(w);
		else
			d->running++;
	}
	return rc;
}

void disk_submit(struct disk *d, struct disk_request *r)
{
	r->next = NULL;
	pthread_mutex_lock(&d->lock);
	*d->last = r;
	d->last = &r->next;
	d->under_way++;
	pthread_cond_signal(&d->work);
	pthread_mutex_unlock(&d->lock);
}

void disk_wait(struct disk *d)
{
	pthread_mutex_lock(&d->lock);
	while (d->under_way)
		pthread_cond_wait(&d->idle, &d->lock);
	pthread_mutex_unlock(&d->lock);
}

/* True: nothing is under way any more. */
static bool wait_until(struct disk *d, const struct timespec *end)
{
	bool idle;

	pthread_mutex_lock(&d->lock);
	while (d->under_way && !pthread_cond_timedwait(&d->idle, &d->lock, end))
		;
	idle = !d->under_way;
	pthread_mutex_unlock(&d->lock);
	return idle;
}

void disk_give_up(struct disk *const *disks, unsigned int n, unsigned int ms)
{
	struct timespec end;

	clock_gettime(CLOCK_MONOTONIC, &end);
	end.tv_nsec += ms % 1000 * 1000000;
	end.tv_sec += ms / 1000 + end.tv_nsec / 1000000000;
	end.tv_nsec %= 1000000000;
	for (unsigned int i = 0; i < n; i++)
		atomic_store(&disks[i]->given_up, true);
	for (unsigned int i = 0; i < n; i++)
		if (!wait_until(disks[i], &end) && disks[i]->ops->give_up)
			disks[i]->ops->give_up(disks[i]);
}

/* --- saving ----------------------------------------------------------------------------------- */

const char *disk_cannot_be_saved(const struct disk *d)
{
	struct stat st;

	if (!d->ops->image)
		return "only of raw images is known what has changed";
	if (fstat(d->ops->image(d), &st) || !S_ISREG(st.st_mode))
		return "nobody would see that a block device has changed meanwhile";
	if (!d->ops->changed && !d->read_only)
		return "its image is written to";
	return NULL;
}

int disk_identify(const struct disk *d, struct disk_identity *id)
{
	struct stat st;

	if (fstat(d->ops->image(d), &st))
		return -errno;
	*id = (struct disk_identity){(uint64_t)st.st_size, (uint64_t)st.st_mtim.tv_sec,
				     (uint64_t)st.st_mtim.tv_nsec};
	return 0;
}

uint64_t *disk_changed(struct disk *d, size_t *words, int *rc)
{
	uint64_t *map = d->ops->changed ? d->ops->changed(d, words) : NULL;

	*rc = d->ops->changed && !map ? -ENOMEM : 0;
	return map;
}

int disk_save(struct disk *d, int (*put)(void *arg, const void *data, size_t len, uint64_t at),
	      void *arg, uint64_t at)
{
	return d->ops->save ? d->ops->save(d, put, arg, at) : 0;
}

/* --- life ------------------------------------------------------------------------------------ */

static const struct disk_kind *kind_of(const struct disk_config *cfg)
{
	bool in_place = cfg->keep || cfg->read_only;

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if ((!kinds[i].format || !strcmp(kinds[i].format, cfg->format)) &&
		    kinds[i].in_place == in_place)
			return &kinds[i];
	return NULL;
}

struct disk *disk_open(const struct disk_config *cfg, char *err, size_t errlen)
{
	const struct disk_kind *kind = kind_of(cfg);
	pthread_condattr_t monotonic;
	struct disk *d;

	if (!kind) {
		snprintf(err, errlen, "the disk %s: %s is no format that can be opened", cfg->path,
			 cfg->format);
		return NULL;
	}
	d = kind->open(cfg, err, errlen);
	if (!d)
		return NULL;
	d->read_only = cfg->read_only;
	d->path = strdup(cfg->path);
	d->warn = cfg->warn;
	d->arg = cfg->arg;
	d->last = &d->first;
	pthread_mutex_init(&d->lock, NULL);
	pthread_cond_init(&d->work, NULL);
	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(&d->idle, &monotonic);
	pthread_condattr_destroy(&monotonic);
	if (d->path && !start_threads(d))
		return d;
	snprintf(err, errlen, "the disk %s: no memory, or no more threads", cfg->path);
	disk_close(d);
	return NULL;
}

void disk_close(struct disk *d)
{
	if (!d)
		return;
	disk_wait(d);
	pthread_mutex_lock(&d->lock);
	d->stop = true;
	pthread_cond_broadcast(&d->work);
	pthread_mutex_unlock(&d->lock);
	for (unsigned int i = 0; i < d->running; i++)
		pthread_join(d->thread[i], NULL);
	pthread_cond_destroy(&d->idle);
	pthread_cond_destroy(&d->work);
	pthread_mutex_destroy(&d->lock);
	free(d->path);
	d->ops->close(d);
}

uint64_t disk_size(const struct disk *d)
{
	return d->size;
}

bool disk_is_read_only(const struct disk *d)
{
	return d->read_only;
}
