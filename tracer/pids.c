// SPDX-License-Identifier: GPL-2.0-or-later
/* pids.c - see pids.h */
#include "tracer/pids.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

static int pid_parse(const char *text, uint32_t *pid)
{
	unsigned long n;
	char *end;

	errno = 0;
	n = strtoul(text, &end, 10);
	if (!isdigit((unsigned char)text[0]) || *end || errno || n >= PID_LIMIT)
		return -EINVAL;
	*pid = (uint32_t)n;
	return 0;
}

int pid_set_init(struct pid_set *set, const char *const *pids, size_t nr, char *err, size_t errlen)
{
	set->bits = nr ? calloc(1, PID_LIMIT / 8) : NULL;
	if (nr && !set->bits) {
		snprintf(err, errlen, "no memory");
		return -ENOMEM;
	}
	for (size_t i = 0; i < nr; i++) {
		uint32_t pid;

		if (pid_parse(pids[i], &pid)) {
			snprintf(err, errlen, "pid '%s': not a number from 0 to %u", pids[i],
				 PID_LIMIT - 1);
			return -EINVAL;
		}
		set->bits[pid / 8] |= (uint8_t)(1 << (pid & 7));
	}
	return 0;
}

void pid_set_free(struct pid_set *set)
{
	free(set->bits);
	set->bits = NULL;
}
