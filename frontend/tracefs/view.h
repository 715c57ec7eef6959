/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * view.h - the tree of files of a trace, and its open files: what a file system, or anything else
 * that names files, asks for. Nothing here knows of FUSE. Any thread may call.
 *
 * What gives int or ssize_t gives a negative errno on error: the kernel's.
 */
#ifndef HVTRACE_FRONTEND_TRACEFS_VIEW_H
#define HVTRACE_FRONTEND_TRACEFS_VIEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct open_file;
struct text;
struct trace;
struct view;

/* A file or a directory; never used again for another one. */
typedef uint64_t view_id;

#define VIEW_ROOT ((view_id)1)

/* machine: what the guest runs in, for hvtrace/machine; may be NULL. NULL: no memory. */
struct view *view_new(struct trace *t, const char *machine);
/* Closes what is open. NULL is allowed. */
void view_free(struct view *v);

/*
 * view_follow() may come: no name is said to stay for good. Before anybody knows the view.
 */
void view_may_follow(struct view *v);
/*
 * The files are those of another trace from now on, and the one before is not used any more when
 * this is back. What is open of it reads as at its end, and what is written to it fails; instances
 * are those of the new one. Waits for what is under way: the trace before is left (trace_leave()).
 * NULL: there is no trace for now, and all fails with -ENODEV.
 */
void view_follow(struct view *v, struct trace *t);

int view_lookup(struct view *v, view_id dir, const char *name, view_id *id);
/* The same for a whole path, with '/' between names. */
int view_find(struct view *v, const char *path, view_id *id);

/*
 * Whether its name is that of the same file for good: instances and events of the host come and go,
 * and so does all that is in them.
 */
bool view_stays(struct view *v, view_id id);

struct view_attr {
	mode_t mode; /* type and permissions, as st_mode */
	uid_t uid;
	gid_t gid;
};

enum view_attr_field {
	VIEW_ATTR_MODE = 1 << 0,
	VIEW_ATTR_UID = 1 << 1,
	VIEW_ATTR_GID = 1 << 2,
};

int view_attr(struct view *v, view_id id, struct view_attr *attr);
/* chmod(2) and chown(2); who may is for the caller to see to. */
int view_set_attr(struct view *v, view_id id, const struct view_attr *attr, unsigned int fields);
/* Let others into the root, whom the modes of the files may forbid to look at all the same. */
int view_allow_other(struct view *v);

struct view_entry {
	view_id id;
	mode_t mode;
	char name[256];
};

/* What is in a directory: *entries to be freed by free(). Their number. */
ssize_t view_list(struct view *v, view_id dir, struct view_entry **entries);

/* Only instances are made and removed. */
int view_mkdir(struct view *v, view_id dir, const char *name, view_id *id);
int view_rmdir(struct view *v, view_id dir, const char *name);

/* flags as for open(2); whether the modes allow it is for the caller to see to. */
int view_open(struct view *v, view_id id, int flags, struct open_file **file);
void view_close(struct view *v, struct open_file *file);
/* Reads have no position: lseek(2) makes no sense. */
bool view_is_stream(const struct open_file *file);
/* fcntl(2) may have changed it since. */
void view_set_nonblock(struct open_file *file, bool nonblock);
/*
 * -EAGAIN: nothing yet; view_wait() tells when to try again. 0 is the end. -EBADF, as of a write:
 * it was not opened for that.
 */
ssize_t view_read(struct open_file *file, void *buf, size_t len, off_t off);
ssize_t view_write(struct open_file *file, const char *text, size_t len, off_t off);
/* All that is in a file now, behind what is in *to. -ESPIPE: there is no end to what it gives. */
int view_read_all(struct view *v, view_id id, struct text *to);
/* What view_read() could say -EAGAIN for. */
bool view_can_wait(const struct open_file *file);
/* Whether a read would give something now, or the end; waits for it at most timeout_ms. */
bool view_wait(struct open_file *file, int timeout_ms);
/* Whether poll(2) says that it can be read; likewise. Files may want more to be there for it. */
bool view_poll(struct open_file *file, int timeout_ms);

#endif
