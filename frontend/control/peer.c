// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * peer.c - what one who has connected asks for, answered from a view.
 *
 * On a mount the kernel stands between who asks and the view: what it sees to there is seen to
 * here, with the same errors: files are read and written as they were opened, modes hold for all
 * but root, and what is made has a new name. Who asks owns the files: only root, whom it does not
 * matter to, may give them away.
 */
#include "frontend/control/peer.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* How soon it is noticed that a reader who waits has gone. */
#define TICK_MS 20

/* --- paths -------------------------------------------------------------------------------- */

static int take_path(const struct wire_message *m, char path[WIRE_PATH_MAX])
{
	size_t len = m->head.len;

	if (!len)
		return -ENOENT;
	if (len >= WIRE_PATH_MAX)
		return -ENAMETOOLONG;
	if (memchr(m->data, '\0', len))
		return -EINVAL;
	memcpy(path, m->data, len);
	path[len] = '\0';
	return 0;
}

static int permitted(struct peer *p, view_id id, mode_t bits)
{
	struct view_attr attr;
	int rc = view_attr(p->view, id, &attr);

	if (rc)
		return rc;
	return p->may_all || (attr.mode & bits) == bits ? 0 : -EACCES;
}

/* A name in a directory, which may be searched for it. */
static int step(struct peer *p, view_id *id, const char *name, size_t len)
{
	char one[NAME_MAX + 1];
	struct view_attr attr;
	int rc = view_attr(p->view, *id, &attr);

	if (!rc && !S_ISDIR(attr.mode))
		rc = -ENOTDIR;
	if (!rc)
		rc = permitted(p, *id, S_IXUSR);
	if (rc || (len == 1 && *name == '.'))
		return rc;
	if (len > NAME_MAX)
		return -ENAMETOOLONG;
	memcpy(one, name, len);
	one[len] = '\0';
	return view_lookup(p->view, *id, one, id);
}

static int walk(struct peer *p, const char *path, view_id *id)
{
	int rc = 0;

	*id = VIEW_ROOT;
	while (!rc && *path) {
		size_t len = strcspn(path, "/");

		if (len)
			rc = step(p, id, path, len);
		path += len + (path[len] == '/');
		if (!rc && len && !*path && path[-1] == '/')
			rc = step(p, id, ".", 1); /* nothing is below a file */
	}
	return rc;
}

/* The last name of a path, which is cut off it. */
static int split_path(char *path, const char **name)
{
	size_t len = strlen(path);
	char *slash;

	while (len && path[len - 1] == '/')
		path[--len] = '\0';
	slash = strrchr(path, '/');
	*name = slash ? slash + 1 : path;
	if (!**name || !strcmp(*name, ".") || !strcmp(*name, ".."))
		return -EINVAL;
	return strlen(*name) > NAME_MAX ? -ENAMETOOLONG : 0;
}

/* The directory that something is, or is to be, in: `path` is cut, too. */
static int find_parent(struct peer *p, char *path, const char **name, view_id *dir)
{
	int rc = split_path(path, name);

	*dir = VIEW_ROOT;
	if (rc || *name == path)
		return rc;
	path[*name - path - 1] = '\0';
	return walk(p, path, dir);
}

/* --- directories -------------------------------------------------------------------------- */

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct view_entry *)a)->name, ((const struct view_entry *)b)->name);
}

static int open_list(struct peer *p, view_id dir)
{
	struct view_entry *entries;
	ssize_t nr = view_list(p->view, dir, &entries);

	if (nr < 0)
		return (int)nr;
	if (nr)
		qsort(entries, (size_t)nr, sizeof(*entries), by_name);
	for (ssize_t i = 0; i < nr; i++) {
		text_puts(&p->list, entries[i].name);
		text_puts(&p->list, S_ISDIR(entries[i].mode) ? "/\n" : "\n");
	}
	free(entries);
	if (!p->list.failed)
		return 0;
	text_free(&p->list);
	p->list = (struct text){0};
	return -ENOMEM;
}

static ssize_t read_list(struct peer *p, char *buf, size_t len)
{
	size_t left = p->list.len - (size_t)p->at;

	if (len > left)
		len = left;
	if (len)
		memcpy(buf, p->list.buf + p->at, len);
	return (ssize_t)len;
}

static int make_directory(struct peer *p, char *path)
{
	const char *name;
	view_id dir, id;
	int rc = find_parent(p, path, &name, &dir);

	if (rc)
		return rc;
	id = dir;
	rc = step(p, &id, name, strlen(name));
	if (!rc)
		return -EEXIST;
	if (rc == -ENOENT)
		rc = permitted(p, dir, S_IWUSR);
	return rc ? rc : view_mkdir(p->view, dir, name, &id);
}

static int remove_directory(struct peer *p, char *path)
{
	struct view_attr attr;
	const char *name;
	view_id dir, id;
	int rc = find_parent(p, path, &name, &dir);

	id = dir;
	if (!rc)
		rc = step(p, &id, name, strlen(name));
	if (!rc)
		rc = permitted(p, dir, S_IWUSR);
	if (!rc)
		rc = view_attr(p->view, id, &attr);
	if (rc)
		return rc;
	return S_ISDIR(attr.mode) ? view_rmdir(p->view, dir, name) : -ENOTDIR;
}

/* --- files -------------------------------------------------------------------------------- */

static bool reads(int flags)
{
	return (flags & O_ACCMODE) != O_WRONLY;
}

static bool writes(int flags)
{
	return (flags & O_ACCMODE) != O_RDONLY;
}

static mode_t needed(int flags)
{
	mode_t bits = reads(flags) ? S_IRUSR : 0;

	return bits | (writes(flags) || flags & O_TRUNC ? S_IWUSR : 0);
}

static int open_path(struct peer *p, const char *path, int flags)
{
	struct view_attr attr;
	bool dir;
	view_id id;
	int rc;

	if (p->open)
		return -EMFILE;
	if (flags & ~(O_ACCMODE | O_TRUNC | O_APPEND) || (flags & O_ACCMODE) == O_ACCMODE)
		return -EINVAL;
	rc = walk(p, path, &id);
	if (!rc)
		rc = view_attr(p->view, id, &attr);
	if (rc)
		return rc;
	dir = S_ISDIR(attr.mode);
	if (dir && needed(flags) & S_IWUSR)
		return -EISDIR;
	rc = permitted(p, id, needed(flags));
	if (!rc)
		rc = dir ? open_list(p, id) : view_open(p->view, id, flags, &p->file);
	if (rc)
		return rc;
	p->open = dir ? PEER_LIST : PEER_FILE;
	p->flags = flags;
	p->at = 0;
	return p->open == PEER_FILE && view_can_wait(p->file);
}

static int close_file(struct peer *p)
{
	if (!p->open)
		return -EBADF;
	if (p->open == PEER_FILE)
		view_close(p->view, p->file);
	text_free(&p->list);
	p->list = (struct text){0};
	p->open = PEER_NOTHING;
	return 0;
}

/* Reads, or waits until there is something to read. */
static ssize_t read_or_wait(struct peer *p, char *buf, size_t len)
{
	for (;;) {
		/* Asked before: what was recorded until then is read. */
		bool over = p->is_over(p->arg);
		ssize_t n = view_read(p->file, buf, len, p->at);

		if (n != -EAGAIN || !view_can_wait(p->file))
			return n;
		if (over)
			return 0;
		view_wait(p->file, TICK_MS);
	}
}

static ssize_t read_file(struct peer *p, char *buf, int32_t len)
{
	ssize_t n;

	if (!p->open || !reads(p->flags))
		return -EBADF;
	if (len < 0)
		return -EINVAL;
	if (len > WIRE_DATA_MAX)
		len = WIRE_DATA_MAX;
	if (p->open == PEER_LIST)
		n = read_list(p, buf, (size_t)len);
	else
		n = read_or_wait(p, buf, (size_t)len);
	if (n > 0)
		p->at += n;
	return n;
}

/* As write(2): nothing at all does not get to the file. */
static ssize_t write_file(struct peer *p, const char *data, size_t len)
{
	ssize_t n;

	if (p->open != PEER_FILE || !writes(p->flags))
		return -EBADF;
	n = len ? view_write(p->file, data, len, p->at) : 0;
	if (n > 0)
		p->at += n;
	return n;
}

/* --- requests ----------------------------------------------------------------------------- */

static int with_path(struct peer *p, const struct wire_message *m)
{
	char path[WIRE_PATH_MAX];
	int rc = take_path(m, path);

	if (rc)
		return rc;
	switch (m->head.op) {
	case WIRE_OPEN:
		return open_path(p, path, m->head.value);
	case WIRE_MKDIR:
		return make_directory(p, path);
	default:
		return remove_directory(p, path);
	}
}

void peer_answer(struct peer *p, const struct wire_message *request, struct wire_message *answer)
{
	ssize_t n;

	answer->head = (struct wire_head){.op = request->head.op};
	switch (request->head.op) {
	case WIRE_OPEN:
	case WIRE_MKDIR:
	case WIRE_RMDIR:
		n = with_path(p, request);
		break;
	case WIRE_READ:
		n = read_file(p, answer->data, request->head.value);
		answer->head.len = n > 0 ? (uint32_t)n : 0;
		break;
	case WIRE_WRITE:
		n = write_file(p, request->data, request->head.len);
		break;
	case WIRE_CLOSE:
		n = close_file(p);
		break;
	default:
		n = -EOPNOTSUPP;
	}
	answer->head.value = (int32_t)n;
}

void peer_exit(struct peer *p)
{
	close_file(p);
}
