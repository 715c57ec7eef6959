// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * save-devices.c - virtio devices in a snapshot, and what a guest has written to disks whose images
 * stay as they are. The images themselves are not in it: they are to be what they were.
 */
#include "vmm/kvm/save.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "vmm/kvm/devices.h"

#define PAGE	 4096u
#define PATH_LEN 4096u
#define DISK_MAX (UINT64_C(1) << 50)

/* --- saving --------------------------------------------------------------------------------- */

const char *kvm_devices_unsavable(struct kvm_machine *m)
{
	const struct machine_devices *d = &m->cfg.devices;

	if (!m->devices)
		return NULL;
	if (d->net.kind != MACHINE_NET_NONE)
		return "one with a network card cannot be saved (--net none is without)";
	if (d->nshare || d->nstream)
		return "one with shared folders, or a command of its host's, cannot be saved";
	if (d->console)
		return "one with a virtio console cannot be saved (a serial one can)";
	for (unsigned int i = 0; i < m->devices->ndisk; i++)
		if (disk_cannot_be_saved(m->devices->disk[i]))
			return "of disks only files with raw images that are not written to can be "
			       "saved (without --write)";
	return NULL;
}

static int disk_put(struct kvm_machine *m, unsigned int i, struct state_sections *s)
{
	struct disk *disk = m->devices->disk[i];
	const char *path = m->cfg.devices.disk[i].path;
	struct save_disk about = {.size = disk_size(disk), .read_only = disk_is_read_only(disk)};
	size_t words = 0;
	int rc = disk_identify(disk, &about.image), no_map;
	uint64_t *map = disk_changed(disk, &words, &no_map);

	if (map)
		about.written = (about.size + PAGE - 1) & ~(uint64_t)(PAGE - 1);
	state_put(s, STATE_DISK, i, &about, sizeof(about));
	state_put(s, STATE_DISK_PATH, i, path, strlen(path));
	if (map)
		state_put(s, STATE_DISK_MAP, i, map, words * sizeof(*map));
	free(map);
	return rc ? rc : no_map;
}

int kvm_devices_save(struct kvm_machine *m, struct state_sections *s)
{
	struct kvm_devices *all = m->devices;
	struct virtio_state virtio;
	struct pci_state pci;
	uint32_t address;
	int rc = 0;

	if (!all)
		return 0;
	address = kvm_pci_get_address(all->pci);
	state_put(s, STATE_PCI, 0, &address, sizeof(address));
	for (unsigned int i = 0; i < all->n; i++) {
		pci_save(&all->plugged[i].function.function, &pci);
		virtio_save(all->plugged[i].device, &virtio);
		state_put(s, STATE_PCI_FUNCTION, i, &pci, sizeof(pci));
		state_put(s, STATE_VIRTIO, i, &virtio, sizeof(virtio));
	}
	for (unsigned int i = 0; i < all->ndisk && !rc; i++)
		rc = disk_put(m, i, s);
	return rc;
}

int kvm_devices_save_disks(struct kvm_machine *m, const struct state_sink *to, uint64_t *at)
{
	int rc = 0;

	for (unsigned int i = 0; m->devices && i < m->devices->ndisk && !rc; i++) {
		struct disk *disk = m->devices->disk[i];

		if (disk_is_read_only(disk))
			continue;
		rc = disk_save(disk, to->put, to->arg, *at);
		*at += (disk_size(disk) + PAGE - 1) & ~(uint64_t)(PAGE - 1);
	}
	return rc;
}

/* --- what disks there were --------------------------------------------------------------------
 */

/* Text that is a path; NULL: none, or no memory. For the caller to free. */
static char *get_path(const struct state_file *f, uint32_t i)
{
	size_t len = 0;
	const char *text = state_get(f, STATE_DISK_PATH, i, &len);

	if (!text || !len || len >= PATH_LEN || *text != '/' || memchr(text, '\0', len))
		return NULL;
	return strndup(text, len);
}

/* One whose words make sense. */
static const struct save_disk *disk_get(const struct state_file *f, uint32_t i)
{
	const struct save_disk *d = state_get_sized(f, STATE_DISK, i, sizeof(*d));
	size_t len = 0;
	bool map;

	if (!d || !d->size || d->size > DISK_MAX || d->size % DISK_SECTOR || d->read_only > 1)
		return NULL;
	map = state_get(f, STATE_DISK_MAP, i, &len);
	if (map == d->read_only || d->written != (map ? (d->size + PAGE - 1) / PAGE * PAGE : 0))
		return NULL;
	return !map || len == (d->size / DISK_BLOCK / 64 + 1) * 8 ? d : NULL;
}

/* Its blocks are the image's as they were: one that has changed is another disk. */
static int image_check(const char *path, const struct save_disk *was, char *err, size_t errlen)
{
	struct stat st;

	if (stat(path, &st)) {
		int rc = -errno;

		snprintf(err, errlen, "the disk %s of the snapshot cannot be opened: %s", path,
			 strerror(-rc));
		return rc;
	}
	if ((uint64_t)st.st_size == was->image.size &&
	    (uint64_t)st.st_mtim.tv_sec == was->image.mtime_s &&
	    (uint64_t)st.st_mtim.tv_nsec == was->image.mtime_ns)
		return 0;
	snprintf(err, errlen,
		 "the disk %s has changed since the snapshot was made, so the guest would find "
		 "another one: give it back what it was, with its time",
		 path);
	return -ESTALE;
}

static int find_disk(struct kvm_snapshot *snap, uint32_t i, uint64_t *at, char *err, size_t errlen)
{
	const struct save_disk *was = disk_get(&snap->file, i);
	char *path = was ? get_path(&snap->file, i) : NULL;

	if (!path || was->written > snap->file.memory) {
		free(path);
		snprintf(err, errlen, "the snapshot does not say what disks it has");
		return -EINVAL;
	}
	snap->disk[i] =
		(struct machine_disk){.path = path, .format = "raw", .read_only = was->read_only};
	snap->ndisk = i + 1;
	snap->changes_at[i] = *at;
	*at += was->written;
	return image_check(path, was, err, errlen);
}

int kvm_snapshot_find_disks(struct kvm_snapshot *snap, uint64_t at, char *err, size_t errlen)
{
	size_t len;
	int rc = 0;

	for (uint32_t i = 0; i < SAVE_DISKS_MAX && !rc; i++) {
		if (!state_get(&snap->file, STATE_DISK, i, &len))
			break;
		rc = find_disk(snap, i, &at, err, errlen);
	}
	snap->end = at;
	return rc;
}

bool kvm_snapshot_changes(const struct kvm_snapshot *snap, size_t disk, struct disk_changes *c)
{
	size_t len = 0;
	const void *map = state_get(&snap->file, STATE_DISK_MAP, (uint32_t)disk, &len);

	*c = (struct disk_changes){snap->file.fd, snap->changes_at[disk], map,
				   len / sizeof(*c->map)};
	return map;
}

void kvm_snapshot_free_disks(struct kvm_snapshot *snap)
{
	for (size_t i = 0; i < snap->ndisk; i++)
		free((void *)(uintptr_t)snap->disk[i].path);
	snap->ndisk = 0;
}

/* --- going on -------------------------------------------------------------------------------- */

static int device_restore(struct plugged *p, const struct state_file *f, uint32_t i)
{
	const struct pci_state *pci = state_get_sized(f, STATE_PCI_FUNCTION, i, sizeof(*pci));
	const struct virtio_state *virtio = state_get_sized(f, STATE_VIRTIO, i, sizeof(*virtio));
	int rc = pci && virtio ? pci_restore(&p->function.function, pci) : -EINVAL;

	return rc ? rc : virtio_restore(p->device, virtio);
}

int kvm_devices_restore(struct kvm_machine *m, const struct state_file *f)
{
	const uint32_t *address = state_get_sized(f, STATE_PCI, 0, sizeof(*address));
	struct kvm_devices *all = m->devices;
	int rc = 0;

	if (!all)
		return address ? -EINVAL : 0;
	kvm_devices_hold(m);
	if (!address)
		return -EINVAL;
	kvm_pci_set_address(all->pci, *address);
	for (uint32_t i = 0; i < all->n && !rc; i++)
		rc = device_restore(&all->plugged[i], f, i);
	return rc;
}

void kvm_devices_go_on(struct kvm_machine *m)
{
	for (unsigned int i = 0; m->devices && i < m->devices->n; i++)
		virtio_remind(m->devices->plugged[i].device);
	kvm_devices_release(m);
}
