# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# serve-lib.sh - a daemon, hvtrace serve, with guests of qemu-lib.sh: its configuration, what it is asked, its metrics,
# what it has recorded, and that it has left nothing behind. To be sourced.
# shellcheck disable=SC2154 # of those who source it, and of qemu-lib.sh
serve_pid=''
SERVE_INTERVAL=${SERVE_INTERVAL:-1s}

# serve_config FUNCTION...: the configuration, with the rules that these print
serve_config()
{
	{
		cat <<-END
			[serve]
			connect = "$libvirt_uri"
			state = "$qemu_dir/state"
			socket = "$qemu_dir/serve.socket"
			[metrics]
			listen = "$qemu_dir/metrics.socket"
			interval = "$SERVE_INTERVAL"
		END
		local rules
		for rules; do "$rules"; done
	} >"$qemu_dir/serve.toml"
	cp "$qemu_dir/serve.toml" "$qemu_dir/right.toml"
}

# Sets serve_pid; its log is $qemu_dir/log. Returns when it can be asked.
serve_begin()
{
	"$HVTRACE" serve -c "$qemu_dir/serve.toml" >/dev/null 2>>"$qemu_dir/log" &
	serve_pid=$!
	wait_until ask --status
}

serve_kill()
{
	[ -z "$serve_pid" ] || { kill "$serve_pid" && wait "$serve_pid"; } 2>/dev/null
	serve_pid=''
}

ask() # OPTION | GUEST RULE
{
	"$HVTRACE" serve -c "$qemu_dir/serve.toml" "$@" >"$qemu_dir/out" 2>"$qemu_dir/err"
}

# The same while the file has mistakes: by the one before.
ask_old()
{
	"$HVTRACE" serve -c "$qemu_dir/right.toml" "$@" >"$qemu_dir/out" 2>"$qemu_dir/err"
}

none_traced()
{
	ask --status && grep -q ', 0 of them traced now,' "$qemu_dir/out"
}

# --- metrics -----------------------------------------------------------------------------------------

# metric_sum BEGIN: the sum of all metrics whose names and labels begin so
metric_sum()
{
	curl -sS --max-time 30 --unix-socket "$qemu_dir/metrics.socket" http://localhost/metrics |
		awk -v begin="$1" 'index($0, begin) == 1 { sum += $NF } END { printf "%d\n", sum }'
}

is_metric() # BEGIN VALUE
{
	[ "$(metric_sum "$1")" = "$2" ]
}

more_than() # VALUE BEGIN
{
	[ "$(metric_sum "$2")" -gt "$1" ]
}

counted() # BEGIN
{
	more_than 0 "$1"
}

attached() # GUEST
{
	is_metric "hvtrace_guest_attached{guest=\"$1\"" 1
}

gone() # GUEST
{
	is_metric "hvtrace_guest_up{guest=\"$1\"" 0
}

# --- recordings --------------------------------------------------------------------------------------

recordings() # GUEST RULE
{
	find "$qemu_dir/state/$1" -name "$2.*.dat"
}

# One is whole.
recorded() # GUEST RULE
{
	[ -n "$(recordings "$1" "$2")" ] && [ -z "$(find "$qemu_dir/state/$1" -name "$2.*.part")" ]
}

# recorded_sum GUEST JOB: what hvtrace JOB counts in all recordings of the rule "calls"
recorded_sum()
{
	local file
	while read -r file; do
		"$HVTRACE" "$2" --json --limit 8192 "$file" 2>/dev/null
	done < <(recordings "$1" calls) | python3 -c '
import json, sys
text, at, total = sys.stdin.read(), 0, 0
while text[at:].strip():
    found, end = json.JSONDecoder().raw_decode(text[at:].lstrip())
    at = len(text) - len(text[at:].lstrip()) + end
    total += found["all"]["count"]
print(total)'
}

# --- what is left behind -----------------------------------------------------------------------------

domain_uuid() # NAME
{
	virsh -q -c "$libvirt_uri" domuuid "$1" | tr -d ' \n'
}

# The pid of the process that traces this guest for the daemon.
collector_of() # NAME
{
	local uuid
	uuid=$(domain_uuid "$1") && pgrep -f -- "^hvtrace .*-- $uuid\$" | head -n 1 | grep .
}

no_collectors()
{
	! pgrep -f -- "^hvtrace .*$qemu_dir/" >/dev/null
}

no_windows() # NAME
{
	[ "$("$O/tests/e2e/guest-memory" windows "$(cat "$qemu_dir/run/libvirt/qemu/run/$1.pid")")" = 0 ]
}

no_stub() # NAME
{
	! virsh -q -c "$libvirt_uri" qemu-monitor-command "$1" --hmp 'info chardev' | grep -q '^gdb:'
}

# Of all guests of $GUESTS
nothing_left()
{
	local name
	for name in $GUESTS; do
		no_windows "$name" && no_stub "$name" &&
			is "$(virsh -q -c "$libvirt_uri" domstate "$name" | tr -d '\n')" running "state of $name"
		result $? "nothing is left in $name"
	done
}
