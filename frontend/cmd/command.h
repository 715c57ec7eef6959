/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * command.h - the commands of hvtrace. Each one parses its own arguments (argv[0] is "hvtrace
 * NAME") and returns the exit status.
 */
#ifndef HVTRACE_FRONTEND_CMD_COMMAND_H
#define HVTRACE_FRONTEND_CMD_COMMAND_H

#include "frontend/lib/exit.h"

int cmd_attach(int argc, char **argv);
int cmd_check_host(int argc, char **argv);
int cmd_events(int argc, char **argv);
int cmd_flame(int argc, char **argv);
int cmd_get(int argc, char **argv);
int cmd_graph(int argc, char **argv);
int cmd_latency(int argc, char **argv);
int cmd_list(int argc, char **argv);
int cmd_report(int argc, char **argv);
int cmd_repair(int argc, char **argv);
int cmd_run(int argc, char **argv);
int cmd_set(int argc, char **argv);
int cmd_symbols(int argc, char **argv);
int cmd_top(int argc, char **argv);

#endif
