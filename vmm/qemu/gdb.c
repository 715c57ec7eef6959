// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * gdb.c - what hvtrace asks of a gdb stub, as packets of the remote protocol.
 *
 * gdb manual, appendix "Remote Protocol"; the packets whose names begin with Qqemu, and what QEMU
 * makes of the others, are in gdbstub/gdbstub.c of QEMU 7.2 (gdbstub/system.c since 8.0).
 */
#include "vmm/qemu/gdb.h"
#include "vmm/qemu/packet.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define ANSWER_MS   20000
#define IDLE_MS	    100	      /* how often somebody who waits for the first answer is asked */
#define MEM_CHUNK   1024      /* bytes in a packet; twice that in digits fits QEMU's 4096 */
#define AHEAD_MAX   16	      /* writes whose answers have not been read */
#define MONITOR_MAX (8 << 20) /* bytes that a monitor command may print */
#define XML_MAX	    (256 << 10)
#define MAX_XML	    16

struct gdb {
	struct packet_conn conn;
	struct gdb_layout layout;
	bool multiprocess; /* threads are called pPID.TID */
	bool was_running;
	bool phys; /* addresses of memory packets are physical */
	uint32_t pid;
	uint32_t selected;  /* by Hg; 0: none yet */
	unsigned int ahead; /* writes whose answers have not been read yet */
	int ahead_error;    /* the first of theirs */
};

/* --- asking ------------------------------------------------------------------------------- */

/* T05thread:...; or S05, and what follows W: the guest's process has ended. */
static bool is_stop(const char *answer)
{
	return answer[0] == 'T' || answer[0] == 'S' || answer[0] == 'W' || answer[0] == 'X';
}

/*
 * The next packet that answers something: the length. Stop replies are none: QEMU up to 8.0 sends
 * one when it has stopped a running guest because we connected.
 */
static int next_answer(struct gdb *g)
{
	int rc;

	do {
		rc = packet_recv(&g->conn, ANSWER_MS);
		if (rc >= 0 && g->conn.data[0] == 'T')
			g->was_running = true;
	} while (rc >= 0 && is_stop(g->conn.data));
	if (rc == -ETIMEDOUT)
		g->conn.error = rc; /* what comes late would be taken for the next one's answer */
	return rc;
}

/* Send a packet and wait for its answer, which is in g->conn.data then: its length. */
__attribute__((format(printf, 2, 3))) static int ask(struct gdb *g, const char *fmt, ...)
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
	return rc ? rc : next_answer(g);
}

/* An empty answer says that the stub does not know the packet, Exx that it cannot do it. */
static int expect_ok(struct gdb *g, int rc)
{
	if (rc < 0)
		return rc;
	if (!strcmp(g->conn.data, "OK"))
		return 0;
	return !rc || g->conn.data[0] == 'E' ? -EREMOTEIO : -EPROTO;
}

/* --- hexadecimal -------------------------------------------------------------------------- */

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

static int hex_decode(const char *hex, uint8_t *to, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		int high = hex_digit(hex[2 * i]), low = high < 0 ? -1 : hex_digit(hex[2 * i + 1]);

		if (low < 0)
			return -EPROTO;
		to[i] = (uint8_t)(high << 4 | low);
	}
	return 0;
}

static char *hex_encode(char *to, const uint8_t *from, size_t len)
{
	static const char digits[] = "0123456789abcdef";

	for (size_t i = 0; i < len; i++) {
		*to++ = digits[from[i] >> 4];
		*to++ = digits[from[i] & 15];
	}
	*to = '\0';
	return to;
}

/* --- the description of the registers ------------------------------------------------------- */

static int xml_read(struct gdb *g, const char *name, char **xml)
{
	size_t len = 0;
	bool more = true;

	*xml = NULL;
	while (more) {
		char *bigger;
		int rc = ask(g, "qXfer:features:read:%s:%zx,%x", name, len, 2 * MEM_CHUNK);

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
	int rc = xml_read(g, "target.xml", &main_xml);

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
	free(xml);
	free(main_xml);
	return rc;
}

/* --- connecting ----------------------------------------------------------------------------- */

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
	for (int ms = 0; ms < ANSWER_MS; ms += IDLE_MS) {
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
		rc = next_answer(g);
	if (rc < 0)
		return rc;
	g->multiprocess = offers(g->conn.data, "multiprocess+");
	no_ack = offers(g->conn.data, "QStartNoAckMode+");
	features = offers(g->conn.data, "qXfer:features:read+");
	if (!features)
		return -EOPNOTSUPP;
	if (no_ack) {
		rc = expect_ok(g, ask(g, "QStartNoAckMode"));
		if (rc)
			return rc;
		g->conn.no_ack = true;
		g->conn.ack_due = false;
	}
	rc = packet_send(&g->conn, "?");
	if (!rc)
		rc = packet_recv(&g->conn, ANSWER_MS);
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
	else if (rc == -ETIMEDOUT)
		snprintf(err, errlen,
			 "the gdb stub is silent: is another debugger or tracer attached to it?");
	else
		snprintf(err, errlen, "the gdb stub does not answer as QEMU's does: %s",
			 strerror(-rc));
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

pid_t gdb_peer_pid(const struct gdb *g)
{
	struct ucred peer = {0};
	socklen_t len = sizeof(peer);

	/* Of a listening socket: the process that called listen(2). TCP has none. */
	if (getsockopt(g->conn.fd, SOL_SOCKET, SO_PEERCRED, &peer, &len))
		return 0;
	return peer.pid;
}

int gdb_error(const struct gdb *g)
{
	return g->conn.error;
}

bool gdb_was_running(const struct gdb *g)
{
	return g->was_running;
}

int gdb_detach(struct gdb *g, bool run_on)
{
	int rc;

	if (g->phys) {
		/* QEMU keeps it for the next client (phy_memory_mode). */
		rc = expect_ok(g, ask(g, "Qqemu.PhyMemMode:0"));
		if (rc)
			return rc;
		g->phys = false;
	}
	if (!run_on)
		return 0;
	return expect_ok(g, g->multiprocess ? ask(g, "D;%x", g->pid) : ask(g, "D"));
}

/* --- threads -------------------------------------------------------------------------------- */

/* "p1.2", "2": the text behind it, or NULL. */
static const char *thread_parse(const char *text, uint32_t *pid, uint32_t *thread)
{
	char *end;

	if (*text == 'p') {
		*pid = (uint32_t)strtoul(text + 1, &end, 16);
		if (end == text + 1 || *end != '.')
			return NULL;
		text = end + 1;
	}
	*thread = (uint32_t)strtoul(text, &end, 16);
	return end == text || !*thread ? NULL : end;
}

static const char *thread_name(const struct gdb *g, uint32_t thread, char name[32])
{
	if (g->multiprocess)
		snprintf(name, 32, "p%" PRIx32 ".%" PRIx32, g->pid, thread);
	else
		snprintf(name, 32, "%" PRIx32, thread);
	return name;
}

static int threads_add(struct gdb *g, uint32_t *threads, unsigned int n, unsigned int max)
{
	const char *at = g->conn.data; /* m and the first of a list */

	do {
		if (n == max)
			return -E2BIG;
		at = thread_parse(at + 1, &g->pid, &threads[n]);
		if (!at)
			return -EPROTO;
		n++;
	} while (*at == ',');
	return *at ? -EPROTO : (int)n;
}

int gdb_threads(struct gdb *g, uint32_t *threads, unsigned int max)
{
	int rc = ask(g, "qfThreadInfo"), n = 0;

	while (rc > 0 && g->conn.data[0] == 'm') {
		n = threads_add(g, threads, (unsigned int)n, max);
		if (n < 0)
			return n;
		rc = ask(g, "qsThreadInfo");
	}
	if (rc < 0)
		return rc;
	return rc && g->conn.data[0] == 'l' && n ? n : -EPROTO;
}

/* Registers and, by virtual address, memory are those of the selected thread. */
static int thread_select(struct gdb *g, uint32_t thread)
{
	char name[32];
	int rc;

	if (g->selected == thread)
		return 0;
	rc = expect_ok(g, ask(g, "Hg%s", thread_name(g, thread, name)));
	g->selected = rc ? 0 : thread;
	return rc;
}

/* --- registers ------------------------------------------------------------------------------ */

/* The order of bytes is the guest's, which is ours. */
int gdb_read_regs(struct gdb *g, uint32_t thread, uint64_t values[GDB_NR_REGS])
{
	int rc = thread_select(g, thread);

	if (!rc)
		rc = ask(g, "g");
	if (rc < 0)
		return rc;
	if (g->conn.data[0] == 'E' && rc == 3)
		return -EREMOTEIO;
	if ((size_t)rc < 2 * g->layout.bytes)
		return -EPROTO;
	for (unsigned int i = 0; i < GDB_NR_REGS; i++) {
		values[i] = 0;
		rc = hex_decode(g->conn.data + (size_t)2 * g->layout.reg[i].offset,
				(uint8_t *)&values[i], g->layout.reg[i].size);
		if (rc)
			return rc;
	}
	return 0;
}

static const char *reg_text(const struct gdb *g, const struct gdb_reg_value *reg, char text[64])
{
	char hex[17];

	hex_encode(hex, (const uint8_t *)&reg->value, g->layout.reg[reg->reg].size);
	snprintf(text, 64, "P%" PRIx32 "=%s", g->layout.reg[reg->reg].number, hex);
	return text;
}

int gdb_write_reg(struct gdb *g, uint32_t thread, enum gdb_reg reg, uint64_t value)
{
	const struct gdb_reg_value one = {reg, value};
	int rc = thread_select(g, thread);
	char text[64];

	return rc ? rc : expect_ok(g, ask(g, "%s", reg_text(g, &one, text)));
}

int gdb_write_regs(struct gdb *g, uint32_t thread, const struct gdb_reg_value *regs, unsigned int n)
{
	int rc = n ? thread_select(g, thread) : 0, sent;
	char text[64];

	if (rc || !n)
		return rc;
	packet_hold(&g->conn);
	for (unsigned int i = 0; i < n && !rc; i++)
		rc = packet_send(&g->conn, reg_text(g, &regs[i], text));
	g->conn.no_resend = n > 1;
	sent = packet_flush(&g->conn);
	rc = rc ? rc : sent;
	for (unsigned int i = 0; i < n; i++) {
		int answer = sent ? sent : expect_ok(g, next_answer(g));

		rc = rc ? rc : answer;
	}
	g->conn.no_resend = false;
	return rc;
}

int gdb_regs_packets(const struct gdb *g, uint32_t thread, const struct gdb_reg_value *regs,
		     unsigned int n, char *packets, size_t size)
{
	char name[32], text[64];
	int len;

	snprintf(text, sizeof(text), "Hg%s", thread_name(g, thread, name));
	len = packet_format(packets, size, text);
	for (unsigned int i = 0; i < n && len >= 0; i++) {
		packets += len;
		size -= (size_t)len;
		len = packet_format(packets, size, reg_text(g, &regs[i], text));
	}
	return len < 0 ? len : 0;
}

/* --- memory --------------------------------------------------------------------------------- */

static int memory_select(struct gdb *g)
{
	int rc;

	if (g->phys)
		return 0;
	rc = expect_ok(g, ask(g, "Qqemu.PhyMemMode:1"));
	g->phys = !rc;
	return rc;
}

int gdb_read_phys(struct gdb *g, uint64_t pa, void *buf, size_t len)
{
	uint8_t *to = buf;
	int rc = memory_select(g);

	while (!rc && len) {
		size_t part = len < MEM_CHUNK ? len : MEM_CHUNK;

		rc = ask(g, "m%" PRIx64 ",%zx", pa, part);
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
 * it cannot get rid of an answer.
 */
static void ahead_take(struct gdb *g)
{
	int rc = expect_ok(g, next_answer(g));

	if (rc && !g->ahead_error)
		g->ahead_error = rc;
	g->ahead--;
	g->conn.no_resend = g->ahead > 1;
}

int gdb_write_ahead(struct gdb *g, uint64_t pa, const void *buf, size_t len)
{
	char text[2 * GDB_WRITE_MAX + 64];
	int rc;

	if (len > GDB_WRITE_MAX)
		return -EMSGSIZE;
	rc = memory_select(g);
	if (g->ahead == AHEAD_MAX)
		ahead_take(g);
	if (rc || g->ahead_error)
		return rc ? rc : g->ahead_error;
	hex_encode(text + sprintf(text, "M%" PRIx64 ",%zx:", pa, len), buf, len);
	g->conn.no_resend = g->ahead > 0;
	rc = packet_send(&g->conn, text);
	if (!rc)
		g->ahead++;
	return rc;
}

int gdb_write_finish(struct gdb *g)
{
	int rc;

	while (g->ahead)
		ahead_take(g);
	rc = g->ahead_error;
	g->ahead_error = 0;
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

/* --- running -------------------------------------------------------------------------------- */

int gdb_breakpoint_set(struct gdb *g, uint64_t va)
{
	return expect_ok(g, ask(g, "Z0,%" PRIx64 ",1", va));
}

int gdb_breakpoint_clear(struct gdb *g, uint64_t va)
{
	return expect_ok(g, ask(g, "z0,%" PRIx64 ",1", va));
}

int gdb_hw_breakpoint_set(struct gdb *g, uint64_t va)
{
	return expect_ok(g, ask(g, "Z1,%" PRIx64 ",1", va));
}

int gdb_hw_breakpoint_clear(struct gdb *g, uint64_t va)
{
	return expect_ok(g, ask(g, "z1,%" PRIx64 ",1", va));
}

int gdb_continue(struct gdb *g)
{
	return packet_send(&g->conn, "vCont;c");
}

int gdb_step(struct gdb *g, uint32_t thread)
{
	char name[32], text[64];

	snprintf(text, sizeof(text), "vCont;s:%s", thread_name(g, thread, name));
	return packet_send(&g->conn, text);
}

int gdb_interrupt(const struct gdb *g)
{
	return packet_interrupt(&g->conn);
}

/* The interrupt is on its way: behind it, what gdb_detach() would say. */
void gdb_abort(const struct gdb *g)
{
	static const char goodbye[] = "$Qqemu.PhyMemMode:0#76$D;1#b0";

	send(g->conn.fd, goodbye, sizeof(goodbye) - 1, MSG_NOSIGNAL | MSG_DONTWAIT);
	shutdown(g->conn.fd, SHUT_RDWR);
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
		if (!strncmp(at, "thread:", 7) && !thread_parse(at + 7, &pid, &stop->thread))
			return -EPROTO;
	}
	return 0;
}

int gdb_wait_stop(struct gdb *g, struct gdb_stop *stop, int timeout_ms)
{
	int rc;

	do
		rc = packet_recv(&g->conn, timeout_ms);
	while (rc >= 0 && !is_stop(g->conn.data)); /* O: what a console prints */
	return rc < 0 ? rc : stop_parse(g->conn.data, stop);
}

/* --- the monitor ---------------------------------------------------------------------------- */

/* The text comes in O packets, an OK ends it. */
int gdb_monitor(struct gdb *g, const char *command, char **text)
{
	char packet[512] = "qRcmd,";
	size_t len = strlen(command), have = 0, room = 4096;
	int rc;

	if (2 * len + 8 > sizeof(packet))
		return -EMSGSIZE;
	*text = malloc(room);
	if (!*text)
		return -ENOMEM;
	hex_encode(packet + 6, (const uint8_t *)command, len);
	rc = packet_send(&g->conn, packet);
	while (!rc) {
		size_t part;

		rc = next_answer(g);
		if (rc < 0 || !expect_ok(g, rc))
			break;
		part = (size_t)rc / 2;
		rc = g->conn.data[0] == 'O' && rc % 2 ? 0 : -EREMOTEIO;
		if (!rc && have + part >= room) {
			char *bigger = room < MONITOR_MAX ? realloc(*text, room *= 8) : NULL;

			if (bigger)
				*text = bigger;
			else
				rc = -EMSGSIZE;
		}
		if (!rc)
			rc = hex_decode(g->conn.data + 1, (uint8_t *)*text + have, part);
		have += part;
	}
	if (rc < 0) {
		free(*text);
		*text = NULL;
		return rc;
	}
	(*text)[have] = '\0';
	return 0;
}
