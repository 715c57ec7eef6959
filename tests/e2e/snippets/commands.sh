#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# commands.sh - commands in the filter. To be sourced by seed-snippets.
# shellcheck disable=SC2016,SC2034,SC2154 # what is typed is evaluated later, by lib.sh

# --- filter commands (3.7) ----------------------------------------------------------------------

# The guest has no module: one that is named may come later, and of all that are there is none.
modules()
{
	run "echo 'write*:mod:ext3' > set_ftrace_filter"
	run 'cat set_ftrace_filter'
	prints 'write*:mod:ext3'
	refused 'Invalid argument' "echo '!writeback*:mod:ext3' >> set_ftrace_filter"
	run "echo '!*:mod:!ext3' >> set_ftrace_filter"
	refused 'Invalid argument' "echo '!*:mod:*' >> set_ftrace_filter"
	run "echo '*write*:mod:!*' >> set_ftrace_filter"
	run 'cat set_ftrace_filter'
	has '^vfs_write$' '^writeback_' '^write\*:mod:ext3$'
	has_no '^[^:]*(wri[^t]|wr[^i])[^:]*[^e]$'
	run "echo '!*:mod:!ext3' >> set_ftrace_filter"
	run 'cat set_ftrace_filter'
	has_no '^vfs_write$'
	run "echo '*write*:mod:*snd*' >> set_ftrace_filter"
	run 'cat set_ftrace_filter'
	has '^\*write\*:mod:\*snd$' # so the kernel shows it
	run 'echo > set_ftrace_filter; cat set_ftrace_filter'
	prints '#### all functions enabled ####'
	seen 'filter command mod'
}

switches()
{
	run "echo '__schedule_bug:traceoff:5' > set_ftrace_filter"
	run "echo '__schedule_bug:traceoff' > set_ftrace_filter"
	run 'cat set_ftrace_filter'
	prints '#### all functions enabled ####
__schedule_bug:traceoff:unlimited
__schedule_bug:traceoff:count=5'
	run "echo '!__schedule_bug:traceoff:0' > set_ftrace_filter"
	run 'cat set_ftrace_filter'
	prints '#### all functions enabled ####
__schedule_bug:traceoff:unlimited'
	run "echo '!__schedule_bug:traceoff' > set_ftrace_filter"
	run 'cat set_ftrace_filter'
	prints '#### all functions enabled ####'
	seen 'filter commands traceon and traceoff, and their removal'
	run 'echo 1 > tracing_on'
	run "echo 'do_sys_openat2:traceoff:1' > set_ftrace_filter"
	wait_until grep -q 0 tracing_on || miss 'does not switch off'
	run "echo 'do_sys_openat2:traceon:1' > set_ftrace_filter"
	refused 'No such device' "echo '!do_sys_openat2:traceon' > set_ftrace_filter"
	wait_until grep -q 1 tracing_on || miss 'does not switch on'
	run 'cat set_ftrace_filter'
	has '^do_sys_openat2:traceoff:count=0$' '^do_sys_openat2:traceon:count=0$'
	run "echo '!do_sys_openat2:traceoff:0' > set_ftrace_filter"
	run "echo '!do_sys_openat2:traceon:0' > set_ftrace_filter"
	run 'echo 0 > tracing_on; cat set_ftrace_filter'
	prints '#### all functions enabled ####'
	seen 'traceoff and traceon of a function that is called'
}

snapshot_command()
{
	refused 'Invalid argument' "echo 'native_flush_tlb_others:snapshot' > set_ftrace_filter"
	refused 'Invalid argument' "echo 'native_flush_tlb_others:snapshot:1' > set_ftrace_filter"
	refused 'No such device' "echo '!native_flush_tlb_others:snapshot' > set_ftrace_filter"
	refused 'No such device' "echo '!native_flush_tlb_others:snapshot:0' > set_ftrace_filter"
	run "echo 'native_flush_tlb_multi:snapshot' > set_ftrace_filter"
	run "echo 'native_flush_tlb_multi:snapshot:1' > set_ftrace_filter"
	run 'cat set_ftrace_filter'
	has '^native_flush_tlb_multi:snapshot:unlimited$' '^native_flush_tlb_multi:snapshot:count=[01]$'
	run "echo '!native_flush_tlb_multi:snapshot' > set_ftrace_filter"
	run "echo '!native_flush_tlb_multi:snapshot:0' > set_ftrace_filter"
	run 'cat set_ftrace_filter; echo > trace; echo 0 > snapshot'
	prints '#### all functions enabled ####'
	seen 'filter command snapshot, and its removal'
	run 'echo 1 > tracing_on; echo before > trace_marker'
	run "echo 'do_sys_openat2:snapshot:1' > set_ftrace_filter"
	wait_until grep -q ': before$' snapshot || miss 'takes no snapshot'
	run 'echo after > trace_marker; cat trace'
	has ': tracing_mark_write: after$'
	has_no ': before$'
	run "echo '!do_sys_openat2:snapshot:0' > set_ftrace_filter; echo 0 > tracing_on; echo 0 > snapshot"
	seen 'snapshot of a function that is called'
}

other_commands()
{
	run 'echo > trace; echo 1 > tracing_on; echo to be dumped > trace_marker'
	run "echo 'do_sys_openat2:stacktrace:2' > set_ftrace_filter"
	wait_until grep -q '^do_sys_openat2:stacktrace:count=0$' set_ftrace_filter || miss 'is not called'
	run 'cat trace'
	has '<stack trace>$' '^ => do_sys_openat2$' '^ => do_syscall_64$'
	run "echo 'do_sys_openat2:dump:1' > set_ftrace_filter"
	run "echo 'do_sys_openat2:cpudump:1' > set_ftrace_filter"
	wait_until grep -q ' tracing_mark_write: to be dumped$' "$qemu_dir/hvtrace" || miss 'does not dump'
	run "echo '!do_sys_openat2:stacktrace:0' > set_ftrace_filter"
	run "echo '!do_sys_openat2:dump:0' > set_ftrace_filter"
	run "echo '!do_sys_openat2:cpudump' > set_ftrace_filter"
	run 'echo 0 > tracing_on; cat set_ftrace_filter'
	prints '#### all functions enabled ####'
	seen 'filter commands stacktrace, dump, cpudump'
}
