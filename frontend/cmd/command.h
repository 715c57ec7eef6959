/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * command.h - the commands of hvtrace. Each one parses its own arguments (argv[0] is "hvtrace
 * NAME") and returns the exit status.
 */
#ifndef HVTRACE_FRONTEND_CMD_COMMAND_H
#define HVTRACE_FRONTEND_CMD_COMMAND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "frontend/lib/exit.h"

struct option_usage;

int cmd_attach(int argc, char **argv);
int cmd_boot(int argc, char **argv);
int cmd_check_host(int argc, char **argv);
int cmd_complete(int argc, char **argv);
int cmd_events(int argc, char **argv);
int cmd_export(int argc, char **argv);
int cmd_flame(int argc, char **argv);
int cmd_get(int argc, char **argv);
int cmd_graph(int argc, char **argv);
int cmd_latency(int argc, char **argv);
int cmd_list(int argc, char **argv);
int cmd_merge(int argc, char **argv);
int cmd_offcpu(int argc, char **argv);
int cmd_record(int argc, char **argv);
int cmd_report(int argc, char **argv);
int cmd_repair(int argc, char **argv);
int cmd_run(int argc, char **argv);
int cmd_serve(int argc, char **argv);
int cmd_set(int argc, char **argv);
int cmd_ship(int argc, char **argv);
int cmd_show(int argc, char **argv);
int cmd_snapshot_save(int argc, char **argv); /* its second form */
int cmd_snapshot(int argc, char **argv);
int cmd_symbols(int argc, char **argv);
int cmd_syscalls(int argc, char **argv);
int cmd_top(int argc, char **argv);
int cmd_wakeups(int argc, char **argv);

/* Print a file of a trace that is under way; guest may be NULL. The exit status. */
int get_file(const char *guest, const char *file);
/* The same of all that are under way, line by line. */
int get_all(const char *file);

/*
 * Print what several trace.dat files have, by their times, to a file, NULL: to stdout. The process
 * has no rights afterwards. The exit status.
 */
int report_files(const char *const *paths, size_t nr, const char *out);

/* What a command that traces is, where it differs from another: run and attach, and record. */
struct tracing {
	const struct option_usage *usage;
	const char *output; /* where the trace goes if nothing else is said */
	bool record;	    /* as a recording, whatever that is called */
	uint64_t limit_ms;  /* how long a running guest is traced; 0: without end */
};

int run_as(const struct tracing *what, int argc, char **argv);
int attach_as(const struct tracing *what, int argc, char **argv);

#endif
