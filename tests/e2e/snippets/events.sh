# SPDX-License-Identifier: GPL-2.0-or-later
# events.sh - trace events: set_event, the files `enable`, formats, filters, set_event_pid (4 of the
# document), and those of snapshots and instances (3.10, 3.11). To be sourced by seed-snippets.
# shellcheck shell=bash disable=SC2016,SC2034,SC2143,SC2154 # $$ is the document's; busy and others are seed-snippets'

# An event of the guest, but for its name and what it prints.
readonly EVENT="$TASK$CPU$DOTS$TIME"

# --- 4.1 set_event, 4.2 enable --------------------------------------------------------------------

set_event()
{
	run 'cat available_events'
	has '^sched:sched_wakeup$' '^irq:irq_handler_entry$' '^syscalls:sys_enter_openat$'
	run 'echo sched_wakeup >> set_event; cat set_event'
	prints sched:sched_wakeup
	record 5
	run 'cat trace'
	has_header nop
	all_events "${EVENT}sched_wakeup: comm=.* pid=[0-9]+ prio=[0-9]+ target_cpu=00[01]\$"
	run "echo '!sched_wakeup' >> set_event; cat set_event"
	prints ''
	run "echo 'irq:*' > set_event; cat events/irq/enable events/enable; cut -d: -f1 set_event | uniq"
	prints $'1\nX\nirq'
	run 'echo > set_event; cat set_event'
	prints ''
	refused 'Invalid argument' 'echo sched:nosuch > set_event'
	# Of another document.
	run 'echo > trace; echo workqueue:workqueue_queue_work > set_event'
	record 1
	run 'cat trace'
	all_events "${EVENT}workqueue_queue_work: "
	run 'echo > set_event'
	seen 'set_event'
}

# The guest takes a while to enable all events one after the other: an instance has them on all the
# time, so that this happens once.
all_events_of_guest() # begin or end
{
	local snippet_patience=600
	if [ "$1" = begin ]; then
		run 'mkdir instances/all; echo 1 > instances/all/events/enable; cat instances/all/events/enable'
		prints 1
	else
		run 'rmdir instances/all'
	fi
}

enable()
{
	run 'echo 1 > events/sched/sched_wakeup/enable; cat events/sched/{sched_wakeup/,}enable'
	prints $'1\nX'
	run 'echo 0 > events/sched/sched_wakeup/enable; cat events/sched/{sched_wakeup/,}enable'
	prints $'0\n0'
	run 'echo 1 > events/sched/enable; cat events/sched/enable events/enable'
	prints $'1\nX'
	run 'echo 1 > events/enable; cat events/enable events/sched/enable'
	prints $'1\n1'
	record 100
	run 'cat trace'
	all_events "${EVENT}[a-z0-9_]+(: |\(| -> )"
	run 'echo > set_event; cat events/enable'
	prints 0
	run 'echo *:* > set_event; cat events/enable'
	prints 1
	run 'echo 0 > events/enable; cat events/enable set_event'
	prints 0
	seen 'the files enable'
}

# --- 4.5 formats ----------------------------------------------------------------------------------

formats()
{
	run 'cat events/sched/sched_wakeup/format'
	has '^name: sched_wakeup$' '^ID: [0-9]+$' \
		$'^\tfield:char comm\\[16\\];\toffset:8;\tsize:16;\tsigned:[01];$' \
		'^print fmt: "comm=%s pid=%d prio=%d target_cpu=%03d", REC->comm, REC->pid, '
	run 'ls events/sched/sched_switch'
	has '^enable$' '^filter$' '^format$' '^id$'
	seen 'formats of events'
}

# --- 4.6 filters ----------------------------------------------------------------------------------

event_filters()
{
	local filter='"((sig >= 10 && sig < 15) || sig == 17) && comm != bash"'
	run '(cd events/sched/sched_wakeup && echo "common_preempt_count > 4" > filter && cat filter)'
	prints 'common_preempt_count > 4'
	# Strings want quotes today.
	refused 'Invalid argument' "(cd events/signal/signal_generate && echo $filter > filter)"
	run 'cat events/signal/signal_generate/filter'
	has '^parse_error: Invalid value \(did you forget quotes\)\?$'
	run "(cd events/signal/signal_generate && echo ${filter/bash/\\\"bash\\\"} > filter && cat filter)"
	prints '((sig >= 10 && sig < 15) || sig == 17) && comm != "bash"'
	refused 'Invalid argument' "(cd events/signal/signal_generate && echo ${filter/sig == 17/dsig == 17} > filter)"
	run 'cat events/signal/signal_generate/filter'
	prints '((sig >= 10 && sig < 15) || dsig == 17) && comm != bash
                                 ^
parse_error: Field not found'
	run 'cat error_log'
	has '^\[ *[0-9]+\.[0-9]{6}\] event filter parse error: error: Field not found$'
	run 'echo 0 > events/signal/signal_generate/filter; cat events/signal/signal_generate/filter'
	prints none
	for filter in '*sh' 'sh*' '*sh*' '?h'; do
		run "echo 'prev_comm ~ \"$filter\"' > events/sched/sched_switch/filter"
		run 'echo > trace; echo 1 > events/sched/sched_switch/enable'
		record 2
		run 'cat trace; echo 0 > events/sched/sched_switch/enable'
		all_events "${EVENT}sched_switch: prev_comm=sh prev_pid="
	done
	run 'echo 0 > events/sched/sched_switch/filter'
	seen 'filters of events'
}

system_filters()
{
	run '(cd events/sched && echo 0 > filter && cat sched_switch/filter sched_wakeup/filter)'
	prints $'none\nnone'
	run '(cd events/sched && echo common_pid == 0 > filter && cat sched_switch/filter sched_wakeup/filter)'
	prints $'common_pid == 0\ncommon_pid == 0'
	run '(cd events/sched && echo prev_pid == 0 > filter && cat sched_switch/filter)'
	prints 'prev_pid == 0'
	# The document has it keep its filter; 6.1 lets all pass then, and says so.
	run 'cat events/sched/sched_wakeup/filter'
	has '^prev_pid == 0$' "^parse_error: Couldn't find or set field in one of a subsystem's events\$"
	run 'echo 0 > events/sched/filter; cat events/sched/*/filter | uniq'
	prints none
	seen 'filters of subsystems'
}

pids_of_events()
{
	run 'echo $$ > set_event_pid'
	run "echo $busy > set_event_pid; echo > trace; echo 1 > events/enable"
	record 20
	run 'echo 0 > events/enable; cat trace'
	has "-$busy +$CPU"
	[ -z "$(events | grep -vE -- "-$busy +$CPU|sched_(switch|wak[a-z]+): .*pid=$busy ")" ] ||
		miss "has others: $(events | grep -vE -- "-$busy " | head -n 5)"
	run 'echo 123 244 1 >> set_event_pid; cat set_event_pid'
	prints "$(printf '%s\n' 1 123 244 "$busy" | sort -n)"
	run 'echo > set_event_pid; cat set_event_pid'
	prints ''
	seen 'set_event_pid'
	# What a switch or a wakeup has to do with others is still recorded.
	run "echo $busy > set_event_notrace_pid; cat set_event_notrace_pid; echo > trace; echo 1 > events/enable"
	prints "$busy"
	record 20
	run 'echo 0 > events/enable; cat trace'
	all_events "$EVENT"
	[ -z "$(events | grep -E -- "-$busy +$CPU" | grep -vE ': sched_(switch|wak[a-z_]+): ')" ] ||
		miss "has its own: $(events | grep -E -- "-$busy +$CPU" | grep -v ': sched_' | head -n 5)"
	run "echo 123 >> set_event_notrace_pid; cat set_event_notrace_pid"
	prints "$(printf '%s\n' 123 "$busy" | sort -n)"
	run 'echo > set_event_notrace_pid; cat set_event_notrace_pid'
	prints ''
	seen 'set_event_notrace_pid'
}

# --- 3.10, 3.11 ------------------------------------------------------------------------------------

events_in_snapshot()
{
	run 'echo > trace; echo 1 > events/sched/enable'
	record 10
	run 'echo 1 > snapshot; cat snapshot'
	has_header nop
	has "${EVENT}sched_switch: prev_comm=.* prev_prio=120 prev_state=[A-Z+]+ ==> next_comm="
	record 10
	run 'cat trace'
	has_header nop
	has "${EVENT}sched_switch: "
	run 'echo 0 > snapshot; echo 0 > events/sched/enable'
	seen 'a snapshot of events'
}

events_in_instances()
{
	run 'mkdir instances/foo; mkdir instances/bar; mkdir instances/zoot'
	run 'echo 1 > instances/foo/events/sched/sched_wakeup/enable'
	run 'echo 1 > instances/foo/events/sched/sched_wakeup_new/enable'
	run 'echo 1 > instances/foo/events/sched/sched_switch/enable'
	run 'echo 1 > instances/bar/events/irq/enable'
	run 'echo 1 > instances/zoot/events/syscalls/enable'
	run 'cat instances/foo/trace_pipe | head -n 20'
	all_events "${EVENT}sched_(switch|wakeup|wakeup_new): "
	run 'cat instances/bar/trace_pipe | head -n 20'
	all_events "${EVENT}(irq|softirq|tasklet)_[a-z_]+: "
	run 'cat instances/zoot/trace_pipe | head -n 20'
	all_events "${EVENT}sys_[a-z0-9_]+(\(.*\)| -> 0x[0-9a-f]+)\$"
	run 'cat instances/foo/set_event set_event'
	prints $'sched:sched_switch\nsched:sched_wakeup_new\nsched:sched_wakeup'
	run 'rmdir instances/foo; rmdir instances/bar; rmdir instances/zoot'
	seen 'events in instances'
}
