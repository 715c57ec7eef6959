// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * watch.c - what becomes of all domains of a libvirt, which may be restarted meanwhile.
 *
 * A thread has the connection, and libvirt's event loop, of which a process has one. libvirt may
 * hold it for ever: whoever has done with the watch leaves it behind then.
 */
#include "vmm/core/backend.h"
#include "vmm/qemu/libvirt/connect.h"
#include "vmm/thread.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#define NEWS_MAX	256
#define TICK_MS		250
#define RETRY_MS	2000
#define END_S		2 /* a thread that libvirt holds is left to it */
#define KEEPALIVE_S	5 /* libvirt is asked so often whether it is there */
#define KEEPALIVE_COUNT 3

struct machine_watch {
	char *uri;
	int fd;
	atomic_uint refs; /* the thread's, and who has it made */
	atomic_bool stop;
	pthread_mutex_t lock;
	struct machine_news news[NEWS_MAX]; /* a ring */
	unsigned int first, nr;
	pthread_t thread;
	/* The thread's. */
	virConnectPtr conn;
	int timer, lifecycle, reboot;
};

static void put_watch(struct machine_watch *w)
{
	if (atomic_fetch_sub(&w->refs, 1) != 1)
		return;
	pthread_mutex_destroy(&w->lock);
	close(w->fd);
	free(w->uri);
	free(w);
}

/* --- news ---------------------------------------------------------------------------------------
 */

/* Where there is no room, the last one says so: whoever takes that looks at everything. */
static void tell(struct machine_watch *w, const struct machine_news *news)
{
	pthread_mutex_lock(&w->lock);
	if (w->nr < NEWS_MAX)
		w->news[(w->first + w->nr++) % NEWS_MAX] = *news;
	else
		w->news[(w->first + NEWS_MAX - 1) % NEWS_MAX] =
			(struct machine_news){.kind = MACHINE_NEWS_LOST};
	eventfd_write(w->fd, 1);
	pthread_mutex_unlock(&w->lock);
}

static void tell_of(struct machine_watch *w, enum machine_news_kind kind, virDomainPtr dom)
{
	struct machine_news news = {.kind = kind};
	const char *name = libvirt()->virDomainGetName(dom);

	snprintf(news.name, sizeof(news.name), "%s", name ? name : "");
	if (libvirt()->virDomainGetUUIDString(dom, news.uuid))
		news.uuid[0] = '\0';
	tell(w, &news);
}

bool qemu_watch_take(struct machine_watch *w, struct machine_news *news)
{
	eventfd_t count;
	bool any;

	pthread_mutex_lock(&w->lock);
	any = w->nr;
	if (any) {
		*news = w->news[w->first];
		w->first = (w->first + 1) % NEWS_MAX;
		w->nr--;
	}
	if (!w->nr)
		eventfd_read(w->fd, &count);
	pthread_mutex_unlock(&w->lock);
	return any;
}

int qemu_watch_fd(const struct machine_watch *w)
{
	return w->fd;
}

/* --- libvirt's events, on the thread ------------------------------------------------------------
 */

static int on_lifecycle(virConnectPtr conn, virDomainPtr dom, int event, int detail, void *arg)
{
	(void)conn;
	if (event == VIR_DOMAIN_EVENT_STARTED || event == VIR_DOMAIN_EVENT_RESUMED)
		tell_of(arg, MACHINE_NEWS_STARTED, dom);
	else if (event == VIR_DOMAIN_EVENT_STOPPED && detail == VIR_DOMAIN_EVENT_STOPPED_MIGRATED)
		tell_of(arg, MACHINE_NEWS_MIGRATED, dom);
	else if (event == VIR_DOMAIN_EVENT_STOPPED)
		tell_of(arg, MACHINE_NEWS_STOPPED, dom);
	else if (event == VIR_DOMAIN_EVENT_CRASHED)
		tell_of(arg, MACHINE_NEWS_PANICKED, dom);
	return 0;
}

static void on_reboot(virConnectPtr conn, virDomainPtr dom, void *arg)
{
	(void)conn;
	tell_of(arg, MACHINE_NEWS_REBOOTED, dom);
}

/* virEventRunDefaultImpl() comes back when there was something. */
static void on_timer(int timer, void *arg)
{
	(void)timer;
	(void)arg;
}

/* --- the connection, on the thread --------------------------------------------------------------
 */

static bool open_connection(struct machine_watch *w)
{
	char ignored[512];

	w->conn = libvirt_connect(w->uri, ignored, sizeof(ignored));
	if (!w->conn)
		return false;
	libvirt()->virConnectSetKeepAlive(w->conn, KEEPALIVE_S, KEEPALIVE_COUNT);
	w->lifecycle = libvirt()->virConnectDomainEventRegisterAny(
		w->conn, NULL, VIR_DOMAIN_EVENT_ID_LIFECYCLE,
		VIR_DOMAIN_EVENT_CALLBACK(on_lifecycle), w, NULL);
	w->reboot = libvirt()->virConnectDomainEventRegisterAny(
		w->conn, NULL, VIR_DOMAIN_EVENT_ID_REBOOT, VIR_DOMAIN_EVENT_CALLBACK(on_reboot), w,
		NULL);
	return w->lifecycle >= 0 && w->reboot >= 0;
}

static void close_connection(struct machine_watch *w)
{
	if (!w->conn)
		return;
	if (w->lifecycle >= 0)
		libvirt()->virConnectDomainEventDeregisterAny(w->conn, w->lifecycle);
	if (w->reboot >= 0)
		libvirt()->virConnectDomainEventDeregisterAny(w->conn, w->reboot);
	libvirt()->virConnectClose(w->conn);
	w->conn = NULL;
}

static void wait_ms(const struct machine_watch *w, int ms)
{
	const struct timespec tick = {.tv_nsec = TICK_MS * 1000000L};

	for (; ms > 0 && !atomic_load(&w->stop); ms -= TICK_MS)
		nanosleep(&tick, NULL);
}

/* Until it is lost, or nobody wants to know any more. */
static void follow(struct machine_watch *w)
{
	tell(w, &(struct machine_news){.kind = MACHINE_NEWS_CONNECTED});
	while (!atomic_load(&w->stop) && libvirt()->virConnectIsAlive(w->conn) == 1 &&
	       !libvirt()->virEventRunDefaultImpl())
		;
	if (!atomic_load(&w->stop))
		tell(w, &(struct machine_news){.kind = MACHINE_NEWS_LOST});
}

static void *watch_thread(void *arg)
{
	struct machine_watch *w = arg;

	w->timer = libvirt()->virEventAddTimeout(TICK_MS, on_timer, NULL, NULL);
	while (!atomic_load(&w->stop)) {
		if (open_connection(w))
			follow(w);
		close_connection(w);
		wait_ms(w, RETRY_MS);
	}
	if (w->timer >= 0)
		libvirt()->virEventRemoveTimeout(w->timer);
	put_watch(w);
	return NULL;
}

/* --- who has it made ----------------------------------------------------------------------------
 */

static struct machine_watch *new_watch(const char *uri)
{
	struct machine_watch *w = calloc(1, sizeof(*w));

	if (!w)
		return NULL;
	w->refs = 2;
	w->timer = w->lifecycle = w->reboot = -1;
	pthread_mutex_init(&w->lock, NULL); /* does not fail with glibc */
	w->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	w->uri = strdup(uri ? uri : LIBVIRT_DEFAULT_URI);
	if (w->fd >= 0 && w->uri)
		return w;
	w->refs = 1;
	put_watch(w);
	return NULL;
}

struct machine_watch *qemu_watch_new(const char *uri, char *err, size_t errlen)
{
	struct machine_watch *w;
	int rc;

	if (libvirt_load(err, errlen))
		return NULL;
	libvirt()->virEventRegisterDefaultImpl();
	w = new_watch(uri);
	rc = w ? thread_start(&w->thread, "libvirt", NULL, watch_thread, w) : -ENOMEM;
	if (!rc)
		return w;
	snprintf(err, errlen, "libvirt cannot be watched: %s", strerror(-rc));
	if (w) {
		w->refs = 1;
		put_watch(w);
	}
	return NULL;
}

void qemu_watch_free(struct machine_watch *w)
{
	struct timespec until;

	if (!w)
		return;
	atomic_store(&w->stop, true);
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += END_S;
	if (pthread_timedjoin_np(w->thread, NULL, &until))
		pthread_detach(w->thread);
	put_watch(w);
}
