// SPDX-License-Identifier: GPL-2.0-or-later
/* read.c - a file that says that it is a snapshot, and may hold anything. */
#include "vmm/kvm/state/state.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PAGE 4096u

/* --- sections ------------------------------------------------------------------------------ */

/* The section at *at, and *at behind it. False: none that fits into what is left. */
static bool section_next(const uint8_t *data, size_t len, size_t *at,
			 struct state_section_head *head)
{
	size_t left = len - *at, padded;

	if (left < sizeof(*head))
		return false;
	memcpy(head, data + *at, sizeof(*head));
	left -= sizeof(*head);
	if (head->len > left)
		return false;
	padded = ((size_t)head->len + 7) & ~(size_t)7;
	if (padded > left)
		return false;
	*at += sizeof(*head) + padded;
	return true;
}

static int compare_keys(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* Each one once. */
static bool keys_differ(uint64_t *key, size_t n)
{
	qsort(key, n, sizeof(*key), compare_keys);
	for (size_t i = 1; i < n; i++) {
		if (key[i] == key[i - 1])
			return false;
	}
	return true;
}

bool state_sections_are_sane(const uint8_t *data, size_t len)
{
	uint64_t *key = calloc(STATE_SECTION_MAX, sizeof(*key));
	struct state_section_head head;
	size_t at = 0, n = 0;
	bool sane = key;

	while (sane && at < len) {
		sane = n < STATE_SECTION_MAX && section_next(data, len, &at, &head) && head.type &&
		       head.type < STATE_TYPES;
		if (sane)
			key[n++] = (uint64_t)head.type << 32 | head.index;
	}
	if (sane)
		sane = keys_differ(key, n);
	free(key);
	return sane;
}

const void *state_get(const struct state_file *f, enum state_type type, uint32_t index, size_t *len)
{
	struct state_section_head head;
	size_t at = 0, from = 0;

	while (at < f->len && section_next(f->data, f->len, &at, &head)) {
		if (head.type == type && head.index == index) {
			*len = (size_t)head.len;
			return f->data + from + sizeof(head);
		}
		from = at;
	}
	return NULL;
}

const void *state_get_sized(const struct state_file *f, enum state_type type, uint32_t index,
			    size_t len)
{
	size_t have = 0;
	const void *data = state_get(f, type, index, &have);

	return have == len ? data : NULL;
}

/* --- the file ------------------------------------------------------------------------------ */

static int read_all(int fd, void *to, size_t len, uint64_t at)
{
	uint8_t *p = to;

	while (len) {
		ssize_t n = pread(fd, p, len, (off_t)at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? -errno : -ENODATA;
		p += n;
		at += (uint64_t)n;
		len -= (size_t)n;
	}
	return 0;
}

static int refuse(int rc, const char *why, char *err, size_t errlen)
{
	snprintf(err, errlen, "%s", why);
	return rc;
}

static int header_check(const struct state_header *h, uint64_t size, char *err, size_t errlen)
{
	if (memcmp(h->magic, STATE_MAGIC, sizeof(h->magic)) != 0)
		return refuse(-EINVAL, "no complete snapshot of hvtrace's", err, errlen);
	if (h->version != STATE_VERSION) {
		snprintf(err, errlen, "a snapshot of version %u, where this hvtrace reads %d",
			 h->version, STATE_VERSION);
		return -EINVAL;
	}
	if (h->size != sizeof(*h) ||
	    h->header_sum != state_sum(h, offsetof(struct state_header, header_sum)) ||
	    !h->memory || h->memory % PAGE || h->sections > STATE_LEN_MAX || size < STATE_RAM_AT ||
	    h->memory > size - STATE_RAM_AT || h->sections != size - STATE_RAM_AT - h->memory)
		return refuse(-EINVAL, "the snapshot is damaged, or not all of it is there", err,
			      errlen);
	return 0;
}

static int read_sections(struct state_file *f, const struct state_header *h, char *err,
			 size_t errlen)
{
	int rc;

	f->memory = h->memory;
	f->len = (size_t)h->sections;
	f->data = malloc(f->len + 1);
	if (!f->data)
		return refuse(-ENOMEM, "no memory", err, errlen);
	rc = read_all(f->fd, f->data, f->len, STATE_RAM_AT + h->memory);
	if (rc)
		return refuse(rc, strerror(-rc), err, errlen);
	if (state_sum(f->data, f->len) != h->sum || !state_sections_are_sane(f->data, f->len))
		return refuse(-EINVAL, "the snapshot is damaged", err, errlen);
	return 0;
}

static int open_regular(const char *path, struct stat *st, char *err, size_t errlen)
{
	/* A FIFO nobody writes to, or a terminal, is no reason to wait. */
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

	if (fd < 0 || fstat(fd, st)) {
		int rc = -errno;

		if (fd >= 0)
			close(fd);
		return refuse(rc, strerror(-rc), err, errlen);
	}
	if (S_ISREG(st->st_mode))
		return fd;
	close(fd);
	return refuse(-EINVAL, "not a regular file", err, errlen);
}

int state_open(struct state_file *f, const char *path, char *err, size_t errlen)
{
	struct state_header h = {.magic = ""};
	struct stat st = {.st_size = 0};
	int rc;

	*f = (struct state_file){.fd = open_regular(path, &st, err, errlen)};
	if (f->fd < 0)
		return f->fd;
	rc = read_all(f->fd, &h, sizeof(h), 0);
	if (rc && rc != -ENODATA)
		refuse(rc, strerror(-rc), err, errlen);
	else
		rc = header_check(&h, (uint64_t)st.st_size, err, errlen);
	if (!rc)
		rc = read_sections(f, &h, err, errlen);
	if (rc)
		state_close(f);
	return rc;
}

void state_close(struct state_file *f)
{
	if (f->fd >= 0)
		close(f->fd);
	free(f->data);
	f->fd = -1;
	f->data = NULL;
}
