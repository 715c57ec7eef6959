#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# files.sh - the files, and the options of a trace. To be sourced by seed-snippets.
# shellcheck disable=SC2016,SC2034,SC2154 # what is typed is evaluated later, by lib.sh

# --- files (3.1) --------------------------------------------------------------------------------

clocks()
{
	run 'cat trace_clock'
	prints 'local [global] counter uptime perf mono mono_raw boot tai x86-tsc host'
	run 'echo 1 > tracing_on; echo mark > trace_marker; cat trace'
	has ': tracing_mark_write: mark$'
	run 'echo global > trace_clock'
	run 'cat trace'
	no_events
	has_header nop
	run 'cat trace_clock'
	has '(^| )\[global\]( |$)'
	refused 'Invalid argument' 'echo ppc-tb > trace_clock'
	seen 'trace_clock: setting it clears the buffer'
}

markers()
{
	local trace_fd
	exec {trace_fd}>trace_marker
	run 'printf "hello %s" world >&$trace_fd; printf "n = %d\n" 3 >&$trace_fd'
	run 'cat trace'
	has_header nop
	has "$CPU$DOTS${TIME}tracing_mark_write: hello world\$" ': tracing_mark_write: n = 3$'
	exec {trace_fd}>&-
	seen 'trace_marker, as a program writes to it that keeps it open'
}

modes_and_errors()
{
	run 'cat timestamp_mode'
	prints '[delta] absolute'
	run 'echo > error_log'
	run 'cat error_log'
	prints ''
	seen 'timestamp_mode, error_log'
}

# --- trace options (3.4.3) ----------------------------------------------------------------------

readonly OPTIONS='print-parent nosym-offset nosym-addr noverbose noraw nohex nobin noblock trace_printk
annotate nouserstacktrace nosym-userobj noprintk-msg-only context-info nolatency-format record-cmd
norecord-tgid overwrite nodisable_on_free irq-info markers noevent-fork function-trace nofunction-fork
nodisplay-graph nostacktrace'

list_of_options()
{
	local option
	run 'cat trace_options'
	for option in $OPTIONS; do
		has "^$option\$"
	done
	run 'ls options'
	for option in $OPTIONS; do
		case $option in
		nosym* | noverbose | noraw | nohex | nobin | noblock | nouser* | noprintk* | nolat* | norec* | \
			nodis* | noevent* | nofunc* | nostack*) has "^${option#no}\$" ;;
		*) has "^$option\$" ;;
		esac
	done
	seen 'trace_options and options/ have what the document lists'
}

# What the options are shown with: a few events that stay.
some_calls()
{
	echo vfs_open do_sys_openat2 >set_ftrace_filter
	echo function >current_tracer
	record 20
}

option_commands()
{
	some_calls
	run 'cat trace'
	has_header function
	all_events "$CALL"
	in_order
	run 'echo noprint-parent > trace_options'
	run 'cat trace'
	all_events "$TASK$CPU$DOTS$TIME(vfs_open|do_sys_openat2)\$"
	run 'echo sym-offset > trace_options'
	run 'cat trace'
	all_events "$TASK$CPU$DOTS$TIME(vfs_open|do_sys_openat2)\+0x[0-9a-f]+/0x[0-9a-f]+\$"
	run 'echo print-parent > trace_options; cat trace'
	all_events ': [^ ]+\+0x[0-9a-f]+/0x[0-9a-f]+ <-[^ ]+\+0x[0-9a-f]+/0x[0-9a-f]+$'
	run 'echo nosym-offset > trace_options; echo 1 > options/sym-addr; cat trace'
	all_events ': [^ ]+ <f{8}[0-9a-f]{8}> <-[^ ]+ <f{8}[0-9a-f]{8}>$'
	run 'echo 0 > options/sym-addr; cat trace'
	all_events "$CALL"
	refused 'Invalid argument' 'echo nosuch > trace_options'
	refused 'Invalid argument' 'echo 2 > options/sym-addr'
	seen 'print-parent, sym-offset, sym-addr'
}

# Times since the start of the trace, in microseconds.
latency_format()
{
	local first relative
	first=$(sed -n '13s/^.* \([0-9]*\)\.\([0-9]*\): .*/\1\2/p' trace)
	run 'echo 1 > options/latency-format; cat trace'
	has '^# function latency trace v1\.1\.5 on 6\.1\.' '^#  cmd     pid     \|\|\|\|\|\| time  \|   caller' \
		'^# latency: 0 us, #[0-9]+/[0-9]+, CPU#[01] \| \(M:[a-z]+ VP:0, KP:0, SP:0 HP:0 #P:2\)$'
	all_events '^ *[^ ].{0,15}-[0-9]+ +[01][dDb.][Nnp.][ZzHhs.][0-9a-f.][0-9a-f.] +[0-9]+us[ +!#*@$]: [^ ]+ <-'
	relative=$(events | sed -n '1s/^.* \([0-9]*\)us.*/\1/p')
	[ "${relative:-$first}" -lt $((first - 1000000)) ] || miss "begins at $relative us, clock $first us"
	run 'echo 1 > options/verbose; cat trace'
	all_events '^ +[^ ]+ +[0-9]+ +[01] [0-9]+ [0-9a-f]{8} [0-9a-f]{8} \[[0-9a-f]{8}\] [0-9.]+ms \(\+[0-9.]+ms\): [^ ]+ <-'
	run 'echo 0 > options/verbose; echo 0 > options/latency-format; cat trace'
	has_header function
	seen 'latency-format, verbose'
}

numbers()
{
	run 'echo 1 > options/raw; cat trace'
	all_events '^[0-9]+ [01] [0-9]+ f{8}[0-9a-f]{8} f{8}[0-9a-f]{8}$'
	run 'echo 0 > options/raw; echo 1 > options/hex; cat trace'
	all_events '^([0-9a-f]{8}|[0-9a-f]{16}| )+$'
	# Of each event its pid and CPU, in four bytes each, and its time and two addresses in eight.
	run 'echo 0 > options/hex; cat trace'
	run "echo 1 > options/bin; tail -n +13 trace | wc -c | awk -v n=$(events | wc -l) '{ print n, \$1 - 32 * n }'"
	has '^[1-9][0-9]* 0$'
	run 'echo 0 > options/bin; cat trace'
	all_events "$CALL"
	seen 'raw, hex, bin'
}

columns()
{
	run 'echo 0 > options/context-info; cat trace'
	all_events '^(vfs_open|do_sys_openat2) <-[^ ]+$'
	run 'echo 1 > options/context-info; echo 0 > options/irq-info; cat trace'
	has '^#           TASK-PID     CPU#     TIMESTAMP  FUNCTION$' '^#              \| \|         \|         \|         \|$'
	all_events "$TASK$CPU${TIME}[^ ]+ <-"
	run 'echo 1 > options/irq-info; echo 1 > options/record-tgid; cat trace'
	all_events "$TASK\(( *[0-9]+|-+)\) $CPU"
	run 'echo 0 > options/record-tgid; cat trace'
	has_header function
	seen 'context-info, irq-info, record-tgid'
}

# Each of these changes what is recorded, or whether it is.
recording_options()
{
	local trace_fd before
	run 'echo 0 > options/markers'
	refused 'Invalid argument' 'echo 1 > tracing_on; echo mark > trace_marker'
	run 'echo 1 > options/markers; echo mark > trace_marker'
	run 'echo 1 > options/pause-on-trace; echo 1 > tracing_on'
	exec {trace_fd}<trace
	before=$(sed -n 1p per_cpu/cpu0/stats per_cpu/cpu1/stats)
	usleep 50000
	[ "$before" = "$(sed -n 1p per_cpu/cpu0/stats per_cpu/cpu1/stats)" ] || miss 'records while trace is open'
	run 'cat tracing_on'
	prints 1
	exec {trace_fd}<&-
	run 'echo 0 > options/pause-on-trace; echo 0 > tracing_on'
	run 'echo > trace'
	seen 'markers, pause-on-trace'
}

# With few functions, as the document warns.
stacks()
{
	run 'echo do_sys_openat2 > set_ftrace_filter; echo > trace; echo 1 > options/func_stack_trace'
	record 4
	run 'echo 0 > options/func_stack_trace; cat trace'
	has ': do_sys_openat2 <-__x64_sys_openat$' ': <stack trace>$' '^ => do_sys_openat2$' \
		'^ => __x64_sys_openat$' '^ => do_syscall_64$' '^ => entry_SYSCALL_64_after_hwframe$'
	# Of a task that is still there when its files are looked for.
	run "echo $busy > set_ftrace_pid"
	run 'echo 1 > options/userstacktrace; echo 1 > options/func_stack_trace; echo > trace'
	record 4
	run 'echo 0 > options/func_stack_trace; echo 0 > options/userstacktrace; cat trace'
	has ': <user stack trace>$' '^ => ( <[0-9a-f]{16}>)$'
	run 'echo 1 > options/sym-userobj; cat trace'
	has '^ => /[^[]*\[\+0x[0-9a-f]+\]'
	run 'echo 0 > options/sym-userobj; echo > set_ftrace_pid; echo > trace'
	seen 'func_stack_trace, userstacktrace, sym-userobj'
}

# The newest are dropped, and what is recorded first stays.
overwrite()
{
	run 'echo > set_ftrace_filter; echo 0 > options/overwrite; echo 8 > buffer_size_kb'
	run 'echo 1 > tracing_on'
	wait_until grep -q '^dropped events: [1-9]' per_cpu/cpu0/stats || miss 'drops no events'
	run 'echo 0 > tracing_on; cat per_cpu/cpu0/stats'
	has '^overrun: 0$' '^dropped events: [1-9]' '^entries: [1-9]' '^commit overrun: 0$'
	run 'echo > trace; echo 1 > options/overwrite; echo 1 > tracing_on'
	wait_until grep -q '^overrun: [1-9]' per_cpu/cpu0/stats || miss 'overwrites no events'
	wait_until grep -q '^entries: [1-9]' per_cpu/cpu1/stats || miss 'has no events of vCPU 1'
	run 'echo 0 > tracing_on; cat per_cpu/cpu0/stats'
	has '^overrun: [1-9]' '^dropped events: 0$'
	run 'cat trace'
	has '^##### CPU [01] buffer started ####$'
	run 'echo 0 > options/annotate; cat trace'
	has_no '^#####'
	run 'echo 1 > options/annotate'
	run 'echo 1 > options/disable_on_free; echo 1 > tracing_on; echo > free_buffer'
	run 'cat tracing_on'
	prints 0
	run 'cat buffer_size_kb'
	has '^[0-9]$'
	run 'echo 0 > options/disable_on_free; echo 1408 > buffer_size_kb; echo > trace'
	seen 'overwrite, annotate, disable_on_free'
}

# Until each vCPU has some events: one of them may have nothing to do for long.
record_on_both()
{
	run 'echo 1 > tracing_on'
	wait_until grep -q '^entries: [1-9]' per_cpu/cpu0/stats || miss 'has no events of vCPU 0'
	wait_until grep -qE '^entries: [0-9]{3}' per_cpu/cpu1/stats || miss 'has few events of vCPU 1'
	run 'echo 0 > tracing_on'
}

# What is of one CPU shows, clears and counts only that.
per_cpu()
{
	run 'echo > trace'
	record_on_both
	run 'cat per_cpu/cpu1/trace'
	all_events "$TASK\[001\] "
	run 'cat per_cpu/cpu0/trace'
	all_events "$TASK\[000\] "
	run 'echo > per_cpu/cpu0/trace; cat per_cpu/cpu0/stats'
	has '^entries: 0$'
	run 'cat trace'
	has_header function
	all_events "$TASK\[001\] "
	run 'cat per_cpu/cpu1/trace_pipe | head -n 2'
	all_events "$TASK\[001\] "
	run 'cat per_cpu/cpu1/stats'
	has '^read events: [1-9]'
	seen 'per_cpu/cpuN'
}

only_one_vcpu()
{
	run 'cat tracing_cpumask'
	prints 3
	run 'echo 2 > tracing_cpumask; echo > trace'
	record 100
	run 'cat trace'
	has_no '\[000\]'
	run 'echo 3 > tracing_cpumask'
	refused 'Value too large for defined data type' 'echo 7 > tracing_cpumask'
	run 'cat tracing_cpumask'
	prints 3
	run 'echo > trace; echo nop > current_tracer'
	seen 'tracing_cpumask'
}
