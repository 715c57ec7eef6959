#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# harm-lib.sh - whether a guest of bench-guest.sh, which sources this, has come to harm: its text, and what maps
# that and modules, are byte by byte what they were, its kernel has nothing to complain about, hvtrace has left
# nothing in its memory. Results are those of tap.sh; $about says in each which guest it was.
# shellcheck disable=SC2034,SC2154 # of those who source it, and of bench-guest.sh

# shellcheck source=tests/e2e/complaints.sh
. "${BASH_SOURCE[0]%/*}/complaints.sh"

harm_gone=0	# 1: the guest may have ended, as it is one that powers off
harm_text=''	# why its text may be another one in the end, if it may


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
	[ "$("$O/tests/e2e/guest-memory" windows "$(guest_pid)")" = "$1" ]
}

no_complaints()
{
	guest_ask 'busybox dmesg -c' && cut -d ' ' -f 2- <<<"$guest_answer" | no_complaints_in
}

# What unharmed() will compare with: not what the guest has been told to do until now.
unharmed_yet()
{
	guest_ask 'busybox dmesg -c' && text before
}

# A guest from a snapshot comes with its text.
unharmed_at_first()
{
	[ -z "$qemu_state" ] || cp "$qemu_state.text" "$qemu_dir/before"
}

unharmed() # AFTER-WHAT
{
	guest_ask 'workload getppid 10 openat 10' && text after &&
		cmp "$qemu_dir/before" "$qemu_dir/after"
	result $? "the guest goes on, its text is what it was, after $1"
	no_complaints
	result $? "the kernel's log has no complaints, after $1"
}

# A domain's QEMU is libvirtd's, which notes its pid.
guest_pid()
{
	if [ -n "$qemu_pid" ]; then echo "$qemu_pid"; else cat "$qemu_dir/run/libvirt/qemu/run/guest.pid"; fi
}

guest_is_there()
{
	kill -0 "$(guest_pid)" 2>/dev/null
}

# shellcheck disable=SC2317 # wait_until calls it
guest_has_gone()
{
	! guest_is_there
}

# A guest that took its clock for much slower than it is finds that everything else is late.
tell_late_clock()
{
	local up age
	up=$(awk 'NF == 3 && $2 ~ /^[0-9.]+$/ { up = $2 } END { print int(up) }' <<<"$guest_answer")
	age=$(ps -o etimes= -p "$(guest_pid)")
	[ "$up" -le $((2 * age + 60)) ] || echo "# the guest's clock says $up s, its QEMU's $((age))"
}

# Of every guest, when its test is over. Its log may have been emptied meanwhile, its console has not: there a
# test may have asked for a trace of calls itself (sysrq), and complaints have other words as well.
guest_unharmed()
{
	# One that has been told to power off takes a moment for it.
	[ $harm_gone = 0 ] || wait_until guest_has_gone
	if ! guest_is_there; then
		[ $harm_gone = 1 ]
		result $? 'the guest is there in the end'
		return
	fi
	[ "$guest_console" = 0 ] || guest_greet
	guest_ask 'workload getppid 10 openat 10; busybox cat /proc/uptime'
	result $? 'the guest goes on in the end'
	tell_late_clock
	no_complaints && grep -av 'Call Trace' "$qemu_dir/console" | no_complaints_in
	result $? "the guest's kernel has no complaints"
	windows 0
	result $? 'no window is left in the guest'
	guest_text_is_left
}

# Not of those who boot under KVM, where that takes long: tests of harm look there themselves.
guest_text_is_left()
{
	[ -e "$qemu_dir/before" ] || return
	local qemu_wait=20
	if [ -n "$harm_text" ]; then
		skip "the guest's text is what it was" "$harm_text"
		return
	fi
	wait_until text_is_back || cmp "$qemu_dir/before" "$qemu_dir/after"
	result $? "the guest's text is what it was"
}

# A kernel takes its own time for undoing what it has optimized.
# shellcheck disable=SC2317 # wait_until calls it
text_is_back()
{
	text after && cmp -s "$qemu_dir/before" "$qemu_dir/after"
}
