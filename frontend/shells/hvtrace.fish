# fish completion for hvtrace
# SPDX-License-Identifier: GPL-2.0-or-later

# Whether it is this command that is typed: "record" with "run" behind it is another one.
function __hvtrace_is # COMMAND...
    set -l words (commandline -opc)[2..]
    set -l second "$words[1] $words[2]"
    if contains -- $second (__hvtrace_commands | string replace -r '\t.*' '')
        test "$argv" = $second
    else
        test "$argv" = "$words[1]"
    end
end

# What hvtrace itself knows of a kind, from the other words on the command line.
function __hvtrace_ask # KIND
    set -l words (commandline -opc)
    set -l begun (commandline -ct | string replace -r '^--[^=]*=' '' | string unescape)
    command $words[1] complete $argv[1] "$begun" $words[2..] 2>/dev/null
end

# The commands, each with what it is for; or what may stand behind one.
function __hvtrace_names # [COMMAND]
    if set -q argv[1]
        __hvtrace_commands | string replace -rf "^$argv[1] " ''
    else
        __hvtrace_commands | string match -rv '^[^\t]* .*\t'
    end
end

# Whether as many words are typed, of which the second is this one.
function __hvtrace_at # COUNT [WORD]
    set -l words (commandline -opc)
    test (count $words) = $argv[1]; and test -z "$argv[2]" -o "$argv[2]" = "$words[2]"
end

complete -c hvtrace -f
complete -c hvtrace -n '__hvtrace_at 1' -a '(__hvtrace_names; printf "help\tshow the options of a command\n")'
complete -c hvtrace -n '__hvtrace_at 1' -s h -l help -d 'show the commands'
complete -c hvtrace -n '__hvtrace_at 1' -s V -l version -d 'show the version'
complete -c hvtrace -n '__hvtrace_at 2 help' -a '(__hvtrace_names)'
complete -c hvtrace -n '__hvtrace_at 2' -a '(__hvtrace_names (commandline -opc)[2])'
@TABLE@
