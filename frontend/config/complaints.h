/* SPDX-License-Identifier: GPL-2.0-or-later */
/* complaints.h - what is wrong with a configuration, in the order of its lines. */
#ifndef HVTRACE_FRONTEND_CONFIG_COMPLAINTS_H
#define HVTRACE_FRONTEND_CONFIG_COMPLAINTS_H

#include "frontend/config/config.h"
#include "frontend/config/toml/toml.h"

struct complaint {
	unsigned int line; /* 0: it is about the whole file */
	char what[320];
};

struct complaints {
	struct complaint lines[TOML_MISTAKES];
	unsigned int nr; /* of mistakes; lines has the first ones */
};

void config_complain(struct complaints *r, unsigned int line, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* Tell of all. name: the file's. */
void complaints_tell(struct complaints *r, const char *name, const struct config_ear *ear);

#endif
