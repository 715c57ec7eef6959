// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * i8254.c - the counters of an 8254 timer, computed from the time whenever somebody looks.
 *
 * Modes and pins as in Intel's 8254 data sheet (231164). Two liberties, both of which no guest is
 * known to notice: a new count takes effect at once in every mode, and counting is binary even
 * when BCD was asked for.
 */
#include "vmm/kvm/chip/i8254.h"

#include <errno.h>
#include <string.h>

#define NSEC UINT64_C(1000000000)

enum {
	ACCESS_LATCH,
	ACCESS_LOW,
	ACCESS_HIGH,
	ACCESS_BOTH,
};

#define CONTROL_READ_BACK   3 /* in the place of the counter's number */
#define READ_BACK_NO_COUNT  (1 << 5)
#define READ_BACK_NO_STATUS (1 << 4)

static bool counter_periodic(const struct i8254_counter *c)
{
	return c->mode == 2 || c->mode == 3;
}

static uint64_t counter_ticks(const struct i8254_counter *c, uint64_t ns)
{
	return (uint64_t)((unsigned __int128)ns * I8254_HZ / (NSEC * c->stretch));
}

/* The first ns at which so many ticks are done. */
static uint64_t counter_ns(const struct i8254_counter *c, uint64_t ticks)
{
	return (uint64_t)(((unsigned __int128)ticks * NSEC * c->stretch + I8254_HZ - 1) / I8254_HZ);
}

static uint64_t counter_elapsed(const struct i8254_counter *c, uint64_t now)
{
	if (!c->gate)
		return c->frozen;
	return now > c->start ? counter_ticks(c, now - c->start) : 0;
}

static uint16_t counter_value(const struct i8254_counter *c, uint64_t now)
{
	uint64_t ticks;

	if (!c->loaded)
		return 0;
	ticks = counter_elapsed(c, now);
	if (c->mode == 3) /* counts down by two, twice a period */
		return (uint16_t)((c->reload - ticks * 2 % c->reload) & ~UINT64_C(1));
	if (counter_periodic(c))
		ticks %= c->reload;
	return (uint16_t)(c->reload - ticks);
}

static bool counter_out(const struct i8254_counter *c, uint64_t now)
{
	uint64_t ticks;

	if (!c->loaded)
		return c->mode != 0;
	ticks = counter_elapsed(c, now);
	switch (c->mode) {
	case 2:
		return ticks % c->reload != c->reload - 1;
	case 3:
		return ticks % c->reload < (c->reload + 1) / 2;
	case 4:
	case 5:
		return ticks != c->reload;
	default:
		return ticks >= c->reload;
	}
}

static void counter_load(struct i8254_counter *c, uint16_t count, uint64_t now)
{
	c->reload = count ? count : 0x10000;
	c->loaded = true;
	c->start = now;
	c->frozen = 0;
}

static void counter_write(struct i8254_counter *c, uint8_t val, uint64_t now)
{
	switch (c->access) {
	case ACCESS_LOW:
		counter_load(c, val, now);
		break;
	case ACCESS_HIGH:
		counter_load(c, (uint16_t)(val << 8), now);
		break;
	default:
		if (!c->write_high) {
			c->write_low = val;
			/* In mode 0 the first byte stops the count. */
			if (c->mode == 0)
				c->loaded = false;
		} else {
			counter_load(c, (uint16_t)(val << 8 | c->write_low), now);
		}
		c->write_high = !c->write_high;
	}
}

static uint8_t counter_read(struct i8254_counter *c, uint64_t now)
{
	uint16_t count;
	bool high;

	if (c->status_latched) {
		c->status_latched = false;
		return c->status_latch;
	}
	count = c->count_latched ? c->count_latch : counter_value(c, now);
	high = c->access == ACCESS_HIGH || (c->access == ACCESS_BOTH && c->read_high);
	if (c->access == ACCESS_BOTH)
		c->read_high = !c->read_high;
	if (high || c->access != ACCESS_BOTH)
		c->count_latched = false;
	return (uint8_t)(high ? count >> 8 : count);
}

static void counter_latch(struct i8254_counter *c, uint64_t now)
{
	if (c->count_latched) /* the first of two latch commands counts */
		return;
	c->count_latch = counter_value(c, now);
	c->count_latched = true;
}

static void counter_latch_status(struct i8254_counter *c, uint64_t now)
{
	if (c->status_latched)
		return;
	c->status_latch = (uint8_t)(counter_out(c, now) << 7 | !c->loaded << 6 | c->access << 4 |
				    c->mode << 1 | c->bcd);
	c->status_latched = true;
}

static void counter_control(struct i8254_counter *c, uint8_t val, uint64_t now)
{
	uint8_t access = val >> 4 & 3;
	uint8_t mode = val >> 1 & 7;

	if (access == ACCESS_LATCH) {
		counter_latch(c, now);
		return;
	}
	c->access = access;
	c->mode = mode > 5 ? mode - 4 : mode; /* 6 and 7 are other spellings of 2 and 3 */
	c->bcd = val & 1;
	c->loaded = false;
	c->write_high = c->read_high = false;
	c->count_latched = c->status_latched = false;
}

static void i8254_read_back(struct i8254 *t, uint8_t val, uint64_t now)
{
	for (unsigned int i = 0; i < 3; i++) {
		if (!(val & 2 << i))
			continue;
		if (!(val & READ_BACK_NO_COUNT))
			counter_latch(&t->counter[i], now);
		if (!(val & READ_BACK_NO_STATUS))
			counter_latch_status(&t->counter[i], now);
	}
}

uint8_t i8254_read(struct i8254 *t, unsigned int reg, uint64_t now)
{
	return reg < 3 ? counter_read(&t->counter[reg], now) : 0;
}

void i8254_write(struct i8254 *t, unsigned int reg, uint8_t val, uint64_t now)
{
	if (reg < 3)
		counter_write(&t->counter[reg], val, now);
	else if (val >> 6 == CONTROL_READ_BACK)
		i8254_read_back(t, val, now);
	else
		counter_control(&t->counter[val >> 6], val, now);
}

void i8254_set_gate(struct i8254 *t, unsigned int i, bool gate, uint64_t now)
{
	struct i8254_counter *c = &t->counter[i];

	if (gate == c->gate)
		return;
	if (!gate)
		c->frozen = counter_elapsed(c, now);
	else if (c->mode == 0 || c->mode == 4)
		c->start = now - counter_ns(c, c->frozen); /* goes on */
	else
		c->start = now; /* the rising edge reloads */
	c->gate = gate;
}

bool i8254_out(const struct i8254 *t, unsigned int i, uint64_t now)
{
	return counter_out(&t->counter[i], now);
}

uint64_t i8254_next_rise(const struct i8254 *t, unsigned int i, uint64_t after)
{
	const struct i8254_counter *c = &t->counter[i];
	uint64_t ticks, rise;

	if (!c->loaded || !c->gate)
		return I8254_NEVER;
	ticks = c->reload;
	if (counter_periodic(c))
		ticks *= counter_elapsed(c, after) / c->reload + 1;
	rise = c->start + counter_ns(c, ticks);
	return rise > after ? rise : I8254_NEVER;
}

void i8254_init(struct i8254 *t, uint32_t stretch)
{
	memset(t, 0, sizeof(*t));
	for (unsigned int i = 0; i < 3; i++) {
		t->counter[i].stretch = 1;
		t->counter[i].access = ACCESS_BOTH;
		t->counter[i].gate = i != 2; /* counter 2's gate is bit 0 of port 0x61 */
		t->counter[i].reload = 0x10000;
	}
	t->counter[0].stretch = stretch;
}

/* --- its state ------------------------------------------------------------------------------ */

static void counter_save(const struct i8254_counter *c, struct i8254_counter_state *s, uint64_t now)
{
	*s = (struct i8254_counter_state){
		.age = (int64_t)(now - c->start),
		.frozen = c->frozen,
		.stretch = c->stretch,
		.reload = c->reload,
		.mode = c->mode,
		.access = c->access,
		.bcd = c->bcd,
		.gate = c->gate,
		.loaded = c->loaded,
		.write_high = c->write_high,
		.read_high = c->read_high,
		.write_low = c->write_low,
		.count_latched = c->count_latched,
		.status_latched = c->status_latched,
		.status_latch = c->status_latch,
		.count_latch = c->count_latch,
	};
}

static bool counter_is_sane(const struct i8254_counter_state *s, uint32_t stretch)
{
	return s->stretch == stretch && s->reload <= 65536 && (s->reload || !s->loaded) &&
	       s->mode <= 5 && s->access <= ACCESS_BOTH && s->bcd <= 1 && s->gate <= 1 &&
	       s->loaded <= 1 && s->write_high <= 1 && s->read_high <= 1 && s->count_latched <= 1 &&
	       s->status_latched <= 1;
}

static void counter_restore(struct i8254_counter *c, const struct i8254_counter_state *s,
			    uint64_t now)
{
	*c = (struct i8254_counter){
		.stretch = s->stretch,
		.reload = s->reload,
		.mode = s->mode,
		.access = s->access,
		.bcd = s->bcd,
		.gate = s->gate,
		.loaded = s->loaded,
		.start = now - (uint64_t)s->age,
		.frozen = s->frozen,
		.write_high = s->write_high,
		.read_high = s->read_high,
		.write_low = s->write_low,
		.count_latched = s->count_latched,
		.status_latched = s->status_latched,
		.count_latch = s->count_latch,
		.status_latch = s->status_latch,
	};
}

void i8254_save(const struct i8254 *t, struct i8254_state *s, uint64_t now)
{
	for (unsigned int i = 0; i < 3; i++)
		counter_save(&t->counter[i], &s->counter[i], now);
}

int i8254_restore(struct i8254 *t, const struct i8254_state *s, uint64_t now)
{
	for (unsigned int i = 0; i < 3; i++) {
		if (!counter_is_sane(&s->counter[i], t->counter[i].stretch))
			return -EINVAL;
	}
	for (unsigned int i = 0; i < 3; i++)
		counter_restore(&t->counter[i], &s->counter[i], now);
	return 0;
}
