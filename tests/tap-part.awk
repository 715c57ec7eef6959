# SPDX-License-Identifier: GPL-2.0-or-later
# What a program has printed (TAP), made a part of what is printed of several: its tests are counted on
# from n, with its name in front of a test's; its plan is looked at and left out. A program that died, or
# ran fewer tests than it had planned, has failed even if no line says so: one is added. One that skips
# all it has (1..0 # SKIP reason) counts as one test that is skipped.
#
#   -v n=N -v name=NAME    where to count on from, and what to put in front (may be empty)
#   -v status=STATUS -v took=SECONDS    how the program ended
#   -v program=PROGRAM     what it is called where it has failed as a whole, if that is not NAME
#   -v counts=FILE         where to write: N, PASSED, FAILED, SKIPPED

# cmocka calls what it skips "not ok", with the directive.
function is_skip(line)
{
	return tolower(line) ~ /# *skip/
}

function result(good, text)
{
	printf "%s %d - %s%s\n", good ? "ok" : "not ok", ++n, (name != "") ? name ": " : "", text
}

BEGIN {
	if (program == "")
		program = name
}

{
	sub(/\r$/, "")
}

/^1\.\.[0-9]+/ {
	plan = substr($1, 4)
	reason = is_skip($0) ? substr($0, index($0, "#")) : ""
	next
}

/^(not )?ok( |$)/ {
	done++
	skip = is_skip($0)
	good = skip || !/^not /
	passed += good && !skip
	failed += !good
	skipped += skip
	sub(/^(not )?ok *[0-9]* *(- *)?/, "")
	result(good, $0)
	next
}

{
	print
}

END {
	if (!done && plan == "0" && reason != "" && status == 0) {
		printf "ok %d - %s %s\n", ++n, program, reason
		skipped = 1
	} else if (!failed && (status != 0 || plan + 0 == 0 || done != plan)) {
		printf "not ok %d - %s: exit status %d%s, %d of %s tests done\n", ++n, program, status,
			(status == 124 || status == 137) ? " (ended after " took " s)" : "",
			done + 0, (plan == "") ? "?" : plan
		failed = 1
	}
	print n + 0, passed + 0, failed + 0, skipped + 0 >counts
}
