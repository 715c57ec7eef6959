// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * start-guest.c - a domain of hvtrace's own that runs from its reset on without a stub, so that it
 * can be attached to like anybody's.
 */
#include "vmm/qemu/libvirt/domain.h"
#include "vmm/qemu/start.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#define PATH_ROOM 512

struct machine_guest {
	struct qemu_domain *domain;
	struct qemu_console *console;
	atomic_bool was_reset;
};

static void on_reset(void *arg)
{
	struct machine_guest *g = arg;

	g->was_reset = true;
}

static int start(struct machine_guest *g, const struct machine_config *cfg, char *err,
		 size_t errlen)
{
	char path[PATH_ROOM];
	int rc;

	g->domain = qemu_start_domain(cfg, err, errlen);
	if (!g->domain)
		return -1;
	rc = qemu_domain_watch(g->domain, on_reset, g);
	if (rc) {
		snprintf(err, errlen, "cannot listen to libvirt");
		return rc;
	}
	rc = qemu_domain_serial_open(g->domain, 0, path, sizeof(path), err, errlen);
	if (rc)
		return rc;
	g->console = qemu_console_open(path, cfg->console, cfg->arg, err, errlen);
	return g->console ? qemu_domain_resume(g->domain, err, errlen) : -1;
}

struct machine_guest *machine_guest_new(const struct machine_config *cfg, char *err, size_t errlen)
{
	struct machine_guest *g = calloc(1, sizeof(*g));

	if (!g) {
		snprintf(err, errlen, "no memory for a guest");
		return NULL;
	}
	if (!start(g, cfg, err, errlen))
		return g;
	machine_guest_free(g);
	return NULL;
}

const char *machine_guest_name(const struct machine_guest *g)
{
	return qemu_domain_name(g->domain);
}

const char *machine_guest_accel(const struct machine_guest *g)
{
	return qemu_domain_is_kvm(g->domain) ? "kvm" : "tcg";
}

bool machine_guest_was_reset(const struct machine_guest *g)
{
	return g->was_reset;
}

void machine_guest_free(struct machine_guest *g)
{
	char ignored[512];

	if (!g)
		return;
	qemu_domain_close(g->domain, ignored, sizeof(ignored));
	qemu_console_close(g->console);
	free(g);
}
