# SPDX-License-Identifier: GPL-2.0-or-later
# graph-calls.awk - the system calls of graph-calls (tests/workload/) in the text of function_graph,
# with funcgraph-proc and funcgraph-tail on.
#
# -v pid=PID    the task
# -v skip=N     leave out so many rounds: what is cached is not yet
#
# Of each call it prints a line: its number in the round, its name, and each function with its depth, in
# their order, from the call's entry until user mode is gone back to. Left out is what does not depend on
# the call: interrupts, preemption (none of the calls sleeps), and which way the allocator goes. Exit
# status 1, and a line that says why, where an entry or a return is not at the depth of what is open.

function wrong(why)
{
	print "wrong: " why ", " open " open: " $0
	status = 1
}

function is_call(name)
{
	return name ~ /^(x64_sys_call|__(x64|do)_sys_.*)$/
}

# What the kernel calls between an interrupt's entry and its end, which are not traced themselves.
function is_interrupt(name)
{
	return name ~ /^(irq_enter_rcu|irq_exit_rcu|__?sysvec_.*|_*common_interrupt)$/
}

function call_ends()
{
	if (call ~ /_umask$/) {
		round++
		number = 0
	}
	if (round > skip)
		print ++number, call tree
	call = tree = ""
}

# schedule(), and what a task that has run again makes up for on its way back to user mode
function is_preemption(name)
{
	return name ~ /^(schedule|mem_cgroup_handle_over_high|blkcg_maybe_throttle_current|__rseq_handle_notify_resume|switch_fpu_return)$/
}

# The allocator's slow ways are taken when its caches are as all tasks have left them.
function is_left_out(name)
{
	return is_interrupt(name) || is_preemption(name) || name ~ /^(___slab_alloc|__slab_free)$/
}

function entry(depth, name)
{
	if (left_out)
		return
	# Its depth may be odd: the guest's own tracer is interrupted when an entry counts already and
	# is not written yet, or when a return does not count any more.
	if (is_left_out(name)) {
		left_out = depth ":" name
		return
	}
	if (below >= 0 && depth > below)
		return
	if (depth != open && known)
		wrong("entry")
	known = 1
	open = depth + 1
	stack[depth] = name
	if (name == "__cond_resched")
		below = depth
	if (depth == 0 && is_call(name)) {
		call_ends()
		inside = 1
	}
	if (!inside)
		return
	# The first below x64_sys_call(), where there is that, says which it is.
	if (is_call(name) && (call == "" || call == "x64_sys_call"))
		call = name
	tree = tree " " depth ":" name
}

function leaves(depth, name)
{
	if (left_out) {
		if (left_out == depth ":" name)
			left_out = ""
		return
	}
	if (below >= 0 && depth > below)
		return
	below = -1
	if (known && (depth != open - 1 || stack[depth] != name))
		wrong("return")
	open = depth
	# What comes then are interrupts of user mode.
	if (depth == 0 && name == "exit_to_user_mode_prepare")
		inside = 0
}

BEGIN { below = -1 }

!/^#/ && $0 ~ "-" pid " *\\|" {
	function_at = index($0, "|") + 2
	text = substr($0, function_at)
	match(text, /^ */)
	depth = RLENGTH / 2
	name = substr(text, RLENGTH + 1)
	if (name ~ /^} \/\* /) {
		gsub(/^} \/\* | \*\/$/, "", name)
		leaves(depth, name)
	} else if (name ~ /\(\) \{$/) {
		sub(/\(\) \{$/, "", name)
		entry(depth, name)
	} else if (name ~ /\(\);$/) {
		sub(/\(\);$/, "", name)
		entry(depth, name)
		leaves(depth, name)
	}
}

END { exit status }
