#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# ssh-lib.sh - a server of ssh that is the test's own, on this host, whose only key is in the test's folder. To be
# sourced.

ssh_dir='' ssh_port='' ssh_pid='' ssh_made=''

# ssh_start DIR: sets ssh_port. $DIR/ssh is a client that knows the server, and $DIR/key lets one in.
ssh_start()
{
	ssh_dir=$1
	ssh-keygen -q -t ed25519 -N '' -f "$ssh_dir/host" && ssh-keygen -q -t ed25519 -N '' -f "$ssh_dir/key" || return
	cat >"$ssh_dir/sshd.conf" <<-END
		ListenAddress 127.0.0.1
		HostKey $ssh_dir/host
		AuthorizedKeysFile $ssh_dir/key.pub
		PidFile none
		StrictModes no
		UsePAM no
		PasswordAuthentication no
		KbdInteractiveAuthentication no
		PermitRootLogin yes
	END
	printf 'Host *\nUserKnownHostsFile %s\nGlobalKnownHostsFile /dev/null\n' "$ssh_dir/known" >"$ssh_dir/ssh.conf"
	printf '#!/bin/sh\nexec ssh -F %s "$@"\n' "$ssh_dir/ssh.conf" >"$ssh_dir/ssh" && chmod 755 "$ssh_dir/ssh"
	ssh_separation
	# Others may have any port, and take one at any time.
	for _ in {1..20}; do
		ssh_port=$((20000 + RANDOM % 10000))
		ssh_try && return
	done
	return 1
}

# What the system's own service makes for it, where that has not run.
ssh_separation()
{
	[ "$(id -u)" = 0 ] && [ ! -d /run/sshd ] || return 0
	mkdir -m 755 /run/sshd && ssh_made=/run/sshd
}

ssh_try()
{
	: >"$ssh_dir/log"
	"$(command -v sshd || echo /usr/sbin/sshd)" -D -e -p "$ssh_port" -f "$ssh_dir/sshd.conf" 2>"$ssh_dir/log" </dev/null &
	ssh_pid=$!
	wait_until grep -q 'Server listening\|Cannot bind\|fatal' "$ssh_dir/log"
	if grep -q 'Server listening' "$ssh_dir/log"; then
		echo "[127.0.0.1]:$ssh_port $(cat "$ssh_dir/host.pub")" >"$ssh_dir/known"
		return
	fi
	ssh_stop
	return 1
}

ssh_stop()
{
	[ -z "$ssh_pid" ] || { kill "$ssh_pid" && wait "$ssh_pid"; } 2>/dev/null
	ssh_pid=''
	[ -z "$ssh_made" ] || rmdir "$ssh_made" 2>/dev/null
	return 0
}
