# SPDX-License-Identifier: GPL-2.0-or-later
# branches.awk - whether a trace of hw-branch-tracer is whole: all lines have its form, and from where a branch goes
# the CPU gets to the next one without leaving the function, and not backwards; each call begins in the function
# and ends with its return to the system call's entry, or where the task leaves its CPU.
#
# -v of=REGEX: the function's name; -v least=N [-v most=N]: how many calls there have to be.

function number(hex,    i, n) {
	for (i = 3; i <= length(hex); i++)
		n = n * 16 + index("0123456789abcdef", substr(hex, i, 1)) - 1
	return n
}

# Sets name and off.
function place(text,    at) {
	at = match(text, /\+0x[0-9a-f]+\//)
	name = substr(text, 1, at - 1)
	off = number(substr(text, at + 1, RLENGTH - 2))
}

function is_place(text) {
	return text ~ /^[^ ]+\+0x[0-9a-f]+\/0x[0-9a-f]+( \[[a-z0-9_]+\])?$/
}

/^#/ { next }
!/^ +[0-9]+  / || split($0, half, "\t  <-  ") != 2 || !is_place(half[2]) {
	bad++
	print "# " $0
	next
}
{
	place(half[2])
	if (!within) {
		calls++
		broken += name !~ of
		within = 1
	} else if (name != to || off < to_off) {
		broken++
		print "# " before "\n# " $0
	}
	sub(/^ +[0-9]+  /, "", half[1])
	bad += !is_place(half[1])
	place(half[1])
	to = name; to_off = off; before = $0
	branches++
	if (to == "do_syscall_64" || to == "x64_sys_call" || to == "__schedule")
		within = 0
}
END {
	printf "# %d branches of %d calls, %d lines of another form, %d that do not follow\n", branches, calls, bad, broken
	exit bad || broken || within || calls < least || (most && calls > most)
}
