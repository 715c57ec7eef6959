/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * loop.h - the threads that answer a mount's requests.
 *
 * As many as requests are under way and one more, as a request may wait for long (a read of
 * trace_pipe; those that do are limited, see requests.h). What libfuse's own loop does not: it ends
 * although somebody still has files open, and a file that is closed is closed for whoever asks for
 * something after that.
 */
#ifndef HVTRACE_FRONTEND_MOUNT_LOOP_H
#define HVTRACE_FRONTEND_MOUNT_LOOP_H

struct fuse_session;
struct loop;

/* Serve a mounted session. 0 or -errno. */
int loop_start(struct loop **loop, struct fuse_session *se);
/* Requests under way are answered, later ones are not. */
void loop_stop(struct loop *loop);

#endif
