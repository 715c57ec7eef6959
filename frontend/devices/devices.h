/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * devices.h - what hvtrace run and its kin are told to give a guest beside vCPUs and memory: the
 * options, and what comes of them for a machine.
 */
#ifndef HVTRACE_FRONTEND_DEVICES_DEVICES_H
#define HVTRACE_FRONTEND_DEVICES_DEVICES_H

#include <stdbool.h>
#include <stddef.h>

#include "frontend/lib/options.h"
#include "frontend/lib/scratch.h"
#include "vmm/machine.h"

struct cancel;

struct devices_options {
	struct option_list disk, forward, share;
	const char *net, *cloud_init; /* NULL: nothing was said */
	bool write;
};

#define DEVICES_OPTION_ROWS(opt)                                                                   \
	OPT_LIST_OF(COMPLETE_FILE, 0, "disk", &(opt)->disk, "FILE",                                \
		    "another disk; ,ro ,snapshot ,write ,format=NAME behind it; may be "           \
		    "repeated"),                                                                   \
		OPT_FLAG(0, "write", &(opt)->write, "let the guest change IMAGE and disks"),       \
		OPT_STRING(0, "net", &(opt)->net, "WORDS",                                         \
			   "user (default with IMAGE), none, or tap=NAME; ,mac=ADDRESS"),          \
		OPT_LIST(0, "forward", &(opt)->forward, "HOST:GUEST",                              \
			 "a TCP port of the host that leads to one of the guest; may be "          \
			 "repeated"),                                                              \
		OPT_LIST_OF(COMPLETE_DIRECTORY, 0, "share", &(opt)->share, "DIR",                  \
			    "a folder of the host, for mount -t virtiofs; ,ro, ,tag=NAME behind "  \
			    "it; may be repeated"),                                                \
		OPT_STRING_OF(COMPLETE_FILE, 0, "cloud-init", &(opt)->cloud_init, "FILE",          \
			      "user data for cloud-init, or a folder with user-data and others")

/* The words of them have been looked at. To be zeroed, and given to devices_free() in any case. */
struct devices {
	struct machine_devices machine; /* the arrays below */
	struct machine_disk disk[MACHINE_MAX_DISKS];
	struct machine_forward forward[MACHINE_MAX_FORWARDS];
	struct machine_share share[MACHINE_MAX_SHARES];
	/* Texts that the above point to; the images, as they were named. */
	char *path[MACHINE_MAX_DISKS], *format[MACHINE_MAX_DISKS];
	char *folder[MACHINE_MAX_SHARES], *tag[MACHINE_MAX_SHARES];
	char *tap;
};

/* What is asked for, and where. */
struct devices_request {
	const struct devices_options *opt;
	const char *image; /* the first disk, as for --disk; NULL: none */
	/* For files that are needed until the machine is made. */
	struct scratch *scratch;
	const struct cancel *cancel; /* NULL: nobody gives up */
};

/*
 * What the options come to. 0; -EINVAL, -ECANCELED, or -errno of a file that is not there: err says
 * why in one line.
 */
int devices_make(struct devices *d, const struct devices_request *req, char *err, size_t errlen);
void devices_free(struct devices *d);
void devices_options_free(struct devices_options *opt);

#endif
