/* SPDX-License-Identifier: GPL-2.0-or-later */
/* memory.h - how much memory the host has left for buffers. */
#ifndef HVTRACE_TRACER_LIB_MEMORY_H
#define HVTRACE_TRACER_LIB_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

/* The files that say so, open: who may open no others any more can still read them. */
struct memory_files;

/*
 * Of what /proc says that there is (MemAvailable), and of what the control groups (version 2) of
 * this process leave of it. Both are given as directories; what cannot be read there is no limit.
 * NULL: no memory. The caller frees it with memory_close(), which NULL may be given.
 */
struct memory_files *memory_open(const char *proc, const char *cgroups);
void memory_close(struct memory_files *f);

/* What can be had, in bytes. Any thread. */
uint64_t memory_left(const struct memory_files *f);

/*
 * Whether so many bytes can be had without taking them from others. Memory that is asked for page
 * by page is hardly ever refused: who goes on asking is killed, which ends the trace. Of no files:
 * yes.
 */
bool memory_holds(const struct memory_files *f, uint64_t bytes);

#endif
