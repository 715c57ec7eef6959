# SPDX-License-Identifier: GPL-2.0-or-later
# From lines of bench-overhead-summary.awk: whether tracing costs what it may, for each kernel. Exit status 1 when
# it costs more, or has lost something. Only calls of known and short work are judged: what fork and the
# pipe take depends on the scheduler, too.
BEGIN {
	FS = "\t"
	what["trampoline"] = "function"
	what["graph"] = "function_graph"
	what["lossless"] = "function --lossless"
	what["graph-lossless"] = "function_graph --lossless"
	what["events"] = "events of system calls"
	what["irqsoff"] = "irqsoff"
	most["trampoline"] = most["lossless"] = 0.125
	most["graph"] = most["graph-lossless"] = 0.08
	most["events"] = 0.5
	times["stat"] = 1.05
	times["getppid"] = 1.4
	print "\nGates:"
}

function judge(text, value, limit, format)
{
	if (value == "-") {
		printf "  %-8s %s: could not be measured\n", "MISSED", text
		missed++
		return
	}
	value = sprintf(format, value)
	printf "  %-8s %s: %s, %s at most\n", value + 0 <= limit ? "kept" : "MISSED", text, value, limit
	missed += value + 0 > limit
}

$3 in what {
	if (($2 in times) && $3 == "irqsoff")
		judge($1 ": irqsoff, " $2 ", times untraced", $5, times[$2], "%.2f")
	if (($2 in times) && ($3 in most))
		judge($1 ": " what[$3] ", " $2 ", of the guest's own overhead", $7, most[$3], "%.3f")
	if ($11 != "-" && $11 > 0)
		judge($1 ": " what[$3] ", " $2 ", records lost", $11, 0, "%d")
}

END {
	exit missed > 0
}
