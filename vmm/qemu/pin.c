// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * pin.c - a guest stays in its QEMU while it is traced: it is not migrated, and not saved.
 *
 * QEMU's dirty log does not see what is written to a guest's memory from outside, so what arrives
 * elsewhere might have probes in it, or one half of one. A small guest is sent in 0.1 s, which is
 * no time to be told and to let go. So QEMU is given a disk that no guest sees, and that it cannot
 * migrate: an image of VirtualBox's (vdi_open() in block/vdi.c, QEMU 2.11 to 10.0, which adds a
 * blocker also to one that is only read). Whoever asks for a migration then, or for a state of the
 * guest in a file, is refused, and told the name of that disk. While one is under way QEMU does not
 * take the disk, and the guest is not attached to.
 *
 * The disk's file has its name for as long as QEMU opens it. Should the tracer die, the keeper has
 * the disk taken out; should both, the next to attach does that.
 */
#include "vmm/qemu/qemu.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define DISK	"hvtrace"
#define NODE	"hvtrace-traces-this-guest" /* is in what they are told; 31 characters at most */
#define FILE_IS "/hvtrace-%d.vdi"
#define REMOVE	"drive_del " DISK
#define PATH	(MMIO_PIPE_PATH + 32)
#define COMMAND (2 * PATH + 256)

/* --- the image ----------------------------------------------------------------------------------
 */

/* VdiHeader of block/vdi.c, little-endian. */
struct image {
	char text[64];
	uint32_t signature, version, header_size, image_type, flags;
	char description[256];
	uint32_t offset_bmap, offset_data, cylinders, heads, sectors, sector_size, unused1;
	uint64_t disk_size;
	uint32_t block_size, block_extra, blocks_in_image, blocks_allocated;
	uint8_t uuid[4][16]; /* two of them are not to be zero, two are */
	uint8_t unused2[56];
	uint32_t bmap[128]; /* a sector; of its one block nothing is there */
} __attribute__((packed));

static_assert(offsetof(struct image, bmap) == 512, "a sector");

static const struct image image = {
	.text = "no disk: hvtrace has it here while it traces the guest\n",
	.signature = 0xbeda107f,
	.version = 0x00010001,
	.header_size = 0x180,
	.image_type = 1, /* dynamic */
	.offset_bmap = offsetof(struct image, bmap),
	.offset_data = sizeof(struct image),
	.sector_size = 512,
	.disk_size = 1 << 20,
	.block_size = 1 << 20,
	.blocks_in_image = 1,
	.uuid = {{1}, {2}},
	.bmap = {UINT32_MAX},
};

/* The folder may be QEMU's own, which could have put something in its place: it is made anew. */
static int make_file(const char *path)
{
	int fd, rc = 0;

	unlink(path);
	fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return -errno;
	if (write(fd, &image, sizeof(image)) != sizeof(image))
		rc = -EIO;
	else if (fchmod(fd, 0444)) /* QEMU is another user */
		rc = -errno;
	close(fd);
	if (rc)
		unlink(path);
	return rc;
}

/* --- the monitor --------------------------------------------------------------------------------
 */

/* As options have it, a comma twice, in the monitor's quotes (get_str() in monitor/hmp.c). */
static int disk_command(char command[COMMAND], const char *path)
{
	size_t n = (size_t)snprintf(command, COMMAND,
				    "drive_add 0 \"if=none,id=" DISK
				    ",readonly=on,format=vdi,node-name=" NODE
				    ",file.driver=file,file.locking=off,file.filename=");

	for (; *path; path++) {
		if (n + 4 > COMMAND)
			return -ENAMETOOLONG;
		if (*path == '"' || *path == '\\')
			command[n++] = '\\';
		if (*path == ',')
			command[n++] = ',';
		command[n++] = *path;
	}
	snprintf(command + n, COMMAND - n, "\"");
	return 0;
}

static int tell_keeper(struct qemu_machine *m)
{
	char packet[KEEPER_PIN_MAX];
	int rc = gdb_monitor_packet(REMOVE, packet, sizeof(packet));

	return rc < 0 ? rc : keeper_pinned(&m->keeper, packet);
}

/* QEMU has it, or says why not: 0, -EBUSY: it is being migrated, others. */
static int add_disk(struct qemu_machine *m, const char *path, char *err, size_t errlen)
{
	char command[COMMAND], *answer;
	int rc = disk_command(command, path);

	if (!rc)
		rc = tell_keeper(m);
	if (!rc)
		rc = gdb_monitor(m->gdb, command, &answer);
	if (rc) {
		snprintf(err, errlen, "%s", gdb_error_text(m->gdb, rc));
		return rc;
	}
	if (strncmp(answer, "OK", 2) != 0)
		rc = strstr(answer, "in progress") ? -EBUSY : -EOPNOTSUPP;
	snprintf(err, errlen, "QEMU says: %.*s", (int)strcspn(answer, "\r\n"), answer);
	free(answer);
	return rc;
}

static int pin(struct qemu_machine *m, char *err, size_t errlen)
{
	char path[PATH];
	int rc;

	/* Several QEMUs may have their stubs in one folder. */
	snprintf(path, sizeof(path), "%s" FILE_IS, m->folder, (int)m->ram.pid);
	rc = make_file(path);
	if (rc) {
		snprintf(err, errlen, "%s: %s", path, strerror(-rc));
		return rc;
	}
	/* Of a tracer that was killed. */
	rc = qemu_unpin(m);
	if (rc)
		snprintf(err, errlen, "%s", gdb_error_text(m->gdb, rc));
	else
		rc = add_disk(m, path, err, errlen);
	unlink(path);
	return rc;
}

int qemu_pin(struct qemu_machine *m, char *err, size_t errlen)
{
	char why[512];
	int rc;

	/* Of a QEMU on another host, or one whose stub is no file, there is no folder. */
	if (!m->ram.pid || !m->folder[0])
		return 0;
	rc = pin(m, why, sizeof(why));
	m->pinned = !rc;
	if (gdb_error(m->gdb)) {
		snprintf(err, errlen, "the gdb stub stopped answering: %s", why);
		return gdb_error(m->gdb);
	}
	if (rc == -EBUSY) {
		snprintf(err, errlen,
			 "the guest is being migrated or saved: attach to it when "
			 "that is over");
		return rc;
	}
	if (rc && m->domain)
		machine_message(&m->base, MACHINE_MSG_WARN,
				"do not migrate or save the guest while it is traced, which cannot "
				"be kept from happening: %s",
				why);
	return 0;
}

int qemu_unpin(struct qemu_machine *m)
{
	char *answer;
	int rc = gdb_monitor(m->gdb, REMOVE, &answer);

	/* Else it is the keeper's to say. */
	if (rc)
		return rc;
	free(answer);
	m->pinned = false;
	return keeper_pinned(&m->keeper, NULL);
}
