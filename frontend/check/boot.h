/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * boot.h - a kernel with a first process of hvtrace's own, for the checks that boot one: the image,
 * an initrd with image-init.S in it, and what the guest says on its console.
 */
#ifndef HVTRACE_FRONTEND_CHECK_BOOT_H
#define HVTRACE_FRONTEND_CHECK_BOOT_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "frontend/check/check.h"
#include "guestsym/guestsym.h"
#include "vmm/machine.h"

#define BOOT_MEMORY (UINT64_C(256) << 20)
#define BOOT_LOG    (512u << 10) /* bytes of the console's text that are kept */

struct boot {
	struct guestsym_parsers *parsers;
	struct guestsym *gs;
	char *kernel_path; /* absolute */
	void *initrd;
	size_t initrd_size;
	char err[512];
	const struct check_report *r; /* machines are made as long as it is not cancelled */

	pthread_mutex_t lock; /* of the console's text */
	char *log;
	size_t log_len;
};

/* The kernel that run would boot; -1: there is none, or no memory, and err says so. boot_close()
 * in either case. */
int boot_open(struct boot *b, const struct check_options *opt, const struct check_report *r);
void boot_close(struct boot *b);
/* What both machines get: the rest is zero. cmdline: words more. */
struct machine_config boot_machine_config(struct boot *b, const char *cmdline);
/* How often the guest has said this by now. */
unsigned int boot_says(struct boot *b, const char *text);
/* Has the guest's kernel complained? Then the line about it is in text. */
bool boot_complains(struct boot *b, char *text, size_t len);

/* initrd.c: a cpio archive with image-init.S as /init, to be freed; NULL: no memory. */
void *initrd_make(size_t *len);

#endif
