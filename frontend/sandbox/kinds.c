// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * kinds.c - what threads of each kind need, and nothing else: a second list on top of the one that
 * all have.
 *
 * Lists add up: a thread has those of who started it too, and can do only what all of them have.
 * So who starts threads of another kind (the last column) has all that these need there.
 */
#include "frontend/sandbox/local.h"

#include <stddef.h>
#include <string.h>

/* Reading, writing and stopping the guest, whatever machine it is in: its registers, its memory by
 * QEMU's, what its stub and libvirt are asked; what is parsed of it. */
#define GUEST (CALLS_MACHINE | CALLS_MEMORY | CALLS_TALK | CALLS_PARSE)

/* What libvirt's library does on a connection that is open. */
#define LIBVIRT (CALLS_TALK | CALLS_PIPES | CALLS_LIBRARY)

static const struct kind_row kinds[] = {
	/* Up to the end: detaches, prints, waits for the other processes. */
	{"main", ~(CALLS_VCPU | CALLS_LISTEN), {"collector", "hwlat", "libvirt-ask"}},
	/* May leave at once, and puts the terminal in order then. */
	{"signals", CALLS_TERMINAL, {NULL}},
	/* Opens an image, and has ended before anything is given up. */
	{"kernel", CALLS_PARSE, {NULL}},
	{"watchdog", CALLS_TALK | CALLS_CHILDREN, {NULL}},
	/* A machine of our own. Traps are handled in its vCPUs' threads: one of them may be that
	 * the guest has booted far enough for a collector. */
	{"vcpu", CALLS_VCPU | CALLS_INTERRUPT | GUEST | CALLS_THREADS, {"collector"}},
	{"pit", CALLS_INTERRUPT, {NULL}},
	{"virtio-blk", 0, {NULL}},
	{"virtio-console", 0, {NULL}},
	{"virtio-fs", CALLS_TALK | CALLS_SHARE, {NULL}},
	{"virtio-net", 0, {NULL}},
	{"virtio-rng", 0, {NULL}},
	{"virtio-vsock", CALLS_TALK, {NULL}}, /* shuts down what a guest writes no more to */
	/* Some talk to a server that has the image. */
	{"disk", CALLS_MEMORY | CALLS_OUTPUT | CALLS_TALK, {NULL}},
	/* The guest of a QEMU. */
	{"gdb-stub", GUEST | CALLS_THREADS, {"collector"}},
	{"mmio", GUEST, {NULL}},
	{"libvirt", LIBVIRT, {NULL}},
	{"libvirt-ask", LIBVIRT, {NULL}},
	{"console", CALLS_TALK, {NULL}},
	/* What is typed for either of them. */
	{"keys", CALLS_INTERRUPT | CALLS_TALK, {NULL}},
	/* The trace. */
	{"boot", GUEST | CALLS_THREADS, {"collector"}},
	{"collector", GUEST, {NULL}},
	{"hwlat", GUEST, {NULL}},
	/* Its file. */
	{"recorder", GUEST | CALLS_OUTPUT, {NULL}},
	/* Makes files of what it has recorded. */
	{"packer", CALLS_OUTPUT, {NULL}},
	/* Of a guest of another host: says that we are there. */
	{"beat", 0, {NULL}},
	/* Its files. What is written to them can change everything. */
	{"files", GUEST | CALLS_THREADS | CALLS_PIPES, {"collector", "hwlat", "files-wait"}},
	{"files-wait", GUEST | CALLS_PIPES, {NULL}},
	{"control", GUEST | CALLS_THREADS | CALLS_LISTEN | CALLS_SAVE, {"collector", "hwlat"}},
	/* What libmicrohttpd does for who connects. */
	{"metrics", CALLS_TALK | CALLS_LISTEN | CALLS_ANSWER | CALLS_LIBRARY, {NULL}},
};

#define NR_KINDS (sizeof(kinds) / sizeof(kinds[0]))

/* Of the process, as lists of calls are. */
static struct {
	struct sock_fprog all, of_kind[NR_KINDS];
} lists;

const struct kind_row *kinds_row(size_t i)
{
	return i < NR_KINDS ? &kinds[i] : NULL;
}

int kinds_make(bool folder)
{
	int rc = calls_make(&lists.all, folder ? ~0U : ~(unsigned int)CALLS_FOLDER);

	for (size_t i = 0; i < NR_KINDS && !rc; i++)
		rc = calls_make(&lists.of_kind[i], kinds[i].calls);
	return rc;
}

ON_ANY_THREAD static int kinds_follow(const char *kind)
{
	for (size_t i = 0; kind && i < NR_KINDS; i++)
		if (!strcmp(kinds[i].name, kind))
			return calls_follow(&lists.of_kind[i]);
	return 0;
}

ON_ANY_THREAD int kinds_follow_all(const char *kind)
{
	int rc = calls_follow(&lists.all);

	return rc ? rc : kinds_follow(kind);
}

/*
 * A thread that is started. Who has started it may not be confined yet: then this one is found as
 * all others are.
 */
void kinds_begin(const char *kind, const char *starter)
{
	if ((starter && !strcmp(kind, starter)) || !calls_in_force())
		return;
	if (kinds_follow(kind))
		return; /* It has what its starter has. */
}
