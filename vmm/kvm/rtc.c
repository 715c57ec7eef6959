// SPDX-License-Identifier: GPL-2.0-or-later
/* rtc.c - the real-time clock on the bus. */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "vmm/kvm/chip/mc146818.h"
#include "vmm/kvm/kvm.h"
#include "vmm/kvm/state/state.h"

#define PORT_INDEX 0x70
#define PORT_DATA  0x71

struct rtc {
	pthread_mutex_t lock;
	struct mc146818 clock;
};

static uint32_t rtc_in(void *dev, uint16_t port, unsigned int size)
{
	struct rtc *r = dev;
	uint8_t val;

	(void)size;
	if (port != PORT_DATA)
		return UINT32_MAX; /* the index cannot be read */
	pthread_mutex_lock(&r->lock);
	val = mc146818_read(&r->clock, time(NULL));
	pthread_mutex_unlock(&r->lock);
	return val;
}

static void rtc_out(void *dev, uint16_t port, unsigned int size, uint32_t val)
{
	struct rtc *r = dev;

	(void)size;
	pthread_mutex_lock(&r->lock);
	if (port == PORT_INDEX)
		mc146818_set_index(&r->clock, (uint8_t)val);
	else
		mc146818_write(&r->clock, (uint8_t)val);
	pthread_mutex_unlock(&r->lock);
}

struct rtc *rtc_new(struct kvm_machine *m)
{
	struct rtc *r = calloc(1, sizeof(*r));
	struct pio_device dev = {.name = "rtc",
				 .first = PORT_INDEX,
				 .last = PORT_DATA,
				 .in = rtc_in,
				 .out = rtc_out,
				 .dev = r};

	if (!r)
		return NULL;
	pthread_mutex_init(&r->lock, NULL);
	mc146818_init(&r->clock);
	if (kvm_bus_add(m, &dev)) {
		rtc_free(r);
		return NULL;
	}
	return r;
}

void rtc_free(struct rtc *r)
{
	if (!r)
		return;
	pthread_mutex_destroy(&r->lock);
	free(r);
}

void rtc_save(struct rtc *r, struct state_sections *to)
{
	pthread_mutex_lock(&r->lock);
	state_put(to, STATE_RTC, 0, &r->clock, sizeof(r->clock));
	pthread_mutex_unlock(&r->lock);
}

int rtc_restore(struct rtc *r, const struct state_file *from)
{
	const struct mc146818 *clock = state_get_sized(from, STATE_RTC, 0, sizeof(*clock));

	if (!clock || clock->index >= MC146818_BYTES)
		return -EINVAL;
	r->clock = *clock;
	return 0;
}
