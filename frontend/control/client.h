/* SPDX-License-Identifier: GPL-2.0-or-later */
/* client.h - the files of a trace that another process serves. */
#ifndef HVTRACE_FRONTEND_CONTROL_CLIENT_H
#define HVTRACE_FRONTEND_CONTROL_CLIENT_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "tracer/tracer.h"

struct control_client;

/*
 * On a connected socket, which is the client's from then on, also on error. Nobody waits for an
 * answer once what is written to the descriptor `out` reaches nobody any more (-ECANCELED); -1: for
 * as long as it takes. NULL: no memory.
 */
struct control_client *control_client_new(int fd, int out);
/* Nor once this descriptor can be read, which takes the place of `out`: struct cancel's. */
void control_client_until(struct control_client *c, int fd);
void control_client_free(struct control_client *c); /* NULL is allowed */

/*
 * As the system calls, with one file open at most; a directory reads as its list, one name a line.
 * A negative errno on error: of the file's, -ECONNRESET when the trace has ended, -EUSERS when too
 * many are connected, -EPROTONOSUPPORT when it is another version of hvtrace that traces.
 */
#define CONTROL_STREAM 1 /* control_open() of a file whose end is that of the trace */
int control_open(struct control_client *c, const char *path, int flags);
/* *data until the next call. */
ssize_t control_read(struct control_client *c, const char **data);
ssize_t control_write(struct control_client *c, const char *data, size_t len);
int control_close(struct control_client *c);
/* All of a file, with a '\0' behind it, which is part of the text. 0, or as these; text_free(). */
int control_read_all(struct control_client *c, const char *path, struct text *to);
int control_mkdir(struct control_client *c, const char *path);
int control_rmdir(struct control_client *c, const char *path);

/*
 * A snapshot of the guest, as it is while it is traced: put() gets its bytes and their places, and
 * says 0, or -errno, which ends it. 0; or an error as above and err is what there is to say.
 */
int control_save(struct control_client *c,
		 int (*put)(void *arg, const void *data, size_t len, uint64_t at), void *arg,
		 char *err, size_t errlen);

/* What such an error means, for the user. */
const char *control_strerror(int rc);

#endif
