# SPDX-License-Identifier: GPL-2.0-or-later
# The lines of bench-overhead-summary.awk as a table. Set accel, vcpus and rounds.
BEGIN {
	FS = "\t"
	label["untraced"] = "untraced"
	label["function"] = "guest's function tracer"
	label["trampoline"] = "hvtrace, trampolines"
	label["lossless"] = "hvtrace, --lossless"
	label["trap"] = "hvtrace, 10 traps"
	label["function_graph"] = "guest's function_graph"
	label["graph"] = "hvtrace, function_graph"
	label["graph-lossless"] = "hvtrace, --lossless"
	label["syscalls"] = "guest's syscalls events"
	label["events"] = "hvtrace, syscalls:*"
	label["irqsoff"] = "hvtrace, irqsoff"
	label["hwlat"] = "hvtrace, hwlat"
	label["nop"] = "hvtrace, attached only"
	what["stat"] = "stat(\"/proc/uptime\")"
	what["getppid"] = "getppid()"
	what["openread"] = "open, read, close"
	what["forkexec"] = "fork, exec, exit, wait"
	what["pingpong"] = "pipe there and back"
}

# 1234567 as 1,234,567
function grouped(n, s, out)
{
	if (n == "-")
		return n
	s = sprintf("%.0f", n < 0 ? -n : n)
	for (out = ""; length(s) > 3; s = substr(s, 1, length(s) - 3))
		out = "," substr(s, length(s) - 2) out
	return (n < 0 ? "-" : "") s out
}

function row(call, mode, ns, times, over, part, events, per_event, rate, lost)
{
	printf "%-22s %-23s %14s %9s %14s %8s %12s %10s %11s %8s\n", call, mode, ns, times, over,
		part, events, per_event, rate, lost
}

$1 != kernel {
	kernel = $1
	printf "%sLinux %s, %d vCPU%s of QEMU (%s), medians of %d round%s\n\n", (NR > 1) ? "\n" : "",
		kernel, vcpus, (vcpus > 1) ? "s" : "", toupper(accel), rounds, (rounds > 1) ? "s" : ""
	row("", "", "time per", "times", "overhead", "of", "events", "overhead", "events", "events")
	row("call", "traced by", "call, ns", "untraced", "per call, ns", "guest's", "per call",
		"/event, ns", "/s", "lost, all")
	call = ""
}

{
	row($2 == call ? "" : what[$2], label[$3], grouped($4), sprintf("%.2f", $5), grouped($6),
		$7 == "-" ? "-" : sprintf("%.3f", $7), $8 == "-" ? "-" : sprintf("%.1f", $8),
		grouped($9), grouped($10), grouped($11))
	call = $2
}

END {
	print ""
	print "\"of guest's\": the overhead as a part of that of the guest's own tracer of that kind. Time is by the"
	print "guest's clock; with traps, which stop the guest and its clock, by the host's."
}
