/* SPDX-License-Identifier: GPL-2.0-or-later */
/* packet.h - packets of gdb's remote protocol over a connected socket. */
#ifndef HVTRACE_VMM_QEMU_GDB_PACKET_H
#define HVTRACE_VMM_QEMU_GDB_PACKET_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

/* QEMU sends 4096 bytes at most (MAX_PACKET_LENGTH in its gdbstub.c); others get some room. */
#define PACKET_MAX 16384
/* Bytes between two packets, of which one is of use: +. */
#define PACKET_NOISE_MAX 65536

/*
 * One end of a connection. Owned by one thread at a time, except packet_interrupt(). Once a
 * function has failed with anything but -ETIMEDOUT the connection is of no more use, and each
 * further call gives the same error.
 */
struct packet_conn {
	int fd;
	int cut_fd; /* readable once nobody is to be waited for any more: packet_cut() */
	atomic_bool cut;
	int error;	      /* what ended the connection, negative */
	const char *why;      /* the same in words of what the peer did, or NULL */
	int64_t (*now)(void); /* a clock that never goes back, ms */
	bool no_ack;	      /* both sides have agreed not to acknowledge packets */
	bool ack_due;	      /* for the packet received last; goes out with the next one sent */
	bool no_resend; /* set by the owner: more than one packet is unanswered, `out` has the last
			 */
	/* What has been received of the next packet. */
	int state;
	uint8_t sum, sum_sent;
	unsigned int bad; /* packets in a row that were wrong */
	size_t noise;	  /* bytes since the last packet */
	size_t in_pos, in_len;
	struct ucred sender; /* of what was received last, by a unix socket; pid 0: unknown */
	bool sender_stays;   /* set by the owner: nobody asks for that any more */
	char in[4096];
	size_t len;
	char data[PACKET_MAX + 1]; /* the packet received last, ended by a NUL */
	bool held;		   /* packets stay in `out` until packet_flush() */
	/* The packet sent last as it went out, for when the peer wants it again. */
	size_t out_len;
	char out[PACKET_MAX + 8];
};

/* Use a connected socket: it is closed by packet_close(), and made non-blocking here. */
int packet_open(struct packet_conn *c, int fd);
void packet_close(struct packet_conn *c);
/* End it for what the peer did, which `why` says: gives the error. */
int packet_fail(struct packet_conn *c, int error, const char *why);

/* A packet with this text as it goes out: its length, or -EMSGSIZE. */
int packet_format(char *to, size_t size, const char *text);

/* Send a packet with this text in it, which has none of the characters $, # and }. */
int packet_send(struct packet_conn *c, const char *text);

/*
 * From here to packet_flush() packets are not sent, then all of them at once: the peer gets either
 * all or none of them, should this process be killed. They must fit into one packet's room.
 */
void packet_hold(struct packet_conn *c);
int packet_flush(struct packet_conn *c);

/*
 * Wait up to timeout_ms (-1: for ever) for a whole packet; it is in c->data then. Gives its
 * length. -ETIMEDOUT: none came, or not all of it; asking again goes on where it stopped.
 */
int packet_recv(struct packet_conn *c, int timeout_ms);
/* The same up to a moment, which several packets may have in common. */
int64_t packet_deadline(const struct packet_conn *c, int timeout_ms);
int packet_recv_by(struct packet_conn *c, int64_t deadline);
/* Wait up to timeout_ms until the peer has sent anything that was not received: 0 or -ETIMEDOUT. */
int packet_wait(struct packet_conn *c, int timeout_ms);

/*
 * From here on each call fails with -ECONNRESET, also the one that another thread waits in, and
 * nothing is sent any more, while the connection itself stays for whoever else holds it. Any
 * thread.
 */
void packet_cut(struct packet_conn *c);

/* Send the byte that stops a running guest. Any thread, while no other one sends a packet. */
int packet_interrupt(const struct packet_conn *c);

#endif
