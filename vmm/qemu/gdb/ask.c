// SPDX-License-Identifier: GPL-2.0-or-later
/* ask.c - one question to a gdb stub, as a packet of the remote protocol, and its answer. */
#include "vmm/qemu/gdb/ask.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* T05thread:...; or S05, and what follows W: the guest's process has ended. */
bool gdb_is_stop(const char *answer)
{
	return answer[0] == 'T' || answer[0] == 'S' || answer[0] == 'W' || answer[0] == 'X';
}

/*
 * A stub that takes nearly all the time that it has for an answer, and does so each time, would
 * hold the guest for as long as there are questions. So what its answers take is added up; one that
 * is quick pays off some of it, since a host that was busy for a while is none that lies.
 */
int64_t gdb_answer_begin(const struct gdb *g, int64_t *due)
{
	int64_t now = g->conn.now(), left = GDB_LATE_MS - g->late;

	*due = now + (left < GDB_ANSWER_MS ? left : GDB_ANSWER_MS);
	if (g->by && g->by < *due)
		*due = g->by;
	return now;
}

void gdb_answer_end(struct gdb *g, int64_t begun)
{
	g->late += g->conn.now() - begun - GDB_FREE_MS;
	if (g->late < 0)
		g->late = 0;
}

/*
 * The next packet that answers something: the length. Stop replies are none: QEMU up to 8.0 sends
 * one when it has stopped a running guest because we connected.
 */
int gdb_answer_packet(struct gdb *g, int64_t due)
{
	for (unsigned int stops = 0; stops <= GDB_STOPS_MAX; stops++) {
		int rc = packet_recv_by(&g->conn, due);

		/* What comes late would be taken for the next one's answer. */
		if (rc == -ETIMEDOUT && !g->conn.error)
			return packet_fail(&g->conn, rc, "its answers do not come in time");
		if (rc < 0 || !gdb_is_stop(g->conn.data))
			return rc;
		g->was_running |= g->conn.data[0] == 'T';
	}
	return packet_fail(&g->conn, -EPROTO, "it tells of stops without end");
}

int gdb_next_answer(struct gdb *g)
{
	int64_t due, begun = gdb_answer_begin(g, &due);
	int rc = gdb_answer_packet(g, due);

	gdb_answer_end(g, begun);
	return rc;
}

int gdb_ask(struct gdb *g, const char *fmt, ...)
{
	char text[128];
	va_list ap;
	int rc;

	va_start(ap, fmt);
	rc = vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (rc >= (int)sizeof(text))
		return -EMSGSIZE;
	rc = packet_send(&g->conn, text);
	return rc ? rc : gdb_next_answer(g);
}

/* An empty answer says that the stub does not know the packet, Exx that it cannot do it. */
int gdb_expect_ok(struct gdb *g, int rc)
{
	if (rc < 0)
		return rc;
	if (!strcmp(g->conn.data, "OK"))
		return 0;
	return !rc || g->conn.data[0] == 'E' ? -EREMOTEIO : -EPROTO;
}
