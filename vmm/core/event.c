// SPDX-License-Identifier: GPL-2.0-or-later
/* event.c - what happens to a machine as a whole: its end, machine_wait() and machine_wake(). */
#include "vmm/core/backend.h"

#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#define IDLE_MS 250 /* between two looks at a guest that says nothing */

int machine_init(struct machine *m, const struct machine_ops *ops)
{
	pthread_condattr_t attr;
	int rc;

	m->ops = ops;
	m->event_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (m->event_fd < 0)
		return -errno;
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	rc = pthread_cond_init(&m->change, &attr);
	pthread_condattr_destroy(&attr);
	if (rc)
		goto err_close;
	rc = pthread_mutex_init(&m->lock, NULL);
	if (rc)
		goto err_cond;
	rc = -stand_init(&m->stand);
	if (rc)
		goto err_lock;
	return 0;

err_lock:
	pthread_mutex_destroy(&m->lock);
err_cond:
	pthread_cond_destroy(&m->change);
err_close:
	close(m->event_fd);
	return -rc;
}

void machine_exit(struct machine *m)
{
	stand_exit(&m->stand);
	pthread_mutex_destroy(&m->lock);
	pthread_cond_destroy(&m->change);
	close(m->event_fd);
	machine_delays_close(m);
}

void machine_message(struct machine *m, enum machine_msg_level level, const char *fmt, ...)
{
	char text[256];
	va_list ap;

	if (!m->message)
		return;
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	m->message(m->arg, level, text);
}

/* --- the end -----------------------------------------------------------------------------------
 */

static void event_signal(struct machine *m)
{
	int saved = errno; /* for machine_wake() in signal handlers */

	/* Fails only when the counter is full, and then the waiter wakes up anyway. */
	if (eventfd_write(m->event_fd, 1))
		errno = saved;
}

bool machine_over_locked(const struct machine *m)
{
	return m->stopping || m->end.type != MACHINE_EVENT_NONE;
}

void machine_enter_locked(struct machine *m)
{
	m->inside++;
}

void machine_leave_locked(struct machine *m)
{
	if (--m->inside == 0 && machine_over_locked(m))
		event_signal(m);
	pthread_cond_broadcast(&m->change);
}

static void end_with(struct machine *m, const struct machine_event *end)
{
	pthread_mutex_lock(&m->lock);
	if (m->end.type == MACHINE_EVENT_NONE) {
		m->end = atomic_load(&m->let_go) ? m->let_go_end : *end;
		m->ops->kick_locked(m);
		pthread_cond_broadcast(&m->change);
		event_signal(m);
	}
	pthread_mutex_unlock(&m->lock);
}

void machine_end(struct machine *m, enum machine_event_type type, unsigned int vcpu,
		 const char *fmt, ...)
{
	struct machine_event end = {.type = type, .vcpu = vcpu};
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(end.text, sizeof(end.text), fmt, ap);
	va_end(ap);
	end_with(m, &end);
}

void machine_begin_anew(struct machine *m)
{
	pthread_mutex_lock(&m->lock);
	m->end = (struct machine_event){.type = MACHINE_EVENT_NONE};
	pthread_mutex_unlock(&m->lock);
}

void machine_let_go(struct machine *m, const char *fmt, ...)
{
	va_list ap;

	m->let_go_end.type = MACHINE_EVENT_ERROR;
	va_start(ap, fmt);
	vsnprintf(m->let_go_end.text, sizeof(m->let_go_end.text), fmt, ap);
	va_end(ap);
	atomic_store(&m->let_go, true);
	m->ops->let_go(m);
	end_with(m, &m->let_go_end);
}

bool machine_has_ended(struct machine *m, struct machine_event *ev)
{
	struct machine_event end;

	pthread_mutex_lock(&m->lock);
	end = m->end;
	pthread_mutex_unlock(&m->lock);
	/* What fails from then on asks whether that is why. */
	if (end.type == MACHINE_EVENT_NONE && atomic_load(&m->let_go))
		end = m->let_go_end;
	if (end.type != MACHINE_EVENT_NONE && ev)
		*ev = end;
	return end.type != MACHINE_EVENT_NONE;
}

void machine_wake(struct machine *m)
{
	m->woken = true;
	event_signal(m);
}

/* --- waiting -----------------------------------------------------------------------------------
 */

/* The event that is there now: the end once nobody is inside any more, or a wake-up. */
static bool take_event(struct machine *m, struct machine_event *ev)
{
	bool ended;

	pthread_mutex_lock(&m->lock);
	ended = m->end.type != MACHINE_EVENT_NONE && !m->inside;
	/* What a handler of this boot uses may be freed before the next one. */
	if (m->reboots && m->waiting)
		ended = false;
	if (ended)
		*ev = m->end;
	pthread_mutex_unlock(&m->lock);
	if (ended)
		return true;
	if (!atomic_exchange(&m->woken, false))
		return false;
	*ev = (struct machine_event){.type = MACHINE_EVENT_WAKE};
	return true;
}

static int64_t now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

/* Callers may wait in pieces shorter than IDLE_MS: the time is kept from call to call. */
static void look_when_due(struct machine *m)
{
	int64_t now = now_ms();

	if (!m->ops->idle || now - m->looked_ms < IDLE_MS)
		return;
	m->looked_ms = now;
	m->ops->idle(m);
}

int machine_wait(struct machine *m, struct machine_event *ev, int timeout_ms)
{
	int64_t end = now_ms() + timeout_ms;
	eventfd_t count;

	while (!take_event(m, ev)) {
		struct pollfd fd = {.fd = m->event_fd, .events = POLLIN};
		int64_t left = end - now_ms();

		if (timeout_ms >= 0 && left <= 0) {
			*ev = (struct machine_event){.type = MACHINE_EVENT_NONE};
			break;
		}
		if (timeout_ms < 0)
			left = -1;
		if (m->ops->idle && (left < 0 || left > IDLE_MS))
			left = IDLE_MS;
		if (poll(&fd, 1, (int)left) > 0)
			eventfd_read(m->event_fd, &count);
		else
			look_when_due(m);
	}
	return 0;
}
