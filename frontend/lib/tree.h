/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tree.h - a folder with all that is in it. */
#ifndef HVTRACE_FRONTEND_LIB_TREE_H
#define HVTRACE_FRONTEND_LIB_TREE_H

/*
 * Remove what is in the folder that this descriptor is of, or a folder as in openat(2). No link is
 * followed. Folders that lie deeper within each other than `depth` stay, and what they are in.
 */
void tree_empty(int folder, int depth);
void tree_remove(int at, const char *path, int depth);

#endif
