/* SPDX-License-Identifier: GPL-2.0-or-later */
/* start.h - what the files of a guest of QEMU's that hvtrace starts itself (start*.c) share. */
#ifndef HVTRACE_VMM_QEMU_START_H
#define HVTRACE_VMM_QEMU_START_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "vmm/machine.h"
#include "vmm/qemu/gdb/layout.h"

/* Files that take what a guest writes to disks that are not to change: start-overlay.c. */
struct start_overlays {
	char *path[MACHINE_MAX_DISKS]; /* NULL: the image itself takes it */
};

/* 0; else there are none, -errno, and err says why in one line. */
int qemu_start_overlays_make(struct start_overlays *o, const struct machine_config *cfg, char *err,
			     size_t errlen);
/* Those who have them open keep them. */
void qemu_start_overlays_unlink(struct start_overlays *o);

/*
 * start-initrd.c: a file with cfg->overlay and the initrd, *path to be given to unlink(); NULL
 * where there is no overlay. 0; else there is none, -errno, and err says why in one line.
 */
int qemu_start_initrd_make(char **path, const struct machine_config *cfg, char *err, size_t errlen);
void qemu_start_initrd_unlink(char *path); /* NULL is allowed */

/* What a domain is made for. */
struct start_domain {
	const struct machine_config *cfg; /* its paths are absolute */
	struct start_overlays overlays;
	char *initrd; /* in place of cfg's, or NULL */
};

/* start-domain.c: a domain that stands at its reset. NULL: err says why in one line. */
struct qemu_domain *qemu_start_domain(const struct machine_config *cfg, char *err, size_t errlen);
/* start-xml.c: the qemu_xml_fn; arg is the struct start_domain. */
char *qemu_start_xml(const void *arg, bool kvm);

/* start-devices.c */
bool qemu_start_has_devices(const struct machine_devices *dev);
/* Elements of <devices>; overlay as in struct start_overlays. */
void qemu_start_print_devices(FILE *out, const struct machine_devices *dev,
			      char *const overlay[MACHINE_MAX_DISKS]);

/* start-firmware.c: what of <os> is there with a firmware. */
void qemu_start_print_firmware(FILE *out, const struct machine_config *cfg);
const char *qemu_start_uefi(void); /* its image; NULL: this host has none */

/* A guest that was made to stand on its way to its kernel. */
struct start_state {
	uint64_t reg[GDB_NR_REGS];
	uint8_t insn[2]; /* the byte before rip, which a CPU that has halted is behind; that at rip
			  */
	bool mapped;	 /* there is memory where its kernel was linked to begin */
};

enum start_place {
	START_FIRMWARE,
	START_UNPACKING, /* in the kernel's decompressor (arch/x86/boot/compressed, 6.1), */
	START_GIVEN_UP,	 /* which ends in error() with a loop of hlt */
	START_ELSEWHERE, /* in a kernel at other addresses */
	START_PASSED,	 /* in that kernel, and the breakpoint was not hit */
};

/* start-state.c */
enum start_place qemu_start_place(const struct start_state *s);
/* In one line: what was waited for, for how long, where the guest is, what to do. */
void qemu_start_explain(const struct start_state *s, uint64_t entry, int seconds, char *err,
			size_t errlen);
/* It runs a program. */
bool qemu_start_is_user(const uint64_t reg[GDB_NR_REGS]);
/* Whether its page tables are those of a 64-bit kernel. */
bool qemu_start_walks(const uint64_t reg[GDB_NR_REGS]);

struct qemu_machine;

/* How far a guest is to run. */
struct start_run {
	const uint64_t *at; /* to one of n places, 4 at most: a processor has no more breakpoints */
	unsigned int n;
	int64_t end_ms;		 /* by qemu_start_now_ms() */
	bool (*look)(void *arg); /* NULL, or asked now and then while it runs: true ends that */
	void *arg;
};

/*
 * start-run.c: nobody else talks to the stub, and the guest stands before and, with 0, -ETIMEDOUT
 * and -ERESTART, behind it. 0: a vCPU has come to one of the places; -ETIMEDOUT: the time is over,
 * or look() has ended it; -ERESTART: it was reset, and m->finding says that this is no end.
 * -ECANCELED; -ESHUTDOWN: the guest has ended; or the stub's error.
 */
int qemu_start_run(struct qemu_machine *m, const struct machine_config *cfg,
		   const struct start_run *run);
/* The first vCPU does one instruction. */
int qemu_start_step(struct qemu_machine *m);
int qemu_start_regs(struct qemu_machine *m, uint64_t reg[GDB_NR_REGS]);
int64_t qemu_start_now_ms(void); /* CLOCK_MONOTONIC */

/*
 * start-find.c: the guest stands at its reset. Has whatever boots in it go on, until a kernel is
 * unpacked and comes to the first function that cfg->found() names; it stands there.
 */
int qemu_start_find(struct qemu_machine *m, const struct machine_config *cfg, char *err,
		    size_t errlen);

struct qemu_console;

/*
 * start-console.c: a serial port of the guest's, a socket at path. write(arg, ...) gets what the
 * guest says, on a thread of its own or on the one that drains. NULL: err says why in one line.
 */
struct qemu_console *qemu_console_open(const char *path,
				       void (*write)(void *arg, const char *text, size_t len),
				       void *arg, char *err, size_t errlen);
/* The guest stands: pass on all that it has said. NULL is allowed. */
void qemu_console_drain(struct qemu_console *c);
/* How much of it went out. */
size_t qemu_console_send(struct qemu_console *c, const char *text, size_t len);
void qemu_console_close(struct qemu_console *c); /* NULL is allowed */

#endif
