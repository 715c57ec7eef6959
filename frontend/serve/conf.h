/* SPDX-License-Identifier: GPL-2.0-or-later */
/* conf.h - a configuration that what is under way keeps when another one takes its place. */
#ifndef HVTRACE_FRONTEND_SERVE_CONF_H
#define HVTRACE_FRONTEND_SERVE_CONF_H

#include "frontend/config/config.h"

struct conf {
	struct serve_config *c;
	unsigned int refs; /* of one thread */
};

/* Takes c, also on error: NULL, no memory. */
struct conf *conf_new(struct serve_config *c);
struct conf *conf_get(struct conf *conf);
void conf_put(struct conf *conf); /* NULL is allowed */

#endif
