/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ask.h - what the files behind gdb.h share: the connection to a stub, how it is asked, and
 * its threads. Lengths and errors are those of packet.h and gdb.h.
 */
#ifndef HVTRACE_VMM_QEMU_GDB_ASK_H
#define HVTRACE_VMM_QEMU_GDB_ASK_H

#include "vmm/qemu/gdb/gdb.h"
#include "vmm/qemu/gdb/packet.h"

#define GDB_ANSWER_MS 20000 /* all packets that it comes in */
#define GDB_LATE_MS   40000 /* what all answers together may take, */
#define GDB_FREE_MS   100   /* but for this much of each one's */
#define GDB_STOPS_MAX 64    /* stop replies before an answer; QEMU sends one */
#define GDB_TALK_MAX  65536 /* packets of text before what ends them; QEMU sends one for a line */
#define GDB_AHEAD_MAX 16    /* packets whose answers have not been read; of writes two times that */
#define GDB_READ_MAX  1024  /* bytes in an answer; twice that in digits fits QEMU's 4096 */

struct gdb {
	struct packet_conn conn;
	struct gdb_layout layout;
	bool multiprocess; /* threads are called pPID.TID */
	bool was_running;
	bool phys;    /* addresses of memory packets are physical */
	int64_t by;   /* when a row of questions has to be over; 0: there is none */
	int64_t late; /* of GDB_LATE_MS what is used up */
	uint32_t pid;
	uint32_t selected; /* by Hg; 0: none yet */
	/* Whom it tells the next stop for, by Hc or the last one; 0: the first. */
	uint32_t stops_as;
	unsigned int ahead; /* writes whose answers have not been read yet */
	unsigned int held;  /* the last of them, which are yet to be sent */
	int ahead_error;    /* the first of theirs */
};

/* Send a packet and wait for its answer, which is in g->conn.data then: its length. */
int gdb_ask(struct gdb *g, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* The answer to a packet that has been sent, likewise. */
int gdb_next_answer(struct gdb *g);
/*
 * The same in pieces, for an answer of several packets: from here to gdb_answer_end() they all have
 * one time, until *due. Gives when it began, for the end.
 */
int64_t gdb_answer_begin(const struct gdb *g, int64_t *due);
int gdb_answer_packet(struct gdb *g, int64_t due);
void gdb_answer_end(struct gdb *g, int64_t begun);
/* Of what these two have given: 0 if the answer is OK. */
int gdb_expect_ok(struct gdb *g, int rc);
/* A packet that says why the guest has stopped, which answers nothing. */
bool gdb_is_stop(const char *answer);

/* "p1.2", "2": the text behind it, or NULL. */
const char *gdb_thread_parse(const char *text, uint32_t *pid, uint32_t *thread);
const char *gdb_thread_name(const struct gdb *g, uint32_t thread, char name[32]);

#endif
