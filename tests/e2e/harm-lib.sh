#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# harm-lib.sh - whether a guest of bench-guest.sh has come to harm: its text is byte by byte what it was,
# its kernel has nothing to complain about, hvtrace has left nothing in its memory. To be sourced behind
# bench-guest.sh. Results are those of tap.sh; $about says in each which guest it was.
# shellcheck disable=SC2034,SC2154 # of those who source it, and of bench-guest.sh

# What a kernel says when something is wrong with it, or held up for long.
readonly COMPLAINTS='BUG|WARNING|Oops|Call Trace|lockup|stall|blocked for more than|general protection|W\+X|ftrace_bug|ftrace failed'

details()
{
	[ ! -e "$qemu_dir/hvtrace" ] || tail -n 5 "$qemu_dir/hvtrace"
	[ -z "$guest_answer" ] || tail -n 5 <<<"$guest_answer" | sed 's/^/guest: /'
}

text() # NAME: of the guest as it is now; the stub may still be another client's
{
	wait_until read_text "$1"
}

# shellcheck disable=SC2317 # wait_until calls it
read_text()
{
	"$O/tests/e2e/guest-memory" text "gdb:unix:$qemu_dir/gdb" "$guest_kernel" \
		>"$qemu_dir/$1" 2>"$qemu_dir/text.log"
}

windows() # COUNT: so many does hvtrace have in the guest's memory
{
	[ "$("$O/tests/e2e/guest-memory" windows "$qemu_pid")" = "$1" ]
}

# What it complains of is shown whole: it may not come again soon.
no_complaints()
{
	guest_ask 'busybox dmesg -c' || return
	! grep -E -B 4 -A 60 "$COMPLAINTS" <<<"$guest_answer" | sed 's/^[0-9]* /# /' | grep .
}

# What unharmed() will compare with.
unharmed_yet()
{
	guest_ask 'busybox dmesg -c' && text before
}

unharmed() # AFTER-WHAT
{
	guest_ask 'workload getppid 10 openat 10' && text after &&
		cmp "$qemu_dir/before" "$qemu_dir/after"
	result $? "the guest goes on, its text is what it was, after $1"
	no_complaints
	result $? "the kernel's log has no complaints, after $1"
}
