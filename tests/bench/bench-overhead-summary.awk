# SPDX-License-Identifier: GPL-2.0-or-later
# From samples, lines of
#   KERNEL MODE CALL COUNT GUEST_NS HOST_NS EVENTS LOST WORK
# make for each kernel, call and mode the line
#   KERNEL CALL MODE NS_PER_CALL TIMES_UNTRACED OVERHEAD_NS OF_OWN EVENTS_PER_CALL NS_PER_EVENT
#   EVENTS_PER_SECOND LOST GUEST_NS_PER_CALL HOST_NS_PER_CALL
# of medians, '-' for what there is not. How fast a host is may change from one second to the next, so
# TIMES_UNTRACED is what a call took compared with what it takes untraced, both in terms of work that the
# guest's program did at the same time (WORK, see bench-calls.c), and NS_PER_CALL that much of what the call
# takes untraced. OVERHEAD_NS is the time beyond untraced, OF_OWN its part of the overhead of the guest's own
# tracer: function, function_graph for graphs, its events of system calls for ours. LOST is of all calls of that
# mode: what is lost on the way to us is counted in the end, by a sample of the call "all".
#
# Time is the guest's, which is not disturbed by what the host's end of the serial line has to wait
# for. Only with traps, where the guest's clock stands still whenever the guest is stopped, is it
# the host's, in which the work is, too: there each sample is compared with the last untraced one before it.
BEGIN { FS = OFS = "\t" }

{
	key = $1 SUBSEP $3 SUBSEP $2
	lost[$1, $2] += $8
	if ($3 == "all")
		next
	if ($3 == "nothing") {
		noise[$1, $2] = $7
		next
	}
	if (!($1 in seen_kernel)) {
		seen_kernel[$1]
		kernels[++nr_kernels] = $1
	}
	if (!($3 in seen_call)) {
		seen_call[$3]
		calls[++nr_calls] = $3
	}
	n = ++samples[key]
	guest[key, n] = $5 / $4
	host[key, n] = $6 / $4
	work[key, n] = $9
	if ($2 == "untraced")
		untraced[$1, $3] = n
	if ($2 == "trap")
		times[key, n] = host[key, n] / guest[base_of($1, $3), untraced[$1, $3]]
	# Those to warm up are traced as well.
	made[key] += $4 + int($4 / 10) + 1
	events[key] += $7 - noise[$1, $2]
}

function median(values, key, n, i, j, v, sorted)
{
	for (i = 1; i <= n; i++) {
		v = values[key, i]
		for (j = i - 1; j > 0 && sorted[j] > v; j--)
			sorted[j + 1] = sorted[j]
		sorted[j + 1] = v
	}
	return n % 2 ? sorted[(n + 1) / 2] : (sorted[n / 2] + sorted[n / 2 + 1]) / 2
}

function base_of(kernel, call)
{
	return kernel SUBSEP call SUBSEP "untraced"
}

function times_untraced(key, base)
{
	if (!samples[key])
		return 0
	if ((key, 1) in times)
		return median(times, key, samples[key])
	return median(work, key, samples[key]) / median(work, base, samples[base])
}

function summarize(kernel, call, mode, own, key, none, ns, base, own_ns, over, per_call, traced)
{
	key = kernel SUBSEP call SUBSEP mode
	if (!(key in samples))
		return
	none = base_of(kernel, call)
	base = median(guest, none, samples[none])
	ns = base * times_untraced(key, none)
	own_ns = base * times_untraced(kernel SUBSEP call SUBSEP own, none)
	over = ns - base
	per_call = events[key] / made[key]
	traced = mode != "untraced"
	print kernel, call, mode, sprintf("%.1f", ns), sprintf("%.3f", ns / base),
		traced ? sprintf("%.1f", over) : "-",
		traced && (own_ns > base) ? sprintf("%.4f", over / (own_ns - base)) : "-",
		traced ? sprintf("%.2f", per_call) : "-",
		traced && (per_call > 0) ? sprintf("%.1f", over / per_call) : "-",
		traced ? sprintf("%.0f", per_call / ns * 1e9) : "-",
		traced ? lost[kernel, mode] : "-",
		sprintf("%.1f", median(guest, key, samples[key])),
		sprintf("%.1f", median(host, key, samples[key]))
}

END {
	nr_modes = split("untraced function trampoline lossless trap function_graph graph graph-lossless syscalls events irqsoff hwlat nop", modes, " ")
	own["graph"] = own["graph-lossless"] = own["function_graph"] = "function_graph"
	own["events"] = own["syscalls"] = "syscalls"
	own["irqsoff"] = own["hwlat"] = own["nop"] = "" # there is none
	for (k = 1; k <= nr_kernels; k++)
		for (c = 1; c <= nr_calls; c++)
			for (m = 1; m <= nr_modes; m++)
				summarize(kernels[k], calls[c], modes[m],
					(modes[m] in own) ? own[modes[m]] : "function")
}
