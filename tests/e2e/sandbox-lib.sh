#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# sandbox-lib.sh - whether an hvtrace has given up what it does not need. To be sourced.

# lists STATUS: how many lists of system calls a thread with that status has, and that is how many more than this shell
lists()
{
	awk -v mine="$(awk '$1 == "Seccomp_filters:" { print $2 }' /proc/self/status)" \
		'$1 == "Seccomp_filters:" { print $2 - mine; said = 1 } END { if (!said) print "unknown" }' <<<"$1"
}

# A build with sanitizers, or for gcov, is confined less.
is_instrumented() # PROGRAM
{
	grep -qE '__[at]san_init|__gcov_' "$1"
}

# rightless STATUS: no capability, no way to one, and not every system call
rightless()
{
	[ "$(awk '$1 ~ /^(NoNewPrivs|Seccomp|CapEff|CapPrm):$/ { print $1, $2 }' <<<"$1" | sort)" = \
		'CapEff: 0000000000000000
CapPrm: 0000000000000000
NoNewPrivs: 1
Seccomp: 2' ]
}

# parsers_confined PID: so is the process that parses for it, and it has nothing open but a way to PID
parsers_confined()
{
	local child children status
	children=$(cat /proc/"$1"/task/*/children)
	for child in $children; do
		status=$(cat "/proc/$child/status")
		grep -q '^Name:	hvtrace-parsers' <<<"$status" || continue
		if is_instrumented "/proc/$1/exe"; then
			grep -q '^NoNewPrivs:	1' <<<"$status"
			return
		fi
		rightless "$status" && [ "$(find "/proc/$child/fd" -lname 'socket:*' | wc -l)" = 1 ] &&
			[ -z "$(find "/proc/$child/fd" -type l ! -lname 'socket:*' ! -lname /dev/null)" ]
		return
	done
	return 1
}

# may_hurry PID: its collector may go before others, though it begins when nothing more can be had; if it could at first
may_hurry()
{
	[ "$(awk '$1 == "Uid:" { print $3 }' "/proc/$1/status")" != 0 ] ||
		! prlimit --nice=35:35 true 2>/dev/null ||
		awk '/^Max nice priority/ { most = $4 } END { exit most < 35 }' "/proc/$1/limits"
}

# confined PID: no thread of it has a capability, can get one, or may make any system call; each has the list of all and
# one of its kind. A worker of the kernel's own, which each process with a KVM machine has, is none of its threads.
confined()
{
	local file status n=0
	for file in /proc/"$1"/task/*/status; do
		status=$(cat "$file" 2>/dev/null) || continue # it has ended meanwhile
		grep -q '^Name:	kvm-nx-lpage' <<<"$status" && continue
		rightless "$status" || return
		case $(lists "$status") in
		unknown | [2-9]) ;;
		*) return 1 ;;
		esac
		n=$((n + 1))
	done
	[ $n -gt 1 ] && may_hurry "$1" && grep -q '^Max core file size *0 *0 ' "/proc/$1/limits" &&
		{ is_instrumented "/proc/$1/exe" || grep -q '^Max address space *[0-9]' "/proc/$1/limits"; }
}
