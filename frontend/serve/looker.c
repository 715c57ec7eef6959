// SPDX-License-Identifier: GPL-2.0-or-later
/* looker.c - see looker.h */
#include "frontend/serve/looker.h"

#include "vmm/thread.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

struct looker {
	char *connect;
	int64_t interval_ms;
	int fd;
	pthread_t thread;
	atomic_bool stop;
	pthread_mutex_t lock;
	pthread_cond_t wake;
	bool asked, fresh;
	struct looker_sight sight; /* the last one, if it is fresh */
};

static int64_t now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

static bool is_over(void *arg)
{
	struct looker *l = arg;

	return atomic_load(&l->stop);
}

static void look(struct looker *l, struct looker_sight *sight)
{
	const struct machine_patience patience = {is_over, l};
	char ignored[512];

	*sight = (struct looker_sight){.at_ms = now_ms()};
	sight->guests =
		machine_list(l->connect, &patience, &sight->guest, sight->err, sizeof(sight->err));
	if (sight->guests < 0) {
		sight->guests = -1;
		return;
	}
	sight->loads =
		machine_get_loads(l->connect, &patience, &sight->load, ignored, sizeof(ignored));
	if (sight->loads < 0)
		sight->loads = 0;
}

static void show(struct looker *l, const struct looker_sight *sight)
{
	pthread_mutex_lock(&l->lock);
	if (l->fresh)
		looker_sight_free(&l->sight);
	l->sight = *sight;
	l->fresh = true;
	eventfd_write(l->fd, 1);
	pthread_mutex_unlock(&l->lock);
}

static void wait_for(struct looker *l)
{
	struct timespec until;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += l->interval_ms / 1000;
	until.tv_nsec += l->interval_ms % 1000 * 1000000;
	until.tv_sec += until.tv_nsec / 1000000000;
	until.tv_nsec %= 1000000000;
	pthread_mutex_lock(&l->lock);
	while (!l->asked && !atomic_load(&l->stop))
		if (pthread_cond_timedwait(&l->wake, &l->lock, &until))
			break;
	l->asked = false;
	pthread_mutex_unlock(&l->lock);
}

static void *looker_thread(void *arg)
{
	struct looker *l = arg;
	struct looker_sight sight;

	while (!atomic_load(&l->stop)) {
		look(l, &sight);
		show(l, &sight);
		wait_for(l);
	}
	return NULL;
}

static void init_lock(struct looker *l)
{
	pthread_condattr_t attr;

	pthread_mutex_init(&l->lock, NULL); /* none of these fails with glibc */
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&l->wake, &attr);
	pthread_condattr_destroy(&attr);
}

static void release(struct looker *l)
{
	if (l->fresh)
		looker_sight_free(&l->sight);
	pthread_cond_destroy(&l->wake);
	pthread_mutex_destroy(&l->lock);
	close(l->fd);
	free(l->connect);
	free(l);
}

struct looker *looker_new(const char *connect, int64_t interval_ms)
{
	struct looker *l = calloc(1, sizeof(*l));

	if (!l)
		return NULL;
	init_lock(l);
	l->interval_ms = interval_ms;
	l->connect = connect ? strdup(connect) : NULL;
	l->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (l->fd >= 0 && (!connect || l->connect) &&
	    !thread_start(&l->thread, "libvirt", NULL, looker_thread, l))
		return l;
	release(l);
	return NULL;
}

int looker_fd(const struct looker *l)
{
	return l->fd;
}

void looker_ask(struct looker *l)
{
	pthread_mutex_lock(&l->lock);
	l->asked = true;
	pthread_cond_signal(&l->wake);
	pthread_mutex_unlock(&l->lock);
}

bool looker_take(struct looker *l, struct looker_sight *sight)
{
	eventfd_t count;
	bool fresh;

	pthread_mutex_lock(&l->lock);
	eventfd_read(l->fd, &count);
	fresh = l->fresh;
	if (fresh)
		*sight = l->sight;
	l->fresh = false;
	pthread_mutex_unlock(&l->lock);
	return fresh;
}

void looker_sight_free(struct looker_sight *sight)
{
	machine_list_free(sight->guest, sight->guests);
	free(sight->load);
}

void looker_free(struct looker *l)
{
	if (!l)
		return;
	atomic_store(&l->stop, true);
	looker_ask(l);
	pthread_join(l->thread, NULL);
	release(l);
}
