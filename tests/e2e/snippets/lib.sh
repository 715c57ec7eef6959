#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# lib.sh - types what a document tells its reader to type, in the directory of the document,
# and compares what comes of it with what the document shows. To be sourced.
#
# Checks are about what the last line typed has printed, which is in the file $printed. What they
# miss is added to $missed; `seen` makes a result of it.

# shellcheck disable=SC2034 # who sources this reads them
printed=''
snippet_patience=400 # seconds that a line may take, on whatever host
missed='' typed='' status=0 slowest=0 slowest_line=''

miss() # TEXT
{
	missed+="# $typed"$'\n'"$(head -n 20 <<<"$1" | cut -c1-200 | sed 's/^/#     /')"$'\n'
}

# type_in TEXT: what stands behind the document's prompt. Sets status to that of the last command.
type_in()
{
	local begin=${EPOCHREALTIME/[.,]/} ms
	typed=$1
	eval "$1" >"$printed" 2>&1
	status=$?
	# close(2) does not wait for what it brings about; what is asked next does.
	: <tracing_on
	ms=$(((${EPOCHREALTIME/[.,]/} - begin) / 1000))
	[ $ms -lt 200 ] || [ -z "${V-}" ] || echo "# $ms ms: $typed"
	[ $ms -le $slowest ] || slowest=$ms slowest_line=$typed
	[ $ms -lt $((snippet_patience * 1000)) ] || miss "took $ms ms"
}

# run TEXT: the same, and it must succeed
run()
{
	type_in "$1"
	[ "$status" = 0 ] || miss "failed: $(<"$printed")"
}

# refused ERROR TEXT: it must fail, with this error as the last that it prints
refused()
{
	type_in "$2"
	if [ "$status" = 0 ] || ! tail -n 1 "$printed" | grep -q "$1\$"; then
		miss "should fail with '$1': $(<"$printed")"
	fi
}

prints() # TEXT: nothing else
{
	[ "$(<"$printed")" = "$1" ] || miss "should print '$1': $(<"$printed")"
}

has() # ERE...: each matches a line
{
	local ere
	for ere; do
		grep -qE -- "$ere" "$printed" || miss "has no line '$ere': $(head -n 20 "$printed")"
	done
}

has_no() # ERE...
{
	local ere line
	for ere; do
		line=$(grep -aE -m 1 -- "$ere" "$printed") && miss "has '$line'"
	done
	return 0
}

# The result of what was typed.
seen() # NAME
{
	local status=0
	[ -z "$missed" ] || status=1
	printf '%s' "$missed"
	missed=''
	result $status "$1"
}

# --- what a trace looks like --------------------------------------------------------------------

readonly TASK='^ *[^ ].{0,15}-[0-9]+ +'
readonly CPU='\[00[01]\] '
readonly DOTS='[dDb.][Nnp.][ZzHhs.][0-9a-f.][0-9a-f.] '
readonly TIME=' *[0-9]+\.[0-9]{6}: '
# A function and who called it, as most lines of these documents are.
readonly CALL="$TASK$CPU$DOTS${TIME}[^ ]+ <-[^ ]+\$"

header() # TRACER, for two vCPUs, without the numbers
{
	cat <<END
# tracer: $1
#
# entries-in-buffer/entries-written: N/N   #P:2
#
#                                _-----=> irqs-off/BH-disabled
#                               / _----=> need-resched
#                              | / _---=> hardirq/softirq
#                              || / _--=> preempt-depth
#                              ||| / _-=> migrate-disable
#                              |||| /     delay
#           TASK-PID     CPU#  |||||  TIMESTAMP  FUNCTION
#              | |         |   |||||     |         |
END
}

# has_header TRACER: as many events follow as it says
has_header()
{
	local entries written
	read -r entries written < <(sed -n '3s/.*: \([0-9]*\)\/\([0-9]*\) .*/\1 \2/p' "$printed")
	[ "$(head -n 12 "$printed" | sed '3s/[0-9]*\/[0-9]* /N\/N /')" = "$(header "$1")" ] ||
		miss "has another header: $(head -n 12 "$printed")"
	[ "${entries:-1}" -le "${written:-0}" ] || miss "$entries entries of $written"
	[ "$(events | wc -l)" = "$entries" ] || miss "$(events | wc -l) events, not $entries"
}

# Those lines that are neither the header's nor notes about a buffer.
events()
{
	sed -E '/^#/d; /^CPU:[01] \[LOST ([0-9]+ )?EVENTS\]$/d; /^$/d' "$printed"
}

all_events() # ERE: there are some, and each looks like this
{
	local line
	[ -n "$(events | head -n 1)" ] || miss 'has no events'
	line=$(events | grep -avE -m 1 -- "$1") && miss "'$line' does not match '$1'"
	return 0
}

no_events()
{
	[ -z "$(events | head -n 1)" ] || miss "has events: $(events | head -n 3)"
}

# in_order: times do not go back, of whichever vCPU they are
in_order()
{
	local where
	where=$(events | sed -n 's/^.* \[00.\].* \([0-9]*\.[0-9]\{6\}\): .*$/\1/p' |
		sort -n -s -c 2>&1) || miss "is not in order: $where"
}

# The functions of the events, once each.
functions()
{
	events | sed -n 's/^.*: \([^ ]*\) <-.*$/\1/p' | sort -u
}

# The tasks of the events as COMM-PID, once each.
tasks()
{
	events | sed -nE 's/^ *([^ ].*-[0-9]+) +\[0.*$/\1/p' | sort -u
}

# only ERE COMMAND: all that the command prints matches, and it prints something
only()
{
	local all line
	all=$("$2")
	[ -n "$all" ] || miss "has no $2"
	line=$(grep -vE -m 1 -- "$1" <<<"$all") && miss "has $line among its $2"
	return 0
}
