// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * packet.c - framing of gdb's remote protocol: $text#checksum, acknowledged by + or -.
 *
 * The format is that of the appendix "Remote Protocol", section "Overview", of gdb's manual. The
 * peer is not trusted: a packet that does not fit, or that stays wrong when asked for again, ends
 * the connection, and so does noise between packets that has no end.
 *
 * An acknowledgement waits for the next packet to be sent and goes out with it in one system call.
 * QEMU takes the start of a packet for an acknowledgement of what it sent before (gdb_read_byte()
 * in its gdbstub.c), and to gdb's own stub one that is late is as good.
 */
#include "vmm/qemu/gdb/packet.h"
#include "vmm/qemu/text/hex.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define SEND_MS	    5000
#define MAX_RETRIES 3

enum { INTERRUPT_BYTE = 0x03 };

enum packet_state {
	STATE_IDLE, /* between packets */
	STATE_TEXT,
	STATE_ESCAPED, /* behind } */
	STATE_REPEAT,  /* behind * */
	STATE_SUM1,
	STATE_SUM2,
};

static int64_t now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

int packet_open(struct packet_conn *c, int fd)
{
	int flags = fcntl(fd, F_GETFL), one = 1;

	memset(c, 0, sizeof(*c));
	c->fd = fd;
	c->now = now_ms;
	setsockopt(fd, SOL_SOCKET, SO_PASSCRED, &one, sizeof(one)); /* TCP has none */
	c->cut_fd = eventfd(0, EFD_CLOEXEC);
	if (c->cut_fd < 0)
		return -errno;
	return flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) ? -errno : 0;
}

void packet_close(struct packet_conn *c)
{
	close(c->fd);
	if (c->cut_fd >= 0)
		close(c->cut_fd);
	c->fd = -1;
	c->error = -ENOTCONN;
}

int64_t packet_deadline(const struct packet_conn *c, int timeout_ms)
{
	return timeout_ms < 0 ? INT64_MAX : c->now() + timeout_ms;
}

/* Wait until the socket is ready or the time is over: 0, -ETIMEDOUT or another error. */
static int wait_ready(const struct packet_conn *c, short events, int64_t deadline)
{
	for (;;) {
		struct pollfd fd[] = {{.fd = c->fd, .events = events},
				      {.fd = c->cut_fd, .events = POLLIN}};
		int64_t left = deadline == INT64_MAX ? -1 : deadline - c->now();
		int rc;

		if (deadline != INT64_MAX && left < 0)
			left = 0;
		rc = poll(fd, 2, left > INT32_MAX ? INT32_MAX : (int)left);
		if (rc > 0)
			return fd[1].revents ? -ECONNRESET : 0;
		if (rc == 0 && left <= INT32_MAX)
			return -ETIMEDOUT;
		if (rc < 0 && errno != EINTR)
			return -errno;
	}
}

int packet_fail(struct packet_conn *c, int error, const char *why)
{
	c->error = error;
	c->why = why;
	return error;
}

static int fail(struct packet_conn *c, int error)
{
	return packet_fail(c, error, NULL);
}

static int send_bytes(struct packet_conn *c, const char *bytes, size_t len)
{
	int64_t deadline = packet_deadline(c, SEND_MS);

	while (len) {
		ssize_t n;
		int rc;

		if (atomic_load(&c->cut))
			return fail(c, -ECONNRESET);
		n = send(c->fd, bytes, len, MSG_NOSIGNAL);

		if (n > 0) {
			bytes += n;
			len -= (size_t)n;
			continue;
		}
		if (errno == EINTR)
			continue;
		if (errno != EAGAIN)
			return fail(c, -errno);
		rc = wait_ready(c, POLLOUT, deadline);
		if (!rc && c->now() > deadline)
			rc = -ETIMEDOUT; /* some of it now and then is not enough */
		if (rc == -ETIMEDOUT)
			return packet_fail(c, rc, "it does not take what it is sent");
		if (rc)
			return fail(c, rc); /* half a packet cannot be taken back */
	}
	return 0;
}

int packet_format(char *to, size_t size, const char *text)
{
	uint8_t sum = 0;
	int len;

	for (const char *c = text; *c; c++)
		sum += (uint8_t)*c;
	len = snprintf(to, size, "$%s#%02x", text, sum);
	return (size_t)len < size ? len : -EMSGSIZE;
}

int packet_send(struct packet_conn *c, const char *text)
{
	size_t used = c->held ? c->out_len : 0;
	int len;

	if (c->error)
		return c->error;
	if (used + strlen(text) > PACKET_MAX)
		return -EMSGSIZE;
	if (c->ack_due)
		c->out[used++] = '+';
	c->ack_due = false;
	len = packet_format(c->out + used, sizeof(c->out) - used, text);
	if (len < 0)
		return len;
	c->out_len = used + (size_t)len;
	return c->held ? 0 : send_bytes(c, c->out, c->out_len);
}

void packet_hold(struct packet_conn *c)
{
	c->held = true;
	c->out_len = 0;
}

int packet_flush(struct packet_conn *c)
{
	c->held = false;
	return c->error ? c->error : send_bytes(c, c->out, c->out_len);
}

void packet_cut(struct packet_conn *c)
{
	atomic_store(&c->cut, true);
	eventfd_write(c->cut_fd, 1); /* its counter is never full */
}

/* Touches nothing of c that the thread which owns it may be changing. */
int packet_interrupt(const struct packet_conn *c)
{
	const char byte = INTERRUPT_BYTE;

	if (atomic_load(&c->cut))
		return -ECONNRESET;
	return send(c->fd, &byte, 1, MSG_NOSIGNAL) == 1 ? 0 : -errno;
}

/* --- receiving ------------------------------------------------------------------------------ */

/* As recv(2) into c->in. The kernel tells who has sent it: all of it is one process's. */
static ssize_t receive_from(struct packet_conn *c)
{
	union {
		char space[CMSG_SPACE(sizeof(struct ucred))];
		struct cmsghdr align;
	} control;
	struct iovec to = {.iov_base = c->in, .iov_len = sizeof(c->in)};
	struct msghdr msg = {.msg_iov = &to,
			     .msg_iovlen = 1,
			     .msg_control = control.space,
			     .msg_controllen = sizeof(control.space)};
	ssize_t n = recvmsg(c->fd, &msg, MSG_CMSG_CLOEXEC);
	struct cmsghdr *part = n > 0 ? CMSG_FIRSTHDR(&msg) : NULL;

	if (n > 0)
		c->sender.pid = 0;
	if (part && part->cmsg_level == SOL_SOCKET && part->cmsg_type == SCM_CREDENTIALS)
		memcpy(&c->sender, CMSG_DATA(part), sizeof(c->sender));
	return n;
}

/* recvmsg(2) takes descriptors in, too: who gives its rights up keeps only recv(2). */
static ssize_t receive(struct packet_conn *c)
{
	return c->sender_stays ? recv(c->fd, c->in, sizeof(c->in), 0) : receive_from(c);
}

/*
 * Have at least one byte in c->in that was not looked at. A peer that talks on and on is not
 * listened to for longer than one that is silent.
 */
static int fill(struct packet_conn *c, int64_t deadline)
{
	while (c->in_pos == c->in_len) {
		ssize_t n;
		int rc;

		if (atomic_load(&c->cut))
			return fail(c, -ECONNRESET);
		if (c->now() > deadline)
			return -ETIMEDOUT;
		n = receive(c);
		if (n > 0) {
			c->in_pos = 0;
			c->in_len = (size_t)n;
			return 0;
		}
		if (n == 0)
			return fail(c, -ECONNRESET);
		if (errno == EINTR)
			continue;
		if (errno != EAGAIN)
			return fail(c, -errno);
		rc = wait_ready(c, POLLIN, deadline);
		if (rc)
			return rc == -ETIMEDOUT ? rc : fail(c, rc);
	}
	return 0;
}

static int append(struct packet_conn *c, char byte, size_t times)
{
	if (times > PACKET_MAX - c->len)
		return packet_fail(c, -EMSGSIZE, "it sends a packet that is too long");
	memset(c->data + c->len, byte, times);
	c->len += times;
	return 0;
}

/* A character after * says how often more the one before * stands there: its code less 29. */
static int repeat(struct packet_conn *c, char byte)
{
	int times = byte - 29;

	if (!c->len || times < 3)
		return fail(c, -EPROTO);
	return append(c, c->data[c->len - 1], (size_t)times);
}

static int take_text(struct packet_conn *c, char byte)
{
	int state = c->state;

	if (byte == '#') {
		c->state = STATE_SUM1;
		return state == STATE_TEXT ? 0 : fail(c, -EPROTO);
	}
	c->sum += (uint8_t)byte;
	c->state = STATE_TEXT;
	if (state == STATE_ESCAPED)
		return append(c, byte ^ 0x20, 1);
	if (state == STATE_REPEAT)
		return repeat(c, byte);
	if (byte == '}')
		c->state = STATE_ESCAPED;
	else if (byte == '*')
		c->state = STATE_REPEAT;
	else
		return append(c, byte, 1);
	return 0;
}

/* Between packets: what the peer thinks of ours. Other bytes are noise and have no meaning. */
static int take_idle(struct packet_conn *c, char byte)
{
	if (byte == '$') {
		c->state = STATE_TEXT;
		c->len = 0;
		c->sum = 0;
		c->noise = 0;
		return 0;
	}
	if (++c->noise > PACKET_NOISE_MAX)
		return packet_fail(c, -EPROTO, "it sends without end what is no packet");
	if (byte == '-' && !c->no_ack && c->out_len) {
		if (c->no_resend || ++c->bad > MAX_RETRIES)
			return packet_fail(c, -EBADMSG, "it wants the same packet ever again");
		return send_bytes(c, c->out, c->out_len);
	}
	return 0;
}

/* The whole packet is there: 1, or 0 when it was damaged and is asked for again. */
static int finish(struct packet_conn *c)
{
	c->state = STATE_IDLE;
	if (c->sum != c->sum_sent) {
		if (c->no_ack || ++c->bad > MAX_RETRIES)
			return packet_fail(c, -EBADMSG, "its packets come damaged");
		return send_bytes(c, "-", 1);
	}
	c->bad = 0;
	c->ack_due = !c->no_ack;
	c->data[c->len] = '\0';
	return 1;
}

/* 1: the packet is complete */
static int take_byte(struct packet_conn *c, char byte)
{
	int digit = hex_digit(byte);

	switch (c->state) {
	case STATE_IDLE:
		return take_idle(c, byte);
	case STATE_SUM1:
	case STATE_SUM2:
		if (digit < 0)
			return fail(c, -EPROTO);
		c->sum_sent = (uint8_t)(c->sum_sent << 4 | digit);
		if (c->state == STATE_SUM2)
			return finish(c);
		c->state = STATE_SUM2;
		return 0;
	default:
		return take_text(c, byte);
	}
}

int packet_wait(struct packet_conn *c, int timeout_ms)
{
	return c->error ? c->error : fill(c, packet_deadline(c, timeout_ms));
}

int packet_recv(struct packet_conn *c, int timeout_ms)
{
	return packet_recv_by(c, packet_deadline(c, timeout_ms));
}

int packet_recv_by(struct packet_conn *c, int64_t deadline)
{
	int rc = c->error;

	while (!rc) {
		rc = fill(c, deadline);
		if (!rc)
			rc = take_byte(c, c->in[c->in_pos++]);
	}
	return rc < 0 ? rc : (int)c->len;
}
