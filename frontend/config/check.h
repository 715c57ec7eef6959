/* SPDX-License-Identifier: GPL-2.0-or-later */
/* check.h - whether the keys of a configuration go together, each of which is right by itself. */
#ifndef HVTRACE_FRONTEND_CONFIG_CHECK_H
#define HVTRACE_FRONTEND_CONFIG_CHECK_H

#include "frontend/config/kinds.h"

/* What does not is told. */
void config_check(struct reading *r, const struct serve_config *c);

#endif
