/* SPDX-License-Identifier: GPL-2.0-or-later */
/* i8254.h - the three counters of an 8254 timer as functions of time. */
#ifndef HVTRACE_VMM_KVM_CHIP_I8254_H
#define HVTRACE_VMM_KVM_CHIP_I8254_H

#include <stdbool.h>
#include <stdint.h>

#define I8254_HZ    1193182
#define I8254_NEVER UINT64_MAX

struct i8254_counter {
	uint32_t stretch; /* the counter's clock is I8254_HZ / stretch */
	uint32_t reload;  /* 1 to 65536 */
	uint8_t mode;	  /* 0 to 5 */
	uint8_t access;	  /* 1: low byte, 2: high byte, 3: low, then high */
	bool bcd;	  /* kept for read-back only: no known guest counts in BCD */
	bool gate;
	bool loaded;	 /* a count has followed the control word: counting */
	uint64_t start;	 /* ns: when it was loaded, or would have been without pauses */
	uint64_t frozen; /* ticks done when the gate went low */

	bool write_high, read_high; /* next byte of a two-byte access is the high one */
	uint8_t write_low;
	bool count_latched, status_latched;
	uint16_t count_latch;
	uint8_t status_latch;
};

struct i8254 {
	struct i8254_counter counter[3];
};

/* All of it at a time `now`, as a file keeps it: times are as long ago as they were then. */
struct i8254_state {
	struct i8254_counter_state {
		int64_t age; /* ns since .start */
		uint64_t frozen;
		uint32_t stretch, reload;
		uint8_t mode, access, bcd, gate, loaded;
		uint8_t write_high, read_high, write_low;
		uint8_t count_latched, status_latched, status_latch, none;
		uint16_t count_latch;
		uint8_t nothing[2];
	} counter[3];
};

/* Times are in ns of any clock that does not go backwards, the same one in every call. */
void i8254_init(struct i8254 *t, uint32_t stretch);
/* Register reg: 0 to 2 a counter's data, 3 the control word (which reads as 0). */
uint8_t i8254_read(struct i8254 *t, unsigned int reg, uint64_t now);
void i8254_write(struct i8254 *t, unsigned int reg, uint8_t val, uint64_t now);
void i8254_set_gate(struct i8254 *t, unsigned int i, bool gate, uint64_t now);
/* Level of a counter's OUT pin. */
bool i8254_out(const struct i8254 *t, unsigned int i, uint64_t now);
/* When OUT next rises after `after`, or I8254_NEVER. */
uint64_t i8254_next_rise(const struct i8254 *t, unsigned int i, uint64_t after);

void i8254_save(const struct i8254 *t, struct i8254_state *s, uint64_t now);
/* -EINVAL: no timer is like that; how its clocks are stretched is not changed. */
int i8254_restore(struct i8254 *t, const struct i8254_state *s, uint64_t now);

#endif
