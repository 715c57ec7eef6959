// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * start-overlay.c - files that take what a guest writes to a disk that is not to change: qcow2 over
 * the image. QEMU has them open when its guest stands at the reset, so they lose their names then,
 * and are gone with QEMU.
 *
 * libvirt can do that itself (<transient/>), but beside the image, where there may be no right to,
 * and where the file stays when its daemon ends first.
 */
#include "vmm/program.h"
#include "vmm/qemu/start.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define QEMU_IMG_MS 60000

static int overlay_make(struct start_overlays *o, const struct machine_config *cfg, size_t i,
			char *err, size_t errlen)
{
	const struct machine_disk *disk = &cfg->devices.disk[i];
	const char *const argv[] = {"qemu-img",	  "create", "-q",	"-f", "qcow2", "-F",
				    disk->format, "-b",	    disk->path, NULL, NULL};
	const char *words[sizeof(argv) / sizeof(argv[0])];
	struct program p = {
		.argv = words, .ms = QEMU_IMG_MS, .cancelled = cfg->cancelled, .arg = cfg->arg};
	char why[256];
	int rc;

	if (asprintf(&o->path[i], "%s/%zu.qcow2", cfg->scratch, i) < 0) {
		o->path[i] = NULL;
		snprintf(err, errlen, "no memory");
		return -ENOMEM;
	}
	memcpy(words, argv, sizeof(argv));
	words[sizeof(argv) / sizeof(argv[0]) - 2] = o->path[i];
	rc = program_run(&p, why, sizeof(why));
	if (rc == -ENOENT)
		snprintf(err, errlen, "%s (it makes what keeps %s as it is; --write does without)",
			 why, disk->path);
	else if (rc)
		snprintf(err, errlen, "%s", why);
	return rc;
}

int qemu_start_overlays_make(struct start_overlays *o, const struct machine_config *cfg, char *err,
			     size_t errlen)
{
	int rc = 0;

	*o = (struct start_overlays){0};
	for (size_t i = 0; i < cfg->devices.ndisk && !rc; i++) {
		if (!cfg->devices.disk[i].keep)
			rc = overlay_make(o, cfg, i, err, errlen);
	}
	if (rc)
		qemu_start_overlays_unlink(o);
	return rc;
}

void qemu_start_overlays_unlink(struct start_overlays *o)
{
	for (size_t i = 0; i < MACHINE_MAX_DISKS; i++) {
		if (o->path[i])
			unlink(o->path[i]);
		free(o->path[i]);
		o->path[i] = NULL;
	}
}
