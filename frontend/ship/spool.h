/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * spool.h - batches that could not be delivered, in files of a folder, the oldest first. One
 * process at a time has it.
 */
#ifndef HVTRACE_FRONTEND_SHIP_SPOOL_H
#define HVTRACE_FRONTEND_SHIP_SPOOL_H

#include "frontend/ship/pack.h"

struct spool;

/*
 * The folder is made if it is not there. NULL with one line in err, also when another process has
 * it. max: bytes of files in it.
 */
struct spool *spool_open(const char *path, uint64_t max, char *err, size_t errlen);
void spool_close(struct spool *s); /* NULL is allowed */
/* Put one in. 0, -EDQUOT where it is full, or -errno. It is on the disk then. */
int spool_put(struct spool *s, const struct pack *p);
/*
 * The oldest one behind that of this number, 0 at first, and its own number. 0, -ENOENT: there is
 * none; -EBADMSG: *nr is no batch, or damaged: it is called NAME.bad from now on; or -errno.
 */
int spool_get(struct spool *s, uint64_t after, struct pack *p, uint64_t *nr);
/* It is delivered. 0 or -errno. */
int spool_remove(struct spool *s, uint64_t nr);
/* How many are in it, not counting what is damaged. */
uint64_t spool_nr(const struct spool *s);
const char *spool_path(const struct spool *s);

#endif
