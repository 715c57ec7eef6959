/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * wire.h - what goes over the socket of a trace: requests to open, read and write its files, and
 * their answers.
 *
 * Each request has one answer, and a connection has one file open at most. Numbers are in the
 * host's byte order: both ends are on one host. The first two members of a head stay what they are
 * in all versions.
 */
#ifndef HVTRACE_FRONTEND_CONTROL_WIRE_H
#define HVTRACE_FRONTEND_CONTROL_WIRE_H

#include <poll.h>
#include <stdbool.h>
#include <stdint.h>

#define WIRE_VERSION  1
#define WIRE_DATA_MAX 65536
#define WIRE_PATH_MAX 4096

enum wire_op {
	/*
	 * data: the path; value: flags of open(2). A directory reads as its list. Answer: 1 for
	 * what has no end but that of the trace, else 0.
	 */
	WIRE_OPEN = 1,
	WIRE_READ,  /* value: how many bytes at most. Answer: them; none: the end */
	WIRE_WRITE, /* data. Answer: how many of it were taken */
	WIRE_CLOSE,
	WIRE_MKDIR, /* data: the path */
	WIRE_RMDIR, /* the same */
	/*
	 * Answers: pieces of a snapshot of the guest, each a struct wire_piece and of value 1; then
	 * one of value 0, or an error, whose data is what there is to say about it.
	 */
	WIRE_SAVE,
};

struct wire_head {
	uint32_t len; /* of data */
	uint16_t version;
	uint16_t op;
	int32_t value; /* of answers: a negative errno on error, else as said above or 0 */
};

struct wire_message {
	struct wire_head head;
	char data[WIRE_DATA_MAX];
};

/* As data: bytes of a file, and their place in it. */
struct wire_piece {
	uint64_t at;
	char bytes[WIRE_DATA_MAX - sizeof(uint64_t)];
};

/* An end of a connection. */
struct wire {
	int fd;
	struct pollfd until; /* when this happens nobody waits any longer; fd -1: never */
};

/*
 * 0, -ECANCELED by `until`, -ECONNRESET when the other end is gone, or another -errno. What is in
 * m->data is not initialised behind m->head.len.
 */
int wire_send(const struct wire *w, const struct wire_message *m);
/* The same; -ETIMEDOUT when it has not been taken within ms (-1: for ever). */
int wire_send_within(const struct wire *w, const struct wire_message *m, int ms);
/*
 * The same; moreover -EPROTONOSUPPORT with only the head of a message of another version, -EPROTO
 * of one that is too long, -ETIMEDOUT when nothing begins to come within idle_ms (-1: for ever) or
 * the rest does not come soon.
 */
int wire_receive(const struct wire *w, struct wire_message *m, int idle_ms);
/* The other end is gone, or `until` has happened. */
bool wire_is_over(const struct wire *w);

#endif
