// SPDX-License-Identifier: GPL-2.0-or-later
/* memory.c - guest-physical memory through a gdb stub. */
#include "vmm/qemu/gdb/ask.h"
#include "vmm/qemu/text/hex.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

static int memory_select(struct gdb *g)
{
	int rc;

	if (g->phys)
		return 0;
	rc = gdb_expect_ok(g, gdb_ask(g, "Qqemu.PhyMemMode:1"));
	g->phys = !rc;
	return rc;
}

int gdb_read_phys(struct gdb *g, uint64_t pa, void *buf, size_t len)
{
	uint8_t *to = buf;
	int rc = memory_select(g);

	while (!rc && len) {
		size_t part = len < GDB_READ_MAX ? len : GDB_READ_MAX;

		rc = gdb_ask(g, "m%" PRIx64 ",%zx", pa, part);
		if (rc < 0)
			return rc;
		if ((size_t)rc != 2 * part)
			return g->conn.data[0] == 'E' ? -EREMOTEIO : -EPROTO;
		rc = hex_decode(g->conn.data, to, part);
		pa += part;
		to += part;
		len -= part;
	}
	return rc;
}

/*
 * What is on its way must fit the sockets' buffers in both directions: QEMU does not read on while
 * it cannot get rid of an answer. It has one batch to work on while the answers to the one before
 * are read.
 */
static void answers_take(struct gdb *g, unsigned int left)
{
	while (g->ahead > left) {
		int rc = gdb_expect_ok(g, gdb_next_answer(g));

		if (rc && !g->ahead_error)
			g->ahead_error = rc;
		g->ahead--;
	}
}

static int batch_send(struct gdb *g)
{
	if (!g->held)
		return 0;
	g->held = 0;
	g->conn.no_resend = g->ahead > 1;
	return packet_flush(&g->conn);
}

int gdb_write_ahead(struct gdb *g, uint64_t pa, const void *buf, size_t len)
{
	char text[2 * GDB_WRITE_MAX + 64];
	int rc;

	if (len > GDB_WRITE_MAX)
		return -EMSGSIZE;
	if (!g->held) {
		rc = memory_select(g);
		answers_take(g, GDB_AHEAD_MAX);
		if (rc || g->ahead_error)
			return rc ? rc : g->ahead_error;
		packet_hold(&g->conn);
	}
	hex_encode(text + sprintf(text, "M%" PRIx64 ",%zx:", pa, len), buf, len);
	rc = packet_send(&g->conn, text);
	if (rc)
		return rc;
	g->ahead++;
	g->held++;
	/* No room for another as long as one can be, or enough for one system call. */
	return g->held == GDB_AHEAD_MAX || g->conn.out_len + sizeof(text) > PACKET_MAX
		       ? batch_send(g)
		       : 0;
}

int gdb_write_finish(struct gdb *g)
{
	int rc = batch_send(g);

	answers_take(g, 0);
	rc = g->ahead_error ? g->ahead_error : rc;
	g->ahead_error = 0;
	g->conn.no_resend = false;
	return rc;
}

int gdb_write_phys(struct gdb *g, uint64_t pa, const void *buf, size_t len)
{
	const uint8_t *from = buf;
	int rc = 0, end;

	while (!rc && len) {
		size_t part = len < GDB_WRITE_MAX ? len : GDB_WRITE_MAX;

		rc = gdb_write_ahead(g, pa, from, part);
		pa += part;
		from += part;
		len -= part;
	}
	end = gdb_write_finish(g);
	return rc ? rc : end;
}
