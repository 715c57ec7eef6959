/* SPDX-License-Identifier: GPL-2.0-or-later */
/* remove-tree.h - takes away a folder that a test has made, with all that is in it. */
#ifndef HVTRACE_TESTS_REMOVE_TREE_H
#define HVTRACE_TESTS_REMOVE_TREE_H

#include <ftw.h>
#include <stdio.h>

static inline int remove_one(const char *path, const struct stat *st, int type, struct FTW *at)
{
	(void)st;
	(void)type;
	(void)at;
	return remove(path);
}

/* 0, or what nftw() gives. Links are not followed. */
static inline int remove_tree(const char *dir)
{
	return nftw(dir, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

#endif
