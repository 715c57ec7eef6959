/* SPDX-License-Identifier: GPL-2.0-or-later */
/* serve.h - hvtrace serve: a daemon that traces the guests of a host by rules. */
#ifndef HVTRACE_FRONTEND_SERVE_SERVE_H
#define HVTRACE_FRONTEND_SERVE_SERVE_H

#include <stddef.h>

#include "frontend/config/config.h"

#define SERVE_CONFIG "/etc/hvtrace/serve.toml"

/* Of its socket, unless the configuration says another one. NULL: no memory. To be freed. */
char *serve_socket(const struct serve_config *cfg);

/*
 * Read the configuration, trace until SIGTERM or Ctrl-C; SIGHUP has it read again. There are no
 * threads before. The exit status; what there is to say comes on stderr.
 */
int serve_run(const char *config, const struct config_words *words);

/*
 * Ask the daemon at this socket something, "status" or "trace GUEST RULE" or "reload", and print
 * its answer to stdout. The exit status.
 */
int serve_ask(const char *socket, const char *request);

#endif
