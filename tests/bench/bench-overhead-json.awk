# SPDX-License-Identifier: GPL-2.0-or-later
# The lines of bench-overhead-summary.awk as JSON. Set accel, vcpus and rounds.
BEGIN {
	FS = "\t"
	nr = split("kernel call mode ns_per_call times_untraced overhead_ns_per_call " \
		"overhead_of_own_tracer events_per_call overhead_ns_per_event events_per_second " \
		"lost guest_ns_per_call host_ns_per_call", name, " ")
	printf "{\n  \"accelerator\": \"%s\",\n  \"vcpus\": %d,\n  \"rounds\": %d,\n  \"results\": [",
		accel, vcpus, rounds
}

{
	printf "%s\n    {", (NR > 1) ? "," : ""
	for (i = 1; i <= nr; i++)
		printf "%s\"%s\": %s", (i > 1) ? ", " : "", name[i],
			i <= 3 ? "\"" $i "\"" : $i == "-" ? "null" : $i
	printf "}"
}

END { print "\n  ]\n}" }
