# SPDX-License-Identifier: GPL-2.0-or-later
# Hold figures against gates: tests/bench/gates first, then lines of NAME VALUE. A line for each gate of
# a bench that has left a figure; one without a figure of its own is as broken as one that is passed, and so
# is a figure twice. Exit status 1 when a gate is broken, 2 when the gates are not to be understood.

FNR == 1 { file++ }
/^#/ || !NF { next }

file == 1 {
	if (NF != 4 || $2 !~ /^[0-9.]+$/ || $3 !~ /^[0-9.]+$/ || $1 in limit) {
		print "gates, line " FNR ": NAME MEDIAN LIMIT AIM is expected, once for each name" >"/dev/stderr"
		exit wrong = 2
	}
	order[++nr] = $1
	median[$1] = $2
	limit[$1] = $3
	aim[$1] = $4
	next
}

{
	figure[$1] = $2
	figures[$1]++
	benches[prefix($1)]
}

function prefix(name)
{
	return substr(name, 1, index(name, ".") - 1)
}

function judge(name, good, measured)
{
	measured = !(name in figure) ? "nothing" : figures[name] > 1 ? "twice" : figure[name]
	good = measured ~ /^[0-9.]+$/ && measured + 0 <= limit[name]
	printf "%-7s %-32s %8s   (%s, %s, %s)\n", good ? "ok" : "NOT OK", name, measured, median[name],
		limit[name], aim[name]
	broken += !good
}

END {
	if (wrong)
		exit wrong
	for (i = 1; i <= nr; i++)
		if (prefix(order[i]) in benches)
			judge(order[i])
	exit broken > 0
}
