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
 * The next packet that answers something: the length. Stop replies are none: QEMU up to 8.0 sends
 * one when it has stopped a running guest because we connected.
 */
int gdb_next_answer(struct gdb *g)
{
	int64_t deadline = packet_deadline(GDB_ANSWER_MS);
	int rc;

	if (g->by && g->by < deadline)
		deadline = g->by;
	do {
		rc = packet_recv_by(&g->conn, deadline);
		if (rc >= 0 && g->conn.data[0] == 'T')
			g->was_running = true;
	} while (rc >= 0 && gdb_is_stop(g->conn.data));
	if (rc == -ETIMEDOUT)
		g->conn.error = rc; /* what comes late would be taken for the next one's answer */
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
