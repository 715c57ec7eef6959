// SPDX-License-Identifier: GPL-2.0-or-later
/* client.c - the files of a trace that another process serves. */
#include "frontend/control/client.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "frontend/control/wire.h"

struct control_client {
	struct wire wire;
	struct wire_message m; /* the request, then its answer */
};

struct control_client *control_client_new(int fd, int out)
{
	struct control_client *c = malloc(sizeof(*c));

	if (!c)
		close(fd);
	else /* Without a wish for events there are those that cannot be refused: it is closed. */
		c->wire = (struct wire){fd, {out, 0, 0}};
	return c;
}

void control_client_until(struct control_client *c, int fd)
{
	c->wire.until = (struct pollfd){fd, POLLIN, 0};
}

void control_client_free(struct control_client *c)
{
	if (!c)
		return;
	close(c->wire.fd);
	free(c);
}

static int ask(struct control_client *c, enum wire_op op, int value, const char *data, size_t len)
{
	int rc;

	if (len > sizeof(c->m.data))
		return -ENAMETOOLONG;
	c->m.head = (struct wire_head){(uint32_t)len, WIRE_VERSION, (uint16_t)op, value};
	if (len)
		memcpy(c->m.data, data, len);
	rc = wire_send(&c->wire, &c->m);
	/* Who is refused is told so without having been asked, and may not be listened to. */
	if (!rc || rc == -ECONNRESET)
		rc = wire_receive(&c->wire, &c->m, -1);
	return rc ? rc : c->m.head.value;
}

const char *control_strerror(int rc)
{
	switch (rc) {
	case -ECONNRESET:
		return "the trace has ended";
	case -EUSERS:
		return "too many programs are connected to the trace";
	case -EPROTONOSUPPORT:
		return "another version of hvtrace is tracing";
	case -ETIMEDOUT:
		return "the guest, or the trace, has not done it in time: is it very busy?";
	default:
		return strerror(-rc);
	}
}

int control_open(struct control_client *c, const char *path, int flags)
{
	return ask(c, WIRE_OPEN, flags, path, strlen(path));
}

ssize_t control_read(struct control_client *c, const char **data)
{
	int n = ask(c, WIRE_READ, WIRE_DATA_MAX, NULL, 0);

	*data = c->m.data;
	return n < 0 || (uint32_t)n == c->m.head.len ? n : -EPROTO;
}

ssize_t control_write(struct control_client *c, const char *data, size_t len)
{
	ssize_t n;

	if (len > WIRE_DATA_MAX)
		len = WIRE_DATA_MAX;
	n = ask(c, WIRE_WRITE, 0, data, len);
	return n <= (ssize_t)len ? n : -EPROTO;
}

int control_close(struct control_client *c)
{
	return ask(c, WIRE_CLOSE, 0, NULL, 0);
}

int control_read_all(struct control_client *c, const char *path, struct text *to)
{
	int rc = control_open(c, path, O_RDONLY), closed;
	const char *data;
	ssize_t n;

	if (rc < 0)
		return rc;
	while ((n = control_read(c, &data)) > 0)
		text_add(to, data, (size_t)n);
	closed = control_close(c);
	text_putc(to, '\0');
	if (n < 0 || closed)
		return n < 0 ? (int)n : closed;
	return to->failed ? -ENOMEM : 0;
}

int control_mkdir(struct control_client *c, const char *path)
{
	return ask(c, WIRE_MKDIR, 0, path, strlen(path));
}

int control_rmdir(struct control_client *c, const char *path)
{
	return ask(c, WIRE_RMDIR, 0, path, strlen(path));
}

/* What the other end says, as one line. */
static void take_words(const struct wire_message *m, char *err, size_t errlen)
{
	size_t len = m->head.len < errlen - 1 ? m->head.len : errlen - 1;

	for (size_t i = 0; i < len; i++)
		err[i] = m->data[i] < ' ' || m->data[i] == 0x7f ? '?' : m->data[i];
	err[len] = '\0';
}

static int put_piece(struct control_client *c,
		     int (*put)(void *arg, const void *data, size_t len, uint64_t at), void *arg)
{
	const struct wire_message *m = &c->m;
	uint64_t at;

	if (m->head.len < sizeof(at))
		return -EPROTO;
	memcpy(&at, m->data, sizeof(at));
	return put(arg, m->data + sizeof(at), m->head.len - sizeof(at), at);
}

int control_save(struct control_client *c,
		 int (*put)(void *arg, const void *data, size_t len, uint64_t at), void *arg,
		 char *err, size_t errlen)
{
	int rc = ask(c, WIRE_SAVE, 0, NULL, 0);

	while (rc == 1) {
		rc = put_piece(c, put, arg);
		if (!rc)
			rc = wire_receive(&c->wire, &c->m, -1);
		if (!rc)
			rc = c->m.head.value;
	}
	if (rc > 0)
		rc = -EPROTO;
	if (rc && rc == c->m.head.value && c->m.head.len)
		take_words(&c->m, err, errlen);
	else
		snprintf(err, errlen, "%s", control_strerror(rc));
	return rc;
}
