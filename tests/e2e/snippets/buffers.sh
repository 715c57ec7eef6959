#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# buffers.sh - trace_pipe, and the buffers. To be sourced by seed-snippets.
# shellcheck disable=SC2016,SC2034,SC2154 # what is typed is evaluated later, by lib.sh

# --- trace_pipe (3.8) ---------------------------------------------------------------------------

trace_pipe()
{
	local reader
	run 'echo > trace; echo 0 > tracing_on'
	run 'echo function > current_tracer'
	run 'cat trace_pipe > "$qemu_dir/trace.out" &'
	reader=$!
	run 'echo 1 > tracing_on'
	run 'usleep 1'
	run 'echo 0 > tracing_on'
	# It ends when there is nothing left.
	wait_until_gone "$reader" || miss 'the reader does not end'
	run 'cat trace'
	has_header function
	no_events
	run 'cat "$qemu_dir/trace.out"'
	all_events "$CALL"
	in_order
	has_no '^# tracer'
	[ "$(functions | wc -l)" -gt 300 ] || miss "has only $(functions | wc -l) functions"
	seen 'trace_pipe'
	run 'cat trace_pipe > "$qemu_dir/trace.out" &'
	reader=$!
	wait_until_open "$reader" || miss 'does not open trace_pipe'
	refused 'Device or resource busy' 'cat trace_pipe'
	refused 'Device or resource busy' 'echo nop > current_tracer'
	kill "$reader"
	wait_until_gone "$reader" || miss 'the reader does not end'
	run 'echo nop > current_tracer'
	seen 'trace_pipe has one reader, who keeps the tracer'
}

wait_until_gone() # PID
{
	wait_until tracer_gone "$1"
}

wait_until_open() # PID: it has trace_pipe open
{
	wait_until has_open "$1"
}

# shellcheck disable=SC2317 # wait_until calls it
has_open()
{
	readlink "/proc/$1"/fd/* | grep -q '/trace_pipe$'
}

# --- trace entries (3.9) ------------------------------------------------------------------------

buffer_sizes()
{
	run 'cat buffer_size_kb'
	prints 1410 # 1408 in whole pages
	run 'cat buffer_total_size_kb '
	prints 2820
	run 'echo 10000 > buffer_size_kb'
	run 'cat buffer_size_kb'
	prints 10000
	refused 'echo: write error: Cannot allocate memory' 'echo 1000000000000 > buffer_size_kb'
	run 'cat buffer_size_kb'
	prints 10000
	run 'echo 10000 > per_cpu/cpu0/buffer_size_kb'
	run 'echo 100 > per_cpu/cpu1/buffer_size_kb'
	run 'cat buffer_size_kb'
	prints X
	run 'cat buffer_total_size_kb '
	prints 10103
	run 'echo 1408 > buffer_size_kb; cat per_cpu/cpu0/buffer_size_kb per_cpu/cpu1/buffer_size_kb'
	prints '1410
1410'
	seen 'buffer sizes'
}

# --- snapshot (3.10) ----------------------------------------------------------------------------

readonly SNAPSHOT_HELP='# tracer: function
#
#
# * Snapshot is STATE *
#
# Snapshot commands:
# echo 0 > snapshot : Clears and frees snapshot buffer
# echo 1 > snapshot : Allocates snapshot buffer, if not already allocated.
#                      Takes a snapshot of the main buffer.
# echo 2 > snapshot : Clears snapshot buffer (but does not allocate or free)
#                      (Doesn'"'"'t have to be '"'2'"' works with any number that
#                       is not a '"'0' or '1'"')'

snapshots()
{
	run 'echo function > current_tracer; cat snapshot'
	prints "${SNAPSHOT_HELP/STATE/freed}"
	run 'echo 2 > snapshot; echo 0 > snapshot; cat snapshot'
	prints "${SNAPSHOT_HELP/STATE/freed}"
	run 'echo 1 > tracing_on; usleep 1'
	run 'echo 1 > snapshot'
	run 'cat snapshot'
	has_header function
	all_events "$CALL"
	events >"$qemu_dir/in-snapshot"
	usleep 1
	run 'cat trace'
	has '^# tracer: function$'
	# Of each CPU: one is swapped behind the other.
	events | awk '
		{ match($0, /\[[0-9]+\] +[^ ]+ +[0-9.]+: /); split(substr($0, RSTART, RLENGTH), w, " +") }
		!RSTART { next }
		FILENAME != "-" { last[w[1]] = w[3] + 0; next }
		!(w[1] in first) { first[w[1]] = 1; n++; bad += w[3] + 0 < last[w[1]] }
		END { exit !n || bad }' "$qemu_dir/in-snapshot" - ||
		miss "begins before the snapshot ends"
	run 'echo 2 > snapshot; cat snapshot'
	prints "${SNAPSHOT_HELP/STATE/allocated}"
	run 'echo 0 > tracing_on; cat trace > "$qemu_dir/was"; echo 1 > snapshot; cat snapshot'
	[ "$(<"$printed")" = "$(<"$qemu_dir/was")" ] || miss 'is not what was in trace'
	run 'cat trace'
	no_events
	run 'echo 1 > snapshot; cat trace'
	[ "$(<"$printed")" = "$(<"$qemu_dir/was")" ] || miss 'is not swapped back'
	run 'echo 0 > snapshot; cat snapshot'
	prints "${SNAPSHOT_HELP/STATE/freed}"
	run 'echo > trace; echo 1 > tracing_on; usleep 1; echo 1 > per_cpu/cpu0/snapshot; cat per_cpu/cpu1/snapshot'
	has '^# \* Snapshot is allocated \*$' 'Takes a snapshot of the main buffer for this cpu\.$'
	run 'cat per_cpu/cpu0/snapshot'
	all_events "$CALL"
	run 'echo wakeup > current_tracer'
	refused 'Device or resource busy' 'echo 1 > snapshot'
	refused 'Device or resource busy' 'cat snapshot'
	refused 'Device or resource busy' 'echo 2 > snapshot'
	refused 'Device or resource busy' 'cat per_cpu/cpu0/snapshot_raw'
	run 'echo nop > current_tracer; echo 0 > snapshot; echo > trace'
	seen 'snapshots'
}

# --- instances (3.11) ---------------------------------------------------------------------------

instances()
{
	local file
	run 'mkdir instances/foo'
	run 'ls instances/foo'
	for file in buffer_size_kb buffer_total_size_kb events free_buffer per_cpu snapshot trace trace_clock \
		trace_marker trace_options trace_pipe tracing_on; do
		has "^$file\$"
	done
	refused 'File exists' 'mkdir instances/foo'
	run 'mkdir instances/bar'
	run 'mkdir instances/zoot'
	run 'echo 100000 > buffer_size_kb'
	run 'echo 1000 > instances/foo/buffer_size_kb'
	run 'echo 5000 > instances/bar/per_cpu/cpu1/buffer_size_kb'
	run 'cat buffer_size_kb instances/{foo,bar}/buffer_size_kb instances/bar/per_cpu/cpu?/buffer_size_kb'
	prints '100003
1000
X
1410
5000'
	refused 'Permission denied' 'echo function > current_trace'
	run 'echo function > current_tracer; echo 1 > tracing_on'
	run 'echo vfs_open > instances/foo/set_ftrace_filter; echo function > instances/foo/current_tracer'
	run 'cat trace_pipe | head -n 20'
	all_events "$CALL"
	run 'cat instances/foo/trace_pipe | head -n 3'
	only '^vfs_open$' functions
	# It ends when there is nothing left: nothing is recorded there any more.
	run 'echo in bar > instances/bar/trace_marker; echo 0 > instances/bar/tracing_on; cat instances/bar/trace_pipe'
	all_events ': tracing_mark_write: in bar$'
	run 'cat instances/zoot/trace'
	has_header nop
	no_events
	run 'echo 0 > tracing_on; echo nop > current_tracer; echo 1408 > buffer_size_kb'
	exec {file}<instances/foo/trace
	refused 'Device or resource busy' 'rmdir instances/foo'
	exec {file}<&-
	run 'rmdir instances/foo'
	run 'rmdir instances/bar'
	run 'rmdir instances/zoot'
	run 'ls instances'
	prints ''
	seen 'instances'
}
