# SPDX-License-Identifier: GPL-2.0-or-later
# From lines of bench-overhead-summary.awk what tests/bench/gates has limits for, as NAME VALUE: the part of the
# overhead of the guest's own tracer; of irqsoff and hwlat, which the guest does not have, and of nop the time as a
# multiple of the untraced; and how many records of a mode were lost. Of several kernels the worst. What fork
# and exec take depends on too much else. Set accel.
BEGIN {
	FS = "\t"
	bench = "overhead" (accel == "tcg" ? "" : "-" accel)
	name["trampoline"] = "function"
	name["graph"] = "graph"
	name["lossless"] = "function-lossless"
	name["graph-lossless"] = "graph-lossless"
	name["events"] = "events"
	name["irqsoff"] = "irqsoff"
	name["hwlat"] = "hwlat"
	name["nop"] = "nop"
	multiple["irqsoff"]
	multiple["hwlat"]
	multiple["nop"]
}

function worst(what, value)
{
	if (!(what in most))
		order[++nr] = what
	if (!(what in most) || value > most[what])
		most[what] = value
}

!($3 in name) { next }

$11 != "-" { worst(name[$3] ".lost", $11 + 0) }
$2 == "forkexec" { next }
$3 in multiple { worst(name[$3] "." $2, $5 + 0) }
!($3 in multiple) && $7 != "-" { worst(name[$3] "." $2, $7 + 0) }

END {
	for (i = 1; i <= nr; i++)
		printf "%s.%s %s\n", bench, order[i], most[order[i]]
}
