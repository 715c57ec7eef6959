#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# qemu-lib.sh - guests of QEMU for tests, with and without a libvirtd of their own. To be sourced.
#
# Everything lives in $qemu_dir: sockets, configuration, logs. So several tests run side by side, and
# no libvirtd of the system is needed or disturbed. qemu_exit, called on exit, ends what was started.
#
# libvirtd works for one user (as for qemu:///session) when it is not root; as root it would share
# directories with the system's, so then it runs as nobody.
#
# Environment, with what holds where it is not set:
#   GUEST_ACCEL=tcg    what runs the guests: tcg, or kvm (tests/kvm/run)
#   GUEST_APPEND=''    words more for their command lines, e.g. pti=off
#   O=build            the build directory

O=${O:-build}
qemu_wait=120 # seconds that something may take that must happen, where the host is not busy
qemu_snapshot=1 # guests go on from a snapshot of tests/guest-snapshot; 0 for one that no other test has
qemu_accel=${GUEST_ACCEL:-tcg}
# All vCPUs on one thread. With one for each, TCG now and then keeps the int3 of a kernel that patches its
# text, translated while another vCPU was about to take it away: a guest that meets it stands for ever (6.1), or
# dies of it (6.12, "Oops: int3"), traced or not. So this is for guests whose static branches are switched: trace
# events do that, and the guest itself while it boots. All guests of libvirt have one thread.
qemu_one_thread=$qemu_accel
[ "$qemu_accel" != tcg ] || qemu_one_thread=tcg,thread=single
# shellcheck disable=SC2034 # for those who source this
readonly qemu_one_thread
# TCG up to QEMU 7.2 forgets what cmpxchg16b has left the flags as: an interrupt right after it, which a guest's
# kernel has in each kmalloc(), sees others, the direction flag among them, and the guest goes on with these.
qemu_cpu=max
[ "$qemu_accel" != tcg ] || qemu_cpu=max,-cx16
# shellcheck disable=SC2034
readonly qemu_cpu
# A snapshot has been made by TCG, without words more.
[ "$qemu_accel${GUEST_APPEND-}" = tcg ] || qemu_snapshot=0
qemu_dir='' qemu_pid='' libvirtd_pid='' libvirt_uri='' qemu_command=() qemu_state=''
# In front of a guest's command line. The kernel's tests of its own ciphers are a tenth of what a boot
# takes, or more; its test of the timer panics when this host is busy for some tenths of a second; and
# when its clock's watchdog comes late for that reason it patches sched_clock_cpu(), in whose text tests
# would find it. A vCPU that does not get on for a minute is the host's fault; one that hangs is seen by tests.
readonly qemu_cmdline='console=ttyS0 cryptomgr.notests no_timer_check tsc=reliable watchdog_thresh=60 rcupdate.rcu_cpu_stall_timeout=300'
readonly qemu_root=${BASH_SOURCE[0]%/*}/../..

# A short path: sockets lie in it whose names end at 107 characters.
qemu_init()
{
	qemu_dir=$(mktemp -d /tmp/hvq.XXXXXX) || return
	mkdir "$qemu_dir"/{run,config,cache,data}
}

# qemu_initrd OPTION...: $qemu_dir/initrd, by scripts/build-initramfs with these options, for a guest that is
# not to have the usual one
qemu_initrd()
{
	"$qemu_root/scripts/build-initramfs" --workload "${O:-build}/tests/workload/workload" "$@" \
		--output "$qemu_dir/initrd"
}

qemu_exit()
{
	[ -z "$qemu_pid" ] || qemu_kill
	[ -z "$libvirtd_pid" ] || libvirtd_stop
	[ -z "$qemu_dir" ] || folder_exit "$qemu_dir"
}

# The files of an hvtrace that was killed stay mounted.
folder_exit() # DIR
{
	local mounted
	awk -v below="$1/" 'index($5, below) == 1 { print $5 }' /proc/self/mountinfo |
		while read -r mounted; do fusermount3 -uz "$mounted"; done
	rm -rf "$1"
}

# wait_until COMMAND...: until it succeeds
wait_until()
{
	local began=$SECONDS
	until "$@" 2>/dev/null; do
		if ! is_patient $((SECONDS - began)) "$qemu_wait"; then
			echo "# given up after $((SECONDS - began)) s: $*" >&2
			return 1
		fi
		sleep 0.05
	done
}

# has_begun PID: a program that was begun here is that program by now. Before that it is a copy of this shell, which
# does on a signal what this one would: takes the guest away, and all files.
has_begun()
{
	! [ "/proc/$1/exe" -ef "/proc/$$/exe" ]
}

# hears_signals PID: an hvtrace looks for SIGINT and SIGTERM itself, which it blocks, or it has ended
hears_signals()
{
	local blocked
	has_begun "$1" || return
	blocked=$(sed -n 's/^SigBlk:[ \t]*//p' "/proc/$1/status")
	[ -z "$blocked" ] || [ $((0x$blocked & 0x4002)) = $((0x4002)) ]
}

# is_patient SECONDS LIMIT: what has not happened for so long may still happen, as busy as this host is
is_patient()
{
	[ "$1" -lt "$2" ] || awk -v waited="$1" -v limit="$2" -v cpus="$(nproc)" '
		{ exit !(waited < limit * $1 / cpus) }' /proc/loadavg
}

# qemu_guest ACCEL VCPUS KERNEL CMDLINE: sets qemu_command to what starts a guest with tests/workload/guest-init,
# less two serial ports and what has nothing to do with the machine. Where there may be a snapshot it goes
# on from that one, $qemu_state.
qemu_guest()
{
	local made
	if [ "$qemu_snapshot" = 1 ]; then
		made=$("$qemu_root/tests/guest-snapshot" state "$3" "$2" "$4")
	else
		made=$("$qemu_root/tests/guest-snapshot" initrd "$3")
	fi || return
	qemu_command=(qemu-system-x86_64 -nodefaults -no-user-config -display none -accel "$1" -cpu "$qemu_cpu" -m 256
		-smp "$2" -kernel "$3" -initrd "${made%%$'\n'*}" -append "$qemu_cmdline $4 ${GUEST_APPEND-}")
	qemu_state=''
	[ "$qemu_snapshot" = 1 ] || return 0
	qemu_state=${made#*$'\n'}
	qemu_command+=(-incoming "exec:cat $qemu_state")
}

# qemu_start NAME KERNEL CMDLINE [OPTION...]: a guest of two vCPUs that boots, without libvirt. Its gdb stub is
# $qemu_dir/NAME.gdb, its console $qemu_dir/NAME.serial, and what it has said is in $qemu_dir/NAME.console.
# Returns when it takes commands. Sets qemu_pid.
qemu_start()
{
	local name=$1 kernel=$2 cmdline=$3 qemu_snapshot=0
	shift 3
	qemu_guest "$qemu_accel" 2 "$kernel" "$cmdline" || return
	"${qemu_command[@]}" \
		-chardev "socket,id=console,path=$qemu_dir/$name.serial,server=on,wait=off,logfile=$qemu_dir/$name.console" \
		-serial chardev:console -gdb "unix:$qemu_dir/$name.gdb,server=on,wait=off" "$@" \
		>"$qemu_dir/$name.log" 2>&1 </dev/null &
	qemu_pid=$!
	wait_until is_up "$name" && return
	echo "# the guest does not come up; QEMU and the guest have said:" >&2
	tail -n 20 "$qemu_dir/$name.log" "$qemu_dir/$name.console" | sed 's/^/#   /' >&2
	return 1
}

# shellcheck disable=SC2317 # wait_until calls it
is_up() # NAME
{
	grep -q 'init: ready' "$qemu_dir/$1.console"
}

qemu_kill()
{
	{ kill "$qemu_pid" && wait "$qemu_pid"; } 2>/dev/null
	qemu_pid=''
}

# exec_as_user COMMAND...: as the user whose libvirtd it is, in place of this shell
exec_as_user()
{
	local user=()
	[ "$(id -u)" != 0 ] || user=(setpriv --reuid=nobody --regid=nogroup --clear-groups)
	exec env HOME="$qemu_dir" XDG_RUNTIME_DIR="$qemu_dir/run" XDG_CONFIG_HOME="$qemu_dir/config" \
		XDG_CACHE_HOME="$qemu_dir/cache" XDG_DATA_HOME="$qemu_dir/data" "${user[@]}" "$@"
}

# The QEMU that libvirtd finds, which itself has no word for threads: see qemu_one_thread.
qemu_with_one_thread()
{
	local qemu
	qemu=$(command -v qemu-system-x86_64) && mkdir "$qemu_dir/bin" &&
		cat >"$qemu_dir/bin/qemu-system-x86_64" <<-END && chmod 755 "$qemu_dir/bin/qemu-system-x86_64" &&
			#!/bin/bash
			for ((i = 1; i < \$#; i++)); do
				[ "\${*:i:2}" != "-accel tcg" ] || set -- "\${@:1:i}" tcg,thread=single "\${@:i + 2}"
			done
			exec $qemu "\$@"
		END
		PATH=$qemu_dir/bin:$PATH
}

# Sets libvirt_uri. Without virtlogd: QEMU writes its log itself.
libvirtd_start()
{
	local socket=$qemu_dir/run/libvirt/libvirt-sock
	qemu_with_one_thread && mkdir "$qemu_dir/config/libvirt" &&
		printf 'stdio_handler = "file"\nsecurity_driver = "none"\n' \
			>"$qemu_dir/config/libvirt/qemu.conf" || return
	[ "$(id -u)" != 0 ] || chown -R nobody:nogroup "$qemu_dir"
	# Ends by itself, should nobody else end it.
	exec_as_user libvirtd --timeout 900 --pid-file "$qemu_dir/run/pid" \
		>"$qemu_dir/libvirtd.log" 2>&1 </dev/null &
	libvirtd_pid=$!
	libvirt_uri="qemu+unix:///session?socket=$socket"
	wait_until test -S "$socket" && wait_until virsh -q -c "$libvirt_uri" list >/dev/null
}

libvirtd_stop()
{
	local name pid
	for name in $(virsh -q -c "$libvirt_uri" list --name 2>/dev/null); do
		virsh -q -c "$libvirt_uri" destroy "$name" >/dev/null 2>&1
	done
	{ kill "$libvirtd_pid" && wait "$libvirtd_pid"; } 2>/dev/null
	libvirtd_pid=
	# A QEMU that it was asking what it can do would stay.
	cat "$qemu_dir"/config/libvirt/qemu/lib/qmp-*/qmp.pid 2>/dev/null |
		while read -r pid; do kill -9 "$pid" 2>/dev/null; done
}

# domain_xml NAME KERNEL CMDLINE: a domain of two vCPUs, its console $qemu_dir/NAME.serial, and
# what it has said in $qemu_dir/NAME.console; its other port is the pipe $qemu_dir/command, if there is one.
# $domain_metadata is in its <metadata>.
domain_xml()
{
	local type=kvm command='' without=''
	[ ! -p "$qemu_dir/command.in" ] || command="<serial type='pipe'><source path='$qemu_dir/command'/></serial>"
	[ "${qemu_accel%%,*}" != tcg ] || type=qemu without="<feature policy='disable' name='cx16'/>"
	cat <<END
<domain type='$type'>
  <name>$1</name>
  <metadata>${domain_metadata-}</metadata>
  <memory unit='MiB'>256</memory>
  <vcpu>2</vcpu>
  <os>
    <type arch='x86_64' machine='pc'>hvm</type>
    <kernel>$2</kernel>
    <initrd>$qemu_dir/initrd</initrd>
    <cmdline>$qemu_cmdline $3 ${GUEST_APPEND-}</cmdline>
  </os>
  <features><acpi/></features>
  <cpu mode='maximum'>$without</cpu>
  <devices>
    <controller type='usb' model='none'/>
    <memballoon model='none'/>
    <serial type='unix'><source mode='bind' path='$qemu_dir/$1.serial'/>
      <log file='$qemu_dir/$1.console'/></serial>
    $command
  </devices>
</domain>
END
}

# domain_start NAME KERNEL CMDLINE: the kernel is copied to where libvirtd's user can read it, and so is the
# initrd, if there is none yet
domain_start()
{
	[ -e "$qemu_dir/vmlinuz" ] || install -m 644 "$2" "$qemu_dir/vmlinuz" || return
	[ -e "$qemu_dir/initrd" ] ||
		install -m 644 "$("$qemu_root/tests/guest-snapshot" initrd "$2")" "$qemu_dir/initrd" || return
	domain_xml "$1" "$qemu_dir/vmlinuz" "$3" >"$qemu_dir/$1.xml" &&
		virsh -q -c "$libvirt_uri" create "$qemu_dir/$1.xml" >/dev/null &&
		wait_until test -S "$qemu_dir/$1.serial"
}

# domain_up NAME: returns when the domain takes commands.
domain_up()
{
	wait_until is_up "$1" && return
	echo "# domain $1 does not come up; it has said:"
	tail -n 20 "$qemu_dir/$1.console" | sed 's/^/#   /'
	return 1
}
