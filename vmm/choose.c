// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * choose.c - the backends, and which of them suits this host.
 *
 * The one file that knows them all: it stands on top of them, and nothing in here calls it.
 */
#include "vmm/core/backend.h"
#include "vmm/core/errand.h"

#include <stdio.h>
#include <string.h>

static const struct machine_ops *const machines[] = {
	&kvm_machine_ops,
	&qemu_machine_ops,
};

#define NR_MACHINES (sizeof(machines) / sizeof(machines[0]))

const char *machine_backend(unsigned int i, const char **desc)
{
	if (i >= NR_MACHINES)
		return NULL;
	if (desc)
		*desc = machines[i]->desc;
	return machines[i]->name;
}

struct machine *machine_new(const char *backend, const struct machine_config *cfg, char *err,
			    size_t errlen)
{
	for (size_t i = 0; i < NR_MACHINES; i++) {
		if (strcmp(machines[i]->name, backend) != 0)
			continue;
		if (!cfg->snapshot || machines[i]->save)
			return machines[i]->create(cfg, err, errlen);
		snprintf(err, errlen, "no snapshot can be taken up by %s", backend);
		return NULL;
	}
	snprintf(err, errlen, "no machine backend is called %s", backend);
	return NULL;
}

struct machine *machine_attach(const struct machine_attach_config *cfg, char *err, size_t errlen)
{
	/* libvirt has no names with a slash. */
	if (!*cfg->target)
		snprintf(err, errlen, "no guest is named");
	else if (strncmp(cfg->target, "gdb:", 4) != 0 && strchr(cfg->target, '/'))
		snprintf(err, errlen, "'%s' is no name of a domain", cfg->target);
	else
		return qemu_attach(cfg, err, errlen);
	return NULL;
}

bool machine_has_strays(void)
{
	return errand_any_left();
}

int machine_list(const char *connect, const struct machine_patience *patience,
		 struct machine_listing **list, char *err, size_t errlen)
{
	return qemu_list(connect, patience, list, err, errlen);
}

void machine_list_free(struct machine_listing *list, int nr)
{
	qemu_list_free(list, nr);
}

bool machine_has_label(const struct machine_listing *l, const char *key, const char *value)
{
	return qemu_has_label(l, key, value);
}

int machine_get_loads(const char *connect, const struct machine_patience *patience,
		      struct machine_load **loads, char *err, size_t errlen)
{
	return qemu_get_loads(connect, patience, loads, err, errlen);
}

struct machine_watch *machine_watch_new(const char *connect, char *err, size_t errlen)
{
	return qemu_watch_new(connect, err, errlen);
}

int machine_watch_fd(const struct machine_watch *w)
{
	return qemu_watch_fd(w);
}

bool machine_watch_take(struct machine_watch *w, struct machine_news *news)
{
	return qemu_watch_take(w, news);
}

void machine_watch_free(struct machine_watch *w)
{
	qemu_watch_free(w);
}

bool machine_kvm_runs(void)
{
	return kvm_host_is_native() > 0;
}

const char *machine_choose(const char *connect, const struct machine_patience *patience, char *why,
			   size_t len)
{
	char reason[256], no_libvirt[384];
	int native = kvm_host_is_native();

	if (native > 0) {
		snprintf(why, len, "kvm, as KVM runs guest kernels on the processor here");
		return kvm_machine_ops.name;
	}
	if (native)
		snprintf(reason, sizeof(reason), "/dev/kvm cannot be used: %s", strerror(-native));
	else
		snprintf(reason, sizeof(reason), "KVM interprets guest kernels here");
	if (!qemu_reachable(connect, patience, no_libvirt, sizeof(no_libvirt))) {
		snprintf(why, len, "qemu, as %s", reason);
		return qemu_machine_ops.name;
	}
	snprintf(why, len, "kvm, although %s: for qemu start libvirtd or name one (--connect); %s",
		 reason, no_libvirt);
	return kvm_machine_ops.name;
}
