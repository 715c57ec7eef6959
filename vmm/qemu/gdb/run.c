// SPDX-License-Identifier: GPL-2.0-or-later
/* run.c - lets the guest behind a gdb stub run, up to a breakpoint or another reason to stop.
 */
#include "vmm/qemu/gdb/ask.h"
#include "vmm/qemu/text/hex.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

/* "c" is for operations that continue, and in QEMU for breakpoints. */
int gdb_select_breakpoints(struct gdb *g, uint32_t thread)
{
	char name[32];
	int rc = gdb_expect_ok(g, gdb_ask(g, "Hc%s", gdb_thread_name(g, thread, name)));

	if (!rc)
		g->stops_as = thread;
	return rc;
}

int gdb_breakpoint_set(struct gdb *g, uint64_t va)
{
	return gdb_expect_ok(g, gdb_ask(g, "Z0,%" PRIx64 ",1", va));
}

int gdb_breakpoint_clear(struct gdb *g, uint64_t va)
{
	return gdb_expect_ok(g, gdb_ask(g, "z0,%" PRIx64 ",1", va));
}

static int breakpoint_send(struct gdb *g, bool set, uint64_t va, size_t unanswered)
{
	char text[64];

	snprintf(text, sizeof(text), "%c0,%" PRIx64 ",1", set ? 'Z' : 'z', va);
	g->conn.no_resend = unanswered > 0;
	return packet_send(&g->conn, text);
}

int gdb_breakpoints(struct gdb *g, bool set, const uint64_t *vas, bool *ok, size_t n)
{
	size_t sent = 0;
	int rc = 0;

	memset(ok, 0, n * sizeof(*ok));
	for (size_t heard = 0; heard < n; heard++) {
		int answer;

		for (; sent < n && sent - heard < GDB_AHEAD_MAX && !rc; sent += !rc)
			rc = breakpoint_send(g, set, vas[sent], sent - heard);
		if (heard == sent)
			break;
		answer = gdb_expect_ok(g, gdb_next_answer(g));
		ok[heard] = !answer;
		rc = rc ? rc : answer;
		if (answer && answer != -EREMOTEIO)
			break; /* no answer can be told from another's any more */
	}
	g->conn.no_resend = false;
	return rc;
}

int gdb_hw_breakpoint_set(struct gdb *g, uint64_t va)
{
	return gdb_expect_ok(g, gdb_ask(g, "Z1,%" PRIx64 ",1", va));
}

int gdb_hw_breakpoint_clear(struct gdb *g, uint64_t va)
{
	return gdb_expect_ok(g, gdb_ask(g, "z1,%" PRIx64 ",1", va));
}

/* QEMU does so when it is asked why the guest stands (gdb_breakpoint_remove_all()). */
int gdb_forget_breakpoints(struct gdb *g)
{
	int rc = packet_send(&g->conn, "?");

	if (!rc)
		rc = packet_recv(&g->conn, GDB_ANSWER_MS);
	return rc < 0 ? rc : gdb_is_stop(g->conn.data) ? 0 : -EPROTO;
}

/*
 * QEMU tells a stop that is no thread's own, as one by an interrupt, for the thread that it has
 * stopped for last or that Hc has named (c_cpu in its gdbstub.c), and does not let go of that one
 * when it is unplugged: it would tell what now lies in its memory. What it says of Hc comes before
 * the stop, whose waiter passes over it.
 */
int gdb_continue(struct gdb *g, uint32_t stays)
{
	char name[32], text[64];
	int rc, sent;

	if (!stays || !g->stops_as || g->stops_as == stays)
		return packet_send(&g->conn, "vCont;c");
	snprintf(text, sizeof(text), "Hc%s", gdb_thread_name(g, stays, name));
	packet_hold(&g->conn);
	rc = packet_send(&g->conn, text);
	if (!rc)
		rc = packet_send(&g->conn, "vCont;c");
	g->conn.no_resend = true;
	sent = packet_flush(&g->conn);
	if (!sent)
		g->stops_as = stays;
	return rc ? rc : sent;
}

static int resume_one(struct gdb *g, char how, uint32_t thread)
{
	char name[32], text[64];

	snprintf(text, sizeof(text), "vCont;%c:%s", how, gdb_thread_name(g, thread, name));
	return packet_send(&g->conn, text);
}

int gdb_continue_one(struct gdb *g, uint32_t thread)
{
	return resume_one(g, 'c', thread);
}

int gdb_step_one(struct gdb *g, uint32_t thread)
{
	return resume_one(g, 's', thread);
}

int gdb_interrupt(const struct gdb *g)
{
	return packet_interrupt(&g->conn);
}

/* The interrupt is on its way: behind it, what gdb_detach() would say. */
void gdb_abort(const struct gdb *g)
{
	static const char goodbye[] = "$Qqemu.PhyMemMode:0#76$D;1#b0";

	if (atomic_load(&g->conn.cut))
		return;
	send(g->conn.fd, goodbye, sizeof(goodbye) - 1, MSG_NOSIGNAL | MSG_DONTWAIT);
	shutdown(g->conn.fd, SHUT_RDWR);
}

void gdb_cut(struct gdb *g)
{
	packet_cut(&g->conn);
}

/* T05thread:p01.02;swbreak:; - pairs behind the signal, in any order */
static int stop_parse(const char *text, struct gdb_stop *stop)
{
	uint8_t signal;
	uint32_t pid;

	if (hex_decode(text + 1, &signal, 1))
		return -EPROTO;
	*stop = (struct gdb_stop){.kind = GDB_STOP_SIGNAL, .signal = signal};
	if (text[0] == 'W' || text[0] == 'X')
		stop->kind = GDB_STOP_EXITED;
	if (text[0] != 'T')
		return 0;
	for (const char *at = text + 3; at; at = strchr(at, ';')) {
		at += *at == ';';
		if (!strncmp(at, "thread:", 7) && !gdb_thread_parse(at + 7, &pid, &stop->thread))
			return -EPROTO;
	}
	return 0;
}

int gdb_wait_stop(struct gdb *g, struct gdb_stop *stop, int timeout_ms)
{
	int64_t deadline = packet_deadline(&g->conn, timeout_ms);
	unsigned int n = 0;
	int rc;

	do
		rc = packet_recv_by(&g->conn, deadline);
	while (rc >= 0 && !gdb_is_stop(g->conn.data) && ++n < GDB_TALK_MAX); /* O: of a console */
	if (n == GDB_TALK_MAX)
		rc = packet_fail(&g->conn, -EPROTO, "it sends without end what tells of no stop");
	g->conn.no_resend = false;
	g->selected = 0; /* QEMU selects the thread that it has stopped for (gdb_set_stop_cpu()) */
	rc = rc < 0 ? rc : stop_parse(g->conn.data, stop);
	if (!rc && stop->thread)
		g->stops_as = stop->thread;
	return rc;
}
