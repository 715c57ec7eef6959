#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# functions.sh - which functions and tasks are traced. To be sourced by seed-snippets.
# shellcheck disable=SC2016,SC2034,SC2154 # what is typed is evaluated later, by lib.sh

# --- function (3.4.11) --------------------------------------------------------------------------

function_tracer()
{
	local trace_fd
	run 'sysctl kernel.ftrace_enabled=1'
	run 'echo function > current_tracer'
	run 'echo 1 > tracing_on'
	# One that waits, so that it has its new name for certain, which a task gets by exec.
	run 'usleep 10000'
	run 'echo 0 > tracing_on'
	run 'cat trace'
	has_header function
	all_events "$CALL"
	in_order
	tasks | grep -q '^usleep-' || miss "has only $(tasks)"
	[ "$(functions | wc -l)" -gt 300 ] || miss "has only $(functions | wc -l) functions"
	seen 'the function tracer'
	# trace_fd = open(tracing_file("tracing_on"), O_WRONLY); ... write(trace_fd, "0", 1);
	run 'echo 1 > tracing_on'
	exec {trace_fd}>tracing_on
	run 'printf 0 >&$trace_fd'
	exec {trace_fd}>&-
	run 'cat tracing_on'
	prints 0
	seen 'a program that switches tracing off'
}

# --- single thread tracing (3.4.12) -------------------------------------------------------------

single_thread()
{
	run 'echo nop > current_tracer'
	run 'cat set_ftrace_pid'
	prints 'no pid'
	run 'echo 3111 > set_ftrace_pid'
	run 'cat set_ftrace_pid'
	prints 3111
	run "echo $busy > set_ftrace_pid"
	run 'cat set_ftrace_pid'
	prints "$busy"
	run 'echo function > current_tracer'
	record 100
	run 'cat trace | head'
	has '^# tracer: function$'
	run 'cat trace'
	only "-$busy\$" tasks
	run 'echo > set_ftrace_pid'
	run 'cat set_ftrace_pid'
	prints 'no pid'
	run 'echo > trace'
	record 20000
	run 'cat trace |head'
	has '^# tracer: function$'
	run 'cat trace'
	[ "$(tasks | wc -l)" -gt 1 ] || miss "has only $(tasks)"
	seen 'set_ftrace_pid'
	run 'echo nop > current_tracer; echo 3111 > set_ftrace_pid'
	refused 'Invalid argument' 'echo -1 > set_ftrace_pid'
	run 'cat set_ftrace_pid'
	prints 'no pid'
	seen 'set_ftrace_pid: -1, which once meant all, is refused'
}

# wait_to_exec COMMAND: a shell of the guest that will become COMMAND once there is a /go. Sets pid. It
# has begun by then: a shell calls getppid() for its $PPID, and would be seen at it on a slow host.
wait_to_exec()
{
	local shell="echo >/begun; until [ -e /go ]; do usleep 10000; done; exec $1"
	guest_ask "rm -f /go /begun; sh -c '$shell' >/dev/null & echo \$!; until [ -e /begun ]; do usleep 10000; done"
	pid=$(answer)
}

# The script that has a command traced from its first call on. Its $$ is a task of the guest.
script_that_traces_itself()
{
	local tracefs=$qemu_dir/tracefs pid
	mkdir "$tracefs" && ln -s "$PWD" "$tracefs/tracing"
	wait_to_exec 'sleep 0.01'
	run 'echo nop > $tracefs/tracing/current_tracer'
	run 'echo 0 > $tracefs/tracing/tracing_on'
	run "echo $pid > \$tracefs/tracing/set_ftrace_pid"
	run 'echo function > $tracefs/tracing/current_tracer'
	run 'echo 1 > $tracefs/tracing/tracing_on'
	in_guest 'echo > /go; until ! [ -e /proc/'"$pid"' ]; do usleep 10000; done'
	run 'echo 0 > tracing_on; cat trace'
	only "-$pid\$" tasks
	has ': begin_new_exec <-load_elf_binary$' ': __x64_sys_clock_nanosleep <-do_syscall_64$' \
		': do_exit <-do_group_exit$'
	run 'echo > set_ftrace_pid; echo nop > current_tracer'
	seen 'a script that traces a command, and only that'
}

# The program is the same, followed by its child, which does the calls: function-fork.
children()
{
	local pid
	wait_to_exec 'workload getppid 7'
	run 'echo 1 > options/function-fork'
	run 'echo __do_sys_getppid kernel_clone > set_ftrace_filter'
	run "echo $pid > set_ftrace_pid"
	run 'echo function > current_tracer; echo 1 > tracing_on'
	in_guest 'echo > /go; until ! [ -e /proc/'"$pid"' ]; do usleep 10000; done'
	run 'echo 0 > tracing_on; cat trace'
	[ "$(events | grep -c '^ *workload-.*: __do_sys_getppid <-')" = 7 ] || miss "has $(events | grep getppid)"
	has "-$pid .*: kernel_clone <-"
	# Those that have exited are taken out: a list, with nobody on it.
	wait_until eval '[ -z "$(cat set_ftrace_pid)" ]'
	run 'cat set_ftrace_pid'
	prints ''
	run 'echo > set_ftrace_pid; cat set_ftrace_pid'
	prints 'no pid'
	run 'echo 0 > options/function-fork; echo > set_ftrace_filter; echo nop > current_tracer'
	seen 'function-fork'
}

# --- dynamic ftrace (3.5) -----------------------------------------------------------------------

dynamic_ftrace()
{
	run 'cat available_filter_functions'
	has '^kmem_cache_create$' '^pick_next_task_fair$' '^mutex_lock$'
	refused 'Invalid argument' 'echo sys_nanosleep hrtimer_interrupt > set_ftrace_filter'
	run 'cat set_ftrace_filter'
	prints '#### all functions enabled ####'
	run 'echo __x64_sys_clock_nanosleep hrtimer_interrupt > set_ftrace_filter'
	run 'echo function > current_tracer'
	run 'echo 1 > tracing_on'
	run 'usleep 1'
	run 'echo 0 > tracing_on'
	run 'cat trace'
	has_header function
	all_events "$CALL"
	only '^(__x64_sys_clock_nanosleep|hrtimer_interrupt)$' functions
	# A timer's interrupt just before exec may have told its name.
	has "^ +(usleep|sh)-[0-9]+ +$CPU$DOTS${TIME}__x64_sys_clock_nanosleep <-do_syscall_64\$" \
		"$TASK${CPU}[dD][Nnp.][hH].*: hrtimer_interrupt <-__sysvec_apic_timer_interrupt\$"
	run 'cat set_ftrace_filter'
	prints 'hrtimer_interrupt
__x64_sys_clock_nanosleep'
	seen 'set_ftrace_filter: two functions'
}

globs()
{
	run "echo 'hrtimer_*' > set_ftrace_filter"
	run 'echo > trace'
	record 50
	run 'cat trace'
	has_header function
	only '^hrtimer_' functions
	run 'cat set_ftrace_filter'
	has '^hrtimer_run_queues$' '^hrtimer_cancel$' '^hrtimer_try_to_cancel$' '^hrtimer_forward$' \
		'^hrtimer_interrupt$' '^hrtimer_nanosleep$' '^hrtimer_wakeup$' '^hrtimer_init_sleeper$'
	has_no '^[^h]'
	run ' echo > set_ftrace_filter'
	run ' cat set_ftrace_filter'
	prints '#### all functions enabled ####'
	run 'echo nop > current_tracer'
	refused 'Invalid argument' 'echo sys_nanosleep > set_ftrace_filter'
	run 'echo __x64_sys_nanosleep > set_ftrace_filter'
	run 'cat set_ftrace_filter'
	prints __x64_sys_nanosleep
	run "echo 'hrtimer_*' >> set_ftrace_filter"
	run 'cat set_ftrace_filter'
	has '^__x64_sys_nanosleep$' '^hrtimer_run_queues$' '^hrtimer_init_sleeper$'
	seen "globs, '>' and '>>'"
	run "echo '*_read' > set_ftrace_filter; cat set_ftrace_filter"
	has '^vfs_read$'
	has_no '[^d]$'
	run "echo '*vfs*' > set_ftrace_filter; cat set_ftrace_filter"
	has '^vfs_read$' '^[^v].*vfs'
	run "echo 'vfs_*r*d' > set_ftrace_filter; cat set_ftrace_filter"
	has '^vfs_read$'
	has_no '^[^v]' '[^d]$'
	seen '*<match>, *<match>*, <match1>*<match2>'
}

notrace()
{
	run 'echo > set_ftrace_filter'
	run "echo '*preempt*' '*lock*' > set_ftrace_notrace"
	run 'echo function > current_tracer'
	record 10000
	run 'cat trace'
	has_header function
	all_events "$CALL"
	! functions | grep -qE 'preempt|lock' || miss "has $(functions | grep -E 'preempt|lock')"
	run 'cat set_ftrace_notrace'
	has '^_raw_spin_lock$'
	run 'echo > set_ftrace_notrace; cat set_ftrace_notrace'
	prints '#### no functions disabled ####'
	run 'echo nop > current_tracer'
	seen 'set_ftrace_notrace'
}

by_index()
{
	local first fiftieth
	run 'echo 1 > set_ftrace_filter'
	run 'head -1 available_filter_functions'
	first=$(<"$printed")
	run 'cat set_ftrace_filter'
	prints "$first"
	run 'head -50 available_filter_functions | tail -1'
	fiftieth=$(<"$printed")
	run 'echo 1 50 > set_ftrace_filter'
	run 'cat set_ftrace_filter'
	prints "$first
$fiftieth"
	run 'echo > set_ftrace_filter'
	seen 'functions by their number'
}

# --- ftrace_enabled (3.6): the guest's own tracers obey it ----------------------------------------

ftrace_enabled()
{
	run 'sysctl kernel.ftrace_enabled=0'
	run 'echo function > current_tracer'
	record 1000
	run 'cat trace'
	has_header function
	run 'sysctl kernel.ftrace_enabled=1'
	run "in_guest 'echo 0 > /proc/sys/kernel/ftrace_enabled'"
	run "in_guest 'echo 1 > /proc/sys/kernel/ftrace_enabled'"
	run 'echo > trace'
	record 1000
	run 'cat trace'
	all_events "$CALL"
	run 'echo nop > current_tracer'
	seen "the guest's ftrace_enabled is about its own tracers"
}
