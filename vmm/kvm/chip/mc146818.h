/* SPDX-License-Identifier: GPL-2.0-or-later */
/* mc146818.h - the PC's real-time clock: it tells the time, and keeps bytes. */
#ifndef HVTRACE_VMM_KVM_CHIP_MC146818_H
#define HVTRACE_VMM_KVM_CHIP_MC146818_H

#include <stdint.h>
#include <time.h>

#define MC146818_BYTES 128

struct mc146818 {
	uint8_t index; /* register that the data port stands for */
	uint8_t bytes[MC146818_BYTES];
};

void mc146818_init(struct mc146818 *c);
void mc146818_set_index(struct mc146818 *c, uint8_t val);
/* now: what the clock shows (UTC). */
uint8_t mc146818_read(const struct mc146818 *c, time_t now);
void mc146818_write(struct mc146818 *c, uint8_t val);

#endif
