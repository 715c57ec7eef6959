#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# testguest-lib.sh - hvtrace run with the bare-metal test guest, for tests that speak TAP. To be
# sourced. Everything lives in $dir; without /dev/kvm the test is skipped.

HVTRACE=${HVTRACE:-build/hvtrace}
guest=${O:-build}/tests/guest/testguest.elf
n=0 failed=0

result() # STATUS NAME
{
	n=$((n + 1))
	if [ "$1" = 0 ]; then
		echo "ok $n - $2"
	else
		sed 's/^/# /' "$dir/err" | tail -n 20
		head -n 30 "$dir/out" | sed 's/^/# /'
		echo "not ok $n - $2"
		# shellcheck disable=SC2034 # the exit status of who sources this
		failed=1
	fi
}

# run ARGS...: with the test guest; what it prints is in $dir/out and $dir/err
run()
{
	timeout 900 "$HVTRACE" run --machine kvm --no-mount -k "$guest" -m 64 "$@" >"$dir/out" 2>"$dir/err" </dev/null
}

# engine_run ARGS...: with trampolines, all records collected, none lost, nothing else said
engine_run()
{
	run --engine trampoline --console "$@" && all_collected &&
		! grep '^hvtrace' "$dir/err" | grep -qvE 'warning: this host|guest: |the guest made'
}

all_collected()
{
	grep -qE 'the guest made ([0-9]+) records: \1 collected, 0 lost' "$dir/err"
}

if ! [ -r /dev/kvm ] || ! [ -w /dev/kvm ]; then
	echo "1..1"
	echo "ok 1 - ${0##*/} # SKIP no access to /dev/kvm"
	exit 0
fi
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
