# bash completion for hvtrace                                -*- shell-script -*-
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# shellcheck disable=SC2154 # what the table has

@TABLE@

# A word of the command line without its quotes; nothing of it is run.
_hvtrace_plain() # WORD
{
	local word=${1//[\\\"\']/}
	[[ $word != \~/* ]] || word=$HOME/${word:2}
	printf '%s' "$word"
}

# The lines given, as the command line has to have them.
_hvtrace_offer() # LINES
{
	local line quoted=''
	[[ $cur != [\"\']* ]] || quoted=1
	[[ -n $1 ]] || return
	mapfile -t COMPREPLY <<<"$1"
	if [[ -z $quoted && $1 == *[!A-Za-z0-9_:./=@$'\n'-]* ]]; then
		printf -v line '%q\n' "${COMPREPLY[@]}"
		mapfile -t COMPREPLY <<<"${line%$'\n'}"
	fi
	[[ ${#COMPREPLY[@]} -ne 1 || ${COMPREPLY[0]} != */ ]] || compopt -o nospace
	[[ -n $quoted ]] || __ltrim_colon_completions "$cur"
}

# What hvtrace itself knows of a kind, from the other words on the command line.
_hvtrace_ask() # KIND
{
	local asked=() i word=${cur#[\"\']}
	for ((i = 1; i < ${#words[@]}; i++)); do
		[[ $i = "$cword" ]] || asked+=("$(_hvtrace_plain "${words[i]}")")
	done
	_hvtrace_offer "$("$(_hvtrace_plain "${words[0]}")" complete "$1" "$(_hvtrace_plain "$word")" \
		"${asked[@]}" 2>/dev/null)"
}

_hvtrace_values() # KIND
{
	case $1 in
	'') ;;
	=*) mapfile -t COMPREPLY < <(compgen -W "${1#=}" -- "$cur") ;;
	file) _filedir ;;
	directory) _filedir -d ;;
	domain-or-file)
		_hvtrace_ask domain
		[[ ${#COMPREPLY[@]} != 0 ]] || _filedir
		;;
	*) _hvtrace_ask "$1" ;;
	esac
}

_hvtrace()
{
	local cur prev words cword split command operands='' options=() name
	local -A kinds=()
	_init_completion -s -n : 2>/dev/null || return
	if [[ $cword -eq 1 || ($cword -eq 2 && ${words[1]} = help) ]]; then
		mapfile -t COMPREPLY < <(compgen -W "${_hvtrace_commands[*]%% *} help --help --version" -- "$cur")
		return
	fi
	command=${words[1]}
	for name in "${_hvtrace_commands[@]}"; do
		[[ $cword -eq 2 || $name != "$command ${words[2]}" ]] || command=$name
	done
	_hvtrace_table "$command"
	if [[ -n ${kinds[$prev]+known} ]]; then
		_hvtrace_values "${kinds[$prev]}"
	elif [[ $cur == -* ]]; then
		mapfile -t COMPREPLY < <(compgen -W "${options[*]}" -- "$cur")
	elif ! $split; then
		_hvtrace_values "$operands"
		for name in "${_hvtrace_commands[@]}"; do
			[[ $cword -ne 2 || $name != "$command $cur"* ]] || COMPREPLY+=("${name#* }")
		done
	fi
} &&
	complete -F _hvtrace hvtrace
