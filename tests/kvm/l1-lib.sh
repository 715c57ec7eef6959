#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# l1-lib.sh - boot the L1 of tests/kvm/lab, run commands in it, end it. To be sourced; on exit call
# l1_stop.
#
# Everything lives in $l1_dir: console, log, and the folder share, which is /share in L1. Any number may run
# at once: the image is only read (what L1 writes to its disk is lost with it), and the port is a free one.
#
# Environment, with what holds where it is not set:
#   L1_SMP=2 L1_MEMORY=6144  CPUs and MiB of L1
#   L1_ACCEL                 options of TCG, e.g. thread=single
#   L1_APPEND                words more for L1's kernel, e.g. kvm_amd.npt=0

l1_wait=900 # seconds that L1's boot may take, on a host that does a lot besides
l1_dir='' l1_pid='' l1_port=''
# The time stamp counter is the host's, so nothing has to watch it, and the host's other load must not look
# like a hang. A kernel that panics ends QEMU at once (-no-reboot).
readonly l1_cmdline='console=ttyS0 tsc=reliable no_timer_check nowatchdog rcupdate.rcu_cpu_stall_suppress=1
	mitigations=off cryptomgr.notests random.trust_cpu=on loglevel=7 oops=panic panic=-1'

# l1_start DIR COMMAND...: boot it, in the new folder DIR, by means of COMMAND, which may be none: it gets
# QEMU's command line as its arguments. Returns when L1 takes commands. Sets l1_dir, l1_pid and l1_port.
l1_start()
{
	local lab end=$((SECONDS + l1_wait))
	# Without erms and fsrm: L1's kernel would copy by rep movsb, which TCG does byte by byte.
	lab=$("${BASH_SOURCE[0]%/*}/lab" --path) || return
	mkdir -p "$1/share" && mkfifo "$1/monitor.in" "$1/monitor.out" && install -m 600 "$lab/key" "$1/key" &&
		cp "$lab/known_hosts" "$1/known_hosts" || return
	l1_dir=$1
	shift
	"$@" "$lab/qemu-system-x86_64" -name l1 -nodefaults -no-user-config -display none -no-reboot \
		-L /usr/share/qemu -L /usr/share/seabios -accel "tcg,tb-size=1024${L1_ACCEL:+,$L1_ACCEL}" \
		-machine q35 -cpu max,+svm,+npt,-erms,-fsrm,-cx16 -smp "${L1_SMP:-2}" -m "${L1_MEMORY:-6144}" -snapshot \
		-kernel "$lab/vmlinuz" -initrd "$lab/initrd" -append "${l1_cmdline//[$'\n\t']/ } ${L1_APPEND-}" \
		-drive "file=$lab/root.img,if=virtio,format=raw" \
		-netdev user,id=net,hostfwd=tcp:127.0.0.1:0-:22 -device virtio-net-pci,netdev=net,romfile= \
		-device virtio-rng-pci -serial "file:$l1_dir/console" \
		-fsdev "local,id=share,path=$l1_dir/share,security_model=none,multidevs=remap" \
		-device virtio-9p-pci,fsdev=share,mount_tag=share \
		-chardev "pipe,id=monitor,path=$l1_dir/monitor" -mon chardev=monitor,mode=control \
		>"$l1_dir/log" 2>&1 </dev/null &
	l1_pid=$!
	echo $l1_pid >"$l1_dir/pid"
	until grep -qs '^l1: up' "$l1_dir/console"; do
		if ! l1_runs || [ $SECONDS -ge $end ]; then
			l1_complain 'L1 does not come up'
			return
		fi
		sleep 0.2
	done
	# The shells want what udev would make. Not with our own output: it stays, for the other commands.
	until l1_find_port && l1_run 'ln -sfn /proc/self/fd /dev/fd' </dev/null >/dev/null 2>&1; do
		if ! l1_runs || [ $SECONDS -ge $end ]; then
			l1_complain 'L1 takes no commands'
			return
		fi
		sleep 1 # on a busy host it, or its monitor, may take longer than it is asked for
	done
}

# Which of the host's ports QEMU has taken is said by its monitor.
l1_find_port()
{
	local in out line
	# Both ways without waiting for QEMU to open its end.
	exec {in}<>"$l1_dir/monitor.in" {out}<>"$l1_dir/monitor.out"
	printf '%s\n' '{"execute": "qmp_capabilities"}' \
		'{"execute": "human-monitor-command", "arguments": {"command-line": "info usernet"}}' >&"$in"
	while read -r -t 60 line <&"$out"; do
		[[ $line =~ HOST_FORWARD\]\ +[0-9]+\ +127\.0\.0\.1\ +([0-9]+) ]] || continue
		l1_port=${BASH_REMATCH[1]}
		break
	done
	exec {in}>&- {out}>&-
	[ -n "$l1_port" ] && echo "$l1_port" >"$l1_dir/port"
}

# l1_run COMMAND...: in L1, by its sh, with this standard input, its output and its exit status; 255 where L1
# cannot be reached
l1_run()
{
	ssh -q -i "$l1_dir/key" -p "$l1_port" -o HostKeyAlias=l1 \
		-o StrictHostKeyChecking=yes -o "UserKnownHostsFile=$l1_dir/known_hosts" \
		-o ControlMaster=auto -o "ControlPath=$l1_dir/ssh" -o ControlPersist=yes \
		-o ConnectTimeout=120 -o ServerAliveInterval=60 -o ServerAliveCountMax=10 root@127.0.0.1 "$@"
}

l1_runs()
{
	kill -0 "$l1_pid" 2>/dev/null
}

# Why L1's kernel has ended; status 1 when it did not.
l1_panic()
{
	sed -n 's/\r$//; s/^\[[^]]*\] Kernel panic - not syncing: //p' "$l1_dir/console" | head -n 1 | grep .
}

# l1_complain TEXT: with what QEMU and L1 have said
l1_complain()
{
	printf '# %s; QEMU and L1 have said:\n' "$1" >&2
	tail -n 120 "$l1_dir/log" "$l1_dir/console" 2>/dev/null | tr -d '\r' | sed 's/^/#   /' >&2
	return 1
}

# Returns when nothing is left of it, whatever state it was in.
l1_stop()
{
	[ -n "$l1_dir" ] || return 0
	if [ -n "$l1_pid" ]; then
		kill "$l1_pid" 2>/dev/null
		timeout 30 tail --pid="$l1_pid" -f /dev/null || kill -KILL "$l1_pid" 2>/dev/null
		wait "$l1_pid" 2>/dev/null
	fi
	[ ! -S "$l1_dir/ssh" ] || ssh -q -o "ControlPath=$l1_dir/ssh" -O exit root@127.0.0.1 2>/dev/null
	rm -rf "$l1_dir"
	l1_dir='' l1_pid='' l1_port=''
}
