#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# ship-lib.sh - ClickHouse servers of a test's own, in $dir, which go with it: for tests of hvtrace ship. To be sourced,
# behind tap.sh. The servers are one cluster, `hvtrace`.
# shellcheck disable=SC2154,SC2317 # dir is the test's; functions that others call

declare -A store_pid store_port # by name
readonly STORES=(a b)

# wait_until SECONDS COMMAND...
wait_until()
{
	local end=$((SECONDS + $1))
	shift
	until "$@"; do
		[ "$SECONDS" -lt "$end" ] || return
		sleep 0.05
	done
}

free_ports() # N
{
	python3 -c 'import socket, sys
s = [socket.create_server(("127.0.0.1", 0)) for _ in range(int(sys.argv[1]))]
print(*(i.getsockname()[1] for i in s))' "$1"
}

# store_config NAME HTTP-PORT TCP-PORT ALL-TCP-PORTS...
store_config()
{
	local name=$1 http=$2 tcp=$3 port
	shift 3
	mkdir -p "$dir/$name"
	cat >"$dir/$name/users.xml" <<-'END'
		<yandex><profiles><default/></profiles><quotas><default/></quotas><users><default><password></password>
		<networks><ip>127.0.0.1</ip></networks><profile>default</profile><quota>default</quota></default></users></yandex>
	END
	{
		cat <<-END
			<yandex>
			<logger><level>error</level><log>$dir/$name/log</log><errorlog>$dir/$name/errors</errorlog></logger>
			<http_port>$http</http_port><tcp_port>$tcp</tcp_port><listen_host>127.0.0.1</listen_host>
			<path>$dir/$name/data/</path><tmp_path>$dir/$name/tmp/</tmp_path>
			<users_config>users.xml</users_config><default_profile>default</default_profile>
			<default_database>default</default_database><mark_cache_size>67108864</mark_cache_size>
			<remote_servers><hvtrace>
		END
		for port; do
			echo "<shard><replica><host>127.0.0.1</host><port>$port</port></replica></shard>"
		done
		echo '</hvtrace></remote_servers></yandex>'
	} >"$dir/$name/config.xml"
}

store_answers() # NAME
{
	[ "$(curl -s -m 5 "http://127.0.0.1:${store_port[$1]}/ping")" = Ok. ]
}

store_start() # NAME
{
	clickhouse-server --config-file="$dir/$1/config.xml" >"$dir/$1/out" 2>&1 &
	store_pid[$1]=$!
	wait_until 60 store_answers "$1"
}

# As if the host had lost it: no time for anything.
store_kill() # NAME
{
	[ -n "${store_pid[$1]-}" ] || return 0
	kill -9 "${store_pid[$1]}" && wait "${store_pid[$1]}" 2>/dev/null
	store_pid[$1]=''
}

stores_end()
{
	local name
	for name in "${STORES[@]}"; do
		store_kill "$name"
	done 2>/dev/null
}

# url NAME
url()
{
	echo "http://127.0.0.1:${store_port[$1]}"
}

# ask NAME QUERY: with the whole cluster as the database
ask()
{
	curl -sS -m 120 "$(url "$1")/?database=${3-fleet}" --data-binary "$2"
}

# ask_file NAME FILE [DATABASE]: statements that end with a semicolon, one after another
ask_file()
{
	local statement
	while IFS= read -r -d ';' statement; do
		ask "$1" "$statement" "${3-default}" || return
	done < <(sed 's/ *--.*//' "$2")
}

stores_start()
{
	local ports
	read -ra ports < <(free_ports 4)
	store_port=([a]=${ports[0]} [b]=${ports[1]})
	store_config a "${ports[0]}" "${ports[2]}" "${ports[@]:2}" &&
		store_config b "${ports[1]}" "${ports[3]}" "${ports[@]:2}" && store_start a && store_start b
}
