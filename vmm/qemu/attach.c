// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * attach.c - takes over a running guest, and gives it back as it was found. A
 * guest that hvtrace has started (start.c) is ended instead.
 *
 * A libvirt domain gets a gdb stub for as long as it is traced; a bare stub is one that QEMU was
 * started with. Connecting to a stub stops the guest. All that is needed of it is asked for in one
 * go, then it runs on.
 */
#include "vmm/core/errand.h"
#include "vmm/qemu/kvm-int3.h"
#include "vmm/qemu/qemu.h"

#include <cpuid.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define ADDRESS_ROOM 512
#define PATIENCE_S   3 /* of a silent stub, before something is said */

/* --- what there is ------------------------------------------------------------------------------
 */

static bool monitor_says(struct qemu_machine *m, const char *command, const char *text)
{
	bool says;
	char *answer;

	if (gdb_monitor(m->gdb, command, &answer))
		return false;
	says = strstr(answer, text);
	free(answer);
	return says;
}

unsigned int qemu_version(struct qemu_machine *m)
{
	unsigned int version;
	char *answer;

	if (gdb_monitor(m->gdb, "info version", &answer))
		return 0;
	version = qemu_monitor_version(answer);
	free(answer);
	return version;
}

/*
 * Did the guest run before we connected? libvirt knows. A bare stub tells up to QEMU 8.0; a later
 * one does not, and then only a guest that has never run is known to stand.
 */
static bool found_running(struct qemu_machine *m)
{
	unsigned int version;

	if (m->domain)
		return qemu_domain_was_running(m->domain);
	if (m->cfg.recover || gdb_was_running(m->gdb))
		return true;
	version = qemu_version(m);
	if (version && version <= 800)
		return false;
	return !monitor_says(m, "info status", "(prelaunch)");
}

/* Where its memory lies, and what time it is there: both are in the monitor's tree of memory. */
static int look_at_memory(struct qemu_machine *m)
{
	char *mtree;
	int rc;

	if (gdb_monitor(m->gdb, "info mtree -f", &mtree))
		return qemu_ram_init(m, NULL);
	qemu_clock_init(m, mtree);
	rc = qemu_ram_init(m, mtree);
	free(mtree);
	return rc;
}

int qemu_look(struct qemu_machine *m, char *err, size_t errlen)
{
	int rc = qemu_vcpus_find(m, err, errlen);

	if (rc)
		return rc;
	m->kvm = m->domain ? qemu_domain_is_kvm(m->domain) : monitor_says(m, "info kvm", "enabled");
	rc = look_at_memory(m);
	/* Of another host nothing is known. */
	m->loses_int3 = m->kvm && m->ram.pid && kvm_loses_int3();
	if (!rc) {
		rc = qemu_vcpu_tables(m);
		/* A stub without QEMU's monitor: the tables stay unknown. */
		if ((rc == -EREMOTEIO || rc == -EPROTO) && !gdb_error(m->gdb))
			rc = 0;
	}
	if (rc)
		snprintf(err, errlen, "the gdb stub stopped answering: %s",
			 gdb_error_text(m->gdb, rc));
	return rc;
}

/* --- attaching and letting go -------------------------------------------------------------------
 */

/* The guest, without our breakpoints, back to itself: the last thing that is said. */
static int give_back(struct qemu_machine *m)
{
	char packet[KEEPER_DETACH_MAX];
	int rc = gdb_detach_packet(m->gdb, packet, sizeof(packet));

	if (rc)
		return rc;
	rc = keeper_detach(&m->keeper, packet);
	return rc == -ESRCH ? gdb_detach(m->gdb, true) : rc;
}

/* Standing is over, or what is left of it is not in our hands. */
static void stop_watching(struct qemu_machine *m)
{
	stand_unwatch(&m->base);
	qemu_stands(m, false, NULL);
}

static void let_go(struct qemu_machine *m)
{
	bool run_on = m->was_running && !m->foreign;
	bool attached = m->started; /* else the caller is told another line */
	char err[512];
	int rc = 0;

	qemu_run_stop(m);
	if (m->gdb && !m->created) {
		rc = qemu_traps_clear_all(m);
		/* Whose process it is has not been asked: the keeper knows what lets any go. */
		if (!rc && !m->nvcpus)
			rc = -ECANCELED;
		if (!rc)
			qemu_mmio_end(m);
		if (!rc && m->pinned)
			rc = qemu_unpin(m);
		if (!rc)
			rc = gdb_detach(m->gdb, false);
		stop_watching(m);
		if (!rc && run_on)
			rc = give_back(m);
		if (rc && attached && m->base.end.type == MACHINE_EVENT_NONE)
			machine_message(&m->base, MACHINE_MSG_WARN,
					"the guest could not be given back as it was found: %s",
					strerror(-rc));
	}
	stop_watching(m);
	/* A stub that does not answer us may still hear that the guest is to run on. */
	if (rc && run_on)
		keeper_release(&m->keeper);
	else
		keeper_stop(&m->keeper);
	gdb_close(m->gdb);
	if (m->domain && m->foreign)
		qemu_domain_leave_paused(m->domain);
	if (qemu_domain_close(m->domain, err, sizeof(err)) && attached)
		machine_message(
			&m->base, MACHINE_MSG_WARN,
			"the gdb stub may stay in the domain: %s (hvtrace attach --recover)", err);
	qemu_console_close(m->channel);
	qemu_console_close(m->console);
}

/*
 * Whoever holds the guest gets errors from here on, wherever it is, and the keeper does what it
 * does for a guest whose tracer was killed: that needs nothing but the connection.
 */
void qemu_let_go(struct machine *base)
{
	struct qemu_machine *m = qemu_machine(base);

	qemu_ram_cut(m);
	gdb_cut(m->gdb);
	keeper_let_go(&m->keeper);
}

void qemu_destroy(struct machine *base)
{
	struct qemu_machine *m = qemu_machine(base);

	let_go(m);
	qemu_ram_exit(m);
	qemu_clock_close(m);
	qemu_follow_free(m);
	trap_table_free(&m->traps);
	qemu_mmio_exit(m);
	pthread_mutex_destroy(&m->clock.lock);
	pthread_mutex_destroy(&m->io);
	machine_exit(base);
	qemu_again_free(m);
	free(m->cmdline);
	free(m);
}

struct qemu_machine *qemu_alloc(const struct machine_ops *ops,
				const struct machine_attach_config *cfg)
{
	struct qemu_machine *m = calloc(1, sizeof(*m));

	if (!m)
		return NULL;
	if (pthread_mutex_init(&m->io, NULL))
		goto err_free;
	if (pthread_mutex_init(&m->clock.lock, NULL))
		goto err_io;
	if (qemu_mmio_init(m))
		goto err_clock;
	if (machine_init(&m->base, ops))
		goto err_mmio;
	m->base.message = cfg->message;
	m->base.arg = cfg->arg;
	m->cfg = *cfg;
	m->cfg.target = m->cfg.connect = NULL; /* the caller's again */
	m->ram.mem_fd = -1;
	return m;

err_mmio:
	qemu_mmio_exit(m);
err_clock:
	pthread_mutex_destroy(&m->clock.lock);
err_io:
	pthread_mutex_destroy(&m->io);
err_free:
	free(m);
	return NULL;
}

static void on_reset(void *arg)
{
	struct qemu_machine *m = arg;

	if (atomic_load(&m->finding))
		atomic_fetch_add(&m->resets, 1);
	else if (!qemu_again_told(m))
		machine_end(&m->base, MACHINE_EVENT_RESET, 0, "the guest was reset");
}

int qemu_watch(struct qemu_machine *m)
{
	return qemu_domain_watch(m->domain, on_reset, m);
}

/* As QEMU finds it, which may have begun in another directory. */
void qemu_remember_folder(struct qemu_machine *m, const char *address)
{
	const char *path = strncmp(address, "unix:", 5) ? "" : address + 5;
	const char *slash = strrchr(path, '/');
	char folder[ADDRESS_ROOM], *whole = NULL;

	if (*path) {
		snprintf(folder, sizeof(folder), "%.*s", slash ? (int)(slash - path) + 1 : 1,
			 slash ? path : ".");
		whole = realpath(folder, NULL);
	}
	if (!whole ||
	    (size_t)snprintf(m->folder, sizeof(m->folder), "%s", whole) >= sizeof(m->folder))
		m->folder[0] = '\0';
	free(whole);
}

static int find_stub(struct qemu_machine *m, const struct machine_attach_config *cfg, char *address,
		     char *err, size_t errlen)
{
	const struct errand_patience patience = {.cancelled = m->cfg.cancelled, .arg = m->cfg.arg};

	if (!strncmp(cfg->target, "gdb:", 4)) {
		snprintf(address, ADDRESS_ROOM, "%s", cfg->target + 4);
		return 0;
	}
	m->domain = qemu_domain_open(cfg->connect, cfg->target, &patience, err, errlen);
	if (!m->domain)
		return -ENOENT;
	return qemu_domain_stub_start(m->domain, cfg->recover, address, ADDRESS_ROOM, err, errlen);
}

/* Who waits for a stub that has another client is told so, and may give up. */
struct patience {
	struct qemu_machine *m;
	time_t told; /* when that is done; 0: it was */
};

static int start_keeper(void *arg, int fd)
{
	struct qemu_machine *m = ((struct patience *)arg)->m;

	keeper_stop(&m->keeper); /* of an address that could not be connected to */
	return keeper_start(&m->keeper, fd, true);
}

static time_t now_s(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec;
}

static bool given_up(const struct qemu_machine *m)
{
	return m->cfg.cancelled && m->cfg.cancelled(m->cfg.arg);
}

static bool stub_is_silent(void *arg)
{
	struct patience *p = arg;

	if (p->told && now_s() >= p->told) {
		machine_message(&p->m->base, MACHINE_MSG_INFO,
				"the gdb stub does not answer yet: another debugger or tracer may "
				"be attached to it");
		p->told = 0;
	}
	return given_up(p->m);
}

/* Seconds are nothing to a guest whose processor is interpreted: QEMU's TCG signs itself here. */
static bool host_interprets(void)
{
	static const char tcg[] = "TCGTCGTCGTCG";
	unsigned int eax;
	union {
		unsigned int reg[3];
		char text[12];
	} sign;

	__cpuid(0x40000000, eax, sign.reg[0], sign.reg[1], sign.reg[2]);
	return !memcmp(sign.text, tcg, sizeof(sign.text));
}

static unsigned int stand_default(const struct qemu_machine *m)
{
	return m->kvm && !host_interprets() ? MACHINE_STAND_MS : MACHINE_STAND_EMULATED_MS;
}

/*
 * The stub stops the guest as soon as we are connected: the keeper is there before, and takes the
 * guest for a running one until it is known that it is not.
 */
static int connect_stub(struct qemu_machine *m, const char *address, char *err, size_t errlen)
{
	struct patience patience = {m, now_s() + PATIENCE_S};
	const struct gdb_caller caller = {start_keeper, stub_is_silent, &patience};
	int fd = gdb_dial(address, &caller, err, errlen), rc = 0;

	if (fd < 0) {
		keeper_stop(&m->keeper);
		return fd;
	}
	m->gdb = gdb_open_idle(fd, stub_is_silent, &patience, err, errlen);
	if (!m->gdb) {
		keeper_release(&m->keeper);
		return -ECONNREFUSED;
	}
	qemu_clock_begin(m);
	m->was_running = found_running(m);
	if (m->was_running) {
		qemu_stands(m, true, "attaching to it");
		rc = stand_watch(&m->base, &m->cfg.limits, MACHINE_STAND_EMULATED_MS, m->cfg.arg);
	} else {
		keeper_stop(&m->keeper);
		rc = keeper_start(&m->keeper, fd, false);
	}
	if (rc)
		snprintf(err, errlen, "cannot start a process or a thread: %s", strerror(-rc));
	return rc;
}

static int still_wanted(const struct qemu_machine *m, char *err, size_t errlen)
{
	if (!given_up(m))
		return 0;
	snprintf(err, errlen, "given up while it was attached to");
	return -ECANCELED;
}

static int attach(struct qemu_machine *m, const struct machine_attach_config *cfg, char *err,
		  size_t errlen)
{
	char address[ADDRESS_ROOM];
	int rc = find_stub(m, cfg, address, err, errlen);

	if (rc)
		return rc;
	qemu_remember_folder(m, address);
	rc = connect_stub(m, address, err, errlen);
	if (!rc)
		rc = still_wanted(m, err, errlen);
	if (!rc)
		rc = qemu_look(m, err, errlen);
	if (!rc)
		rc = still_wanted(m, err, errlen);
	if (rc)
		return rc;
	rc = qemu_pin(m, err, errlen);
	if (rc)
		return rc;
	qemu_mmio_recover(m);
	stand_set_default(&m->base, stand_default(m));
	rc = qemu_run_start(m, m->was_running);
	/* While it runs on. */
	qemu_clock_open(m);
	if (rc)
		snprintf(err, errlen, "cannot start a thread: %s", strerror(-rc));
	else if (m->domain && qemu_watch(m))
		machine_message(&m->base, MACHINE_MSG_WARN,
				"libvirt does not tell when the guest is reset");
	return rc;
}

struct machine *qemu_take_over(const struct machine_ops *ops,
			       const struct machine_attach_config *cfg, char *err, size_t errlen)
{
	struct qemu_machine *m = qemu_alloc(ops, cfg);
	struct machine_event ev;

	if (!m) {
		snprintf(err, errlen, "no memory for the machine");
		return NULL;
	}
	if (!attach(m, cfg, err, errlen))
		return &m->base;
	/* Let go meanwhile: what that is called elsewhere, a stub that does not answer, is no help.
	 */
	if (machine_has_ended(&m->base, &ev))
		snprintf(err, errlen, "%s", ev.text);
	qemu_destroy(&m->base);
	return NULL;
}
