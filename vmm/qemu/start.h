/* SPDX-License-Identifier: GPL-2.0-or-later */
/* start.h - what the files of a guest of QEMU's that hvtrace starts itself (start*.c) share. */
#ifndef HVTRACE_VMM_QEMU_START_H
#define HVTRACE_VMM_QEMU_START_H

#include <stdbool.h>
#include <stddef.h>

#include "vmm/machine.h"

/* start-xml.c: the qemu_xml_fn; arg is the struct machine_config, its paths are absolute. */
char *qemu_start_xml(const void *arg, bool kvm);

struct qemu_console;

/*
 * start-console.c: the guest's serial port, a socket at path. write(arg, ...) gets what the guest
 * says, on a thread of its own or on the one that drains. NULL: err says why in one line.
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
