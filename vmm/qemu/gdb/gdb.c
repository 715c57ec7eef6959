// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * gdb.c - the connection to a gdb stub: what both sides agree on, the monitor behind it, and how it
 * is left.
 *
 * gdb manual, appendix "Remote Protocol"; the packets whose names begin with Qqemu, and what QEMU
 * makes of the others, are in gdbstub/gdbstub.c of QEMU 7.2 (gdbstub/system.c since 8.0).
 */
#include "vmm/qemu/gdb/ask.h"
#include "vmm/qemu/text/hex.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define IDLE_MS	    100	      /* how often somebody who waits for the first answer is asked */
#define MONITOR_MAX (8 << 20) /* bytes that a monitor command may print */
#define LAYOUT_MS   60000     /* for all of it, however small its parts */
#define XML_MAX	    (256 << 10)
#define MAX_XML	    16

/* --- the description of the registers ------------------------------------------------------------
 */

static int xml_read(struct gdb *g, const char *name, char **xml)
{
	size_t len = 0;
	bool more = true;

	*xml = NULL;
	while (more) {
		char *bigger;
		int rc = gdb_ask(g, "qXfer:features:read:%s:%zx,%x", name, len, 2 * GDB_READ_MAX);

		if (rc < 1)
			return rc < 0 ? rc : -EREMOTEIO;
		more = g->conn.data[0] == 'm';
		if ((!more && g->conn.data[0] != 'l') || (more && rc == 1))
			return g->conn.data[0] == 'E' ? -EREMOTEIO : -EPROTO;
		if (len + (size_t)rc > XML_MAX)
			return -EMSGSIZE;
		bigger = realloc(*xml, len + (size_t)rc);
		if (!bigger)
			return -ENOMEM;
		*xml = bigger;
		memcpy(*xml + len, g->conn.data + 1, (size_t)rc); /* its NUL too */
		len += (size_t)rc - 1;
	}
	return 0;
}

/* The main description and what it includes; QEMU's go no deeper. */
static int layout_read(struct gdb *g)
{
	char *main_xml = NULL, *xml = NULL, href[64];
	int rc;

	g->by = packet_deadline(&g->conn, LAYOUT_MS);
	rc = xml_read(g, "target.xml", &main_xml);
	if (!rc)
		rc = gdb_layout_add(&g->layout, main_xml);
	for (unsigned int n = 0; !rc && n < MAX_XML; n++) {
		rc = gdb_layout_include(main_xml, n, href, sizeof(href));
		if (rc <= 0)
			break;
		rc = xml_read(g, href, &xml);
		if (!rc)
			rc = gdb_layout_add(&g->layout, xml);
		free(xml);
		xml = NULL;
	}
	g->by = 0;
	free(xml);
	free(main_xml);
	return rc;
}

/* --- connecting ----------------------------------------------------------------------------------
 */

static bool offers(const char *features, const char *one)
{
	size_t len = strlen(one);

	for (const char *at = features; at; at = strchr(at, ';')) {
		at += *at == ';';
		if (!strncmp(at, one, len) && (at[len] == ';' || !at[len]))
			return true;
	}
	return false;
}

/* The stub has said something: 0, or an error. What it was is still to be received. */
static int hear_first(struct gdb *g, gdb_idle_fn *idle, void *arg)
{
	for (int ms = 0; ms < GDB_ANSWER_MS; ms += IDLE_MS) {
		int rc = packet_wait(&g->conn, IDLE_MS);

		if (rc != -ETIMEDOUT)
			return rc;
		if (idle && idle(arg))
			return -ECANCELED;
	}
	return -ETIMEDOUT;
}

/*
 * QEMU keeps the form of its thread names from one client to the next unless it is told, so the
 * long form is always asked for. `?` makes it drop breakpoints that another client has left.
 */
static int agree(struct gdb *g, gdb_idle_fn *idle, void *arg)
{
	bool no_ack, features;
	int rc = packet_send(&g->conn, "qSupported:multiprocess+;swbreak+;vContSupported+");

	if (!rc)
		rc = hear_first(g, idle, arg);
	if (!rc)
		rc = gdb_next_answer(g);
	if (rc < 0)
		return rc;
	g->multiprocess = offers(g->conn.data, "multiprocess+");
	no_ack = offers(g->conn.data, "QStartNoAckMode+");
	features = offers(g->conn.data, "qXfer:features:read+");
	if (!features)
		return -EOPNOTSUPP;
	if (no_ack) {
		rc = gdb_expect_ok(g, gdb_ask(g, "QStartNoAckMode"));
		if (rc)
			return rc;
		g->conn.no_ack = true;
		g->conn.ack_due = false;
	}
	rc = packet_send(&g->conn, "?");
	if (!rc)
		rc = packet_recv(&g->conn, GDB_ANSWER_MS);
	return rc < 0 ? rc : layout_read(g);
}

struct gdb *gdb_open(int fd, char *err, size_t errlen)
{
	return gdb_open_idle(fd, NULL, NULL, err, errlen);
}

struct gdb *gdb_open_idle(int fd, gdb_idle_fn *idle, void *arg, char *err, size_t errlen)
{
	struct gdb *g = calloc(1, sizeof(*g));
	const char *reg;
	int rc = g ? packet_open(&g->conn, fd) : -ENOMEM;

	if (!rc)
		rc = agree(g, idle, arg);
	if (!rc && gdb_layout_check(&g->layout, &reg)) {
		snprintf(err, errlen, "the gdb stub has no 64-bit register %s: no x86-64 guest",
			 reg);
		gdb_close(g);
		return NULL;
	}
	if (!rc)
		return g;
	if (rc == -ECANCELED)
		snprintf(err, errlen, "given up before the gdb stub has answered");
	else if (rc == -ETIMEDOUT && !g->conn.why)
		snprintf(err, errlen,
			 "the gdb stub is silent: is another debugger or tracer attached to it?");
	else
		snprintf(err, errlen, "the gdb stub does not answer as QEMU's does: %s",
			 gdb_error_text(g, rc));
	if (!g)
		close(fd);
	gdb_close(g);
	return NULL;
}

void gdb_close(struct gdb *g)
{
	if (!g)
		return;
	packet_close(&g->conn);
	free(g);
}

struct ucred gdb_server(const struct gdb *g)
{
	return g->conn.sender;
}

void gdb_server_stays(struct gdb *g)
{
	g->conn.sender_stays = true;
}

struct ucred gdb_listener(const struct gdb *g)
{
	struct ucred peer = {0};
	socklen_t len = sizeof(peer);

	/* TCP has none. */
	if (getsockopt(g->conn.fd, SOL_SOCKET, SO_PEERCRED, &peer, &len))
		peer.pid = 0;
	return peer;
}

int gdb_error(const struct gdb *g)
{
	return g->conn.error;
}

const char *gdb_error_text(const struct gdb *g, int error)
{
	return g && g->conn.why && error == g->conn.error ? g->conn.why : strerror(-error);
}

bool gdb_was_running(const struct gdb *g)
{
	return g->was_running;
}

#define DETACH_TEXT 16

static const char *detach_text(const struct gdb *g, char text[DETACH_TEXT])
{
	if (g->multiprocess)
		snprintf(text, DETACH_TEXT, "D;%x", g->pid);
	else
		snprintf(text, DETACH_TEXT, "D");
	return text;
}

int gdb_detach(struct gdb *g, bool run_on)
{
	char text[DETACH_TEXT];
	int rc;

	if (g->phys) {
		/* QEMU keeps it for the next client (phy_memory_mode). */
		rc = gdb_expect_ok(g, gdb_ask(g, "Qqemu.PhyMemMode:0"));
		if (rc)
			return rc;
		g->phys = false;
	}
	if (!run_on)
		return 0;
	return gdb_expect_ok(g, gdb_ask(g, "%s", detach_text(g, text)));
}

int gdb_detach_packet(const struct gdb *g, char *packet, size_t size)
{
	char text[DETACH_TEXT];
	int len = packet_format(packet, size, detach_text(g, text));

	return len < 0 ? len : 0;
}

/* --- the monitor ---------------------------------------------------------------------------------
 */

struct monitor_text {
	char *text;
	size_t len, room;
};

/* What a packet of this length prints: at least a byte, or they might be endless. */
static int monitor_add(struct gdb *g, size_t packet_len, struct monitor_text *t)
{
	size_t part = packet_len / 2;
	int rc;

	if (!part || packet_len % 2 == 0 || g->conn.data[0] != 'O')
		return -EREMOTEIO;
	if (t->len + part >= t->room) {
		char *bigger = t->room < MONITOR_MAX ? realloc(t->text, t->room *= 8) : NULL;

		if (!bigger)
			return -EMSGSIZE;
		t->text = bigger;
	}
	rc = hex_decode(g->conn.data + 1, (uint8_t *)t->text + t->len, part);
	t->len += part;
	return rc;
}

/* The text comes in O packets, an OK ends it. */
static int monitor_hear(struct gdb *g, struct monitor_text *t)
{
	int64_t due, begun = gdb_answer_begin(g, &due);
	unsigned int n = 0;
	int rc;

	do {
		rc = gdb_answer_packet(g, due);
		if (rc < 0 || !gdb_expect_ok(g, rc))
			break;
		rc = monitor_add(g, (size_t)rc, t);
	} while (!rc && ++n < GDB_TALK_MAX);
	gdb_answer_end(g, begun);
	if (n == GDB_TALK_MAX)
		return packet_fail(&g->conn, -EPROTO, "its monitor prints without end");
	return rc < 0 ? rc : 0;
}

#define MONITOR_COMMAND 1024 /* as a packet's text */

static int monitor_text(char text[MONITOR_COMMAND], const char *command)
{
	size_t len = strlen(command), name = (size_t)snprintf(text, MONITOR_COMMAND, "qRcmd,");

	if (name + 2 * len + 1 > MONITOR_COMMAND)
		return -EMSGSIZE;
	hex_encode(text + name, (const uint8_t *)command, len);
	return 0;
}

int gdb_monitor_packet(const char *command, char *packet, size_t size)
{
	char text[MONITOR_COMMAND];
	int rc = monitor_text(text, command);

	return rc ? rc : packet_format(packet, size, text);
}

int gdb_monitor(struct gdb *g, const char *command, char **text)
{
	struct monitor_text t = {.room = 4096};
	char packet[MONITOR_COMMAND];
	int rc = monitor_text(packet, command);

	if (rc)
		return rc;
	t.text = malloc(t.room);
	if (!t.text)
		return -ENOMEM;
	rc = packet_send(&g->conn, packet);
	if (!rc)
		rc = monitor_hear(g, &t);
	if (rc) {
		free(t.text);
		t.text = NULL;
	} else {
		t.text[t.len] = '\0';
	}
	*text = t.text;
	return rc;
}
