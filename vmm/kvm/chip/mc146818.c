// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * mc146818.c - the registers of the PC's real-time clock (Motorola's data sheet; the century byte
 * is where PCs have it).
 *
 * It shows the host's time, never says "update in progress" and never interrupts. Setting it has
 * no effect. Linux takes its first date from it, and before 5.16 waits for ever where there is
 * none: all ones look like an update that does not end.
 */
#include "vmm/kvm/chip/mc146818.h"

#include <string.h>

enum {
	REG_SECOND = 0x00,
	REG_MINUTE = 0x02,
	REG_HOUR = 0x04,
	REG_WEEKDAY = 0x06,
	REG_DAY = 0x07,
	REG_MONTH = 0x08,
	REG_YEAR = 0x09,
	REG_A = 0x0a,
	REG_B = 0x0b,
	REG_C = 0x0c, /* interrupt flags */
	REG_D = 0x0d,
	REG_CENTURY = 0x32,
};

enum {
	A_UPDATING = 1 << 7,
	A_DEFAULT = 0x26, /* 32,768 Hz, divider running, 1,024 Hz */
	B_24_HOURS = 1 << 1,
	B_BINARY = 1 << 2,
	D_VALID = 1 << 7, /* the battery is good */
};

#define HOUR_PM 0x80

static uint8_t clock_digits(const struct mc146818 *c, int val)
{
	if (c->bytes[REG_B] & B_BINARY)
		return (uint8_t)val;
	return (uint8_t)(val / 10 % 10 << 4 | val % 10);
}

static uint8_t clock_hour(const struct mc146818 *c, int hour)
{
	if (c->bytes[REG_B] & B_24_HOURS)
		return clock_digits(c, hour);
	return clock_digits(c, (hour + 11) % 12 + 1) | (hour >= 12 ? HOUR_PM : 0);
}

void mc146818_set_index(struct mc146818 *c, uint8_t val)
{
	c->index = val % MC146818_BYTES; /* bit 7 masks NMIs on a PC */
}

uint8_t mc146818_read(const struct mc146818 *c, time_t now)
{
	struct tm tm;

	if (!gmtime_r(&now, &tm))
		return 0;
	switch (c->index) {
	case REG_SECOND:
		return clock_digits(c, tm.tm_sec);
	case REG_MINUTE:
		return clock_digits(c, tm.tm_min);
	case REG_HOUR:
		return clock_hour(c, tm.tm_hour);
	case REG_WEEKDAY:
		return clock_digits(c, tm.tm_wday + 1);
	case REG_DAY:
		return clock_digits(c, tm.tm_mday);
	case REG_MONTH:
		return clock_digits(c, tm.tm_mon + 1);
	case REG_YEAR:
		return clock_digits(c, tm.tm_year % 100);
	case REG_CENTURY:
		return clock_digits(c, (tm.tm_year + 1900) / 100);
	case REG_C:
		return 0;
	case REG_D:
		return D_VALID;
	default:
		return c->bytes[c->index];
	}
}

void mc146818_write(struct mc146818 *c, uint8_t val)
{
	if (c->index == REG_A)
		val &= (uint8_t)~A_UPDATING;
	c->bytes[c->index] = val;
}

void mc146818_init(struct mc146818 *c)
{
	memset(c, 0, sizeof(*c));
	c->bytes[REG_A] = A_DEFAULT;
	c->bytes[REG_B] = B_24_HOURS;
}
