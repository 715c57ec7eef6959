/* SPDX-License-Identifier: GPL-2.0-or-later */
/* guests.h - what run and attach do, for commands that trace a guest as a part of what they do. */
#ifndef HVTRACE_FRONTEND_CMD_GUESTS_H
#define HVTRACE_FRONTEND_CMD_GUESTS_H

#include "frontend/devices/devices.h"
#include "frontend/session/attach.h"

struct attach_options {
	struct session_options session;
	struct attach_target target;
	uint64_t segment_ms; /* a new file so often; 0: there is one */
};

struct run_options {
	struct session_options session;
	struct devices_options devices;
	const char *image; /* NULL: none */
	const char *exec;  /* the command that alone is traced; NULL: all is, from the boot on */
	const char *kernel, *initrd, *append;
	const char *machine, *connect, *firmware;
	const char *save; /* NULL: the guest ends with the trace */
	uint64_t memory, cpus;
	uint64_t reboot_limit; /* 0: the default */
	bool console, kaslr, reboot;
};

#define MIB (UINT64_C(1) << 20)

#define RUN_OPTIONS_DEFAULT                                                                        \
	{                                                                                          \
		.session = SESSION_OPTIONS_DEFAULT, .append = "", .machine = "auto",               \
		.firmware = "none", .memory = 1024 * MIB, .cpus = 1                                \
	}

/* What --machine may be, i from 0 on, up to NULL. */
const char *run_machine_name(unsigned int i);

/* Which guest it is. */
#define RUN_OPTION_ROWS(opt)                                                                       \
	OPT_STRING('k', "kernel", &(opt)->kernel, "FILE",                                          \
		   "bzImage or vmlinux (default: newest /boot/vmlinuz-*, else the fetched one)"),  \
		OPT_STRING('i', "initrd", &(opt)->initrd, "FILE", "initial RAM disk"),             \
		OPT_STRING('a', "append", &(opt)->append, "WORDS",                                 \
			   "more for the kernel command line"),                                    \
		OPT_SIZE_MB('m', "memory", &(opt)->memory, 64 * MIB, 1048576 * MIB, "MB",          \
			    "guest RAM; K, M, G for other units (default: 1024)"),                 \
		OPT_NUMBER('c', "cpus", &(opt)->cpus, 1, MACHINE_MAX_VCPUS, "N",                   \
			   "vCPUs (default: 1)"),                                                  \
		OPT_ONE_OF(run_machine_name, 0, "machine", &(opt)->machine, "NAME",                \
			   "kvm, qemu, or what suits this host: auto (default)"),                  \
		OPT_STRING(0, "connect", &(opt)->connect, "URI",                                   \
			   "libvirt for qemu (default: qemu:///system)")

/* What is traced of it. */
#define EXEC_OPTION_ROW(opt)                                                                       \
	OPT_STRING(0, "exec", &(opt)->exec, "COMMAND",                                             \
		   "run a command in the guest when it is up, trace only that and its children, "  \
		   "and end with its exit status")

/* Whether it makes sense; else one line on stderr says why not. */
bool run_options_check(const struct run_options *opt);

/* Trace a guest, and print or record the trace, with all there is to say about it on stderr. The
 * exit status. */
int attach_guest(const struct attach_options *opt);
/* The same, recorded to a file for each segment: FILE.TIME.dat. Their names go to stdout. */
int attach_segments(const struct attach_options *opt);
/* Take away what a tracer has left in it that was killed. The same. */
int recover_guest(const struct attach_options *opt);
int run_guest(const struct run_options *opt);

#endif
