/* SPDX-License-Identifier: GPL-2.0-or-later */
/* pids.h - the tasks that are traced, when not all are. */
#ifndef HVTRACE_TRACER_PIDS_H
#define HVTRACE_TRACER_PIDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PID_LIMIT (4u << 20) /* PID_MAX_LIMIT (include/linux/threads.h) */

struct pid_set {
	uint8_t *bits; /* of PID_LIMIT pids; NULL: all tasks */
};

/* nr pids as text; none: all tasks. -EINVAL, -ENOMEM with one line in err. */
int pid_set_init(struct pid_set *set, const char *const *pids, size_t nr, char *err, size_t errlen);
void pid_set_free(struct pid_set *set);

static inline bool pid_set_has(const struct pid_set *set, int32_t pid)
{
	return !set->bits ||
	       ((uint32_t)pid < PID_LIMIT && set->bits[(uint32_t)pid / 8] & 1 << (pid & 7));
}

#endif
