/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fuse-replies.h - in place of libfuse: requests, and what is answered to them, once each. */
#ifndef HVTRACE_TESTS_FUSE_REPLIES_H
#define HVTRACE_TESTS_FUSE_REPLIES_H

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "frontend/mount/fuse.h"
#include "frontend/mount/requests.h"

struct fuse_req {
	struct server *server;
	unsigned int answers;
	bool lost;	  /* who asked has been killed: opening fails */
	bool interrupted; /* who asked is to be sent away */
	int err;
	fuse_ino_t ino;	   /* of an entry */
	struct handle *fh; /* of what was opened */
	size_t len;
};

struct fuse_pollhandle {
	int nothing;
};

static atomic_int poll_handles, requests;

void *fuse_req_userdata(fuse_req_t req)
{
	return req->server;
}

int fuse_req_interrupted(fuse_req_t req)
{
	return req->interrupted;
}

static int answer(fuse_req_t req, int err)
{
	if (req->answers++ || err < 0 || err > 4095)
		abort();
	req->err = err;
	return 0;
}

int fuse_reply_err(fuse_req_t req, int err)
{
	return answer(req, err);
}

int fuse_reply_entry(fuse_req_t req, const struct fuse_entry_param *e)
{
	req->ino = e->ino;
	if (!e->ino || e->attr.st_ino != e->ino)
		abort();
	return answer(req, 0);
}

int fuse_reply_attr(fuse_req_t req, const struct stat *attr, double timeout)
{
	(void)timeout;
	if (!S_ISREG(attr->st_mode) && !S_ISDIR(attr->st_mode))
		abort();
	return answer(req, 0);
}

int fuse_reply_open(fuse_req_t req, const struct fuse_file_info *fi)
{
	answer(req, 0);
	if (req->lost)
		return -ENOENT;
	req->fh = (struct handle *)(uintptr_t)fi->fh;
	return 0;
}

int fuse_reply_buf(fuse_req_t req, const char *buf, size_t size)
{
	static char copy[1 << 18];

	if (size > sizeof(copy))
		abort();
	memcpy(copy, buf, size);
	req->len = size;
	return answer(req, 0);
}

int fuse_reply_write(fuse_req_t req, size_t count)
{
	req->len = count;
	return answer(req, 0);
}

int fuse_reply_poll(fuse_req_t req, unsigned int revents)
{
	(void)revents;
	return answer(req, 0);
}

int fuse_lowlevel_notify_poll(struct fuse_pollhandle *ph)
{
	return ph ? 0 : -EINVAL;
}

void fuse_pollhandle_destroy(struct fuse_pollhandle *ph)
{
	free(ph);
	poll_handles--;
}

#endif
