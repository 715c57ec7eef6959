// SPDX-License-Identifier: GPL-2.0-or-later
/* stream.c - see stream.h */
#include "vmm/kvm/net/stream.h"

#include <arpa/inet.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

#define PARTS_MAX 257u /* a chain's buffers, and the length */

/* --- sending --------------------------------------------------------------------------------- */

/* SIGPIPE is blocked in all threads but the main one, as all signals are. */
int stream_ready(struct stream *s)
{
	while (s->out_from < s->out_to) {
		ssize_t done = write(s->fd, s->out + s->out_from, s->out_to - s->out_from);

		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0)
			return -errno;
		s->out_from += (size_t)done;
	}
	return 0;
}

/* What is behind the first `done` bytes. */
static void keep_rest(struct stream *s, const struct iovec *iov, unsigned int n, size_t done)
{
	s->out_from = s->out_to = 0;
	for (unsigned int i = 0; i < n; i++) {
		size_t skip = done < iov[i].iov_len ? done : iov[i].iov_len;

		done -= skip;
		memcpy(s->out + s->out_to, (const uint8_t *)iov[i].iov_base + skip,
		       iov[i].iov_len - skip);
		s->out_to += iov[i].iov_len - skip;
	}
}

int stream_send(struct stream *s, const struct iovec *iov, unsigned int n, size_t len)
{
	uint32_t head = htonl((uint32_t)len);
	struct iovec all[PARTS_MAX] = {{&head, sizeof(head)}};
	ssize_t done;

	if (n >= PARTS_MAX)
		return 0; /* lost */
	memcpy(all + 1, iov, n * sizeof(*iov));
	do
		done = writev(s->fd, all, (int)n + 1);
	while (done < 0 && errno == EINTR);
	if (done < 0 && errno != EAGAIN)
		return -errno;
	keep_rest(s, all, n + 1, done < 0 ? 0 : (size_t)done);
	return 0;
}

/* --- receiving ------------------------------------------------------------------------------- */

/* Room for a whole frame behind what is there. */
static void make_room(struct stream *s)
{
	if (s->in_from == s->in_to) {
		s->in_from = s->in_to = 0;
	} else if (sizeof(s->in) - s->in_from < STREAM_FRAME_MAX) {
		memmove(s->in, s->in + s->in_from, s->in_to - s->in_from);
		s->in_to -= s->in_from;
		s->in_from = 0;
	}
}

/* 0; -EAGAIN: it is not there as a whole. */
static int take_frame(struct stream *s, const uint8_t **frame, size_t *len)
{
	size_t have = s->in_to - s->in_from;
	uint32_t head;

	if (have < sizeof(head))
		return -EAGAIN;
	memcpy(&head, s->in + s->in_from, sizeof(head));
	*len = ntohl(head);
	if (*len < LINK_FRAME_MIN || *len > LINK_FRAME_MAX)
		return -EPROTO; /* where the next one begins nobody knows */
	if (have - sizeof(head) < *len)
		return -EAGAIN;
	*frame = s->in + s->in_from + sizeof(head);
	s->in_from += sizeof(head) + *len;
	return 0;
}

int stream_receive(struct stream *s, const uint8_t **frame, size_t *len)
{
	int rc;

	while ((rc = take_frame(s, frame, len)) == -EAGAIN) {
		ssize_t got;

		make_room(s);
		got = read(s->fd, s->in + s->in_to, sizeof(s->in) - s->in_to);
		if (!got)
			return -EPIPE;
		if (got < 0 && errno != EINTR)
			return -errno;
		if (got > 0)
			s->in_to += (size_t)got;
	}
	return rc;
}
