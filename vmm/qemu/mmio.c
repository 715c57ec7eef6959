// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * mmio.c - accesses of the guest's to devices, as QEMU itself tells them: by two of its trace
 * events, in its log, which becomes a pipe of ours for as long as it is traced.
 *
 * The monitor switches all that on and off. QEMU writes a line on the vCPU's thread before the vCPU
 * goes on, so at a stop all lines of what came before it are in the pipe: what the guest does next
 * is told behind them (qemu_mmio_catch_up()). Its end does not block: where nobody reads, lines are
 * lost, and the guest goes on. Should the tracer die, the keeper switches it off; should both die,
 * QEMU writes into a pipe without a reader, which it ignores, until the next tracer finds that.
 *
 * A QEMU before 7.1 ends when it cannot open its log (qemu_set_log() of util/log.c): none of those.
 */
#include "vmm/qemu/qemu.h"
#include "vmm/thread.h"

#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>
#include <x86intrin.h>

#define READ	   "memory_region_ops_read"
#define WRITE	   "memory_region_ops_write"
#define CHUNK	   (64 << 10)
#define CATCH_UP   (4u << 20) /* more than any pipe holds */
#define PORTS	   0x10000    /* I/O ports are told by the same events, at these addresses */
#define OLDEST_NS  UINT64_C(10000000000) /* of a time stamp; else the two clocks are not one */
#define COMMAND	   (2 * MMIO_PIPE_PATH)
#define KEPT	   "/dev/null"
#define NEEDS_QEMU 701 /* major and minor */

/* --- what is told ------------------------------------------------------------------------------
 */

static uint64_t realtime_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

/* The host's TSC when that was, by the line's own time or by when it is read, and not behind
 * `latest`. */
static uint64_t host_tsc(const struct qemu_machine *m, const struct mmio_line *line,
			 uint64_t latest)
{
	const struct qemu_mmio *mm = &m->mmio;
	uint64_t ago = line->ns && line->ns < mm->at_ns ? mm->at_ns - line->ns : 0, at = mm->at;

	if (ago < OLDEST_NS)
		at -= (uint64_t)((unsigned __int128)ago * m->clock.khz / 1000000);
	return at < latest ? at : latest;
}

static int vcpu_of(const struct qemu_machine *m, uint32_t cpu)
{
	/* The stub's number is one more: monitor.c. */
	for (unsigned int i = 0; i < m->nvcpus && i < m->max_vcpus; i++)
		if (m->vcpu[i].thread == cpu + 1)
			return (int)i;
	return -ENOENT;
}

struct telling {
	struct qemu_machine *m;
	uint64_t latest;
};

static void tell(void *arg, const struct mmio_line *line)
{
	const struct telling *t = arg;
	struct qemu_machine *m = t->m;
	int vcpu = vcpu_of(m, line->cpu);
	struct machine_mmio access = {
		.is_write = line->is_write,
		.size = line->size,
		.pa = line->addr,
		.value = line->value,
	};

	if (vcpu < 0 || line->addr < PORTS || !atomic_load(&m->mmio.on))
		return;
	access.vcpu = (unsigned int)vcpu;
	access.tsc = qemu_clock_at(m, access.vcpu, host_tsc(m, line, t->latest));
	m->cfg.mmio(&m->base, &access, m->cfg.arg);
}

static void tell_lost(struct qemu_machine *m)
{
	if (m->mmio.told || !atomic_load(&m->mmio.on))
		return;
	m->mmio.told = true;
	machine_message(&m->base, MACHINE_MSG_WARN,
			"QEMU told of accesses to devices faster than they could be read: some may "
			"be missing");
}

/* With mmio.lock held: how much there was, at most CHUNK; 0: nothing (yet). */
static size_t read_some(struct qemu_machine *m, uint64_t latest)
{
	struct telling t = {m, latest};
	struct qemu_mmio *mm = &m->mmio;
	char bytes[CHUNK];
	ssize_t n;

	if (!mm->made)
		return 0;
	if (mmio_pipe_is_full(&mm->pipe))
		tell_lost(m);
	n = read(mm->pipe.fd, bytes, sizeof(bytes));
	if (n <= 0)
		return 0;
	mm->at = __rdtsc();
	mm->at_ns = realtime_ns();
	mmio_lines_feed(&mm->lines, bytes, (size_t)n, tell, &t);
	return (size_t)n;
}

void qemu_mmio_catch_up(struct qemu_machine *m)
{
	uint64_t latest = m->clock.stop_begin;
	size_t sum = 0, n = 1;

	if (!atomic_load(&m->mmio.on))
		return;
	pthread_mutex_lock(&m->mmio.lock);
	for (; n && sum < CATCH_UP; sum += n)
		n = read_some(m, latest);
	pthread_mutex_unlock(&m->mmio.lock);
}

static void *mmio_thread(void *arg)
{
	struct qemu_machine *m = arg;
	struct pollfd fds[] = {{.fd = m->mmio.wake, .events = POLLIN},
			       {.fd = m->mmio.pipe.fd, .events = POLLIN}};

	while (poll(fds, 2, -1) > 0 || errno == EINTR) {
		if (fds[0].revents)
			break;
		pthread_mutex_lock(&m->mmio.lock);
		read_some(m, UINT64_MAX);
		pthread_mutex_unlock(&m->mmio.lock);
	}
	return NULL;
}

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

/* Events are off, or nobody can say so any more. */
static void log_back(struct qemu_machine *m)
{
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
		log_back(m);
	}
	free(answer);
	return rc;
}

static int make_log(struct qemu_machine *m, char *err, size_t errlen)
{
	struct ucred qemu = gdb_server(m->gdb);
	struct qemu_mmio *mm = &m->mmio;
	int rc;

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

static int start_thread(struct qemu_machine *m, char *err, size_t errlen)
{
	struct qemu_mmio *mm = &m->mmio;
	int rc;

	mm->wake = eventfd(0, EFD_CLOEXEC);
	rc = mm->wake < 0 ? -errno : thread_start(&mm->thread, "mmio", NULL, mmio_thread, m);
	mm->started = !rc;
	return rc ? refuse(err, errlen, "cannot start a thread: %s", strerror(-rc)) : 0;
}

static void stop_thread(struct qemu_mmio *mm)
{
	const uint64_t one = 1;

	if (!mm->started)
		return;
	while (write(mm->wake, &one, sizeof(one)) < 0 && errno == EINTR)
		;
	pthread_join(mm->thread, NULL);
	mm->started = false;
}

static void close_log(struct qemu_machine *m)
{
	struct qemu_mmio *mm = &m->mmio;

	stop_thread(mm);
	if (mm->wake >= 0)
		close(mm->wake);
	mm->wake = -1;
	pthread_mutex_lock(&mm->lock);
	mm->made = false;
	mmio_pipe_close(&mm->pipe);
	pthread_mutex_unlock(&mm->lock);
}

static void switch_all(struct qemu_machine *m, const char *const switches[NR_SWITCHES])
{
	for (size_t i = 0; i < NR_SWITCHES; i++)
		command(m, switches[i]);
}

/* With m->io held and the guest standing. */
static int begin(struct qemu_machine *m, char *err, size_t errlen)
{
	struct qemu_mmio *mm = &m->mmio;
	int rc = 0;

	if (!mm->made) {
		rc = check(m, err, errlen);
		if (!rc)
			rc = make_log(m, err, errlen);
		if (rc)
			return rc;
		mm->made = true;
		rc = start_thread(m, err, errlen);
	}
	if (!rc) {
		atomic_store(&mm->on, true);
		switch_all(m, switch_on);
		if (events_state(m) != 1)
			rc = refuse(err, errlen, "QEMU does not switch its trace events on");
	}
	if (rc)
		qemu_mmio_end(m);
	return rc;
}

static void pause_telling(struct qemu_machine *m)
{
	struct qemu_mmio *mm = &m->mmio;

	switch_all(m, switch_off);
	qemu_mmio_catch_up(m);
	pthread_mutex_lock(&mm->lock); /* who is told of one is done with it behind this */
	atomic_store(&mm->on, false);
	pthread_mutex_unlock(&mm->lock);
}

int qemu_mmio_watch(struct machine *base, bool on, char *err, size_t errlen)
{
	struct qemu_machine *m = qemu_machine(base);
	int rc = 0;

	if (on == atomic_load(&m->mmio.on))
		return 0;
	machine_pause_for(base, "switching accesses to devices on or off");
	pthread_mutex_lock(&m->io);
	if (on)
		rc = begin(m, err, errlen);
	else
		pause_telling(m);
	pthread_mutex_unlock(&m->io);
	machine_resume(base);
	return rc;
}

void qemu_mmio_end(struct qemu_machine *m)
{
	if (!m->mmio.made)
		return;
	switch_all(m, switch_off);
	log_back(m);
	atomic_store(&m->mmio.on, false);
	close_log(m);
}

void qemu_mmio_recover(struct qemu_machine *m)
{
	if (!m->ram.direct || !mmio_pipe_is_left(m->ram.pid))
		return;
	end_commands(m, m->mmio.log_back);
	switch_all(m, switch_off);
	log_back(m);
	machine_message(&m->base, MACHINE_MSG_INFO,
			"a tracer that was killed has had QEMU log the guest's accesses to "
			"devices: that is off again");
}

bool qemu_mmio_can(const struct qemu_machine *m)
{
	return m->ram.direct && m->folder[0] && m->cfg.mmio;
}

int qemu_mmio_init(struct qemu_machine *m)
{
	m->mmio.wake = m->mmio.pipe.fd = m->mmio.pipe.qemu_fd = -1;
	return -pthread_mutex_init(&m->mmio.lock, NULL);
}

void qemu_mmio_exit(struct qemu_machine *m)
{
	close_log(m);
	pthread_mutex_destroy(&m->mmio.lock);
}
