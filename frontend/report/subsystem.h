/* SPDX-License-Identifier: GPL-2.0-or-later */
/* subsystem.h - which part of the kernel a function belongs to, as far as its name tells. */
#ifndef HVTRACE_FRONTEND_REPORT_SUBSYSTEM_H
#define HVTRACE_FRONTEND_REPORT_SUBSYSTEM_H

#include <stdint.h>

enum subsystem {
	SUBSYSTEM_OTHER,
	SUBSYSTEM_ENTRY,
	SUBSYSTEM_SCHED,
	SUBSYSTEM_IRQ,
	SUBSYSTEM_LOCK,
	SUBSYSTEM_MM,
	SUBSYSTEM_FS,
	SUBSYSTEM_NET,
	SUBSYSTEM_NR,
};

struct subsystem_info {
	const char *name;
	uint8_t rgb[3]; /* dark text is legible on it */
};

extern const struct subsystem_info subsystems[SUBSYSTEM_NR];

enum subsystem subsystem_of(const char *function);

#endif
