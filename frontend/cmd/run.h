/* SPDX-License-Identifier: GPL-2.0-or-later */
/* run.h - for the files of hvtrace run: one that boots, from its options to its end. */
#ifndef HVTRACE_FRONTEND_CMD_RUN_H
#define HVTRACE_FRONTEND_CMD_RUN_H

#include "frontend/cmd/guests.h"
#include "frontend/image/image.h"
#include "frontend/lib/file.h"
#include "frontend/session/console.h"
#include "frontend/session/exec.h"
#include "frontend/session/saving.h"
#include "frontend/session/session.h"

struct run {
	struct session s;
	const struct run_options *opt;
	const char *machine;		 /* name of the backend */
	char *kernel_path, *initrd_path; /* absolute */
	char *cmdline;
	struct file_bytes initrd;
	struct devices devices;
	struct scratch scratch, extracted;
	struct image_boot boot; /* what the image's own boot loader would start */
	struct console console;
	struct exec exec; /* of --exec */
	void *overlay;	  /* what is in the guest for that */
	size_t overlay_size;
	struct saving saving;
};

/* run-options.c: what --firmware may be, as enum machine_firmware has them; NULL beyond. */
const char *run_firmware_name(unsigned int i);

/*
 * run-source.c: what it boots from. Those that can fail: 0, or r->s.err is set.
 */
enum machine_firmware run_firmware(const struct run *r);
/* Which kernel will run, and where, shows only once it does. */
bool run_finds_kernel(const struct run *r);
/* r->machine, where that is not said yet. */
void run_choose_machine(struct run *r);
/* Its devices, and with an image that is to be read what that boots: before what follows. */
int run_open_devices(struct run *r);
int run_open_kernel(struct run *r);
int run_open_initrd(struct run *r);
int run_make_cmdline(struct run *r);

#endif
