/* SPDX-License-Identifier: GPL-2.0-or-later */
/* overlay.h - what a guest is booted with so that a command can be run in it. */
#ifndef HVTRACE_FRONTEND_EXEC_OVERLAY_H
#define HVTRACE_FRONTEND_EXEC_OVERLAY_H

#include <stddef.h>

/*
 * An archive to lie before any initrd, compressed or not: all that is in it is in a folder of its
 * own. words: those of the kernel command line; they may name an init (rdinit=), which it goes on
 * as then. To be freed by free(); NULL: no memory.
 */
void *overlay_make(const char *words, size_t *len);

/*
 * The same words with that archive's init, behind any other, but before "--". To be freed by
 * free(); NULL: no memory.
 */
char *overlay_words(const char *words);

#endif
