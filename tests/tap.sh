#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# tap.sh - results in TAP, for tests that are scripts. To be sourced, before what starts anything.
#
# The last command of a test is tests_end. The plan is printed on exit, and only if the test has come that
# far: one that dies on the way has none, so it has failed, however many results it has by then.
# shellcheck disable=SC2034 # failed is for who sources this

n=0 failed=0 # results so far; whether one of them is bad
about=''     # what else a result is to say behind its name, e.g. which guest it was
tap_ended=0 tap_at_exit=() tap_dir=$PWD

# What helps to understand a result that is bad: for a test to define anew. What it prints becomes comments.
details() { :; }

result() # STATUS NAME [FILE]: with a file more that helps to understand it
{
	n=$((n + 1))
	if [ "$1" = 0 ]; then
		echo "ok $n - $2${about:+ ($about)}"
		return
	fi
	failed=1
	{
		details
		[ -z "${3-}" ] || head -n 40 "$3"
	} 2>&1 | cut -c 1-300 | awk '{ print "# " $0 }' # the last line may have no end
	echo "not ok $n - $2${about:+ ($about)}"
}

# is GOT WANT WHAT
is()
{
	[ "$1" = "$2" ] && return
	echo "# $3: '$1', not '$2'"
	return 1
}

# skip NAME WHY: one result that cannot be had here
skip()
{
	n=$((n + 1))
	echo "ok $n - $1${about:+ ($about)} # SKIP $2"
}

# skip_all WHY: the whole test
skip_all()
{
	skip "${0##*/}" "$1"
	tests_end
}

# need PROGRAM|/dev/NODE...: without one of them the whole test is skipped
need()
{
	local thing
	for thing; do
		case $thing in
		/*) { [ -r "$thing" ] && [ -w "$thing" ]; } || skip_all "no access to $thing" ;;
		*) command -v "$thing" >/dev/null || skip_all "no $thing" ;;
		esac
	done
}

# include STATUS FILE: the results in a file of another program, which has ended with this status, are
# counted as ours. One that died or ran fewer tests than it had planned has failed, if no line says so.
include()
{
	local counts bad
	counts=$(mktemp) || exit 1
	awk -v n="$n" -v name="$about" -v status="$1" -v program="${2##*/}" -v counts="$counts" -f "${BASH_SOURCE[0]%/*}/tap-part.awk" "$2"
	read -r n _ bad _ <"$counts"
	rm -f "$counts"
	[ "$bad" = 0 ] || failed=1
}

# at_exit FUNCTION: is called when the test ends, whichever way; the last one first. What it finds may still
# be a result.
at_exit()
{
	tap_at_exit=("$1" "${tap_at_exit[@]}")
}

# one_line FILE: what hvtrace has said there is one line, beside those of what a busy host makes it wait for
one_line()
{
	[ "$(grep -vc '^hvtrace: .* takes a while$' "$1")" = 1 ]
}

tests_end()
{
	tap_ended=1
	exit $failed
}

# shellcheck disable=SC2317 # a trap
tap_exit()
{
	local status=$? function
	trap '' INT TERM HUP
	cd "$tap_dir" || exit 1 # not in something that is to be unmounted
	for function in "${tap_at_exit[@]}"; do
		"$function"
	done
	if [ $tap_ended = 0 ]; then
		echo "# it has ended too early, with status $status"
		exit $((status ? status : 1))
	fi
	echo "1..$n"
	exit $failed
}

trap tap_exit EXIT
trap 'exit 1' INT TERM HUP
