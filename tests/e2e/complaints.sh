#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# complaints.sh - what a kernel says when something is wrong with it, or held up for long. To be sourced.

readonly COMPLAINTS='\<BUG|WARNING|Oops|Call Trace|Kernel panic|lockup|\<stall|blocked for more than|general protection|insecure W\+X|W\+X mappings: FAILED|ftrace_bug|ftrace (failed|faulted)|preempt_count|scheduling while atomic'
# Of those that it says of itself when it boots. A serial port of QEMU's says some letters twice now and then, where
# the host is busy: so either end of a line will do.
readonly NO_COMPLAINTS='ommand line: |RCU .*stall w|\(rcu_cpu_stall_'

# Whether a log on standard input has none. What it has is shown whole: it may not come again soon.
no_complaints_in()
{
	! grep -avE "$NO_COMPLAINTS" | grep -aE -B 30 -A 60 "$COMPLAINTS" | sed 's/^/# /' | grep .
}
