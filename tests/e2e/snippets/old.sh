#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# old.sh - what only the document for 2.6.28 has. To be sourced by seed-snippets.
# shellcheck disable=SC2016,SC2034,SC2154 # what is typed is evaluated later, by lib.sh

# --- the document for 2.6.28 --------------------------------------------------------------------

old_document()
{
	local reader
	run 'echo function > current_tracer'
	run 'echo 1 > tracing_enabled'
	run 'usleep 1'
	run 'echo 0 > tracing_enabled'
	run 'cat tracing_on'
	prints 0
	run 'cat trace'
	has_header function
	all_events "$CALL"
	seen 'tracing_enabled'
	refused 'Invalid argument' 'echo sys_nanosleep hrtimer_interrupt \
		> set_ftrace_filter'
	run 'echo __x64_sys_clock_nanosleep hrtimer_interrupt \
		> set_ftrace_filter'
	run 'echo > trace; echo 1 > tracing_enabled'
	run 'usleep 1'
	run 'echo 0 > tracing_enabled'
	run 'cat trace'
	only '^(hrtimer_interrupt|__x64_sys_clock_nanosleep)$' functions
	run "echo '!__schedule_bug:traceoff' > set_ftrace_filter; true" # there is none: ENODEV
	has 'No such device$'
	run 'echo > set_ftrace_filter; echo > trace'
	seen 'filters while the tracer is set'
	run 'echo function > current_tracer'
	run 'cat trace_pipe > "$qemu_dir/trace.out" &'
	reader=$!
	run 'echo 1 > tracing_enabled'
	run 'usleep 1'
	run 'echo 0 > tracing_enabled'
	wait_until_gone "$reader" || miss 'the reader does not end'
	run 'cat trace'
	no_events
	run 'cat "$qemu_dir/trace.out"'
	all_events "$CALL"
	seen 'trace_pipe with tracing_enabled'
	# Once the size could be changed only while nothing was traced.
	run 'echo nop > current_tracer'
	run 'echo 10000 > buffer_size_kb'
	run 'cat buffer_size_kb'
	prints 10000
	refused 'echo: write error: Cannot allocate memory' 'echo 1000000000000 > buffer_size_kb'
	run 'cat buffer_size_kb'
	prints 10000
	seen 'buffer sizes with nop'
}
