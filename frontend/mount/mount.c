// SPDX-License-Identifier: GPL-2.0-or-later
/* mount.c - a view as a mounted file system. */
#include "frontend/mount/mount.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "frontend/mount/fuse.h"
#include "frontend/mount/loop.h"
#include "frontend/mount/mountpoint.h"
#include "frontend/mount/requests.h"

struct tracefs {
	struct server server;
	struct mountpoint at;
	struct fuse_session *se;
	struct loop *loop;
	void (*unmount)(void *arg);
	void *arg;
};

static struct fuse_session *new_session(struct server *s, bool allow_other)
{
	char name[] = "hvtrace", o[] = "-o";
	char mine[] = "default_permissions,nosuid,nodev,noexec,fsname=hvtrace,subtype=hvtrace";
	char others[] = "allow_other";
	char *argv[] = {name, o, mine, o, others};
	struct fuse_args args = FUSE_ARGS_INIT(allow_other ? 5 : 3, argv);
	struct fuse_session *se = fuse_session_new(&args, &server_ops, sizeof(server_ops), s);

	fuse_opt_free_args(&args);
	return se;
}

static int serve(struct tracefs *fs, bool allow_other, char *err, size_t errlen)
{
	int rc;

	fs->se = new_session(&fs->server, allow_other);
	if (!fs->se) {
		snprintf(err, errlen, "cannot set up a FUSE session");
		return -1;
	}
	if (access("/dev/fuse", R_OK | W_OK)) {
		snprintf(err, errlen,
			 "cannot open /dev/fuse: %s; --no-mount does without the files",
			 strerror(errno));
		goto err_session;
	}
	/* As root it is this directory, whatever is called so by now; see mountpoint.c. */
	if (fuse_session_mount(fs->se, geteuid() ? fs->at.dir : fs->at.place)) {
		snprintf(err, errlen, "cannot mount on %s%s", fs->at.dir,
			 geteuid() ? ": is fusermount3 installed (package fuse3)?" : "");
		goto err_session;
	}
	rc = loop_start(&fs->loop, fs->se);
	if (!rc)
		return 0;
	snprintf(err, errlen, "cannot start a thread to serve %s: %s", fs->at.dir, strerror(-rc));
	fuse_session_unmount(fs->se);
err_session:
	fuse_session_destroy(fs->se);
	return -1;
}

struct tracefs *tracefs_mount(struct view *view, const struct tracefs_config *cfg, char *err,
			      size_t errlen)
{
	struct tracefs *fs = calloc(1, sizeof(*fs));

	if (!fs || (cfg->allow_other && view_allow_other(view))) {
		snprintf(err, errlen, "no memory for a mount");
		free(fs);
		return NULL;
	}
	fs->unmount = cfg->unmount;
	fs->arg = cfg->arg;
	server_init(&fs->server, view);
	if (mountpoint_init(&fs->at, cfg->dir, cfg->guest, cfg->allow_other, err, errlen))
		goto err_server;
	if (serve(fs, cfg->allow_other, err, errlen))
		goto err_mountpoint;
	return fs;

err_mountpoint:
	mountpoint_exit(&fs->at);
err_server:
	server_exit(&fs->server);
	free(fs);
	return NULL;
}

const char *tracefs_dir(const struct tracefs *fs)
{
	return fs->at.dir;
}

int tracefs_leave(const struct tracefs *fs)
{
	return mountpoint_leave(&fs->at);
}

void tracefs_unmount(struct tracefs *fs)
{
	if (!fs)
		return;
	server_see_off(&fs->server);
	loop_stop(fs->loop);
	server_exit(&fs->server); /* before the session goes, through which polls are told */
	if (fs->unmount)
		fs->unmount(fs->arg);
	/* Detaches it from the directory, and ends the connection: open files get ENOTCONN. */
	fuse_session_unmount(fs->se);
	fuse_session_destroy(fs->se);
	mountpoint_exit(&fs->at);
	free(fs);
}
