/* SPDX-License-Identifier: GPL-2.0-or-later */
/* reboot.h - a guest that has reset itself is traced on in its next boot. */
#ifndef HVTRACE_FRONTEND_SESSION_REBOOT_H
#define HVTRACE_FRONTEND_SESSION_REBOOT_H

#include <stdbool.h>

struct session;
struct trace_status;
struct trace_vcpu_status;

/*
 * session_run() is back. Where that is because the guest has reset itself, and s->boots lets it, it
 * boots again: its trace is out, another one is attached, and the machine runs, for session_run()
 * to be called once more. False: this was the end, as without --reboot; or, with s->boots.printed,
 * the next boot cannot be traced, which was said in one line.
 */
bool session_reboot(struct session *s);
/* Add what the boots before have counted. */
void reboot_add_counts(const struct session *s, struct trace_status *st,
		       struct trace_vcpu_status *vcpu);

#endif
