// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * mmio-log.c - QEMU's log becomes a pipe of ours, with accesses to devices in it, and what it was
 * before: what the monitor is told for that, and the keeper, should we not come to it.
 *
 * A QEMU before 7.1 ends when it cannot open its log (qemu_set_log() of util/log.c): none of those.
 */
#include "vmm/qemu/qemu.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define READ	   "memory_region_ops_read"
#define WRITE	   "memory_region_ops_write"
#define COMMAND	   (2 * MMIO_PIPE_PATH)
#define KEPT	   "/dev/null"
#define NEEDS_QEMU 701 /* major and minor */

/* --- the monitor --------------------------------------------------------------------------------
 */

__attribute__((format(printf, 3, 4))) static int refuse(char *err, size_t errlen, const char *fmt,
							...)
{
	size_t n = (size_t)snprintf(err, errlen, "accesses to devices are not told: ");
	va_list ap;

	va_start(ap, fmt);
	if (n < errlen)
		vsnprintf(err + n, errlen - n, fmt, ap);
	va_end(ap);
	return -EOPNOTSUPP;
}

/* True: it has been said, and the answer is nothing. */
static bool command(struct qemu_machine *m, const char *text)
{
	char *answer;
	bool quiet;

	if (gdb_monitor(m->gdb, text, &answer))
		return false;
	quiet = !*answer;
	free(answer);
	return quiet;
}

/* In the monitor's quotes (get_str() in monitor/hmp.c). 0 or -ENAMETOOLONG. */
static int logfile_command(char text[COMMAND], const char *name)
{
	size_t n = (size_t)snprintf(text, COMMAND, "logfile \"");

	for (; *name; name++) {
		if (n + 4 > COMMAND)
			return -ENAMETOOLONG;
		if (*name == '"' || *name == '\\')
			text[n++] = '\\';
		text[n++] = *name;
	}
	snprintf(text + n, COMMAND - n, "\"");
	return 0;
}

static const char *const switch_off[] = {"trace-event " READ " off", "trace-event " WRITE " off"};
static const char *const switch_on[] = {"trace-event " READ " on", "trace-event " WRITE " on"};

#define NR_SWITCHES (sizeof(switch_off) / sizeof(switch_off[0]))

/* "memory_region_ops_read : state 0": -1: it has none */
static int event_state(const char *answer, const char *event)
{
	const char *at = strstr(answer, event);

	if (!at || strncmp(at + strlen(event), " : state ", 9) != 0)
		return -1;
	return at[strlen(event) + 9] != '0';
}

/* Both are on (1), off (0), there are none (-1), or nobody knows (-errno, less than that). */
static int events_state(struct qemu_machine *m)
{
	char *answer;
	int rc = gdb_monitor(m->gdb, "info trace-events memory_region_ops_*", &answer), both;

	if (rc)
		return rc < -1 ? rc : -EIO;
	rc = event_state(answer, READ);
	both = event_state(answer, WRITE);
	free(answer);
	if (rc < 0 || both < 0)
		return -1;
	return rc || both;
}

static bool answers_with(struct qemu_machine *m, const char *text, const char *with)
{
	char *answer;
	bool has;

	if (gdb_monitor(m->gdb, text, &answer))
		return false;
	has = strstr(answer, with);
	free(answer);
	return has;
}

/* That it can be had of this QEMU, and takes nothing away from others. */
static int check(struct qemu_machine *m, char *err, size_t errlen)
{
	unsigned int version = qemu_version(m);
	const char *used;
	int state;

	if (!qemu_mmio_can(m))
		return refuse(err, errlen,
			      "that takes a stub on a unix socket (gdb:unix:PATH), and the right "
			      "to read the memory of its QEMU");
	if (version < NEEDS_QEMU)
		return refuse(err, errlen, "QEMU is older than 7.1, or does not tell its version");
	used = mmio_log_is_used(m->ram.pid);
	if (used)
		return refuse(err, errlen,
			      "QEMU was started with %s, and what it logs would be taken away",
			      used);
	state = events_state(m);
	if (state < -1)
		return refuse(err, errlen, "%s", gdb_error_text(m->gdb, state));
	if (state < 0 || !answers_with(m, "help log", "trace:PATTERN"))
		return refuse(err, errlen,
			      "this QEMU was built without trace events in its log "
			      "(--enable-trace-backends=log)");
	if (state > 0)
		return refuse(err, errlen,
			      "someone else has them traced (in the monitor: trace-event "
			      "memory_region_ops_* off)");
	return 0;
}

/* --- beginning and end --------------------------------------------------------------------------
 */

/* What is to be said whenever that ends. */
static void end_commands(struct qemu_machine *m, char text[COMMAND])
{
	char place[MMIO_PIPE_PATH];

	mmio_log_place(m->ram.pid, place, sizeof(place));
	if (logfile_command(text, place))
		logfile_command(text, KEPT);
}

static int tell_keeper(struct qemu_machine *m)
{
	char packets[KEEPER_ALSO_MAX];
	size_t len = 0;
	int rc = 0;

	for (size_t i = 0; i <= NR_SWITCHES && !rc; i++) {
		const char *text = i < NR_SWITCHES ? switch_off[i] : m->mmio.log_back;

		rc = gdb_monitor_packet(text, packets + len, sizeof(packets) - len);
		len += rc > 0 ? (size_t)rc : 0;
		rc = rc < 0 ? rc : 0;
	}
	return rc ? rc : keeper_also(&m->keeper, packets, m->mmio.pipe.fd);
}

static void switch_all(struct qemu_machine *m, const char *const switches[NR_SWITCHES])
{
	for (size_t i = 0; i < NR_SWITCHES; i++)
		command(m, switches[i]);
}

void qemu_mmio_log_end(struct qemu_machine *m)
{
	switch_all(m, switch_off);
	if (!command(m, m->mmio.log_back))
		command(m, "logfile \"" KEPT "\"");
	keeper_also(&m->keeper, NULL, -1);
}

static int open_log(struct qemu_machine *m, char *err, size_t errlen)
{
	struct qemu_mmio *mm = &m->mmio;
	char text[COMMAND], *answer = NULL;
	int rc;

	rc = logfile_command(text, mm->pipe.path);
	if (!rc)
		rc = gdb_monitor(m->gdb, text, &answer);
	if (!rc)
		rc = mmio_pipe_take(&mm->pipe, m->ram.pid);
	if (answer)
		answer[strcspn(answer, "\r\n")] = '\0';
	if (rc) {
		refuse(err, errlen, "QEMU does not open a pipe for them: %s",
		       answer && *answer ? answer : gdb_error_text(m->gdb, rc));
		qemu_mmio_log_end(m);
	}
	free(answer);
	return rc;
}

int qemu_mmio_log_open(struct qemu_machine *m, char *err, size_t errlen)
{
	struct ucred qemu = gdb_server(m->gdb);
	struct qemu_mmio *mm = &m->mmio;
	int rc = check(m, err, errlen);

	if (rc)
		return rc;
	end_commands(m, mm->log_back);
	qemu.pid = m->ram.pid;
	rc = mmio_pipe_make(&mm->pipe, m->folder, &qemu);
	if (rc == -EPERM)
		return refuse(err, errlen,
			      "a pipe for them cannot be made any more: ask for that from the "
			      "beginning, or trace with --no-sandbox");
	if (rc)
		return refuse(err, errlen, "no pipe for them can be made in %s: %s", m->folder,
			      strerror(-rc));
	rc = tell_keeper(m);
	if (rc)
		refuse(err, errlen, "%s", strerror(-rc));
	else
		rc = open_log(m, err, errlen);
	if (rc)
		mmio_pipe_close(&mm->pipe);
	return rc;
}

int qemu_mmio_log_switch(struct qemu_machine *m, bool on, char *err, size_t errlen)
{
	switch_all(m, on ? switch_on : switch_off);
	if (on && events_state(m) != 1)
		return refuse(err, errlen, "QEMU does not switch its trace events on");
	return 0;
}

void qemu_mmio_recover(struct qemu_machine *m)
{
	if (!m->ram.direct || !mmio_pipe_is_left(m->ram.pid))
		return;
	end_commands(m, m->mmio.log_back);
	qemu_mmio_log_end(m);
	machine_message(&m->base, MACHINE_MSG_INFO,
			"a tracer that was killed has had QEMU log the guest's accesses to "
			"devices: that is off again");
}

bool qemu_mmio_can(const struct qemu_machine *m)
{
	return m->ram.direct && m->folder[0] && m->cfg.mmio;
}
