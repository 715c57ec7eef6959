#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# testguest-lib.sh - hvtrace run with the bare-metal test guest, for tests that speak TAP. To be
# sourced. Everything lives in $dir; without /dev/kvm the test is skipped.

HVTRACE=${HVTRACE:-build/hvtrace}
guest=${O:-build}/tests/guest/testguest.elf

details()
{
	tail -n 20 "$dir/err"
	head -n 30 "$dir/out"
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
		! grep '^hvtrace' "$dir/err" | grep -qvE 'warning: this host|guest: |the guest (made|stood)'
}

all_collected()
{
	grep -qE 'the guest made ([0-9]+) records: \1 collected, 0 lost' "$dir/err"
}

# shellcheck disable=SC2317 # at_exit
testguest_exit()
{
	rm -rf "$dir"
}

need /dev/kvm
dir=$(mktemp -d) || exit 1
at_exit testguest_exit
