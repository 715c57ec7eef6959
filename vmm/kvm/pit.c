// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * pit.c - the PC's interval timer: an 8254 with a thread that raises IRQ 0, and port 0x61.
 *
 * Where the host interprets guest kernel mode, Linux's tick handler (about 10 ms) takes longer
 * than a tick at HZ=250 (4 ms), so that the guest does nothing but tick. Slowing counter 0 down
 * cures it; time as such is not concerned, guests read that from the TSC.
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "vmm/kvm/chip/i8254.h"
#include "vmm/kvm/kvm.h"
#include "vmm/kvm/state/state.h"
#include "vmm/thread.h"

#define NSEC UINT64_C(1000000000)

#define PORT_TIMER   0x40
#define PORT_CONTROL 0x61
#define PIT_IRQ	     0

enum {
	CONTROL_GATE2 = 1 << 0,
	CONTROL_SPEAKER = 1 << 1,
	CONTROL_REFRESH = 1 << 4, /* toggles with the memory refresh: here, with each look at it */
	CONTROL_OUT2 = 1 << 5,
};

struct pit {
	struct kvm_machine *m;
	pthread_mutex_t lock;
	pthread_cond_t changed; /* counter 0 was written, or the thread shall end */
	pthread_t thread;
	bool running, stop;
	struct i8254 timer;
	uint64_t seen;	       /* rises of counter 0 up to this time have been dealt with */
	bool speaker, refresh; /* bits 1 and 4 of port 0x61 */
};

static uint64_t pit_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * NSEC + (uint64_t)ts.tv_nsec;
}

/* Called with the lock held: wait until `when`, or until something has changed. */
static void pit_wait(struct pit *p, uint64_t when)
{
	struct timespec ts = {
		.tv_sec = (time_t)(when / NSEC),
		.tv_nsec = (long)(when % NSEC),
	};

	if (when == I8254_NEVER)
		pthread_cond_wait(&p->changed, &p->lock);
	else
		pthread_cond_timedwait(&p->changed, &p->lock, &ts);
}

static void *pit_thread(void *arg)
{
	struct pit *p = arg;

	pthread_mutex_lock(&p->lock);
	while (!p->stop) {
		uint64_t next = i8254_next_rise(&p->timer, 0, p->seen);
		uint64_t now = pit_now();

		if (next > now) {
			pit_wait(p, next);
			continue;
		}
		/* Periods missed meanwhile are lost, as they are when a PC masks the interrupt. */
		p->seen = now;
		pthread_mutex_unlock(&p->lock);
		kvm_irq_line(p->m, PIT_IRQ, true);
		kvm_irq_line(p->m, PIT_IRQ, false);
		pthread_mutex_lock(&p->lock);
	}
	pthread_mutex_unlock(&p->lock);
	return NULL;
}

static uint8_t pit_read_control(struct pit *p, uint64_t now)
{
	p->refresh = !p->refresh;
	return (p->timer.counter[2].gate ? CONTROL_GATE2 : 0) | (p->speaker ? CONTROL_SPEAKER : 0) |
	       (p->refresh ? CONTROL_REFRESH : 0) |
	       (i8254_out(&p->timer, 2, now) ? CONTROL_OUT2 : 0);
}

static uint8_t pit_read(struct pit *p, uint16_t port)
{
	uint64_t now = pit_now();

	if (port == PORT_CONTROL)
		return pit_read_control(p, now);
	return i8254_read(&p->timer, port - PORT_TIMER, now);
}

static void pit_write(struct pit *p, uint16_t port, uint8_t val)
{
	uint64_t now = pit_now();

	if (port == PORT_CONTROL) {
		p->speaker = val & CONTROL_SPEAKER;
		i8254_set_gate(&p->timer, 2, val & CONTROL_GATE2, now);
		return;
	}
	i8254_write(&p->timer, port - PORT_TIMER, val, now);
	pthread_cond_signal(&p->changed);
}

/* The 8254 has an 8-bit bus: of a wider access it sees the low byte. */
static uint32_t pit_in(void *dev, uint16_t port, unsigned int size)
{
	struct pit *p = dev;
	uint8_t val;

	(void)size;
	pthread_mutex_lock(&p->lock);
	val = pit_read(p, port);
	pthread_mutex_unlock(&p->lock);
	return val;
}

static void pit_out(void *dev, uint16_t port, unsigned int size, uint32_t val)
{
	struct pit *p = dev;

	(void)size;
	pthread_mutex_lock(&p->lock);
	pit_write(p, port, (uint8_t)val);
	pthread_mutex_unlock(&p->lock);
}

static int pit_connect(struct pit *p)
{
	struct pio_device dev = {.name = "pit",
				 .first = PORT_TIMER,
				 .last = PORT_TIMER + 3,
				 .in = pit_in,
				 .out = pit_out,
				 .dev = p};
	int err = kvm_bus_add(p->m, &dev);

	if (err)
		return err;
	dev.name = "speaker";
	dev.first = dev.last = PORT_CONTROL;
	return kvm_bus_add(p->m, &dev);
}

static int pit_start(struct pit *p)
{
	int err = thread_start(&p->thread, "pit", NULL, pit_thread, p);

	p->running = !err;
	return err;
}

struct pit *pit_new(struct kvm_machine *m, unsigned int stretch)
{
	struct pit *p = calloc(1, sizeof(*p));
	pthread_condattr_t attr;

	if (!p)
		return NULL;
	p->m = m;
	i8254_init(&p->timer, stretch);
	pthread_mutex_init(&p->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&p->changed, &attr);
	pthread_condattr_destroy(&attr);
	if (pit_connect(p) || pit_start(p)) {
		pit_free(p);
		return NULL;
	}
	return p;
}

void pit_free(struct pit *p)
{
	if (!p)
		return;
	if (p->running) {
		pthread_mutex_lock(&p->lock);
		p->stop = true;
		pthread_cond_signal(&p->changed);
		pthread_mutex_unlock(&p->lock);
		pthread_join(p->thread, NULL);
	}
	pthread_cond_destroy(&p->changed);
	pthread_mutex_destroy(&p->lock);
	free(p);
}

struct pit_state {
	struct i8254_state timer;
	int64_t seen_age; /* ns since .seen */
	uint8_t speaker, refresh, none[6];
};

void pit_save(struct pit *p, struct state_sections *to)
{
	struct pit_state s = {0};
	uint64_t now = pit_now();

	pthread_mutex_lock(&p->lock);
	i8254_save(&p->timer, &s.timer, now);
	s.seen_age = (int64_t)(now - p->seen);
	s.speaker = p->speaker;
	s.refresh = p->refresh;
	pthread_mutex_unlock(&p->lock);
	state_put(to, STATE_OWN_PIT, 0, &s, sizeof(s));
}

int pit_restore(struct pit *p, const struct state_file *from)
{
	const struct pit_state *s = state_get_sized(from, STATE_OWN_PIT, 0, sizeof(*s));
	uint64_t now = pit_now();
	int rc;

	if (!s || s->speaker > 1 || s->refresh > 1)
		return -EINVAL;
	pthread_mutex_lock(&p->lock);
	rc = i8254_restore(&p->timer, &s->timer, now);
	if (!rc) {
		p->seen = now - (uint64_t)s->seen_age;
		p->speaker = s->speaker;
		p->refresh = s->refresh;
		pthread_cond_signal(&p->changed);
	}
	pthread_mutex_unlock(&p->lock);
	return rc;
}
