// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * devices.c - the devices that the owner of the machine asks for, on its PCI bus; a machine that
 * nothing is asked for has none.
 *
 * While the machine is paused devices go on with what the vCPUs have asked of them: they read and
 * write the guest's buffers and rings. Who needs all of it to stand holds them, too.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "vmm/kvm/devices.h"
#include "vmm/kvm/save.h"
#include "vmm/kvm/share/share.h"
#include "vmm/kvm/virtio/blk.h"
#include "vmm/kvm/virtio/console.h"
#include "vmm/kvm/virtio/fs.h"
#include "vmm/kvm/virtio/net.h"
#include "vmm/kvm/virtio/rng.h"
#include "vmm/kvm/virtio/vsock.h"

#define END_MS 10000 /* for what disks are about at the end of the guest */

/* --- kinds -------------------------------------------------------------------------------------
 */

static void warn(void *arg, const char *text)
{
	struct kvm_machine *m = arg;

	machine_message(&m->base, MACHINE_MSG_WARN, "%s", text);
}

static size_t disk_count(const struct machine_devices *d)
{
	return d->ndisk;
}

static struct virtio_device *disk_make(struct kvm_machine *m, size_t i, char *err, size_t errlen)
{
	const struct machine_disk *from = &m->cfg.devices.disk[i];
	struct disk_changes changes;
	struct disk_config cfg = {.path = from->path,
				  .format = from->format,
				  .read_only = from->read_only,
				  .keep = from->keep,
				  .warn = warn,
				  .arg = m};
	struct disk *disk;
	struct virtio_device *d;
	char name[24];

	if (m->snapshot && kvm_snapshot_changes(m->snapshot, i, &changes))
		cfg.changes = &changes;
	disk = disk_open(&cfg, err, errlen);
	if (!disk)
		return NULL;
	snprintf(name, sizeof(name), "disk%zu", i);
	d = blk_new(disk, name);
	if (!d) {
		snprintf(err, errlen, "no memory for a disk");
		disk_close(disk);
		return NULL;
	}
	if (i < DEVICES_MAX) {
		m->devices->disk[i] = disk;
		m->devices->ndisk = (unsigned int)i + 1;
	}
	return d;
}

static size_t net_count(const struct machine_devices *d)
{
	return d->net.kind != MACHINE_NET_NONE;
}

static struct virtio_device *net_make(struct kvm_machine *m, size_t i, char *err, size_t errlen)
{
	const struct machine_net *from = &m->cfg.devices.net;
	struct net_config cfg = {.warn = warn, .arg = m};
	struct virtio_device *d;

	(void)i;
	memcpy(cfg.mac, from->mac, sizeof(cfg.mac));
	cfg.link = link_open(from, err, errlen);
	if (!cfg.link)
		return NULL;
	d = net_new(&cfg);
	if (!d) {
		snprintf(err, errlen, "no memory for a network card");
		link_close(cfg.link);
	}
	return d;
}

static size_t fs_count(const struct machine_devices *d)
{
	return d->nshare;
}

/* The guest's RAM, and nothing else of its memory: windows are ours. */
static struct share *fs_share(struct kvm_machine *m, const struct machine_share *from, char *err,
			      size_t errlen)
{
	struct share_memory ram[SHARE_MEMORY_MAX];

	for (unsigned int i = 0; i < m->nram; i++)
		ram[i] = (struct share_memory){.pa = m->mem[i].pa,
					       .size = m->mem[i].size,
					       .offset = m->mem[i].offset,
					       .fd = m->ram_fd};
	return share_open(from, ram, m->nram, err, errlen);
}

static struct virtio_device *fs_make(struct kvm_machine *m, size_t i, char *err, size_t errlen)
{
	const struct machine_share *from = &m->cfg.devices.share[i];
	struct fs_config cfg = {.tag = from->tag, .path = from->path, .warn = warn, .arg = m};
	struct virtio_device *d;

	cfg.share = fs_share(m, from, err, errlen);
	if (!cfg.share)
		return NULL;
	d = fs_new(&cfg);
	if (!d) {
		snprintf(err, errlen, "no memory for a shared folder");
		share_close(cfg.share);
	}
	return d;
}

static size_t vsock_count(const struct machine_devices *d)
{
	return d->nstream > 0;
}

static struct virtio_device *vsock_make(struct kvm_machine *m, size_t i, char *err, size_t errlen)
{
	const struct machine_devices *from = &m->cfg.devices;
	struct virtio_device *d = vsock_new(from->stream, from->nstream);

	(void)i;
	if (!d)
		snprintf(err, errlen, "no memory, or no more descriptors, for a guest's streams");
	return d;
}

static size_t console_count(const struct machine_devices *d)
{
	return d->console;
}

static struct virtio_device *console_make(struct kvm_machine *m, size_t i, char *err, size_t errlen)
{
	struct virtio_device *d = console_new(m->cfg.console, m->cfg.arg);

	(void)i;
	m->devices->console = d;
	if (!d)
		snprintf(err, errlen, "no memory, or no more descriptors, for a console");
	return d;
}

/* Every guest with devices: what starts in it wants random numbers at once. */
static size_t rng_count(const struct machine_devices *d)
{
	(void)d;
	return 1;
}

static struct virtio_device *rng_make(struct kvm_machine *m, size_t i, char *err, size_t errlen)
{
	struct virtio_device *d = rng_new();

	(void)m, (void)i;
	if (!d)
		snprintf(err, errlen, "no memory for a random number generator");
	return d;
}

/* In the order of their slots: the first disk is the one of the lowest number. */
static const struct kind {
	size_t (*count)(const struct machine_devices *d);
	/* Number i of them; NULL: err says why. */
	struct virtio_device *(*make)(struct kvm_machine *m, size_t i, char *err, size_t errlen);
} kinds[] = {
	{disk_count, disk_make},   {net_count, net_make},	  {fs_count, fs_make},
	{vsock_count, vsock_make}, {console_count, console_make}, {rng_count, rng_make},
};

/* --- all of them -------------------------------------------------------------------------------
 */

static int plug(struct kvm_devices *all, struct virtio_device *d, char *err, size_t errlen)
{
	struct plugged *p = &all->plugged[all->n];
	int rc;

	if (all->n == DEVICES_MAX) {
		snprintf(err, errlen, "a guest can have %d devices at most", DEVICES_MAX);
		virtio_free(d);
		return -1;
	}
	p->device = d;
	all->n++;
	rc = kvm_pci_plug(all->pci, &p->function, d);
	if (!rc)
		rc = virtio_start(d);
	if (rc)
		snprintf(err, errlen, "cannot set up a device of the guest: %s", strerror(-rc));
	return rc;
}

static int make_all(struct kvm_machine *m, struct kvm_devices *all, char *err, size_t errlen)
{
	int rc = 0;

	for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++) {
		size_t count = kinds[k].count(&m->cfg.devices);

		for (size_t i = 0; i < count && !rc; i++) {
			struct virtio_device *d = kinds[k].make(m, i, err, errlen);

			rc = d ? plug(all, d, err, errlen) : -1;
		}
	}
	return rc;
}

static bool is_asked_for(const struct machine_devices *d)
{
	return d->ndisk || d->nshare || d->nstream || d->console || d->net.kind != MACHINE_NET_NONE;
}

int kvm_devices_init(struct kvm_machine *m, char *err, size_t errlen)
{
	struct kvm_devices *all;

	if (!is_asked_for(&m->cfg.devices))
		return 0;
	all = m->devices = calloc(1, sizeof(*all));
	if (all)
		m->pci = all->pci = kvm_pci_new(m);
	if (!all || !m->pci) {
		snprintf(err, errlen, "no memory for the guest's devices");
		return -1;
	}
	return make_all(m, all, err, errlen);
}

void kvm_devices_exit(struct kvm_machine *m)
{
	struct kvm_devices *all = m->devices;

	if (!all)
		return;
	disk_give_up(all->disk, all->ndisk, END_MS);
	for (unsigned int i = 0; i < all->n; i++) {
		virtio_free(all->plugged[i].device);
		virtio_pci_exit(&all->plugged[i].function);
	}
	kvm_pci_free(all->pci);
	free(all);
}

struct virtio_device *kvm_devices_console(struct kvm_machine *m)
{
	return m->devices ? m->devices->console : NULL;
}

void kvm_devices_reset(struct kvm_machine *m)
{
	for (unsigned int i = 0; m->devices && i < m->devices->n; i++)
		virtio_pci_reset(&m->devices->plugged[i].function);
}

void kvm_devices_hold(struct kvm_machine *m)
{
	for (unsigned int i = 0; m->devices && i < m->devices->n; i++)
		virtio_hold(m->devices->plugged[i].device);
}

void kvm_devices_release(struct kvm_machine *m)
{
	for (unsigned int i = 0; m->devices && i < m->devices->n; i++)
		virtio_release(m->devices->plugged[i].device);
}
