# SPDX-License-Identifier: GPL-2.0-or-later
# latency-graph.awk - whether the trace of a latency as a graph agrees with itself.
#
# -v first=N -v last=N    entries of the tracer's own at its ends, which are in no call
#
# Exit status 1, and lines that say why, where a call is not as deep as those that are open, takes
# longer than the one around it, or those on the outside take longer than the window. Otherwise a line:
# how many calls, and how deep. Each task has its calls.

function wrong(why)
{
	print "wrong: " why ": " $0
	status = 1
}

/^# latency:/ { window = $3 }

/^[^#|]* us \|  / {
	n = split($0, column, "|")
	if (n != 5)
		wrong("columns")
	task = column[2]
	took = column[4]
	gsub(/[+!#*@$ ]|us/, "", took)
	text = substr(column[5], 3)
	match(text, /^ */)
	line[++lines] = text
	depth[lines] = RLENGTH / 2
	of[lines] = task
	us[lines] = took
	is[lines] = substr(text, RLENGTH + 1)
}

function leaves(d, t, took)
{
	# Each of them is cut to what is shown.
	if (within[t, d + 1] > took + 0.1 + took / 1000)
		wrong("entry " i ", " is[i] ", is shorter than what is in it: " within[t, d + 1])
	within[t, d + 1] = 0
	within[t, d] += took
	if (d == 0)
		outside += took
}

END {
	for (i = first + 1; i <= lines - last; i++) {
		d = depth[i]
		t = of[i]
		if (is[i] ~ /^\/\*/)
			continue
		calls += is[i] !~ /^}/
		if (d > deepest)
			deepest = d
		if (d != open[t] - (is[i] ~ /^}/))
			wrong("entry " i ", " is[i] ", at " d ", with " open[t] + 0 " open")
		if (is[i] ~ /\(\) {$/) {
			open[t] = d + 1
		} else {
			open[t] = d
			leaves(d, t, us[i])
		}
	}
	if (outside > window + 1)
		wrong("calls of " outside " us in a window of " window)
	print "# " calls + 0 " calls, depth " deepest + 0 ", " outside + 0 " us of " window
	exit status || lines < first + last
}
