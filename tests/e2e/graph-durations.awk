# SPDX-License-Identifier: GPL-2.0-or-later
# graph-durations.awk - of the text of one CPU that function_graph has printed: each duration becomes
# " 0.000 us", in the columns it has had. It must have the kernel's form and mark, and what a function
# calls takes no longer than the function. Exit status 1, and lines that say why, where that is not so.

function wrong(why)
{
	print "wrong: " why ": " $0
	status = 1
}

# trace_find_mark(); of durations that are printed as its limits the last digits are not known
function mark_of(us,	i)
{
	for (i = 6; i > 0; i--)
		if (us > 10 ^ i)
			return substr("+!#*@$", i, 1)
	return " "
}

function is_limit(us)
{
	return us ~ /^10+(\.0*)?$/
}

# trace_print_graph_duration(): seven digits in all, three of them behind the point at most
function form_of(us,	parts, places)
{
	split(us, parts, ".")
	places = 7 - length(parts[1])
	places = places > 3 ? 3 : places < 0 ? 0 : places
	return sprintf("%-12s", parts[1] (places ? "." substr(parts[2] "xxx", 1, places) : "") " us")
}

match($0, /^ [0-9]+\) . [0-9.]+ us *\|  /) {
	columns = substr($0, 1, RLENGTH)
	match(columns, /^ [0-9]+\) /)
	cpu = substr(columns, 1, RLENGTH)
	mark = substr(columns, RLENGTH + 1, 1)
	field = substr(columns, RLENGTH + 3)
	rest = substr($0, length(columns) + 1)
	us = field
	sub(/ us.*/, "", us)
	if (field != form_of(us) "|  ")
		wrong("form")
	if (mark != mark_of(us + 0) && !is_limit(us))
		wrong("mark")
	match(rest, /^ */)
	depth = RLENGTH / 2
	# Each of them is cut to what is shown.
	if (rest ~ /^ *}/ && within[depth + 1] > us + 0.1)
		wrong("longer than what it is in: " within[depth + 1])
	within[depth + 1] = 0
	within[depth] += us
	print cpu "  0.000 us    |  " rest
	next
}

{ print }

END { exit status }
