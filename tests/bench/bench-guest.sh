#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# bench-guest.sh - a guest of QEMU that is told what to do over a serial port of its own, and
# an hvtrace that traces it. To be sourced; on exit call guest_exit, which looks whether it has come to harm.
#
# $O is the build directory, $HVTRACE the program. Everything lives in $qemu_dir. Failures are said on stderr, with what the log in question has.

# shellcheck source=tests/e2e/qemu-lib.sh
. "${BASH_SOURCE[0]%/*}/../e2e/qemu-lib.sh"
# shellcheck source=tests/e2e/harm-lib.sh
. "${BASH_SOURCE[0]%/*}/../e2e/harm-lib.sh"

guest_patience=120 # seconds that one line of an answer may take, where the host is not busy
guest_cmdline=''    # what the kernel's command line has more
guest_console=0	    # 1: another program says hello on its console, $qemu_dir/serial
guest_options=()    # options for QEMU
guest_accel=$qemu_one_thread # or $qemu_accel, where vCPUs have to run at the same time
guest_kernel='' guest_command=: guest_answer='' guest_in='' guest_out=''
tracer_image=1	    # 0: what is traced is to be found in the guest's memory alone
tracer_pid='' tracer_events='' tracer_lost='' tracer_trace=/dev/null

guest_exit()
{
	[ -z "$tracer_pid" ] || tracer_stop
	[ -z "$guest_in" ] || ! declare -F result >/dev/null || guest_unharmed
	guest_forget
}

guest_forget()
{
	qemu_exit
	[ -z "$guest_in" ] || exec {guest_in}>&- {guest_out}>&-
	qemu_dir='' qemu_pid='' tracer_pid='' guest_in='' guest_out=''
}

# complain TEXT [LOG]
complain()
{
	printf '%s: %s\n' "${0##*/}" "$1" >&2
	[ -z "${2-}" ] || tail -n 20 "$2" | sed 's/^/  /' >&2
	return 1
}

# guest_boot SERIES|KERNEL VCPUS: returns when it takes commands; a kernel is one by its path. Sets guest_kernel.
# With several vCPUs and a busy host QEMU's TCG now and then lets a kernel meet the int3 of its own
# patching of text while it boots, which panics then, untraced: so there is a second try.
guest_boot()
{
	guest_boot_once "$@" && return
	guest_forget
	echo "# the guest is started once more"
	guest_boot_once "$@"
}

guest_boot_once()
{
	case $1 in
	*/*) guest_kernel=$1 ;;
	*) guest_kernel=$("$qemu_root/scripts/get-guest" --path "$1") || return ;;
	esac
	qemu_dir=$(mktemp -d /tmp/hvq.XXXXXX) && mkfifo "$qemu_dir/command.in" "$qemu_dir/command.out" &&
		qemu_guest "$guest_accel" "$2" "$guest_kernel" "quiet${guest_cmdline:+ $guest_cmdline}" || return
	# Both ways without waiting for QEMU to open its end.
	exec {guest_in}<>"$qemu_dir/command.in" {guest_out}<>"$qemu_dir/command.out"
	"${qemu_command[@]}" \
		-chardev "socket,id=console,path=$qemu_dir/serial,server=on,wait=off,logfile=$qemu_dir/console" \
		-serial chardev:console -chardev "pipe,id=command,path=$qemu_dir/command" -serial chardev:command \
		-gdb "unix:$qemu_dir/gdb,server=on,wait=off" "${guest_options[@]}" \
		>"$qemu_dir/log" 2>&1 </dev/null &
	qemu_pid=$!
	if [ "$guest_console" = 1 ]; then
		wait_until grep -q 'init: ready' "$qemu_dir/console"
	else
		guest_greet
	fi && unharmed_at_first && return
	complain "the guest does not come up; its console:" "$qemu_dir/console"
}

# guest_domain SERIES: a domain of a libvirtd of its own, called guest, whose console, $qemu_dir/guest.serial, is
# another program's. Sets guest_kernel.
guest_domain()
{
	guest_console=1
	guest_kernel=$("$qemu_root/scripts/get-guest" --path "$1") && qemu_init &&
		mkfifo "$qemu_dir/command.in" "$qemu_dir/command.out" || return
	exec {guest_in}<>"$qemu_dir/command.in" {guest_out}<>"$qemu_dir/command.out"
	libvirtd_start && domain_start guest "$guest_kernel" 'quiet panic=-1' && domain_up guest || return
	ln "$qemu_dir/guest.console" "$qemu_dir/console"
}

# It may be told to answer more often than it takes: each of them has an answer, too.
guest_greet()
{
	printf 'ask\n' >&"$guest_in" && guest_listen && guest_ask 'echo greeted' || return
	until [[ $guest_answer = *' greeted'$'\n' ]]; do
		guest_listen || return
	done
}

# guest_ask COMMAND: what it prints is in $guest_answer, its exit status is that of this function.
guest_ask()
{
	guest_tell "$1"
	guest_listen
}

# guest_tell COMMAND: the answer is for guest_listen, if anybody wants it
guest_tell()
{
	guest_command=$1
	printf 'run %s\n' "$guest_command" >&"$guest_in"
}

# Each line of the answer is preceded by the time at which it came, in microseconds. A guest that has
# panicked or gone is not waited for; one that does not answer yet is told to, and what it has lost a part of is said
# again (see guest-init).
guest_listen()
{
	local line='' part='' waited=0
	guest_answer=''
	while is_patient $waited "$guest_patience"; do
		if ! read -r -t 5 line <&"$guest_out"; then
			part+=$line waited=$((waited + 5))
			if grep -qs 'Kernel panic' "$qemu_dir/console" || ! guest_is_there; then break; fi
			continue
		fi
		line=$part${line%$'\r'} part='' waited=0
		case $line in
		'done '*) return "${line#done }" ;;
		'init: ready'*) printf 'ask\n' >&"$guest_in" ;;
		'init: again') guest_tell "$guest_command" ;;
		*) guest_answer+="${EPOCHREALTIME/[.,]/} $line"$'\n' ;;
		esac
	done
	complain "no answer from the guest; its console:" "$qemu_dir/console"
}

# tracer_begin OPTION...: returns when hvtrace traces. Its messages are in $qemu_dir/hvtrace.
tracer_begin()
{
	local image=(-k "$guest_kernel")
	[ "$tracer_image" = 1 ] || image=()
	: >"$qemu_dir/hvtrace" # it may say what an earlier one has said
	"$HVTRACE" attach "gdb:unix:$qemu_dir/gdb" "${image[@]}" --window 1440m "$@" \
		>"$tracer_trace" 2>"$qemu_dir/hvtrace" &
	tracer_pid=$!
	wait_until tracer_says_something_final
	grep -q '^hvtrace: tracing ' "$qemu_dir/hvtrace" && return
	tracer_stop
	complain "hvtrace attach $* does not get to trace:" "$qemu_dir/hvtrace"
}

# That it traces, or nothing any more.
# shellcheck disable=SC2317 # wait_until calls it
tracer_says_something_final()
{
	grep -q '^hvtrace: tracing ' "$qemu_dir/hvtrace" || tracer_gone "$tracer_pid"
}

# tracer_end: sets tracer_events and tracer_lost to what hvtrace says in the end. What is overwritten
# in its ring buffer, as it is meant to be, is not lost, if it tells the one from the other: with
# trampolines it does.
tracer_end()
{
	local status=0
	tracer_stop || status=$?
	# shellcheck disable=SC2034 # tracer_lost is for the caller
	read -r tracer_events tracer_lost < <(sed -nE '
		s/^hvtrace: .* functions?, ([0-9]+) events?, ([0-9]+) lost$/\1 \2/p
		s/^hvtrace: the guest made .* collected, ([0-9]+) lost before that$/- \1/p' \
		"$qemu_dir/hvtrace" |
		awk '$1 != "-" { events = $1 } { lost = $2 } END { if (NR) print events, lost }')
	[ $status = 0 ] && [ -n "$tracer_events" ] && return
	complain "hvtrace ended with status $status:" "$qemu_dir/hvtrace"
}

# tracer_read [INSTANCE]: how many records have been read from the buffers of the guest's vCPUs, whichever it is
# busy on
tracer_read()
{
	local in=${1:+instances/$1/} cpu read sum=0
	for cpu in $("$HVTRACE" get -g "$tracer_pid" "${in}per_cpu"); do
		read=$("$HVTRACE" get -g "$tracer_pid" "${in}per_cpu/$cpu/stats" | sed -n 's/^read events: //p')
		sum=$((sum + ${read:-0}))
	done
	echo "$sum"
}

# Ask hvtrace to end, make it if it does not. Its exit status.
tracer_stop()
{
	local pid=$tracer_pid
	tracer_pid=''
	kill "$pid" 2>/dev/null
	wait_until tracer_gone "$pid" || kill -KILL "$pid"
	wait "$pid" 2>/dev/null
}

# shellcheck disable=SC2317 # wait_until calls it
tracer_gone()
{
	! kill -0 "$1"
}
