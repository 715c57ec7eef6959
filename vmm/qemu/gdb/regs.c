// SPDX-License-Identifier: GPL-2.0-or-later
/* regs.c - the threads of a gdb stub, which are the vCPUs, and their registers. */
#include "vmm/qemu/gdb/ask.h"
#include "vmm/qemu/text/hex.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- threads -------------------------------------------------------------------------------- */

const char *gdb_thread_parse(const char *text, uint32_t *pid, uint32_t *thread)
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

const char *gdb_thread_name(const struct gdb *g, uint32_t thread, char name[32])
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
		at = gdb_thread_parse(at + 1, &g->pid, &threads[n]);
		if (!at)
			return -EPROTO;
		n++;
	} while (*at == ',');
	return *at ? -EPROTO : (int)n;
}

int gdb_threads(struct gdb *g, uint32_t *threads, unsigned int max)
{
	int rc = gdb_ask(g, "qfThreadInfo"), n = 0;

	while (rc > 0 && g->conn.data[0] == 'm') {
		n = threads_add(g, threads, (unsigned int)n, max);
		if (n < 0)
			return n;
		rc = gdb_ask(g, "qsThreadInfo");
	}
	if (rc < 0)
		return rc;
	return rc && g->conn.data[0] == 'l' && n ? n : -EPROTO;
}

/* "CPU#0 [halted ]", "qemu64-x86_64-cpu machine/unattached/device[0] [running]" */
int gdb_thread_is_halted(struct gdb *g, uint32_t thread)
{
	char name[32], text[256] = "";
	int rc = gdb_ask(g, "qThreadExtraInfo,%s", gdb_thread_name(g, thread, name));
	size_t len;

	if (rc < 0)
		return rc;
	len = (size_t)rc / 2 < sizeof(text) ? (size_t)rc / 2 : sizeof(text) - 1;
	rc = hex_decode(g->conn.data, (uint8_t *)text, len);
	if (rc)
		return rc;
	if (strstr(text, "[running]"))
		return 0;
	return strstr(text, "[halted") ? 1 : -EPROTO;
}

/* Registers and, by virtual address, memory are those of the selected thread. */
static int thread_select(struct gdb *g, uint32_t thread)
{
	char name[32];
	int rc;

	if (g->selected == thread)
		return 0;
	rc = gdb_expect_ok(g, gdb_ask(g, "Hg%s", gdb_thread_name(g, thread, name)));
	g->selected = rc ? 0 : thread;
	return rc;
}

/* --- registers ------------------------------------------------------------------------------ */

/* Of the answer to `g`, so many characters. The order of bytes is the guest's, which is ours. */
static int regs_parse(const struct gdb *g, int len, uint64_t values[GDB_NR_REGS])
{
	int rc;

	if (len < 0)
		return len;
	if (g->conn.data[0] == 'E' && len == 3)
		return -EREMOTEIO;
	if ((size_t)len < 2 * g->layout.bytes)
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

int gdb_read_regs(struct gdb *g, uint32_t thread, uint64_t values[GDB_NR_REGS])
{
	int rc = thread_select(g, thread);

	return rc ? rc : regs_parse(g, gdb_ask(g, "g"), values);
}

static const char *reg_text(const struct gdb *g, const struct gdb_reg_value *reg, char text[64])
{
	char hex[17];

	hex_encode(hex, (const uint8_t *)&reg->value, g->layout.reg[reg->reg].size);
	snprintf(text, 64, "P%" PRIx32 "=%s", g->layout.reg[reg->reg].number, hex);
	return text;
}

int gdb_write_regs(struct gdb *g, uint32_t thread, const struct gdb_reg_value *regs, unsigned int n,
		   uint64_t after[GDB_NR_REGS])
{
	int rc = thread_select(g, thread), sent;
	char text[64];

	if (rc)
		return rc;
	packet_hold(&g->conn);
	for (unsigned int i = 0; i < n && !rc; i++)
		rc = packet_send(&g->conn, reg_text(g, &regs[i], text));
	if (!rc)
		rc = packet_send(&g->conn, "g");
	g->conn.no_resend = n > 0;
	sent = packet_flush(&g->conn);
	rc = rc ? rc : sent;
	for (unsigned int i = 0; i < n; i++) {
		int answer = sent ? sent : gdb_expect_ok(g, gdb_next_answer(g));

		rc = rc ? rc : answer;
	}
	sent = sent ? sent : regs_parse(g, gdb_next_answer(g), after);
	g->conn.no_resend = false;
	return rc ? rc : sent;
}

/* One more packet behind those that are there. */
static int append(char **packets, size_t *size, const char *text)
{
	int len = packet_format(*packets, *size, text);

	if (len < 0)
		return len;
	*packets += len;
	*size -= (size_t)len;
	return 0;
}

int gdb_regs_packets(const struct gdb *g, uint32_t thread, const struct gdb_reg_value *regs,
		     unsigned int n, char *packets, size_t size)
{
	char name[32], text[64];
	int rc;

	snprintf(text, sizeof(text), "Hg%s", gdb_thread_name(g, thread, name));
	rc = append(&packets, &size, text);
	/* Of a vCPU that has run QEMU would fetch the registers from KVM later, and forget ours. */
	if (!rc)
		rc = append(&packets, &size, "g");
	for (unsigned int i = 0; i < n && !rc; i++)
		rc = append(&packets, &size, reg_text(g, &regs[i], text));
	return rc;
}
