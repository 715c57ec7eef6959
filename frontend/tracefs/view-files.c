// SPDX-License-Identifier: GPL-2.0-or-later
/* view-files.c - the open files of a view. */
#include "frontend/tracefs/view-internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

/* A held instance keeps its directory, and what is known of it, from being removed. Locked. */
static int hold_instance(struct open_file *f, uint64_t number)
{
	f->dir = view_instance_numbered(f->view, number);
	if (!f->dir)
		return -ENOENT;
	f->instance = number ? instance_get(f->trace, f->dir->name) : trace_top(f->trace);
	return f->instance ? 0 : -ENOENT;
}

static void put_instance(struct open_file *f)
{
	if (f->dir->number)
		instance_put(f->instance);
}

static void link_file(struct open_file *f)
{
	f->next = f->view->open;
	if (f->next)
		f->next->prev = f;
	f->view->open = f;
}

static void unlink_file(struct open_file *f)
{
	if (f->next)
		f->next->prev = f->prev;
	if (f->prev)
		f->prev->next = f->next;
	else
		f->view->open = f->next;
}

/* The vCPU whose directory it is in. */
static int vcpu_of(struct view *v, struct place p)
{
	const struct tree_node *node = tree_node(v->tree, p.node);

	while (node->kind != TREE_VCPU && node->parent)
		node = tree_node(v->tree, node->parent);
	return node->kind == TREE_VCPU ? (int)p.number : ALL_VCPUS;
}

static int open_it(struct view *v, view_id id, int flags, struct open_file **file)
{
	struct place p = place_of(id);
	const struct tree_node *node = tree_node(v->tree, p.node);
	struct open_file *f;
	int rc;

	if (!node || !node->file)
		return node ? -EISDIR : -ENOENT;
	f = calloc(1, sizeof(*f));
	if (!f)
		return -ENOMEM;
	f->file = node->file;
	f->view = v;
	f->trace = v->trace;
	f->flags = flags;
	f->nonblock = flags & O_NONBLOCK;
	f->number = p.number;
	f->vcpu = vcpu_of(v, p);
	view_lock(v);
	rc = hold_instance(f, p.instance);
	view_unlock(v);
	if (rc) {
		free(f);
		return rc;
	}
	rc = f->file->open ? f->file->open(f) : 0;
	if (rc) {
		put_instance(f);
		free(f);
		return rc;
	}
	pthread_mutex_init(&f->lock, NULL);
	view_lock(v);
	link_file(f);
	view_unlock(v);
	*file = f;
	return 0;
}

int view_open(struct view *v, view_id id, int flags, struct open_file **file)
{
	int rc = view_enter(v);

	if (rc)
		return rc;
	rc = open_it(v, id, flags, file);
	view_leave(v);
	return rc;
}

void view_file_ends(struct open_file *f)
{
	if (f->over)
		return;
	if (f->file->release)
		f->file->release(f);
	view_lock(f->view);
	put_instance(f);
	view_unlock(f->view);
	f->instance = NULL;
	f->dir = NULL;
	f->trace = NULL;
	f->over = true;
}

void view_close(struct view *v, struct open_file *f)
{
	view_use(v);
	view_file_ends(f);
	view_lock(v);
	unlink_file(f);
	view_unlock(v);
	view_leave(v);
	text_free(&f->text);
	pthread_mutex_destroy(&f->lock);
	free(f);
}

bool view_is_stream(const struct open_file *f)
{
	return f->file->flags & TRACEFS_STREAM;
}

void view_set_nonblock(struct open_file *f, bool nonblock)
{
	f->nonblock = nonblock;
}

/* Text is made when the file is read from its beginning, and stays the same up to its end. */
static ssize_t read_text(struct open_file *f, char *buf, size_t len, off_t off)
{
	if (off == 0 || !f->shown) {
		text_free(&f->text);
		f->text = (struct text){0};
		trace_catch_up(f->trace);
		f->file->show(f, &f->text);
		f->shown = true;
	}
	return text_read(&f->text, buf, len, off);
}

static ssize_t read_it(struct open_file *f, void *buf, size_t len, off_t off)
{
	if (f->file->read)
		return f->file->read(f, buf, len, off);
	return f->file->show ? read_text(f, buf, len, off) : -EINVAL;
}

ssize_t view_read(struct open_file *f, void *buf, size_t len, off_t off)
{
	ssize_t n;

	if (!opened_to_read(f))
		return -EBADF;
	view_use(f->view);
	pthread_mutex_lock(&f->lock);
	n = f->over ? 0 : read_it(f, buf, len, off);
	pthread_mutex_unlock(&f->lock);
	view_leave(f->view);
	return n;
}

static ssize_t write_number(struct open_file *f, const char *text, size_t len)
{
	uint64_t value;
	int rc = parse_number(text, len, &value);

	if (!rc)
		rc = f->file->set(f, value);
	return rc ? rc : (ssize_t)len;
}

static ssize_t write_it(struct open_file *f, const char *text, size_t len, off_t off)
{
	if (f->file->write)
		return f->file->write(f, text, len, off);
	return f->file->set ? write_number(f, text, len) : -EINVAL;
}

ssize_t view_write(struct open_file *f, const char *text, size_t len, off_t off)
{
	ssize_t n;

	if (!opened_to_write(f))
		return -EBADF;
	view_use(f->view);
	pthread_mutex_lock(&f->lock);
	n = f->over ? -ENODEV : write_it(f, text, len, off);
	pthread_mutex_unlock(&f->lock);
	view_leave(f->view);
	return n;
}

bool view_can_wait(const struct open_file *f)
{
	return f->file->wait;
}

/* With the view in use. */
static bool wait_for(struct open_file *f, int timeout_ms)
{
	return f->over || !f->file->wait || f->file->wait(f, timeout_ms);
}

bool view_wait(struct open_file *f, int timeout_ms)
{
	bool there;

	view_use(f->view);
	there = wait_for(f, timeout_ms);
	view_leave(f->view);
	return there;
}

bool view_poll(struct open_file *f, int timeout_ms)
{
	bool there;

	view_use(f->view);
	there = f->over || !f->file->poll ? wait_for(f, timeout_ms) : f->file->poll(f, timeout_ms);
	view_leave(f->view);
	return there;
}
