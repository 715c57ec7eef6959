/* SPDX-License-Identifier: GPL-2.0-or-later */
/* local.h - what the files of frontend/devices/ share: each reads the words of its options. */
#ifndef HVTRACE_FRONTEND_DEVICES_LOCAL_H
#define HVTRACE_FRONTEND_DEVICES_LOCAL_H

#include "frontend/devices/devices.h"

/* What is wrong with an option's words: rc, and err says it. */
int devices_wrong(int rc, char *err, size_t errlen, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

/* Each adds one to d: 0 or -errno, and err says why in one line. */
int devices_disk(struct devices *d, const char *words, const struct devices_request *req, char *err,
		 size_t errlen);
int devices_seed(struct devices *d, const struct devices_request *req, char *err, size_t errlen);
int devices_share(struct devices *d, const char *words, char *err, size_t errlen);
int devices_forward(struct devices *d, const char *ports, char *err, size_t errlen);
/* The card; behind the disks, whose first gives it its address if nothing else does. */
int devices_net(struct devices *d, const char *words, char *err, size_t errlen);

#endif
