// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * start-devices.c - libvirt's description of what a guest has beside vCPUs and memory.
 *
 * A disk that cannot be written to gives the guest an error, as a machine's own would; libvirt's
 * default is that the guest stands until somebody has made room.
 */
#include "vmm/qemu/start.h"
#include "vmm/qemu/text/xml.h"

#include <inttypes.h>
#include <stdio.h>
#include <sys/stat.h>

static void print_attribute(FILE *out, const char *name, const char *value)
{
	fprintf(out, " %s='", name);
	xml_print(out, value);
	fprintf(out, "'");
}

/* libvirt asks whether it is a file. */
static bool is_block_device(const char *path)
{
	struct stat st;

	return !stat(path, &st) && S_ISBLK(st.st_mode);
}

static void print_source(FILE *out, const char *path)
{
	fprintf(out, "      <source");
	print_attribute(out, is_block_device(path) ? "dev" : "file", path);
	fprintf(out, "/>\n");
}

static const char *source_type(const char *path)
{
	return is_block_device(path) ? "block" : "file";
}

static void print_disk(FILE *out, const struct machine_disk *disk, const char *overlay,
		       unsigned int i)
{
	const char *top = overlay ? overlay : disk->path;

	fprintf(out, "    <disk type='%s' device='disk'>\n      <driver name='qemu'",
		source_type(top));
	print_attribute(out, "type", overlay ? "qcow2" : disk->format);
	fprintf(out, " error_policy='report' rerror_policy='report'/>\n");
	print_source(out, top);
	if (overlay) {
		fprintf(out, "      <backingStore type='%s'>\n      <format",
			source_type(disk->path));
		print_attribute(out, "type", disk->format);
		fprintf(out, "/>\n");
		print_source(out, disk->path);
		fprintf(out, "      </backingStore>\n");
	}
	fprintf(out, "      <target dev='vd%c' bus='virtio'/>\n", 'a' + (int)i);
	if (disk->read_only)
		fprintf(out, "      <readonly/>\n");
	fprintf(out, "    </disk>\n");
}

static void print_net(FILE *out, const struct machine_net *net)
{
	if (net->kind == MACHINE_NET_NONE)
		return;
	if (net->kind == MACHINE_NET_TAP) {
		fprintf(out, "    <interface type='ethernet'>\n      <target");
		print_attribute(out, "dev", net->tap);
		fprintf(out, " managed='no'/>\n");
	} else {
		fprintf(out, "    <interface type='user'>\n");
	}
	fprintf(out,
		"      <mac address='%02x:%02x:%02x:%02x:%02x:%02x'/>\n"
		"      <model type='virtio'/>\n"
		"    </interface>\n",
		net->mac[0], net->mac[1], net->mac[2], net->mac[3], net->mac[4], net->mac[5]);
}

static void print_share(FILE *out, const struct machine_share *share)
{
	fprintf(out, "    <filesystem type='mount' accessmode='passthrough'>\n"
		     "      <driver type='virtiofs'/>\n      <source");
	print_attribute(out, "dir", share->path);
	fprintf(out, "/>\n      <target");
	print_attribute(out, "dir", share->tag);
	fprintf(out, "/>\n%s    </filesystem>\n", share->read_only ? "      <readonly/>\n" : "");
}

bool qemu_start_has_devices(const struct machine_devices *dev)
{
	return dev->ndisk || dev->nshare || dev->net.kind != MACHINE_NET_NONE;
}

void qemu_start_print_devices(FILE *out, const struct machine_devices *dev,
			      char *const overlay[MACHINE_MAX_DISKS])
{
	for (size_t i = 0; i < dev->ndisk; i++)
		print_disk(out, &dev->disk[i], overlay[i], (unsigned int)i);
	print_net(out, &dev->net);
	for (size_t i = 0; i < dev->nshare; i++)
		print_share(out, &dev->share[i]);
	/* A distribution draws on it early. */
	if (qemu_start_has_devices(dev))
		fprintf(out, "    <rng model='virtio'>\n"
			     "      <backend model='random'>/dev/urandom</backend>\n"
			     "    </rng>\n");
}
