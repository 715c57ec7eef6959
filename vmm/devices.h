/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * devices.h - what a guest that hvtrace starts has beside vCPUs and memory; a part of the door,
 * machine.h, which includes it.
 */
#ifndef HVTRACE_VMM_DEVICES_H
#define HVTRACE_VMM_DEVICES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What loads the guest's kernel. */
enum machine_firmware {
	MACHINE_FIRMWARE_NONE, /* nothing: machine_config.kernel is what is booted */
	MACHINE_FIRMWARE_BIOS, /* the boot loader of the first disk, */
	MACHINE_FIRMWARE_UEFI, /* found as UEFI does */
};

/* An image, as a virtio block device. */
struct machine_disk {
	const char *path;   /* absolute */
	const char *format; /* as QEMU calls it: "raw", "qcow2", "vmdk" … */
	bool read_only;	    /* the guest is told so, too */
	bool keep;	    /* what it writes goes into the image; else it is gone with the guest */
};

enum machine_net_kind {
	MACHINE_NET_NONE, /* no card */
	MACHINE_NET_USER, /* by a process of the user's, which connects as the host's own do */
	MACHINE_NET_TAP,  /* an interface of the host's */
};

/* A port of the host's, at its loopback address, that leads to one of the guest's. */
struct machine_forward {
	uint16_t host, guest;
};

/* A virtio network card. */
struct machine_net {
	enum machine_net_kind kind;
	const char *tap; /* its name, for MACHINE_NET_TAP */
	uint8_t mac[6];
	const struct machine_forward *forward; /* for MACHINE_NET_USER */
	size_t nforward;
};

/* A folder of the host's, as virtio-fs. */
struct machine_share {
	const char *path; /* absolute */
	const char *tag;  /* what the guest mounts it by, 35 bytes at most */
	bool read_only;
};

/*
 * A stream to a program in the guest, by vsock: the first that connects to this port of the host's
 * (CID 2) and has no other stream with it. fd is one end of a pair of sockets, of which the machine
 * has a duplicate: the caller may close his, and talks by the other end. What he writes the program
 * gets once it has connected. Where one side writes no more (shutdown(2)), or is gone, the other
 * one reads the end.
 */
struct machine_stream {
	uint32_t port;
	int fd;
};

/* The arrays belong to the caller, for as long as the machine lives. */
struct machine_devices {
	const struct machine_disk *disk;
	size_t ndisk;
	struct machine_net net;
	const struct machine_share *share;
	size_t nshare;
	const struct machine_stream *stream; /* in a machine of our own only */
	size_t nstream;
	/* A virtio console (hvc0), to which machine_console_input() goes then, and whose output to
	 * machine_config.console, too; in a machine of our own only. */
	bool console;
};

#define MACHINE_MAX_DISKS    16
#define MACHINE_MAX_SHARES   4
#define MACHINE_MAX_FORWARDS 64
#define MACHINE_MAX_STREAMS  4

#endif
