// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * requests.c - what FUSE asks, answered from a view.
 *
 * Permissions are the kernel's to check (default_permissions): who may open a file that cannot be
 * read or written, as root may, is told EINVAL then, as tracefs does. Attributes are not kept by
 * the kernel, which would let files grow that are written to; nor are the names of instances.
 */
#include "frontend/mount/requests.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "frontend/mount/fuse.h"
#include "frontend/mount/watch.h"

/* How long the kernel may remember that a name is there. */
#define NAME_SECONDS 1.0
/* What the kernel holds by its address; also when it is gone without releasing it. */
struct held {
	struct held *prev, *next;
	void (*free)(struct server *s, struct held *held);
};

struct handle {
	struct held held;
	struct open_file *file;
	struct watch watch;
};

void server_init(struct server *s, struct view *view)
{
	s->view = view;
	pthread_mutex_init(&s->lock, NULL);
	see_off_init(s);
	waiting_init(&s->waiting);
}

static void hold(struct server *s, struct held *held, void (*done)(struct server *, struct held *))
{
	held->free = done;
	pthread_mutex_lock(&s->lock);
	held->next = s->held;
	if (held->next)
		held->next->prev = held;
	s->held = held;
	pthread_mutex_unlock(&s->lock);
}

static void let_go(struct server *s, struct held *held)
{
	pthread_mutex_lock(&s->lock);
	if (held->next)
		held->next->prev = held->prev;
	if (held->prev)
		held->prev->next = held->next;
	else
		s->held = held->next;
	pthread_mutex_unlock(&s->lock);
	held->free(s, held);
}

void server_exit(struct server *s)
{
	atomic_store(&s->ending, true);
	waiting_stop(&s->waiting);
	while (s->held)
		let_go(s, s->held);
	waiting_exit(&s->waiting);
	pthread_cond_destroy(&s->closed);
	pthread_mutex_destroy(&s->lock);
}

static struct server *server_of(fuse_req_t req)
{
	return fuse_req_userdata(req);
}

static struct handle *handle_of(const struct fuse_file_info *fi)
{
	return (struct handle *)(uintptr_t)fi->fh;
}

/* --- names and attributes ----------------------------------------------------------------- */

static void init(void *arg, struct fuse_conn_info *conn)
{
	(void)arg;
	/* Without it a file is truncated before it is opened, and we do not know for whom. */
	conn->want |= conn->capable & FUSE_CAP_ATOMIC_O_TRUNC;
	/* Releases, which are sent in the background, shall not queue up behind each other. */
	conn->max_background = 4096;
	conn->congestion_threshold = 4096;
}

static int fill_stat(struct server *s, view_id id, struct stat *st)
{
	struct view_attr attr;
	int rc = view_attr(s->view, id, &attr);

	if (rc)
		return rc;
	*st = (struct stat){
		.st_ino = id,
		.st_mode = attr.mode,
		.st_nlink = 1, /* of a directory: unknown */
		.st_uid = attr.uid,
		.st_gid = attr.gid,
		.st_blksize = 4096,
	};
	return 0;
}

static void reply_entry(fuse_req_t req, view_id id)
{
	struct fuse_entry_param e = {.ino = id};
	int rc = fill_stat(server_of(req), id, &e.attr);

	if (view_stays(server_of(req)->view, id))
		e.entry_timeout = NAME_SECONDS;
	if (rc)
		fuse_reply_err(req, -rc);
	else
		fuse_reply_entry(req, &e);
}

static void do_lookup(fuse_req_t req, fuse_ino_t parent, const char *name)
{
	view_id id = 0;
	int rc = view_lookup(server_of(req)->view, parent, name, &id);

	if (rc)
		fuse_reply_err(req, -rc);
	else
		reply_entry(req, id);
}

static void do_getattr(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	struct stat st;
	int rc = fill_stat(server_of(req), ino, &st);

	(void)fi;
	if (rc)
		fuse_reply_err(req, -rc);
	else
		fuse_reply_attr(req, &st, 0.0);
}

/* truncate(2) does nothing to a file of tracefs: opening it does. */
static void do_setattr(fuse_req_t req, fuse_ino_t ino, struct stat *attr, int set,
		       struct fuse_file_info *fi)
{
	const struct view_attr want = {attr->st_mode, attr->st_uid, attr->st_gid};
	unsigned int fields = (set & FUSE_SET_ATTR_MODE ? VIEW_ATTR_MODE : 0) |
			      (set & FUSE_SET_ATTR_UID ? VIEW_ATTR_UID : 0) |
			      (set & FUSE_SET_ATTR_GID ? VIEW_ATTR_GID : 0);
	int rc = fields ? view_set_attr(server_of(req)->view, ino, &want, fields) : 0;

	if (rc)
		fuse_reply_err(req, -rc);
	else
		do_getattr(req, ino, fi);
}

static void do_mkdir(fuse_req_t req, fuse_ino_t parent, const char *name, mode_t mode)
{
	view_id id = 0;
	int rc = view_mkdir(server_of(req)->view, parent, name, &id);

	(void)mode;
	if (rc)
		fuse_reply_err(req, -rc);
	else
		reply_entry(req, id);
}

static void do_rmdir(fuse_req_t req, fuse_ino_t parent, const char *name)
{
	fuse_reply_err(req, -view_rmdir(server_of(req)->view, parent, name));
}

static void do_unlink(fuse_req_t req, fuse_ino_t parent, const char *name)
{
	(void)parent;
	(void)name;
	fuse_reply_err(req, EPERM);
}

/* As the shell's `>` sees it when there is no such file. */
static void do_create(fuse_req_t req, fuse_ino_t parent, const char *name, mode_t mode,
		      struct fuse_file_info *fi)
{
	(void)parent;
	(void)name;
	(void)mode;
	(void)fi;
	fuse_reply_err(req, EACCES);
}

/* --- directories: what was in them when they were opened ---------------------------------- */

struct listing {
	struct held held;
	struct view_entry *entries;
	size_t nr;
};

static void listing_free(struct server *s, struct held *held)
{
	struct listing *l = (struct listing *)held;

	(void)s;
	free(l->entries);
	free(l);
}

static void do_opendir(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	struct server *s = server_of(req);
	struct listing *l = calloc(1, sizeof(*l));
	ssize_t nr = l ? view_list(s->view, ino, &l->entries) : -ENOMEM;

	if (nr < 0) {
		free(l);
		fuse_reply_err(req, (int)-nr);
		return;
	}
	l->nr = (size_t)nr;
	fi->fh = (uintptr_t)l;
	hold(s, &l->held, listing_free);
	if (fuse_reply_open(req, fi))
		let_go(s, &l->held);
}

static void do_releasedir(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	struct listing *l = (struct listing *)(uintptr_t)fi->fh;

	(void)ino;
	let_go(server_of(req), &l->held);
	fuse_reply_err(req, 0);
}

/* Entry n, with "." and ".." before those of the directory. */
static size_t add_entry(fuse_req_t req, char *buf, size_t room, fuse_ino_t dir,
			const struct listing *l, size_t n)
{
	const char *dots = n ? ".." : ".";
	const struct view_entry *e = n < 2 ? NULL : &l->entries[n - 2];
	struct stat st = {
		.st_ino = e ? e->id : dir,
		.st_mode = e ? e->mode : S_IFDIR,
	};

	return fuse_add_direntry(req, buf, room, e ? e->name : dots, &st, (off_t)n + 1);
}

static void do_readdir(fuse_req_t req, fuse_ino_t ino, size_t size, off_t off,
		       struct fuse_file_info *fi)
{
	const struct listing *l = (struct listing *)(uintptr_t)fi->fh;
	char *buf = malloc(size);
	size_t at = 0;

	if (!buf) {
		fuse_reply_err(req, ENOMEM);
		return;
	}
	for (size_t n = (size_t)off; n < l->nr + 2; n++) {
		size_t len = add_entry(req, buf + at, size - at, ino, l, n);

		if (len > size - at)
			break;
		at += len;
	}
	fuse_reply_buf(req, buf, at);
	free(buf);
}

/* --- files -------------------------------------------------------------------------------- */

static void handle_free(struct server *s, struct held *held)
{
	struct handle *h = (struct handle *)held;

	watch_exit(&h->watch, &s->waiting);
	server_count_waiter(s, h->file, -1);
	view_close(s->view, h->file);
	free(h);
}

static void do_open(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	struct server *s = server_of(req);
	struct handle *h = calloc(1, sizeof(*h));
	int rc = h ? view_open(s->view, ino, fi->flags, &h->file) : -ENOMEM;

	if (rc) {
		free(h);
		fuse_reply_err(req, -rc);
		return;
	}
	watch_init(&h->watch, h->file, &s->ending);
	server_count_waiter(s, h->file, 1);
	hold(s, &h->held, handle_free);
	fi->fh = (uintptr_t)h;
	fi->direct_io = 1; /* files have no size, and each read and write counts */
	fi->nonseekable = view_is_stream(h->file);
	fi->noflush = 1;
	/* Fails when who opened it has been killed meanwhile: there will be no release. */
	if (fuse_reply_open(req, fi))
		let_go(s, &h->held);
}

static void do_release(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	(void)ino;
	let_go(server_of(req), &handle_of(fi)->held);
	fuse_reply_err(req, 0);
}

/* A read that waits. */
struct pending {
	struct waiter waiter;
	fuse_req_t req;
	struct open_file *file;
	size_t size;
	off_t off;
};

/* -EAGAIN when there is nothing yet. */
static ssize_t read_or_end(fuse_req_t req, struct open_file *file, char *buf, size_t size,
			   off_t off)
{
	struct server *s = server_of(req);
	ssize_t n =
		view_can_wait(file) && atomic_load(&s->over) ? 0 : view_read(file, buf, size, off);

	return n == -EAGAIN && atomic_load(&s->ending) ? 0 : n;
}

/* The same of one who may wait. */
static ssize_t read_now(fuse_req_t req, struct open_file *file, char *buf, size_t size, off_t off)
{
	ssize_t n = read_or_end(req, file, buf, size, off);

	if (n != -EAGAIN)
		return n;
	return fuse_req_interrupted(req) ? -EINTR : n;
}

static void reply_read(fuse_req_t req, const char *buf, ssize_t n)
{
	if (n < 0)
		fuse_reply_err(req, (int)-n);
	else
		fuse_reply_buf(req, buf, (size_t)n);
}

static bool look_at_pending(struct waiter *waiter, int timeout_ms)
{
	struct pending *p = (struct pending *)waiter;
	ssize_t n = -ENOMEM;
	char *buf;

	view_wait(p->file, timeout_ms);
	buf = malloc(p->size ? p->size : 1);
	if (buf)
		n = read_now(p->req, p->file, buf, p->size, p->off);
	if (n != -EAGAIN)
		reply_read(p->req, buf, n);
	free(buf);
	if (n == -EAGAIN)
		return false;
	free(p);
	return true;
}

/* Let it wait with the others of its kind. It has memory of its own then. */
static void wait_with_others(fuse_req_t req, struct open_file *file, size_t size, off_t off)
{
	struct pending *p = malloc(sizeof(*p));
	int rc;

	if (!p) {
		fuse_reply_err(req, ENOMEM);
		return;
	}
	*p = (struct pending){{.look = look_at_pending}, req, file, size, off};
	rc = waiting_add(&server_of(req)->waiting, &p->waiter);
	if (rc) {
		free(p);
		fuse_reply_err(req, -rc);
	}
}

/* -EAGAIN: there are too many who wait on a thread already. */
static ssize_t wait_alone(fuse_req_t req, struct open_file *file, char *buf, size_t size, off_t off)
{
	struct server *s = server_of(req);
	ssize_t n = -EAGAIN;

	if (atomic_fetch_add(&s->reads, 1) < READS_WITH_THREAD) {
		do {
			view_wait(file, WAIT_TICK_MS);
			n = read_now(req, file, buf, size, off);
		} while (n == -EAGAIN);
	}
	atomic_fetch_sub(&s->reads, 1);
	return n;
}

static void do_read(fuse_req_t req, fuse_ino_t ino, size_t size, off_t off,
		    struct fuse_file_info *fi)
{
	struct open_file *file = handle_of(fi)->file;
	bool may_wait = view_can_wait(file) && !(fi->flags & O_NONBLOCK);
	ssize_t n = -ENOMEM;
	char *buf;

	(void)ino;
	/*
	 * A long read(2) is cut in pieces, the next of which is asked for when one was filled: that
	 * would wait with what has been read already.
	 */
	if (view_can_wait(file) && size > 65536)
		size = 65536 - 1;
	view_set_nonblock(file, fi->flags & O_NONBLOCK);
	buf = malloc(size ? size : 1);
	if (buf)
		n = read_or_end(req, file, buf, size, off);
	if (n == -EAGAIN && may_wait)
		n = wait_alone(req, file, buf, size, off);
	if (n == -EAGAIN && may_wait)
		wait_with_others(req, file, size, off);
	else
		reply_read(req, buf, n);
	free(buf);
}

static void do_write(fuse_req_t req, fuse_ino_t ino, const char *buf, size_t size, off_t off,
		     struct fuse_file_info *fi)
{
	ssize_t n = view_write(handle_of(fi)->file, buf, size, off);

	(void)ino;
	if (n < 0)
		fuse_reply_err(req, (int)-n);
	else
		fuse_reply_write(req, (size_t)n);
}

static void do_poll(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi,
		    struct fuse_pollhandle *ph)
{
	struct handle *h = handle_of(fi);
	unsigned int events = POLLIN | POLLRDNORM;

	(void)ino;
	if (!view_can_wait(h->file)) {
		events |= POLLOUT | POLLWRNORM;
		if (ph)
			fuse_pollhandle_destroy(ph);
	} else {
		/* First, so that nothing is missed between it and the answer. */
		if (ph)
			watch_file(&h->watch, &server_of(req)->waiting, ph);
		if (atomic_load(&server_of(req)->ending))
			events |= POLLHUP;
		else if (!view_poll(h->file, 0))
			events = 0;
	}
	fuse_reply_poll(req, events);
}

const struct fuse_lowlevel_ops server_ops = {
	.init = init,
	.lookup = do_lookup,
	.getattr = do_getattr,
	.setattr = do_setattr,
	.mkdir = do_mkdir,
	.rmdir = do_rmdir,
	.unlink = do_unlink,
	.create = do_create,
	.opendir = do_opendir,
	.readdir = do_readdir,
	.releasedir = do_releasedir,
	.open = do_open,
	.release = do_release,
	.read = do_read,
	.write = do_write,
	.poll = do_poll,
};
