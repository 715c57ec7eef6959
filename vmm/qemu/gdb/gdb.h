/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * gdb.h - a gdb remote protocol stub that stands for a whole machine, as QEMU has one: its
 * threads are the vCPUs, and its monitor answers through qRcmd.
 *
 * Every function that asks the stub something needs the guest to be stopped, waits a few seconds
 * at most, all together no longer than a bounded time for each question, and gives 0 or a negative
 * errno: -ETIMEDOUT the stub is silent, -ECONNRESET or -EPIPE it is gone, -EREMOTEIO it refused,
 * -EPROTO or -EBADMSG it does not keep to the protocol. One thread at a time, except
 * gdb_interrupt().
 */
#ifndef HVTRACE_VMM_QEMU_GDB_GDB_H
#define HVTRACE_VMM_QEMU_GDB_GDB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/types.h>

#include "vmm/qemu/gdb/layout.h"

struct gdb;

/* Gets a socket before it is connected: 0 or a negative errno. */
typedef int gdb_socket_fn(void *arg, int fd);
/* Asked now and then while nothing comes: true gives up. */
typedef bool gdb_idle_fn(void *arg);

struct gdb_caller {
	gdb_socket_fn *ready; /* for each address that is tried; or NULL */
	gdb_idle_fn *idle;    /* or NULL */
	void *arg;
};

/*
 * Connect to "unix:PATH" or "HOST:PORT": a socket for gdb_open(), or a negative errno and err says
 * why in one line; -ECANCELED: given up. QEMU stops the guest when someone connects.
 */
int gdb_dial(const char *address, const struct gdb_caller *caller, char *err, size_t errlen);
/*
 * Agree over a connected socket, which gdb_close() closes, on what both sides can do. NULL: err
 * says why in one line.
 */
struct gdb *gdb_open(int fd, char *err, size_t errlen);
/*
 * The same of a stub that may have another client, and is silent until that has gone: asked now and
 * then until the stub has said something, idle() gives up by true.
 */
struct gdb *gdb_open_idle(int fd, gdb_idle_fn *idle, void *arg, char *err, size_t errlen);
/* Close the connection; the guest stays as it is. NULL is allowed. */
void gdb_close(struct gdb *g);

/* Who has sent what was received last over a unix socket; pid 0 if that is not known. */
struct ucred gdb_server(const struct gdb *g);
/* From here on that stays as it is, and nothing but bytes is received: in a sandbox there is no
 * recvmsg(2), which would take descriptors in. */
void gdb_server_stays(struct gdb *g);
/* Who called listen(2) at the other end of a unix socket, which need not be the same; or pid 0. */
struct ucred gdb_listener(const struct gdb *g);
/* What has ended the connection, a negative errno, or 0. */
int gdb_error(const struct gdb *g);
/* An error that a function here gave, in words: of what the stub did, if that ended the connection.
 * g NULL is allowed. */
const char *gdb_error_text(const struct gdb *g, int error);
/* The stub said that it stopped a running guest for us. */
bool gdb_was_running(const struct gdb *g);

/* Numbers of the stub's threads, at most max of them. Gives how many there are, -E2BIG: more. */
int gdb_threads(struct gdb *g, uint32_t *threads, unsigned int max);
/* Whether a vCPU is halted, which the stub tells in words (handle_query_thread_extra() in
 * QEMU 7.2's gdbstub.c): 0, 1 or a negative errno. */
int gdb_thread_is_halted(struct gdb *g, uint32_t thread);

/* All registers of a thread: values[GDB_REG_...]. */
int gdb_read_regs(struct gdb *g, uint32_t thread, uint64_t values[GDB_NR_REGS]);

struct gdb_reg_value {
	enum gdb_reg reg;
	uint64_t value;
};

/*
 * Several at once: should this process be killed, all of them are written or none. after: what all
 * are then, before QEMU does anything else.
 */
int gdb_write_regs(struct gdb *g, uint32_t thread, const struct gdb_reg_value *regs, unsigned int n,
		   uint64_t after[GDB_NR_REGS]);

/* The packets that do so, for someone else to send: 0 or -EMSGSIZE. */
int gdb_regs_packets(const struct gdb *g, uint32_t thread, const struct gdb_reg_value *regs,
		     unsigned int n, char *packets, size_t size);

/* Guest-physical memory; -EREMOTEIO when the stub cannot reach it by physical address. */
int gdb_read_phys(struct gdb *g, uint64_t pa, void *buf, size_t len);
int gdb_write_phys(struct gdb *g, uint64_t pa, const void *buf, size_t len);

/* Bytes that one packet carries. */
#define GDB_WRITE_MAX 1024

/*
 * Many writes, one packet each, several in a system call: the stub's answers are read while it
 * works on what is on its way. A run of them ends with gdb_write_finish(), also after an error,
 * which may be that of any write before. Nothing else may be asked in between.
 */
int gdb_write_ahead(struct gdb *g, uint64_t pa, const void *buf, size_t len);
int gdb_write_finish(struct gdb *g);

/* Which thread's page tables those of software breakpoints go by under KVM; until it runs on. */
int gdb_select_breakpoints(struct gdb *g, uint32_t thread);
/* A software breakpoint at the address that rip has there. */
int gdb_breakpoint_set(struct gdb *g, uint64_t va);
int gdb_breakpoint_clear(struct gdb *g, uint64_t va);
/*
 * The same at n addresses, where the stub's answers are read while it works on what is on its way.
 * None is begun behind one that fails; ok[i] says of each whether it is done.
 */
int gdb_breakpoints(struct gdb *g, bool set, const uint64_t *vas, bool *ok, size_t n);
/* A hardware breakpoint, which may be set before there is memory at the address. */
int gdb_hw_breakpoint_set(struct gdb *g, uint64_t va);
int gdb_hw_breakpoint_clear(struct gdb *g, uint64_t va);

/* None is left, whoever has set them, and wherever the guest's memory of them has gone. */
int gdb_forget_breakpoints(struct gdb *g);

/*
 * Let all vCPUs run. From here to the next stop only gdb_wait_stop() and gdb_interrupt(). Any of
 * them but `stays` may be unplugged meanwhile; 0: none is.
 */
int gdb_continue(struct gdb *g, uint32_t stays);
/* Let one vCPU run while the others stand: ends with a stop as well. */
int gdb_continue_one(struct gdb *g, uint32_t thread);
/* The same for one instruction of its; under TCG interrupts wait, and breakpoints are passed over.
 */
int gdb_step_one(struct gdb *g, uint32_t thread);
int gdb_interrupt(const struct gdb *g);
/*
 * Make whoever waits for the stub fail, and every call from here on. Any thread, while the guest is
 * running or about to stop. Should it stop yet, it runs on.
 */
void gdb_abort(const struct gdb *g);

/*
 * The same, but nothing is said to the stub: whoever else holds the connection does that, and it
 * stays theirs. Any thread, at any time until gdb_close().
 */
void gdb_cut(struct gdb *g);

struct gdb_stop {
	enum { GDB_STOP_SIGNAL, GDB_STOP_EXITED } kind;
	int signal;	 /* gdb's numbers: 5 breakpoint, 2 interrupt */
	uint32_t thread; /* which thread it happened in, 0 when the stub does not say */
};

#define GDB_SIGNAL_INT	2
#define GDB_SIGNAL_QUIT 3 /* QEMU: the guest has shut down */
#define GDB_SIGNAL_TRAP 5
#define GDB_SIGNAL_ABRT 6 /* QEMU: internal error of the accelerator */

/* Wait for the end of gdb_continue(), gdb_continue_one() or gdb_step_one(); timeout_ms -1: for
 * ever. */
int gdb_wait_stop(struct gdb *g, struct gdb_stop *stop, int timeout_ms);

/* What QEMU's monitor prints for a command; *text is to be freed. */
int gdb_monitor(struct gdb *g, const char *command, char **text);
/* The same as a packet for others to send: its length, or -EMSGSIZE. */
int gdb_monitor_packet(const char *command, char *packet, size_t size);

/*
 * Before gdb_close(): leave nothing behind for the next to connect, which includes breakpoints when
 * the guest is to run on.
 */
int gdb_detach(struct gdb *g, bool run_on);
/* What it says last, to let the guest run on, as a packet for others to send: 0 or -errno. */
int gdb_detach_packet(const struct gdb *g, char *packet, size_t size);

#endif
