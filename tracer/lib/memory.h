/* SPDX-License-Identifier: GPL-2.0-or-later */
/* memory.h - how much memory the host has left for buffers. */
#ifndef HVTRACE_TRACER_LIB_MEMORY_H
#define HVTRACE_TRACER_LIB_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Whether so many bytes can be had without taking them from others. Memory that is asked for page
 * by page is hardly ever refused: who goes on asking is killed, which ends the trace.
 */
bool memory_holds(uint64_t bytes);

/*
 * What can be had, in bytes: what /proc says that there is (MemAvailable), and what the control
 * groups (version 2) of this process leave of it. Both are given as directories; what cannot be
 * read there is no limit.
 */
uint64_t memory_left(const char *proc, const char *cgroups);

#endif
