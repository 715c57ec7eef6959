// SPDX-License-Identifier: GPL-2.0-or-later
/* conf.c - see conf.h */
#include "frontend/serve/conf.h"

#include <stdlib.h>

struct conf *conf_new(struct serve_config *c)
{
	struct conf *conf = calloc(1, sizeof(*conf));

	if (!conf) {
		config_free(c);
		return NULL;
	}
	conf->c = c;
	conf->refs = 1;
	return conf;
}

struct conf *conf_get(struct conf *conf)
{
	conf->refs++;
	return conf;
}

void conf_put(struct conf *conf)
{
	if (!conf || --conf->refs)
		return;
	config_free(conf->c);
	free(conf);
}
